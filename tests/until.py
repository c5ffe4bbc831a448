"""A pytest plugin (`-p tests.until`) for a run in a hurry: the tests of the files named first come first.

None begins after the moment of TESTS_UNTIL (seconds since 1970); those that did not run are counted, and their files
named.
"""

import os
import time
from collections import Counter
from typing import Any

import pytest

_left_out: Counter[str] = Counter()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The order of the command line, whatever other plugins prefer."""
    places = {argument.partition("::")[0]: place for place, argument in enumerate(config.args)}
    items.sort(key=lambda item: places.get(item.nodeid.partition("::")[0], len(places)))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Nothing more is begun when the time is up."""
    if time.time() < float(os.environ["TESTS_UNTIL"]):
        return None
    _left_out[item.nodeid.partition("::")[0]] += 1
    return True


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """What did not run is said so, by name."""
    if _left_out:
        files = ", ".join(f"{path} ({count})" for path, count in _left_out.items())
        terminalreporter.write_line(f"{_left_out.total()} tests were left out, the time was up: {files}", yellow=True)
