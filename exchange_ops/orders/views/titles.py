"""An order in one line of words."""

from typing import Any

from desk.templatetags.desk import plain
from exchange_ops.market.models import Symbol
from exchange_ops.orders.brackets.exit_prices import Exits


def title(order: Any, symbol: Symbol | None) -> str:
    """An order in one line: "buy order: 0.5 BTC at 12,000 USD". The person agrees to every word of it."""
    base = symbol.base_currency if symbol else order.symbol
    quote = f" {symbol.quote_currency}" if symbol else ""
    kind = {"limit": "", "market": "market ", "stopLimit": "stop-limit ", "stopMarket": "stop-market "}
    words = [f"{kind.get(order.type, f'{order.type} ')}{order.side} order: {plain(order.quantity)} {base}"]
    if order.price is not None:
        words.append(f"at {plain(order.price)}{quote}")
    if order.stop_price is not None:
        words.append(f"triggered at {plain(order.stop_price)}{quote}")
    usual = "IOC" if order.type == "market" else "GTC"
    terms = [order.time_in_force] if order.time_in_force != usual else []
    if order.expire_time is not None:
        terms.append(f"until {order.expire_time:%Y-%m-%d %H:%M} UTC")
    if order.post_only:
        terms.append("post-only")
    if order.margin:
        terms.append("on margin")
    if order.take_liquidity_markup:
        terms.append(f"taker markup {plain(order.take_liquidity_markup * 100)} %")
    if order.provide_liquidity_markup:
        terms.append(f"maker markup {plain(order.provide_liquidity_markup * 100)} %")
    return " ".join(words) + (f" ({', '.join(terms)})" if terms else "")


def exits_title(exits: Exits, symbol: Symbol | None) -> str:
    """The two exits in words: "stop 11,000, take profit 14,000 USD". They are part of what the button does."""
    quote = f" {symbol.quote_currency}" if symbol else ""
    return f"stop {plain(exits.stop)}, take profit {plain(exits.take)}{quote}"
