"""Closing what the desk could not settle: two different people of treasury come to the same verdict from the evidence.

Nothing is ever sent because of it: it records what people found. Each verdict takes a reason and a second factor, never
comes from the one who asked for the payment, and a person's last word counts.
"""

import hashlib
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction

from desk.live import announcements
from desk.machines import mover as machine_mover
from desk.machines import votes as machine_votes
from desk.people import factors, roles, stepup
from exchange_ops.withdrawals import machine, mover, rules
from exchange_ops.withdrawals.models import Approval, Withdrawal

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "resolve-withdrawal"
BALLOT: Final = machine_votes.Ballot(Approval, "withdrawal", PURPOSE, roles.TREASURY)
PEOPLE = 2
LONGEST_EVIDENCE = 500
_UNCLEAR = (machine.INVESTIGATE, machine.DISPUTED)
_TARGETS = {Approval.PAID: machine.RESOLVED_PAID, Approval.NOT_PAID: machine.RESOLVED_NOT_PAID}


class CannotResolve(Exception):
    """The verdict was not recorded; the text is the sentence for the person."""


def resolve(
    *,
    withdrawal_id: int,
    person: "Person",
    verdict: str,
    evidence: str,
    digest: str,
    answer: dict[str, Any],
    session_key: str,
    now: datetime,
) -> Withdrawal:
    """One person's verdict ("paid" or "not_paid") on an unclear case; an equal one of somebody else closes it."""
    evidence = evidence.strip()[:LONGEST_EVIDENCE]
    if verdict not in _TARGETS:
        raise CannotResolve("The verdict is that it was paid, or that it was not.")
    if not evidence:
        raise CannotResolve("Say what you looked at: statements, transactions, answers.")
    try:
        with transaction.atomic():
            row = mover.lock(withdrawal_id)
            _refuse_unless_open(row, person, digest, now)
            confirmation = stepup.verify(
                person=person, purpose=PURPOSE, digest=digest, answer=answer, session_key=session_key, now=now
            )
            _keep(row, person, verdict, evidence, confirmation=confirmation, now=now)
            people = _people_for(row, verdict)
            done = people >= PEOPLE
            mover.move(
                row,
                event="resolved" if done else "resolution_recorded",
                to=_TARGETS[verdict] if done else row.state,
                now=now,
                actor=person,
                session_key=session_key,
                evidence={"verdict": verdict, "reason": evidence, "people": people, **confirmation.evidence()},
            )
            announcements.announce("approvals", id=row.pk)
    except Withdrawal.DoesNotExist:
        raise CannotResolve("There is no such request.") from None
    except machine_mover.CannotMove:
        raise CannotResolve("Somebody else acted on it in the same moment. Read it again.") from None
    return row


def digest_of(row: Withdrawal) -> str:
    """What a person signs with a verdict: this request, in the state and version that was on the screen."""
    return _digest(row, row.state, row.version)


def _digest(row: Withdrawal, state: str, version: int) -> str:
    text = f"countersign-resolution-1|{row.pk}|{state}|{version}|{row.digest}"
    return hashlib.sha256(text.encode()).hexdigest()


def finding_of(row: Withdrawal, person: "Person") -> str:
    """This person's last finding on the case, "paid" or "not_paid"; empty when they gave none."""
    words = Approval.objects.filter(withdrawal_id=row.pk, stage=Approval.RESOLUTION, person=person)
    return words.order_by("-id").values_list("verdict", flat=True).first() or ""


def _refuse_unless_open(row: Withdrawal, person: "Person", digest: str, now: datetime) -> None:
    if row.state not in _UNCLEAR:
        raise CannotResolve(f"There is nothing to close: {row.label[0].lower()}{row.label[1:]}.")
    if not rules.may_resolve(person, row):
        raise CannotResolve("Two people of treasury close it, and never the one who asked for the payment.")
    if resting := factors.why_resting(person, now=now):
        raise CannotResolve(resting)
    if digest != digest_of(row):
        raise CannotResolve("This is not what you saw: somebody acted on it meanwhile. Read it again, then decide.")


def _keep(row: Withdrawal, person: "Person", verdict: str, evidence: str, *, confirmation: Any, now: datetime) -> None:
    word = {"stage": Approval.RESOLUTION, "verdict": verdict, "comment": evidence}
    try:
        BALLOT.keep(row, person, **word, now=now, confirmation=confirmation)
    except machine_votes.AlreadyGiven:
        raise CannotResolve("You came to that verdict already; it waits for somebody else.") from None


def _people_for(row: Withdrawal, verdict: str) -> int:
    """How many people's last word is this verdict."""
    words = Approval.objects.filter(withdrawal_id=row.pk, stage=Approval.RESOLUTION)
    signed = {_digest(row, state, version) for state in _UNCLEAR for version in range(1, row.version + 1)}
    proven = machine_votes.among(words, purpose=PURPOSE, digests=lambda word: signed)
    counted = machine_votes.of_those_who_may(proven, role=roles.TREASURY, scope=row.scope).order_by("id")
    last = dict(counted.values_list("person_id", "verdict"))
    return sum(word == verdict for word in last.values())
