"""What is under way at an exchange when a version is replaced: payouts, transfers, orders, a bracket, margin actions.

They are on the desk's first account, in front of a sandbox whose journal is recorded with them. Each is named by its
reason or its request key, so that a test finds it again: `PAYOUTS` says what has to become of each payout.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from desk import clock
from exchange_ops.market import reference
from exchange_ops.shared import public_client
from tests.exchange_ops.orders.brackets.bracketing import Bracketing
from tests.exchange_ops.orders.dealings import Dealing
from tests.exchange_ops.orders.test_approvals import approve
from tests.exchange_ops.positions.margin_desk import MarginDesk
from tests.exchange_ops.transfers.movings import OPERATIONS, Moving
from tests.exchange_ops.withdrawals.walks import OTHER_ADDRESS, Walk

# Above these the first rules need two approvals with the hold, and three before it.
FOR_TWO, FOR_THREE = Decimal(1), Decimal(20)
SMALL, MORE = Decimal("0.002"), Decimal("0.0001")  # all of them together stay in the lowest tier


def payouts(walk: Walk) -> None:
    """Payouts from the request to the end, and those whose answers were lost on the way; no two of the same amount."""
    read_prices()
    for number, (name, bring) in enumerate(PAYOUTS.items()):
        bring(walk, reason=name, amount=SMALL + MORE * number)


def read_prices() -> None:
    """As a worker does every few seconds: without a fresh price the strictest rules hold."""
    client = public_client.open_client()
    try:
        reference.refresh(client=client, now=clock.now())
    finally:
        client.close()


def _queued(walk: Walk, **terms: Any) -> Any:
    return walk.until(walk.request(**terms), "queued")


def _in_review(walk: Walk, *, people: int = 0, **terms: Any) -> Any:
    row = walk.until(
        walk.request(**terms | {"amount": terms["amount"] + FOR_THREE, "address": OTHER_ADDRESS}), "review"
    )
    for person in walk.approvers[:people]:
        row = walk.approve(row, person)
    return row


def _lost(bring: Callable[..., Any], operation: str, fault: str, **more: Any) -> Callable[..., Any]:
    """One step more, whose call fails in this way."""

    def bring_and_lose(walk: Walk, **terms: Any) -> Any:
        row = bring(walk, **terms)
        walk.fault(operation, fault, **more)
        row = walk.step(row)
        walk.heal()
        return row

    return bring_and_lose


def _rejected(walk: Walk, **terms: Any) -> Any:
    return walk.reject(walk.held(**terms))


HALF_APPROVED, NEVER_ARRIVED = "held, one of two approvals", "hold never arrived"
PAYOUTS: Mapping[str, Callable[..., Any]] = {
    "recorded": Walk.request,
    "queued": _queued,
    "in review": _in_review,
    "in review, one of three approvals": partial(_in_review, people=1),
    "queued, three approvals": partial(_in_review, people=3),
    "held, record unread": lambda walk, **terms: walk.until(walk.request(**terms), "held"),
    "held": Walk.held,
    "approved, not sent": Walk.committing,
    "order to pay not taken": _lost(Walk.committing, "commit_withdrawal", "status", status=503),
    "order to pay, answer lost": _lost(Walk.committing, "commit_withdrawal", "drop_after"),
    "hold, answer lost": _lost(_queued, "create_withdrawal", "drop_after"),
    NEVER_ARRIVED: _lost(_queued, "create_withdrawal", "drop_before"),
    "rejected, not released": _rejected,
    "release, answer lost": _lost(_rejected, "rollback_withdrawal", "drop_after"),
    "paid": lambda walk, **terms: walk.until(walk.committing(**terms), "committed"),
    "released": lambda walk, **terms: walk.until(_rejected(walk, **terms), "rolled_back"),
    HALF_APPROVED: lambda walk, **terms: walk.approve(walk.held(**terms | {"amount": terms["amount"] + FOR_TWO})),
}
# What an earlier version had ordered to be paid, or had paid: it is paid once, whatever this version asks for anew.
ORDERED = ("order to pay not taken", "order to pay, answer lost", "paid")
# What has all its approvals, and was not ordered to be paid; approvals before the hold leave one for the release.
APPROVED = ("approved, not sent",)
# What ends without a payment, whoever approves.
UNPAID = ("rejected, not released", "release, answer lost", "released")


# What workers make of each transfer, where no approval has to be given again.
TRANSFERS = {
    "in review": "review",
    "approved": "done",
    "approved between own wallets": "done",
    "answer lost": "done",
    "never arrived": "unknown",
    "done": "done",
}


def moves(moving: Moving) -> None:
    """Transfers: waiting for approvals, approved, sent without an answer, done."""
    moving.request("to_user", reason="in review")
    moving.approved("to_user", reason="approved", amount=Decimal("0.375"))
    moving.request("bank_to_trading", reason="approved between own wallets")
    for name, kind, fault in (
        ("answer lost", "trading_to_bank", "drop_after"),
        ("never arrived", "from_subaccount", "drop_before"),
    ):
        row = moving.request(kind, reason=name)
        moving.walk.fault(OPERATIONS[kind], fault)
        row = moving.step(row)
        assert row.state == "unknown", f"{row.state}: {row.last_problem}"
        moving.walk.heal()
    moving.until(moving.request("to_subaccount", reason="done"), "done")


# What workers make of each order.
ORDERS = {
    "requested": "placed",
    "placed": "placed",
    "answer lost": "found",
    "never arrived": "unknown",
    "cancelling": "placed",
    "waiting": "waiting",
    "approved": "placed",
}


_LITTLE = {"quantity": Decimal("0.01")}  # below the limit of the rules


def trades(walk: Walk) -> None:
    """Orders from the request on, one that waits for an approval, a bracket, and actions on a margin account."""
    dealing = Dealing(account=walk.account, sandbox=walk.sandbox, operator=walk.operator)
    read_prices()
    dealing.read_funds()
    dealing.place(request_key="requested", **_LITTLE)
    dealing.placed(request_key="placed", **_LITTLE)
    dealing.unknown("drop_after", request_key="answer lost", **_LITTLE)
    dealing.unknown("drop_before", request_key="never arrived", **_LITTLE)
    dealing.ask_to_cancel(dealing.placed(request_key="cancelling", **_LITTLE))
    for name in ("waiting", "approved"):  # beyond the limit of the rules
        row = dealing.place(request_key=name, quantity=Decimal(2), price=Decimal("0.01"))
        assert row.state == "waiting"
    approve(_Codes(walk), walk.approvers[0], row)
    brackets = Bracketing(dealing)
    brackets.ask(key="entering", **_LITTLE)
    brackets.entered(key="guarded", **_LITTLE)
    margin = MarginDesk(dealing)
    margin.done("open", key="margin account opened", amount=Decimal("0.1"))
    margin.ask("open", key="margin account requested", amount=Decimal("0.1"), symbol="BTCUSD")
    dealing.read()


class _Codes:
    """Codes of the people of the walk, as approvals of orders take them."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk

    def answer(self, person: Any, _: datetime) -> dict[str, str]:
        """One that was not used before."""
        return self._walk.answer(person)
