"""Filters in the address of a list: what makes sense narrows it, what doesn't is named and loses nothing."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar, Final, cast

from django import forms
from django.db.models import QuerySet
from django.utils.choices import flatten_choices

from desk.lists import dates

SEARCH_MOST: Final = 200
OPEN, ALL = "open", "all"  # views of a list whose rows come to an end
DATES: Final = ("range", "since", "until", "zone")


class DayField(forms.DateField):
    """A day written as 2026-11-30 and no other way; `pattern` says so to programs, which may leave it empty."""

    pattern = r"^([0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]))?$"

    def to_python(self, value: Any) -> Any:
        """The day. Raises ValidationError for another way to write it, and for a day that there is not."""
        if isinstance(value, str) and not re.fullmatch(self.pattern, value):
            raise forms.ValidationError(self.error_messages["invalid"], code="invalid")
        return super().to_python(value)


class ZoneField(forms.CharField):
    """UTC, or a zone by its name in the time zone database, as the settings of people offer them."""

    pattern = r"^(UTC|[A-Za-z_]+(/[A-Za-z0-9_+-]+)+)?$"

    def __init__(self, **options: Any) -> None:
        super().__init__(max_length=60, strip=False, **options)

    def clean(self, value: Any) -> Any:
        """The name as it was written. Raises ValidationError where there is no such zone."""
        name = super().clean(value)
        if name and (not re.fullmatch(self.pattern, name) or dates.zone_named(name) is None):
            raise forms.ValidationError("Unknown time zone. Enter a name such as Europe/Berlin, or UTC.")
        return name


class PatternField(forms.RegexField):
    """A text of one form, such as a reference; `pattern` says so to programs, which may leave it empty."""

    def __init__(self, text: str, **options: Any) -> None:
        self.pattern = f"^({text})?$"
        super().__init__(self.pattern, strip=False, **options)


class FilterForm(forms.Form):
    """Filters in the address of a list: a value that makes no sense filters nothing and is not an error page.

    `usual_zone` is whose days are meant where the address names no zone: that of the reader, for programs UTC.
    `usual_view` is which rows are meant where a filter `view` is not set: for people those that are open, for programs
    all of them, so that a program that sets no filter misses none.
    """

    usual_zone = "UTC"
    usual_view = ALL

    def chosen(self) -> dict[str, Any]:
        """The filters that are set and make sense."""
        self.is_valid()
        return {name: value for name, value in self.cleaned_data.items() if value not in (None, "")}

    def for_people(self, zone: str) -> None:
        """Take what a page takes where the address says nothing; what is usual there has no name in the address."""
        self.usual_zone = zone
        if isinstance(view := self.fields.get("view"), forms.ChoiceField):
            choices: list[Any] = list(flatten_choices(cast("Any", view.choices)))
            self.usual_view, view.choices = OPEN, [("", choices[0][1]), *choices[1:]]

    @property
    def current_view(self) -> str:
        """Which rows are meant: open, ended or all."""
        return str(self.chosen().get("view", self.usual_view))

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Only the rows that every filter which is set lets through."""
        return rows

    def narrowed(self, rows: QuerySet[Any], now: datetime) -> QuerySet[Any]:
        """The same, and only the rows of the days that are asked for."""
        return self.narrow(rows)

    def in_words(self) -> Iterator[tuple[str, str, str]]:
        """Each filter that narrows the list, but dates: its name, its label and its value as people read it."""
        for name, value in self.chosen().items():
            if name in DATES:
                continue
            field = self.fields[name]
            choices: Any = field.choices if isinstance(field, forms.ChoiceField) else ()
            words: dict[Any, Any] = dict(flatten_choices(choices))
            yield name, str(field.label or name), str(words.get(value, value))

    def problems(self) -> Iterator[str]:
        """A sentence for each filter that was left out, with what was wrong."""
        self.is_valid()
        for name, texts in self.errors.items():
            label = self.fields[name].label if name in self.fields else ""
            sentence = " ".join(str(text) for text in texts)
            yield f"{label}: {sentence}" if label else sentence

    @property
    def offered(self) -> list[forms.BoundField]:
        """The fields of the filter menu: all but the search and the dates, which have places of their own."""
        return [self[name] for name in self.fields if name not in {"text", *DATES}]


class DatedForm(FilterForm):
    """Filters with a range of days of the column `dated`. Without a zone the days are those of `usual_zone`."""

    dated: ClassVar[str] = ""
    dated_label: ClassVar[str] = "Dates"

    range = forms.ChoiceField(
        label="Dates",
        required=False,
        choices=[("", "Any time"), *dates.PRESETS.items(), (dates.CUSTOM, "From and to")],
    )
    since = DayField(label="From", required=False, input_formats=["%Y-%m-%d"])
    until = DayField(label="To", required=False, input_formats=["%Y-%m-%d"])
    zone = ZoneField(label="Time zone", required=False)

    def clean(self) -> dict[str, Any]:
        """Days that are the wrong way round are refused; a preset makes days of one's own superfluous."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("range") in dates.PRESETS:
            cleaned["since"] = cleaned["until"] = None
            for name in ("since", "until"):
                self.errors.pop(name, None)
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since > until:
            cleaned["since"] = cleaned["until"] = None
            self.add_error("until", "The end date is before the start date.")
        return cleaned

    def bounds(self, now: datetime) -> tuple[datetime | None, datetime | None]:
        """The first moment, and the first one after the range; nothing where it is open."""
        first, last = self.days(now)
        zone = dates.zone_named(self.chosen().get("zone", self.usual_zone)) or UTC
        return first and dates.begin_of(first, zone), last and dates.end_of(last, zone)

    def days(self, now: datetime) -> tuple[Any, Any]:
        """The first and the last day; nothing where the range is open."""
        chosen = self.chosen()
        zone = dates.zone_named(chosen.get("zone", self.usual_zone)) or UTC
        if chosen.get("range") in dates.PRESETS:
            return dates.days_of(chosen["range"], now, zone)
        return chosen.get("since"), chosen.get("until")

    def narrowed(self, rows: QuerySet[Any], now: datetime) -> QuerySet[Any]:
        first, after = self.bounds(now)
        rows = super().narrowed(rows, now)
        rows = rows.filter(**{f"{self.dated}__gte": first}) if first else rows
        return rows.filter(**{f"{self.dated}__lt": after}) if after else rows
