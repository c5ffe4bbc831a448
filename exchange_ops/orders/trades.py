"""The account's own trades, stored from the history, the stream and the answers to new orders.

A trade never changes. The stream says neither who took nor whether it was a liquidation; the history may add that.
Source: exchange REST, Account trade; supplement 1.4 and 2.8.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce

from desk.fields import plain
from desk.live import announcements
from desk.notifications import outgoing
from desk.rows import witnessed
from exchange_ops.market.models import Symbol
from exchange_ops.orders import machine
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.orders.records import FIRST, LAST, LONGEST_ID, Intake
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.wire import records

PRICE_PLACES = Decimal(1).scaleb(-12)
# What a trade of the exchange and a row of ours call the same.
_COPIED = ("client_order_id", "symbol", "side", "quantity", "price", "fee", "taker", "liquidation", "timestamp")


def with_fee_currency(rows: QuerySet[AccountTrade]) -> QuerySet[AccountTrade]:
    """The trades, each with the `fee_currency` of its symbol; empty for a symbol that is not listed any more."""
    currencies = Symbol.objects.filter(code=OuterRef("symbol")).values("fee_currency")
    return rows.annotate(fee_currency=Coalesce(Subquery(currencies), Value("")))


_on_margin: list[Callable[[Account], Q]] = []


def register_on_margin(condition: Callable[[Account], Q]) -> None:
    """Declare which trades of an account were made for its positions; a higher room knows."""
    _on_margin[:] = [condition]


def settled_in_margin() -> Q:
    """Trades of positions, liquidations included: they changed the collateral and not the trading wallet."""
    condition = Q(liquidation=True)
    for account in Account.objects.all():
        for on_margin in _on_margin:
            condition |= Q(account=account) & on_margin(account)
    return condition


def of_currencies(rows: QuerySet[AccountTrade], *, moved: str, fee: str) -> QuerySet[AccountTrade]:
    """The trades in which this currency was bought or sold, and whose fee is in that one; empty: any."""
    if moved:
        symbols = Symbol.objects.filter(Q(base_currency=moved.upper()) | Q(quote_currency=moved.upper()))
        rows = rows.filter(symbol__in=symbols.values("code"))
    if fee:
        symbols = Symbol.objects.filter(Q(fee_currency=fee.upper()) | Q(fee_currency="", quote_currency=fee.upper()))
        rows = rows.filter(symbol__in=symbols.values("code"))
    return rows


def store(*, account: Account, trades: Sequence[records.AccountTrade], now: datetime) -> Intake:
    """Store new trades; to one that exists only what was missing is added."""
    intake, sound = Intake(), []
    for trade in trades:
        if reason := _unstorable_trade(trade):
            intake.problems.append(f"Trade {trade.id} could not be recorded: {reason}.")
        else:
            sound.append(_trade(account, trade, now))
    rows = AccountTrade.objects.filter(account=account, exchange_id__in=[trade.exchange_id for trade in sound])
    existing = {row.exchange_id: row for row in rows}
    new = [trade for trade in sound if trade.exchange_id not in existing]
    _insert(account, new)
    added = [trade for trade in sound if trade.exchange_id in existing and _add(existing[trade.exchange_id], trade)]
    intake.changed = len(new) + len(added)
    _update_averages(account, {trade.exchange_order_id for trade in (*new, *added)})
    return intake


def _insert(account: Account, new: list[AccountTrade]) -> None:
    with transaction.atomic():
        AccountTrade.objects.bulk_create(new, ignore_conflicts=True)
        stored = AccountTrade.objects.filter(account=account, exchange_id__in=[trade.exchange_id for trade in new])
        witnessed.note(AccountTrade, stored.values_list("pk", flat=True))


def _add(row: AccountTrade, newer: AccountTrade) -> bool:
    """Add what was missing before; nothing else of a trade can be written."""
    names = ("taker", "liquidation")
    more = {name: getattr(newer, name) for name in names if getattr(row, name) is None}
    more = {name: value for name, value in more.items() if value is not None}
    still_open = Q(**dict.fromkeys(more))
    return bool(more) and bool(AccountTrade.objects.filter(still_open, pk=row.pk).update(**more))


def store_answer(*, account: Account, order: records.Order, now: datetime) -> None:
    """Store the trades in the answer to a new order: it was filled at once, so it was the taker (supplement 2.8)."""
    trades = [
        records.AccountTrade(
            id=trade.id,
            order_id=order.id,
            client_order_id=order.client_order_id,
            symbol=order.symbol,
            side=order.side,
            quantity=trade.quantity,
            price=trade.price,
            fee=trade.fee,
            timestamp=trade.timestamp,
            taker=True,
        )
        for trade in order.trades_report or ()
    ]
    if trades:
        store(account=account, trades=trades, now=now)


def _trade(account: Account, trade: records.AccountTrade, now: datetime) -> AccountTrade:
    return AccountTrade(
        account=account,
        exchange_id=trade.id,
        exchange_order_id=trade.order_id,
        read_at=now,
        **{name: getattr(trade, name) for name in _COPIED},
    )


def _unstorable_trade(trade: records.AccountTrade) -> str:
    lengths = len(trade.client_order_id) <= LONGEST_ID and len(trade.symbol) <= 40 and len(trade.side) <= 10
    amounts = all(storable(amount) for amount in (trade.quantity, trade.price, trade.fee))
    reasons = [
        (0 < trade.id < 2**63 and 0 < trade.order_id < 2**63, "its ID is out of range"),
        (lengths and "\0" not in trade.client_order_id + trade.symbol, "a text field is too long"),
        (amounts, "a number has too many digits"),
        (FIRST <= trade.timestamp < LAST, "its time is out of range"),
    ]
    return next((reason for holds, reason in reasons if not holds), "")


def of_order(row: Order) -> QuerySet[AccountTrade]:
    """The fills of an order, oldest first, with those of the orders that it replaced."""
    numbers, older = [row.exchange_id], row.replaces
    while older is not None:
        numbers.append(older.exchange_id)
        older = older.replaces
    rows = AccountTrade.objects.filter(account=row.account_id, exchange_order_id__in=[one for one in numbers if one])
    return rows.order_by("exchange_id")


def _update_averages(account: Account, numbers: set[int]) -> None:
    """Set the average price from the trades themselves where the exchange gave none, and announce the orders."""
    trades: dict[int, list[AccountTrade]] = {}
    for trade in AccountTrade.objects.filter(account=account, exchange_order_id__in=numbers):
        trades.setdefault(trade.exchange_order_id, []).append(trade)
    for row in Order.objects.filter(account=account, exchange_id__in=numbers):
        fills = trades.get(row.exchange_id or 0, []) if row.replaces_id is None else list(of_order(row))
        quantity = sum((trade.quantity for trade in fills), Decimal(0))
        is_complete = quantity == row.cum_quantity
        if quantity and (row.average_price is None or row.active or is_complete):
            value = sum((trade.quantity * trade.price for trade in fills), Decimal(0))
            average = plain((value / quantity).quantize(PRICE_PLACES))
            Order.objects.filter(pk=row.pk).update(average_price=average)
        announcements.announce(row.subject)
        announcements.announce(machine.TOPIC, id=row.pk)
        if row.initiator_id is not None:
            announcements.announce(f"{outgoing.TOPIC}:{row.initiator_id}")  # the pages that they have open show it
