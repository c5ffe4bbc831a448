"""`manage.py verify`: everything that CI asks, stage by stage, up to the first that does not hold."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from project.verification import quick
from project.verification.running import FAILED, Result, run_all
from project.verification.stages import Stage, stages


def main(arguments: Sequence[str]) -> int:
    """Run the stages; 0 when all of them hold, 1 when one does not."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-verify-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    try:
        known = stages(folder)
        options = _parser([stage.name for stage in known]).parse_args(arguments)
        wanted = _chosen(known, options)
        results = run_all(wanted, folder=folder, cores=options.cores, keep_going=options.keep_going)
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(_table(results, real=time.monotonic() - began, cores=options.cores), flush=True)
    return 1 if any(result.outcome == FAILED for result in results) else 0


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="manage.py verify", description="Everything that CI asks of the tree.")
    parser.add_argument("--check", action="store_true", help="what needs no server: lint, types, borders")
    parser.add_argument("--quick", action="store_true", help="what touches the files that changed, under a minute")
    parser.add_argument("--only", action="append", choices=names, metavar="STAGE", help=f"one of: {', '.join(names)}")
    parser.add_argument("--keep-going", action="store_true", help="run every stage, whatever the ones before it said")
    parser.add_argument(
        "--cores", type=_count, default=len(os.sched_getaffinity(0)), help="how many to use (default: all there are)"
    )
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def _chosen(known: tuple[Stage, ...], options: argparse.Namespace) -> list[Stage]:
    if options.only:
        return [stage for stage in known if stage.name in options.only]
    if options.quick:
        return quick.chosen(known)
    return [stage for stage in known if not (options.check and stage.needs_servers)]


def _table(results: list[Result], *, real: float, cores: int) -> str:
    width = max((len(result.name) for result in results), default=5)
    rows = [f"  {'stage':<{width}}  {'':<14}  {'real':>8}  {'user':>8}  {'sys':>8}  {'peak':>8}  {'tests':>6}"]
    rows += [
        f"  {each.name:<{width}}  {each.outcome:<14}  {each.real:6.1f} s  {each.user:6.1f} s  {each.system:6.1f} s"
        f"  {each.peak / 1e6:5.0f} MB  {each.tests or '':>6}"
        for each in results
    ]
    failed = [result.name for result in results if result.outcome == FAILED]
    verdict = f"Does not hold: {', '.join(failed)}." if failed else "Everything that was run holds."
    busy = sum(result.user + result.system for result in results)
    tests = sum(result.tests for result in results)
    counted = f", {tests:,} tests" if tests else ""
    return "\n".join(["", *rows, f"  {verdict} {real:.0f} s in all, {busy:.0f} s of CPU on {cores} cores{counted}."])
