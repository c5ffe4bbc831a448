"""Sub-accounts: freezing and activating, their withdrawal settings, and money between them and their master
(exchange REST, Sub-accounts; supplement 2.4, 2.11).

Choices where the documents are silent:

- Freezing also takes new sub-accounts; activating brings them all back as active. A new one can't be activated
  otherwise: it answers false, as a disabled one does. Activating an active one answers true and changes nothing.
- A call names several sub-accounts: one that is unknown or refused refuses the call, and nothing changes.
- What freezing moves from the trading to the bank account of the sub-account is recorded there, one exchangeToBank for
  each currency. Its margin accounts without a position are closed first; one with a position stays as it is.
- A transfer moves money between the two bank accounts and makes two transactions: a withdraw for who gives, a deposit
  for who takes, both with the subType offchain. The answer is the id of the master's.
"""

from collections.abc import Iterable
from decimal import Decimal
from typing import Final

from exchange_ops.wire.refusals import SUBACCOUNT_FROZEN_OR_DISABLED, SUBACCOUNT_TRANSFER_REFUSED, SUBACCOUNT_UNKNOWN
from sandbox.exchange.accounts.accounts import SubAccount, SubStatus
from sandbox.exchange.accounts.ledger import Wallet, moved
from sandbox.exchange.accounts.transactions import Status, Transaction
from sandbox.exchange.funds.transfers import EXCHANGE_TO_BANK, between_banks
from sandbox.exchange.listing.currencies import Currency
from sandbox.exchange.margin import margin
from sandbox.exchange.state import Exchange
from sandbox.exchange.terms import INTERNAL_ERROR, USER_DISABLED, Refusal
from sandbox.exchange.trading import orders_life

DEPOSIT, WITHDRAW = DIRECTIONS = ("deposit", "withdraw")
NO_SUB_ACCOUNTS: Final[list[SubAccount]] = []


def listed(exchange: Exchange, master: str) -> list[SubAccount]:
    """The sub-accounts of an account, by id."""
    account = exchange.accounts.find(master)
    return account.sub_accounts if account else NO_SUB_ACCOUNTS


def find(exchange: Exchange, master: str, number: int) -> SubAccount:
    """The account's sub-account of this id; raises 500 with the documented description."""
    for sub_account in listed(exchange, master):
        if sub_account.id == number:
            return sub_account
    raise Refusal(INTERNAL_ERROR, SUBACCOUNT_UNKNOWN.format(id=number))


def freeze(exchange: Exchange, master: str, numbers: Iterable[int]) -> bool:
    """Freezes sub-accounts: cancels their orders and moves their trading balances to their bank accounts.

    Raises 500 for the first that is unknown, or frozen or disabled already.
    """
    chosen = [find(exchange, master, number) for number in numbers]
    for sub_account in chosen:
        if not sub_account.is_open:
            raise Refusal(INTERNAL_ERROR, SUBACCOUNT_FROZEN_OR_DISABLED.format(id=sub_account.id))
    for sub_account in chosen:
        orders_life.cancel_all(exchange, sub_account.email)
        orders_life.cancel_all(exchange, sub_account.email, margin=True)
        margin.free_idle(exchange, sub_account.email)
        _empty_trading(exchange, sub_account.email)
        sub_account.status = SubStatus.FROZEN
    return True


def activate(exchange: Exchange, master: str, numbers: Iterable[int]) -> bool:
    """Gives frozen sub-accounts free again; false, and nothing changes, when one of them is disabled or new.

    Raises 500 for one that is unknown.
    """
    chosen = [find(exchange, master, number) for number in numbers]
    if not all(sub_account.status in (SubStatus.FROZEN, SubStatus.ACTIVE) for sub_account in chosen):
        return False
    for sub_account in chosen:
        sub_account.status = SubStatus.ACTIVE
    return True


def transfer(
    exchange: Exchange, master: str, number: int, currency: Currency, amount: Decimal, *, direction: str
) -> Transaction:
    """Moves money from the master to a sub-account (deposit) or back (withdraw); returns the master's transaction.

    Raises 500 for a sub-account that is unknown, frozen or disabled, 600 for a delisted currency, 10001 for an amount
    with too many digits, 20001.
    """
    sub_account = find(exchange, master, number)
    if not sub_account.is_open:
        raise Refusal(INTERNAL_ERROR, SUBACCOUNT_TRANSFER_REFUSED)
    if direction == DEPOSIT:
        sent, _ = between_banks(exchange, master, sub_account.email, currency, amount, purpose="sub-account deposit")
        return sent
    purpose = "sub-account withdraw"
    _, taken = between_banks(exchange, sub_account.email, master, currency, amount, purpose=purpose)
    return taken


def settings(exchange: Exchange, master: str, numbers: Iterable[int]) -> list[dict[str, object]]:
    """The withdrawal settings of sub-accounts; a frozen or disabled one has none. Raises 500 for one unknown."""
    chosen = [find(exchange, master, number) for number in numbers]
    return [_setting(sub_account) for sub_account in chosen if sub_account.is_open]


def change_settings(
    exchange: Exchange, master: str, number: int, is_payout_enabled: bool | None, description: str | None
) -> dict[str, object]:
    """Changes what is given of a withdrawal setting. Raises 500 for an unknown sub-account, 10021 for one that is
    frozen or disabled."""
    sub_account = find(exchange, master, number)
    if not sub_account.is_open:
        raise Refusal(USER_DISABLED)
    if is_payout_enabled is not None:
        sub_account.is_payout_enabled = is_payout_enabled
    if description is not None:
        sub_account.description = description
    return _setting(sub_account)


def _setting(sub_account: SubAccount) -> dict[str, object]:
    return {
        "subAccountId": sub_account.id,
        "isPayoutEnabled": sub_account.is_payout_enabled,
        "description": sub_account.description,
    }


def _empty_trading(exchange: Exchange, account: str) -> None:
    for code, currency in exchange.currencies.items():
        amount = exchange.ledger.balance(account, Wallet.TRADING, code)
        if amount:
            transaction = exchange.record(account=account, type=EXCHANGE_TO_BANK, currency=currency, amount=amount)
            transaction.status = Status.SUCCESS
            lines = moved(code, amount, (account, Wallet.TRADING), (account, Wallet.BANK))
            exchange.post("freeze", transaction.id, lines)
            exchange.touch(transaction)
