"""An order that ended unsent or refused, as the content of a new ticket: a freeze or a refusal loses nothing typed.

The new order is another request with a key of its own; its bounds are checked and confirmed again. An order that was
to replace another is never repeated: its quantity counts what the other one had filled. Nor is an order of a bracket,
which places its stop and its take profit itself.
"""

from typing import TYPE_CHECKING, Any, Final

from desk.fields import plain
from exchange_ops.market.models import Symbol
from exchange_ops.orders import states
from exchange_ops.orders.brackets.models import Bracket, BracketLeg
from exchange_ops.orders.models import Order, OrderAmount
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from wire.values import decimal_text

if TYPE_CHECKING:
    from decimal import Decimal

    from desk.models import Person

_USUAL_TIME: Final = {"market": "IOC"}  # of a limit order: GTC


def may_repeat(person: "Person", row: Order) -> bool:
    """Whether this person may place the same once more: nothing of it is at the exchange, and they may trade there."""
    is_ended_request = row.state in states.REPEATABLE and row.initiator_id is not None and row.replaces_id is None
    return (
        is_ended_request
        and rules.may_trade(person, row.account_id)
        and not BracketLeg.objects.filter(order=row).exists()
        and Symbol.objects.filter(pk=row.symbol).exists()
    )


def order_of(number: int | None, *, account: Account, person: "Person") -> Order | None:
    """The ended order of this account that a link names, if this person may repeat it."""
    row = Order.objects.filter(pk=number, account=account).first() if number is not None else None
    return row if row is not None and may_repeat(person, row) else None


def terms_of(row: Order) -> dict[str, Any]:
    """The fields of the ticket (`OrderForm`) as they were typed: an amount instead of the quantity computed from it."""
    by_amount = OrderAmount.objects.filter(order=row).first()
    exits = Bracket.objects.filter(entry=row).first()
    usual = _USUAL_TIME.get(row.type, "GTC")
    return {
        "symbol": row.symbol,
        "side": row.side,
        "type": row.type,
        "time_in_force": "" if row.time_in_force == usual else row.time_in_force,
        "quantity": "" if by_amount else _text(row.quantity),
        "amount": _text(by_amount.amount) if by_amount else "",
        "price": _text(row.price),
        "stop_price": _text(row.stop_price),
        "expire_time": f"{row.expire_time:%Y-%m-%dT%H:%M}" if row.expire_time else "",
        "post_only": row.post_only,
        "margin": "on" if row.margin else "",
        "rounded": not row.strict_validate,
        "take_markup": _percent(row.take_liquidity_markup),
        "provide_markup": _percent(row.provide_liquidity_markup),
        "stop_loss": _text(exits.stop_price) if exits else "",
        "take_profit": _text(exits.take_price) if exits else "",
    }


def _text(figure: "Decimal | None") -> str:
    return "" if figure is None else decimal_text(plain(figure))


def _percent(fraction: "Decimal | None") -> str:
    return "" if fraction is None else decimal_text(plain(fraction.scaleb(2)))
