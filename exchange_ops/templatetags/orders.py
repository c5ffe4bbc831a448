"""Display of orders: the exchange's status, the desk's own state, and the labels of buttons."""

from decimal import Decimal
from typing import Any, Final

from django import template
from django.utils.safestring import SafeString

from desk.fields import plain
from desk.machines.display import Display
from desk.templatetags.desk import chip
from exchange_ops.market.models import Symbol
from exchange_ops.orders import states as order_states
from exchange_ops.orders.brackets import states as bracket_states
from exchange_ops.orders.forms import ORDER_STATUSES
from exchange_ops.orders.models import Order
from exchange_ops.orders.states import STATES
from exchange_ops.orders.views.titles import title
from exchange_ops.policy import oversteps

register = template.Library()

# The exchange's own words, and ours for them. An unknown one is shown as it came.
STATUSES = {
    "new": ("active", ORDER_STATUSES["new"], "circle-dashed"),
    "partiallyFilled": ("active", ORDER_STATUSES["partiallyFilled"], "loader"),
    "suspended": ("quiet", ORDER_STATUSES["suspended"], "hourglass"),
    "filled": ("good", ORDER_STATUSES["filled"], "circle-check"),
    "canceled": ("quiet", ORDER_STATUSES["canceled"], "ban"),
    "expired": ("quiet", ORDER_STATUSES["expired"], "circle-pause"),
}
TYPES = {"limit": "Limit", "market": "Market", "stopLimit": "Stop-limit", "stopMarket": "Stop-market"}
_SIDES = {"buy": ("good", "Buy", "arrow-down-left"), "sell": ("bad", "Sell", "arrow-up-right")}
_EVENTS = {
    "asked": "Requested",
    "asked_by_bracket": "Requested by the bracket",
    "seen_elsewhere": "Placed outside Countersign",
    "claimed": "Sent to the exchange",
    "stopped": "Stopped before sending",
    "accepted": "Accepted by the exchange",
    "refused": "Rejected by the exchange",
    "not_sent": "Not sent",
    "answer_lost": "Response lost",
    "found": "Found on the exchange",
    "not_seen": "Not found on the exchange",
    "cancel_asked": "Cancel requested",
    "cancel_claimed": "Cancel sent",
    "cancel_unconfirmed": "Cancel not confirmed yet",
    "cancel_confirmed": "No longer open",
    "cancel_refused": "Cancel rejected",
    "replace_asked": "Replacement requested",
    "replaced": "Replaced",
    "replace_ended": "Not replaced",
    "approval_asked": "Approval requested",
    "quorum_reached": "Approved",
    "declined": "Rejected",
    "withdrawn": "Withdrawn by requester",
    "lapsed": "Approval expired",
    "observed": "Update from the exchange",
}
DISPLAY: Final = Display(STATES, _EVENTS).registered(
    register, sign="order_sign", label="order_state_label", event="order_event_label"
)
_BRACKET_EVENTS = {
    "asked": "Requested",
    "entered": "Entry filled, stop placed",
    "stop_missing": "Stop missing",
    "guarded_again": "Protected again",
    "stop_asked": "Stop placed again",
    "take_reached": "Take profit reached",
    "take_missed": "Not fully closed at take profit",
    "end_asked": "End requested",
    "let_go": "Monitoring stopped",
    "position_gone": "Position closed by another order",
    "closed": "Ended",
}
BRACKETS: Final = Display(bracket_states.STATES, _BRACKET_EVENTS).registered(register, "bracket")
_CALLS = {"place": "Place", "cancel": "Cancel", "cancel_all": "Cancel all"}


@register.simple_tag
def order_status(row: Order) -> SafeString:
    """The status of an order as a chip: the exchange's, unless the desk is still at work."""
    if row.state not in order_states.AT_EXCHANGE:
        return DISPLAY.state(row.state)
    tone, label, sign = _status(row)
    return chip(tone, label, sign=sign)


@register.filter
def order_tone(row: Order) -> str:
    """The tone of what is said of an order as a whole: that of its chip."""
    return _status(row)[0] if row.state in order_states.AT_EXCHANGE else str(row.tone)


def _status(row: Order) -> tuple[str, str, str]:
    """Tone, label and sign of the exchange's status."""
    if not row.active and row.status not in order_states.ENDED and row.missing_since is not None:
        return "warn", "No longer listed", "circle-question-mark"
    return STATUSES.get(row.status, ("warn", row.status or "No status", "circle-question-mark"))


@register.simple_tag
def order_side(side: str) -> SafeString:
    """Buy or sell with an arrow, readable without colour."""
    tone, label, sign = _SIDES.get(side, ("warn", side, "circle-question-mark"))
    return chip(tone, label, sign=sign)


@register.filter
def overstep_label(name: str) -> str:
    """The name of an overstep in words."""
    return oversteps.LABELS.get(name, name)


@register.filter
def status_words(name: str) -> str:
    """The exchange's status in words; an unknown one as it came."""
    return ORDER_STATUSES.get(name, name)


@register.filter
def order_type(name: str) -> str:
    """The type of an order in words; an unknown one as it came."""
    return TYPES.get(name, name)


@register.filter
def bare(value: Decimal | None) -> str:
    """All digits for a field or a script: no grouping, no exponent, empty without a value."""
    return f"{plain(value):f}" if isinstance(value, Decimal) else ""


@register.filter
def order_call_label(kind: str) -> str:
    """The label of a call to the exchange."""
    return _CALLS.get(kind, kind)


@register.simple_tag
def order_title(order: Any, symbol: Symbol | None) -> str:
    """The title of an order, for templates."""
    return title(order, symbol)
