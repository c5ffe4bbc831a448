"""What each order realised by its sales, from the lots of profit and loss: stored with them, read for orders.

The method is first in, first out. What is bought has no result until it is sold; an order on margin moves no lot.
"""

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from django.db.models import Count, Q

from exchange_ops.market.models import Symbol
from exchange_ops.market.valuation import plain_code
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.orders.outcomes import FILLS_MISSING, NO_FILLS, RealisedResult
from exchange_ops.portfolio import lots
from exchange_ops.portfolio.effects import BUY
from exchange_ops.portfolio.models import OrderResult
from exchange_ops.positions.results import is_on_margin
from exchange_ops.shared.models import Account
from wire.values import grouped_text

ZERO: Final = Decimal(0)
ON_MARGIN: Final = "Margin order: see the position's P&L."
NOT_DESCRIBED: Final = "The exchange no longer lists this symbol."
NOT_COMPUTED: Final = "Not computed yet. P&L is updated within minutes of a trade."
_CHUNK: Final = 500
_FIGURES: Final = ("trades", "quantity", "realised", "currency", "without_cost", "without_price")


def store(*, account: Account, books: Iterable[lots.Book]) -> None:
    """Write the results that differ from those stored; results of orders that sold nothing are removed."""
    computed = {number: _row(account, number, sale) for book in books for number, sale in book.sales.items()}
    stored = {row.exchange_order_id: row for row in OrderResult.objects.filter(account=account).iterator(_CHUNK)}
    if gone := stored.keys() - computed.keys():
        OrderResult.objects.filter(account=account, exchange_order_id__in=gone).delete()
    new = [row for number, row in computed.items() if number not in stored]
    changed = []
    for number, row in computed.items():
        if number in stored and _figures(row) != _figures(stored[number]):
            row.pk = stored[number].pk
            changed.append(row)
    OrderResult.objects.bulk_create(new, batch_size=_CHUNK)
    OrderResult.objects.bulk_update(changed, _FIGURES, batch_size=_CHUNK)


def realised(
    orders: Sequence[Order], *, numbers_of: Mapping[int, Sequence[int]], symbols: Mapping[str, Symbol]
) -> dict[int, RealisedResult]:
    """The result of each order by its row's number, from as many queries however many there are.

    `numbers_of` are the exchange's numbers of an order and of those that it replaced.
    """
    numbers = {number for each in numbers_of.values() for number in each}
    accounts = Account.objects.in_bulk({row.account_id for row in orders})
    results = {
        (row.account_id, row.exchange_order_id): row
        for row in OrderResult.objects.filter(account__in=accounts, exchange_order_id__in=numbers)
    }
    trades = AccountTrade.objects.filter(account__in=accounts, exchange_order_id__in=numbers)
    counts = {
        (account, number): count
        for account, number, count in trades.values_list("account_id", "exchange_order_id").annotate(Count("pk"))
    }
    on_margin = {
        (account.pk, number)
        for account in accounts.values()
        for number in trades.filter(is_on_margin(account) | Q(liquidation=True), account=account).values_list(
            "exchange_order_id", flat=True
        )
    }
    outcomes = {}
    for row in orders:
        keys = [(row.account_id, number) for number in numbers_of[row.pk] if (row.account_id, number) in counts]
        quote, symbol = accounts[row.account_id].quote_currency, symbols.get(row.symbol)
        reason = ON_MARGIN if row.margin or on_margin.intersection(keys) else _why_none(row, symbol, quote, bool(keys))
        parts = [(results.get(key), counts[key]) for key in keys]
        sold = "" if symbol is None else _sold(row, symbol)
        outcomes[row.pk] = RealisedResult(None, quote, reason) if reason else _sum(parts, quote, sold=sold)
    return outcomes


def _row(account: Account, number: int, sale: lots.Sale) -> OrderResult:
    return OrderResult(
        account=account,
        exchange_order_id=number,
        trades=sale.trades,
        quantity=sale.quantity.quantize(lots.PLACES),
        realised=sale.realised.quantize(lots.PLACES),
        currency=account.quote_currency,
        without_cost=sale.without_cost.quantize(lots.PLACES),
        without_price=sale.without_price.quantize(lots.PLACES),
    )


def _figures(row: OrderResult) -> tuple[Any, ...]:
    return tuple(getattr(row, name) for name in _FIGURES)


def _why_none(row: Order, symbol: Symbol | None, quote: str, has_trades: bool) -> str:
    """Why an order on the trading account can have no result, whatever its lots are; else an empty text."""
    if not row.cum_quantity and not has_trades:
        return NO_FILLS
    if symbol is None:
        return NOT_DESCRIBED
    sold = _sold(row, symbol)
    if plain_code(sold) == plain_code(quote):
        return f"Paid in {sold}: no P&L until the purchased coins are sold."
    return "" if has_trades else FILLS_MISSING


def _sold(row: Order, symbol: Symbol) -> str:
    return symbol.quote_currency if row.side == BUY else symbol.base_currency


def _sum(parts: Sequence[tuple[OrderResult | None, int]], quote: str, *, sold: str) -> RealisedResult:
    """The sum of the stored results, each beside how many trades it should have counted; else why there is none."""
    rows = [stored for stored, count in parts if stored is not None and stored.trades == count]
    if len(rows) < len(parts):
        return RealisedResult(None, quote, NOT_COMPUTED)
    if without_cost := sum((each.without_cost for each in rows), ZERO):
        return RealisedResult(None, quote, f"{grouped_text(without_cost)} {sold} sold without a cost basis.")
    if any(each.without_price for each in rows):
        return RealisedResult(None, quote, f"No {quote} price for the day of the trade.")
    return RealisedResult(sum((each.realised for each in rows), ZERO), rows[0].currency)
