"""What somebody can do with a currency now or why not, and what is possible with an amount too small to pay out."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from desk.models import Person
from desk.templatetags.desk import amount
from exchange_ops.market.models import Currency, Symbol
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import request_checks
from exchange_ops.withdrawals.funds import Funds

CHOOSE: Final = "Choose an account first."
NOT_DESCRIBED: Final = "This currency is not listed on the exchange."


@dataclass(frozen=True, slots=True)
class Action:
    """One action; with a reason in `why_not` it is not possible now."""

    label: str
    icon: str
    url: str
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Dust:
    """An amount that is too small: for what, and what can still be done with it."""

    sentence: str
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Market:
    """The copies of currencies and symbols, read once for a page."""

    currencies: dict[str, Currency]
    symbols: dict[str, list[Symbol]]


def market(codes: Sequence[str] | None = None) -> Market:
    """All currencies, or these, and the symbols that trade them, from two queries."""
    described, traded = Currency.objects.all(), Symbol.objects.order_by("code")
    if codes is not None:
        described = described.filter(code__in=codes)
        traded = traded.filter(base_currency__in=codes) | traded.filter(quote_currency__in=codes)
    symbols: dict[str, list[Symbol]] = {}
    for row in traded:
        symbols.setdefault(row.base_currency, []).append(row)
        symbols.setdefault(row.quote_currency, []).append(row)
    return Market({row.code: row for row in described}, symbols)


def actions(*, row: Funds, person: Person, account: Account | None, market: Market) -> list[Action]:
    """Deposit, withdraw, move, convert, trade and protect, in this order."""
    code, currency = row.currency, market.currencies.get(row.currency)
    chosen = "" if account is not None else CHOOSE
    may_ask = chosen or ("" if rules.may_request(person) else "Only operators can request this.")
    symbol = _symbol_to_trade(code, account, market)
    wish = urlencode({"currency": code})
    return [
        Action(
            "Deposit",
            "arrow-down-left",
            reverse("deposit", args=[code]) if row.takes_deposits and "/" not in code else "",
            chosen or _no_deposits(row, currency),
        ),
        Action(
            "Withdraw",
            "arrow-up-right",
            f"{reverse('withdrawal-new')}?{wish}",
            may_ask or request_checks.currency_problem(currency) or _nothing(row.bank, code, "bank account"),
        ),
        Action(
            "Transfer",
            "arrow-left-right",
            f"{reverse('transfer-new', args=['move'])}?{wish}",
            may_ask or _no_moves(row, currency) or _nothing(row.bank + row.trading, code, "bank or trading account"),
        ),
        Action(
            "Convert",
            "refresh-cw",
            f"{reverse('transfer-new', args=['convert'])}?{wish}",
            may_ask or ("" if row.converts else f"{code} is on one network only, so it can't be converted."),
        ),
        Action(
            "Trade",
            "chart-candlestick",
            reverse("market", args=[symbol.code]) if symbol else "",
            may_ask or ("" if symbol else f"There is no market for {code}."),
        ),
        _protect(row, symbol, may_ask),
    ]


def _protect(row: Funds, symbol: Symbol | None, why_not: str) -> Action:
    """A stop or a take profit for what the trading account holds."""
    is_sold = symbol is not None and symbol.base_currency == row.currency
    url = (
        f"{reverse('order-new')}?{urlencode({'protect': 'stop', 'symbol': symbol.code})}" if symbol and is_sold else ""
    )
    no_market = "" if is_sold else f"There is no market for selling {row.currency}."
    why_not = why_not or no_market or _nothing(row.trading, row.currency, "trading account")
    return Action("Protect", "shield-check", url, why_not)


def _symbol_to_trade(code: str, account: Account | None, market: Market) -> Symbol | None:
    """The market of a currency: it in the account's quote currency where there is one, else another one of it.

    The quote currency itself is traded as such.
    """
    quote = account.quote_currency if account is not None else ""

    def place(symbol: Symbol) -> tuple[bool, bool]:
        return symbol.base_currency != code, symbol.quote_currency != quote

    return min(market.symbols.get(code, ()), key=place, default=None)


def dust(*, row: Funds, market: Market) -> Dust | None:
    """What can be done with an amount below the smallest withdrawal or conversion; None if it is large enough."""
    currency, held = market.currencies.get(row.currency), row.bank + row.trading
    if currency is None or not held:
        return None
    least = currency.payout_minimal_amount if currency.payout_enabled else None
    step = None if currency.precision_transfer is None else Decimal(1).scaleb(-currency.precision_transfer)
    if least is not None and held < least:
        sentence = f"Below the minimum withdrawal of {amount(least, row.currency)}."
    elif row.converts and step is not None and held < step:
        sentence = f"Below the minimum conversion amount of {amount(step, row.currency)}."
    else:
        return None
    return Dust(sentence, tuple(_options(row, held, step, market)))


def _options(row: Funds, held: Decimal, step: Decimal | None, market: Market) -> list[str]:
    can_move = row.moves and (step is None or held >= step)
    symbol_to_sell = next(
        (
            symbol
            for symbol in market.symbols.get(row.currency, ())
            if symbol.base_currency == row.currency and held >= symbol.quantity_increment
        ),
        None,
    )
    options = [f"sell on {symbol_to_sell.code}"] if symbol_to_sell else []
    options += ["convert to another network"] if row.converts and can_move else []
    options += ["transfer to a sub-account"] if can_move else []
    return options or ["keep until more arrives: too small to sell, convert or transfer"]


def _no_deposits(row: Funds, currency: Currency | None) -> str:
    if row.takes_deposits:
        return ""
    if currency is None:
        return NOT_DESCRIBED
    if not currency.crypto:
        return f"{row.currency} has no deposit address: it is not on a blockchain."
    return f"The exchange has suspended {row.currency} deposits."


def _no_moves(row: Funds, currency: Currency | None) -> str:
    if row.moves:
        return ""
    return NOT_DESCRIBED if currency is None else f"The exchange has suspended {row.currency} transfers."


def _nothing(held: Decimal, code: str, where: str) -> str:
    return "" if held > 0 else f"No {code} available in the {where}."
