"""A person's decision on a row of a machine, step by step: lock the row, refuse, confirm, store the vote, move.

The rooms say what may be decided, by whom, and what follows; this module says in which order it happens. Each decision
is one transaction that begins with the lock: of two people one decides, and the other is told who did. Where there is
no row yet (somebody asks, proposes, invites), `Acts` refuses and confirms in the same way.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db import transaction

from desk.audit import trail
from desk.live import announcements
from desk.machines.mover import CannotMove, Machine
from desk.machines.rows import Subject
from desk.machines.votes import LONGEST_COMMENT, AlreadyGiven, Ballot
from desk.people import factors, stepup
from desk.people.signing import signed_lists

if TYPE_CHECKING:
    from desk.models import Person, StepUp

TOPIC = "approvals"
R = TypeVar("R", bound=Subject)


def announce(row: Subject) -> None:
    """After the commit, have the pages reload that list what waits for people."""
    announcements.announce(TOPIC, subject=row.subject)


@dataclass(frozen=True, slots=True)
class Act:
    """Who decides, when and from which session. `comment` is their reason, `answer` their second factor for `digest`.

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
        """The arguments of a move that say who made it."""
        return {"now": self.now, "actor": self.person, "session_key": self.session_key}


@dataclass(frozen=True)
class Acts:
    """Acts of one kind. `purpose` is what the person's second factor is given for.

    `refusal` makes the error to raise from the sentence for the person.
    """

    purpose: str
    refusal: Callable[[str], Exception]

    def reason(self, text: str, *, asks: str, longest: int = LONGEST_COMMENT) -> str:
        """The reason as it is stored. Without one, refuses with the sentence `asks`."""
        if not (text := text.strip()[:longest]):
            raise self.refusal(asks)
        return text

    def refuse_while_cooling_off(self, act: Act) -> None:
        """Refuse a person whose second factors were changed lately."""
        if reason := factors.why_cooling_off(act.person, now=act.now):
            raise self.refusal(f"Decision not recorded. {reason}")

    def confirm(self, act: Act) -> "StepUp":
        """Check the second factor for exactly this act, in a transaction. Raises `stepup.CannotConfirm`."""
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

    `missing` is the sentence for a row that does not exist; `why_over` says why there is nothing to decide on a row:
    who was faster, or what it waits for. Where votes are counted, `ballot` stores them, and `given_already` is the
    sentence for a person who has given the same vote before.
    """

    machine: Machine[R]
    missing: str
    why_over: Callable[[R], str]
    ballot: Ballot | None = None
    given_already: str = ""

    @contextmanager
    def on(self, number: int) -> Iterator[R]:
        """The row, locked for a decision. After the commit, the pages reload that list what waits for people."""
        with self.transaction(number) as row:
            yield row
            announce(row)

    @contextmanager
    def transaction(self, number: int) -> Iterator[R]:
        """The row, locked for a decision that is announced only to the topics that the machine names."""
        try:
            with transaction.atomic():
                yield self._locked(number)
        except CannotMove:
            now: Any = self.machine.model._default_manager.get(pk=number)
            raise self.refusal(self.why_over(now)) from None

    def confirm_approval(self, row: R, act: Act, *, confirmed: str = "") -> "StepUp":
        """Check the second factor for an approval of the row, with its comment and the boxes ticked with it.

        In a selection the list that was signed has the comment already. In a transaction, as `confirm`.
        """
        comment = act.comment.strip()[:LONGEST_COMMENT]  # as it is stored
        approval = signed_lists.Decision(
            row.subject, self.purpose, act.digest, signed_lists.APPROVE, comment, confirmed
        )
        terms = signed_lists.terms_of(approval)
        if not terms.listed or act.answer.get("kind") == signed_lists.KIND:
            return self.confirm(act)
        signature = stepup.verify(
            person=act.person,
            purpose=terms.purpose,
            digest=terms.digest,
            answer=act.answer,
            session_key=act.session_key,
            now=act.now,
            listed=terms.listed,
        )
        return self.confirm(replace(act, answer=signed_lists.Place(signature, 0).answer))

    def keep(self, row: R, act: Act, *, stage: str, verdict: str, confirmation: "StepUp | None" = None) -> None:
        """Store the person's vote."""
        if self.ballot is None:
            raise TypeError(f"Decisions for {self.purpose} do not count votes.")
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
    """Decisions on rows that no mover locks: whoever decides takes the trail's turn first and then reads the row.

    `read_with` are the related rows to read with it.
    """

    read_with: tuple[str, ...] = ()

    def _locked(self, number: int) -> R:
        trail.take_turn()
        model: Any = self.machine.model
        row: R | None = model._default_manager.select_related(*self.read_with).filter(pk=number).first()
        if row is None:
            raise self.refusal(self.missing)
        return row
