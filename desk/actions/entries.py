"""The entries of the list, and their sources, which the rooms declare (`desk.rooms.Room.actions`)."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.urls import reverse

from desk import rooms
from desk.incidents.kinds import Severity
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import Person

MOST: Final = 200  # entries of one source and list; the page says where there are more
SOON: Final = timedelta(minutes=20)
RANKS: Final = {each.value: rank for rank, each in enumerate(Severity)}
SOON_RANK: Final = 0.5  # whatever ends soon: after what is critical alone
NO_SEVERITY: Final = 1.5  # a decision that waits: after what is high, before what is medium
SOON_LABEL: Final = "Expiring soon"
DECISIONS_LABEL: Final = "Decisions"
_SEARCHED: Final = ("address", "payment_id", "reason", "currency", "amount", "initiator", "identifier")

# Outcomes keep the words that receivers of webhooks compare; people read the word of the pages.
_IN_WORDS: Final = {"declined": "rejected"}


def in_words(outcome: str) -> str:
    """How a request ended, as people read it; webhooks carry `outcome` as it is."""
    return _IN_WORDS.get(outcome, outcome)


@dataclass(slots=True)
class Entry:
    """One thing that waits, or that was done. `sentence` says what happened to the money first.

    `deadline` is measured by `clock`: the exchange's time where `by_exchange` is set, else the desk's. `mine` says that
    this person can act on it now, `own` that they asked for it, `decided` that they have voted and somebody else has
    not yet, `is_followed` that it waits for nobody and is only watched. `who` are the roles that may act. `template`
    draws further details from `row`; `progress` is how far a decision is, `missing` who in particular has to decide
    yet, `votes` are those that count so far, and `outcome` is how it ended. `phase` tells apart the stages at which the
    same subject waits. `kind` is the name under which people choose their notifications; empty stands for the name of
    the source. `scope` is the number of the account, empty for the whole desk; `place` is the account's name, set where
    there are several accounts. `lapse` is what happens at the deadline if nobody acts, without a full stop; `facts` are
    those for messages that the row's columns don't give (`notifications.facts`).
    """

    subject: str
    reference: str
    title: str
    sentence: str
    url: str
    since: datetime
    tone: str
    label: str
    icon: str = ""
    severity: str = ""
    deadline: datetime | None = None
    clock: datetime | None = None
    by_exchange: bool = False
    mine: bool = False
    own: bool = False
    decided: bool = False
    is_followed: bool = False
    who: str = ""
    row: Any = None
    template: str = ""
    progress: str = ""
    missing: str = ""
    votes: Sequence[Any] = ()
    done_at: datetime | None = None
    outcome: str = ""
    done_by: str = ""
    taken_by: "Person | None" = None
    comments: int = 0
    files: int = 0
    phase: str = ""
    kind: str = ""
    scope: str = ""
    place: str = ""
    lapse: str = ""
    facts: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of_request(cls, row: Any, *, title: str, icon: str) -> "Entry":
        """The entry that notifies the person who made the request."""
        return cls(
            subject=row.subject,
            reference=row.reference,
            title=title,
            sentence=row.sentence,
            url=reverse(row.name, args=[row.pk]),
            since=row.created_at,
            tone=row.tone,
            label=row.label,
            icon=icon,
            own=True,
            who=roles.OPERATOR,
            row=row,
            scope=row.scope,
            outcome=row.label[:1].lower() + row.label[1:],
        )

    @property
    def outcome_text(self) -> str:
        """How it ended, as people read it."""
        return in_words(self.outcome)

    @property
    def is_soon(self) -> bool:
        """Whether its deadline is near."""
        if self.is_followed or self.deadline is None or self.clock is None:
            return False
        return self.deadline < self.clock + SOON

    @property
    def urgency(self) -> tuple[float, bool, float]:
        """The sort key: the gravest first, then the earliest deadline, then the newest."""
        rank = SOON_RANK if self.is_soon else RANKS.get(self.severity, NO_SEVERITY)
        ends = self.deadline.timestamp() if self.deadline is not None else -self.since.timestamp()
        return (rank, self.deadline is None, ends)

    @property
    def kind_of_subject(self) -> str:
        """The first part of the subject: "withdrawal"."""
        return self.subject.partition(":")[0]

    @property
    def section(self) -> str:
        """Its heading in a crowded list. In the order of urgency, the entries of one heading stand together."""
        return SOON_LABEL if self.is_soon else self.severity_label or DECISIONS_LABEL

    @property
    def severity_label(self) -> str:
        """The severity as a word."""
        return Severity(self.severity).label if self.severity else ""

    @property
    def text(self) -> str:
        """The text that a search looks through."""
        parts = [self.reference, self.title, self.sentence, self.label, self.who, self.place, self.done_by]
        parts += [str(getattr(self.row, name, "")) for name in _SEARCHED]
        parts.append(str(self.taken_by or ""))
        return " ".join(parts).lower()


@dataclass(frozen=True, slots=True)
class Requests:
    """People's own requests. `ended` gives the subjects that ended since a moment, not ended by the requester.

    `entries` gives the entries of some of these subjects, each with the number of the person who asked. `who` are the
    roles that may ask.
    """

    ended: "Callable[[datetime], Sequence[str]]"
    entries: "Callable[[Collection[str]], Iterable[tuple[int, Entry]]]"
    who: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Source:
    """Where entries come from. `waiting` gives all open entries, `done` the latest closed ones, each at most `MOST`.

    `count` is how many entries wait for a person, at one account or, with an empty text, at all accounts. `subjects`
    gives, for each name of a subject, the function that returns the address of its page, or an empty text where the
    person may see none. `empty` is the sentence for a person for whom nothing waits; `acts` are the roles for which
    something may wait. `recipients` gives, of many people at once, each person together with the subject and phase of
    every entry that waits for them: it is asked every few seconds, so its queries must not grow with the people. A
    source whose requesters are notified of the outcome has `requests`.
    """

    name: str
    label: str
    waiting: "Callable[[Person, datetime], Sequence[Entry]]"
    done: "Callable[[Person, datetime], Sequence[Entry]]"
    count: "Callable[[Person, str], int]"
    subjects: "Callable[[], Mapping[str, Callable[[Person, int], str]]]"
    topics: "Callable[[], str]"
    empty: str
    acts: tuple[str, ...]
    recipients: "Callable[[Sequence[Person]], Iterable[tuple[Person, tuple[str, str]]]]"
    requests: Requests | None = None


def sources() -> list[Source]:
    """Every source, in the order of the rooms."""
    return rooms.actions()


def count(person: "Person", scope: str = "") -> int:
    """How many entries wait for this person, at one account or at all."""
    return sum(source.count(person, scope) for source in sources())


def page_of(person: "Person", name: str, number: int) -> str:
    """The address of the page that shows a subject; empty where this person may see none of this name and number."""
    for source in sources():
        if shows := source.subjects().get(name):
            return shows(person, number)
    return ""
