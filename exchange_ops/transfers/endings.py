"""How people end what the desk could not settle: close or re-issue what was not seen, resolve what is unclear.

Nothing is ever sent again because of it. Re-issuing makes a new transfer that names the old one, under the rules of
today and with approvals of its own; the old one is closed for good in the same transaction, so it can be replaced only
once.
"""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import IntegrityError

from desk.machines import votes
from desk.machines.decisions import Act, Decisions
from desk.machines.findings import Findings
from desk.models import StepUp
from desk.people.signing import signed_fields
from exchange_ops.transfers import approvals, machine, rules, states, workflow
from exchange_ops.transfers.listings import WATCH_EVERY
from exchange_ops.transfers.models import Transfer, TransferApproval
from exchange_ops.transfers.request_checks import CannotTransfer

if TYPE_CHECKING:
    from desk.models import Person

CLOSE_PURPOSE, REISSUE_PURPOSE, RESOLVE_PURPOSE = "close-transfer", "reissue-transfer", "resolve-transfer"
PEOPLE = 2
FINDINGS: Final = Findings(
    approvals.BALLOT,
    TransferApproval.RESOLUTION,
    RESOLVE_PURPOSE,
    "countersign-transfer-ending-1",
    (states.INVESTIGATE,),
)
_WHY = "Enter what you checked and the reason for your decision."
_REPEATED = ("account", "kind", "currency", "amount", "to_currency", "by", "identifier", "subaccount_id")
_TARGETS = {TransferApproval.MOVED: states.RESOLVED_MOVED, TransferApproval.NOT_MOVED: states.RESOLVED_NOT_MOVED}


class CannotClose(Exception):
    """The transfer was neither closed nor re-issued; the text is the sentence for the person."""


class CannotResolve(Exception):
    """The verdict was not recorded; the text is the sentence for the person."""


def close(
    *,
    transfer_id: int,
    person: "Person",
    reason: str,
    digest: str,
    answer: dict[str, Any],
    session_key: str,
    now: datetime,
) -> Transfer:
    """Close a transfer that was not seen. The second factor is for `CLOSE_PURPOSE` and `digest_of(row)`."""
    act = Act(person, now, session_key, CLOSING.reason(reason, asks=_WHY), digest, answer)
    with CLOSING.on(transfer_id) as row:
        _close(row, "closed", act, _confirmation_to_end(row, act, CLOSING))
    return row


def reissue(
    *,
    transfer_id: int,
    person: "Person",
    reason: str,
    digest: str,
    answer: dict[str, Any],
    request_key: str,
    session_key: str,
    now: datetime,
    via: str = "page",
) -> Transfer:
    """Close a transfer that was not seen and request the same again; returns the new one, whose initiator is `person`.

    The second factor is for `REISSUE_PURPOSE` and `digest_of(row)`. The same key of the same person always gives the
    same new transfer. Raises CannotClose, CannotTransfer when it could not be requested today, or
    `stepup.CannotConfirm`.
    """
    earlier = Transfer.objects.filter(initiator=person, request_key=request_key).first()
    if earlier is not None:
        if earlier.reissues_id != transfer_id:
            raise CannotClose(f"Not requested: this form was already submitted, as {earlier.reference}.")
        return earlier
    act = Act(person, now, session_key, REISSUES.reason(reason, asks=_WHY), digest, answer)
    try:
        with REISSUES.on(transfer_id) as old:
            _close(old, "issued_anew", act, _confirmation_to_end(old, act, REISSUES))
            new = Transfer(
                initiator=person,
                initiated_via=via,
                request_key=request_key,
                reissues=old,
                reason=act.comment,
                **{name: getattr(old, name) for name in _REPEATED},
            )
            new = workflow.submit(new, now=now, session_key=session_key)
    except IntegrityError:
        raise CannotClose("This transfer has already been requested again.") from None
    return new


def resolve(
    *,
    transfer_id: int,
    person: "Person",
    verdict: str,
    evidence: str,
    digest: str,
    answer: dict[str, Any],
    session_key: str,
    now: datetime,
) -> Transfer:
    """One person's verdict ("moved" or "not_moved") on an unclear case; the same one of a second person closes it.

    The second factor is for `RESOLVE_PURPOSE` and `digest_of(row)`. A person's last verdict counts.
    """
    if verdict not in _TARGETS:
        raise CannotResolve("Choose a finding: moved or not moved.")
    evidence = RESOLUTIONS.reason(evidence, asks="Enter what you checked: statements, transactions, responses.")
    act = Act(person, now, session_key, evidence, digest, answer)
    with RESOLUTIONS.on(transfer_id) as row:
        if row.state != states.INVESTIGATE:
            raise CannotResolve(f"Nothing to close: {row.label[0].lower()}{row.label[1:]}.")
        if not rules.may_resolve_transfer(person, row):
            raise CannotResolve("Two treasurers must close this transfer; the requester can't be one of them.")
        confirmation = _confirmation(row, act, RESOLUTIONS, FINDINGS.signed_digest(row, verdict, evidence))
        try:
            FINDINGS.keep(row, act, verdict=verdict, confirmation=confirmation)
        except votes.AlreadyGiven:
            raise CannotResolve(RESOLUTIONS.given_already) from None
        people = FINDINGS.people(row, verdict)
        done = people >= PEOPLE
        machine.move(
            row,
            event="resolved" if done else "resolution_recorded",
            to=_TARGETS[verdict] if done else states.INVESTIGATE,
            next_action_at=None if done else row.next_action_at,
            evidence={"verdict": verdict, "reason": evidence, "people": people, **confirmation.evidence()},
            **act.moved,
        )
    return row


def finding_of(row: Transfer, person: "Person") -> str:
    """This person's last verdict on the case that counts, "moved" or "not_moved"; empty when they gave none."""
    return FINDINGS.last(row).get(person.pk, "")


def digest_of(row: Transfer) -> str:
    """What an ending is about: this request in the state and version shown on the screen.

    A person signs it together with the reason, and with the verdict where there is one.
    """
    return FINDINGS.digest_of(row)


def _confirmation_to_end(row: Transfer, act: Act, decisions: Decisions[Transfer]) -> StepUp:
    """The confirmation of a person who may end what was not seen."""
    if row.state != states.NOT_SEEN:
        raise CannotClose(f"No decision needed: {row.label[0].lower()}{row.label[1:]}.")
    if not rules.may_close_transfer(act.person, row):
        raise CannotClose("Only treasurers other than the requester can decide on this transfer.")
    signed_digest = signed_fields.bind(digest_of(row), {signed_fields.COMMENT: act.comment})
    return _confirmation(row, act, decisions, signed_digest)


def _confirmation(row: Transfer, act: Act, decisions: Decisions[Transfer], signed_digest: str) -> StepUp:
    decisions.refuse_while_cooling_off(act)
    if act.digest != digest_of(row):
        raise decisions.refusal("The transfer changed after you opened it. Refresh, then decide.")
    return decisions.confirm(replace(act, digest=signed_digest))


def _close(row: Transfer, event: str, act: Act, confirmation: StepUp) -> None:
    machine.move(
        row,
        event=event,
        to=states.CLOSED,
        next_action_at=act.now + WATCH_EVERY,
        evidence={"reason": act.comment, **confirmation.evidence()},
        decided_by=act.person,
        decided_at=act.now,
        **act.moved,
    )


def _decisions(purpose: str, refusal: type[Exception], **words: Any) -> Decisions[Transfer]:
    return Decisions(
        purpose,
        refusal,
        machine.MACHINE,
        missing="Transfer not found.",
        why_over=lambda row: "A colleague has just acted on this transfer. Refresh.",
        **words,
    )


CLOSING: Final = _decisions(CLOSE_PURPOSE, CannotClose)
REISSUES: Final = _decisions(REISSUE_PURPOSE, CannotClose)
RESOLUTIONS: Final = _decisions(
    RESOLVE_PURPOSE,
    CannotResolve,
    ballot=approvals.BALLOT,
    given_already="Your finding is already recorded; another treasurer must also submit one.",
)

__all__ = ["CannotClose", "CannotResolve", "CannotTransfer", "close", "digest_of", "reissue", "resolve"]
