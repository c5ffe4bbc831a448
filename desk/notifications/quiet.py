"""Quiet hours: when a message that arises now may be sent to somebody."""

from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from desk.notifications.models import Availability


def until(availability: Availability | None, now: datetime, *, zone: str) -> datetime:
    """When this person, who lives in `zone`, may be told: now, or when their quiet hours end."""
    if availability is None or availability.quiet_from is None or availability.quiet_until is None:
        return now
    begins, ends = availability.quiet_from, availability.quiet_until
    here = now.astimezone(ZoneInfo(zone))
    if not _is_within(here.time(), begins, ends):
        return now
    day = here.date() if here.time() < ends else here.date() + timedelta(days=1)
    # The hour of the wall, whatever the clocks did in the night; back in UTC it is one instant.
    return datetime.combine(day, ends, tzinfo=here.tzinfo).astimezone(now.tzinfo)


def _is_within(hour: time, begins: time, ends: time) -> bool:
    if begins <= ends:
        return begins <= hour < ends
    return hour >= begins or hour < ends
