"""Decisions about an order beyond a limit: somebody approves or declines it, its requester withdraws it, or it lapses.

The rules are those of payouts: an approval is bound to the digest of exactly what was requested, never comes from the
requester, and is confirmed with a second factor inside the same transaction. The market has moved meanwhile, so funds
and bounds are checked again; where the order now exceeds a bound by more than its requester confirmed, the approver
confirms that by name. An approved order is placed once, like any other. If nobody decides in time, nothing is sent.
"""

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import QuerySet

from desk.machines import decisions, votes
from desk.machines.decisions import Act, Decisions
from desk.machines.votes import LONGEST_COMMENT
from desk.people import roles
from desk.people.signing import signed_fields
from desk.restores.of_machine import left_to_people
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Symbol
from exchange_ops.orders import machine, policy_checks, request_checks, states
from exchange_ops.orders.decisions import digest as digests
from exchange_ops.orders.models import Order, OrderApproval
from exchange_ops.policy import freezes
from exchange_ops.policy import oversteps as bounds
from exchange_ops.policy.oversteps import Overstep
from exchange_ops.shared import rules

if TYPE_CHECKING:
    from desk.models import Person

PURPOSE: Final = "approve-order"
APPROVE_WITHIN: Final = timedelta(minutes=30)
NEEDED: Final = 1
NOT_SEEN: Final = "The order changed after you opened it. Refresh, then decide."
OLDER_FORM: Final = (
    "Nothing was placed. The order was requested in an earlier version of Countersign, in which an approval did not "
    "cover its stop and take profit, so it can no longer be approved. Treasury can reject it, or its requester can "
    "withdraw it; an operator can then request it again."
)
BALLOT: Final = votes.Ballot(OrderApproval, "order", PURPOSE, roles.TREASURY)


class CannotDecide(Exception):
    """The decision was not taken; the text is the sentence for the person."""


class NotConfirmed(CannotDecide):
    """The market moved since the request, and that has to be confirmed by name first."""


def approve(
    *,
    order_id: int,
    person: "Person",
    digest: str,
    answer: dict[str, Any],
    comment: str,
    session_key: str,
    now: datetime,
    confirmed: Collection[str] = (),
) -> Order:
    """Approve the content of `digest`; a worker then places the order. `confirmed` are tokens of oversteps.

    The second factor is for `PURPOSE`, the digest, the comment and those tokens (`signed_lists.terms_of`). Raises
    CannotDecide, or `stepup.CannotConfirm`.
    """
    act = Act(person, now, session_key, comment, digest, answer)
    with DECISIONS.on(order_id) as row:
        _refuse_unless_open(row, act)
        oversteps = _check_again(row, confirmed=confirmed, now=now)
        confirmation = DECISIONS.confirm_approval(row, act, confirmed=signed_fields.as_text(confirmed))
        DECISIONS.keep(row, act, stage=OrderApproval.REVIEW, verdict=OrderApproval.APPROVE, confirmation=confirmation)
        machine.move(
            row,
            event="quorum_reached",
            to=states.REQUESTED,
            evidence={
                "approvals": NEEDED,
                "needed": NEEDED,
                "digest": row.digest,
                "oversteps": [each.fact for each in oversteps],
                **confirmation.evidence(),
            },
            decided_by=person,
            decided_at=now,
            **act.moved,
        )
    return row


def decline(
    *, order_id: int, person: "Person", reason: str, now: datetime, session_key: str = "", digest: str = ""
) -> Order:
    """Decline the order, so that nothing is placed. It takes a reason and no second factor.

    With a `digest` only the content of that digest is declined.
    """
    reason = DECISIONS.reason(reason, asks="Enter a reason for the rejection; the requester will see it.")
    act = Act(person, now, session_key, reason)
    with DECISIONS.on(order_id) as row:
        _refuse_person(row, person)
        if row.state != states.WAITING:
            raise CannotDecide(_nothing_to_decide(row))
        if digest not in {"", row.digest}:
            raise CannotDecide(NOT_SEEN)
        DECISIONS.keep(row, act, stage=OrderApproval.REVIEW, verdict=OrderApproval.REJECT)
        _end(row, act, event="declined", to=states.DECLINED)
    return row


def withdraw(*, order_id: int, person: "Person", reason: str = "", now: datetime, session_key: str = "") -> Order:
    """Withdraw one's own request; nothing is placed."""
    act = Act(person, now, session_key, reason.strip()[:LONGEST_COMMENT])
    with DECISIONS.on(order_id) as row:
        if not may_withdraw(person, row):
            raise CannotDecide("Only the requester can withdraw the order.")
        if row.state != states.WAITING:
            raise CannotDecide(_nothing_to_decide(row))
        _end(row, act, event="withdrawn", to=states.WITHDRAWN)
    return row


def lapse(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Row 24: end it when its time is over; until then it waits."""
    if row.approve_until is None or now < row.approve_until:
        machine.touch(row, next_action_at=row.approve_until or now + APPROVE_WITHIN)
        return
    if left_to_people(machine.MACHINE, row, now=now):
        return
    with transaction.atomic():
        machine.move(row, event="lapsed", to=states.LAPSED, now=now, next_action_at=None)
        decisions.announce(row)


def is_approved(row: Order) -> bool:
    """Whether it needs no approval, or has one for exactly this content from somebody who may still approve."""
    if not row.digest:
        return True
    valid_votes = BALLOT.counting(row, stage=OrderApproval.REVIEW, verdict=OrderApproval.APPROVE)
    return digests.matches(row.digest, row) and votes.people(valid_votes) >= NEEDED


def is_of_older_form(row: Order) -> bool:
    """Whether it was requested with a bracket in a version whose approvals did not cover the bracket."""
    return digests.is_of_older_form(row.digest, row)


def undecided() -> QuerySet[Order]:
    """Everything that waits for an approval, the oldest first."""
    return (
        Order.objects.filter(state=states.WAITING)
        .select_related("account", "initiator", "bracket")
        .order_by("created_at", "pk")
    )


def waiting() -> votes.Waiting[Order]:
    """Who can approve what now, the oldest first."""
    return votes.Waiting(BALLOT, undecided(), BALLOT.on_row(verdict=OrderApproval.APPROVE))


def may_decide(person: "Person", row: Order) -> bool:
    """Whether this person decides on it: treasury of the account, except for their own requests."""
    return rules.may(person, roles.TREASURY, at=row.account_id) and person.pk != row.initiator_id


def may_withdraw(person: "Person", row: Order) -> bool:
    """Whether this person requested it and may still trade on the account."""
    return person.pk == row.initiator_id and rules.may_trade(person, row.account_id)


def find_oversteps(row: Order, *, now: datetime) -> list[Overstep]:
    """The bounds that the order goes beyond, by the market and the rules as they are now."""
    symbol = Symbol.objects.filter(pk=row.symbol).first()
    if symbol is None or row.initiator is None:
        return []
    return policy_checks.find_oversteps(
        initiator=row.initiator, account=row.account, symbol=symbol, requested=request_checks.request_of(row), now=now
    )


def to_confirm(row: Order, oversteps: Iterable[Overstep], *, confirmed: Collection[str] = ()) -> list[Overstep]:
    """The oversteps that still need confirming: larger than what the requester and these tokens confirmed."""
    tokens = [each["up_to"] for each in row.oversteps] + list(confirmed)
    return bounds.unconfirmed(oversteps, confirmed=tokens)


def _check_again(row: Order, *, confirmed: Collection[str], now: datetime) -> list[Overstep]:
    requested = request_checks.request_of(row)
    if row.initiator is None:
        raise CannotDecide("This order was placed outside Countersign.")
    try:
        oversteps = policy_checks.check(initiator=row.initiator, account=row.account, requested=requested, now=now)
    except request_checks.CannotPlace as problem:
        raise CannotDecide(f"The order can no longer be placed. {problem}") from None
    if missing := to_confirm(row, oversteps, confirmed=confirmed):
        raise NotConfirmed(f"The market has moved. Confirm the following, then approve. {bounds.in_words(missing)}")
    return oversteps


def _end(row: Order, act: Act, *, event: str, to: str) -> None:
    label = row.table.states[to].label
    machine.move(
        row,
        event=event,
        to=to,
        evidence={"reason": act.comment} if act.comment else {},
        last_problem=f"{label} by {act.person}: {act.comment}"[:500] if act.comment else "",
        decided_by=act.person,
        decided_at=act.now,
        **act.moved,
    )


def _refuse_unless_open(row: Order, act: Act) -> None:
    _refuse_person(row, act.person)
    DECISIONS.refuse_while_cooling_off(act)
    if row.state != states.WAITING:
        raise CannotDecide(_nothing_to_decide(row))
    if row.approve_until is None or act.now >= row.approve_until:
        raise CannotDecide("Not placed: the approval deadline has passed. An operator can request it again.")
    if problem := freezes.no_approval(row.movement):
        raise CannotDecide(problem)
    if is_of_older_form(row):
        raise CannotDecide(OLDER_FORM)
    if act.digest != row.digest or not digests.matches(row.digest, row):
        raise CannotDecide(NOT_SEEN)


def _refuse_person(row: Order, person: "Person") -> None:
    if person.pk == row.initiator_id:
        raise CannotDecide("You requested this order, so another treasurer must decide.")
    if not may_decide(person, row):
        raise CannotDecide("Only treasury can approve or reject orders over a limit.")


def _nothing_to_decide(row: Order) -> str:
    if row.state == states.WAITING:
        return "A colleague has just acted on this order. Refresh, then decide."
    if row.decided_at is not None:
        return f"Already decided by {row.decided_by} at {row.decided_at:%H:%M:%S} UTC."
    return f"No decision needed: {row.label[0].lower()}{row.label[1:]}."


DECISIONS: Final = Decisions(
    PURPOSE,
    CannotDecide,
    machine.MACHINE,
    missing="Order not found.",
    why_over=_nothing_to_decide,
    ballot=BALLOT,
    given_already="You have already decided on this order.",
)
