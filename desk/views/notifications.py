"""A person's own page of notifications: which kinds, by which media, and when."""

from datetime import datetime, timedelta
from typing import Any, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.actions import entries
from desk.models import Person
from desk.notifications import audiences, wishes
from desk.notifications import messages as words
from desk.notifications.models import Availability, Notification, Recipient
from desk.personal import formats
from desk.views.rendering import show
from desk.web.requests import DeskRequest

FRESH, MOST_FRESH = timedelta(minutes=1), 5
TURNS = ((1, "At once"), (2, "20 minutes before the deadline"), (3, "12 minutes before the deadline"))


def _hour() -> forms.TimeField:
    return forms.TimeField(
        required=False,
        input_formats=["%H:%M", "%H:%M:%S"],
        widget=forms.TimeInput(attrs={"type": "time"}, format="%H:%M"),
    )


class WishesForm(forms.Form):
    """Which kinds by which media, and the quiet hours."""

    by_email = forms.MultipleChoiceField(required=False)
    in_browser = forms.MultipleChoiceField(required=False)
    quiet_from = _hour()
    quiet_until = _hour()
    turn = forms.TypedChoiceField(label="Notify me about pending decisions", choices=TURNS, coerce=int)

    def __init__(self, person: Person, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        kinds = [(each.kind, each.label) for each in wishes.options(person)]
        for name in ("by_email", "in_browser"):
            cast(forms.MultipleChoiceField, self.fields[name]).choices = kinds
        self.fields["quiet_from"].label, self.fields["quiet_until"].label = "Quiet from", "Quiet until"
        if not wishes.has_turns(person):
            del self.fields["turn"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        begins, ends = cleaned.get("quiet_from"), cleaned.get("quiet_until")
        if not self.errors and (begins is None) != (ends is None):
            self.add_error("quiet_until" if ends is None else "quiet_from", "Enter both times, or neither.")
        return cleaned


@require_http_methods(["GET", "HEAD", "POST"])
def own(request: DeskRequest) -> HttpResponse:
    """The page, and what it writes."""
    person = request.user
    if request.method != "POST":
        return _page(request, WishesForm(person, initial=_initial(person)))
    form = WishesForm(person, request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    wishes.save(
        person,
        by_email=form.cleaned_data["by_email"],
        in_browser=form.cleaned_data["in_browser"],
        quiet=(form.cleaned_data["quiet_from"], form.cleaned_data["quiet_until"]),
        turn=form.cleaned_data.get("turn") or 1,
    )
    messages.success(request, "Notification preferences saved. They apply from now on.")
    return redirect("notifications")


def notices(person: Person, *, now: datetime) -> list[tuple[Notification, str]]:
    """The notifications of the last minute that an open tab shows, each with its headline, the gravest first.

    At most `MOST_FRESH`: where a browser shows many at once, nobody reads any.
    """
    recent = clock.recent("notification__created_at", now - FRESH, now=now)
    newest = Recipient.objects.filter(recent, person=person, in_browser=True)
    rows = [each.notification for each in newest.select_related("notification").order_by("-pk")[: entries.MOST]]
    gravest = sorted(rows, key=lambda row: entries.RANKS.get(row.severity, entries.NO_SEVERITY))
    return [(row, words.headline(row)) for row in gravest[:MOST_FRESH]]


def _initial(person: Person) -> dict[str, Any]:
    own_hours = Availability.objects.filter(person=person).first() or Availability()
    return {
        "quiet_from": own_hours.quiet_from,
        "quiet_until": own_hours.quiet_until,
        "turn": own_hours.turn,
    }


def _page(request: DeskRequest, form: WishesForm, *, status: int = 200) -> HttpResponse:
    person = request.user
    options = wishes.options(person)
    if form.is_bound:
        ways = {name: set(form.data.getlist(name)) for name in ("by_email", "in_browser")}  # type: ignore[attr-defined]
    else:
        ways = {name: {each.kind for each in options if getattr(each, name)} for name in ("by_email", "in_browser")}
    context = {
        "form": form,
        "wishes": [
            (each, each.is_fixed or each.kind in ways["by_email"], each.is_fixed or each.kind in ways["in_browser"])
            for each in options
        ],
        "email": person.email,
        "zone": formats.zone_of(person),
        "mailbox": settings.MAILBOX,
        "email_is_on": audiences.email_is_on(),
    }
    return show(request, "account/notifications.html", context, status=status)
