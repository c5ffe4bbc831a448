"""What is under way at an exchange when a version is replaced: payouts, transfers, orders, a bracket, margin actions.

They are on the desk's first account, in front of a sandbox whose journal is recorded with them. Each is named by its
reason or its request key, so that a test finds it again: `PAYOUTS` says what has to become of each payout.
"""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from tests.exchange_ops.orders.brackets.bracketing import Bracketing
from tests.exchange_ops.orders.dealings import Dealing
from tests.exchange_ops.positions.margin_desk import MarginDesk
from tests.exchange_ops.transfers.movings import Moving
from tests.exchange_ops.withdrawals.walks import Walk

# Above these the first rules need two approvals with the hold, and three before it.
FOR_TWO, FOR_THREE = Decimal(1), Decimal(20)


def payouts(walk: Walk) -> None:
    """Payouts from the request to the end, and those whose answers were lost on the way."""
    for name, bring in PAYOUTS.items():
        bring(walk, name)


def _queued(walk: Walk, name: str) -> Any:
    return walk.until(walk.request(reason=name), "queued")


def _in_review(walk: Walk, name: str) -> Any:
    return walk.until(walk.request(reason=name, amount=FOR_THREE), "review")


def _approved_first(walk: Walk, name: str, people: int) -> Any:
    row = _in_review(walk, name)
    for person in walk.approvers[:people]:
        row = walk.approve(row, person)
    return row


def _half_approved(walk: Walk, name: str) -> Any:
    row = walk.held(reason=name, amount=FOR_TWO)
    return walk.approve(row)


def _lost(walk: Walk, row: Any, operation: str, fault: str, **more: Any) -> Any:
    """One step whose call fails in this way."""
    walk.fault(operation, fault, **more)
    row = walk.step(row)
    walk.heal()
    return row


def _released(walk: Walk, name: str) -> Any:
    return walk.reject(walk.held(reason=name))


HALF_APPROVED, NEVER_ARRIVED = "held, one of two approvals", "hold never arrived"
PAYOUTS: Mapping[str, Callable[[Walk, str], Any]] = {
    "recorded": lambda walk, name: walk.request(reason=name),
    "queued": _queued,
    "in review": _in_review,
    "in review, one of three approvals": lambda walk, name: _approved_first(walk, name, 1),
    "queued, three approvals": lambda walk, name: _approved_first(walk, name, 3),
    "held, record unread": lambda walk, name: walk.until(walk.request(reason=name), "held"),
    "held": lambda walk, name: walk.held(reason=name),
    HALF_APPROVED: _half_approved,
    "approved, not sent": lambda walk, name: walk.committing(reason=name),
    "order to pay not taken": lambda walk, name: _lost(
        walk, walk.committing(reason=name), "commit_withdrawal", "status", status=503
    ),
    "order to pay, answer lost": lambda walk, name: _lost(
        walk, walk.committing(reason=name), "commit_withdrawal", "drop_after"
    ),
    "hold, answer lost": lambda walk, name: _lost(walk, _queued(walk, name), "create_withdrawal", "drop_after"),
    NEVER_ARRIVED: lambda walk, name: _lost(walk, _queued(walk, name), "create_withdrawal", "drop_before"),
    "rejected, not released": _released,
    "release, answer lost": lambda walk, name: _lost(walk, _released(walk, name), "rollback_withdrawal", "drop_after"),
    "paid": lambda walk, name: walk.until(walk.committing(reason=name), "committed"),
    "released": lambda walk, name: walk.until(_released(walk, name), "rolled_back"),
}
# What an earlier version had ordered to be paid, or had paid: it is paid once, whatever this version asks for anew.
ORDERED = ("order to pay not taken", "order to pay, answer lost", "paid")
# What has all its approvals, and was not ordered to be paid.
APPROVED = ("queued, three approvals", "approved, not sent")
# What ends without a payment, whoever approves.
UNPAID = ("rejected, not released", "release, answer lost", "released")


# What workers make of each transfer, and how often the exchange has moved it in the end.
TRANSFERS_BY_THEMSELVES = {
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
    moving.approved("to_user", reason="approved")
    moving.request("bank_to_trading", reason="approved between own wallets")
    for name, fault in (("answer lost", "drop_after"), ("never arrived", "drop_before")):
        row = moving.request("bank_to_trading", reason=name, amount=Decimal("0.75"))
        moving.walk.fault("transfer_funds", fault)
        assert moving.step(row).state == "unknown"
        moving.walk.heal()
    moving.until(moving.request("trading_to_bank", reason="done"), "done")


# What workers make of each order.
ORDERS = {
    "requested": "placed",
    "placed": "placed",
    "answer lost": "found",
    "never arrived": "unknown",
    "cancelling": "placed",
    "waiting": "waiting",
}


def trades(dealing: Dealing) -> None:
    """Orders from the request on, one that waits for an approval, a bracket, and actions on a margin account."""
    dealing.read_funds()
    dealing.place(request_key="requested")
    dealing.placed(request_key="placed")
    dealing.unknown("drop_after", request_key="answer lost")
    dealing.unknown("drop_before", request_key="never arrived")
    dealing.ask_to_cancel(dealing.placed(request_key="cancelling"))
    waiting = dealing.place(request_key="waiting", quantity=Decimal(1), price=Decimal("0.05"))
    assert waiting.state == "waiting"
    brackets = Bracketing(dealing)
    brackets.ask(key="entering", quantity=Decimal("0.01"))
    margin = MarginDesk(dealing)
    margin.done("open", key="margin account opened", amount=Decimal("0.1"))
    margin.ask("open", key="margin account requested", amount=Decimal("0.1"), symbol="BTCUSD")
    dealing.read()
