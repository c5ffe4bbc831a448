"""What is reserved of a currency, and by what: our payouts, payouts made elsewhere, open orders; and the rest.

A buy order reserves at least its cost and at most its cost with the highest fee; without a price that is unknown.
Margin collateral is in neither wallet and is listed separately.
Source: exchange REST, Balance and Order; supplement 2.8.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Final

from django.db.models import Q

from exchange_ops.ledger.models import Balance, LedgerEntry
from exchange_ops.margin.models import MarginAccount
from exchange_ops.market.models import Symbol
from exchange_ops.orders import states as order_states
from exchange_ops.orders.models import Order
from exchange_ops.portfolio.effects import BUY, OUT, UNDER_WAY
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.funds import RESERVING
from exchange_ops.withdrawals.models import Withdrawal

ZERO: Final = Decimal(0)


@dataclass(slots=True)
class Part:
    """The money that some rows reserve: at least `low`, at most `high`; `is_open` if the amount of one is unknown."""

    count: int = 0
    low: Decimal = ZERO
    high: Decimal = ZERO
    is_open: bool = False

    def add(self, low: Decimal, high: Decimal | None = None) -> None:
        """One more row."""
        self.count += 1
        self.low += low
        self.high += low if high is None else high


@dataclass(slots=True)
class Reserve:
    """One currency. `bank` and `trading` are what the exchange says is reserved there, the parts what we know of it."""

    currency: str
    bank: Decimal = ZERO
    trading: Decimal = ZERO
    payouts: Part = field(default_factory=Part)
    elsewhere: Part = field(default_factory=Part)
    orders: Part = field(default_factory=Part)
    collateral: Part = field(default_factory=Part)

    @property
    def total(self) -> Decimal:
        """Everything that is reserved."""
        return self.bank + self.trading

    @property
    def unexplained_bank(self) -> Decimal:
        """What the bank wallet reserves besides payouts; below zero while its reading is behind them."""
        return self.bank - self.payouts.low - self.elsewhere.low

    @property
    def unexplained_trading(self) -> Decimal:
        """What the trading wallet reserves besides orders; nothing while orders of unknown cost may be the reason."""
        if self.trading < self.orders.low:
            return self.trading - self.orders.low
        return ZERO if self.orders.is_open else max(self.trading - self.orders.high, ZERO)

    @property
    def unexplained(self) -> Decimal:
        """What nothing of ours explains."""
        return max(self.unexplained_bank, ZERO) + max(self.unexplained_trading, ZERO)

    @property
    def is_behind(self) -> bool:
        """Whether less is reserved than our payouts and orders need: a reading is older than they are."""
        return min(self.unexplained_bank, self.unexplained_trading) < 0


def by_currency(accounts: Sequence[Account]) -> dict[str, Reserve]:
    """By currency, of all of these accounts together; six queries however many there are."""
    reserves: dict[str, Reserve] = {}
    for balance in Balance.objects.filter(account__in=accounts):
        row = _reserve(reserves, balance.currency)
        if balance.wallet == Balance.BANK:
            row.bank += balance.reserved
        else:
            row.trading += balance.reserved
    for payout in Withdrawal.objects.filter(account__in=accounts, state__in=RESERVING):
        _reserve(reserves, payout.currency).payouts.add(payout.amount if payout.leaves is None else payout.leaves)
    _add_elsewhere(reserves, accounts)
    _add_orders(reserves, accounts)
    return reserves


def _reserve(reserves: dict[str, Reserve], currency: str) -> Reserve:
    return reserves.setdefault(currency, Reserve(currency))


def _add_elsewhere(reserves: dict[str, Reserve], accounts: Sequence[Account]) -> None:
    rows = LedgerEntry.objects.filter(account__in=accounts, type__in=OUT, status__in=UNDER_WAY, withdrawal=None)
    for code, amount, fee in rows.values_list("currency", "amount", "fee"):
        _reserve(reserves, code).elsewhere.add(amount + (fee or ZERO))


def _add_orders(reserves: dict[str, Reserve], accounts: Sequence[Account]) -> None:
    is_open = Q(active=True) | Q(state__in=order_states.AT_WORK)
    orders = list(Order.objects.filter(is_open, account__in=accounts, margin=False))
    collateral = list(MarginAccount.objects.filter(account__in=accounts, gone_at=None))
    symbols = Symbol.objects.in_bulk({row.symbol for row in orders} | {row.symbol for row in collateral})
    for order in orders:
        if symbol := symbols.get(order.symbol):
            _add_order(reserves, order, symbol)
    for margin_account in collateral:
        if (symbol := symbols.get(margin_account.symbol)) and margin_account.margin_balance:
            _reserve(reserves, symbol.quote_currency).collateral.add(margin_account.margin_balance)


def _add_order(reserves: dict[str, Reserve], order: Order, symbol: Symbol) -> None:
    if order.side != BUY:
        _reserve(reserves, symbol.base_currency).orders.add(order.remaining)
        return
    part = _reserve(reserves, symbol.quote_currency).orders
    if order.price is None:
        part.add(ZERO)
        part.is_open = True
        return
    cost, rate = order.remaining * order.price, max(symbol.take_liquidity_rate, symbol.provide_liquidity_rate, ZERO)
    # Fees are rounded up for each trade: as many steps of the tick as there are increments to fill.
    fills = order.remaining / symbol.quantity_increment if symbol.quantity_increment else Decimal(1)
    part.add(cost, cost * (1 + rate) + fills * symbol.tick_size)
