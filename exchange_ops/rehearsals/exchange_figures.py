"""What a sandbox needs of this desk's rows to stand in for the exchange: currencies with prices, symbols, accounts.

The figures are those of the last reading; nothing is asked of anybody. The form is the one that the sandbox reads
(`sandbox/world/figures/reading.py`): amounts are text with at most 24 digits on either side of the point.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Any, Final

from desk import clock
from exchange_ops.ledger.models import Balance
from exchange_ops.market import valuation
from exchange_ops.market.models import Currency, Symbol, Ticker
from exchange_ops.market.reference import newest_reading
from exchange_ops.orders.models import Order
from exchange_ops.shared.models import Account
from exchange_ops.subaccounts import states as sub_states
from exchange_ops.subaccounts.models import SubAccount, SubAccountBalance

DOLLAR: Final = "USD"
_CODE: Final = re.compile(r"[A-Z0-9]{1,20}", re.ASCII)
_SYMBOL: Final = re.compile(r"[A-Z0-9]{1,40}", re.ASCII)
_TOO_LARGE: Final = Decimal(10) ** 24
_FINEST: Final = Decimal(1).scaleb(-18)
_WIDE: Final = Context(prec=60)
_AS_THEY_ARE: Final = (
    *("crypto", "payin_enabled", "payin_payment_id", "payin_confirmations", "payout_enabled", "payout_is_payment_id"),
    *("transfer_enabled", "delisted"),
)
_AMOUNTS: Final = (
    *("payout_fee", "payout_minimal_amount", "low_processing_time_s", "high_processing_time_s"),
    "avg_processing_time_s",
)
_TYPES: Final = ("limit", "stopLimit", "stopMarket")
_IN_FORCE: Final = ("GTC", "Day")
_MOST_CONFIRMATIONS, _MOST_PLACES = 10_000, 24


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures as JSON, how many orders there are in them, and how many open orders are not."""

    content: dict[str, Any]
    orders: int
    other_orders: int


def read(accounts: Sequence[Account]) -> Figures:
    """The figures of these accounts, in their order."""
    currencies = {row.code: row for row in Currency.objects.order_by("code") if _CODE.fullmatch(row.code)}
    prices = _prices(currencies)
    symbols = [row for row in Symbol.objects.order_by("code") if _is_sound(row, currencies)]
    taken = {row.code for row in symbols}
    orders = {account.pk: _orders(account, taken) for account in accounts}
    open_orders = Order.objects.filter(account__in=accounts, active=True).count()
    carried = sum(len(each) for each in orders.values())
    content = {
        "currencies": [_currency(row, prices.get(row.code)) for row in currencies.values()],
        "symbols": [_symbol(row) for row in symbols],
        "accounts": [
            {
                "balances": _balances(Balance.objects.filter(account=account), currencies, first=Balance.BANK),
                "sub_accounts": _sub_accounts(account, currencies),
                "orders": orders[account.pk],
            }
            for account in accounts
        ],
    }
    return Figures(content, carried, open_orders - carried)


def _prices(codes: Iterable[str]) -> dict[str, Decimal]:
    """The last price of each currency in dollars, however old the reading is."""
    now = newest_reading(Ticker) or clock.now()
    values = valuation.values_of(amounts=dict.fromkeys(codes, Decimal(1)), quote=DOLLAR, now=now)
    rates = {code: value.rate for code, value in values.items()}
    return {code: rate for code, rate in rates.items() if rate is not None and _FINEST <= rate < _TOO_LARGE}


def _currency(row: Currency, usd: Decimal | None) -> dict[str, Any]:
    facts = {name: getattr(row, name) for name in _AS_THEY_ARE}
    facts["payin_confirmations"] = min(row.payin_confirmations, _MOST_CONFIRMATIONS)
    places = {name: getattr(row, name) for name in ("precision_payout", "precision_transfer")}
    return {
        "code": row.code,
        "full_name": row.full_name,
        **facts,
        **{name: _text(getattr(row, name)) for name in _AMOUNTS},
        **{name: None if value is None else min(value, _MOST_PLACES) for name, value in places.items()},
        "usd": _text(None if usd is None else usd.quantize(_FINEST, context=_WIDE)),
    }


def _is_sound(row: Symbol, currencies: Mapping[str, Currency]) -> bool:
    """Whether a market can be made of it: known currencies, steps above zero, and rates that leave something."""
    is_named = bool(_SYMBOL.fullmatch(row.code)) and {row.base_currency, row.quote_currency} <= set(currencies)
    steps, rates = (row.quantity_increment, row.tick_size), (row.take_liquidity_rate, abs(row.provide_liquidity_rate))
    return is_named and all(_FINEST <= step < _TOO_LARGE for step in steps) and all(0 <= rate < 1 for rate in rates)


def _symbol(row: Symbol) -> dict[str, Any]:
    return {
        "code": row.code,
        "base": row.base_currency,
        "quote": row.quote_currency,
        "quantity_increment": _text(row.quantity_increment),
        "tick_size": _text(row.tick_size),
        "take_liquidity_rate": _text(row.take_liquidity_rate),
        "provide_liquidity_rate": _plain(row.provide_liquidity_rate),
        "max_initial_leverage": _text(row.max_initial_leverage) if row.margin_trading else None,
    }


def _balances(
    rows: Iterable[Balance | SubAccountBalance], currencies: Mapping[str, Currency], *, first: str
) -> dict[str, tuple[str, str]]:
    """Bank and trading balance by currency, each with what was reserved; `first` is what the rows call the bank."""
    sums: dict[str, list[Decimal]] = {}
    for row in rows:
        if row.currency in currencies:
            pair = sums.setdefault(row.currency, [Decimal(0), Decimal(0)])
            pair[0 if row.wallet == first else 1] += row.available + row.reserved
    return {
        code: (_text(bank) or "0", _text(trading) or "0")
        for code, (bank, trading) in sorted(sums.items())
        if bank or trading
    }


def _sub_accounts(account: Account, currencies: Mapping[str, Currency]) -> list[dict[str, Any]]:
    rows = SubAccount.objects.filter(account=account, missing_since=None).prefetch_related("balances")
    return [
        {
            "id": row.exchange_id,
            "status": _status(row),
            "payout_enabled": row.payout_enabled is not False,
            "description": row.description,
            "balances": _balances(row.balances.all(), currencies, first=SubAccountBalance.MAIN),
        }
        for row in rows.order_by("exchange_id")
    ]


def _status(row: SubAccount) -> str:
    if row.status in ("new", "active"):
        return row.status
    return "disabled" if row.closed_as == sub_states.AS_DISABLED else "frozen"


def _orders(account: Account, symbols: set[str]) -> list[dict[str, Any]]:
    """The open spot orders that rest or wait for a stop price, with what is left of each."""
    rows = Order.objects.filter(
        account=account,
        active=True,
        margin=False,
        symbol__in=symbols,
        side__in=("buy", "sell"),
        type__in=_TYPES,
        time_in_force__in=_IN_FORCE,
    )
    return [
        {
            "symbol": row.symbol,
            "side": row.side,
            "type": row.type,
            "time_in_force": row.time_in_force,
            "quantity": _text(row.remaining),
            "price": _text(row.price),
            "stop_price": _text(row.stop_price),
        }
        for row in rows.order_by("pk")
        if 0 < row.remaining < _TOO_LARGE
    ]


def _text(amount: Decimal | None) -> str | None:
    """The amount as text; None where there is none, or none that the sandbox takes."""
    return None if amount is None or not 0 <= amount < _TOO_LARGE else _plain(amount)


def _plain(amount: Decimal) -> str:
    text = f"{amount:f}"
    return (text.rstrip("0").rstrip(".") if "." in text else text) or "0"
