"""The one form of every permission matrix about objects: route x person x state of the row.

A subject says which states its rows have (its machine's table, so that a new state fails until somebody said who gets
through in it), how a real row comes into each, which routes act upon it, and who gets through. What is not listed is
refused, and what is refused changes nothing.

`make test` tries, in each state, on what somebody gets through: everybody who does, whoever asked for the row, somebody
without a role and one more; on what nobody gets through: one. It shows each page to two people in each state. The rest
has its turn (`tests.cases.in_turn`).
"""

import secrets
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from django.contrib.auth.models import Group
from django.db import transaction
from django.test import Client
from django.urls import reverse
from rest_framework.test import APIClient

from desk import clock, topics
from desk.models import AuditEvent, Person
from desk.people import roles, tokens, totp
from tests.cases import in_turn, one_of_each
from wire.values import Secret

SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
KEY = "5f0c1a86-6f5b-4d62-9d4e-0d1f2a3b4c5d"
OWN = "own "  # in front of a role: that person asked for the row
NEWCOMER = "newcomer"  # somebody without a role
REFUSED = frozenset({400, 403, 404, 405, 409, 422})
Fields = Callable[[Any], dict[str, Any]]


def signed(row: Any, **more: Any) -> dict[str, Any]:
    """A second factor for the row as it is, with the words that any form may want."""
    code = totp.code_at(SECRET, totp.step_at(clock.now()) + 1)
    words = {"comment": "Ours", "reason": "Ours", "request_key": KEY}
    return {"code": code, **words, "digest": getattr(row, "digest", ""), **more}


def code_of_now() -> dict[str, str]:
    """The second factor by which a row was brought into its state; `signed` takes the next one."""
    return {"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(clock.now()))}


def colleague(role: str, name: str = "") -> Person:
    """Somebody else of this role, with a second factor."""
    person = Person.objects.create_user(username=name or f"colleague-{role}", password=secrets.token_urlsafe(24))
    person.groups.add(Group.objects.get_or_create(name=role)[0])
    totp.enrol(person, SECRET)
    return person


def nothing(row: Any) -> dict[str, Any]:
    """A button without a field."""
    return {}


@dataclass(frozen=True)
class Subject:
    """One kind of row. `goes_through` names who is let through of each (state, route); nobody else is, nowhere else.

    `reach(state, person)` makes a row in the state that this person asked for. A route is the name of an address;
    behind a colon may stand what else its path names (`args`). `owners` are the roles in which somebody may have asked
    for it and is tried; for everybody else the first of them asked, or somebody of `asked_by`. `reads` are its pages,
    `topic` what its pages follow over the socket, both with who may. `part` is the part of the page that a refused form
    is drawn in again; without it the whole page is. In `over_again` somebody gets through to what is under way already,
    and nothing changes.
    """

    name: str
    states: Collection[str]
    reach: Callable[[str, Any], Any]
    routes: Mapping[str, Fields]
    goes_through: Mapping[tuple[str, str], Collection[str]]
    state_of: Callable[[Any], str] = lambda row: str(row.state)
    owners: tuple[str, ...] = ()
    asked_by: str = roles.OPERATOR
    part: str = ""
    args: Callable[[Any, str], tuple[Any, ...]] = lambda row, _: (row.pk,)
    reads: Mapping[str, Collection[str]] = field(default_factory=dict)
    topic: Callable[[Any], str] | None = None
    follows: Collection[str] = roles.ALL
    answers_with_a_page: Collection[str] = ()
    over_again: Collection[tuple[str, str]] = ()

    @property
    def people(self) -> tuple[str, ...]:
        """Everybody whose word is tried."""
        return (*roles.ALL, NEWCOMER, *(f"{OWN}{role}" for role in self.owners))

    def path(self, row: Any, route: str) -> str:
        """The address of a route about the row."""
        name, _, rest = route.partition(":")
        return reverse(name, args=(*self.args(row, name), *filter(None, (rest,))))


def steps(table: Any, start: str, end: str) -> list[Any]:
    """The shortest way from state to state by declared moves."""
    waiting, seen = deque([(start, [])]), {start}
    while waiting:
        here, way = waiting.popleft()
        if here == end:
            return way
        for move in table.moves:
            if move.source == here and move.target not in seen:
                seen.add(move.target)
                waiting.append((move.target, [*way, move]))
    raise AssertionError(f"no way leads from {start} to {end}")


def walk(machine: Any, row: Any, end: str, columns: Mapping[str, Callable[[Any], dict[str, Any]]]) -> Any:
    """Move the row by its own machine; `columns` are what an event brings with it, where that isn't nothing."""
    for move in steps(machine.table, row.state, end):
        changes = columns[move.event](row) if move.event in columns else {}
        machine.move(row, event=move.event, to=move.target, now=clock.now(), **changes)
    return row


def roles_of(name: str) -> tuple[str, ...]:
    """The roles of one of the cast."""
    return () if name == NEWCOMER else tuple(name.removeprefix(OWN).removeprefix("asking ").split(" and "))


@contextmanager
def undone() -> Iterator[None]:
    """Whatever happens inside is taken back: the next one meets the same row."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


class Cast:
    """The people of one test, each signed in once, each with a second factor and a token of their own."""

    def __init__(self, make_person: Callable[..., Any]) -> None:
        self._make, self._people, self._clients = make_person, {}, {}

    def person(self, name: str) -> Any:
        """Somebody by their part in the matrix."""
        if name not in self._people:
            role = roles_of(name)
            self._people[name] = self._make(*role, username=f"a-{name.replace(' ', '-')}")
            totp.enrol(self._people[name], SECRET)
        return self._people[name]

    def client(self, name: str, route: str) -> Any:
        """A browser, or a program where the route is one of the interface."""
        kind = (name, route.startswith("api-"))
        if kind not in self._clients:
            client = APIClient() if kind[1] else Client()
            if kind[1]:
                _, secret = tokens.create(person=self.person(name), name="matrix", now=clock.now())
                client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret.reveal()}")
            else:
                client.force_login(self.person(name))
            self._clients[kind] = client
        return self._clients[kind]


def trace(row: Any) -> Any:
    """The row as it is kept, and how long the trail is."""
    kept = type(row).objects.filter(pk=row.pk).values().get()
    return kept, AuditEvent.objects.count()


def attempt(subject: Subject, cast: Cast, name: str, row: Any, route: str) -> bool:
    """Whether this person gets through. Who does changes something, who does not changes nothing."""
    client, is_api = cast.client(name, route), route.startswith("api-")
    fields = subject.routes[route](row)
    with undone():
        before = trace(row)
        if is_api:
            answer = client.post(subject.path(row, route), fields, format="json")
        else:
            part = {"HX-Request": "true", "HX-Target": subject.part} if subject.part else {}
            answer = client.post(subject.path(row, route), fields, headers=part)
        changed = trace(row) != before
    passed = answer.status_code in ({200, 202} if is_api or route in subject.answers_with_a_page else {302})
    label = f"{route} by {name} in {subject.state_of(row)}: {answer.status_code}"
    assert passed or answer.status_code in REFUSED, label
    assert changed == (passed and (subject.state_of(row), route) not in subject.over_again), label
    return passed


def rows_for(
    subject: Subject, cast: Cast, state: str, taking_part: Collection[str]
) -> Iterator[tuple[Any, tuple[str, ...]]]:
    """A row in the state with those who try it: one that somebody else asked for, then one of each owner."""
    asking = f"asking {subject.owners[0] if subject.owners else subject.asked_by}"
    owned = [(OWN + one, (OWN + one,)) for one in subject.owners]
    for owner, people in ((asking, (*roles.ALL, NEWCOMER)), *owned):
        if not set(people) & set(taking_part):
            continue
        with undone():
            row = subject.reach(state, cast.person(owner))
            assert subject.state_of(row) == state
            yield row, people


def tried(subject: Subject, state: str, route: str) -> set[str]:
    """Whose word is tried on the route in the state."""
    may = subject.goes_through.get((state, route))

    def is_always(name: str) -> bool:
        return bool(may) and (name in may or name.startswith(OWN) or name == NEWCOMER)

    return set(in_turn(subject.people, always=is_always, loop=f"{state} {route}"))


def got_through(subject: Subject, cast: Cast, state: str) -> dict[str, set[str]]:
    """Of every route: who of those whose word is tried gets through in the state."""
    passed: dict[str, set[str]] = {route: set() for route in subject.routes}
    on_trial = {route: tried(subject, state, route) for route in subject.routes}
    for row, people in rows_for(subject, cast, state, set().union(*on_trial.values())):
        for name in people:
            for route in subject.routes:
                if name in on_trial[route] and attempt(subject, cast, name, row, route):
                    passed[route].add(name)
    return passed


def viewers_of(subject: Subject) -> Mapping[str, set[str]]:
    """Of every page, answer and topic about a row: those of the cast who may see it."""
    topic = {"topic": subject.follows} if subject.topic else {}
    return {read: readers(subject, who) for read, who in (*subject.reads.items(), *topic.items())}


def looking(subject: Subject, state: str, read: str) -> set[str]:
    """Who looks in the state: everybody in turn, one of those who may and one who may not."""
    may = viewers_of(subject)[read]
    return set(one_of_each(subject.people, by=may.__contains__, loop=f"{state} {read}"))


def who_reads(subject: Subject, cast: Cast, state: str) -> dict[str, set[str]]:
    """Of every page, answer and topic about a row in the state: who is shown it, of those who look."""
    seen: dict[str, set[str]] = {read: set() for read in viewers_of(subject)}
    look = {read: looking(subject, state, read) for read in seen}
    for row, people in rows_for(subject, cast, state, set().union(*look.values())):
        for name in people:
            for read, names in seen.items():
                if name in look[read] and is_shown(subject, cast, name, row, read):
                    names.add(name)
    return seen


def is_shown(subject: Subject, cast: Cast, name: str, row: Any, read: str) -> bool:
    """Whether this person sees the page, the answer or the topic of the row."""
    if read == "topic":
        assert subject.topic is not None
        return topics.admits(cast.person(name), subject.topic(row))
    answer = cast.client(name, read).get(subject.path(row, read))
    state = subject.state_of(row)
    assert answer.status_code in {200, 403, 404}, f"{read} by {name} in {state}: {answer.status_code}"
    return answer.status_code == 200


def readers(subject: Subject, who: Collection[str]) -> set[str]:
    """Those of the cast who have one of these roles."""
    return {name for name in subject.people if set(roles_of(name)) & set(who)}
