"""How each ledger entry and each of our trades changed the wallets, and the profit and loss.

A successful entry counts from its last change on: until then its money is reserved and still in the wallet.
Trades of margin orders and liquidations change the collateral, not the trading wallet, and are left out.
Source: exchange REST, Transaction and Account trade; supplement 1.6, 2.8, 2.10.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from heapq import merge
from operator import attrgetter
from typing import Final

from django.db.models import QuerySet

from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.margin.models import MarginAccount
from exchange_ops.market.models import Symbol
from exchange_ops.orders.models import AccountTrade
from exchange_ops.portfolio.models import BANK, TRADING
from exchange_ops.portfolio.walking import Change
from exchange_ops.positions import results
from exchange_ops.shared.models import Account
from exchange_ops.transfers import states

ZERO: Final = Decimal(0)
DONE: Final = "success"
IN, OUT = frozenset({"payin", "deposit"}), frozenset({"payout", "withdraw"})
UNDER_WAY: Final = ("created", "pending")
TO_TRADING, FROM_TRADING, SWAP = "bankToExchange", "exchangeToBank", "swap"
BUY: Final = "buy"
TO_SUBACCOUNTS: Final = (states.TO_SUBACCOUNT, states.FROM_SUBACCOUNT)
CHUNK: Final = 5_000


@dataclass(frozen=True, slots=True)
class Entry:
    """The relevant columns of a successful entry. `is_inside`: the money stayed ours (conversions, sub-accounts)."""

    at: datetime
    type: str
    currency: str
    amount: Decimal
    fee: Decimal
    is_swap: bool
    is_inside: bool


@dataclass(frozen=True, slots=True)
class Trade:
    """One own trade; `notional` is price x quantity in `quote`, the fee in `fee_currency`.

    `order` is its order's number at the exchange, `number` its own.
    """

    at: datetime
    is_buy: bool
    base: str
    quote: str
    quantity: Decimal
    notional: Decimal
    fee: Decimal
    fee_currency: str
    order: int
    number: int = 0


def succeeded(account: Account) -> QuerySet[LedgerEntry]:
    """The entries that changed a balance."""
    return LedgerEntry.objects.filter(account=account, status=DONE)


def entries(rows: QuerySet[LedgerEntry]) -> Iterator[Entry]:
    """The rows in their order, read in chunks."""
    columns = ("updated_at", "type", "currency", "amount", "fee", "sub_type", "transfer__kind")
    for at, kind, currency, amount, fee, sub_type, transfer_kind in rows.values_list(*columns).iterator(CHUNK):
        is_swap = sub_type == SWAP
        yield Entry(at, kind, currency, amount, fee or ZERO, is_swap, is_swap or transfer_kind in TO_SUBACCOUNTS)


def trades(
    account: Account, *, newest_first: bool = False, since: datetime | None = None, until: datetime | None = None
) -> Iterator[Trade]:
    """Our trades on the trading wallet in the order of time, for symbols that the exchange describes.

    Only those from `since` on and before `until`, where these are set.
    """
    symbols = {row.code: row for row in Symbol.objects.all()}
    rows = AccountTrade.objects.filter(account=account, symbol__in=list(symbols))
    rows = rows.exclude(results.is_on_margin(account)).exclude(liquidation=True)
    rows = rows.filter(timestamp__gte=since) if since else rows
    rows = rows.filter(timestamp__lt=until) if until else rows
    order = ("-timestamp", "-exchange_id") if newest_first else ("timestamp", "exchange_id")
    columns = ("timestamp", "side", "symbol", "quantity", "price", "fee", "exchange_order_id", "exchange_id")
    chunks = rows.order_by(*order).values_list(*columns).iterator(CHUNK)
    for at, side, code, quantity, price, fee, order_number, number in chunks:
        row = symbols[code]
        notional, paid_in = quantity * price, row.fee_currency or row.quote_currency
        pair, amounts = (row.base_currency, row.quote_currency), (quantity, notional, fee)
        yield Trade(at, side == BUY, *pair, *amounts, paid_in, order_number, number)


def unknown_symbols(account: Account) -> list[str]:
    """Codes of symbols that were traded and that the exchange does not describe any more."""
    rows = AccountTrade.objects.filter(account=account).exclude(symbol__in=Symbol.objects.values("code"))
    return list(rows.order_by("symbol").values_list("symbol", flat=True).distinct())


def newest_changes(account: Account) -> Iterator[Change]:
    """Every change of both wallets, the newest first."""
    ledger_changes = (
        each for entry in entries(succeeded(account).order_by("-updated_at", "-index")) for each in entry_changes(entry)
    )
    trading_changes = (each for trade in trades(account, newest_first=True) for each in trade_changes(trade))
    return merge(ledger_changes, trading_changes, collateral_changes(account), key=attrgetter("at"), reverse=True)


def collateral_changes(account: Account) -> list[Change]:
    """No ledger records transfers to and from margin: the past of a collateral currency is unknown.

    A margin account that is gone returned its collateral when that was noticed, which is its newest change.
    """
    rows = list(MarginAccount.objects.filter(account=account))
    symbols = Symbol.objects.in_bulk({row.symbol for row in rows})
    changes = [
        _change(max(row.updated_at, row.gone_at or row.updated_at), symbols[row.symbol].quote_currency, TRADING, None)
        for row in rows
        if row.symbol in symbols
    ]
    return sorted(changes, key=attrgetter("at"), reverse=True)


def entry_changes(entry: Entry) -> list[Change]:
    """How the entry changed the wallets; a type whose sign is unknown makes the currency's past unknown."""
    at, currency = entry.at, entry.currency
    if entry.type in IN:
        return [_change(at, currency, BANK, entry.amount)]
    if entry.type in OUT:
        return [_change(at, currency, BANK, -entry.amount - entry.fee)]
    if entry.type in {TO_TRADING, FROM_TRADING}:
        amount = entry.amount if entry.type == TO_TRADING else -entry.amount
        return [_change(at, currency, BANK, -amount), _change(at, currency, TRADING, amount)]
    return [_change(at, currency, BANK, None)]


def trade_changes(trade: Trade) -> list[Change]:
    """How the trade changed the trading wallet."""
    sign = 1 if trade.is_buy else -1
    return [
        _change(trade.at, trade.base, TRADING, sign * trade.quantity),
        _change(trade.at, trade.quote, TRADING, -sign * trade.notional),
        _change(trade.at, trade.fee_currency, TRADING, -trade.fee),
    ]


def _change(at: datetime, currency: str, wallet: str, amount: Decimal | None) -> Change:
    return Change(at, wallet, currency, amount)


def currencies(account: Account) -> list[str]:
    """Every currency that the account's ledger or trades name."""
    ledger_rows = set(
        LedgerEntry.objects.filter(account=account).order_by("currency").values_list("currency").distinct()
    )
    symbols = AccountTrade.objects.filter(account=account).values("symbol").distinct()
    pairs = Symbol.objects.filter(code__in=symbols).values_list("base_currency", "quote_currency", "fee_currency")
    return sorted({code for row in (*ledger_rows, *pairs) for code in row if code})
