"""The only place where the product reads the wall clock, so that a test or a drill can replace it at one point."""

from datetime import UTC, datetime, timedelta
from typing import Final

TOLERANCE: Final = timedelta(minutes=1)  # between machines, and between the start of a step and its end


def now() -> datetime:
    """This moment, with the UTC zone attached."""
    return datetime.now(UTC)


def is_future(moment: datetime, at: datetime) -> bool:
    """Whether something that has happened has a time that is still to come: a clock was set back since."""
    return moment > at + TOLERANCE
