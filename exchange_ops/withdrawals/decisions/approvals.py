"""What people decide about a withdrawal: approve, reject, recall. Each decision is made once, by whoever is first.

An approval is bound to the digest of exactly what was on the screen, never given by the requester, and confirmed with a
second factor in the same transaction. The quorum is counted under the version of the row: when two last approvals
arrive at once, one commits the decision and the other is told who was faster.
"""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import F, Q, QuerySet

from desk.audit.words import SYSTEM
from desk.machines import votes
from desk.machines.decisions import Act, Decisions
from desk.machines.table import NONE
from desk.people import roles
from exchange_ops.policy import freezes, modes
from exchange_ops.policy.groups import needs as group_needs
from exchange_ops.policy.groups.needs import Tally
from exchange_ops.shared import clocks
from exchange_ops.withdrawals import machine, rules, states
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.decisions.intent import Intent
from exchange_ops.withdrawals.models import Approval, Withdrawal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from desk.models import Person

PURPOSE = "approve-withdrawal"
HELD_PURPOSE: Final = "approve-held-withdrawal"  # so that a factor given before the hold never releases one
NOT_SEEN: Final = "The request or the policy changed after you opened it. Refresh, then decide."
BALLOT: Final = votes.Ballot(Approval, "withdrawal", PURPOSE, roles.TREASURY)
_BALLOTS: Final = {Approval.REVIEW: BALLOT, Approval.RELEASE: replace(BALLOT, purpose=HELD_PURPOSE)}
_OF_THIS_STAGE: Final = Q(stage=Approval.REVIEW, withdrawal__state=states.REVIEW) | Q(
    stage=Approval.RELEASE, withdrawal__state=states.HELD
)
_OUTCOMES = {states.COMMIT: "approved", states.ROLLBACK: "to be released"}


class CannotApprove(Exception):
    """The decision was not taken; the text is the sentence for the person."""


def approve(
    *,
    withdrawal_id: int,
    person: "Person",
    digest: str,
    answer: dict[str, Any],
    comment: str,
    session_key: str,
    now: datetime,
    purpose: str = "",
) -> Withdrawal:
    """One person's approval of the content of `digest`; the last one needed latches the decision to pay.

    The second factor is for the digest, the comment and what `purpose_of` the row gives (`signed_lists.terms_of`). With
    a `purpose`, that of the page, only the stage that it belongs to is approved. Raises CannotApprove with the reason,
    or `stepup.CannotConfirm` when the second factor was not accepted.
    """
    act = Act(person, now, session_key, comment, digest, answer)
    with DECISIONS.on(withdrawal_id) as row:
        _refuse_unless_open(row, act)
        if purpose not in {"", purpose_of(row)}:
            raise CannotApprove(NOT_SEEN)
        confirmation = replace(DECISIONS, purpose=purpose_of(row)).confirm_approval(row, act)
        DECISIONS.keep(row, act, stage=stage_of(row), verdict=Approval.APPROVE, confirmation=confirmation)
        _count(row, act, confirmation.evidence())
    return row


def reject(
    *, withdrawal_id: int, person: "Person", reason: str, now: datetime, session_key: str = "", digest: str = ""
) -> Withdrawal:
    """One person's rejection: nothing is paid and a hold is released. It needs a reason but no second factor.

    With a `digest` only the content of that digest is rejected.
    """
    reason = DECISIONS.reason(reason, asks="Enter a reason for the rejection; the requester will see it.")
    act = Act(person, now, session_key, reason)
    with DECISIONS.on(withdrawal_id) as row:
        _refuse_person(row, person)
        if row.state not in {states.REVIEW, states.HELD} or row.decision != NONE:
            raise CannotApprove(_decided(row))
        if digest not in {"", row.digest}:
            raise CannotApprove(NOT_SEEN)
        DECISIONS.keep(row, act, stage=stage_of(row), verdict=Approval.REJECT)
        _end(row, act, event="rejected")
    return row


def recall(*, withdrawal_id: int, person: "Person", reason: str, now: datetime, session_key: str = "") -> Withdrawal:
    """Recall an approval: only as long as the exchange was never told to pay."""
    act = Act(person, now, session_key, DECISIONS.reason(reason, asks="Enter a reason for recalling the approval."))
    with DECISIONS.on(withdrawal_id) as row:
        if not person.has_role(roles.TREASURY, scope=row.scope):
            raise CannotApprove("Only treasury can recall an approval.")
        if row.state != states.COMMITTING or row.put_count:
            raise CannotApprove(
                "The approval can no longer be recalled: the payment order was sent to the exchange."
                if row.put_count
                else _decided(row)
            )
        _end(row, act, event="recalled")
    return row


def waiting() -> votes.Waiting[Withdrawal]:
    """Who can approve what now, the one that closes first at the top."""
    counting = BALLOT.on_row(verdict=Approval.APPROVE).filter(_OF_THIS_STAGE)
    return votes.Waiting(BALLOT, undecided(), counting, _helps)


def _helps(rows: QuerySet[Withdrawal]) -> "dict[int, Callable[[int], bool]]":
    """For those of these payouts that need approvals of groups, whom they wait for."""
    needing = rows.filter(group_needs__isnull=False)
    return {number: tally.helps for number, tally in tallies(needing).items()}


def tallies(rows: "Iterable[Withdrawal]") -> dict[int, Tally]:
    """How far the approvals are of those of these payouts that are undecided, by number."""
    open_rows = [row for row in rows if row.state in {states.REVIEW, states.HELD} and row.decision == NONE]
    stages = (Approval.REVIEW, Approval.RELEASE) if open_rows else ()
    reviewed, released = [counting_by_row(open_rows, stage) for stage in stages] or ({}, {})
    return {row.pk: tally_of(row, reviewed=reviewed, released=released) for row in open_rows}


def tally_of(
    row: Withdrawal, *, reviewed: "Mapping[int, Collection[Approval]]", released: "Mapping[int, Collection[Approval]]"
) -> Tally:
    """How far the approvals of this row are, by what `counting_by_row` gave for each stage."""
    by_stage = {"reviewed": reviewed, "released": released}
    return tally(row, **{stage: [vote.person_id for vote in of.get(row.pk, ())] for stage, of in by_stage.items()})


def undecided() -> QuerySet[Withdrawal]:
    """Everything that waits for approvals, with the next to close first."""
    open_now = Q(state=states.REVIEW) | Q(state=states.HELD, echo_ok=True)
    rows = Withdrawal.objects.filter(open_now, decision=NONE).select_related("account", "initiator")
    return rows.order_by(F("approve_until").asc(nulls_last=True), "created_at")


def current(row: Withdrawal) -> QuerySet[Approval]:
    """The approvals that count for this row now: on its digest, by people who still have the role."""
    return valid(row, stage_of(row))


def tally(row: Withdrawal, *, reviewed: Collection[int], released: Collection[int]) -> Tally:
    """How far the approvals are that the row waits for, of its stage. Given are the people whose approvals are valid,
    before the hold and of it.

    Where the quorum was reached before the hold, the release needs one approval, by anybody of treasury. Where those
    approvals don't count any more, since the fee rose or somebody lost the role, it needs the whole quorum.
    """
    needs, quorum = group_needs.from_json(row.group_needs), max(row.quorum_required, 1)
    before = Tally(needs, quorum, frozenset(reviewed))
    if row.state == states.REVIEW:
        return before
    if row.mode == modes.APPROVE_THEN_HOLD and before.is_reached:
        return Tally((), 1, frozenset(released), is_final=True)
    return Tally(needs, quorum, frozenset(released))


def tally_now(row: Withdrawal) -> Tally:
    """How far the approvals are that count for this row now."""
    return tally(row, **voters(row))


def voters(row: Withdrawal) -> dict[str, frozenset[int]]:
    """The people whose approvals count for this row now, as `tally` is asked."""
    return _by_stage(row, valid)


def counting_by_row(rows: "Iterable[Withdrawal]", stage: str) -> dict[int, list[Approval]]:
    """The approvals of this stage that count for each of these rows, by number, one for each person."""
    return _BALLOTS[stage].counting_by_row(rows, stage=stage, verdict=Approval.APPROVE)


def stage_of(row: Withdrawal) -> str:
    """The stage that an approval given now belongs to."""
    return Approval.REVIEW if row.state == states.REVIEW else Approval.RELEASE


def purpose_of(row: Withdrawal) -> str:
    """What a second factor for an approval given now is for: the approval before the hold, or the one of a held row."""
    return _BALLOTS[stage_of(row)].purpose


def valid(row: Withdrawal, stage: str) -> QuerySet[Approval]:
    """Proven approvals of one stage on the row's digest, by active people of treasury other than the requester."""
    return _BALLOTS[stage].counting(row, stage=stage, verdict=Approval.APPROVE)


def stand(row: Withdrawal) -> bool:
    """Whether as many people as the rules require, and of each group as many, have provably approved exactly this.

    Checked once more right before the exchange is told to pay. Somebody who has lost the role since still counts: the
    decision was made. What was written around the desk never counts.
    """
    if not policy_evaluation.is_signed(row):
        return False
    return tally(row, **_by_stage(row, _proven)).is_reached


def proven_people(row: Withdrawal, stage: str, *, until: datetime) -> frozenset[int]:
    """The people who had provably approved the content that `row` carries, by a moment.

    Whether each of them still held the role then is not asked: roles are counted as they are now.
    """
    return votes.voters(_proven(row, stage).filter(at__lte=until))


def _by_stage(
    row: Withdrawal, votes_of: "Callable[[Withdrawal, str], QuerySet[Approval]]"
) -> dict[str, frozenset[int]]:
    """The people whose votes `votes_of` gives, at each stage that decides about the row as it is."""
    is_review, nobody = row.state == states.REVIEW, frozenset[int]()
    before = is_review or row.mode == modes.APPROVE_THEN_HOLD
    return {
        "reviewed": votes.voters(votes_of(row, Approval.REVIEW)) if before else nobody,
        "released": nobody if is_review else votes.voters(votes_of(row, Approval.RELEASE)),
    }


def _proven(row: Withdrawal, stage: str) -> QuerySet[Approval]:
    return _BALLOTS[stage].proven(row, stage=stage, verdict=Approval.APPROVE)


def _refuse_unless_open(row: Withdrawal, act: Act) -> None:
    _refuse_person(row, act.person)
    DECISIONS.refuse_while_cooling_off(act)
    if not rules.is_decidable(row):
        raise CannotApprove(_decided(row))
    closes = row.approve_until if row.state == states.HELD else None
    if closes is not None and clocks.exchange_now(account=row.account, now=act.now) >= closes:
        raise CannotApprove(
            f"Approvals closed at {closes:%H:%M:%S} UTC, seven minutes before the exchange's "
            "deadline. The funds are being released; you can request the payout again."
        )
    if problem := freezes.no_approval(row.movement):
        raise CannotApprove(problem)
    if act.digest != row.digest or not policy_evaluation.still_holds(row):
        raise CannotApprove(NOT_SEEN)
    if problem := policy_evaluation.rejection(Intent.of(row, fee=row.known_fee), now=act.now):
        raise CannotApprove(f"Not approved. {problem}")
    if row.group_needs and (problem := tally_now(row).refusal(act.person.pk)):
        raise CannotApprove(f"Not approved. {problem}")


def _refuse_person(row: Withdrawal, person: "Person") -> None:
    if person.pk == row.initiator_id:
        raise CannotApprove("You requested this payout, so another treasurer must decide.")
    if not rules.may_decide(person, row):
        raise CannotApprove("Only treasury can decide on payouts.")


def _count(row: Withdrawal, act: Act, proof: dict[str, Any]) -> None:
    """Record the approval on the row and, if it was the last one needed, the decision with it."""
    now = tally_now(row)
    evidence = {"approvals": now.counted, "needed": now.needed, "digest": row.digest, **proof}
    moved: dict[str, Any] = {**act.moved, "evidence": evidence}
    if not now.is_reached:
        machine.move(row, event="approval_recorded", to=row.state, next_action_at=row.next_action_at, **moved)
    elif row.state == states.REVIEW:
        machine.move(row, event="quorum_reached", to=states.QUEUED, **moved)
    else:
        decision: dict[str, Any] = {"decision": states.COMMIT, "decided_by": act.person, "decided_at": act.now}
        machine.move(row, event="quorum_reached", to=states.COMMITTING, last_problem="", **decision, **moved)


def _end(row: Withdrawal, act: Act, *, event: str) -> None:
    to = states.CANCELLED if row.state == states.REVIEW else states.ROLLING_BACK
    decision: dict[str, Any] = {"decision": states.ROLLBACK, "decided_by": act.person, "decided_at": act.now}
    machine.move(
        row,
        event=event,
        to=to,
        evidence={"reason": act.comment},
        last_problem=f"{event.capitalize()} by {act.person}: {act.comment}"[:500],
        **({} if to == states.CANCELLED else decision),
        **act.moved,
    )


def _decided(row: Withdrawal) -> str:
    """Why there is nothing to decide: who was faster, or what the row waits for."""
    if row.decision != NONE and row.decided_at is not None:
        who = str(row.decided_by) if row.decided_by_id else SYSTEM
        return f"Already decided by {who} at {row.decided_at:%H:%M:%S} UTC: {_OUTCOMES[row.decision]}."
    if row.state == states.HELD and row.echo_ok is None:
        return "You can't approve yet: the exchange's record is still being checked. Try again in a few seconds."
    if row.state in {states.REVIEW, states.HELD}:
        return "A colleague has just acted on this payout. Refresh, then decide."
    return f"No decision needed: {row.label[0].lower()}{row.label[1:]}."


DECISIONS: Final = Decisions(
    PURPOSE,
    CannotApprove,
    machine.MACHINE,
    missing="Request not found.",
    why_over=_decided,
    ballot=BALLOT,
    given_already="Your decision is already recorded; another treasurer must also decide.",
)
