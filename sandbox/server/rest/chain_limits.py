"""How often an address may ask the chain-data service: windows of a minute for each route (supplement 1.10).

A window begins with the first call of its route and ends as a whole a minute later. Counted by the machine's clock: a
frozen sandbox clock would otherwise never let anybody in again.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from chaindata.wire import catalogue

WINDOW_S = catalogue.RATE_WINDOW_S
MOST_WINDOWS = 10_000


@dataclass(slots=True)
class Window:
    """The calls of one address on one route: how many came since `began_s`."""

    began_s: int
    calls: int = 0


@dataclass(frozen=True, slots=True)
class Standing:
    """What an answer's headers tell: the limit, what is left of it, and when the window ends (seconds since 1970)."""

    is_allowed: bool
    limit: int
    left: int
    resets_s: int

    def headers(self) -> tuple[tuple[str, str], ...]:
        """The three headers, in their order."""
        return tuple(zip(catalogue.RATE_HEADERS, map(str, (self.limit, self.left, self.resets_s)), strict=True))


class Windows:
    """The open windows of every address."""

    def __init__(self, clock_s: Callable[[], int] = lambda: time.time_ns() // 1_000_000_000) -> None:
        self._clock_s = clock_s
        self._windows: dict[tuple[str, str], Window] = {}

    def count(self, address: str, route: str, limit: int) -> Standing:
        """Counts one call; it is refused once the limit of its window is used up."""
        now_s = self._clock_s()
        if len(self._windows) > MOST_WINDOWS:
            self._windows = {key: each for key, each in self._windows.items() if now_s < each.began_s + WINDOW_S}
        window = self._windows.get((address, route))
        if window is None or now_s >= window.began_s + WINDOW_S:
            window = self._windows[address, route] = Window(now_s)
        window.calls += 1
        return Standing(window.calls <= limit, limit, max(limit - window.calls, 0), window.began_s + WINDOW_S)


def route_of(method: str, path: str) -> str:
    """What shares one window: the method and the first three parts of the path, whatever their case."""
    return method + "/" + "/".join(path.strip("/").split("/")[:3]).lower()
