"""Sentences for people about a bracket's order whose outcome is unknown, or that did not do what it was placed for."""

from collections.abc import Iterable, Sequence
from typing import Final

from exchange_ops.orders import states
from exchange_ops.orders.brackets.chains import Chain
from exchange_ops.orders.models import Order

_NOT_PLACED: Final = (states.REFUSED, states.NOT_SENT, states.DECLINED, states.WITHDRAWN, states.LAPSED)
_NOT_SEEN: Final = "not found on the exchange; its status is unknown."


def reason(chain: Sequence[Order], facts: Chain, *, what: str) -> str:
    """Why it guards nothing or too little; `what` is the word for the order ("stop")."""
    order = _member(chain, facts.number)
    if facts.is_lost or facts.coming:
        return _unknown(chain, facts, what)
    if facts.is_in_doubt:
        return (
            f"The {what} {order.reference} is working but covers only part of the position; its larger "
            f"replacement, {_references(chain, facts.unseen)}, was {_NOT_SEEN}"
        )
    if order.state in _NOT_PLACED:
        return f"The {what} {order.reference} was not placed: {order.last_problem or order.sentence}"
    return f"The {what} {order.reference} closed before filling completely: {states.state_of(order)}."


def note(chain: Sequence[Order], facts: Chain, *, what: str) -> str:
    """What is unknown about it or did not happen, while it guards all it should; empty for nothing."""
    looked_for = any(_member(chain, number).state == states.UNKNOWN for number in facts.coming)
    if facts.is_lost or looked_for:
        return _unknown(chain, facts, what)
    if facts.unseen:
        order, unseen = _member(chain, facts.number), _references(chain, facts.unseen)
        return (
            f"{unseen}, the replacement for the {what}, was not found on the exchange. {order.reference} is still "
            "working."
        )
    return ""


def note_of_settled(chain: Sequence[Order], facts: Chain, *, what: str) -> str:
    """What the order that takes over from this one waits for; empty where nothing is in its way."""
    order = _member(chain, facts.number)
    if facts.open:
        return f"Cancelling the {what} {order.reference}; the next order is placed once this one is closed."
    if facts.is_lost:
        return f"{_unknown(chain, facts, what)} Orders on the exchange will be checked again before another is placed."
    return ""


def _unknown(chain: Sequence[Order], facts: Chain, what: str) -> str:
    order = _member(chain, facts.number)
    if order.state == states.NOT_SEEN:
        return f"The {what} {order.reference} was {_NOT_SEEN}"
    if facts.coming == (order.pk,):
        return f"Searching for the {what} {order.reference} on the exchange; its status is not known yet."
    if facts.coming:
        coming = _references(chain, facts.coming)
        return (
            f"Not yet known whether {coming} replaced the {what} {order.reference}. Searching for both; either could be"
            " working."
        )
    unseen = _references(chain, facts.unseen)
    return f"The {what} {order.reference} is no longer open, and its replacement, {unseen}, was {_NOT_SEEN}"


def _member(chain: Sequence[Order], number: int) -> Order:
    return next(order for order in chain if order.pk == number)


def _references(chain: Sequence[Order], numbers: Iterable[int]) -> str:
    return ", ".join(_member(chain, number).reference for number in numbers)
