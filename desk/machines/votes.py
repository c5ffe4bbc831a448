"""People's words on the rows of a machine, and which of them count.

A row is no evidence: the second factor that it names has to prove it.
That second factor is of this very person, for this purpose and one of these digests, given in the moment of the word,
genuine (`stepup.proves`), and spent on one word alone. A word that was given while its person rested after a change of
factors never counts.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import Exists, F, Min, OuterRef, Q, QuerySet

from desk.machines.rows import Vote
from desk.people import factors, scopes, stepup

if TYPE_CHECKING:
    from desk.models import Person, StepUp

DigestsOf = Callable[[Any], Collection[str]]
LONGEST_COMMENT = 500


class AlreadyGiven(Exception):
    """The person gave this very word before; nothing was kept."""


@dataclass(frozen=True)
class Ballot:
    """Words of one kind: their rows, the field that names what they are on, what their second factor is for.

    Only people who hold `role` at the row's account when it is counted count. What they decide on has a `digest`, an
    `initiator` and a `scope`, the text of its column `account`.
    """

    words: type[Vote]
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
    ) -> None:
        """Keep a person's word on exactly the row's present content. Raises AlreadyGiven."""
        try:
            with transaction.atomic():
                self.words._default_manager.create(
                    **{self.owner: row},
                    initiator_id=row.initiator_id,
                    person=person,
                    digest=row.digest,
                    stage=stage,
                    verdict=verdict,
                    comment=comment.strip()[:LONGEST_COMMENT],
                    confirmation=confirmation,
                    at=now,
                )
        except IntegrityError:
            raise AlreadyGiven from None

    def proven(self, row: Any, *, stage: str, verdict: str) -> QuerySet[Any]:
        """Words of this kind on the row's digest that their second factors prove, none by who asked for it."""
        named = {self.owner: row, "digest": row.digest, "stage": stage, "verdict": verdict}
        words = self.words._default_manager.filter(**named).exclude(person=row.initiator_id)
        return among(words, purpose=self.purpose)

    def counting(self, row: Any, *, stage: str, verdict: str) -> QuerySet[Any]:
        """Those of active people who still hold the role, and did so ever since."""
        return of_those_who_may(self.proven(row, stage=stage, verdict=verdict), role=self.role, scope=row.scope)

    def waiting_for(self, person: "Person", undecided: QuerySet[Any], words: QuerySet[Any]) -> QuerySet[Any]:
        """Of what is undecided the rows that this person can decide now; `words` are those that `of` gave of them."""
        return undecided.filter(self._where(person)).exclude(initiator=person).exclude(Exists(words))

    def waiting_for_each(
        self, people: "Iterable[Person]", undecided: QuerySet[Any], words: QuerySet[Any]
    ) -> "Iterator[tuple[Person, list[Any]]]":
        """What `waiting_for` gives for each of many people, by two queries; `words` are those that `of_all` gave."""
        rows = list(undecided)
        said: set[tuple[int, int]] = set()
        if rows:
            named = words.filter(**{f"{self.owner}__in": [row.pk for row in rows]})
            said.update(named.values_list(f"{self.owner}_id", "person_id"))
        for person in people:
            if person.has_role(self.role):
                free = [row for row in rows if (row.pk, person.pk) not in said and row.initiator_id != person.pk]
                yield person, [row for row in free if person.has_role(self.role, scope=row.scope)]

    def _where(self, person: "Person") -> Q:
        """The rows of the accounts at which this person holds the role."""
        held = person.scopes(self.role)
        return Q() if held is None else Q(account__in=[int(scope) for scope in held])

    def of_all(self, *, verdict: str) -> QuerySet[Any]:
        """Everybody's words on the content that the rows have now."""
        return self.words._default_manager.filter(digest=F(f"{self.owner}__digest"), verdict=verdict)

    def of(self, person: "Person", *, verdict: str) -> QuerySet[Any]:
        """A person's words on a row of the query around it, for Exists: on the content that the row has now."""
        named = {self.owner: OuterRef("pk"), "digest": OuterRef("digest"), "person": person, "verdict": verdict}
        return self.words._default_manager.filter(**named)


def among(words: QuerySet[Any], *, purpose: str, digests: DigestsOf | None = None) -> QuerySet[Any]:
    """Of these words (approvals, verdicts, votes) the ones that their second factors prove.

    `digests` gives what may have been signed for a word; without it, that is the word's own digest.
    """
    rows = list(words.exclude(factors.given_at_rest()).select_related("confirmation"))
    first = _first_uses(words.model, [row.confirmation_id for row in rows if row.confirmation_id])
    kept = [
        row.pk
        for row in rows
        if first.get(row.confirmation_id) == row.pk
        and row.confirmation.at == row.at
        and stepup.proves(
            row.confirmation,
            person_id=row.person_id,
            purpose=purpose,
            digests=digests(row) if digests else {row.digest},
        )
    ]
    return words.filter(pk__in=kept)


def of_those_who_may(words: QuerySet[Any], *, role: str, scope: str) -> QuerySet[Any]:
    """Of these words those of active people who hold the role at this account, and did so ever since."""
    return words.filter(scopes.holding(role, scope, of="person")).exclude(person__words_from__gt=F("at"))


def people(words: QuerySet[Any]) -> int:
    """How many different people these words are of."""
    return words.order_by().values("person").distinct().count()


def _first_uses(model: type[Any], confirmations: list[int]) -> dict[int, int]:
    """The oldest word of each second factor: one is spent on one word, whatever else names it."""
    uses = model._default_manager.filter(confirmation__in=confirmations).order_by().values_list("confirmation")
    return dict(uses.annotate(first=Min("pk")))
