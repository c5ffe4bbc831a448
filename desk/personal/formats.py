"""The formats of times and figures that the reader of a page has chosen.

Code that renders a page uses `current()`, which is set for one request. Whatever is stored, sent, exported or answered
to a program does not use it: that is in UTC and in the usual grouping, whoever caused it.

The decimal sign is a point for everybody, as forms take it, as the exchange writes it, and as stored sentences have it.
A point that is a decimal sign in one place and groups thousands in another could make a payout a thousand times larger.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from desk.personal.models import Grouping, PersonalSettings

UTC_NAME: Final = "UTC"
MINUS: Final = "\u2212"
MARKS: Final = {
    Grouping.COMMA: ",",
    Grouping.SPACE: "\u202f",
    Grouping.APOSTROPHE: "\u2019",
    Grouping.NONE: "",
}


@dataclass(frozen=True, slots=True)
class Formats:
    """A time zone by its name, and what stands between thousands."""

    zone: str = UTC_NAME
    mark: str = ","

    @property
    def is_utc(self) -> bool:
        """Whether times are shown in UTC."""
        return self.zone == UTC_NAME

    def here(self, when: datetime) -> datetime:
        """The time in this zone; one at the end of the calendar that can't be converted stays in UTC."""
        try:
            return when.astimezone(UTC if self.is_utc else _zone(self.zone))
        except OverflowError:
            return when.astimezone(UTC)

    def written(self, when: datetime, pattern: str) -> str:
        """The moment by a pattern of `strftime`, with its distance from UTC behind it: "14:23 UTC+1"."""
        here = self.here(when)
        return f"{here.strftime(pattern)} {offset(here)}"

    def column(self) -> str:
        """What the head of a column of hours says: "UTC", or "Berlin time" whatever the season of each row."""
        return UTC_NAME if self.is_utc else f"{city(self.zone)} time"


USUAL: Final = Formats()
_reader: ContextVar[Callable[[], Formats] | None] = ContextVar("desk_personal_formats", default=None)


def current() -> Formats:
    """The formats of the reader of the current request; the usual ones outside of requests."""
    find = _reader.get()
    return find() if find else USUAL


@contextmanager
def using(find: Callable[[], Formats]) -> Iterator[None]:
    """Within this context `current()` returns what `find` gives, which is called only when it is needed."""
    token = _reader.set(find)
    try:
        yield
    finally:
        _reader.reset(token)


def for_settings(settings: PersonalSettings | None) -> Formats:
    """The formats of a person's settings. A zone that this machine no longer knows counts as UTC."""
    if settings is None:
        return USUAL
    try:
        _zone(settings.zone)
    except (ZoneInfoNotFoundError, ValueError):
        return Formats(mark=MARKS.get(Grouping(settings.grouping), ","))
    return Formats(settings.zone, MARKS[Grouping(settings.grouping)])


def zone_of(person: Any) -> str:
    """The time zone of a person; UTC where they set none, or one that this machine no longer knows."""
    return for_settings(getattr(person, "personal", None)).zone


def zones() -> list[str]:
    """The names of the time zones that people may choose."""
    return [UTC_NAME, *sorted(name for name in available_timezones() if "/" in name and not name.startswith("Etc/"))]


def offset(here: datetime) -> str:
    """How far from UTC a moment of a zone is: "UTC", "UTC+1", "UTC+5:30"; static/js/personal.js says the same."""
    passed = here.utcoffset()
    minutes = round(passed.total_seconds() / 60) if passed else 0
    if not minutes:
        return UTC_NAME
    hours, rest = divmod(abs(minutes), 60)
    return f"{UTC_NAME}{'+' if minutes > 0 else MINUS}{hours}{f':{rest:02}' if rest else ''}"


def city(zone: str) -> str:
    """The place that a zone is called after: "Europe/Berlin" is Berlin."""
    return zone.rpartition("/")[2].replace("_", " ")


def figure(value: Decimal, *, places: int = 0, mark: str = ",") -> str:
    """All significant digits of `value`, grouped by `mark`, with at least `places` digits after the point."""
    if not value.is_finite():
        return "not a number"
    integer, _, rest = format(value, "f").partition(".")
    rest = rest.rstrip("0").ljust(places, "0")
    sign = MINUS if integer.startswith("-") else ""
    grouped = f"{int(integer.lstrip('-')):,}".replace(",", mark)
    return f"{sign}{grouped}.{rest}" if rest else f"{sign}{grouped}"


def cents(value: Decimal, *, mark: str = ",") -> str:
    """A value in the quote currency to the cent, below one unit to four digits: a value, never an amount to pay."""
    places = Decimal("0.01") if abs(value) >= 1 or not value else Decimal("0.0001")
    return figure(value.quantize(places), places=2, mark=mark)


def _zone(name: str) -> ZoneInfo:
    return ZoneInfo(name)
