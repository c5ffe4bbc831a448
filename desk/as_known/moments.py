"""A moment of the past, and what the desk knew at it: the form that asks for one, and how rows are split by it.

What counts is when the desk stored something, by the desk's own clock, and never when it happened elsewhere.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Generic, TypeVar
from urllib.parse import urlencode

from django import forms

R = TypeVar("R")
NAME: Final = "at"
_TICK: Final = timedelta(microseconds=1)
_WRITTEN: Final = re.compile(
    r"(?P<day>\d{4}-\d{2}-\d{2})[T ](?P<minute>\d{2}:\d{2})"
    r"(?P<second>:\d{2})?(?P<fraction>\.\d{1,6})?(?:Z|\+00:00| UTC)?",
    re.ASCII,
)
_MALFORMED: Final = "Enter a date and time in UTC, for example 2026-11-30 14:02:05."
_FUTURE: Final = "That moment is yet to come. Enter one of the past."


@dataclass(frozen=True, slots=True)
class ThenAndLater(Generic[R]):
    """Rows in their order: those that the desk knew at a moment, and those that it knew only later."""

    then: list[R]
    later: list[R]


@dataclass(frozen=True, slots=True)
class Moment:
    """Everything stored up to and at `at` was known; with `is_second`, `at` is the end of a whole second."""

    at: datetime
    is_second: bool = False

    @classmethod
    def just_before(cls, when: datetime) -> "Moment":
        """The last moment at which something of `when` was not known yet."""
        return cls(when - _TICK)

    @property
    def query(self) -> str:
        """The moment in the address of a page."""
        return urlencode({NAME: self.text})

    @property
    def text(self) -> str:
        """The moment in UTC as the form takes it: "2026-11-30 14:02:05", with six more digits if it is exact."""
        spec = "seconds" if self.is_second else "microseconds"
        return self.at.astimezone(UTC).replace(tzinfo=None).isoformat(" ", timespec=spec)

    def knew(self, when: datetime | None) -> bool:
        """Whether something that was stored at `when` was known; what has no time was not."""
        return when is not None and when <= self.at

    def split(self, rows: Iterable[R], *, stored_at: Callable[[R], datetime]) -> ThenAndLater[R]:
        """Each row by its own time."""
        parts: ThenAndLater[R] = ThenAndLater([], [])
        for row in rows:
            (parts.then if self.knew(stored_at(row)) else parts.later).append(row)
        return parts

    def split_series(self, rows: Iterable[R], *, stored_at: Callable[[R], datetime]) -> ThenAndLater[R]:
        """Rows that were stored in exactly this order, such as the versions of one row.

        Of several at one time the last one counts. Where the clock was set back in between, everything before the last
        row that is not after the moment was known too.
        """
        every = list(rows)
        count = max((place for place, row in enumerate(every, 1) if self.knew(stored_at(row))), default=0)
        return ThenAndLater(every[:count], every[count:])


class MomentForm(forms.Form):
    """The moment in the address of a page. To the second it is the end of that second, else exactly what it says."""

    at = forms.CharField(max_length=40, error_messages={"required": _MALFORMED, "max_length": _MALFORMED})

    def __init__(self, data: Mapping[str, Any], *, now: datetime) -> None:
        text = str(data.get(NAME, "")).strip()
        moment = _read(text)
        super().__init__({NAME: moment.text if moment else text} if text else None)
        self._now = now

    def clean_at(self) -> Moment:
        """The moment. A date that does not exist, and a moment of the future, are errors."""
        moment = _read(self.cleaned_data[NAME])
        if moment is None:
            raise forms.ValidationError(_MALFORMED)
        if (moment.at.replace(microsecond=0) if moment.is_second else moment.at) > self._now:
            raise forms.ValidationError(_FUTURE)
        return moment

    def moment(self) -> Moment | None:
        """The moment; None where none was chosen, or what was entered is wrong."""
        moment: Moment | None = self.cleaned_data[NAME] if self.is_valid() else None
        return moment


def _read(text: str) -> Moment | None:
    match = _WRITTEN.fullmatch(text)
    if match is None or (match["fraction"] and not match["second"]):
        return None
    exact = f"{match['day']}T{match['minute']}{match['second'] or ':00'}"
    try:
        at = datetime.fromisoformat(exact).replace(tzinfo=UTC)
    except ValueError:
        return None
    if match["fraction"]:
        return Moment(at + timedelta(microseconds=int(match["fraction"][1:].ljust(6, "0"))))
    return Moment(at.replace(microsecond=999_999), is_second=True)
