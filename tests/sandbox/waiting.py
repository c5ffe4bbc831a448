"""Waiting for a condition instead of for a time."""

import time
from collections.abc import Callable

from tests.bounds import stretched

LONGEST_SECONDS = 20


def wait_until(holds: Callable[[], bool]) -> None:
    """Returns once the condition holds; fails when it never does."""
    deadline = time.monotonic() + stretched(LONGEST_SECONDS)
    while not holds():
        assert time.monotonic() < deadline, "it never came to pass"
        time.sleep(0.005)
