"""The time inside a step of a worker, and whether it is too late to send.

A process can be paused for minutes, alone or with its machine, and then go on as if nothing had happened. Boot time
goes on while the machine sleeps (on Linux the monotonic clock does not), and the wall clock shows the time that a
restored virtual machine missed. A call is sent only when both clocks say that little time has passed.
"""

import time
from datetime import datetime, timedelta

from desk import clock

SEND_WITHIN = timedelta(seconds=20)
CLOCKS_AGREE_WITHIN = timedelta(seconds=5)


class Stopwatch:
    """Starts at `now`, the time that the step was given; `now()` is that plus the time that has passed since."""

    def __init__(self, now: datetime) -> None:
        self._started = now
        self._boot_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        self._wall = clock.now()

    def now(self) -> datetime:
        """The instant of the step, carried on by boot time."""
        return self._started + self._by_boot()

    def passed(self) -> timedelta:
        """How long the step has taken so far."""
        return self._by_boot()

    def too_late_to_send(self) -> str:
        """Why nothing may be sent any more, else an empty text."""
        by_boot, by_wall = self._by_boot(), clock.now() - self._wall
        if by_boot > SEND_WITHIN or by_wall > SEND_WITHIN:
            return "Not sent: this worker was delayed for too long."
        if abs(by_boot - by_wall) > CLOCKS_AGREE_WITHIN:
            return "Not sent: the system clock was changed while the request was being prepared."
        return ""

    def _by_boot(self) -> timedelta:
        return timedelta(microseconds=(time.clock_gettime_ns(time.CLOCK_BOOTTIME) - self._boot_ns) // 1000)
