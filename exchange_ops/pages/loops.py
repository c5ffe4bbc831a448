"""The rows of the system page: each follower of a stream, and each loop that reads or works in rounds."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from desk import clock
from desk.templatetags.desk import span
from exchange_ops.market import stream
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import FollowerState
from exchange_ops.shared.views import sources

SHOWN_IN_MS = 10_000
LATE_MS = 2_000  # a message that takes longer is worth a colour
BEAT = timedelta(seconds=90)  # the slowest loop has a round each minute
STREAMS = {
    "stream": ("Account stream", "transactions and the bank account"),
    "trading stream": ("Trading stream", "orders, trades and margin"),
    stream.NAME: ("Market stream", "prices, order books and trades for open markets"),
}
LOOPS = {
    heartbeats.WORKER: ("Workers", "requests to the exchange"),
    heartbeats.RELEASES: ("Release workers", "releases of reserved funds only"),
    heartbeats.SWEEPER: ("Follower", "followers, timers, and payouts when no worker is running"),
    heartbeats.JOBS: ("Overdue jobs", "requests that run too long"),
    heartbeats.MARKET: ("Prices", "currencies, symbols and tickers"),
    "ledger": ("Ledger", "transactions and both accounts, full sync"),
    "orders": ("Orders", "orders, trades and margin, full sync"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One row: its name, what it brings, and whether it works now.

    `silent`: it claims to be connected but gave no sign of life for a minute, so its process is gone.
    """

    row: FollowerState
    label: str
    brings: str
    works: bool
    silent: bool = False
    slow: bool = False

    @property
    def lag(self) -> str:
        """The delay of the slowest message in the last second that had messages; empty when unknown."""
        lag_ms = self.row.lag_ms
        if lag_ms is None:
            return ""
        return f"{lag_ms} ms" if lag_ms < SHOWN_IN_MS else span(timedelta(milliseconds=lag_ms))


def followers(rows: list[FollowerState], now: datetime) -> list[Line]:
    """One line for each stream that was ever followed, in the order account, trading, market."""
    return [_follower(row, now) for kind in STREAMS for row in rows if _kind(row) == kind]


def rounds(rows: list[FollowerState], now: datetime) -> list[Line]:
    """One line for each loop; those without a label come last, under their own name."""
    loop_rows = [row for kind in LOOPS for row in rows if _kind(row) == kind]
    other_rows = [row for row in rows if _kind(row) not in LOOPS and _kind(row) not in STREAMS]
    return [_round(row, now) for row in (*loop_rows, *other_rows)]


def _follower(row: FollowerState, now: datetime) -> Line:
    label, brings = STREAMS[_kind(row)]
    heard = sources.is_heard(row, now)
    slow = row.lag_ms is not None and row.lag_ms >= LATE_MS
    return Line(row, label, brings, works=heard, silent=row.connected and not heard, slow=slow)


def _round(row: FollowerState, now: datetime) -> Line:
    label, brings = LOOPS.get(_kind(row), (row.name, ""))
    fresh = clock.is_fresh(row.beat_at, now, within=BEAT)
    return Line(row, label, brings, works=row.connected and fresh, silent=row.connected and not fresh)


def _kind(row: FollowerState) -> str:
    return row.name.partition(":")[0]
