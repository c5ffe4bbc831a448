"""Limits of one order or one transfer: the strictest of all that are about this person and this account.

A limit is about what would be moved or bound at once, valued like a payout. What is not known well enough counts as
more than any limit.
"""

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db.models import Q

from desk.audit import witness_chain
from exchange_ops.market import valuation
from exchange_ops.policy.models import PolicyVersion, ValueLimit
from exchange_ops.policy.quorum import current
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

CHANGED = "The rules were changed in the database past the desk, so nothing is taken."


def problem(*, kind: str, person: "Person", account: Account, amount: Decimal, currency: str, now: datetime) -> str:
    """Why the rules in force don't allow this much in one order or transfer, or an empty text."""
    rows = ValueLimit.objects.filter(policy=current(), kind=kind)
    rows = rows.filter(Q(person=None) | Q(person=person), Q(account=None) | Q(account=account))
    strictest = rows.order_by("most").values_list("most", flat=True).first()
    if strictest is None:
        return ""
    if witness_chain.strange(PolicyVersion, ValueLimit):
        return CHANGED
    quote = account.quote_currency
    value = valuation.value_of(amount=amount, currency=currency, quote=quote, now=now)
    most = f"{strictest.normalize():,f} {quote}"
    if value.amount is None:
        return f"One {kind} is worth at most {most} by the rules, and the value of this one is not known well enough."
    if value.amount > strictest:
        worth = f"{value.amount.quantize(Decimal('0.01')):,f} {quote}"
        return f"One {kind} is worth at most {most} by the rules; this one is worth {worth}."
    return ""
