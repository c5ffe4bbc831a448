"""The delay of a stream's messages: from the time that a message carries to its arrival here.

The exchange's clock is known from the dates of its REST answers, in whole seconds: each reading is an upper bound of
its lead over ours, less than a second too high. Several readings together narrow it down.
"""

from datetime import datetime, timedelta

from exchange_ops.shared import clocks
from exchange_ops.shared.models import Account, ClockReading

LOOK_EVERY = timedelta(seconds=30)
RECENT = timedelta(minutes=15)
MOST_READINGS = 50
LONGEST_MS = 2**31 - 1  # what the column takes
_MILLISECOND = timedelta(milliseconds=1)


def lead(*, account: Account | None, now: datetime) -> timedelta:
    """How far the exchange's clock is ahead of ours (negative: behind), by the readings of the last minutes.

    Zero without readings. Without an account the readings of every account count: it is one exchange.
    """
    readings = ClockReading.objects.filter(read_at__gt=now - RECENT, read_at__lte=now)
    if account is not None:
        readings = readings.filter(account=account)
    skews_ms = list(readings.order_by("-id").values_list("skew_ms", flat=True)[:MOST_READINGS])
    width_ms = clocks.DATE_RESOLUTION // _MILLISECOND
    same = [
        skew_ms for skew_ms in skews_ms if abs(skew_ms - skews_ms[0]) <= width_ms
    ]  # a clock that was set starts over
    return (min(same) + max(same) - width_ms) // 2 * _MILLISECOND if same else timedelta(0)


class Lag:
    """The arrival and delay of one stream's messages since they were last stored."""

    def __init__(self, account: Account | None) -> None:
        self._account = account
        self._lead = timedelta(0)
        self._looked_at: datetime | None = None
        self._arrived_at: datetime | None = None
        self._slowest_ms: int | None = None

    def message(self, *, now: datetime) -> None:
        """A message arrived."""
        self._arrived_at = now

    def carried(self, *, own_time: datetime, now: datetime) -> None:
        """The message reports something that happened at the exchange at `own_time`."""
        if self._looked_at is None or not timedelta(0) <= now - self._looked_at < LOOK_EVERY:
            self._looked_at, self._lead = now, lead(account=self._account, now=now)
        lag_ms = min(max((now + self._lead - own_time) // _MILLISECOND, 0), LONGEST_MS)
        self._slowest_ms = max(lag_ms, self._slowest_ms or 0)

    def columns(self) -> dict[str, object]:
        """The columns to store, once: empty when no message has arrived since the last call."""
        columns: dict[str, object] = {}
        if self._arrived_at is not None:
            columns["message_at"] = self._arrived_at
        if self._slowest_ms is not None:
            columns["lag_ms"] = self._slowest_ms
        self._arrived_at = self._slowest_ms = None
        return columns
