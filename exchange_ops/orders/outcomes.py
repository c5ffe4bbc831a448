"""What an order's fills brought: value, fees and average price from the trades, and the realised result.

The lots that the result is computed from belong to a higher room, which declares `realised` when the app is ready.
Source: exchange REST, Account trade (a negative fee is a rebate) and Symbol (fee currency).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal, localcontext
from typing import Final, Protocol

from exchange_ops.market.models import Symbol
from exchange_ops.orders.models import AccountTrade, Order, OrderAmount

ZERO: Final = Decimal(0)
NO_FILLS: Final = "No fills."
FILLS_MISSING: Final = "Some fills are not synced yet."
_DIGITS: Final = 200  # of products of two amounts
_PLACES: Final = Decimal(1).scaleb(-24)  # of every amount that is stored
_LONGEST_CHAIN: Final = 1_000  # orders that replaced one another


@dataclass(frozen=True, slots=True)
class RealisedResult:
    """Profit or loss after fees in `currency`; None where it can't be proven, and `reason` says why."""

    amount: Decimal | None
    currency: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The fills of an order and of those that it replaced, added up.

    `value` is in `quote_currency`, before fees; `fees` are in `fee_currency`, below zero a rebate. Both are None while
    a fill that the exchange reports has no trade here. `amount` of the quote currency is what the order was placed
    for; None where it was placed by quantity.
    """

    value: Decimal | None
    quote_currency: str
    fees: Decimal | None
    fee_currency: str
    result: RealisedResult
    amount: Decimal | None = None

    @property
    def rebate(self) -> Decimal:
        """What the exchange paid, where the fees are below zero."""
        return max(-(self.fees or ZERO), ZERO)

    @property
    def reason(self) -> str:
        """Why there are no figures; empty where there are."""
        return FILLS_MISSING if self.value is None else ""


class Realised(Protocol):
    """Who computes the results of orders, by their rows' numbers."""

    def __call__(
        self, orders: Sequence[Order], *, numbers_of: Mapping[int, Sequence[int]], symbols: Mapping[str, Symbol]
    ) -> Mapping[int, RealisedResult]: ...


_realised: list[Realised] = []


def register(realised: Realised) -> None:
    """Declare who computes results from lots; called when the app is ready."""
    _realised.append(realised)


def of(row: Order) -> Outcome:
    """The outcome of one order."""
    return of_all([row])[row.pk]


def of_all(rows: Sequence[Order]) -> dict[int, Outcome]:
    """The outcome of each order by its row's number; the number of queries doesn't depend on how many there are.

    Orders that were replaced again and again add one query for each link of the longest chain.
    """
    numbers_of, symbols = _numbers(rows), Symbol.objects.in_bulk({row.symbol for row in rows})
    numbers = {number for each in numbers_of.values() for number in each}
    trades: dict[tuple[int, int], list[AccountTrade]] = {}
    for trade in AccountTrade.objects.filter(
        account__in={row.account_id for row in rows}, exchange_order_id__in=numbers
    ):
        trades.setdefault((trade.account_id, trade.exchange_order_id), []).append(trade)
    results = _realised[0](rows, numbers_of=numbers_of, symbols=symbols)
    amounts = dict(OrderAmount.objects.filter(order__in=[row.pk for row in rows]).values_list("order_id", "amount"))
    return {
        row.pk: _outcome(
            row,
            [trade for number in numbers_of[row.pk] for trade in trades.get((row.account_id, number), ())],
            symbols.get(row.symbol),
            results[row.pk],
            amounts.get(row.pk),
        )
        for row in rows
    }


def _numbers(rows: Sequence[Order]) -> dict[int, list[int]]:
    """The exchange's numbers of each order and of those that it replaced, whose fills count in it."""
    numbers = {row.pk: [row.exchange_id] if row.exchange_id is not None else [] for row in rows}
    older = {row.pk: row.replaces_id for row in rows if row.replaces_id is not None}
    for _ in range(_LONGEST_CHAIN):
        if not older:
            break
        links = {row.pk: row for row in Order.objects.filter(pk__in=set(older.values()))}
        for pk, replaced in list(older.items()):
            link = links[replaced]
            if link.exchange_id is not None:
                numbers[pk].append(link.exchange_id)
            if link.replaces_id is None:
                del older[pk]
            else:
                older[pk] = link.replaces_id
    return numbers


def _outcome(
    row: Order,
    fills: Sequence[AccountTrade],
    symbol: Symbol | None,
    result: RealisedResult,
    amount: Decimal | None,
) -> Outcome:
    quote = symbol.quote_currency if symbol else ""
    fee_currency = (symbol.fee_currency or quote) if symbol else ""
    with localcontext() as context:
        context.prec = _DIGITS
        quantity = sum((trade.quantity for trade in fills), ZERO)
        value, fees = sum((trade.value for trade in fills), ZERO), sum((trade.fee for trade in fills), ZERO)
        if quantity < row.cum_quantity:
            missing = RealisedResult(None, result.currency, FILLS_MISSING)
            return Outcome(None, quote, None, fee_currency, missing, amount)
        return Outcome(value.quantize(_PLACES, rounding=ROUND_HALF_EVEN), quote, fees, fee_currency, result, amount)
