"""People's findings on unclear cases of a machine: what each person provably found last, and how many found the same.

A finding is signed whole: the row in the state and version on the page, the verdict, and the evidence. Versions before
0.8.0 signed the row alone. Nothing proves which verdict such a signature was given for, so it counts no more, and its
person can give the finding again; the case, its money and its history stay as they are.
"""

import hashlib
from dataclasses import dataclass
from typing import Any

from django.db.models import F, QuerySet

from desk.machines import votes
from desk.machines.decisions import Act
from desk.machines.votes import Ballot
from desk.models import StepUp
from desk.people.signing import signed_fields


@dataclass(frozen=True)
class Findings:
    """Findings on the rows of one machine while they are in one of `states`.

    `form` begins the text of the digest of a case. The votes are those of `ballot` at `stage`, given for `purpose`.
    """

    ballot: Ballot
    stage: str
    purpose: str
    form: str
    states: tuple[str, ...]

    def digest_of(self, row: Any) -> str:
        """The digest of the case on the page: the row in its state and version."""
        return self._digest(row, row.state, row.version)

    def signed_digest(self, row: Any, verdict: str, evidence: str) -> str:
        """What a person signs: the case on the page, the verdict and the evidence."""
        return signed_fields.bind(self.digest_of(row), _fields(verdict, evidence))

    def keep(self, row: Any, act: Act, *, verdict: str, confirmation: StepUp) -> None:
        """Store a finding with the digest that was signed for it. Raises `votes.AlreadyGiven`.

        A person may find otherwise later, and the same again only after that.
        """
        if self.last(row).get(act.person.pk) == verdict:
            raise votes.AlreadyGiven
        self.ballot.keep(
            row,
            act.person,
            stage=self.stage,
            verdict=verdict,
            comment=act.comment,
            now=act.now,
            confirmation=confirmation,
            digest=confirmation.digest,
        )

    def last(self, row: Any) -> dict[int, str]:
        """The last provable verdict of each person who may decide at the row's account, by the person's number."""
        cases = {self._digest(row, state, version) for state in self.states for version in range(1, row.version + 1)}
        stored = self._stored().filter(**{self.ballot.owner: row})
        proven = votes.among(
            stored,
            purpose=self.purpose,
            digests=lambda vote: {signed_fields.bind(case, _fields(vote.verdict, vote.comment)) for case in cases},
        )
        counting = votes.of_those_who_may(proven, role=self.ballot.role, scope=row.scope).order_by("id")
        return dict(counting.values_list("person_id", "verdict"))

    def people(self, row: Any, verdict: str) -> int:
        """How many people found this last."""
        return sum(last == verdict for last in self.last(row).values())

    def of_rows(self, numbers: list[int]) -> QuerySet[Any]:
        """The findings on the rows of these numbers that were signed whole, for whom a case no longer waits."""
        return self._stored().filter(**{f"{self.ballot.owner}__in": numbers}, digest=F("confirmation__digest"))

    def _stored(self) -> QuerySet[Any]:
        return self.ballot.votes._default_manager.filter(stage=self.stage)

    def _digest(self, row: Any, state: str, version: int) -> str:
        text = f"{self.form}|{row.pk}|{state}|{version}|{row.digest}"
        return hashlib.sha256(text.encode()).hexdigest()


def _fields(verdict: str, evidence: str) -> dict[str, str]:
    return {"verdict": verdict, signed_fields.COMMENT: evidence}
