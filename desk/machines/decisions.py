"""A person's decision on a row of a machine, step by step: lock the row, refuse, confirm, keep the word, move.

What may be decided, by whom, and what follows is for the rooms to say; in which order it happens stands here. Each
decision is one transaction that begins with the lock, so that of two people one decides and the other hears who did.
Where there is no row yet (somebody asks, proposes, invites), `Acts` refuses and confirms in the same words.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db import transaction

from desk.audit import trail
from desk.live import announcements
from desk.machines.mover import CannotMove, Machine
from desk.machines.rows import Subject
from desk.machines.votes import LONGEST_COMMENT, AlreadyGiven, Ballot
from desk.people import factors, stepup

if TYPE_CHECKING:
    from desk.models import Person, StepUp

TOPIC = "approvals"
R = TypeVar("R", bound=Subject)


def announce(row: Subject) -> None:
    """Have the pages that list what waits for people read again, once the current transaction is committed."""
    announcements.announce(TOPIC, subject=row.subject)


@dataclass(frozen=True, slots=True)
class Act:
    """Who decides, from which session, when; `comment` is their reason, and `answer` what they confirmed `digest` with.

    A decision that needs no second factor has neither of the last two.
    """

    person: "Person"
    now: datetime
    session_key: str = ""
    comment: str = ""
    digest: str = ""
    answer: Mapping[str, Any] = field(default_factory=dict)

    @property
    def moved(self) -> dict[str, Any]:
        """What a move says of who made it."""
        return {"now": self.now, "actor": self.person, "session_key": self.session_key}


@dataclass(frozen=True)
class Acts:
    """Acts of one kind; `purpose` is what a person's second factor is for.

    `refusal` makes the error that is raised, of the sentence for the person.
    """

    purpose: str
    refusal: Callable[[str], Exception]

    def reason(self, text: str, *, asks: str, longest: int = LONGEST_COMMENT) -> str:
        """The reason as it is kept; refused with the sentence that asks for one where there is none."""
        if not (text := text.strip()[:longest]):
            raise self.refusal(asks)
        return text

    def refuse_while_cooling_off(self, act: Act) -> None:
        """Refuse somebody whose second factor was changed lately."""
        if reason := factors.why_cooling_off(act.person, now=act.now):
            raise self.refusal(reason)

    def confirm(self, act: Act) -> "StepUp":
        """Check the second factor for exactly this, in a transaction. Raises `stepup.CannotConfirm`."""
        return stepup.verify(
            person=act.person,
            purpose=self.purpose,
            digest=act.digest,
            answer=act.answer,
            session_key=act.session_key,
            now=act.now,
        )


@dataclass(frozen=True)
class Decisions(Acts, Generic[R]):
    """Decisions of one kind on the rows of a machine.

    `missing` says that there is no such row, `why_over` of a row why there is nothing to decide: who was faster, or
    what it waits for. Where words are counted, `ballot` keeps them, and `given_already` says that this person gave this
    very one before.
    """

    machine: Machine[R]
    missing: str
    why_over: Callable[[R], str]
    ballot: Ballot | None = None
    given_already: str = ""

    @contextmanager
    def on(self, number: int) -> Iterator[R]:
        """The row, locked for a decision. Pages that list what waits for people hear of it once it is committed."""
        with self.transaction(number) as row:
            yield row
            announce(row)

    @contextmanager
    def transaction(self, number: int) -> Iterator[R]:
        """The row, locked for a decision of which no other pages hear than those that the machine names."""
        try:
            with transaction.atomic():
                yield self._locked(number)
        except CannotMove:
            now: Any = self.machine.model._default_manager.get(pk=number)
            raise self.refusal(self.why_over(now)) from None

    def keep(self, row: R, act: Act, *, stage: str, verdict: str, confirmation: "StepUp | None" = None) -> None:
        """Keep the person's word."""
        if self.ballot is None:
            raise TypeError(f"Decisions for {self.purpose} count no words.")
        word = {"stage": stage, "verdict": verdict, "comment": act.comment}
        try:
            self.ballot.keep(row, act.person, **word, now=act.now, confirmation=confirmation)
        except AlreadyGiven:
            raise self.refusal(self.given_already) from None

    def _locked(self, number: int) -> R:
        model: Any = self.machine.model
        try:
            return self.machine.lock(number)
        except model.DoesNotExist:
            raise self.refusal(self.missing) from None


@dataclass(frozen=True)
class InTurn(Decisions[R]):
    """Decisions on rows that no mover locks: whoever decides takes the trail's turn, and reads what the last one left.

    `read_with` are the rows that are read together with the one that is decided on.
    """

    read_with: tuple[str, ...] = ()

    def _locked(self, number: int) -> R:
        trail.take_turn()
        model: Any = self.machine.model
        row: R | None = model._default_manager.select_related(*self.read_with).filter(pk=number).first()
        if row is None:
            raise self.refusal(self.missing)
        return row
