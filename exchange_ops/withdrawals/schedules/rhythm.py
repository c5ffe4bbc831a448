"""The dates of a schedule: pure arithmetic on the calendar, in UTC."""

import calendar
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final

WEEKLY, MONTHLY, DAYS = "weekly", "monthly", "days"
FREQUENCIES: Final = (WEEKLY, MONTHLY, DAYS)
LAST_DAY: Final = 0  # of a month
LATEST_DAY: Final = 28  # that every month has
MOST_DAYS: Final = 366  # between two occurrences
MOST_OCCURRENCES: Final = 120
MOST_MONTHS: Final = 24  # from the first occurrence to the last
_WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class Rhythm:
    """When a schedule is due: `planned` times, the first on `first_on`, always at `time_of_day` UTC.

    `step` is the weekday (Monday is 1) where it is weekly, the day of the month or `LAST_DAY` where it is monthly, else
    the number of days between two occurrences.
    """

    frequency: str
    step: int
    first_on: date
    time_of_day: time
    planned: int = MOST_OCCURRENCES

    def due(self, number: int) -> datetime:
        """The moment of the occurrence of this number, the first being 1."""
        return datetime.combine(self._day(number), self.time_of_day, tzinfo=UTC)

    @property
    def last_on(self) -> date:
        """The day of the last occurrence."""
        return self._day(self.planned)

    @property
    def words(self) -> str:
        """How often, and at what time, as people say it."""
        return f"{_words(self.frequency, self.step)} at {self.time_of_day:%H:%M} UTC"

    def _day(self, number: int) -> date:
        if self.frequency == MONTHLY:
            return _in_month(months_later(self.first_on, number - 1), self.step)
        return self.first_on + (number - 1) * timedelta(days=_WEEK if self.frequency == WEEKLY else self.step)


def first_day(*, frequency: str, step: int, earliest: date) -> date:
    """The first day from `earliest` on that fits."""
    if frequency == WEEKLY:
        return earliest + timedelta(days=(step - earliest.isoweekday()) % _WEEK)
    if frequency == MONTHLY:
        day = _in_month(earliest, step)
        return day if day >= earliest else _in_month(months_later(earliest, 1), step)
    return earliest


def count_until(rhythm: Rhythm, last: date) -> int:
    """How many occurrences there are up to this day, at most one more than a schedule can have."""
    days = (rhythm.due(number).date() for number in range(1, MOST_OCCURRENCES + 2))
    return sum(day <= last for day in days)


def months_later(day: date, months: int) -> date:
    """The same day so many months later, or the last one of a shorter month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _in_month(day: date, step: int) -> date:
    """The day of the same month that the step names."""
    return day.replace(day=step or calendar.monthrange(day.year, day.month)[1])


def _words(frequency: str, step: int) -> str:
    if frequency == WEEKLY:
        return f"every {calendar.day_name[step - 1]}"
    if frequency == MONTHLY:
        return f"monthly on day {step}" if step else "on the last day of each month"
    return "every day" if step == 1 else f"every {step} days"
