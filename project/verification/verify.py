"""`manage.py verify`: everything that CI asks, stage by stage, up to the first that does not hold."""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from project.bootstrap import ROOT
from project.supervisor import kinship
from project.verification.stages import Stage, stages

_HELD, _FAILED, _LEFT_OUT, _COULD_NOT_LOOK = "ok", "FAILED", "not run", "could not look"


def main(arguments: Sequence[str]) -> int:
    """Run the stages; 0 when all of them hold, 1 when one does not."""
    folder = Path(tempfile.mkdtemp(prefix="countersign-verify-"))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        known = stages(folder)
        given = _parser([stage.name for stage in known]).parse_args(arguments)
        results = _run_all(_chosen(known, given), keep_going=given.keep_going)
    except KeyboardInterrupt:
        return 130
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(_table(results), flush=True)
    return 1 if any(outcome == _FAILED for _, outcome, _ in results) else 0


def _parser(names: list[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="manage.py verify", description="Everything that CI asks of the tree.")
    parser.add_argument("--check", action="store_true", help="what needs no server: lint, types, borders")
    parser.add_argument("--only", action="append", choices=names, metavar="STAGE", help=f"one of: {', '.join(names)}")
    parser.add_argument("--keep-going", action="store_true", help="run every stage, whatever the ones before it said")
    return parser


def _chosen(known: tuple[Stage, ...], given: argparse.Namespace) -> list[Stage]:
    if given.only:
        return [stage for stage in known if stage.name in given.only]
    return [stage for stage in known if not (given.check and stage.needs_servers)]


def _run_all(wanted: list[Stage], *, keep_going: bool) -> list[tuple[str, str, float]]:
    results = []
    failed = False
    for place, stage in enumerate(wanted, 1):
        if failed and not keep_going:
            results.append((stage.name, _LEFT_OUT, 0.0))
            continue
        print(f"\n== {place}/{len(wanted)} {stage.name}", flush=True)
        began = time.monotonic()
        outcome = _outcome(stage)
        results.append((stage.name, outcome, time.monotonic() - began))
        failed = failed or outcome == _FAILED
    return results


def _outcome(stage: Stage) -> str:
    # What one stage has compiled is not compiled again by each process of the next, whatever the shell says about it.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **stage.environment}
    with subprocess.Popen(
        stage.command, cwd=ROOT, env=environment, preexec_fn=kinship.tied_to_this_process(signal.SIGTERM)
    ) as running:
        try:
            code = running.wait()
        except BaseException:
            running.terminate()
            raise
    if stage.cannot_look is not None and code == stage.cannot_look:
        return _COULD_NOT_LOOK
    return _HELD if code == 0 else _FAILED


def _table(results: list[tuple[str, str, float]]) -> str:
    width = max(len(name) for name, _, _ in results)
    rows = [f"  {name:<{width}}  {outcome:<14}  {seconds:7.1f} s" for name, outcome, seconds in results]
    total = sum(seconds for _, _, seconds in results)
    failed = [name for name, outcome, _ in results if outcome == _FAILED]
    verdict = f"Does not hold: {', '.join(failed)}." if failed else "Everything that was run holds."
    return "\n".join(["", *rows, f"  {verdict} {total:.0f} s in all."])
