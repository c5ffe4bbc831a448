"""People's votes on the rows of a machine: which of them count, and whose votes a row waits for.

The row of a vote proves nothing by itself; the second factor that it names has to prove it. That second factor was
given by this very person, at the moment of the vote, for this purpose and one of these digests; it is genuine
(`stepup.proves`), with the vote's comment where that was signed in a list, and was used for no other vote. A vote that
was given in the time after a change of its person's factors never counts.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet

from desk.machines.rows import Subject, Vote
from desk.people import factors, scopes, stepup
from desk.people.signing import signed_lists

if TYPE_CHECKING:
    from desk.models import Person, StepUp

R = TypeVar("R", bound=Subject)
DigestsOf = Callable[[Any], Collection[str]]
Helps = Callable[[QuerySet[Any]], Mapping[int, Callable[[int], bool]]]
LONGEST_COMMENT = 500
MOST_PEOPLE = 500  # asked about in one query: engines bound how many columns one has


class AlreadyGiven(Exception):
    """The person has given this very vote before; nothing was stored."""


@dataclass(frozen=True)
class Ballot:
    """Votes of one kind: their model, the field that names the row, and the purpose of their second factor.

    Only votes of people count who hold `role` at the row's account at the time of counting. The row has a `digest`, an
    `initiator`, an `account` and a `scope`, which is the account's number as text.
    """

    votes: type[Vote]
    owner: str
    purpose: str
    role: str

    def keep(
        self,
        row: Any,
        person: "Person",
        *,
        stage: str,
        verdict: str,
        comment: str,
        now: datetime,
        confirmation: "StepUp | None" = None,
        digest: str = "",
    ) -> None:
        """Store a person's vote on exactly the row's present content, or on `digest`. Raises AlreadyGiven."""
        try:
            with transaction.atomic():
                self.votes._default_manager.create(
                    **{self.owner: row},
                    initiator_id=row.initiator_id,
                    person=person,
                    digest=digest or row.digest,
                    stage=stage,
                    verdict=verdict,
                    comment=comment.strip()[:LONGEST_COMMENT],
                    confirmation=confirmation,
                    at=now,
                )
        except IntegrityError:
            raise AlreadyGiven from None

    def proven(self, row: Any, *, stage: str, verdict: str) -> QuerySet[Any]:
        """The votes on the row's digest that their second factors prove, without those of whoever asked for it."""
        named = {self.owner: row, "digest": row.digest, "stage": stage, "verdict": verdict}
        votes = self.votes._default_manager.filter(**named).exclude(person=row.initiator_id)
        return among(votes, purpose=self.purpose)

    def counting(self, row: Any, *, stage: str, verdict: str) -> QuerySet[Any]:
        """Of the proven votes, those of active people who have held the role ever since."""
        return of_those_who_may(self.proven(row, stage=stage, verdict=verdict), role=self.role, scope=row.scope)

    def counting_by_row(self, rows: Iterable[Any], *, stage: str, verdict: str) -> dict[int, list[Any]]:
        """The votes that count for each of these rows, by number, the oldest first, one for each person.

        `counting` for many rows at once. The number of queries grows with the accounts of the rows and the people who
        voted, not with the rows.
        """
        by_scope: dict[str, list[int]] = defaultdict(list)
        for row in rows:
            by_scope[row.scope].append(row.pk)
        votes_of: defaultdict[int, dict[int, Any]] = defaultdict(dict)
        for scope, numbers in by_scope.items():
            named: dict[str, Any] = {f"{self.owner}__in": numbers, "digest": F(f"{self.owner}__digest")}
            votes = self.votes._default_manager.filter(**named, stage=stage, verdict=verdict)
            votes = votes.exclude(person=F(f"{self.owner}__initiator"))
            counting = of_those_who_may(among(votes, purpose=self.purpose), role=self.role, scope=scope)
            for vote in counting.select_related("person").order_by("at", "pk"):
                votes_of[getattr(vote, f"{self.owner}_id")].setdefault(vote.person_id, vote)
        return {number: list(by_person.values()) for number, by_person in votes_of.items()}

    def on_row(self, *, verdict: str) -> QuerySet[Any]:
        """Everybody's votes on the row of the query around this one, on the content that the row has now."""
        named = {self.owner: OuterRef("pk"), "digest": OuterRef("digest"), "verdict": verdict}
        return self.votes._default_manager.filter(**named)


@dataclass(frozen=True, slots=True)
class Waiting(Generic[R]):
    """The rows of a machine that wait for votes, and for whom each of them waits.

    `votes` are those after which a row no longer waits for the person who gave them (`Ballot.on_row`). `helps` gives,
    for those of the rows that don't wait for everybody who may decide, by number, whether the vote of a person (given
    by number) would bring it further.
    """

    ballot: Ballot
    rows: QuerySet[R]
    votes: QuerySet[Any]
    helps: Helps = field(default=lambda rows: {})

    def for_person(self, person: "Person") -> QuerySet[R]:
        """The rows that this person can decide on now."""
        rows = self.rows.filter(self._waits_for(person))
        others = [number for number, helps in self.helps(rows).items() if not helps(person.pk)]
        return rows.exclude(pk__in=others) if others else rows

    def for_each(self, people: "Iterable[Person]") -> "Iterator[tuple[Person, list[R]]]":
        """The same for many people at once, those for whom nothing waits left out.

        Only of those who gave a vote on one of these rows has the database to be asked which of them still wait.
        """
        rows = list(self.rows)
        holders = [person for person in people if self._held_by(person) != frozenset()] if rows else []
        voters = self._voters() if holders else set()
        still = self._still_waiting([person for person in holders if person.pk in voters])
        helps = self.helps(self.rows) if holders else {}
        for person in holders:
            waiting = [row for row in rows if self._may_wait(row, person)]
            if person.pk in still:
                waiting = [row for row in waiting if row.pk in still[person.pk]]
            waiting = [row for row in waiting if row.pk not in helps or helps[row.pk](person.pk)]
            if waiting:
                yield person, waiting

    def _voters(self) -> set[int]:
        votes = self.ballot.votes._default_manager.filter(**{f"{self.ballot.owner}__in": self.rows.values("pk")})
        return set(votes.order_by().values_list("person", flat=True).distinct())

    def _still_waiting(self, people: "list[Person]") -> dict[int, set[int]]:
        """The rows that wait for each of these people, by number, by one query for every `MOST_PEOPLE` of them."""
        numbers: dict[int, set[int]] = {}
        for start in range(0, len(people), MOST_PEOPLE):
            marks = {f"waits_for_{person.pk}": person for person in people[start : start + MOST_PEOPLE]}
            rows = self.rows.annotate(**{mark: self._waits_for(person) for mark, person in marks.items()})
            for mark, person in marks.items():
                numbers[person.pk] = {row.pk for row in rows if getattr(row, mark)}
        return numbers

    def _may_wait(self, row: Any, person: "Person") -> bool:
        """Whether it waits for the person unless they have voted on it."""
        held = self._held_by(person)
        return row.initiator_id != person.pk and (held is None or str(row.account_id) in held)

    def _waits_for(self, person: "Person") -> Q:
        """The person holds the role at the row's account, did not ask for it, and has not voted on it."""
        held = self._held_by(person)
        at_account = Q() if held is None else Q(account__in=[int(scope) for scope in held])
        return at_account & ~Q(initiator=person) & Q(~Exists(self.votes.filter(person=person)))

    def _held_by(self, person: "Person") -> frozenset[str] | None:
        """The accounts at which the person's votes count; none before treasury has confirmed them."""
        return frozenset() if person.unconfirmed_since is not None else person.scopes(self.ballot.role)


def among(votes: QuerySet[Any], *, purpose: str, digests: DigestsOf | None = None) -> QuerySet[Any]:
    """Those of these votes (approvals, verdicts) that their second factors prove.

    `digests` gives what may have been signed for a vote; without it, that is the vote's own digest.
    """
    rows = list(votes.exclude(factors.given_while_cooling_off()).select_related("confirmation__signed_with"))
    proofs = stepup.Proofs()
    first = _first_uses(votes.model, [row.confirmation_id for row in rows if row.confirmation_id])
    proven = [
        row.pk
        for row in rows
        if first.get(row.confirmation_id) == row.pk
        and row.confirmation.at == row.at
        and proofs.holds(
            row.confirmation,
            person_id=row.person_id,
            purpose=purpose,
            digests=digests(row) if digests else _signed(row),
        )
    ]
    return votes.filter(pk__in=proven)


def of_those_who_may(votes: QuerySet[Any], *, role: str, scope: str) -> QuerySet[Any]:
    """Those of these votes that active people gave who have held the role at this account ever since."""
    return votes.filter(scopes.holding(role, scope, of="person")).exclude(person__words_from__gt=F("at"))


def people(votes: QuerySet[Any]) -> int:
    """How many different people gave these votes."""
    return votes.order_by().values("person").distinct().count()


def voters(votes: QuerySet[Any]) -> frozenset[int]:
    """The numbers of the people who gave these votes."""
    return frozenset(votes.order_by().values_list("person", flat=True))


def _signed(vote: Any) -> set[str]:
    """The digest under which a vote counts: none with another comment than the one that was signed with it."""
    return {vote.digest} if signed_lists.has_comment(vote.confirmation, vote.comment) else set()


def _first_uses(model: type[Any], confirmations: list[int]) -> dict[int, int]:
    """The oldest vote of each second factor: it is spent on that one, whatever else names it."""
    uses = model._default_manager.filter(confirmation__in=confirmations).order_by().values_list("confirmation")
    return dict(uses.annotate(first=Min("pk")))
