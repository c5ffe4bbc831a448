"""What people decide about a transfer to somebody else before it is sent: approve or reject.

The rules are those of payouts: an approval is bound to the digest of exactly what was on the screen, never given by the
requester, and confirmed with a second factor in the same transaction. The quorum is counted under the version of the
row, and the database counts once more when the transfer begins to be sent.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import QuerySet

from desk.machines import votes
from desk.machines.decisions import Act, Decisions
from desk.people import roles
from exchange_ops.policy import freezes
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Tally
from exchange_ops.transfers import machine, policy_evaluation, rules, states
from exchange_ops.transfers.models import Transfer, TransferApproval
from exchange_ops.withdrawals.decisions import policy_evaluation as payout_evaluation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from desk.models import Person

PURPOSE = "approve-transfer"
NOT_SEEN: Final = "The request or the policy changed after you opened it. Refresh, then decide."
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
    """One person's approval of the content of `digest`; after the last one needed a worker may send it.

    The second factor is for `PURPOSE`, the row's digest and the comment (`signed_lists.terms_of`). Raises CannotApprove
    with the reason, or `stepup.CannotConfirm` when the second factor was not accepted.
    """
    act = Act(person, now, session_key, comment, digest, answer)
    with DECISIONS.on(transfer_id) as row:
        _refuse_unless_open(row, act)
        confirmation = DECISIONS.confirm_approval(row, act)
        DECISIONS.keep(
            row, act, stage=TransferApproval.REVIEW, verdict=TransferApproval.APPROVE, confirmation=confirmation
        )
        now_given = tally(row)
        enough = now_given.is_reached
        decision: dict[str, Any] = {"decided_by": person, "decided_at": now, "last_problem": ""}
        machine.move(
            row,
            event="quorum_reached" if enough else "approval_recorded",
            to=states.APPROVED if enough else states.REVIEW,
            next_action_at=now if enough else row.next_action_at,
            evidence={
                "approvals": now_given.counted,
                "needed": row.quorum_required,
                "digest": row.digest,
                **confirmation.evidence(),
            },
            **(decision if enough else {}),
            **act.moved,
        )
    return row


def reject(
    *, transfer_id: int, person: "Person", reason: str, now: datetime, session_key: str = "", digest: str = ""
) -> Transfer:
    """One person's rejection: nothing is sent. It needs a reason but no second factor.

    With a `digest` only the content of that digest is rejected.
    """
    reason = DECISIONS.reason(reason, asks="Enter a reason for the rejection; the requester will see it.")
    act = Act(person, now, session_key, reason)
    with DECISIONS.on(transfer_id) as row:
        _refuse_person(row, person)
        if row.state != states.REVIEW:
            raise CannotApprove(_nothing_to_decide(row))
        if digest not in {"", row.digest}:
            raise CannotApprove(NOT_SEEN)
        DECISIONS.keep(row, act, stage=TransferApproval.REVIEW, verdict=TransferApproval.REJECT)
        machine.move(
            row,
            event="rejected",
            to=states.REJECTED,
            evidence={"reason": reason},
            last_problem=f"Rejected by {person}: {reason}"[:500],
            decided_by=person,
            decided_at=now,
            **act.moved,
        )
    return row


def waiting() -> votes.Waiting[Transfer]:
    """Who can approve what now, the oldest first."""
    approvals = BALLOT.on_row(verdict=TransferApproval.APPROVE).filter(stage=TransferApproval.REVIEW)
    return votes.Waiting(BALLOT, undecided(), approvals, _helps)


def _helps(rows: QuerySet[Transfer]) -> "dict[int, Callable[[int], bool]]":
    needing = rows.filter(group_needs__isnull=False)
    return {number: tally.helps for number, tally in tallies(needing).items()}


def tallies(rows: "Iterable[Transfer]") -> dict[int, Tally]:
    """How far the approvals are of those of these transfers that are undecided, by number."""
    open_rows = [row for row in rows if row.state == states.REVIEW]
    by_row = counting_by_row(open_rows)
    return {row.pk: tally_of(row, [vote.person_id for vote in by_row.get(row.pk, ())]) for row in open_rows}


def undecided() -> QuerySet[Transfer]:
    """Everything that waits for approvals, the oldest first."""
    return (
        Transfer.objects.filter(state=states.REVIEW).select_related("account", "initiator").order_by("created_at", "pk")
    )


def current(row: Transfer) -> QuerySet[TransferApproval]:
    """The approvals that count now: on the row's digest, by active people of treasury other than the requester.

    One that was given in the waiting time after a change of factors never counts.
    """
    approvals = BALLOT.counting(row, stage=TransferApproval.REVIEW, verdict=TransferApproval.APPROVE)
    return approvals.select_related("person")


def counting_by_row(rows: "Iterable[Transfer]") -> dict[int, list[TransferApproval]]:
    """The approvals that count for each of these rows, by number, one for each person."""
    return BALLOT.counting_by_row(rows, stage=TransferApproval.REVIEW, verdict=TransferApproval.APPROVE)


def stands(row: Transfer) -> bool:
    """Whether as many people as the rules require, of each group as many as they require, have approved it and may
    still approve."""
    return tally(row).is_reached


def tally(row: Transfer) -> Tally:
    """How far the approvals are that count for this transfer now."""
    return tally_of(row, votes.voters(current(row)))


def tally_of(row: Transfer, voters: "Iterable[int]") -> Tally:
    """How far the approvals are where those of these people are valid."""
    return Tally(group_needs.from_json(row.group_needs), row.quorum_required, frozenset(voters))


def _refuse_unless_open(row: Transfer, act: Act) -> None:
    _refuse_person(row, act.person)
    DECISIONS.refuse_while_cooling_off(act)
    if row.state != states.REVIEW:
        raise CannotApprove(_nothing_to_decide(row))
    if problem := freezes.no_approval(row.movement):
        raise CannotApprove(problem)
    if act.digest != row.digest or not policy_evaluation.still_holds(row):
        raise CannotApprove(NOT_SEEN)
    if problem := payout_evaluation.rejection(policy_evaluation.intent_of(row), now=act.now):
        raise CannotApprove(f"Not approved. {problem}")
    if row.group_needs and (problem := tally(row).refusal(act.person.pk)):
        raise CannotApprove(f"Not approved. {problem}")


def _refuse_person(row: Transfer, person: "Person") -> None:
    if person.pk == row.initiator_id:
        raise CannotApprove("You requested this transfer, so another treasurer must decide.")
    if not rules.may_decide_transfer(person, row):
        raise CannotApprove("Only treasury can decide on transfers to other users.")


def _nothing_to_decide(row: Transfer) -> str:
    if row.state == states.REVIEW:
        return "A colleague has just acted on this transfer. Refresh, then decide."
    if row.decided_at is not None:
        return f"Already decided by {row.decided_by} at {row.decided_at:%H:%M:%S} UTC: {row.label.lower()}."
    return f"No decision needed: {row.label[0].lower()}{row.label[1:]}."


DECISIONS: Final = Decisions(
    PURPOSE,
    CannotApprove,
    machine.MACHINE,
    missing="Transfer not found.",
    why_over=_nothing_to_decide,
    ballot=BALLOT,
    given_already="Your decision is already recorded; another treasurer must also decide.",
)
