"""Withdrawals in two phases: hold, commit, roll back, and what becomes of a hold that nobody touches (exchange REST,
Account management; supplement 2.10)."""

from dataclasses import dataclass
from decimal import Decimal

from sandbox.amounts import EXACT, ZERO, digits_after_point, rounded_up, text_of
from sandbox.engine.clock import DAY_MS, HOUR_MS
from sandbox.exchange.accounts.ledger import Wallet, moved
from sandbox.exchange.accounts.transactions import Payout, Phase, Status, Transaction
from sandbox.exchange.listing.currencies import Currency
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import (
    ACTION_NOT_ALLOWED,
    INSUFFICIENT_FUNDS,
    LIMIT_EXCEEDED,
    PAYOUT_COMMITTED,
    PAYOUT_NOT_FOUND,
    PAYOUT_ROLLED_BACK,
    VALIDATION_ERROR,
    Refusal,
)

WINDOW_MS = HOUR_MS
FUNDS_DESCRIPTION = "Check that the funds are sufficient, given commissions"


@dataclass(frozen=True, slots=True)
class Order:
    """What a withdrawal asks for. `amount` leaves the account when `include_fee`, else it arrives."""

    currency: Currency
    amount: Decimal
    address: str
    payment_id: str = ""
    include_fee: bool = False
    auto_commit: bool = True
    public_comment: str = ""


def estimated_fee(currency: Currency) -> Decimal:
    """The fee that the estimate tells; raises 600 when payouts of the currency are off."""
    if not currency.payout_enabled or currency.payout_fee is None:
        raise Refusal(ACTION_NOT_ALLOWED, f"Withdrawals of {currency.code} are not available")
    return currency.payout_fee


def hold(exchange: Exchange, account: str, order: Order) -> Transaction:
    """Reserves amount and fee on the bank account and records the payout; commits it at once when asked to.

    Raises 600, 10001, 20003 or 20001, having changed nothing.
    """
    currency = order.currency
    fee = rounded_up(estimated_fee(currency) * (1 + exchange.config.fee_drift), currency.digits)
    net = EXACT.subtract(order.amount, fee) if order.include_fee else order.amount
    payout = Payout("", account, currency.code, net, fee)
    _check_amount(order, net)
    _check_payment_id(order)
    _check_daily_limit(exchange, account, currency, net)
    if exchange.available(account, currency.code) < payout.total:
        raise Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)
    transaction = _recorded(exchange, payout, order)
    lines = moved(currency.code, payout.total, (account, Wallet.BANK), (account, Wallet.BANK_RESERVED))
    exchange.post("hold", payout.id, lines)
    if order.auto_commit:
        _commit(exchange, payout)
    else:
        exchange.touch(transaction)
        exchange.timers.set(exchange.moment_ms + WINDOW_MS, "hold_end", payout.id, payout.step)
    return transaction


def commit(exchange: Exchange, account: str, payout_id: str) -> bool:
    """Sends a held payout on its way; a second time changes nothing. Raises 20005 or, after a rollback, 20007."""
    payout = _of_account(exchange, account, payout_id)
    if payout.phase is Phase.ROLLED_BACK:
        raise Refusal(PAYOUT_ROLLED_BACK)
    if payout.phase is Phase.HELD:
        _commit(exchange, payout)
    return True


def roll_back(exchange: Exchange, account: str, payout_id: str) -> bool:
    """Calls a held payout off; a second time changes nothing. Raises 20005 or, after a commit, 20006."""
    payout = _of_account(exchange, account, payout_id)
    if payout.phase is Phase.COMMITTED:
        raise Refusal(PAYOUT_COMMITTED)
    if payout.phase is Phase.HELD:
        _release(exchange, payout)
    return True


def end_hold(exchange: Exchange, payout: Payout) -> None:
    """The hour is over and nobody decided: the configuration tells what the exchange does."""
    if exchange.config.hold_end == "lapse":
        _release(exchange, payout)
    elif exchange.config.hold_end == "commit":
        _commit(exchange, payout)


def take_out(exchange: Exchange, payout: Payout) -> None:
    """Marks a payout as decided to go out, whoever decided it; its owner can't call it off any more."""
    payout.phase = Phase.COMMITTED
    payout.step += 1
    transaction = exchange.transaction(payout.id)
    exchange.addresses.remember_use(payout.account, payout.currency, transaction.address, transaction.payment_id)


def call_off(exchange: Exchange, payout: Payout, error_code: str) -> None:
    """The exchange itself ends a payout without paying: a hold is rolled back, a committed one has failed."""
    if payout.phase is Phase.HELD:
        payout.phase = Phase.ROLLED_BACK
    give_back(exchange, payout, "failed payout", error_code)


def give_back(exchange: Exchange, payout: Payout, purpose: str, error_code: str = "") -> None:
    """Ends a payout that did not go out: its total is free again, its transaction failed."""
    owner = payout.account
    lines = moved(payout.currency, payout.total, (owner, Wallet.BANK_RESERVED), (owner, Wallet.BANK))
    exchange.post(purpose, payout.id, lines)
    payout.step += 1
    payout.ended = True
    transaction = exchange.transaction(payout.id)
    transaction.status = Status.FAILED
    transaction.error_code = error_code
    exchange.touch(transaction)


def _commit(exchange: Exchange, payout: Payout) -> None:
    take_out(exchange, payout)
    exchange.touch(exchange.transaction(payout.id))
    exchange.timers.set(exchange.moment_ms + exchange.config.payout_ms, "payout_send", payout.id, payout.step)


def _release(exchange: Exchange, payout: Payout) -> None:
    payout.phase = Phase.ROLLED_BACK
    give_back(exchange, payout, "release")


def _of_account(exchange: Exchange, account: str, payout_id: str) -> Payout:
    payout = exchange.payouts.get(payout_id)
    if payout is None or payout.account != account:
        raise Refusal(PAYOUT_NOT_FOUND)
    return payout


def _recorded(exchange: Exchange, payout: Payout, order: Order) -> Transaction:
    transaction = exchange.record(
        account=payout.account,
        type="payout",
        currency=order.currency,
        amount=payout.net,
        fee=payout.fee,
        address=order.address,
        payment_id=order.payment_id,
        public_comment=order.public_comment,
    )
    payout.id = transaction.id
    exchange.payouts[payout.id] = payout
    return transaction


def _check_amount(order: Order, net: Decimal) -> None:
    currency = order.currency
    precision = currency.digits if currency.precision_payout is None else currency.precision_payout
    if digits_after_point(order.amount) > precision:
        raise Refusal(VALIDATION_ERROR, f"Param 'amount' has more than {precision} digits after the point")
    if net <= 0:
        raise Refusal(VALIDATION_ERROR, "Param 'amount' does not exceed the fee")
    least = currency.payout_minimum or ZERO
    if net < least:
        raise Refusal(VALIDATION_ERROR, f"Param 'amount' is below the minimum of {text_of(least)} {currency.code}")


def _check_payment_id(order: Order) -> None:
    if order.payment_id and not order.currency.payout_is_payment_id:
        raise Refusal(VALIDATION_ERROR, f"Param 'paymentId' is not used by {order.currency.code}")


def _check_daily_limit(exchange: Exchange, account: str, currency: Currency, net: Decimal) -> None:
    if currency.daily_payout_limit is None:
        return
    since_ms = exchange.moment_ms - DAY_MS
    spent = ZERO
    for transaction in reversed(exchange.transactions.of_account(account)):
        if transaction.created_ms <= since_ms:
            break
        if (transaction.type, transaction.currency) == (
            "payout",
            currency.code,
        ) and transaction.status is not Status.FAILED:
            spent = EXACT.add(spent, transaction.amount)
    if EXACT.add(spent, net) > currency.daily_payout_limit:
        limit = text_of(currency.daily_payout_limit)
        raise Refusal(LIMIT_EXCEEDED, f"At most {limit} {currency.code} can be withdrawn in 24 hours")
