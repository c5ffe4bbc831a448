"""Whom a notification is for, and by which media it reaches them.

Of a decision people are notified in turns: the first turn at once, the second when 20 minutes are left, everybody when
12 minutes are left. Whoever asked for it can't decide on it and is never among them
(`desk.actions.entries.Entry.mine`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from django.conf import settings

from desk.actions.entries import RANKS
from desk.models import Person
from desk.notifications.models import Availability, Channel, Medium, Notification, Preference, Stage
from desk.personal import formats

LAST_TURN: Final = 3
LAST: Final = timedelta(minutes=12)  # so long before a deadline everybody is notified
_TURNS: Final = dict.fromkeys(Stage, LAST_TURN) | {Stage.OPENED: 1, Stage.ESCALATED: 2}


@dataclass(frozen=True, slots=True)
class Route:
    """By which media a person is notified, and when at the earliest."""

    person: Person
    by_email: bool
    in_browser: bool
    not_before: datetime


def routes(row: Notification, people: Sequence[Person]) -> list[Route]:
    """The routes to those of the people whose turn it is.

    Where a turn has nobody, or only people whose quiet hours end too late for the deadline, the next one counts too.
    """
    turn = _TURNS[Stage(row.stage)]
    if row.severity:
        turn = LAST_TURN  # an incident has no turns
    every = [(turn_of(person), route(row, person)) for person in people]
    in_time = [each for each, one in every if is_in_time(row, one)]
    earliest = min(in_time or [each for each, _ in every], default=LAST_TURN)
    return [one for each, one in every if each <= max(turn, earliest)]


def is_in_time(row: Notification, route: Route) -> bool:
    """Whether the quiet hours of this person end early enough before the deadline to act on it."""
    return route.not_before <= row.created_at or row.deadline is None or route.not_before <= row.deadline - LAST


def route(row: Notification, person: Person, *, is_fixed: bool = False) -> Route:
    """How this person is notified: as they chose, and always by e-mail where it is critical or time is nearly over.

    `is_fixed` says that it is of a kind that nobody can choose not to hear of.
    """
    chosen = preference(person, row.kind)
    always = is_fixed or row.is_critical or row.stage == Stage.EVERYBODY
    by_email = (chosen is None or chosen.by_email or always) and bool(person.email) and email_is_on()
    not_before = row.created_at
    if not row.is_critical:
        not_before = quiet_until(availability(person), row.created_at, zone=formats.zone_of(person))
    in_browser = (chosen is None or chosen.in_browser or always) and not_before <= row.created_at
    return Route(person, by_email, in_browser, not_before)


def quiet_until(availability: Availability | None, now: datetime, *, zone: str) -> datetime:
    """When a person in this time zone may be notified: now, or when their quiet hours end."""
    if availability is None or availability.quiet_from is None or availability.quiet_until is None:
        return now
    begins, ends = availability.quiet_from, availability.quiet_until
    here = now.astimezone(ZoneInfo(zone))
    if not _is_within(here.time(), begins, ends):
        return now
    day = here.date() if here.time() < ends else here.date() + timedelta(days=1)
    # The hour of the wall clock, even where the clocks were changed in the night.
    return datetime.combine(day, ends, tzinfo=here.tzinfo).astimezone(now.tzinfo)


def _is_within(hour: time, begins: time, ends: time) -> bool:
    if begins <= ends:
        return begins <= hour < ends
    return hour >= begins or hour < ends


def channels_for(row: Notification, *, is_decision: bool) -> Iterable[Channel]:
    """The channels of the desk that receive it."""
    for channel in Channel.objects.filter(ended_at=None).order_by("pk"):
        if channel.decisions if is_decision else RANKS[row.severity] <= RANKS[channel.least]:
            yield channel


def email_is_on() -> bool:
    """Whether e-mail leaves the desk, or is shown on its own page."""
    return bool(settings.EMAIL_HOST) or settings.MAILBOX


def availability(person: Person) -> Availability | None:
    """The quiet hours and the turn of this person; None where they never chose."""
    return getattr(person, "availability", None)


def preference(person: Person, kind: str) -> Preference | None:
    """What this person chose for a kind; None where they never chose."""
    return next((each for each in person.preferences.all() if each.kind == kind), None)


def turn_of(person: Person) -> int:
    """The turn in which this person is notified of decisions: 1 to 3."""
    hours = availability(person)
    return 1 if hours is None else hours.turn


MEDIA: Final = {Medium.WEBHOOK.value, Medium.CHAT.value}
