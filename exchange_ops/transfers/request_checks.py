"""Checks of a new transfer: every problem with the field that it is about, before anything is written.

Refused here is what the exchange would refuse, or answer so badly that the outcome were unknown: a transfer to a frozen
sub-account is answered with 500 (supplement 2.11), so it is refused before it is sent.
"""

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from desk.fields import plain
from exchange_ops.ledger.models import Balance
from exchange_ops.market import valuation
from exchange_ops.market.models import Currency
from exchange_ops.policy import limits
from exchange_ops.policy.models import ValueLimit
from exchange_ops.shared import amounts, rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM
from exchange_ops.subaccounts import account_status
from exchange_ops.subaccounts.models import SubAccount, SubAccountBalance
from exchange_ops.transfers import identifiers, states
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.request_checks import LONGEST_KEY, LONGEST_REASON
from wire.values import grouped_text

if TYPE_CHECKING:
    from desk.models import Person

BETWEEN_WALLETS = (states.BANK_TO_TRADING, states.TRADING_TO_BANK)


class CannotTransfer(Exception):
    """The transfer was not recorded; `problems` maps a field (or "__all__") to one sentence about it."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


def refuse_asker(person: "Person", account: Account) -> None:
    """Raise CannotTransfer unless the person is an operator of the account."""
    if not rules.may_request(person, account):
        raise CannotTransfer({FORM: "Only operators can request transfers."})


def check(transfer: Transfer, *, now: datetime) -> None:
    """Raise CannotTransfer with everything that is wrong with this request, as far as our copies of the facts show."""
    problems: dict[str, str] = {}
    if not transfer.reason:
        problems["reason"] = "Enter the purpose of the transfer."
    elif len(transfer.reason) > LONGEST_REASON:
        problems["reason"] = f"At most {LONGEST_REASON} characters."
    if not 0 < len(transfer.request_key) <= LONGEST_KEY:
        problems[FORM] = "Transfer not requested: the form is incomplete. Reload the page and try again."
    if transfer.kind not in states.KINDS:
        problems["kind"] = "Choose a transfer type."
        raise CannotTransfer(problems)
    currency = Currency.objects.filter(pk=transfer.currency).first()
    if problem := currency_problem(transfer.kind, currency):
        problems["currency"] = problem
    elif currency is not None and (problem := amount_problem(transfer, currency)):
        problems["amount"] = problem
    problems |= target_problems(transfer)
    if not problems and (problem := _limit_problem(transfer, now)):
        problems["amount"] = problem
    if problems:
        raise CannotTransfer(problems)


def currency_problem(kind: str, currency: Currency | None) -> str:
    """Why this currency can't be moved in this way now, or an empty text."""
    if currency is None:
        return "This currency is not listed on the exchange."
    if currency.delisted:
        return f"{currency.code} is delisted and can't be transferred."
    if kind in BETWEEN_WALLETS and not currency.transfer_enabled:
        return f"The exchange has suspended {currency.code} transfers."
    return ""


def amount_problem(transfer: Transfer, currency: Currency) -> str:
    """Why this amount can't be moved, or an empty text. The balance is as of the last reading."""
    amount = transfer.amount
    if not isinstance(amount, Decimal) or not amount.is_finite() or not amounts.storable(amount):
        return "Enter a valid amount."
    if amount <= 0:
        return "Enter an amount greater than zero."
    digits = max(0, -int(plain(amount).as_tuple().exponent))
    if currency.precision_transfer is not None and digits > currency.precision_transfer:
        return f"{currency.code} allows at most {currency.precision_transfer} decimals."
    return _funds_problem(transfer)


def target_problems(transfer: Transfer) -> dict[str, str]:
    """What is wrong with the recipient of the money, by field."""
    if transfer.kind == states.TO_USER:
        problem = identifiers.problem(by=transfer.by, identifier=transfer.identifier)
        field = "by" if transfer.by not in states.IDENTIFIED_BY else "identifier"
        return {field: problem} if problem else {}
    if transfer.kind == states.CONVERT:
        problem = _conversion_problem(transfer)
        return {"to_currency": problem} if problem else {}
    if transfer.kind in states.SUBACCOUNT_KINDS:
        problem = account_status.subaccount_problem(transfer.account, transfer.subaccount_id)
        return {"subaccount_id": problem} if problem else {}
    return {}


def _conversion_problem(transfer: Transfer) -> str:
    target = Currency.objects.filter(pk=transfer.to_currency).first()
    if not transfer.to_currency or target is None:
        return "Choose the target currency."
    if target.code == transfer.currency:
        return "Choose a different currency to convert to."
    if valuation.plain_code(target.code) != valuation.plain_code(transfer.currency):
        return f"{target.code} is not {transfer.currency} on another network, so conversion is not possible."
    if target.delisted:
        return f"{target.code} is delisted and can't be transferred."
    places, amount = target.precision_transfer, transfer.amount
    if places is not None and isinstance(amount, Decimal) and amount.is_finite():
        digits = max(0, -int(plain(amount).as_tuple().exponent))
        if digits > places:
            return f"{target.code} allows at most {places} decimals."
    return ""


def _funds_problem(transfer: Transfer) -> str:
    holding = giving_wallet(transfer)
    if holding is None or transfer.amount <= holding[0]:
        return ""
    available, where, read_at = holding
    return (
        f"{grouped_text(transfer.amount)} {transfer.currency} requested, but only "
        f"{grouped_text(available)} were available in {where} at {read_at:%H:%M:%S} UTC."
    )


def _limit_problem(transfer: Transfer, now: datetime) -> str:
    return limits.problem(
        kind=ValueLimit.TRANSFER,
        person=transfer.initiator,
        account=transfer.account,
        amount=transfer.amount,
        currency=transfer.currency,
        now=now,
    )


def giving_wallet(transfer: Transfer) -> tuple[Decimal, str, datetime] | None:
    """What the paying wallet holds, its name, and when that was read; None when it was never read."""
    if transfer.kind == states.FROM_SUBACCOUNT:
        return _funds_of_subaccount(transfer)
    wallet = Balance.TRADING if transfer.kind == states.TRADING_TO_BANK else Balance.BANK
    balance = Balance.objects.filter(account=transfer.account_id, currency=transfer.currency, wallet=wallet).first()
    return None if balance is None else (balance.available, f"the {wallet} account", balance.read_at)


def _funds_of_subaccount(transfer: Transfer) -> tuple[Decimal, str, datetime] | None:
    owner = SubAccount.objects.filter(account=transfer.account_id, exchange_id=transfer.subaccount_id or 0).first()
    if owner is None or owner.balances_at is None:
        return None
    balance = SubAccountBalance.objects.filter(
        sub_account=owner, currency=transfer.currency, wallet=SubAccountBalance.MAIN
    ).first()
    available = Decimal(0) if balance is None else balance.available
    return available, f"the bank account of sub-account {owner.exchange_id}", owner.balances_at
