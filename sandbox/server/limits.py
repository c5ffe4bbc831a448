"""Requests a second by group (supplement 2.5): market data by address, everything else by account.

Counted by the machine's clock, not the sandbox's: a frozen sandbox clock would otherwise never let anybody in again.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping

from wire.operation import Operation

SECOND_NS = 1_000_000_000
MOST_CALLERS = 10_000


def group_of(operation: Operation) -> str:
    """`market`, `trading` or `other`. History counts as other."""
    path = operation.path.removeprefix("/api/2")
    if operation.public:
        return "market"
    return "trading" if path.startswith(("/order", "/trading", "/margin")) else "other"


class Limits:
    """A sliding second for each caller of each group."""

    def __init__(self, clock_ns: Callable[[], int] = time.monotonic_ns) -> None:
        self._clock_ns = clock_ns
        self._seen: dict[tuple[str, str], deque[int]] = {}

    def allows(self, group: str, caller: str, rates: Mapping[str, int] | None) -> bool:
        """Counts one request and tells whether it is within the rate of its group; a refused one doesn't count."""
        rate = (rates or {}).get(group)
        if rate is None:
            return True
        now_ns = self._clock_ns()
        if len(self._seen) > MOST_CALLERS:
            self._seen.clear()
        seen = self._seen.setdefault((group, caller), deque())
        while seen and seen[0] <= now_ns - SECOND_NS:
            seen.popleft()
        if len(seen) >= rate:
            return False
        seen.append(now_ns)
        return True
