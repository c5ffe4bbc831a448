"""`manage.py verify`: everything that CI asks, stage by stage, up to the first that does not hold."""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from project.bootstrap import ROOT
from project.verification import budget, quick
from project.verification.running import FAILED, HELD, TOO_DEAR, Result, run_all
from project.verification.stages import Stage, stages, thorough_stages


def main(arguments: Sequence[str]) -> int:
    """Run the stages; 0 when all of them hold, 1 when one does not."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-verify-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    try:
        all_stages = stages(folder, turn=_commits())
        options = _parser([stage.name for stage in all_stages]).parse_args(arguments)
        chosen = _chosen(all_stages, options)
        until = quick.deadline() if options.quick else None
        results = run_all(chosen, folder=folder, cores=options.cores, keep_going=options.keep_going, until=until)
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    if not options.quick:
        results = _held_to_budget(results, options)
    print(_table(results, real=time.monotonic() - began, cores=options.cores), flush=True)
    return 1 if any(result.outcome in {FAILED, TOO_DEAR} for result in results) else 0


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="manage.py verify", description="Run the CI checks.")
    parser.add_argument("--check", action="store_true", help="checks that need no server: lint, types, borders")
    parser.add_argument("--quick", action="store_true", help="tests related to the changed files, in under a minute")
    parser.add_argument("--thorough", action="store_true", help="all tests in full, on both databases; for releases")
    parser.add_argument("--shard", type=_shard, default="1/1", metavar="I/N", help="with --thorough: one part of N")
    parser.add_argument("--record", action="store_true", help="write tests/budget.toml from the current costs")
    parser.add_argument("--only", action="append", choices=names, metavar="STAGE", help=f"one of: {', '.join(names)}")
    parser.add_argument("--keep-going", action="store_true", help="run every stage, even after a failure")
    parser.add_argument(
        "--cores", type=_count, default=len(os.sched_getaffinity(0)), help="number of processors (default: all)"
    )
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _shard(text: str) -> str:
    written = re.fullmatch(r"([1-9]\d?)/([1-9]\d?)", text)
    if written is None or int(written[1]) > int(written[2]):
        raise ValueError(text)
    return text


def _commits() -> int:
    """How many commits led here: it chooses which part of thorough has its turn."""
    counted = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=ROOT, capture_output=True, check=False)
    return int(counted.stdout) if counted.returncode == 0 else 0


def _chosen(all_stages: tuple[Stage, ...], options: argparse.Namespace) -> list[Stage]:
    if options.thorough:
        all_stages = thorough_stages(options.shard)
    if options.only:
        return [stage for stage in all_stages if stage.name in options.only]
    if options.quick:
        return quick.chosen(all_stages)
    return [stage for stage in all_stages if not (options.check and stage.needs_servers)]


def _held_to_budget(results: list[Result], options: argparse.Namespace) -> list[Result]:
    """Say what the tests cost; a stage that held, but costs too much, holds no more."""
    units = [result.unit for result in results if result.unit]
    if not units:
        return results
    spent = [
        budget.Spent(result.name, result.processor, result.costs, result.unit.processor if result.unit else None)
        for result in results
        if result.outcome == HELD
    ]
    seconds, wall = median(unit.processor for unit in units), max(unit.wall for unit in units)
    print(f"\n{budget.most_expensive(spent)}")
    print(f"  One work unit takes {seconds:.3f} s of CPU time on this machine and up to {wall:.3f} s of wall time.")
    if options.record:
        budget.record(spent, unit=seconds)
    if not budget.is_like_the_records(seconds):
        print("  This machine is slower than the one that set the budget, so files are compared within their stage.")
    complaints = {} if options.thorough else budget.complaints(spent, unit=seconds)
    for name, complaint in complaints.items():
        print(f"  {name} {complaint}.")
    return [replace(result, outcome=TOO_DEAR) if result.name in complaints else result for result in results]


def _table(results: list[Result], *, real: float, cores: int) -> str:
    width = max((len(result.name) for result in results), default=5)
    rows = [f"  {'stage':<{width}}  {'':<14}  {'real':>8}  {'user':>8}  {'sys':>8}  {'peak':>8}  {'tests':>6}"]
    rows += [
        f"  {each.name:<{width}}  {each.outcome:<14}  {each.real:6.1f} s  {each.user:6.1f} s  {each.system:6.1f} s"
        f"  {each.peak / 1e6:5.0f} MB  {each.tests or '':>6}"
        for each in results
    ]
    failed = [result.name for result in results if result.outcome in {FAILED, TOO_DEAR}]
    verdict = f"Failed: {', '.join(failed)}." if failed else "All stages passed."
    busy = sum(result.processor for result in results)
    tests = sum(result.tests for result in results)
    counted = f", {tests:,} tests" if tests else ""
    return "\n".join(["", *rows, f"  {verdict} {real:.0f} s in total, {busy:.0f} s of CPU on {cores} cores{counted}."])
