"""The source of a page's figures: whether a stream updates them, and when they were last read completely."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from desk import clock
from exchange_ops.shared.models import FollowerState

SILENCE = timedelta(seconds=60)  # a stream that was silent for so long is dead, whatever its row says
LATE = timedelta(seconds=60)  # readings come every few seconds: an older one means that something is wrong


@dataclass(frozen=True, slots=True)
class Source:
    """Where figures come from: whether a stream updates them, and when they were last read.

    `heard_at` is the stream's last sign of life, `read_at` the end of the last complete reading.
    `late`: the figures may be out of date. `problem` is what was wrong with the last reading.
    """

    is_streamed: bool
    heard_at: datetime | None
    read_at: datetime | None
    late: bool
    problem: str


def is_heard(row: FollowerState | None, now: datetime) -> bool:
    """Whether the follower is connected and heard from the exchange recently."""
    return row is not None and row.connected and clock.is_fresh(row.heard_at, now, within=SILENCE)


def source_of(stream: str, reading: str, now: datetime) -> Source:
    """The source of figures that come from this stream and this loop of readings, by the names of their rows."""
    rows = {row.name: row for row in FollowerState.objects.filter(name__in=(stream, reading))}
    streamed, read = rows.get(stream), rows.get(reading)
    read_at = read.heard_at if read else None
    return Source(
        is_streamed=is_heard(streamed, now),
        heard_at=streamed.heard_at if streamed else None,
        read_at=read_at,
        late=not clock.is_fresh(read_at, now, within=LATE),
        problem=read.problem if read else "",
    )
