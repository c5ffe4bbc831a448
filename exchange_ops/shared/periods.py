"""A period of whole days in UTC, from the first moment of one until before the first after another; and its form."""

from calendar import monthrange
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Any, Final

from django import forms

from desk.lists import dates
from desk.lists.filters import DayField

DAY: Final = timedelta(days=1)
LONGEST: Final = 3_660  # days: ten years
EARLIEST: Final = date(2000, 1, 1)
TODAY, YESTERDAY, MONTH, LAST_MONTH, CUSTOM = "today", "yesterday", "month", "last-month", dates.CUSTOM
PRESETS: Final = {
    MONTH: "This month",
    LAST_MONTH: "Last month",
    TODAY: "Today",
    YESTERDAY: "Yesterday",
    CUSTOM: "From and to",
}


@dataclass(frozen=True, slots=True)
class Period:
    """The days from `first` to `last`, both included; as moments half-open, from `begins` until before `ends`."""

    first: date
    last: date

    @property
    def begins(self) -> datetime:
        """The first moment."""
        return _midnight(self.first)

    @property
    def ends(self) -> datetime:
        """The first moment after it."""
        return _midnight(self.last + DAY)

    @property
    def before(self) -> "Period | None":
        """The period that ends where this one begins: a month before a month, else as many days; None before 2000."""
        last = self.first - DAY
        first = last.replace(day=1) if self._is_month else last - (self.last - self.first)
        return Period(first, last) if first >= EARLIEST else None

    @property
    def after(self) -> "Period":
        """The period that begins where this one ends."""
        first = self.last + DAY
        last = month_of(first).last if self._is_month else first + (self.last - self.first)
        return Period(first, last)

    @property
    def query(self) -> str:
        """The period in the address of a page."""
        return f"range={CUSTOM}&since={self.first}&until={self.last}"

    @property
    def _is_month(self) -> bool:
        return self == month_of(self.first)


def month_of(day: date) -> Period:
    """The calendar month of a day."""
    return Period(day.replace(day=1), day.replace(day=monthrange(day.year, day.month)[1]))


class PeriodForm(forms.Form):
    """The period in the address of the page; without one, this month. What makes no sense is an error."""

    range = forms.ChoiceField(
        label="Period",
        required=False,
        choices=[*PRESETS.items()],
        error_messages={"invalid_choice": "Unknown period."},
    )
    since = DayField(label="From", required=False, input_formats=["%Y-%m-%d"])
    until = DayField(label="To", required=False, input_formats=["%Y-%m-%d"])

    def __init__(self, data: Mapping[str, Any], *, now: datetime) -> None:
        values = {name: data.get(name, "") for name in ("range", "since", "until")}
        if not values["range"]:
            values["range"] = CUSTOM if values["since"] or values["until"] else MONTH
        super().__init__(values)
        self._today = now.astimezone(UTC).date()

    def clean(self) -> dict[str, Any]:
        """Days of one's own are both needed, in order, not before 2000, not in the future, ten years at most."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("range") != CUSTOM:
            for name in ("since", "until"):
                self.errors.pop(name, None)
            return cleaned
        for name in ("since", "until"):
            if name in cleaned and cleaned[name] is None:
                self.add_error(name, "Enter a day, for example 2026-11-30.")
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and (problem := _problem(since, until, self._today)):
            self.add_error(*problem)
        return cleaned

    def period(self) -> Period | None:
        """The period; None where there is an error."""
        if not self.is_valid():
            return None
        chosen, today = self.cleaned_data["range"], self._today
        if chosen == CUSTOM:
            return Period(self.cleaned_data["since"], self.cleaned_data["until"])
        if chosen in {MONTH, LAST_MONTH}:
            this = month_of(today)
            return this if chosen == MONTH else month_of(this.first - DAY)
        day = today if chosen == TODAY else today - DAY
        return Period(day, day)

    def problems(self) -> list[str]:
        """A sentence for each error, with the field that it is about."""
        self.is_valid()
        return [f"{self.fields[name].label}: {text}" for name, texts in self.errors.items() for text in texts]


def _problem(since: date, until: date, today: date) -> tuple[str, str] | None:
    if since > until:
        return "until", "The end date is before the start date."
    if since < EARLIEST:
        return "since", f"Enter {EARLIEST} or a later day."
    if since > today:
        return "since", "This day is in the future."
    if (until - since).days >= LONGEST:
        return "until", "A period covers ten years at most."
    return None


def _midnight(day: date) -> datetime:
    return datetime.combine(day, time(), tzinfo=UTC)
