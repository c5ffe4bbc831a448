"""What people decide about an order beyond a limit: approve, decline, take it back; or its time runs out.

The rules are those of payouts: an approval is bound to the digest of exactly what was asked for, never given by the one
who asked, and confirmed with a second factor inside the same transaction. The market has moved meanwhile, so the funds
and every bound are judged again; what is farther than who asked confirmed, the approver confirms by name. An approved
order is placed once, like every other. One that nobody decides on lapses, and nothing is sent.
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
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Symbol
from exchange_ops.orders import machine, mover, policy_checks, request_checks
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
BALLOT: Final = votes.Ballot(OrderApproval, "order", PURPOSE, roles.TREASURY)


class CannotDecide(Exception):
    """The decision was not taken; the text is the sentence for the person."""


class NotConfirmed(CannotDecide):
    """What the market did since has to be confirmed by name first."""


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
    """One person's approval of the content of `digest`; a worker places it. `confirmed` are tokens of oversteps.

    The second factor is for `PURPOSE` and the digest. Raises CannotDecide, or `stepup.CannotConfirm`.
    """
    act = Act(person, now, session_key, comment, digest, answer)
    with DECISIONS.on(order_id) as row:
        _refuse_unless_open(row, act)
        found = _judged_again(row, confirmed=confirmed, now=now)
        confirmation = DECISIONS.confirm(act)
        DECISIONS.keep(row, act, stage=OrderApproval.REVIEW, verdict=OrderApproval.APPROVE, confirmation=confirmation)
        mover.move(
            row,
            event="quorum_reached",
            to=machine.REQUESTED,
            evidence={
                "approvals": NEEDED,
                "needed": NEEDED,
                "digest": row.digest,
                "oversteps": [each.fact for each in found],
                **confirmation.evidence(),
            },
            decided_by=person,
            decided_at=now,
            **act.moved,
        )
    return row


def decline(*, order_id: int, person: "Person", reason: str, now: datetime, session_key: str = "") -> Order:
    """One person's no: nothing is placed. It needs a reason and no second factor."""
    reason = DECISIONS.reason(reason, asks="Say why you decline it; the person who asked will read it.")
    act = Act(person, now, session_key, reason)
    with DECISIONS.on(order_id) as row:
        _refuse_person(row, person)
        if row.state != machine.WAITING:
            raise CannotDecide(_nothing_to_decide(row))
        DECISIONS.keep(row, act, stage=OrderApproval.REVIEW, verdict=OrderApproval.REJECT)
        _end(row, act, event="declined", to=machine.DECLINED)
    return row


def withdraw(*, order_id: int, person: "Person", reason: str = "", now: datetime, session_key: str = "") -> Order:
    """Who asked takes it back; nothing is placed."""
    act = Act(person, now, session_key, reason.strip()[:LONGEST_COMMENT])
    with DECISIONS.on(order_id) as row:
        if not may_withdraw(person, row):
            raise CannotDecide("Only the person who asked for it can take it back.")
        if row.state != machine.WAITING:
            raise CannotDecide(_nothing_to_decide(row))
        _end(row, act, event="withdrawn", to=machine.WITHDRAWN)
    return row


def lapse(row: Order, *, now: datetime, client_for: ClientFor) -> None:
    """Row 24: its time is over; until then it waits."""
    if row.approve_until is None or now < row.approve_until:
        mover.touch(row, next_action_at=row.approve_until or now + APPROVE_WITHIN)
        return
    with transaction.atomic():
        mover.move(row, event="lapsed", to=machine.LAPSED, now=now, next_action_at=None)
        decisions.announce(row)


def stands(row: Order) -> bool:
    """Whether the order needs no approval, or has that of somebody who may still give it, on this very content."""
    if not row.digest:
        return True
    words = BALLOT.counting(row, stage=OrderApproval.REVIEW, verdict=OrderApproval.APPROVE)
    return digests.is_of(row.digest, row) and votes.people(words) >= NEEDED


def undecided() -> QuerySet[Order]:
    """Everything that waits for an approval, the oldest first."""
    return (
        Order.objects.filter(state=machine.WAITING).select_related("account", "initiator").order_by("created_at", "pk")
    )


def waiting() -> votes.Waiting[Order]:
    """Who can approve what now, the oldest first."""
    return votes.Waiting(BALLOT, undecided(), BALLOT.on_row(verdict=OrderApproval.APPROVE))


def may_decide(person: "Person", row: Order) -> bool:
    """Treasury of the account decides, never on what they asked for themselves."""
    return rules.may(person, roles.TREASURY, at=row.account_id) and person.pk != row.initiator_id


def may_withdraw(person: "Person", row: Order) -> bool:
    """Who asked for it takes it back."""
    return person.pk == row.initiator_id and rules.may_trade(person, row.account_id)


def oversteps(row: Order, *, now: datetime) -> list[Overstep]:
    """The bounds that the order goes beyond by the market and the rules of this moment."""
    symbol = Symbol.objects.filter(pk=row.symbol).first()
    if symbol is None or row.initiator is None:
        return []
    return policy_checks.oversteps(
        initiator=row.initiator, account=row.account, symbol=symbol, wanted=request_checks.wanted_by(row), now=now
    )


def to_confirm(row: Order, found: Iterable[Overstep], *, confirmed: Collection[str] = ()) -> list[Overstep]:
    """Of these what is to be confirmed, and goes farther than who asked confirmed, or these tokens do."""
    tokens = [each["up_to"] for each in row.oversteps] + list(confirmed)
    return bounds.unconfirmed(found, confirmed=tokens)


def _judged_again(row: Order, *, confirmed: Collection[str], now: datetime) -> list[Overstep]:
    wanted = request_checks.wanted_by(row)
    if row.initiator is None:
        raise CannotDecide("It was placed elsewhere.")
    try:
        found = policy_checks.check(initiator=row.initiator, account=row.account, wanted=wanted, now=now)
    except request_checks.CannotPlace as problem:
        raise CannotDecide(f"It can't be placed any more. {problem}") from None
    if missing := to_confirm(row, found, confirmed=confirmed):
        raise NotConfirmed(f"The market moved. Confirm by name, then approve it. {bounds.named(missing)}")
    return found


def _end(row: Order, act: Act, *, event: str, to: str) -> None:
    label = row.table.states[to].label
    mover.move(
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
    if row.state != machine.WAITING:
        raise CannotDecide(_nothing_to_decide(row))
    if row.approve_until is None or act.now >= row.approve_until:
        raise CannotDecide("Its time for an approval is over: nothing is placed. It can be asked for again.")
    if freezes.active(row.account) is not None:
        raise CannotDecide("The account is frozen, so nothing can be approved. Two people of treasury can end that.")
    if act.digest != row.digest or not digests.is_of(row.digest, row):
        raise CannotDecide("This is not what you saw. Read it again, then decide.")


def _refuse_person(row: Order, person: "Person") -> None:
    if person.pk == row.initiator_id:
        raise CannotDecide("You asked for this order yourself, so somebody else has to decide on it.")
    if not may_decide(person, row):
        raise CannotDecide("Only treasury decides on orders beyond a limit.")


def _nothing_to_decide(row: Order) -> str:
    if row.state == machine.WAITING:
        return "Somebody else acted on it in the same moment. Read it again, then decide."
    if row.decided_at is not None:
        return f"Already decided by {row.decided_by} at {row.decided_at:%H:%M:%S} UTC."
    return f"There is nothing to decide: {row.label[0].lower()}{row.label[1:]}."


DECISIONS: Final = Decisions(
    PURPOSE,
    CannotDecide,
    mover.MACHINE,
    missing="There is no such order.",
    why_over=_nothing_to_decide,
    ballot=BALLOT,
    given_already="You decided on this already.",
)
