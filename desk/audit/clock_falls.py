"""A clock that was set back: the trail has times that this machine's clock has not reached again.

What was read or written in those minutes lies in the future: it counts as old, and timers that were set then are due
when they would have been. Nothing is remembered; once the clock has passed the newest time, all of it is over.
"""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import DateTimeField, ExpressionWrapper, Q, Subquery

from desk import clock, models

MOST: Final = timedelta(days=1)  # a larger difference is another mistake, and moves no timer
_PAUSES: Final = timedelta(minutes=1)  # the usual pauses between two steps, after the last entry of the trail


def fallen_by(now: datetime, *others: datetime | None) -> timedelta:
    """How far the clock lies behind the newest entry of the trail and behind `others`; zero within a minute."""
    newest = models.AuditEvent.objects.order_by("-at").values_list("at", flat=True).first()
    behind = max((moment - now for moment in (newest, *others) if moment is not None), default=timedelta(0))
    return behind if behind > clock.TOLERANCE else timedelta(0)


def timers_before_the_fall(now: datetime) -> Q:
    """The rows whose timer was set before the clock fell back and would have gone off since, or soon after."""
    later = models.AuditEvent.objects.filter(at__gt=now + clock.TOLERANCE, at__lt=now + MOST).order_by("-at")
    newest = ExpressionWrapper(Subquery(later.values("at")[:1]) + _PAUSES, output_field=DateTimeField())
    return Q(next_action_at__lte=newest)


def sentence(behind: timedelta) -> str:
    """What is so for everybody, and who can do what."""
    minutes = int(behind.total_seconds() // 60)
    return (
        f"The system clock is {minutes} min behind the latest time on record. Prices received before "
        "the clock went back count as stale, and one-time codes may be rejected. "
        "An administrator must correct the clock."
    )
