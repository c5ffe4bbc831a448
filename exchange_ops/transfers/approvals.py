"""What people decide about a transfer that leaves for somebody else, before it is sent: approve or reject.

The rules are those of payouts: an approval is bound to the digest of exactly what was on the screen, never given by the
one who asked, and confirmed with a second factor inside the same transaction. The quorum is counted under the version
of the row, and the database counts once more when the transfer begins to be sent.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import QuerySet

from desk.live import announcements
from desk.machines import votes
from desk.machines.votes import LONGEST_COMMENT
from desk.people import factors, roles, stepup
from exchange_ops.policy import freezes
from exchange_ops.transfers import machine, rules
from exchange_ops.transfers import mover as moves
from exchange_ops.transfers import policy_evaluation as judging
from exchange_ops.transfers.models import Transfer, TransferApproval

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE = "approve-transfer"
BALLOT: Final = votes.Ballot(TransferApproval, "transfer", PURPOSE, roles.TREASURY)


class CannotApprove(Exception):
    """The decision was not taken; the text is the sentence for the person."""


def approve(
    *,
    transfer_id: int,
    person: "Person",
    digest: str,
    answer: dict[str, Any],
    comment: str,
    session_key: str,
    now: datetime,
) -> Transfer:
    """One person's approval of the content of `digest`; with the last one needed a worker may send it.

    The second factor is for `PURPOSE` and the row's digest. Raises CannotApprove with the reason, or
    `stepup.CannotConfirm` when the second factor was not accepted.
    """
    try:
        with transaction.atomic():
            row = _locked(transfer_id)
            _refuse_unless_open(row, person, digest, now)
            confirmation = stepup.verify(
                person=person, purpose=PURPOSE, digest=row.digest, answer=answer, session_key=session_key, now=now
            )
            keep(row, person, TransferApproval.APPROVE, comment, now=now, confirmation=confirmation)
            people = current(row).values("person").distinct().count()
            enough = people >= row.quorum_required
            moves.move(
                row,
                event="quorum_reached" if enough else "approval_recorded",
                to=machine.APPROVED if enough else machine.REVIEW,
                now=now,
                next_action_at=now if enough else row.next_action_at,
                actor=person,
                session_key=session_key,
                evidence={
                    "approvals": people,
                    "needed": row.quorum_required,
                    "digest": row.digest,
                    **confirmation.evidence(),
                },
                **({"decided_by": person, "decided_at": now, "last_problem": ""} if enough else {}),
            )
            announcements.announce("approvals", transfer=row.pk)
    except moves.CannotMove:
        raise CannotApprove(_faster(transfer_id)) from None
    return row


def reject(*, transfer_id: int, person: "Person", reason: str, now: datetime, session_key: str = "") -> Transfer:
    """One person's no: nothing is sent. It needs a reason and no second factor."""
    reason = reason.strip()[:LONGEST_COMMENT]
    if not reason:
        raise CannotApprove("Say why you reject it; the person who asked will read it.")
    try:
        with transaction.atomic():
            row = _locked(transfer_id)
            _refuse_person(row, person)
            if row.state != machine.REVIEW:
                raise CannotApprove(_nothing_to_decide(row))
            keep(row, person, TransferApproval.REJECT, reason, now=now)
            moves.move(
                row,
                event="rejected",
                to=machine.REJECTED,
                now=now,
                actor=person,
                session_key=session_key,
                evidence={"reason": reason},
                last_problem=f"Rejected by {person}: {reason}"[:500],
                decided_by=person,
                decided_at=now,
            )
            announcements.announce("approvals", transfer=row.pk)
    except moves.CannotMove:
        raise CannotApprove(_faster(transfer_id)) from None
    return row


def waiting_for(person: "Person") -> QuerySet[Transfer]:
    """What this person can approve now, the oldest first."""
    return BALLOT.waiting_for(person, undecided(), _words_of(person))


def waiting_for_each(people: "Iterable[Person]") -> "Iterator[tuple[Person, list[Transfer]]]":
    """What each of these people can approve now."""
    words = BALLOT.of_all(verdict=TransferApproval.APPROVE).filter(stage=TransferApproval.REVIEW)
    return BALLOT.waiting_for_each(people, undecided(), words)


def waiting_for_others(person: "Person") -> QuerySet[Transfer]:
    """What waits for approvals that this person can't give: their own requests, and what they approved already."""
    return BALLOT.waiting_for_others(person, undecided(), _words_of(person))


def undecided() -> QuerySet[Transfer]:
    """Everything that waits for approvals, the oldest first."""
    return (
        Transfer.objects.filter(state=machine.REVIEW)
        .select_related("account", "initiator")
        .order_by("created_at", "pk")
    )


def current(row: Transfer) -> QuerySet[TransferApproval]:
    """The approvals that count now: on the row's digest, by active people of treasury who did not ask for it.

    One that was given while its person rested after a change of factors never counts.
    """
    words = BALLOT.counting(row, stage=TransferApproval.REVIEW, verdict=TransferApproval.APPROVE)
    return words.select_related("person")


def stands(row: Transfer) -> bool:
    """Whether the quorum still stands: as many people as the rules asked for, who still may approve."""
    return current(row).values("person").distinct().count() >= row.quorum_required


def keep(
    row: Transfer,
    person: "Person",
    verdict: str,
    comment: str,
    *,
    now: datetime,
    stage: str = TransferApproval.REVIEW,
    confirmation: Any = None,
) -> None:
    """Keep a person's word; CannotApprove when they gave it before."""
    try:
        BALLOT.keep(row, person, stage=stage, verdict=verdict, comment=comment, now=now, confirmation=confirmation)
    except votes.AlreadyGiven:
        raise CannotApprove("You decided on this already; it waits for somebody else.") from None


def _words_of(person: "Person") -> QuerySet[TransferApproval]:
    return BALLOT.of(person, verdict=TransferApproval.APPROVE).filter(stage=TransferApproval.REVIEW)


def _refuse_unless_open(row: Transfer, person: "Person", digest: str, now: datetime) -> None:
    _refuse_person(row, person)
    if resting := factors.why_resting(person, now=now):
        raise CannotApprove(resting)
    if row.state != machine.REVIEW:
        raise CannotApprove(_nothing_to_decide(row))
    if freezes.active(row.account) is not None:
        raise CannotApprove("The account is frozen, so nothing can be approved. Two people of treasury can end that.")
    if digest != row.digest or not judging.still_holds(row):
        raise CannotApprove("This is not what you saw: the request or the rules changed. Read it again, then decide.")


def _refuse_person(row: Transfer, person: "Person") -> None:
    if person.pk == row.initiator_id:
        raise CannotApprove("You asked for this transfer yourself, so somebody else has to decide on it.")
    if not rules.may_decide_transfer(person, row):
        raise CannotApprove("Only treasury decides on transfers to others.")


def _locked(transfer_id: int) -> Transfer:
    try:
        return moves.lock(transfer_id)
    except Transfer.DoesNotExist:
        raise CannotApprove("There is no such transfer.") from None


def _faster(transfer_id: int) -> str:
    return _nothing_to_decide(Transfer.objects.select_related("decided_by").get(pk=transfer_id))


def _nothing_to_decide(row: Transfer) -> str:
    if row.state == machine.REVIEW:
        return "Somebody else acted on it in the same moment. Read it again, then decide."
    if row.decided_at is not None:
        return f"Already decided by {row.decided_by} at {row.decided_at:%H:%M:%S} UTC: {row.label.lower()}."
    return f"There is nothing to decide: {row.label[0].lower()}{row.label[1:]}."
