"""The words for the events of orders and brackets in the audit trail."""

from typing import Final

from desk.audit.words import Facts, Words, plain
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import Order


def _order(facts: Facts) -> str:
    price = f" at {plain(facts['price'])}" if facts.get("price") else ""
    return f"{facts.get('side', '')} {plain(facts.get('quantity'))} {facts.get('symbol', '')}{price}".strip()


def _bracket(facts: Facts) -> str:
    return f"{facts.get('side', '')} {facts.get('symbol', '')}".strip()


ORDERS: Final = Words(
    name="order",
    title="Orders",
    noun="order",
    mark="O-",
    first=("asked", "asked_by_bracket", "approval_asked", "seen_elsewhere"),
    content=_order,
    decisions=("quorum_reached", "declined"),
    model=Order,
    sentences={
        "asked": "{who} placed {it}.",
        "asked_by_bracket": "{who} placed {it} for its bracket.",
        "approval_asked": "{who} requested approval for {it}.",
        "quorum_reached": "{who} approved {it}.",
        "declined": "{who} rejected {it}.",
        "withdrawn": "{who} withdrew {it}.",
        "lapsed": "{who} closed {it}: its approval expired.",
        "seen_elsewhere": "{who} recorded {it}, which was placed outside Countersign.",
        "claimed": "{who} sent {it} to the exchange.",
        "stopped": "{who} stopped {it} before it was sent.",
        "accepted": "{who} noted that the exchange accepted {it}.",
        "refused": "{who} noted that the exchange rejected {it}.",
        "not_sent": "{who} noted that {it} was not sent.",
        "answer_lost": "{who} noted that the response for {it} was lost.",
        "found": "{who} identified {it} on the exchange.",
        "not_seen": "{who} noted that the exchange does not list {it}.",
        "cancel_asked": "{who} requested the cancellation of {it}.",
        "cancel_claimed": "{who} sent the cancellation of {it} to the exchange.",
        "cancel_unconfirmed": "{who} noted that the cancellation of {it} is not confirmed yet.",
        "cancel_confirmed": "{who} noted that {it} is no longer open.",
        "cancel_refused": "{who} noted that the exchange rejected the cancellation of {it}.",
        "replace_asked": "{who} requested the replacement of {it}.",
        "replaced": "{who} noted that {it} was replaced.",
        "replace_ended": "{who} noted that {it} was not replaced.",
    },
)
BRACKETS: Final = Words(
    name="bracket",
    title="Brackets",
    noun="bracket",
    mark="BR-",
    first=("asked",),
    content=_bracket,
    model=Bracket,
    sentences={
        "asked": "{who} requested {it}.",
        "entered": "{who} noted that the entry of {it} filled and its stop is in place.",
        "stop_missing": "{who} noted that {it} has no stop.",
        "guarded_again": "{who} noted that {it} has a stop again.",
        "stop_asked": "{who} placed the stop for {it} again.",
        "take_reached": "{who} noted that the market reached the take profit of {it}.",
        "take_missed": "{who} noted that {it} was not fully closed at its take profit.",
        "end_asked": "{who} requested that {it} be ended.",
        "let_go": "{who} stopped monitoring {it}.",
        "position_gone": "{who} noted that the position of {it} was closed by another order.",
        "closed": "{who} ended {it}.",
    },
)
WORDS: Final = (ORDERS, BRACKETS)
