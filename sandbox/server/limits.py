"""How often one may ask: the exchange by the second and group, the chain-data service by the minute and route.

The exchange counts market data by address and everything else by account, in a sliding second (exchange supplement
2.5). The chain-data service counts by address: a window begins with the first call of its route and ends as a whole a
minute later (chain supplement 1.10).

All is counted by the machine's clock, not the sandbox's: a frozen sandbox clock would otherwise never let anybody in
again.
"""

import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chaindata.wire import catalogue as chain_catalogue
from wire.operation import Operation

SECOND_NS = 1_000_000_000
MOST_CALLERS = 10_000
WINDOW_S = chain_catalogue.RATE_WINDOW_S
MOST_WINDOWS = 10_000


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


@dataclass(slots=True)
class Window:
    """The calls of one address on one route: how many came since `began_s`."""

    began_s: int
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Allowance:
    """What an answer's headers tell: the limit, what is left of it, and when the window ends (seconds since 1970)."""

    is_allowed: bool
    limit: int
    left: int
    resets_s: int

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The three headers, in their order."""
        return tuple(zip(chain_catalogue.RATE_HEADERS, map(str, (self.limit, self.left, self.resets_s)), strict=True))


class Windows:
    """The open windows of every address."""

    def __init__(self, clock_s: Callable[[], int] = lambda: time.time_ns() // 1_000_000_000) -> None:
        self._clock_s = clock_s
        self._windows: dict[tuple[str, str], Window] = {}

    def count(self, address: str, route: str, limit: int) -> Allowance:
        """Counts one call; it is refused once the limit of its window is used up."""
        now_s = self._clock_s()
        if len(self._windows) > MOST_WINDOWS:
            self._windows = {key: each for key, each in self._windows.items() if now_s < each.began_s + WINDOW_S}
        window = self._windows.get((address, route))
        if window is None or now_s >= window.began_s + WINDOW_S:
            window = self._windows[address, route] = Window(now_s)
        window.calls += 1
        return Allowance(window.calls <= limit, limit, max(limit - window.calls, 0), window.began_s + WINDOW_S)


def route_of(method: str, path: str) -> str:
    """What shares one window: the method and the first three parts of the path, whatever their case."""
    return method + "/" + "/".join(path.strip("/").split("/")[:3]).lower()
