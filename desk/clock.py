"""The only place where the product reads the wall clock, so that a test or a drill can replace it at one point."""

from datetime import UTC, datetime


def now() -> datetime:
    """This moment, with the UTC zone attached."""
    return datetime.now(UTC)
