"""The bounds that a margin action goes beyond: by the danger to the position, and by the order that it trades.

As with orders (`exchange_ops.policy.oversteps`) each has a name and figures, and says what has to be confirmed. A
change has to be confirmed when it brings the margin call or the liquidation nearer to the mark than it was, and nearer
than `NEAREST`. What lowers the danger needs no confirmation. The order that closes a position is judged like any other.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

from desk import clock
from exchange_ops.margin import danger
from exchange_ops.margin.danger import Exposure
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.market.valuation import STALE_AFTER
from exchange_ops.orders import policy_checks
from exchange_ops.orders.request_checks import OrderRequest
from exchange_ops.policy.modes import CONFIRM
from exchange_ops.policy.oversteps import CALL_NEAR, LIQUIDATION_NEAR, Overstep
from exchange_ops.positions import estimates, states
from exchange_ops.positions.models import MarginAction
from wire.values import grouped_text

ZERO: Final = Decimal(0)
_PERCENT: Final = Decimal("0.01")
NEAREST: Final = Decimal("0.05")  # of the mark: a position at the highest leverage has its margin call at 2 % or so


@dataclass(frozen=True, slots=True)
class Change:
    """The exposure of the position now and after the action; `then` is None where that is not known."""

    now: Exposure
    then: Exposure | None


def find_oversteps(
    *, row: MarginAction, symbol: Symbol, held: MarginAccount | None, position: MarginPosition | None, now: datetime
) -> list[Overstep]:
    """The bounds that a well-formed action goes beyond."""
    oversteps = list(_danger(row, symbol, held, position, now))
    if row.kind in states.CLOSING and position is not None:
        oversteps += policy_checks.find_oversteps(
            initiator=row.initiator,
            account=row.account,
            symbol=symbol,
            requested=order_request(row),
            now=now,
            is_new=False,
        )
    return oversteps


def change(
    *, row: MarginAction, symbol: Symbol, held: MarginAccount | None, position: MarginPosition | None, now: datetime
) -> Change | None:
    """How the action would change the exposure of a position that stays open; None for any other action."""
    if held is None or position is None or row.kind not in {states.SET, states.REDUCE}:
        return None
    present = danger.exposure(position=position, ticker=Ticker.objects.filter(pk=symbol.pk).first(), now=now)
    balance, quantity = row.amount, position.quantity
    if row.kind == states.REDUCE:
        part = row.quantity or ZERO
        quantity -= part if position.quantity > 0 else -part
        estimate = estimates.current(position=position, symbol=symbol, quantity=part, price=row.price)
        balance = None if estimate.net is None else held.margin_balance + estimate.net
    if balance is None or present.mark is None or not quantity:
        return Change(present, None)
    then = danger.after(
        position=position, held=held, symbol=symbol, mark=present.mark, balance=balance, quantity=quantity
    )
    return Change(present, then)


def order_request(row: MarginAction) -> OrderRequest:
    """The order by which the position is closed."""
    return OrderRequest(
        symbol=row.symbol,
        side=row.side,
        type="limit" if row.price is not None else "market",
        time_in_force="GTC" if row.price is not None else "IOC",
        quantity=row.quantity or ZERO,
        price=row.price,
    )


def _danger(
    row: MarginAction, symbol: Symbol, held: MarginAccount | None, position: MarginPosition | None, now: datetime
) -> Iterator[Overstep]:
    """The more serious of the two: a position near its liquidation is near its margin call as well."""
    lowers = row.kind == states.REDUCE or (held is not None and row.amount is not None and row.amount < _held(held))
    risk = change(row=row, symbol=symbol, held=held, position=position, now=now) if lowers else None
    if risk is None:
        return
    field = "amount" if row.kind == states.SET else "quantity"
    if risk.then is None or not clock.is_fresh(risk.now.mark_at, now, within=STALE_AFTER):
        sentence = "Distance to the margin call unknown: no current price."
        yield Overstep(CALL_NEAR, field, sentence, CONFIRM)
        return
    present, then = risk.now, risk.then
    for name, words, before, away, price in (
        (LIQUIDATION_NEAR, "liquidation", present.to_liquidation, then.to_liquidation, then.liquidation),
        (CALL_NEAR, "margin call", present.to_call, then.to_call, then.call),
    ):
        if price is not None and away is not None and away < NEAREST and (before is None or away < before):
            far = "already reached" if away <= 0 else f"{(away * 100).quantize(_PERCENT)} % from the mark price"
            where = f"The {words} would be at {grouped_text(price)} {symbol.quote_currency}, {far}"
            size = ((NEAREST - away) * 100).quantize(_PERCENT)
            yield Overstep(name, field, f"{where}; the minimum distance is {NEAREST * 100:.0f} %.", CONFIRM, size)
            return


def _held(held: MarginAccount) -> Decimal:
    balance: Decimal = held.margin_balance
    return balance
