"""The limits that the service sets on its callers: how many calls a window allows, and when the next window begins.

Source: supplement 1.10: a fixed window for each route, stated in headers of every answer.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from chaindata.wire import catalogue
from wire.errors import Unreachable

_MOST_DIGITS = 12
_BEFORE_ASKING_AGAIN_MS = 1_000  # if the service does not say when the window ends
_AFTER_THE_END_MS = 100  # the service states the end in whole seconds


class Busy(Unreachable):
    """Too many calls: the service ignored this one. `until_s` is the end of the window in Unix time, if stated."""

    def __init__(self, reason: str, *, until_s: int | None) -> None:
        super().__init__(reason)
        self.until_s = until_s


@dataclass(frozen=True, slots=True)
class Window:
    """What the headers of an answer say: the calls that a window allows, those that remain, its end in Unix time."""

    limit: int | None
    remaining: int | None
    ends_s: int | None

    @staticmethod
    def from_headers(headers: Mapping[str, str]) -> "Window":
        """Read the headers; None for one that is missing or not a whole number."""
        limit, remaining, ends_s = (_whole_number(headers.get(name)) for name in catalogue.RATE_HEADERS)
        return Window(limit, remaining, ends_s)


def _whole_number(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else None


def await_window(busy: Busy, *, ends_ms: int, unix_ms: Callable[[], int], sleep_ms: Callable[[int], None]) -> None:
    """Sleep until the next window begins. Raises `busy` if that is later than `ends_ms`."""
    now_ms = unix_ms()
    again_ms = (busy.until_s or 0) * 1000 + _AFTER_THE_END_MS
    if again_ms <= now_ms:
        again_ms = now_ms + _BEFORE_ASKING_AGAIN_MS
    if again_ms >= ends_ms:
        raise busy
    sleep_ms(again_ms - now_ms)
