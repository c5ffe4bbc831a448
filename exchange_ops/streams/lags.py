"""How long messages of a stream are on their way: from the time that a message carries to its arrival here.

The exchange's clock is known from the dates of its answers over REST, which tell whole seconds: each reading says how
far it is ahead of ours at most, and that is less than a second too much. Several of them together narrow that down.
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

    Nothing when there are none. Without an account those of every account count: it is one exchange.
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
    """What is known of the messages of one stream since it was last written down."""

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
        """It tells of something that happened at the exchange at this moment."""
        if self._looked_at is None or not timedelta(0) <= now - self._looked_at < LOOK_EVERY:
            self._looked_at, self._lead = now, lead(account=self._account, now=now)
        lag_ms = min(max((now + self._lead - own_time) // _MILLISECOND, 0), LONGEST_MS)
        self._slowest_ms = max(lag_ms, self._slowest_ms or 0)

    def columns(self) -> dict[str, object]:
        """What is to be written down, once: empty when no message arrived since."""
        columns: dict[str, object] = {}
        if self._arrived_at is not None:
            columns["message_at"] = self._arrived_at
        if self._slowest_ms is not None:
            columns["lag_ms"] = self._slowest_ms
        self._arrived_at = self._slowest_ms = None
        return columns
