"""The one call that places an order or replaces another by it, and the check of its answer.

A replacement carries over what the old order had filled and its creation time. When the exchange cancelled the old
order and could not place the new one, its answer is the old order, cancelled (supplement 1.4): nothing new exists.
"""

from exchange_ops.client.pacing import LastLook
from exchange_ops.market.models import Symbol
from exchange_ops.orders import records as order_records
from exchange_ops.orders import request_checks
from exchange_ops.orders.models import Order
from exchange_ops.orders.steps.trading_line import NEEDS_SOCKET, REST, TradingLine
from exchange_ops.wire import records
from wire.errors import OutcomeUnknown, Unreachable

ANOTHER_DAY = "the exchange has a different order with this ID"


def way_of(row: Order, line: TradingLine) -> str:
    """Whether it would leave over REST or the trading socket."""
    if row.replaces_id is not None:
        return line.way
    return line.way_of(request_checks.as_sent(row, client_order_id=row.client_order_id), margin=row.margin)


def obstacle(row: Order, line: TradingLine) -> str:
    """Why it can't leave by this line, else an empty text."""
    if row.replaces_id is not None and row.margin and line.way == REST:
        return f"{NEEDS_SOCKET[0].upper()}{NEEDS_SOCKET[1:]}."
    return ""


def place(row: Order, line: TradingLine, *, last_look: LastLook) -> records.Order:
    """Send the order, once. Raises what calls raise; an answer about another order is an unknown outcome."""
    rules = Symbol.objects.filter(pk=row.symbol).first()
    old = row.replaces
    if old is not None:
        return _own_answer(_replace(row, old, line, rules, last_look), {row.client_order_id, old.client_order_id})
    order = request_checks.as_sent(row, client_order_id=row.client_order_id)
    return _own_answer(line.place(order, margin=row.margin, rules=rules, last_look=last_look), {row.client_order_id})


def _replace(row: Order, old: Order, line: TradingLine, rules: Symbol | None, last_look: LastLook) -> records.Order:
    """Somebody else's id may return on another day, so the exchange's number is compared first."""
    if old.initiator_id is None and line.get_order(old.client_order_id, margin=old.margin).id != old.exchange_id:
        raise Unreachable(ANOTHER_DAY)
    return line.replace(
        old.client_order_id,
        by=row.client_order_id,
        quantity=row.quantity,
        price=row.price,
        rules=rules,
        last_look=last_look,
        margin=row.margin,
    )


def _own_answer(answer: records.Order, names: set[str]) -> records.Order:
    if answer.client_order_id not in names:
        raise OutcomeUnknown("the exchange's response describes a different order")
    if reason := order_records.unstorable(answer):
        raise OutcomeUnknown(f"the exchange's response could not be recorded: {reason}")
    return answer
