"""Isolated margin accounts and positions: opened, changed, closed (supplement 1.5, 2.7; exchange streams, Margin
account).

Choices where the documents are silent:

- A balance may shrink as far as position, orders and the present loss allow (20001 beyond). Zero closes the account and
  cancels its orders; while it has a position that is refused with 20001, and the account's own closing is the way.
- Closing at the market cancels the account's orders first. When the book does not hold enough to close everything that
  the call asks for, the call is refused with 20010 and nothing changes.
- Closing at a limit places an ordinary margin order of the position's size; the answer lists the position when that
  closed it at once.
- Interest is left out.
"""

from collections.abc import Sequence
from decimal import ROUND_HALF_DOWN, Context, Decimal
from typing import Final

from sandbox.amounts import MOST_DIGITS, digits_after_point
from sandbox.exchange.accounts.ledger import Wallet, units_of
from sandbox.exchange.funds.withdrawals import FUNDS_DESCRIPTION
from sandbox.exchange.margin.margin_funds import ISOLATED, Isolated, move
from sandbox.exchange.margin.margin_reports import (
    CLOSED,
    CREATED,
    UPDATED,
    account_record,
    add_account_news,
    gain_at,
    held_by,
    mark_of,
    position_record,
    terms_of,
)
from sandbox.exchange.orders.matching import BUY, SELL, Pair
from sandbox.exchange.orders.orders import IOC, LIMIT, MARKET, OrderTerms
from sandbox.exchange.positions.margin_records import MarginAccount
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import (
    INSUFFICIENT_FUNDS,
    MARGIN_FORBIDDEN,
    MARGIN_NOT_CHANGED,
    MARGIN_NOT_FOUND,
    MARKET_CLOSED,
    VALIDATION_ERROR,
    Refusal,
)
from sandbox.exchange.trading import orders_life

REOPENED: Final = "reopened"
MARGIN_CHANGED: Final = "marginChanged"


def must_have_margin(pair: Pair) -> None:
    """Raises 20040 for a symbol without margin trading."""
    if pair.symbol.leverage is None:
        raise Refusal(MARGIN_FORBIDDEN)


def find(exchange: Exchange, owner: str, symbol: str) -> MarginAccount:
    """The owner's account of a symbol; raises 20032."""
    account = exchange.margins.find(owner, symbol)
    if account is None:
        raise Refusal(MARGIN_NOT_FOUND)
    return account


def find_position(exchange: Exchange, owner: str, symbol: str) -> MarginAccount:
    """The owner's account of a symbol that has a position; raises 20032."""
    account = find(exchange, owner, symbol)
    if account.position is None:
        raise Refusal(MARGIN_NOT_FOUND)
    return account


def set_balance(exchange: Exchange, owner: str, pair: Pair, balance: Decimal, *, strict: bool) -> dict[str, object]:
    """Opens an account with this balance, changes the balance, or closes the account (zero); returns its record.

    Digits beyond the currency's are rounded half down, or refused when `strict`. Raises 20040, 20032 for closing what
    is not there, 20033 for a balance that is the present one, 20001.
    """
    must_have_margin(pair)
    account, units = exchange.margins.find(owner, pair.symbol.id), _units(exchange, pair, balance, strict=strict)
    if account is None:
        if not units:
            raise Refusal(MARGIN_NOT_FOUND)
        return _open(exchange, owner, pair, units)
    if not units:
        if account.position is not None:
            raise Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)
        return _close(exchange, account)
    if units == account.balance:
        raise Refusal(MARGIN_NOT_CHANGED)
    _must_allow(exchange, account, units)
    move(exchange, account, units - account.balance, "margin")
    add_account_news(exchange, account, UPDATED, MARGIN_CHANGED)
    return account_record(exchange, account)


def close(exchange: Exchange, accounts: Sequence[MarginAccount]) -> list[dict[str, object]]:
    """Closes positions at the market and then their accounts; returns the accounts' records. Raises 20010."""
    close_positions(exchange, [account for account in accounts if account.position is not None])
    return [_close(exchange, account) for account in accounts if account.position is None]


def close_positions(exchange: Exchange, accounts: Sequence[MarginAccount]) -> list[dict[str, object]]:
    """Closes the positions of accounts at the market; returns what they were. Raises 20010."""
    for account in accounts:
        exchange.look_at(account.pair.symbol.id)
    held = [account for account in accounts if account.position is not None]  # the market may have closed one just now
    for account in held:
        _must_find_takers(exchange, account)
    closed = []
    for account in held:
        was = record_of(exchange, account)
        close_at(exchange, account, None)
        if account.position is None:  # else the book did not hold what it showed a moment ago
            closed.append(was)
    return closed


def close_at_limit(exchange: Exchange, account: MarginAccount, price: int) -> list[dict[str, object]]:
    """Puts in an order that closes the position at a price, in ticks; returns what the position was if it did so at
    once, or nothing."""
    exchange.look_at(account.pair.symbol.id)
    if account.position is None:
        raise Refusal(MARGIN_NOT_FOUND)
    was = record_of(exchange, account)
    close_at(exchange, account, price)
    return [was] if account.position is None else []


def close_at(exchange: Exchange, account: MarginAccount, price: int | None, backing: Isolated = ISOLATED) -> None:
    """Cancels the account's orders and puts in one of the size of its position, at the market or at a price."""
    symbol = account.pair.symbol.id
    orders_life.cancel_all(exchange, account.owner, margin=True, symbol=symbol)
    terms = OrderTerms(
        pair=account.pair,
        side=SELL if account.quantity > 0 else BUY,
        type=MARKET if price is None else LIMIT,
        time_in_force=IOC if price is None else "GTC",
        quantity=abs(account.quantity),
        price=price,
    )
    orders_life.place(exchange, account.owner, terms, backing)


def free_idle(exchange: Exchange, owner: str) -> None:
    """Closes the owner's accounts that have no position; their money is free again."""
    for account in exchange.margins.accounts(owner):
        if account.position is None:
            _close(exchange, account)


def _open(exchange: Exchange, owner: str, pair: Pair, units: int) -> dict[str, object]:
    _must_be_there(exchange, owner, pair, units)
    account, was_there = exchange.margins.open(owner, pair, exchange.moment_ms)
    move(exchange, account, units, "margin")
    add_account_news(exchange, account, CREATED, REOPENED if was_there else CREATED)
    return account_record(exchange, account)


def _close(exchange: Exchange, account: MarginAccount) -> dict[str, object]:
    orders_life.cancel_all(exchange, account.owner, margin=True, symbol=account.pair.symbol.id)
    if account.balance:
        move(exchange, account, -account.balance, "margin")
    account.updated_ms = exchange.moment_ms
    exchange.margins.close(account)
    add_account_news(exchange, account, CLOSED, CLOSED)
    return account_record(exchange, account)


def _must_allow(exchange: Exchange, account: MarginAccount, units: int) -> None:
    """Refuses a balance that the trading account can't bring up, or that orders and position don't let go down to."""
    if units > account.balance:
        _must_be_there(exchange, account.owner, account.pair, units - account.balance)
    elif not exchange.recorded_fills.replaying:  # what was allowed once depended on the mark
        position = account.position
        needed = held_by(exchange, account)
        if position is not None:
            needed += terms_of(exchange, account.pair).for_position(position.cost)
            needed -= min(gain_at(account, mark_of(exchange, account.pair)), 0)
        if units < needed:
            raise Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)


def _must_be_there(exchange: Exchange, owner: str, pair: Pair, units: int) -> None:
    if exchange.ledger.units(owner, Wallet.TRADING, pair.quote) < units:
        raise Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)


def _must_find_takers(exchange: Exchange, account: MarginAccount) -> None:
    """Refuses to close at the market what the others in the book would not take whole."""
    if exchange.recorded_fills.replaying:
        return
    pair, side = account.pair, SELL if account.quantity > 0 else BUY
    offered, _ = pair.book.walk(side, 10**60)
    own = exchange.orders.listed(account.owner, margin=True, symbol=pair.symbol.id)
    offered -= sum(pair.book.remaining(order.id) for order in own if order.terms.side != side)
    if offered < abs(account.quantity):
        raise Refusal(MARKET_CLOSED)


def record_of(exchange: Exchange, account: MarginAccount) -> dict[str, object]:
    """The record of the position that an account has."""
    if account.position is None:
        raise ValueError("there is no position")
    return position_record(exchange, account, account.position)


def _units(exchange: Exchange, pair: Pair, balance: Decimal, *, strict: bool) -> int:
    digits = exchange.currencies[pair.quote].digits
    if digits_after_point(balance) > digits:
        if strict:
            raise Refusal(VALIDATION_ERROR, f"Param 'marginBalance' has more than {digits} digits after the point")
        balance = balance.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_DOWN, Context(prec=2 * MOST_DIGITS + 1))
    return units_of(balance)
