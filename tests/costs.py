"""A pytest plugin (`-p tests.costs`): what each test costs in seconds of a processor, with all processes it started.

Where TESTS_COSTS names a file, what was measured is written there when the run ends: `{"costs": {test: seconds},
"in_turn": [test, ...]}`, the latter those that ran because it was their turn (tests/selection.py).
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import selection

FILE = "TESTS_COSTS"
_GROUP = re.compile(r"@\w+$")  # what xdist adds to the name of a test that stays with others on one worker
_TICKS = os.sysconf("SC_CLK_TCK")

_METER = pytest.StashKey["_Meter"]()
_costs: dict[str, float] = {}
_in_turn: set[str] = set()


def spent(pid: int | str = "self") -> float:
    """Seconds of a processor that this process, the processes below it, and those of them that ended have used.

    A process whose parent ended before it is not counted any more.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        below = [child for task in os.listdir(f"/proc/{pid}/task") for child in _children(pid, task)]
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / _TICKS + sum(map(spent, below))


def _children(pid: int | str, task: str) -> list[str]:
    try:
        return Path(f"/proc/{pid}/task/{task}/children").read_text().split()
    except OSError:
        return []


class _Meter:
    """What is used from one part of a test to the next."""

    def __init__(self) -> None:
        self._before = spent()

    def read(self) -> float:
        """Seconds since the last reading; those of a process that vanished uncounted make it no less than nothing."""
        now = spent()
        used, self._before = max(now - self._before, 0.0), now
        return used


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """The first test begins here; what starting and collecting took is no test's."""
    session.config.stash[_METER] = _Meter()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Each report says what its part of the test used."""
    report = yield
    if _METER in item.config.stash:
        report.cpu = item.config.stash[_METER].read()
    return report


def pytest_runtest_logreport(report: Any) -> None:
    """Add up the parts of a test, wherever it ran."""
    test = _GROUP.sub("", report.nodeid)
    _costs[test] = _costs.get(test, 0.0) + getattr(report, "cpu", 0.0)
    if selection.is_in_turn(report):
        _in_turn.add(test)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Write what was measured, where somebody wants it."""
    if (path := os.environ.get(FILE)) and not hasattr(session.config, "workerinput"):
        costs = {test: round(cost, 3) for test, cost in _costs.items()}
        Path(path).write_text(json.dumps({"costs": costs, "in_turn": sorted(_in_turn)}))
