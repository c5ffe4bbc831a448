"""Closing unclear cases: two different people of treasury reach the same verdict from the evidence.

Nothing is ever sent because of it: it records what people found. Each verdict needs a reason and a second factor and
never comes from the requester, and a person's last verdict counts.
"""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from desk.machines import votes
from desk.machines.decisions import Act, Decisions
from desk.machines.findings import Findings
from desk.people import roles
from exchange_ops.withdrawals import machine, rules, states
from exchange_ops.withdrawals.models import Approval, Withdrawal

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "resolve-withdrawal"
BALLOT: Final = votes.Ballot(Approval, "withdrawal", PURPOSE, roles.TREASURY)
PEOPLE = 2
_UNCLEAR = (states.INVESTIGATE, states.DISPUTED)
FINDINGS: Final = Findings(BALLOT, Approval.RESOLUTION, PURPOSE, "countersign-resolution-1", _UNCLEAR)
_TARGETS = {Approval.PAID: states.RESOLVED_PAID, Approval.NOT_PAID: states.RESOLVED_NOT_PAID}


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
    """One person's verdict ("paid" or "not_paid") on an unclear case; the same verdict of a second person closes it."""
    if verdict not in _TARGETS:
        raise CannotResolve("Choose a finding: paid or not paid.")
    evidence = DECISIONS.reason(evidence, asks="Enter what you checked: statements, transactions, responses.")
    act = Act(person, now, session_key, evidence, digest, answer)
    with DECISIONS.on(withdrawal_id) as row:
        _refuse_unless_open(row, act)
        confirmation = DECISIONS.confirm(replace(act, digest=FINDINGS.signed_digest(row, verdict, evidence)))
        try:
            FINDINGS.keep(row, act, verdict=verdict, confirmation=confirmation)
        except votes.AlreadyGiven:
            raise CannotResolve(DECISIONS.given_already) from None
        people = FINDINGS.people(row, verdict)
        done = people >= PEOPLE
        machine.move(
            row,
            event="resolved" if done else "resolution_recorded",
            to=_TARGETS[verdict] if done else row.state,
            evidence={"verdict": verdict, "reason": evidence, "people": people, **confirmation.evidence()},
            **act.moved,
        )
    return row


def digest_of(row: Withdrawal) -> str:
    """What a verdict is about: this request in the state and version shown on the screen.

    A person signs it together with the verdict and the evidence.
    """
    return FINDINGS.digest_of(row)


def finding_of(row: Withdrawal, person: "Person") -> str:
    """This person's last verdict on the case that counts, "paid" or "not_paid"; empty when they gave none."""
    return FINDINGS.last(row).get(person.pk, "")


def _refuse_unless_open(row: Withdrawal, act: Act) -> None:
    if row.state not in _UNCLEAR:
        raise CannotResolve(f"Nothing to close: {row.label[0].lower()}{row.label[1:]}.")
    if not rules.may_resolve(act.person, row):
        raise CannotResolve("Two treasurers must close this payout; the requester can't be one of them.")
    DECISIONS.refuse_while_cooling_off(act)
    if act.digest != digest_of(row):
        raise CannotResolve("A colleague acted on this payout after you opened it. Refresh, then decide.")


DECISIONS: Final = Decisions(
    PURPOSE,
    CannotResolve,
    machine.MACHINE,
    missing="Request not found.",
    why_over=lambda row: "A colleague has just acted on this payout. Refresh.",
    ballot=BALLOT,
    given_already="Your finding is already recorded; another treasurer must also submit one.",
)
