"""New colleagues of treasury who wait to be confirmed, as entries of the list of what needs action."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.urls import reverse

from desk.actions.entries import Entry, Source
from desk.machines.decisions import TOPIC as DECISIONS
from desk.machines.table import Tone
from desk.people import roles, scopes
from desk.staff import colleagues, rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from desk.models import Person

NAME: Final = "colleague"


def _waiting(person: "Person", now: datetime) -> Sequence[Entry]:
    if not (person.has_role(roles.TREASURY) or rules.may_keep(person)):
        return []
    return [_entry(each, person) for each in colleagues.waiting() if colleagues.may_see(person, each)]


def _entry(member: "Person", person: "Person") -> Entry:
    role, confirmers = colleagues.who_confirms(member)
    return Entry(
        subject=_subject(member),
        reference=member.get_username(),
        title="Confirm a new colleague",
        sentence=f"{member.get_username()} ({member.email or 'no e-mail address'}) joined: "
        f"{', '.join(scopes.words(member.grants))}. Their approvals don't count until the account is confirmed by "
        f"{confirmers}.",
        url=reverse("person-colleague", args=[member.pk]),
        since=_since(member),
        tone=Tone.ACTIVE,
        label="New colleague",
        icon="hourglass",
        mine=colleagues.may_confirm(person, member),
        who=role,
        phase=_phase(member),
    )


def _subject(member: "Person") -> str:
    return f"{NAME}:{member.pk}"


def _phase(member: "Person") -> str:
    return f"{_since(member):%Y%m%d%H%M%S%f}"


def _since(member: "Person") -> datetime:
    assert member.unconfirmed_since is not None  # noqa: S101  # by the query
    return member.unconfirmed_since


def _recipients(people: "Sequence[Person]") -> "Iterator[tuple[Person, tuple[str, str]]]":
    for member in colleagues.waiting():
        for person in colleagues.confirmers(member, people):
            if person.has_role(roles.TREASURY) or rules.may_keep(person):
                yield person, (_subject(member), _phase(member))


def _subjects() -> "Mapping[str, Callable[[Person, int], str]]":
    return {NAME: _page}


def _page(person: "Person", number: int) -> str:
    waiting = [member for member in colleagues.waiting() if member.pk == number]
    return reverse("person-colleague", args=[number]) if waiting and colleagues.may_see(person, waiting[0]) else ""


def _count(person: "Person", scope: str) -> int:
    if scope or not (person.has_role(roles.TREASURY) or rules.may_keep(person)):
        return 0
    return sum(colleagues.may_confirm(person, member) for member in colleagues.waiting())


SOURCE: Final = Source(
    name="colleagues",
    label="New colleagues",
    waiting=_waiting,
    done=lambda person, now: [],
    count=_count,
    subjects=_subjects,
    topics=lambda: DECISIONS,
    empty="No new colleagues to confirm.",
    acts=(roles.TREASURY, roles.ADMIN),
    recipients=_recipients,
)
