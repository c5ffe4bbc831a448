"""The one call that places an order or replaces another by it, the check of its answer, and the ids of our orders.

A replacement carries over what the old order had filled and its creation time. When the exchange cancelled the old
order and could not place the new one, its answer is the old order, cancelled (supplement 1.4): nothing new exists.
"""

import hmac
import secrets

from desk import sealing
from exchange_ops.client.pacing import LastLook
from exchange_ops.market.models import Symbol
from exchange_ops.orders import records as order_records
from exchange_ops.orders import request_checks
from exchange_ops.orders.models import Order
from exchange_ops.orders.steps.trading_line import NEEDS_SOCKET, REST, TradingLine
from exchange_ops.wire import records
from wire.errors import OutcomeUnknown, Unreachable

ID_PREFIX = "cs-"
_CHOSEN_DIGITS, _CODE_DIGITS = 18, 10
_CONTEXT = "exchange_ops.client_order_id"
ANOTHER_DAY = "the exchange has another order of this id now"


def fresh_id() -> str:
    """A new client order id: 31 characters of those that the exchange takes (supplement 2.8).

    It ends with a code over the rest under the desk's ring of keys, by which the desk knows its own orders (`is_ours`).
    """
    chosen = secrets.token_hex(9)
    return f"{ID_PREFIX}{chosen}{_codes(chosen)[0]}"


def is_ours(client_order_id: str) -> bool:
    """Whether this desk chose this id, whatever its rows say; False for all ids from before 0.8."""
    chosen, code = client_order_id[len(ID_PREFIX) : -_CODE_DIGITS], client_order_id[-_CODE_DIGITS:]
    if not client_order_id.startswith(ID_PREFIX) or len(chosen) != _CHOSEN_DIGITS:
        return False
    return any(hmac.compare_digest(each.encode(), code.encode()) for each in _codes(chosen))


def _codes(chosen: str) -> list[str]:
    """The end of an id under every key of the ring, the newest key's first."""
    return [code.partition(":")[2][:_CODE_DIGITS] for code in sealing.codes(chosen.encode(), context=_CONTEXT)]


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
        raise OutcomeUnknown("the exchange answered with another order than the one sent")
    if reason := order_records.unstorable(answer):
        raise OutcomeUnknown(f"the exchange's answer can't be kept: {reason}")
    return answer
