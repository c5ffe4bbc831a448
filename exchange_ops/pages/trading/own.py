"""The account's own part of a market's page: open orders, position, fills, available balances.

The chart and the ladder get it as figures that their scripts draw; the exact ones are in the tables.
"""

import json
from collections import defaultdict
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final

from django.db.models import Q
from django.urls import NoReverseMatch, reverse

from desk import clock
from exchange_ops.ledger.models import Balance
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market import depth
from exchange_ops.market.models import Symbol
from exchange_ops.market.views import parts
from exchange_ops.orders import states
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.shared.models import Account
from wire.values import decimal_text

MOST_ORDERS, MOST_FILLS = 50, 200
ENDED_STAYS: Final = timedelta(minutes=1)  # so that whoever cancelled or placed an order sees in its row how it ended
_LOOKED_AT: Final = 200  # the newest orders of a symbol: among them are those that ended a moment ago
SIDES: Final[dict[str, depth.Side]] = {"sell": "ask", "buy": "bid"}


def _open(account: Account | None, symbol: Symbol) -> list[Order]:
    is_open = Q(active=True) | Q(state__in=(*states.AT_WORK, states.WAITING))
    rows = Order.objects.filter(is_open, account=account, symbol=symbol.code)
    return list(rows.select_related("initiator").order_by("-pk")[: MOST_ORDERS + 1]) if account else []


def _just_ended(account: Account | None, symbol: Symbol, now: datetime) -> list[Order]:
    """Orders that ended within the last minute, the newest first."""
    rows = Order.objects.filter(account=account, symbol=symbol.code).order_by("-pk")[:_LOOKED_AT] if account else ()
    since = now - ENDED_STAYS
    over = [row for row in rows if not row.is_open and row.state != states.WAITING]
    ended = [row for row in over if clock.is_fresh(row.updated_at, now, within=ENDED_STAYS)]
    # An old order that is read for the first time has not ended now.
    return [row for row in ended if row.exchange_updated_at is None or row.exchange_updated_at >= since - ENDED_STAYS]


def sizes(account: Account | None, symbol: Symbol, group: int) -> parts.Own:
    """The open sizes of our limit orders, by the rows of the ladder."""
    size_by_row: dict[str, dict[Decimal, Decimal]] = {"ask": defaultdict(Decimal), "bid": defaultdict(Decimal)}
    for row in _open(account, symbol):
        if _is_in_book(row) and row.price is not None:
            side = SIDES[row.side]
            size_by_row[side][depth.row_of(row.price, side=side, step=symbol.tick_size * group)] += row.remaining
    return {side: dict(rows) for side, rows in size_by_row.items()}


def _is_in_book(row: Order) -> bool:
    """Whether the order is in the book: at the exchange, with a price, and not waiting for its stop price."""
    return row.active and row.type == "limit" and row.side in SIDES and row.status != "suspended"


def work(account: Account | None, symbol: Symbol, *, may_trade: bool, now: datetime) -> dict[str, Any]:
    """Open orders and position of this symbol, as rows and, with the newest fills, as figures for the chart.

    Orders that ended within the last minute keep their rows.
    """
    rows = _open(account, symbol)
    listed = sorted([*rows[:MOST_ORDERS], *_just_ended(account, symbol, now)], key=lambda row: -row.pk)
    position = MarginPosition.objects.filter(account=account, symbol=symbol.code, gone_at=None).first()
    cancellable = [row.pk for row in rows if row.active and row.state in states.AT_EXCHANGE]
    fills = AccountTrade.objects.filter(account=account, symbol=symbol.code).order_by("-timestamp")[:MOST_FILLS]
    return {
        "orders": [{"row": row, "replace": _replace_url(row) if may_trade else ""} for row in listed],
        "has_more": len(rows) > MOST_ORDERS,
        "cancel_newest": max(cancellable, default=0) if may_trade else 0,
        "cancellable": set(cancellable) if may_trade else set(),
        "position": position,
        "brackets": list(brackets.live(account=account).filter(symbol=symbol.code)[:MOST_ORDERS]) if account else [],
        "wallets": _wallets(account, symbol),
        "own": json.dumps([_for_chart(row, may_trade=may_trade) for row in rows if row.price or row.stop_price]),
        "fills": json.dumps([_fill(row) for row in reversed(fills)]),
        "entry": decimal_text(position.price_entry) if position else "",
    }


def _for_chart(row: Order, *, may_trade: bool) -> dict[str, Any]:
    price = row.price if row.price is not None else row.stop_price
    return {
        "name": row.reference,
        "side": row.side,
        "price": decimal_text(price or Decimal(0)),
        "left": decimal_text(row.remaining),
        "stop": row.stop_price is not None,
        "listed": _is_in_book(row),
        "replace": _replace_url(row) if may_trade else "",
    }


def _replace_url(row: Order) -> str:
    """The page that confirms a change of its price; empty for an order that can't be replaced."""
    if not (row.active and row.state in states.AT_EXCHANGE and row.price is not None):
        return ""
    try:
        return reverse("order-replace", args=[row.pk])
    except NoReverseMatch:
        return ""


def _fill(row: AccountTrade) -> list[int | str]:
    return [int(row.timestamp.timestamp()), row.side, decimal_text(row.quantity), decimal_text(row.price)]


def _wallets(account: Account | None, symbol: Symbol) -> list[Balance]:
    """The trading balances of both currencies, the base currency first."""
    codes = dict.fromkeys((symbol.base_currency, symbol.quote_currency))
    rows = Balance.objects.filter(account=account, wallet=Balance.TRADING, currency__in=codes)
    balances = {row.currency: row for row in rows}
    return [balances[name] for name in codes if name in balances]


def available(account: Account | None, symbol: Symbol) -> dict[str, Any]:
    """The balances that can be sold and spent."""
    if account is None:
        return {}
    balances = {row.currency: row for row in _wallets(account, symbol)}
    return {"base": balances.get(symbol.base_currency), "quote": balances.get(symbol.quote_currency)}
