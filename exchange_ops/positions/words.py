"""A margin action in one line of words: what its button says, and what lists and titles call it."""

from decimal import Decimal
from typing import Any

from desk.templatetags.desk import plain
from exchange_ops.market.models import Symbol
from exchange_ops.positions import states


def sentence_of(action: Any, symbol: Symbol | None, *, before: Decimal | None = None) -> str:
    """What it does: "Close position: sell 0.5 BTC at the market". The person agrees to every word of it.

    `before` is the collateral that is there now; quantities and prices are written in full.
    """
    code = action.symbol
    quote = symbol.quote_currency if symbol else ""
    match action.kind:
        case states.OPEN:
            return f"Open {code} margin account with {_money(action.amount, quote)}"
        case states.SET:
            change = _change(action.amount, before, quote)
            return f"Change {code} collateral to {_money(action.amount, quote)}{change}"
        case states.CLOSE_ACCOUNT:
            trade = f" and {_trade(action, symbol)}" if action.quantity else ""
            return f"Close {code} margin account{trade}"
        case states.REDUCE:
            return f"Close part of {code} position: {_trade(action, symbol)}"
        case _:
            return f"Close {code} position: {_trade(action, symbol)}"


def _trade(action: Any, symbol: Symbol | None) -> str:
    base, quote = (symbol.base_currency, symbol.quote_currency) if symbol else ("", "")
    where = "at market" if action.price is None else f"at {_money(action.price, quote)}"
    return f"{action.side} {_money(action.quantity, base)} {where}"


def _change(amount: Decimal, before: Decimal | None, quote: str) -> str:
    if before is None or amount == before:
        return ""
    verb = "add" if amount > before else "return"
    return f" ({verb} {_money(abs(amount - before), quote)})"


def _money(amount: Decimal | None, unit: str) -> str:
    return f"{plain(amount or Decimal(0))} {unit}".rstrip()
