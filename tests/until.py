"""A pytest plugin (`-p tests.until`) for a run in a hurry: the tests of the files named first come first.

Of a test with many cases a few, spread over all of them, come with the rest of its file, and the others after all
files. None begins after the moment of TESTS_UNTIL (seconds since 1970), and what still runs at that of TESTS_END is
stopped there. What did not run to its end is counted by file.
"""

import os
import signal
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_timeout

from tests.bounds import stretched

_CASES = 5
_TIME_IS_UP = "the time is up"

_left_out: Counter[str] = Counter()
_stopped: list[str] = []


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The order of the command line, whatever other plugins prefer; the many cases of one test come last."""
    places = {argument.partition("::")[0]: place for place, argument in enumerate(config.args)}
    cases = defaultdict(list)
    for item in items:
        cases[item.nodeid.partition("[")[0]].append(item)
    first = {each for of_one in cases.values() for each in _spread(of_one)}
    items.sort(key=lambda item: (item not in first, places.get(_path(item), len(places))))


def _spread(cases: list[pytest.Item]) -> list[pytest.Item]:
    return [cases[len(cases) * number // _CASES] for number in range(_CASES)]


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Nothing more is begun when the time is up."""
    if time.time() < float(os.environ["TESTS_UNTIL"]):
        return None
    _left_out[_path(item)] += 1
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_timeout_set_timer(item: pytest.Item, settings: pytest_timeout.Settings) -> bool | None:
    """A test that would go on beyond the end is stopped there: it is skipped, and has not failed."""
    remaining = float(os.environ["TESTS_END"]) - time.time()
    if remaining > stretched(settings.timeout):
        return None

    def stop(*_: object) -> None:
        _stopped.append(item.nodeid)
        pytest.skip(_TIME_IS_UP)

    def cancel() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)

    item.cancel_timeout = cancel  # where pytest-timeout looks for it
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, max(remaining, 1))
    return True


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What did not run, or not to its end, is said so by name."""
    if _left_out:
        terminalreporter.write_line(f"{_left_out.total()} tests left out, {_TIME_IS_UP}: {by_folder(_left_out)}.")
    for test in _stopped:
        terminalreporter.write_line(f"Stopped while it ran, {_TIME_IS_UP}: {test}", yellow=True)


def by_folder(counts: Mapping[str, int]) -> str:
    """Files of tests and how many tests of each, short: `desk/audit: audit 7, heads 2; wire: values 1`."""
    folders = defaultdict(list)
    for path, count in counts.items():
        folders[Path(path).parent.as_posix().removeprefix("tests/")].append((path, count))
    return "; ".join(f"{folder}: {_listed(files)}" for folder, files in folders.items())


def _listed(files: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{Path(path).stem.removeprefix('test_')} {count}" for path, count in files)


def _path(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]
