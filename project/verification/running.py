"""Stages side by side, as many as there are cores for, and what each of them took."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from project.bootstrap import ROOT
from project.supervisor import parent_death
from project.verification import calibration
from project.verification.budget import Costs
from project.verification.stages import Stage

HELD, FAILED, LEFT_OUT, ENDED_EARLY = "ok", "FAILED", "not run", "ended early"
COULD_NOT_LOOK, EMPTY, TOO_DEAR = "not checked", "nothing to do", "OVER BUDGET"
_LOOK_SECONDS = 0.02
# How often a unit of work is measured while tests run: others may use the machine, and a minute later they don't.
_UNIT_SECONDS = 20
_LATELY = 4
# That a stage has to end in when it is asked to; less where all of it has to end by a moment.
_END_SECONDS, _SOON_SECONDS = 30, 2
_PASSED = re.compile(rb"\b(\d+) passed\b[^\n]* in [\d.]+s\b")


@dataclass(frozen=True, slots=True)
class Result:
    """How a stage ended, and what it and all its children took: seconds, and bytes of the largest of its processes."""

    name: str
    outcome: str
    real: float = 0.0
    user: float = 0.0
    system: float = 0.0
    peak: int = 0
    tests: int = 0
    # Of a stage of tests: what each of them cost, and what a unit of work took meanwhile: the median of a processor,
    # and the most by the wall.
    costs: Costs = field(default_factory=Costs)
    unit: calibration.Unit | None = None

    @property
    def processor(self) -> float:
        """Seconds of a processor."""
        return self.user + self.system


@dataclass(slots=True)
class _Running:
    place: int
    stage: Stage
    cores: float
    process: subprocess.Popen[bytes]
    log: Path
    costs: Path
    stretch: Path
    units: list[calibration.Unit]
    began: float = field(default_factory=time.monotonic)
    has_head: bool = False
    printed: int = 0
    result: Result | None = None

    def poll(self) -> None:
        """Note how it ended, if it has."""
        number, status, usage = os.wait4(self.process.pid, os.WNOHANG)
        if not number:
            return
        self.process.returncode = code = os.waitstatus_to_exitcode(status)
        tests = _PASSED.findall(self.log.read_bytes()[-2_000:])
        self.result = Result(
            self.stage.name,
            self._outcome(code),
            time.monotonic() - self.began,
            usage.ru_utime,
            usage.ru_stime,
            usage.ru_maxrss * 1024,
            int(tests[-1]) if tests else 0,
            self._costs(),
            self._unit(),
        )

    def print_new(self) -> None:
        """Print what it has said since the last time."""
        with self.log.open("rb") as text:
            text.seek(self.printed)
            fresh = text.read()
        self.printed += len(fresh)
        sys.stdout.write(fresh.decode(errors="replace"))
        sys.stdout.flush()

    def _costs(self) -> Costs:
        """What its tests cost; nothing where it ran none or ended before it could say so."""
        if not self.costs.exists():
            return Costs()
        measured = json.loads(self.costs.read_text())
        return Costs(measured["costs"], frozenset(measured["in_turn"]))

    def note_unit(self, unit: calibration.Unit) -> None:
        """Note what a unit takes now; its tests stretch their bounds by the slowest of the last minute."""
        if self.units:
            self.units.append(unit)
            self.stretch.write_text(f"{max(each.stretch for each in self.units[-_LATELY:]):.2f}")

    def _unit(self) -> calibration.Unit | None:
        if not self.units:
            return None
        return calibration.Unit(median(unit.processor for unit in self.units), max(unit.wall for unit in self.units))

    def _outcome(self, code: int) -> str:
        if self.stage.cannot_look is not None and code == self.stage.cannot_look:
            return COULD_NOT_LOOK
        if self.stage.empty is not None and code == self.stage.empty:
            return EMPTY
        return HELD if code == 0 else FAILED


def run_all(
    stages: Sequence[Stage], *, folder: Path, cores: int, keep_going: bool, until: float | None = None
) -> list[Result]:
    """Run the stages, the first for which enough cores are free and which need wait for no other, and print what they
    say in the order they began.

    With the first that fails, no other is begun and those beside it are ended, unless `keep_going`; and at the moment
    `until` (of the monotonic clock) in any case. `folder` takes what the stages say. Whatever ends this call ends the
    running stages too.
    """
    begun: list[_Running] = []
    waiting = list(enumerate(stages, 1))
    lines = 0
    measured = time.monotonic()
    with _all_ended(begun, _END_SECONDS if until is None else _SOON_SECONDS):
        while waiting or any(not each.result for each in begun):
            failed = any(each.result and each.result.outcome == FAILED for each in begun)
            if (failed and not keep_going) or (until is not None and time.monotonic() > until):
                break
            fitting = _fitting(waiting, [each for each in begun if not each.result], cores)
            if fitting:
                waiting.remove(fitting)
                begun.append(_begin(*fitting, folder=folder, cores=cores))
                continue
            running = [each for each in begun if not each.result]
            for each in running:
                each.poll()
            if any(each.units for each in running) and time.monotonic() > measured + _UNIT_SECONDS:
                unit, measured = calibration.measure(), time.monotonic()
                for each in running:
                    each.note_unit(unit)
            lines = _show(begun, lines, len(stages))
            time.sleep(_LOOK_SECONDS)
    for each in begun[lines:]:
        # Of those that are ended early, the one of which something is shown already.
        if each.result or each.has_head:
            _show([each], 0, len(stages))
    done = [each.result or Result(each.stage.name, ENDED_EARLY) for each in begun]
    return done + [Result(stage.name, LEFT_OUT) for _, stage in waiting]


def _fitting(waiting: Sequence[tuple[int, Stage]], running: Sequence[_Running], cores: int) -> tuple[int, Stage] | None:
    free = cores - sum(each.cores for each in running)
    unfinished = {stage.name for _, stage in waiting} | {each.stage.name for each in running}
    ready = (each for each in waiting if unfinished.isdisjoint(each[1].after))
    return next((each for each in ready if min(each[1].cores, cores) <= free), None)


def _begin(place: int, stage: Stage, *, folder: Path, cores: int) -> _Running:
    # What one stage has compiled is not compiled again by each process of the next, whatever the shell says about it.
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", **stage.environment}
    log, costs = folder / f"said-{place}.txt", folder / f"costs-{place}.json"
    stretch = folder / f"stretch-{place}.txt"
    units: list[calibration.Unit] = []
    if stage.runs_tests and "TESTS_STRETCH" not in stage.environment:
        units = [calibration.measure()]
        stretch.write_text(f"{units[0].stretch:.2f}")
        environment |= {"TESTS_COSTS": str(costs), "TESTS_STRETCH_FILE": str(stretch)}
    with log.open("wb") as text:
        process = subprocess.Popen(
            [sys.executable, "-m", "project.verification.reaping", *stage.command],
            cwd=ROOT,
            env=environment,
            stdout=text,
            stderr=subprocess.STDOUT,
            preexec_fn=parent_death.tied_to_this_process(signal.SIGTERM),
        )
    return _Running(place, stage, min(stage.cores, cores), process, log, costs, stretch, units)


def _show(begun: Sequence[_Running], lines: int, every: int) -> int:
    """Print on from the first stage that isn't shown to its end; how many are."""
    for each in begun[lines:]:
        if not each.has_head:
            print(f"\n== {each.place}/{every} {each.stage.name}", flush=True)
            each.has_head = True
        each.print_new()
        if not each.result:
            break
        lines += 1
    return lines


@contextlib.contextmanager
def _all_ended(begun: Sequence[_Running], seconds: float) -> Iterator[None]:
    try:
        yield
    finally:
        unfinished = [each for each in begun if not each.result]
        for each in unfinished:
            each.process.terminate()
        deadline = time.monotonic() + seconds
        for each in unfinished:
            try:
                each.process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                each.process.kill()
                each.process.wait()
