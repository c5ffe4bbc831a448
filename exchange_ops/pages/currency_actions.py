"""What somebody can do with a currency now, what not and why, and what becomes of an amount too small to pay out."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from urllib.parse import urlencode

from django.urls import reverse

from desk.models import Person
from desk.templatetags.desk import amount as amount_text
from exchange_ops.market.models import Currency, Symbol
from exchange_ops.shared import rules
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import request_checks
from exchange_ops.withdrawals.funds import Funds

CHOOSE: Final = "Choose one of the accounts first."
NOT_DESCRIBED: Final = "The exchange does not describe this currency."


@dataclass(frozen=True, slots=True)
class Action:
    """One of them; with a reason in `why_not` it can't be done now."""

    label: str
    icon: str
    url: str
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Dust:
    """An amount that is too small: what for, and what can be done with it all the same."""

    sentence: str
    ways: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Market:
    """What is known of the currencies and symbols, read once for a page."""

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


def of(*, row: Funds, person: Person, account: Account | None, known: Market) -> list[Action]:
    """Deposit, withdraw, move, convert and trade, in this order."""
    code, currency = row.currency, known.currencies.get(row.currency)
    chosen = "" if account is not None else CHOOSE
    may_ask = chosen or ("" if rules.may_request(person) else "Operators ask for it.")
    symbol = next(iter(known.symbols.get(code, ())), None)
    wish = urlencode({"currency": code})
    trade = urlencode({"symbol": symbol.code}) if symbol else ""
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
            "Move",
            "arrow-left-right",
            f"{reverse('transfer-new', args=['move'])}?{wish}",
            may_ask or _no_moves(row, currency) or _nothing(row.bank + row.trading, code, "two accounts"),
        ),
        Action(
            "Convert",
            "refresh-cw",
            f"{reverse('transfer-new', args=['convert'])}?{wish}",
            may_ask
            or ("" if row.converts else f"{code} exists on one network only: there is nothing to convert it to."),
        ),
        Action(
            "Trade",
            "chart-candlestick",
            f"{reverse('order-new')}?{trade}",
            may_ask or ("" if symbol else f"No market trades {code}."),
        ),
    ]


def dust(*, row: Funds, known: Market) -> Dust | None:
    """What can be done with an amount below the smallest withdrawal or conversion; nothing where it is large enough."""
    currency, held = known.currencies.get(row.currency), row.bank + row.trading
    if currency is None or not held:
        return None
    least = currency.payout_minimal_amount if currency.payout_enabled else None
    step = None if currency.precision_transfer is None else Decimal(1).scaleb(-currency.precision_transfer)
    if least is not None and held < least:
        sentence = f"Below the smallest withdrawal of {amount_text(least, row.currency)}."
    elif row.converts and step is not None and held < step:
        sentence = f"Below the smallest amount that converts, {amount_text(step, row.currency)}."
    else:
        return None
    return Dust(sentence, tuple(_ways(row, held, step, known)))


def _ways(row: Funds, held: Decimal, step: Decimal | None, known: Market) -> list[str]:
    can_move = row.moves and (step is None or held >= step)
    sold = next(
        (
            symbol
            for symbol in known.symbols.get(row.currency, ())
            if symbol.base_currency == row.currency and held >= symbol.quantity_increment
        ),
        None,
    )
    ways = [f"sell it on {sold.code}"] if sold else []
    ways += ["convert it to the form of another network"] if row.converts and can_move else []
    ways += ["move it to a sub-account"] if can_move else []
    return ways or ["leave it until more arrives: it is too small to be sold, converted or moved"]


def _no_deposits(row: Funds, currency: Currency | None) -> str:
    if row.takes_deposits:
        return ""
    if currency is None:
        return NOT_DESCRIBED
    if not currency.crypto:
        return f"{row.currency} does not belong to a chain, so it has no deposit address."
    return f"The exchange takes no deposits of {row.currency} for now."


def _no_moves(row: Funds, currency: Currency | None) -> str:
    if row.moves:
        return ""
    return NOT_DESCRIBED if currency is None else f"The exchange moves no {row.currency} for now."


def _nothing(held: Decimal, code: str, where: str) -> str:
    return "" if held > 0 else f"There is no available {code} in the {where}."
