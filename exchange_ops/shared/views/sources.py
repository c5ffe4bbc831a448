"""What the figures of a page rest on: whether a stream tells them as they change, and when they were read whole."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from exchange_ops.shared.models import FollowerState

SILENCE = timedelta(seconds=60)  # a stream that was heard so long ago tells nothing any more, whatever its row says
LATE = timedelta(seconds=60)  # a reading comes every few seconds: one so old says that something is wrong


@dataclass(frozen=True, slots=True)
class Source:
    """Where figures come from: whether they are streamed as they change, and when they were last read.

    `heard_at` is the stream's last sign of life, `read_at` the end of the last whole reading.
    `late` says that the figures may be out of date, `problem` what was wrong with the last reading.
    """

    is_streamed: bool
    heard_at: datetime | None
    read_at: datetime | None
    late: bool
    problem: str


def is_heard(row: FollowerState | None, now: datetime) -> bool:
    """Whether the follower is connected and its exchange gave a sign of life of late."""
    return row is not None and row.connected and row.heard_at is not None and now - row.heard_at <= SILENCE


def source_of(stream: str, reading: str, now: datetime) -> Source:
    """What rests on this stream and on this loop of readings, by the names of their rows."""
    rows = {row.name: row for row in FollowerState.objects.filter(name__in=(stream, reading))}
    streamed, read = rows.get(stream), rows.get(reading)
    read_at = read.heard_at if read else None
    return Source(
        is_streamed=is_heard(streamed, now),
        heard_at=streamed.heard_at if streamed else None,
        read_at=read_at,
        late=read_at is None or now - read_at > LATE,
        problem=read.problem if read else "",
    )
