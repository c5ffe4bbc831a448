"""The form of a schedule, and the filter of their list."""

from calendar import day_name
from typing import Any, Final

from django import forms
from django.db.models import F, Q, QuerySet

from desk.lists.filters import SEARCH_MOST, DayField, FilterForm
from exchange_ops.withdrawals.schedules import rhythm as rhythms
from exchange_ops.withdrawals.schedules.models import ACTIVE, COMPLETED, ENDED, PayoutSchedule
from exchange_ops.withdrawals.schedules.rhythm import DAYS, LAST_DAY, LATEST_DAY, MONTHLY, WEEKLY, Rhythm

_DAY: Final = forms.DateInput(attrs={"type": "date"}, format="%Y-%m-%d")
_REPEATS: Final = [
    ("", "Choose"),
    ("Every week", [(f"{WEEKLY}:{at}", f"Every {name}") for at, name in enumerate(day_name, 1)]),
    (
        "Every month",
        [
            *((f"{MONTHLY}:{day}", f"Monthly on day {day}") for day in range(1, LATEST_DAY + 1)),
            (f"{MONTHLY}:{LAST_DAY}", "On the last day of each month"),
        ],
    ),
    ("Other", [(f"{DAYS}:", "Every number of days")]),
]


class ScheduleForm(forms.Form):
    """When the payouts of a template are requested. `request_key` makes every sending of one form the same schedule."""

    ONE_END = "Enter only one of last day and number of payouts."
    NO_END = "Enter a last day or a number of payouts."

    repeats = forms.ChoiceField(
        label="Repeats", choices=_REPEATS, error_messages={"required": "Choose how often the payout repeats."}
    )
    every = forms.IntegerField(label="Days between payouts", required=False, min_value=1, max_value=rhythms.MOST_DAYS)
    time_of_day = forms.TimeField(
        label="Time of day (UTC)",
        input_formats=["%H:%M"],
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
        error_messages={"required": "Enter the time of day in UTC.", "invalid": "Enter a time such as 09:00."},
    )
    first_on = DayField(
        label="Not before",
        widget=_DAY,
        error_messages={"required": "Enter the earliest day of the first payout."},
    )
    last_on = DayField(label="Last day", required=False, widget=_DAY)
    planned = forms.IntegerField(
        label="Number of payouts", required=False, min_value=1, max_value=rhythms.MOST_OCCURRENCES
    )
    request_key = forms.UUIDField(widget=forms.HiddenInput)

    def clean(self) -> dict[str, Any]:
        """A number of days where it is needed, and exactly one of the two ends."""
        cleaned = super().clean() or {}
        is_every = cleaned.get("repeats") == f"{DAYS}:"
        if is_every and not cleaned.get("every") and "every" not in self.errors:
            self.add_error("every", "Enter the number of days between payouts.")
        if not is_every and cleaned.get("every"):
            self.add_error("every", "Leave this empty unless the payout repeats every number of days.")
        ends = [name for name in ("last_on", "planned") if cleaned.get(name)]
        if len(ends) != 1 and not {"last_on", "planned"} & set(self.errors):
            self.add_error("last_on", self.ONE_END if ends else self.NO_END)
        return cleaned

    def rhythm(self) -> Rhythm:
        """When the schedule is due, from a valid form."""
        cleaned = self.cleaned_data
        frequency, _, step_text = cleaned["repeats"].partition(":")
        step = int(step_text or cleaned["every"])
        first = rhythms.first_day(frequency=frequency, step=step, earliest=cleaned["first_on"])
        rhythm = Rhythm(frequency, step, first, cleaned["time_of_day"])
        planned = cleaned["planned"] or rhythms.count_until(rhythm, cleaned["last_on"])
        return Rhythm(frequency, step, first, cleaned["time_of_day"], planned)

    def refuse(self, problems: dict[str, str]) -> None:
        """Show the domain's sentences beside their fields."""
        for name, sentence in problems.items():
            self.add_error(name if name in self.fields else None, sentence)


class ScheduleFilter(FilterForm):
    """What the list shows: a state, and a text."""

    text = forms.CharField(label="Template, reason or address", required=False, max_length=SEARCH_MOST)
    state = forms.ChoiceField(
        label="Status",
        required=False,
        choices=[("", "Any status"), *((name.lower(), name) for name in (ACTIVE, COMPLETED, ENDED))],
    )

    def narrow(self, rows: QuerySet[PayoutSchedule]) -> QuerySet[PayoutSchedule]:
        """Only the schedules that every filter which is set lets through."""
        chosen = self.chosen()
        if chosen.get("state") == ENDED.lower():
            rows = rows.filter(end__isnull=False)
        elif "state" in chosen:
            name = "recorded__lt" if chosen["state"] == ACTIVE.lower() else "recorded__gte"
            rows = rows.filter(end=None, **{name: F("planned")})
        if "text" in chosen:
            names = ("name", "reason", "address")
            conditions = [Q(**{f"template__{name}__icontains": chosen["text"]}) for name in names]
            rows = rows.filter(conditions[0] | conditions[1] | conditions[2])
        return rows
