"""The exchange's clock, measured with every answer, and the time that deadlines at the exchange go by.

A hold ends by the exchange's clock, not by ours. Its answers carry a Date header in whole seconds; a stored reading is
the most that its clock can be ahead of ours. Deadlines use the later of the two clocks, so that they come early.

A clock that is ahead by up to `MOST_BELIEVED` is believed at once, because acting early pays nobody. A larger lead
counts as a mistake (of a cache, a gateway, a host with a wrong date): it is stored and shown, and deadlines go by the
last believable reading. That is safe: a deadline is set and checked by the same clock, and a hold whose hour passed
more than a day ago is decided by the ledger alone. A clock that is behind changes nothing.
"""

from datetime import datetime, timedelta

import structlog
from django.db import DatabaseError
from django.db.models import QuerySet

from desk import clock
from exchange_ops.shared.models import Account, ClockReading

MOST_BELIEVED = timedelta(hours=24)
DATE_RESOLUTION = timedelta(seconds=1)
MOST_UNNOTICED = timedelta(minutes=1)
SAME_ENOUGH = timedelta(seconds=1)  # readings that differ less are one reading
WRITE_EVERY = timedelta(seconds=30)
KEPT_FOR = timedelta(days=2)

_log = structlog.get_logger(__name__)


def note(*, account_id: int, date: datetime, now: datetime) -> None:
    """Store the reading of one answer: `date` is its Date header, `now` our clock when it was read.

    It never raises database errors: the answer may be about money, which matters more than the clock.
    """
    skew = date + DATE_RESOLUTION - now
    try:
        newest = ClockReading.objects.filter(account_id=account_id).order_by("-id").first()
        if (
            newest is not None
            and clock.is_fresh(newest.read_at, now, within=WRITE_EVERY)
            and abs(_skew(newest) - skew) <= SAME_ENOUGH
        ):
            return
        ClockReading.objects.create(account_id=account_id, skew_ms=skew // timedelta(milliseconds=1), read_at=now)
        ClockReading.objects.filter(account_id=account_id, read_at__lt=now - KEPT_FOR).delete()
    except DatabaseError as problem:
        _log.warning("clocks.reading_lost", account=account_id, reason=str(problem))


def exchange_now(*, account: Account, now: datetime) -> datetime:
    """The time that deadlines at the exchange go by: the later of our clock and the exchange's."""
    reading = believed(account=account)
    return now if reading is None else max(now, now + _skew(reading))


def believed(*, account: Account) -> ClockReading | None:
    """The newest believable reading; None when no answer ever carried a date."""
    most = MOST_BELIEVED // timedelta(milliseconds=1)
    reading: ClockReading | None = newest_first(account=account).filter(skew_ms__lte=most, skew_ms__gte=-most).first()
    return reading


def at_least(*, account: Account, now: datetime) -> datetime | None:
    """The earliest time that the exchange's clock can show now; None when no answer ever carried a date."""
    reading = believed(account=account)
    return None if reading is None else now + _skew(reading) - 2 * DATE_RESOLUTION


def by_desk_clock(deadline: datetime, exchange_now: datetime, *, now: datetime) -> datetime:
    """When a deadline in the exchange's time is by our clock, as pages and messages show it."""
    ahead = exchange_now - now
    return deadline - ahead if abs(ahead) > MOST_UNNOTICED else deadline


def sent_from(*, account: Account, now: datetime) -> datetime:
    """The earliest date that the exchange may give to something sent now; anything older is something else."""
    return min(now, at_least(account=account, now=now) or now)


def problem(*, account: Account) -> str:
    """A sentence when the newest reading is over a minute from our clock, or not believable; else an empty text."""
    newest = newest_first(account=account).first()
    if newest is None or abs(_skew(newest)) <= MOST_UNNOTICED:
        return ""
    if abs(_skew(newest)) <= MOST_BELIEVED:
        minutes = int(abs(_skew(newest)).total_seconds() // 60)
        where = "ahead of" if _skew(newest) > timedelta(0) else "behind"
        return (
            f"The exchange's clock is {minutes} min {where} ours. Deadlines follow the later clock, so they "
            "may come early but never late. An administrator must check the server's clock against a time server."
        )
    return (
        f"The date in the exchange's responses is {abs(_skew(newest)).days} days off. It is ignored; deadlines "
        "follow the last valid reading."
    )


def newest_first(*, account: Account) -> QuerySet[ClockReading]:
    """The readings of an account, the newest first: by arrival, because a slow host clock dates them too early."""
    return ClockReading.objects.filter(account=account).order_by("-id")


def _skew(reading: ClockReading) -> timedelta:
    return timedelta(milliseconds=reading.skew_ms)
