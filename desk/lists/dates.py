"""Ranges of days: presets and days of one's own, in UTC or in the zone of the person."""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

PRESETS: Final = {"today": "Today", "7d": "Last 7 days", "30d": "Last 30 days", "month": "This month"}
CUSTOM: Final = "custom"
_DAYS: Final = {"today": 1, "7d": 7, "30d": 30}
_LONGEST_ZONE = 60


def zone_named(name: str) -> tzinfo | None:
    """The zone of this name, or nothing where there is none."""
    if name == "UTC":
        return UTC
    if not name or len(name) > _LONGEST_ZONE or not name.isascii():
        return None
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return None


def days_of(preset: str, now: datetime, zone: tzinfo) -> tuple[date, date]:
    """The first and the last day of a preset; both count."""
    today = now.astimezone(zone).date()
    first = today.replace(day=1) if preset == "month" else today - timedelta(days=_DAYS[preset] - 1)
    return first, today


def begin_of(day: date, zone: tzinfo) -> datetime | None:
    """The first moment of a day in a zone, in UTC; nothing where the calendar has no such moment."""
    try:
        return datetime.combine(day, time(), tzinfo=zone).astimezone(UTC)
    except OverflowError:
        return None


def end_of(day: date, zone: tzinfo) -> datetime | None:
    """The first moment after a day in a zone, in UTC; nothing where the calendar ends."""
    try:
        return begin_of(day + timedelta(days=1), zone)
    except OverflowError:
        return None
