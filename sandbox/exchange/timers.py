"""What happens later: actions that fall due at an instant of sandbox time, taken in one fixed order."""

import heapq
from dataclasses import dataclass


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
