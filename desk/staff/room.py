"""What this room declares to the desk: its topic, guards, replay and source, and what decides something in its rows."""

from collections.abc import Iterator
from typing import Final

from django.db.models import Q
from django.urls import reverse

from desk.models import Person
from desk.people import scopes
from desk.rows import witnessed
from desk.staff import colleague_source, machine, rules, source
from desk.staff.models import Invitation, PersonChange, PersonChangeEvent
from desk.web.context import Entry
from desk.web.search import MOST_OF_A_KIND, Command, Hit, Scope, Search

REPLAYS: Final = {machine.REPLAY.subject: machine.REPLAY.check}
GUARDS: Final = {"staff": machine.GUARDS.statements}
SOURCES: Final = (source.SOURCE, colleague_source.SOURCE)


def _may_follow(person: Person, key: str) -> bool:
    return not key and rules.may_read(person)


def _may_follow_one(person: Person, key: str) -> bool:
    return rules.may_read(person)


def _search(text: str, scope: Scope) -> Iterator[Hit]:
    if not rules.may_read(scope.person):
        return
    people = Person.objects.filter(
        Q(username__icontains=text) | Q(first_name__icontains=text) | Q(last_name__icontains=text)
    )
    for row in people.prefetch_related("groups").order_by("username")[:MOST_OF_A_KIND]:
        words = ", ".join(scopes.words(row.grants)) or "no role"
        yield Hit("People", row.username, words, reverse("person", args=[row.pk]), "user-round")


NAVIGATION: Final = (
    Entry(
        "People",
        "people",
        "user-round",
        "Control",
        order=210,
        key="e",
        may_see=rules.may_read,
        also=("Users", "Team", "Roles"),
    ),
)
SEARCHES: Final = (Search(_search, 130),)
COMMANDS: Final = (Command("Invite person", "person-invite", "user-round", rules.may_keep, 70),)
TOPICS: Final = {machine.TOPIC: _may_follow, PersonChange.name: _may_follow_one}


def register() -> None:
    """Declare the tables; called once at the start."""
    unused = dict.fromkeys(("lease_until", "next_action_at"), "unused: no worker acts on this")
    witnessed.register(PersonChange, loose=PersonChange.table.loose | unused)
    witnessed.register(PersonChangeEvent)
    counted = {"wrong_addresses": "ends a link early; a lower count allows five more address attempts"}
    witnessed.register(Invitation, loose=counted)
