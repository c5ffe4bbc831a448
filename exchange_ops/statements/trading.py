"""The trading wallet in a period: from the balance as last read, by our trades and the transfers of the ledger.

The exchange keeps no ledger of trades, so a balance of the past is the present one without what was recorded since, as
in the history of the portfolio (`portfolio.walking`). Transfers to and from margin are recorded nowhere: a balance from
before one is not known. Source: exchange REST, Transaction and Account trade; supplement 1.6, 2.8, 2.10.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Final

from exchange_ops.ledger.directions import FEES, TRANSFERS
from exchange_ops.ledger.models import Balance
from exchange_ops.orders import workflow
from exchange_ops.portfolio import effects
from exchange_ops.portfolio.models import TRADING
from exchange_ops.portfolio.walking import Change
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.statements.lines import TRADES, ZERO, Line
from exchange_ops.statements.support import Support

MARGIN: Final = "Transfers to and from margin are in no ledger, so earlier balances are not known."
BELOW_ZERO: Final = "The balance would be below zero: a movement is not recorded."


@dataclass(slots=True)
class _Coin:
    """One currency: its balance at `read_at`, and what is recorded around the period."""

    line: Line
    held: Decimal = ZERO
    read_at: datetime | None = None
    until_close: Decimal = ZERO  # from the reading to the end of the period; negative where the period ended before it

    def add(self, kind: str, at: datetime, amount: Decimal, period: Period, read_at: datetime) -> None:
        """Count one change, whose time is not before the period or the reading."""
        if period.begins <= at < period.ends:
            self.line.movements[kind].add(amount)
        if read_at <= at < period.ends:
            self.until_close += amount
        elif period.ends <= at < read_at:
            self.until_close -= amount


@dataclass(slots=True)
class _Wallet:
    account: Account
    period: Period
    coins: dict[str, _Coin] = field(default_factory=dict)
    read_at: datetime | None = None  # the oldest reading of a balance
    begins: datetime | None = None  # the first change
    problem: str = ""  # what speaks against every balance
    of_margin: dict[str, datetime] = field(default_factory=dict)  # the last change of its collateral, by currency

    def coin(self, code: str) -> _Coin:
        """The currency; one without a balance holds nothing at the reading."""
        if code not in self.coins:
            self.coins[code] = _Coin(Line(TRADING, code), read_at=self.read_at)
        return self.coins[code]

    def is_of_margin(self, code: str, moment: datetime) -> bool:
        """Whether collateral may have moved after the moment."""
        return code in self.of_margin and self.of_margin[code] >= moment


def lines(account: Account, period: Period, support: Support) -> Iterator[Line]:
    """A line for each currency that has movements in the period or a balance at one of its ends.

    None for a period before the first transfer or trade: what the balance was then is not known.
    """
    wallet = _Wallet(account, period, begins=_begins(account))
    if wallet.begins is None or period.ends <= wallet.begins:
        return
    for row in Balance.objects.filter(account=account, wallet=Balance.TRADING):
        wallet.coins[row.currency] = _Coin(Line(TRADING, row.currency), row.available + row.reserved, row.read_at)
    wallet.read_at = min((coin.read_at for coin in wallet.coins.values() if coin.read_at), default=None)
    _count(wallet)
    wallet.problem = _problem(wallet, support)
    wallet.of_margin = {change.currency: change.at for change in reversed(effects.collateral_changes(account))}
    for code in sorted(wallet.coins):
        coin = wallet.coins[code]
        closing = coin.held + coin.until_close
        if closing or any(each.count for each in coin.line.movements.values()):
            _state(wallet, support, coin.line, closing)
            yield coin.line


def _count(wallet: _Wallet) -> None:
    """Read every transfer and trade since the period began, or since the oldest reading if that is earlier."""
    since = min(wallet.period.begins, wallet.read_at or wallet.period.begins)
    for kind, change in _changes(wallet.account, since):
        coin = wallet.coin(change.currency)
        if change.amount is not None:
            coin.add(kind, change.at, change.amount, wallet.period, coin.read_at or wallet.period.ends)


def _changes(account: Account, since: datetime) -> Iterator[tuple[str, Change]]:
    moved = effects.succeeded(account).filter(type__in=(effects.TO_TRADING, effects.FROM_TRADING))
    for entry in effects.entries(moved.filter(updated_at__gte=since).order_by()):
        yield from ((TRANSFERS, each) for each in effects.entry_changes(entry) if each.wallet == TRADING)
    for trade in effects.trades(account, since=since):
        base, quote, fee = effects.trade_changes(trade)
        yield from ((TRADES, base), (TRADES, quote))
        if fee.amount:
            yield FEES, fee


def _begins(account: Account) -> datetime | None:
    moved = effects.succeeded(account).filter(type__in=(effects.TO_TRADING, effects.FROM_TRADING))
    firsts: Iterable[datetime | None] = (
        moved.order_by("updated_at").values_list("updated_at", flat=True).first(),
        account.trades.order_by("timestamp").values_list("timestamp", flat=True).first(),
    )
    return min((at for at in firsts if at is not None), default=None)


def _problem(wallet: _Wallet, support: Support) -> str:
    if support.problem:
        return support.problem
    if not any(coin.read_at for coin in wallet.coins.values()):
        return "The balances of the trading wallet have not been read yet."
    trades_read = heartbeats.state_of(workflow.name_of(wallet.account))
    if trades_read is None or trades_read.heard_at is None:
        return "The trades of the account are still loading."
    if unknown := effects.unknown_symbols(wallet.account):
        return f"Trades in {unknown[0]}, a symbol that the exchange no longer lists, cannot be added up."
    return ""


def _state(wallet: _Wallet, support: Support, line: Line, closing: Decimal) -> None:
    """Set the balances that are supported, and the reason where one is not."""
    period, opening = wallet.period, closing - line.moved
    reasons = [
        wallet.problem
        or _unread(wallet, support, moment)
        or (MARGIN if wallet.is_of_margin(line.currency, moment) else "")
        or (BELOW_ZERO if amount < 0 else "")
        for moment, amount in ((period.begins, opening), (period.ends, closing))
    ]
    line.opening = None if reasons[0] else opening
    line.closing = None if reasons[1] else closing
    line.reason = reasons[0] or reasons[1]


def _unread(wallet: _Wallet, support: Support, moment: datetime) -> str:
    """A balance is derived backwards, so it is what came after the moment that has to be known."""
    return support.reason(max(moment, wallet.read_at or moment))
