"""The wire forms of margin accounts and positions (exchange streams, Margin account, Position; supplement 1.5), and the
mark.

The mark of a symbol, by which positions are judged, is the price of its latest trade for a minute, and then the middle
of what the simulated traders quote. Profit and loss are told as of the mark.
"""

from decimal import Decimal
from fractions import Fraction
from typing import Final

from sandbox.amounts import EXACT, text_of
from sandbox.engine.clock import instant_text
from sandbox.exchange.accounts.ledger import amount_of
from sandbox.exchange.orders.matching import BUY, SELL, Pair
from sandbox.exchange.orders.orders import STOP_LIMIT, Order
from sandbox.exchange.positions.margin_formulas import Terms
from sandbox.exchange.positions.margin_records import AccountReport, MarginAccount, Position
from sandbox.exchange.state import Exchange
from sandbox.exchange.trading.orders_life import rates

FRESH_MS: Final = 60_000
_MORE_DIGITS: Final = 6  # an average price has so many digits more than a tick, at most

STATUS, CREATED, UPDATED, CLOSED = "status", "created", "updated", "closed"


def terms_of(exchange: Exchange, pair: Pair) -> Terms:
    """Leverage and rate of a symbol that has margin trading."""
    symbol = pair.symbol
    if symbol.leverage is None:
        raise ValueError(f"{symbol.id} has no margin trading")
    return Terms(symbol.leverage, rates(exchange, symbol)[0])


def mark_of(exchange: Exchange, pair: Pair) -> int:
    """The price in ticks by which positions are judged now."""
    price, at_ms = exchange.margins.traded.get(pair.symbol.id, (0, 0))
    if price and exchange.moment_ms - at_ms < FRESH_MS:
        return price
    bid, ask = exchange.market.quotes(pair.symbol, exchange.moment_ms)
    return (bid + ask) // 2


def size_of(account: MarginAccount) -> int:
    """What the position gains, in units, when the price rises by one tick."""
    return account.quantity * account.pair.quote_unit


def gain_at(account: MarginAccount, price: int) -> int:
    """Profit or loss of the open position at a price, in units."""
    position = account.position
    return 0 if position is None else position.gain(abs(size_of(account)) * price)


def held_by(exchange: Exchange, account: MarginAccount, order: Order | None = None, value: int = 0) -> int:
    """What the open orders of an account need, in units; with one more order, of this value.

    The part of an order that can only reduce the position needs nothing: the oldest orders reduce first.
    """
    terms, pair, quantity = terms_of(exchange, account.pair), account.pair, account.quantity
    may_close = {BUY: max(-quantity, 0), SELL: max(quantity, 0)}
    orders = exchange.orders.listed(account.owner, margin=True, symbol=pair.symbol.id)
    needed = 0
    for each in [*orders, *([order] if order is not None else [])]:
        side = each.terms.side
        reducing = min(each.remaining, may_close[side])
        may_close[side] -= reducing
        opening = each.remaining - reducing
        if opening:
            full = value if each is order else _price_of(each) * each.remaining * pair.quote_unit
            markup = max(each.terms.take_markup, each.terms.provide_markup)
            own = terms._replace(rate=EXACT.add(terms.rate, markup)) if markup else terms
            needed += own.for_order(-(-full * opening // each.remaining))
    return needed


def _price_of(order: Order) -> int:
    """The price in ticks that an order counts with; one at the market is over before anybody counts."""
    terms = order.terms
    if order.price is None:
        return -(-(terms.stop_price or 0) * 11 // 10)
    return max(order.price, terms.stop_price or 0) if terms.type == STOP_LIMIT and not order.is_buy else order.price


def account_record(exchange: Exchange, account: MarginAccount) -> dict[str, object]:
    """The Margin account record, with the position if there is one."""
    terms, position = terms_of(exchange, account.pair), account.position
    record: dict[str, object] = {
        "symbol": account.pair.symbol.id,
        "leverage": format(terms.leverage, "f"),
        "marginBalance": _text(account.balance),
        "marginBalanceOrders": _text(held_by(exchange, account)),
        "marginBalanceRequired": _text(terms.for_position(position.cost) if position else 0),
        "createdAt": instant_text(account.created_ms),
        "updatedAt": instant_text(account.updated_ms),
    }
    if position is not None:
        record["position"] = position_record(exchange, account, position)
    return record


def position_record(exchange: Exchange, account: MarginAccount, position: Position) -> dict[str, object]:
    """The Position record as of the mark."""
    pair, terms, size = account.pair, terms_of(exchange, account.pair), size_of(account)
    edges = account.balance, position.cost, size
    return {
        "id": position.id,
        "symbol": pair.symbol.id,
        "quantity": pair.quantity_text(position.quantity),
        "pnl": _text(gain_at(account, mark_of(exchange, pair))),
        "priceEntry": _price_text(pair, Fraction(position.cost, abs(size))),
        "priceMarginCall": pair.price_text(terms.margin_call_price(*edges)),
        "priceLiquidation": pair.price_text(terms.liquidation_price(*edges)),
        "createdAt": instant_text(position.created_ms),
        "updatedAt": instant_text(position.updated_ms),
    }


def add_account_news(exchange: Exchange, account: MarginAccount, type: str, reason: str) -> None:
    """Puts the account as it is now among the news."""
    if exchange.has_listeners:
        record = account_record(exchange, account) | {"reportType": type, "reportReason": reason}
        exchange.margins.report(AccountReport(account.owner, lambda: record))


def touch(exchange: Exchange, account: MarginAccount) -> None:
    """Has the account told, as it will be then, behind the news of its orders."""
    if exchange.has_listeners:
        update = {"reportType": UPDATED, "reportReason": UPDATED}
        report = AccountReport(account.owner, lambda: account_record(exchange, account) | update)
        exchange.margins.touch(account, report)


def _text(units: int) -> str:
    return text_of(amount_of(units))


def _price_text(pair: Pair, ticks: Fraction) -> str:
    digits = len(pair.price_text(0).partition(".")[2])
    scale = digits + _MORE_DIGITS
    return text_of(Decimal(round(ticks * Fraction(pair.symbol.tick) * 10**scale)).scaleb(-scale, EXACT), digits)
