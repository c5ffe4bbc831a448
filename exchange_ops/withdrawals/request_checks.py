"""Checks of a new request: every problem with the field that it is about, before anything is written."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal

from desk.fields import plain
from exchange_ops.addresses import destinations
from exchange_ops.addresses.destinations import CannotUseDestination, Destination
from exchange_ops.ledger.models import Balance
from exchange_ops.market.models import Currency
from exchange_ops.shared import amounts, rules
from exchange_ops.shared.models import Account
from exchange_ops.shared.problems import FORM
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.decisions.intent import Intent
from exchange_ops.withdrawals.models import Withdrawal
from wire.values import grouped_text

LONGEST_REASON = 500
LONGEST_KEY = 80


class CannotRequest(Exception):
    """The request was not recorded; `problems` maps a field (or "__all__") to one sentence about it."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


def check(row: Withdrawal, *, now: datetime, before: tuple[Intent, ...] = ()) -> Destination:
    """The destination of a new row in normal form. Raises CannotRequest unless the row passes every check.

    Limits over time count `before` too: payouts that are requested together with this one.
    """
    destination = check_content(row)
    intent = replace(intent_of(row, destination), before=before)
    verdict, _ = policy_evaluation.verdict_on(intent, now=now)
    if verdict.blocked:
        raise CannotRequest({FORM: verdict.blocked})
    return destination


def intent_of(row: Withdrawal, destination: Destination) -> Intent:
    """What leaves by this new row, to its destination in normal form; the fee is not known yet."""
    return replace(Intent.of(row, fee=None), address=destination.address, payment_id=destination.payment_id)


def check_content(row: Withdrawal) -> Destination:
    """Every check of a new row but that of the rules for payouts. Raises CannotRequest."""
    if not rules.may_request(row.initiator, row.account_id):
        raise CannotRequest({FORM: "Only operators can request payouts."})
    problems: dict[str, str] = {}
    if not row.reason:
        problems["reason"] = "Enter the purpose of the payment. Approvers will see it."
    elif len(row.reason) > LONGEST_REASON:
        problems["reason"] = f"At most {LONGEST_REASON} characters."
    if not 0 < len(row.request_key) <= LONGEST_KEY:
        problems[FORM] = "Payout not requested: the form is incomplete. Reload the page and try again."
    currency = Currency.objects.filter(pk=row.currency).first()
    destination: Destination | None = None
    if problem := currency_problem(currency):
        problems["currency"] = problem
    elif currency is not None:
        if problem := amount_problem(
            account=row.account, currency=currency, amount=row.amount, include_fee=row.include_fee
        ):
            problems["amount"] = problem
        destination = _destination(currency, row.address, row.payment_id, problems)
    if problems or destination is None:
        raise CannotRequest(problems)
    return destination


def currency_problem(currency: Currency | None) -> str:
    """Why the exchange pays nothing out in this currency now, or an empty text."""
    if currency is None:
        return "This currency is not listed on the exchange."
    if currency.delisted:
        return f"{currency.code} is delisted: deposits and trading are stopped, and it can't be paid out here."
    if not currency.crypto:
        return f"{currency.code} has no blockchain, so it can't be paid to an address."
    if not currency.payout_enabled:
        return f"The exchange has suspended {currency.code} payouts."
    return ""


def amount_problem(*, account: Account, currency: Currency, amount: Decimal, include_fee: bool) -> str:
    """Why this amount can't be paid out, or an empty text. The balance is as of the last reading."""
    if not isinstance(amount, Decimal) or not amount.is_finite() or not amounts.storable(amount):
        return "Enter a valid amount."
    if amount <= 0:
        return "Enter an amount greater than zero."
    digits = max(0, -int(plain(amount).as_tuple().exponent))
    if currency.precision_payout is not None and digits > currency.precision_payout:
        return f"{currency.code} allows at most {currency.precision_payout} decimals."
    fee = currency.payout_fee or Decimal(0)
    arrives, leaves = (amount - fee, amount) if include_fee else (amount, amount + fee)
    if arrives <= 0:
        return f"The fee of about {grouped_text(fee)} {currency.code} exceeds the amount."
    if currency.payout_minimal_amount is not None and arrives < currency.payout_minimal_amount:
        least = grouped_text(currency.payout_minimal_amount)
        return f"The recipient must get at least {least} {currency.code}; only {grouped_text(arrives)} would arrive."
    return funds_problem(account, currency.code, leaves)


def funds_problem(account: Account, code: str, leaves: Decimal) -> str:
    """Why so much can't leave the bank account, or an empty text. The balance is as of the last reading."""
    balance = Balance.objects.filter(account=account, currency=code, wallet=Balance.BANK).first()
    if balance is None or leaves <= balance.available:
        return ""
    return (
        f"{grouped_text(leaves)} {code} would be debited including the fee, but only "
        f"{grouped_text(balance.available)} were available in the bank account at "
        f"{balance.read_at:%H:%M:%S} UTC."
    )


def _destination(currency: Currency, address: str, payment_id: str, problems: dict[str, str]) -> Destination | None:
    try:
        return destinations.check(currency=currency, address=address, payment_id=payment_id)
    except CannotUseDestination as problem:
        problems.update(problem.problems)
        return None
