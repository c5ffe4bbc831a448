"""Orders beyond a limit decided in a selection: each as its own page shows it, by the same rules as there."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from desk.actions.selection import Card, Selectable
from exchange_ops.market.models import Symbol
from exchange_ops.orders import states
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.models import Order
from exchange_ops.orders.views import choices
from exchange_ops.orders.views.titles import title
from exchange_ops.policy import oversteps as bounds
from exchange_ops.shared import rules

if TYPE_CHECKING:
    from desk.models import Person

MOVED: Final = "The market has moved since the request. Open the order to confirm explicitly:"
_OUTCOMES: Final = {
    states.REQUESTED: "Approved. The order is being sent now.",
    states.DECLINED: "Rejected. Order not placed.",
}


def cards(person: "Person", numbers: Collection[int], now: datetime) -> Mapping[int, Card]:
    """Those of these orders that the person may see, by number."""
    rows = Order.objects.filter(pk__in=numbers).select_related("account", "initiator", "decided_by", "bracket")
    visible = list(rules.seen_by(person, rows))
    symbols = Symbol.objects.in_bulk({row.symbol for row in visible})
    return {row.pk: _card(row, person, symbols.get(row.symbol), now) for row in visible}


def _card(row: Order, person: "Person", symbol: Symbol | None, now: datetime) -> Card:
    offered = choices.decision_context(row, person)
    facts: dict[str, Any] = {
        "symbol": symbol or Symbol(code=row.symbol),
        "progress": f"0 of {approvals.NEEDED} approvals" if offered else "",
    }
    return Card(
        row=row,
        template="exchange_ops/order/_card.html",
        digest=row.digest,
        purpose=approvals.PURPOSE,
        approve_label=f"Approve and place {title(row, symbol)}",
        reject_label="Reject; nothing is placed",
        why_not=_why_not(row, offered, now),
        may_reject=bool(offered.get("may_decline")),
        facts=facts,
    )


def _why_not(row: Order, offered: Mapping[str, Any], now: datetime) -> str:
    """The first reason why this person can't approve it here; empty when they can."""
    if not offered:
        return f"No decision needed. {row.sentence}"
    if offered["why_not"]:
        return str(offered["why_not"])
    missing = approvals.to_confirm(row, approvals.find_oversteps(row, now=now))
    return f"{MOVED} {bounds.in_words(missing)}" if missing else ""


SELECTABLE: Final = Selectable(
    model=Order,
    owner="order_id",
    cards=cards,
    approve=approvals.approve,
    reject=approvals.decline,
    refusals=(approvals.CannotDecide,),
    outcomes=_OUTCOMES,
)
