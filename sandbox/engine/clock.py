"""The sandbox's own time, and what happens later.

Its time is the real time plus an offset, which can be advanced and frozen but never runs backwards. Actions fall due at
an instant of it, and are taken in one fixed order.
"""

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
LONGEST_ADVANCE_MS = 3660 * DAY_MS
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def wall_ms() -> int:
    """The machine's time in milliseconds since 1970: the only place where the sandbox reads it for its world."""
    return time.time_ns() // 1_000_000


@lru_cache(maxsize=1_024)
def instant_text(at_ms: int) -> str:
    """Milliseconds since 1970 as the exchange writes an instant: `2021-01-02T03:04:05.678Z`."""
    instant = _EPOCH + timedelta(milliseconds=at_ms)
    return instant.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class CannotSetClock(ValueError):
    """The clock can't be set so; the message says why."""


@dataclass(frozen=True, slots=True)
class Setting:
    """What tells sandbox time from real time: the offset, or the instant (ms since 1970) at which it stands still."""

    offset_ms: int = 0
    frozen_at_ms: int | None = None


class Clock:
    """Sandbox time in whole milliseconds since 1970, UTC.

    `changed` is called after each change of the setting, with the instant just before it, so that the world can
    journal the outcome: a replay applies the recorded `Setting` and never asks the real clock.
    """

    def __init__(self, real_now_ms: Callable[[], int], changed: Callable[[int], None] | None = None) -> None:
        self._real_now_ms = real_now_ms
        self._changed = changed
        self._latest_ms = 0
        self.setting = Setting()

    @property
    def frozen(self) -> bool:
        """Whether time stands still."""
        return self.setting.frozen_at_ms is not None

    def now_ms(self) -> int:
        """The present sandbox time; at least the last time told, even when the machine's clock was set back."""
        if self.setting.frozen_at_ms is not None:
            return self.setting.frozen_at_ms
        self._latest_ms = max(self._latest_ms, self._real_now_ms() + self.setting.offset_ms)
        return self._latest_ms

    def advance(self, ms: int) -> None:
        """Moves time on by `ms` milliseconds (0 to ten years), also while it is frozen."""
        if isinstance(ms, bool) or not isinstance(ms, int) or not 0 <= ms <= LONGEST_ADVANCE_MS:
            raise CannotSetClock(
                f"advance_ms must be a whole number from 0 to {LONGEST_ADVANCE_MS}: time only runs on."
            )
        before_ms = self.now_ms()
        if self.setting.frozen_at_ms is None:
            self.setting = Setting(self.setting.offset_ms + ms)
            self._latest_ms = before_ms + ms
        else:
            self.setting = Setting(self.setting.offset_ms, self.setting.frozen_at_ms + ms)
        self._notify(before_ms)

    def freeze(self, frozen: bool) -> None:
        """Stops time at the present instant, or lets it run on from where it stopped."""
        if frozen == self.frozen:
            return
        before_ms = self.now_ms()
        if frozen:
            self.setting = Setting(self.setting.offset_ms, before_ms)
        else:
            self.setting = Setting(before_ms - self._real_now_ms())
            self._latest_ms = before_ms
        self._notify(before_ms)

    def restore(self, setting: Setting, reached_ms: int) -> None:
        """Takes a recorded setting as it is; time does not fall behind `reached_ms`."""
        self.setting = setting
        self._latest_ms = max(self._latest_ms, reached_ms)

    def restart(self) -> None:
        """Back to the real time, as for a fresh world."""
        self.setting, self._latest_ms = Setting(), 0

    def _notify(self, before_ms: int) -> None:
        if self._changed is not None:
            self._changed(before_ms)


# Later ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, order=True)
class Timer:
    """An action of a given name that falls due; timers of one instant go off in the order in which they were set."""

    due_ms: int
    number: int
    action: str
    subject: str
    expected: int  # the action does nothing when its subject has moved past this step


class Timers:
    """The timers of one world."""

    def __init__(self) -> None:
        self._waiting: list[Timer] = []
        self._set = 0

    def set(self, due_ms: int, action: str, subject: str, expected: int = 0) -> None:
        """Lets `action` happen to `subject` at `due_ms`."""
        self._set += 1
        heapq.heappush(self._waiting, Timer(due_ms, self._set, action, subject, expected))

    def next_due_ms(self) -> int | None:
        """When the next timer goes off; None when none waits."""
        return self._waiting[0].due_ms if self._waiting else None

    def take_due(self, until_ms: int) -> Timer | None:
        """Takes out the next timer that is due by `until_ms`."""
        if self._waiting and self._waiting[0].due_ms <= until_ms:
            return heapq.heappop(self._waiting)
        return None

    def __len__(self) -> int:
        return len(self._waiting)


@dataclass(slots=True)
class Pace:
    """When blocks come: the last one and the next one, and the turn by which a timer knows that it still counts."""

    last_ms: int = 0
    due_ms: int = 0
    turn: int = 0
