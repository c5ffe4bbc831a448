"""What a page still waits for: opening one and going on as soon as it has joined what it follows and read all of it.

Waiting for the network to be idle costs half a second for each page, and far more in a house where something happens
all the time: parts are read again, and the half second begins anew.
"""

import time
from typing import Any

from tests.bounds import stretched

FOLLOWS = "[data-follow], [data-ticks]"
PAUSE_MS = 30  # longer than it takes from an answer to the requests that its script makes


class Traffic:
    """The requests of one page that have no answer yet, and whether its socket has joined its topics."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self._open: set[Any] = set()
        self._joined = False
        page.on("request", self._begin)
        page.on("requestfinished", self._end)
        page.on("requestfailed", self._end)
        page.on("framenavigated", self._leave)
        page.on("websocket", lambda socket: socket.on("framereceived", self._hear))

    # The driver takes methods of Python as listeners, and none of a set.
    def _begin(self, request: Any) -> None:
        self._open.add(request)

    def _end(self, request: Any) -> None:
        self._open.discard(request)

    def _leave(self, frame: Any) -> None:
        """The document was replaced: of what the one before waited for, nobody hears any more."""
        if frame == self._page.main_frame:
            self._open.clear()

    def _hear(self, frame: Any) -> None:
        self._joined = self._joined or "followed" in str(frame)

    def open(self, address: str, *, joins: bool = True) -> None:
        """Go to an address; without `joins` the page may stay without a socket."""
        self._joined = False
        self._page.goto(address, wait_until="load")
        ends = time.monotonic() + stretched(60)
        while not (self._has_joined(joins) and self._is_quiet()):
            assert time.monotonic() < ends, f"{address} waits for {len(self._open)} requests, joined: {self._joined}"
            self._page.wait_for_timeout(PAUSE_MS)

    def _has_joined(self, joins: bool) -> bool:
        return self._joined or not joins or not self._page.locator(FOLLOWS).count()

    def _is_quiet(self) -> bool:
        """Whether nothing is open now, nor a moment later: what was joined or answered may lead to a request."""
        if not self._open:
            self._page.wait_for_timeout(PAUSE_MS)
        return not self._open


def open_page(page: Any, address: str, *, joins: bool = True) -> None:
    """Go to an address in this page, and return when it has read everything once more (`Traffic.open`)."""
    if not hasattr(page, "traffic"):
        page.traffic = Traffic(page)
    page.traffic.open(address, joins=joins)
