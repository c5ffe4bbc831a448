"""What stands behind margin orders: the isolated account of their symbol (`orders_funds.Backing`).

The exchange lends both sides of a trade; what a trade gains or costs, and its fee, goes to or from the account's
balance at once. A loss that the balance does not cover, and a fee that it does not reach, are the exchange's.
"""

from typing import Final

from sandbox.exchange.accounts.ledger import HOUSE, Entry, Wallet
from sandbox.exchange.funds.withdrawals import FUNDS_DESCRIPTION
from sandbox.exchange.margin.margin_reports import CLOSED as CLOSED_REPORT
from sandbox.exchange.margin.margin_reports import UPDATED, add_account_news, held_by, mark_of, size_of, terms_of, touch
from sandbox.exchange.orders.matching import SELL, Rate
from sandbox.exchange.orders.orders import Order, Settled
from sandbox.exchange.positions.margin_records import CLOSED, MarginAccount
from sandbox.exchange.state import FUNDS, Exchange, Met
from sandbox.exchange.terms import CLOSE_ONLY, INSUFFICIENT_FUNDS, MARGIN_NOT_FOUND, Refusal

WATCH: Final = "margin_watch"
WATCH_MS: Final = 60_000
LIQUIDATED: Final = "liquidated"


class Isolated:
    """The isolated margin account of an order's symbol; `liquidating` when the exchange itself trades for it."""

    margin = True

    def __init__(self, *, liquidating: bool = False) -> None:
        self._liquidating = liquidating

    def reserve(self, exchange: Exchange, order: Order, notional: int) -> None:
        """Raises 20032 without an account, 20034 for what would add to a position past its margin call, 20001."""
        account = account_of(exchange, order)
        if not self._liquidating:
            _check(exchange, account, order, notional)
        touch(exchange, account)

    def release(self, exchange: Exchange, order: Order) -> None:
        """An order that has ended needs nothing any more; nothing was moved for it."""
        account = exchange.margins.find(order.account, order.pair.symbol.id)
        if account is not None:
            touch(exchange, account)

    def settle(self, exchange: Exchange, order: Order, price: int, quantity: int, rate: Rate) -> Settled:
        """Takes the trade into the position, and what it brings or costs into the balance."""
        account, pair, margins = account_of(exchange, order), order.pair, exchange.margins
        sign = 1 if order.is_buy else -1
        change = account.traded(sign * quantity, price, margins.new_position_id, exchange.moment_ms)
        value, amount = price * quantity * pair.quote_unit, quantity * pair.base_unit
        before = account.balance
        gained = max(change.gain, -before)
        fee = min(rate.fee(price * quantity), before + gained)
        account.balance = before + gained - fee
        _watch(exchange, account)
        kind, reason = UPDATED, change.reason
        if reason == CLOSED:
            kind, reason = CLOSED_REPORT, LIQUIDATED if self._liquidating else CLOSED
        add_account_news(exchange, account, kind, reason)
        entries = (
            (HOUSE, Wallet.LENDING, pair.base, sign * amount),
            (HOUSE, Wallet.LENDING, pair.quote, -sign * value - gained),
            (account.owner, Wallet.MARGIN, pair.quote, gained - fee),
        )
        return Settled(entries, fee, self._liquidating, change.position_id)


ISOLATED: Final = Isolated()
LIQUIDATION: Final = Isolated(liquidating=True)


def account_of(exchange: Exchange, order: Order) -> MarginAccount:
    """The account behind an order; raises 20032."""
    account = exchange.margins.find(order.account, order.pair.symbol.id)
    if account is None:
        raise Refusal(MARGIN_NOT_FOUND)
    return account


def move(exchange: Exchange, account: MarginAccount, units: int, purpose: str) -> None:
    """Moves money from the trading account into the margin account, or back (negative); raises `CannotPost`."""
    quote = account.pair.quote
    entries: tuple[Entry, ...] = (
        (account.owner, Wallet.TRADING, quote, -units),
        (account.owner, Wallet.MARGIN, quote, units),
    )
    exchange.ledger.move(exchange.moment_ms, purpose, account.pair.symbol.id, entries)
    account.balance += units
    account.updated_ms = exchange.moment_ms


def _watch(exchange: Exchange, account: MarginAccount) -> None:
    symbol = account.pair.symbol.id
    if account.position is not None and symbol not in exchange.margins.watched:
        exchange.margins.watched.add(symbol)
        exchange.timers.set(exchange.moment_ms + WATCH_MS, WATCH, symbol)


def _check(exchange: Exchange, account: MarginAccount, order: Order, notional: int) -> None:
    """Refuses an order that the account can't carry. What it looks at is not all in the journal, so a refusal that
    comes from a new order is noted there: a replacement that was refused is an input that was not."""
    outcomes = exchange.recorded_fills
    if outcomes.replaying:
        if outcomes.is_next(FUNDS):
            outcomes.next_met()
            raise Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)
        return
    needed, present = held_by(exchange, account, order, _value(order, notional)), held_by(exchange, account)
    position = account.position
    if needed <= present:  # it can only reduce the position
        return
    refusal = None
    if is_past(exchange, account):
        refusal = Refusal(CLOSE_ONLY)
    elif needed + (terms_of(exchange, account.pair).for_position(position.cost) if position else 0) > account.balance:
        refusal = Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)
    if refusal is None:
        return
    if order.id not in exchange.orders.active:
        outcomes.note(Met((), FUNDS))
    raise refusal


def is_past(exchange: Exchange, account: MarginAccount, *, liquidation: bool = False) -> bool:
    """Whether the mark has reached the price of the margin call, or that of the liquidation."""
    position = account.position
    if position is None:
        return False
    terms, mark, size = terms_of(exchange, account.pair), mark_of(exchange, account.pair), size_of(account)
    find = terms.liquidation_price if liquidation else terms.margin_call_price
    edge = find(account.balance, position.cost, size)
    return mark <= edge if size > 0 else mark >= edge


def _value(order: Order, notional: int) -> int:
    """What an order may come to in units. A sale that meets the book trades above its limit, not at it."""
    if not order.is_buy:
        terms = order.terms
        if terms.stop_price is not None:
            notional = max(notional, terms.stop_price * order.remaining)
        else:
            taken, met = order.pair.book.walk(SELL, order.remaining, order.price)
            notional = met + (order.remaining - taken) * (order.price or 0)
    return notional * order.pair.quote_unit
