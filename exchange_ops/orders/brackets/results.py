"""The realised result of a bracket: what its exits closed against the average of its entry's fills, fees included.

It is computed from the account's trades whenever it is shown. Source: exchange REST, Account trade; fees are charged
in the fee currency of the symbol (exchange REST, Symbol).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any, Final

from exchange_ops.market.models import Symbol
from exchange_ops.orders.brackets import situation
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import AccountTrade

ZERO: Final = Decimal(0)
_DIGITS: Final = 200  # of the product of two amounts
_PLACES: Final = Decimal(1).scaleb(-12)


@dataclass(frozen=True, slots=True)
class Fills:
    """Trades of one side added up: `quantity` in the base currency, `value` and `fee_value` in the quote currency.

    `fee` is in the symbol's fee currency, below zero a rebate. `fee_value` is None where that is neither the base nor
    the quote currency.
    """

    quantity: Decimal = ZERO
    value: Decimal = ZERO
    fee: Decimal = ZERO
    fee_value: Decimal | None = ZERO

    @property
    def average(self) -> Decimal | None:
        """The average price; None without a fill."""
        return _rounded(_divided(self.value, self.quantity)) if self.quantity else None


@dataclass(frozen=True, slots=True)
class Result:
    """What the exits of a bracket closed of its entry.

    `realised` is in the quote currency, after the fees of the exits and the closed part's share of the entry's fees;
    `fees` are these, in `fee_currency`. Where that is neither base nor quote currency, `after_fees` is False and
    `realised` is before fees. `is_complete` is False while a fill that an order reports has no trade here yet.
    """

    entry: Fills
    exits: Fills
    share: Decimal
    realised: Decimal | None
    fees: Decimal
    quote_currency: str
    fee_currency: str
    after_fees: bool
    is_complete: bool

    @property
    def cost(self) -> Fills:
        """The part of the entry that is not closed, with its share of the fees."""
        with localcontext() as context:
            context.prec = _DIGITS
            rest, fee_value = 1 - self.share, self.entry.fee_value
            fee_value = None if fee_value is None else fee_value * rest
            return Fills(self.entry.quantity * rest, self.entry.value * rest, self.entry.fee * rest, fee_value)


def of(row: Bracket, chains: situation.Chains) -> Result:
    """The result of one bracket, whose orders were read already."""
    return _results([row], {row.pk: chains})[row.pk]


def add(rows: Sequence[Any]) -> None:
    """Give each bracket its `result`, from a number of queries that does not depend on how many there are."""
    results = _results(rows, situation.read_all(rows))
    for row in rows:
        row.result = results[row.pk]


def _results(rows: Sequence[Bracket], chains_of: dict[int, situation.Chains]) -> dict[int, Result]:
    symbols = Symbol.objects.in_bulk({row.symbol for row in rows})
    orders = [order for chains in chains_of.values() for chain in chains.values() for order in chain]
    numbers = {order.exchange_id for order in orders if order.exchange_id is not None}
    trades: dict[tuple[int, int], list[AccountTrade]] = {}
    accounts = {row.account_id for row in rows}
    for trade in AccountTrade.objects.filter(account__in=accounts, exchange_order_id__in=numbers):
        trades.setdefault((trade.account_id, trade.exchange_order_id), []).append(trade)
    return {row.pk: _result(row, chains_of[row.pk], symbols.get(row.symbol), trades) for row in rows}


def _result(
    row: Bracket,
    chains: situation.Chains,
    symbol: Symbol | None,
    trades: dict[tuple[int, int], list[AccountTrade]],
) -> Result:
    symbol = symbol or Symbol(code=row.symbol, base_currency="", quote_currency="", fee_currency="")
    entry, exits, is_complete = Fills(), Fills(), True
    for root, chain in chains.items():
        fills = [trade for order in chain for trade in trades.get((row.account_id, order.exchange_id or 0), ())]
        total = _added(fills, symbol)
        is_complete &= total.quantity >= situation.head(chain).cum_quantity
        if root == row.entry_id:
            entry = total
        else:
            exits = _together(exits, total)
    with localcontext() as context:
        context.prec = _DIGITS
        share, realised, fees, after_fees = _realised(row, entry, exits, symbol)
    return Result(
        entry=entry,
        exits=exits,
        share=share,
        realised=realised,
        fees=fees,
        quote_currency=symbol.quote_currency,
        fee_currency=symbol.fee_currency,
        after_fees=after_fees,
        is_complete=is_complete,
    )


def _realised(
    row: Bracket, entry: Fills, exits: Fills, symbol: Symbol
) -> tuple[Decimal, Decimal | None, Decimal, bool]:
    """The closed share of the entry, its result, its fees, and whether they are deducted from the result."""
    after_fees = entry.fee_value is not None and exits.fee_value is not None
    if not entry.quantity or not exits.quantity:
        return ZERO, None, ZERO, after_fees
    # What a purchase cost in its own currency was never there to be sold: the rest bears the whole price.
    is_deducted = row.side == "buy" and symbol.fee_currency == symbol.base_currency
    opened = entry.quantity - (max(entry.fee, ZERO) if is_deducted else ZERO)
    share = min(exits.quantity / opened, Decimal(1)) if opened > 0 else Decimal(1)
    closed = min(opened / exits.quantity, Decimal(1))
    gross = (exits.value * closed - entry.value * share) * (1 if row.side == "buy" else -1)
    fee_value = entry.fee_value or ZERO
    entry_fees = min(fee_value, ZERO) if is_deducted else fee_value  # the smaller quantity has it already
    net = gross - entry_fees * share - (exits.fee_value or ZERO) * closed
    fees = entry.fee * share + exits.fee * closed
    return share, _rounded(net if after_fees else gross), _rounded(fees), after_fees


def _added(trades: Iterable[AccountTrade], symbol: Symbol) -> Fills:
    total = Fills()
    with localcontext() as context:
        context.prec = _DIGITS
        for trade in trades:
            worth: dict[str, Decimal] = {
                symbol.quote_currency: trade.fee,
                symbol.base_currency: trade.fee * trade.price,
            }
            fee_value = (worth.get(symbol.fee_currency) if symbol.fee_currency else None) if trade.fee else ZERO
            total = _together(total, Fills(trade.quantity, trade.value, trade.fee, fee_value))
    return total


def _together(one: Fills, other: Fills) -> Fills:
    with localcontext() as context:
        context.prec = _DIGITS
        is_known = one.fee_value is not None and other.fee_value is not None
        fee_value = (one.fee_value or ZERO) + (other.fee_value or ZERO) if is_known else None
        return Fills(one.quantity + other.quantity, one.value + other.value, one.fee + other.fee, fee_value)


def _divided(value: Decimal, quantity: Decimal) -> Decimal:
    with localcontext() as context:
        context.prec = _DIGITS
        return value / quantity


def _rounded(value: Decimal) -> Decimal:
    return value.quantize(_PLACES, rounding=ROUND_HALF_EVEN)
