"""Profit and loss of an account's coins, computed from its trades and what came in and went out, and kept as rows.

An arrival costs the price of its day and a payout brings it; the network fee is lost. A trade against another coin is
both a sale and a purchase at that day's price. Network variants of a coin count as one coin, the quote currency itself
earns nothing, and transfers to and from sub-accounts count as outflows and inflows.
"""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db import transaction
from django.db.models import Max, Min

from desk import clock
from desk.machines.step_clock import Stopwatch
from exchange_ops.ledger import walks
from exchange_ops.ledger.models import LedgerVersion
from exchange_ops.market.valuation import plain_code
from exchange_ops.orders.models import AccountTrade
from exchange_ops.portfolio import amounts, effects, lots, order_results
from exchange_ops.portfolio.models import SUBACCOUNTS, Profit, ProfitDay, Progress
from exchange_ops.portfolio.prices import DayPrices
from exchange_ops.shared.models import Account
from wire.values import decimal_text

ZERO: Final = Decimal(0)
SHOWN_LOTS: Final = 50
AT_LEAST_EVERY: Final = timedelta(hours=1)  # prices of today move, and what had no price may have one
AT_MOST: Final = 20  # no more than a twentieth of the time is spent on it


def update(*, account: Account, progress: Progress, now: datetime) -> bool:
    """Compute everything again when something changed or an hour passed; returns whether it did."""
    version = LedgerVersion.objects.filter(account=account).aggregate(newest=Max("pk"))["newest"] or 0
    trade = AccountTrade.objects.filter(account=account).aggregate(newest=Max("pk"))["newest"] or 0
    if not _is_due(progress, version, trade, now) or walks.is_incomplete(account=account, now=now):
        return False
    watch = Stopwatch(now)
    books = compute(account=account)
    with transaction.atomic():
        Profit.objects.filter(account=account).delete()
        for (coin, method), book in books.items():
            _store(account, coin, method, book, now)
        order_results.store(account=account, books=[book for (_, method), book in books.items() if method == lots.FIFO])
        took_ms = int((watch.now() - now).total_seconds() * 1000)
        Progress.objects.filter(pk=progress.pk).update(
            profits_version=version, profits_trade=trade, profits_at=now, took_ms=took_ms
        )
    return True


def compute(*, account: Account) -> dict[tuple[str, str], lots.Book]:
    """The book of each coin by each method; coins that were never held or moved are left out."""
    by_coin = movements(account)
    quote, balances = plain_code(account.quote_currency), _balances(account)
    coins = sorted((set(by_coin) | {coin for coin, amount in balances.items() if amount}) - {quote})
    return {
        (coin, method): lots.book(by_coin.get(coin, ()), balance=balances.get(coin, ZERO), method=method)
        for coin in coins
        for method in lots.METHODS
    }


def movements(account: Account) -> dict[str, list[lots.Movement]]:
    """The movements of every coin, valued in the account's quote currency."""
    since = _first_moment(account)
    if since is None:
        return {}
    prices = DayPrices(codes=effects.currencies(account), quote=account.quote_currency, since=since.date())
    by_coin: defaultdict[str, list[lots.Movement]] = defaultdict(list)
    for entry in effects.entries(effects.succeeded(account).order_by("updated_at", "index")):
        for coin, movement in _entry_movements(entry, prices):
            by_coin[coin].append(movement)
    for trade in effects.trades(account):
        for coin, movement in _trade_movements(trade, prices):
            by_coin[coin].append(movement)
    return dict(by_coin)


def _is_due(progress: Progress, version: int, trade: int, now: datetime) -> bool:
    if progress.profits_at is None:
        return True
    has_new_prices = progress.prices_read_at is not None and progress.prices_read_at > progress.profits_at
    changed = has_new_prices or (version, trade) != (progress.profits_version, progress.profits_trade)
    pause = AT_MOST * timedelta(milliseconds=progress.took_ms) if changed else AT_LEAST_EVERY
    return clock.has_passed(min(pause, AT_LEAST_EVERY), since=progress.profits_at, now=now)


def _first_moment(account: Account) -> datetime | None:
    first_entry = effects.succeeded(account).aggregate(first=Min("updated_at"))["first"]
    first_trade = AccountTrade.objects.filter(account=account).aggregate(first=Min("timestamp"))["first"]
    return min((at for at in (first_entry, first_trade) if at is not None), default=None)


def _balances(account: Account) -> dict[str, Decimal]:
    """What is held of each coin in the account itself, collateral included."""
    balances: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    for (_, wallet), held in amounts.now([account]).items():
        if wallet != SUBACCOUNTS:
            for code, amount in held.items():
                balances[plain_code(code)] += amount
    return balances


def _entry_movements(entry: effects.Entry, prices: DayPrices) -> Iterator[tuple[str, lots.Movement]]:
    """A deposit or a payout; conversions between variants and moves between the two wallets change no coin."""
    if entry.is_swap or entry.type not in effects.IN | effects.OUT:
        return
    day, coin = entry.at.astimezone(UTC).date(), plain_code(entry.currency)
    value, fee = prices.value(coin, entry.amount, day), prices.value(coin, entry.fee, day) or ZERO
    quantity = entry.amount if entry.type in effects.IN else -entry.amount - entry.fee
    yield coin, lots.Movement(entry.at, quantity, value, fee)


def _trade_movements(trade: effects.Trade, prices: DayPrices) -> Iterator[tuple[str, lots.Movement]]:
    """Both sides of a trade. The fee raises what was paid, or lowers what was received, for the base currency.

    What its order sold is the base currency of a sale and the quote currency of a purchase.
    """
    day = trade.at.astimezone(UTC).date()
    base, quote, fee_coin = plain_code(trade.base), plain_code(trade.quote), plain_code(trade.fee_currency)
    notional, fee = prices.value(quote, trade.notional, day), prices.value(fee_coin, trade.fee, day)
    sign, sold = (1, quote) if trade.is_buy else (-1, base)
    quantities: defaultdict[str, Decimal] = defaultdict(lambda: ZERO)
    quantities[base] += sign * trade.quantity
    quantities[quote] -= sign * trade.notional
    quantities[fee_coin] -= trade.fee
    for coin, quantity in quantities.items():
        if coin == base:
            # A fee in the coin itself is part of its quantity already; any other is money on top.
            extra_fee = ZERO if fee_coin == base else fee
            worth = None if notional is None or extra_fee is None else notional + sign * extra_fee
            yield coin, lots.Movement(trade.at, quantity, worth, fee or ZERO, trade.order if coin == sold else None)
        elif quantity:
            worth = prices.value(coin, abs(quantity), day)
            yield coin, lots.Movement(trade.at, quantity, worth, order=trade.order if coin == sold else None)


def _store(account: Account, coin: str, method: str, book: lots.Book, now: datetime) -> None:
    row = Profit.objects.create(
        account=account,
        coin=coin,
        method=method,
        known_quantity=book.known_quantity,
        cost=_money(book.cost),
        unknown_quantity=book.quantity - book.known_quantity,
        realised=_money(book.realised),
        fees=_money(book.fees),
        sold_without_cost=book.sold_without_cost,
        proceeds_without_cost=_money(book.proceeds_without_cost),
        left_without_price=book.left_without_price,
        cost_without_price=_money(book.cost_without_price),
        opening=book.opening,
        unexplained=book.unexplained,
        lots=[_lot(lot) for lot in book.lots[:SHOWN_LOTS]],
        lots_count=len(book.lots),
        computed_at=now,
    )
    days = ((day, figures) for day, figures in book.days.items() if figures.realised or figures.fees)
    ProfitDay.objects.bulk_create(
        ProfitDay(profit=row, day=day, realised=_money(figures.realised), fees=_money(figures.fees))
        for day, figures in days
    )


def _lot(lot: lots.Lot) -> list[str | None]:
    at = lot.at.astimezone(UTC).isoformat() if lot.at else None
    return [at, decimal_text(lot.quantity), None if lot.cost is None else decimal_text(_money(lot.cost))]


def _money(value: Decimal) -> Decimal:
    return value.quantize(lots.PLACES)
