"""Movements inside the exchange: bank and trading account, between users, between the networks of one currency."""

from decimal import Decimal

from sandbox.amounts import digits_after_point
from sandbox.exchange.accounts.accounts import Account
from sandbox.exchange.accounts.ledger import HOUSE, Wallet, moved
from sandbox.exchange.accounts.transactions import Status, Transaction
from sandbox.exchange.funds.withdrawals import FUNDS_DESCRIPTION
from sandbox.exchange.listing.currencies import Currency
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import ACTION_NOT_ALLOWED, INSUFFICIENT_FUNDS, VALIDATION_ERROR, Refusal

BANK_TO_EXCHANGE = "bankToExchange"
EXCHANGE_TO_BANK = "exchangeToBank"


def between_wallets(exchange: Exchange, account: str, currency: Currency, amount: Decimal, kind: str) -> Transaction:
    """Moves money between the bank and the trading account; both balances show it at once.

    Raises 600 while transfers of the currency are off, 10001 for an amount with too many digits, 20001.
    """
    if not currency.transfer_enabled:
        raise Refusal(ACTION_NOT_ALLOWED, f"Transfers of {currency.code} are not available")
    source, target = Wallet.BANK, Wallet.TRADING
    if kind == EXCHANGE_TO_BANK:
        source, target = target, source
    _check(exchange, account, source, currency, amount)
    transaction = _recorded(exchange, account, kind, currency, amount)
    exchange.post("transfer", transaction.id, moved(currency.code, amount, (account, source), (account, target)))
    exchange.touch(transaction)
    return transaction


def to_user(exchange: Exchange, account: str, receiver: Account, currency: Currency, amount: Decimal) -> Transaction:
    """Gives money to another user at once and for good: a withdraw here, a deposit there, both offchain.

    Raises 600 for a delisted currency, 10001 for oneself or an amount with too many digits, 20001.
    """
    if receiver.email == account and not currency.delisted:
        raise Refusal(VALIDATION_ERROR, "Param 'identifier' is your own account")
    sent, _ = between_banks(exchange, account, receiver.email, currency, amount, purpose="transfer to user")
    return sent


def between_banks(
    exchange: Exchange, giver: str, receiver: str, currency: Currency, amount: Decimal, *, purpose: str
) -> tuple[Transaction, Transaction]:
    """Moves money from one bank account to another: a withdraw here, a deposit there, both offchain; returns the two.

    Raises 600 for a delisted currency, 10001 for an amount with too many digits, 20001.
    """
    if currency.delisted:
        raise Refusal(ACTION_NOT_ALLOWED, f"Transfers of {currency.code} are not available")
    _check(exchange, giver, Wallet.BANK, currency, amount)
    sent = _recorded(exchange, giver, "withdraw", currency, amount)
    received = _recorded(exchange, receiver, "deposit", currency, amount)
    sent.sub_type = received.sub_type = "offchain"
    lines = moved(currency.code, amount, (giver, Wallet.BANK), (receiver, Wallet.BANK))
    exchange.post(purpose, sent.id, lines)
    exchange.touch(sent)
    exchange.touch(received)
    return sent, received


def convert(
    exchange: Exchange, account: str, source: Currency, target: Currency, amount: Decimal
) -> tuple[Transaction, Transaction]:
    """Exchanges one network's variant of a currency for another's, one for one: two transactions, both swap.

    Raises 600 when the two are no variants of one currency, 10001 for an amount with too many digits, 20001.
    """
    if source.code == target.code or _coin(source) != _coin(target):
        raise Refusal(ACTION_NOT_ALLOWED, f"{source.code} can't be converted to {target.code}")
    _check(exchange, account, Wallet.BANK, source, amount)
    _check_digits(target, amount)
    withdrawn = _recorded(exchange, account, "withdraw", source, amount)
    taken = _recorded(exchange, account, "deposit", target, amount)
    withdrawn.sub_type = taken.sub_type = "swap"
    stock = (HOUSE, Wallet.STOCK)
    lines = (
        *moved(source.code, amount, (account, Wallet.BANK), stock),
        *moved(target.code, amount, stock, (account, Wallet.BANK)),
    )
    exchange.post("convert", withdrawn.id, lines)
    exchange.touch(withdrawn)
    exchange.touch(taken)
    return withdrawn, taken


def _coin(currency: Currency) -> str:
    return currency.network_of or currency.code


def _check(exchange: Exchange, account: str, source: Wallet, currency: Currency, amount: Decimal) -> None:
    _check_digits(currency, amount)
    if exchange.ledger.balance(account, source, currency.code) < amount:
        raise Refusal(INSUFFICIENT_FUNDS, FUNDS_DESCRIPTION)


def _check_digits(currency: Currency, amount: Decimal) -> None:
    precision = currency.digits if currency.precision_transfer is None else currency.precision_transfer
    if digits_after_point(amount) > precision:
        raise Refusal(VALIDATION_ERROR, f"Param 'amount' has more than {precision} digits after the point")


def _recorded(exchange: Exchange, account: str, kind: str, currency: Currency, amount: Decimal) -> Transaction:
    transaction = exchange.record(account=account, type=kind, currency=currency, amount=amount)
    transaction.status = Status.SUCCESS
    return transaction
