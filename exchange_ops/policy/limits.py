"""Limits on the value of one order or transfer, and on how many orders a person has open.

Every limit that concerns the person and the account applies. A limit measures what would be moved or bound at once,
valued like a payout; a value that is not known well enough exceeds every limit. Each limit says what happens beyond it,
and of those that are exceeded the strictest decides.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db.models import Q, QuerySet

from desk.audit import witness_chain
from exchange_ops.market import valuation
from exchange_ops.policy.models import PolicyVersion, ValueLimit
from exchange_ops.policy.modes import CONFIRM, REFUSE, STRICTNESS
from exchange_ops.policy.quorum import current
from exchange_ops.shared.models import Account

if TYPE_CHECKING:
    from desk.models import Person

CHANGED = "Not requested: the policy was changed in the database, outside Countersign."
_CENTS = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Exceeded:
    """An exceeded limit as a sentence. `size` is the value or count that exceeds it; None: not known well enough."""

    sentence: str
    beyond: str
    size: Decimal | None = None


def problem(*, kind: str, person: "Person", account: Account, amount: Decimal, currency: str, now: datetime) -> str:
    """Why the rules in force forbid this much in one order or transfer; an empty text when they allow it.

    For requests that nobody can approve: a limit that asks for an approval refuses them.
    """
    limit = exceeded(kind=kind, person=person, account=account, amount=amount, currency=currency, now=now)
    return "" if limit is None or limit.beyond == CONFIRM else limit.sentence


def exceeded(
    *, kind: str, person: "Person", account: Account, amount: Decimal, currency: str, now: datetime
) -> Exceeded | None:
    """The strictest limit that an order or transfer of this size exceeds, if any."""
    rows = list(limits_for(kind=kind, person=person, account=account))
    if not rows:
        return None
    if witness_chain.has_foreign_rows(PolicyVersion, ValueLimit):
        return Exceeded(CHANGED, REFUSE)
    quote = account.quote_currency
    value = valuation.value_of(amount=amount, currency=currency, quote=quote, now=now).amount
    limit = _strictest([row for row in rows if value is None or value > row.most])
    if limit is None:
        return None
    most = f"The policy limit is {limit.most.normalize():,f} {quote} per {kind}"
    if value is None:
        return Exceeded(f"{most}; this {kind} has no current price.", limit.beyond)
    return Exceeded(f"{most}; this {kind} is {value.quantize(_CENTS):,f} {quote}.", limit.beyond, value)


def limits_for(*, kind: str, person: "Person", account: Account) -> QuerySet[ValueLimit]:
    """The limits in force of this kind that are about this person on this account."""
    rows = ValueLimit.objects.filter(policy=current(), kind=kind)
    return rows.filter(Q(person=None) | Q(person=person), Q(account=None) | Q(account=account))


def too_many(*, person: "Person", account: Account, here: int, everywhere: int) -> Exceeded | None:
    """The strictest limit on open orders that the person exceeds.

    A limit that names an account is compared with `here`, the person's orders on it; any other limit with `everywhere`.
    """
    rows = list(limits_for(kind=ValueLimit.OPEN_ORDERS, person=person, account=account))
    if not rows:
        return None
    if witness_chain.has_foreign_rows(PolicyVersion, ValueLimit):
        return Exceeded(CHANGED, REFUSE)
    limit = _strictest([row for row in rows if (everywhere if row.account_id is None else here) > row.most])
    if limit is None:
        return None
    count = everywhere if limit.account_id is None else here
    where = "" if limit.account_id is None else " on this account"
    sentence = f"The policy limit is {limit.most:.0f} open orders{where}; this order would bring the total to {count}."
    return Exceeded(sentence, limit.beyond, Decimal(count))


def _strictest(rows: list[ValueLimit]) -> ValueLimit | None:
    return min(rows, key=lambda row: (-STRICTNESS[row.beyond], row.most), default=None)
