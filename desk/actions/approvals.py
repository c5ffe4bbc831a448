"""Requests that wait for approvals, from all machines, as one source of the list of what waits for somebody.

A room declares its machine (`desk.rooms.Room.approvals`). Each request is decided on its own page, or in a selection
that shows each whole (`selection`).
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import QuerySet
from django.urls import reverse

from desk import rooms
from desk.actions.entries import Entry, Requests, Source
from desk.audit.words import SYSTEM
from desk.machines.decisions import TOPIC
from desk.machines.rows import Subject
from desk.machines.votes import Waiting
from desk.people import roles
from desk.rows import fingerprint

if TYPE_CHECKING:
    from desk.models import Person

MOST: Final = 1_000  # ended requests of one machine that are read at once


@dataclass(frozen=True, slots=True, kw_only=True)
class Approvals:
    """The requests of one machine that people approve. Each list has at most `entries.MOST` entries."""

    model: type[Subject]
    page: str
    """The name of the page that shows one request."""
    topic: str
    """The topic that pages follow which list them."""
    also: tuple[str, ...] = ()
    """Topics of other rooms whose events end or delay one of them."""
    undecided: "Callable[[Person, datetime], list[Entry]]"
    """The requests that wait for approvals."""
    followed: "Callable[[Person, datetime, Collection[int]], list[Entry]]" = field(default=lambda *_: [])
    """A person's own open requests besides those that wait for approvals, whose numbers it is given."""
    done: "Callable[[Person, datetime], list[Entry]]"
    """The latest decided requests, each with its `outcome`."""
    waiting: Callable[[], Waiting[Any]]
    """The rows that wait for approvals, and for whom each of them waits."""
    visible_to: "Callable[[Person], QuerySet[Any]]"
    """The rows that a person may see."""
    ended: "Callable[[datetime], QuerySet[Any]]"
    """The requests that ended since a moment."""
    news: "Callable[[Collection[int]], Iterable[tuple[int, Entry]]]"
    """For requests by number: the number of the person who asked, and the entry to notify them of."""

    def shows(self, person: "Person", number: int) -> str:
        """The address of the page of a request; empty where the person may see none."""
        there = person.has_role(*roles.ALL) and self.visible_to(person).filter(pk=number).exists()
        return reverse(self.page, args=[number]) if there else ""


def _waiting(person: "Person", now: datetime) -> Sequence[Entry]:
    """Everything undecided, and what this person asked for that is under way."""
    entries: list[Entry] = []
    for each in rooms.approvals():
        mine = set(each.waiting().for_person(person).values_list("pk", flat=True))
        waiting = each.undecided(person, now)
        undecided = {entry.row.pk for entry in waiting}
        for entry in [*waiting, *each.followed(person, now, undecided)]:
            _mark(entry, person, mine=mine, undecided=undecided)
            entries.append(entry)
    if len(rooms.scopes()) > 1:
        for entry in entries:
            entry.place = entry.row.account.name
    return entries


def _mark(entry: Entry, person: "Person", *, mine: set[int], undecided: set[int]) -> None:
    """Set on the entry whether it waits for this person, and the words that its page shows of what is approved."""
    entry.mine, entry.is_followed = entry.row.pk in mine, entry.row.pk not in undecided
    # What waits for treasury waits for everybody of treasury, except for the requester and those who approved already;
    # where particular people are missing, also except for the others.
    is_others = entry.missing and person.pk not in {vote.person_id for vote in entry.votes}
    entry.decided = person.has_role(roles.TREASURY) and not (entry.mine or entry.is_followed or entry.own or is_others)
    if entry.is_followed:
        entry.progress, entry.missing, entry.votes = "", "", ()
    elif words := fingerprint.words(entry.row.digest):
        entry.facts = {**entry.facts, "fingerprint": words}


def _done(person: "Person", now: datetime) -> Sequence[Entry]:
    entries = [entry for each in rooms.approvals() for entry in each.done(person, now)]
    for entry in entries:
        entry.done_at, entry.deadline = entry.row.decided_at, None
        entry.done_by = str(entry.row.decided_by or SYSTEM)
    return entries


def _count(person: "Person", scope: str) -> int:
    at_account = {"account": int(scope)} if scope else {}
    return sum(each.waiting().for_person(person).filter(**at_account).count() for each in rooms.approvals())


def _recipients(people: "Sequence[Person]") -> "Iterator[tuple[Person, tuple[str, str]]]":
    for each in rooms.approvals():
        for person, rows in each.waiting().for_each(people):
            for row in rows:
                yield person, (row.subject, row.state)


def _ended(since: datetime) -> Sequence[str]:
    return [
        f"{each.model.name}:{number}"
        for each in rooms.approvals()
        for number in each.ended(since).order_by("-pk").values_list("pk", flat=True)[:MOST]
    ]


def _news(subjects: Collection[str]) -> Iterator[tuple[int, Entry]]:
    """The entries of requests that ended, each with the number of the person who asked."""
    for each in rooms.approvals():
        parts = [subject.partition(":") for subject in subjects]
        numbers = [int(number) for name, _, number in parts if name == each.model.name]
        if numbers:
            yield from each.news(numbers)


def _subjects() -> "dict[str, Callable[[Person, int], str]]":
    return {each.model.name: each.shows for each in rooms.approvals()}


def _topics() -> str:
    machines = rooms.approvals()
    also = [topic for each in machines for topic in each.also]
    return " ".join(dict.fromkeys([*(each.topic for each in machines), TOPIC, *also]))


SOURCE: Final = Source(
    name="approvals",
    label="Approvals",
    waiting=_waiting,
    done=_done,
    count=_count,
    subjects=_subjects,
    topics=_topics,
    empty="No approvals pending. A request appears here once its funds are reserved, or earlier if the policy requires "
    "approval first.",
    acts=(roles.TREASURY,),
    requests=Requests(ended=_ended, entries=_news, who=(roles.OPERATOR,)),
    recipients=_recipients,
)
