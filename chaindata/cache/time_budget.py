"""How long one task goes on asking.

A worker is ended after 40 seconds on one task, whatever it was about to write; one call may take ten. So no further
call is begun after fifteen: what is left is found by the next sweep.
"""

import time
from collections.abc import Callable

SECONDS = 15


class Patience:
    """Begins with the task; `monotonic_ns` is the clock that it goes by."""

    def __init__(self, *, seconds: int = SECONDS, monotonic_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._monotonic_ns = monotonic_ns
        self._ends_ns = monotonic_ns() + seconds * 1_000_000_000

    @property
    def is_over(self) -> bool:
        """Whether no further call should be begun."""
        return self._monotonic_ns() >= self._ends_ns
