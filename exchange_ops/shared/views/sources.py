"""What the figures of a page rest on: whether a stream tells them as they change, and when they were read whole."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from exchange_ops.ledger import stream as streams
from exchange_ops.orders import stream as trading_stream
from exchange_ops.orders import workflow as orders
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import Account, FollowerState

SILENCE = timedelta(seconds=60)  # a stream that was heard so long ago tells nothing any more, whatever its row says
LATE = timedelta(seconds=60)  # a reading comes every few seconds: one so old says that something is wrong


@dataclass(frozen=True, slots=True)
class Source:
    """`told` as it happens; `heard_at` is the stream's last sign of life, `read_at` the end of the last whole reading.

    `late` says that the figures may be out of date, `problem` what was wrong with the last reading.
    """

    told: bool
    heard_at: datetime | None
    read_at: datetime | None
    late: bool
    problem: str


def of_ledger(account: Account | None, now: datetime) -> Source | None:
    """The ledger and both wallets; nothing without an account."""
    if account is None:
        return None
    return _source(streams.name_of(account), heartbeats.ledger_of(account), now)


def of_orders(account: Account | None, now: datetime) -> Source | None:
    """Orders, trades and margin; nothing without an account."""
    if account is None:
        return None
    return _source(trading_stream.name_of(account), orders.name_of(account), now)


def is_heard(row: FollowerState | None, now: datetime) -> bool:
    """Whether the follower is connected and its exchange gave a sign of life of late."""
    return row is not None and row.connected and row.heard_at is not None and now - row.heard_at <= SILENCE


def _source(stream: str, reading: str, now: datetime) -> Source:
    rows = {row.name: row for row in FollowerState.objects.filter(name__in=(stream, reading))}
    told, read = rows.get(stream), rows.get(reading)
    read_at = read.heard_at if read else None
    return Source(
        told=is_heard(told, now),
        heard_at=told.heard_at if told else None,
        read_at=read_at,
        late=read_at is None or now - read_at > LATE,
        problem=read.problem if read else "",
    )
