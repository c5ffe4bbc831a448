"""What the rules for payouts judge of a payout or a transfer to another user, read from rows only where a rule asks."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from decimal import Decimal
from functools import cache

from desk.models import Person
from exchange_ops.ledger.models import Balance
from exchange_ops.market.valuation import Prices, Value
from exchange_ops.payees import book
from exchange_ops.policy import outgoing, payout_rules
from exchange_ops.policy.outgoing import Group, Recipient
from exchange_ops.policy.payout_judging import Payout
from exchange_ops.policy.ruleset import Rules
from exchange_ops.withdrawals.decisions.intent import Intent
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.recipients import history


def payout_of(
    intent: Intent, *, rules: Rules, value: Decimal | None, prices: Prices, fresh: Callable[[Value], Value]
) -> Payout:
    """The facts of this payout for these rules.

    `value` is in the account's quote currency; where the rules are in another currency it counts as not known. `fresh`
    gives an unknown value where a price is older than the rules allow.
    """
    recipient, now = _recipient(intent), prices.now
    measures = {rule.measure for rule in rules.payouts}
    others: list[Group] = []
    if measures & payout_rules.OVER_TIME:
        judged = None if intent.number is None else (intent.source, intent.number)
        others = outgoing.groups(recipient, now=now, without=judged)
        others += [_group(each, is_same=each.pays_same(intent)) for each in intent.before]
    person = None if intent.requester is None else intent.requester.pk
    rates = _rates(rules.currency, prices, fresh)
    roles = cache(roles_of_people)
    return Payout(
        account=intent.account.pk,
        currency=intent.currency,
        amount=intent.amount,
        value=value if rules.currency == intent.account.quote_currency else None,
        at=intent.requested_at or now,
        is_first=payout_rules.FIRST in measures and not outgoing.was_paid(recipient, intent.source),
        total=outgoing.Totals(_group(intent, is_same=True), others, rates=rates, roles=roles),
        person=person,
        roles=frozenset(roles().get(person or 0, ())) if any(rule.role for rule in rules.payouts) else frozenset(),
        fee_share=None if intent.fee is None else intent.fee / intent.amount * 100,
        balance_share=_balance_share(intent) if payout_rules.BALANCE_SHARE in measures else None,
        payee_group=_payee_group(intent, recipient, now) if payout_rules.NOT_APPROVED in measures else None,
    )


def _group(intent: Intent, *, is_same: bool) -> Group:
    person = None if intent.requester is None else intent.requester.pk
    return Group(intent.account.pk, intent.currency, person, is_same, 1, 1, intent.amount)


def _recipient(intent: Intent) -> Recipient:
    if intent.payment_id is None:
        return Recipient(intent.account.pk, frozenset())
    names = {intent.address}
    if intent.source == Withdrawal.name:
        names = history.spellings(intent.currency, intent.address)
    return Recipient(intent.account.pk, frozenset(names), intent.payment_id)


def _payee_group(intent: Intent, recipient: Recipient, now: datetime) -> str | None:
    """The group of the approved payee that this is; None where it is none. Other users are no payees."""
    if intent.source != Withdrawal.name or intent.payment_id is None:
        return None
    key = book.Key(intent.account.pk, intent.currency, intent.address, intent.payment_id)
    payee = book.approved([key], now=now).get(key)
    return None if payee is None else payee.group


def _rates(
    currency: str, prices: Prices, fresh: Callable[[Value], Value]
) -> Callable[[Collection[str]], Mapping[str, Decimal | None]]:
    by_code: dict[str, Decimal | None] = {}

    def rates(codes: Collection[str]) -> Mapping[str, Decimal | None]:
        if missing := {*codes} - {*by_code}:
            values = prices.values_of(amounts=dict.fromkeys(missing, Decimal(1)), quote=currency)
            # The price itself, because the value of one unit is rounded.
            by_code.update(
                {code: each.rate if fresh(each).amount is not None else None for code, each in values.items()}
            )
        return by_code

    return rates


def roles_of_people() -> dict[int, set[str]]:
    """The roles of every person, whatever accounts they are limited to."""
    roles: dict[int, set[str]] = {}
    for person, role in Person.objects.exclude(groups=None).values_list("pk", "groups__name"):
        roles.setdefault(person, set()).add(role)
    return roles


def _balance_share(intent: Intent) -> Decimal | None:
    """The part of the bank wallet's balance, reserved included, that leaves, in percent; None without a reading."""
    balance = Balance.objects.filter(account=intent.account, wallet=Balance.BANK, currency=intent.currency).first()
    total = Decimal(0) if balance is None else balance.available + balance.reserved
    return intent.amount / total * 100 if total > 0 else None
