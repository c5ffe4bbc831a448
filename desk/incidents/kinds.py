"""The kinds of incidents, which the rooms declare (`desk.rooms.Room.incidents`), and how their causes are found.

A cause is read from rows and never remembered: a kind says what is wrong at a moment, and `review` compares that with
the open incidents.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from django.db.models import Model, Q, QuerySet, TextChoices

from desk import rooms
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person

R = TypeVar("R", bound=Model)


class Severity(TextChoices):
    """How much is at stake, the gravest first."""

    CRITICAL = "critical", "Critical"
    HIGH = "high", "High"
    MEDIUM = "medium", "Medium"


@dataclass(frozen=True, slots=True)
class Cause:
    """One thing that is wrong now: its key, unique within the kind, and what happened.

    `page` is the name of the URL of the page to look at, with its query string; `page_key` is the URL's argument.
    `scope` is the number of the account.
    """

    key: str
    sentence: str
    page: str
    page_key: str = ""
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of incident. `causes` finds what is wrong at a moment: everything, or only the cause of a key.

    `acts` are the roles that may take it on and close it, `sees` those that see it in their list, `opens` those that
    may open the page that it is about.

    `votes` is for kinds whose causes two people decide: it gives the cause, the person and the time of each vote on
    the causes of these keys. A cause no longer waits for a person who has voted on it.

    `closable` says whether a person may close it while its cause goes on; where it is not, `ends` says how it ends.
    `by_two` says that two people close it, each with a second factor, because money is involved: what it reports may
    be money that left, never arrived, is not where our records have it, or is at the market without the order that was
    to guard it, and no other two people judge it.
    A process does not judge it in the first `grace_period` of its life: after a night everything that is read again
    and again looks out of date.
    """

    name: str
    title: str
    severity: Severity
    acts: tuple[str, ...]
    causes: Callable[[datetime, str], Iterable[Cause]]
    sees: tuple[str, ...] = roles.ALL
    opens: tuple[str, ...] = roles.ALL
    closable: bool = True
    by_two: bool = False
    ends: str = ""
    grace_period: timedelta = timedelta(0)
    votes: Callable[[Collection[str]], Iterable[tuple[str, int, datetime]]] | None = None

    def may_see(self, person: "Person", scope: str | None = None) -> bool:
        """Whether incidents of this account are on this person's list; without an account, whether any could be."""
        return person.has_role(*self.sees, scope=scope)

    def may_open(self, person: "Person", scope: str | None = None) -> bool:
        """Whether the page that it is about opens for this person."""
        return person.has_role(*self.opens, scope=scope)

    def may_act(self, person: "Person", scope: str | None = None) -> bool:
        """Whether this person may take on, hand back and close incidents of this account."""
        return person.has_role(*self.acts, scope=scope)


_GONE: Final = Kind("", "Finding to review", Severity.MEDIUM, (roles.ADMIN,), lambda now, key: ())


def rows_of(rows: QuerySet[R], key: str) -> QuerySet[R]:
    """These rows, or only the one that the key of a cause ("name:number") names."""
    return (rows.filter(pk=key.rpartition(":")[2]) if key else rows).order_by("pk")


def every() -> dict[str, Kind]:
    """Every declared kind, by name."""
    return {kind.name: kind for kind in rooms.incidents()}


def by_name(name: str) -> Kind:
    """The kind of this name; a stand-in for one that an earlier version declared."""
    return every().get(name, _GONE)


def seen_by(person: "Person") -> Q:
    """The condition of the incidents that this person may see."""
    return _held_at(person, {kind.name: kind.sees for kind in rooms.incidents()})


def acted_on_by(person: "Person") -> Q:
    """The condition of the incidents that this person may act on."""
    return _held_at(person, {kind.name: kind.acts for kind in rooms.incidents()})


def _held_at(person: "Person", names: Mapping[str, tuple[str, ...]]) -> Q:
    """For each kind, the incidents of the accounts at which the person holds one of its roles.

    Incidents that concern the whole desk are for those alone whose role is not limited to accounts.
    """
    held = {kind: person.scopes(*roles) for kind, roles in names.items()}
    condition = Q(kind__in=[kind for kind, scopes in held.items() if scopes is None])
    for kind, scopes in held.items():
        if scopes:
            condition |= Q(kind=kind, scope__in=scopes)
    return condition
