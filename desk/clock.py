"""The only place where the product reads the wall clock, so that a test or a drill can replace it at one point."""

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from django.db.models import Q

TOLERANCE: Final = timedelta(minutes=1)  # between machines, and between the start of a step and its end


def now() -> datetime:
    """This moment, with the UTC zone attached."""
    return datetime.now(UTC)


def is_future(moment: datetime, at: datetime) -> bool:
    """Whether something that has happened has a time that is still to come: a clock was set back since."""
    return moment > at + TOLERANCE


def is_fresh(moment: datetime | None, now: datetime, *, within: timedelta) -> bool:
    """Whether something was read or heard at most `within` ago. What is from before the clock fell back is old."""
    return moment is not None and now - moment <= within and not is_future(moment, now)


def has_passed(wait: timedelta, *, since: datetime, now: datetime) -> bool:
    """Whether a pause that began then is over. One from before the clock fell back holds nothing up."""
    return now - since >= wait or is_future(since, now)


def ended(column: str, *, now: datetime, lasts: timedelta) -> "Q":
    """The rows whose claim or pause until the time in `column` is over, or that have none.

    It lasts at most `lasts`: one that ends later began before the clock fell back, and holds nothing up.
    """
    from django.db.models import Q

    return Q(**{column: None}) | Q(**{f"{column}__lte": now}) | Q(**{f"{column}__gt": now + lasts + TOLERANCE})


def older(column: str, than: datetime, *, now: datetime, or_same: bool = False) -> "Q":
    """The rows whose time in `column` is before `than`, or from before the clock fell back; never those without one.

    Where the rows are written by several readers, `now` is the present and not the beginning of a reading: what another
    one has read in the meantime isn't from the future, and stays.
    """
    from django.db.models import Q  # what has no database reads the clock as well

    before = Q(**{f"{column}__{'lte' if or_same else 'lt'}": than})
    return before | Q(**{f"{column}__gt": now + TOLERANCE})


def recent(column: str, since: datetime, *, now: datetime) -> "Q":
    """The rows whose time in `column` is after `since`, without those from before the clock fell back."""
    from django.db.models import Q

    return Q(**{f"{column}__gt": since, f"{column}__lte": now + TOLERANCE})
