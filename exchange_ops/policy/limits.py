"""Limits of one order or one transfer, and of how many orders are open: of all that are about this person and account.

A limit is about what would be moved or bound at once, valued like a payout. What is not known well enough counts as
more than any limit. What becomes of more is the limit's own to say; the gravest of all that are exceeded holds.
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

CHANGED = "The rules were changed in the database past the desk, so nothing is taken."
_CENTS = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class Exceeded:
    """A limit that is exceeded, in a sentence. `size` is what it is measured by; None: not known well enough."""

    sentence: str
    beyond: str
    size: Decimal | None = None


def problem(*, kind: str, person: "Person", account: Account, amount: Decimal, currency: str, now: datetime) -> str:
    """Why the rules in force don't allow this much in one order or transfer, or an empty text.

    For what nobody can approve: beyond a limit that asks for an approval it is refused.
    """
    found = exceeded(kind=kind, person=person, account=account, amount=amount, currency=currency, now=now)
    return "" if found is None or found.beyond == CONFIRM else found.sentence


def exceeded(
    *, kind: str, person: "Person", account: Account, amount: Decimal, currency: str, now: datetime
) -> Exceeded | None:
    """The gravest limit that this much of one order or transfer exceeds, if any."""
    rows = list(of(kind=kind, person=person, account=account))
    if not rows:
        return None
    if witness_chain.has_foreign_rows(PolicyVersion, ValueLimit):
        return Exceeded(CHANGED, REFUSE)
    quote = account.quote_currency
    value = valuation.value_of(amount=amount, currency=currency, quote=quote, now=now).amount
    limit = _gravest([row for row in rows if value is None or value > row.most])
    if limit is None:
        return None
    most = f"One {kind} is worth at most {limit.most.normalize():,f} {quote} by the rules"
    if value is None:
        return Exceeded(f"{most}, and the value of this one is not known well enough.", limit.beyond)
    return Exceeded(f"{most}; this one is worth {value.quantize(_CENTS):,f} {quote}.", limit.beyond, value)


def of(*, kind: str, person: "Person", account: Account) -> QuerySet[ValueLimit]:
    """The limits in force of this kind that are about this person on this account."""
    rows = ValueLimit.objects.filter(policy=current(), kind=kind)
    return rows.filter(Q(person=None) | Q(person=person), Q(account=None) | Q(account=account))


def too_many(*, person: "Person", account: Account, here: int, everywhere: int) -> Exceeded | None:
    """The gravest limit of open orders that is exceeded by so many of this person, on the account and on all of them.

    A limit that names an account counts those there; one that names none counts all.
    """
    rows = list(of(kind=ValueLimit.OPEN_ORDERS, person=person, account=account))
    if not rows:
        return None
    if witness_chain.has_foreign_rows(PolicyVersion, ValueLimit):
        return Exceeded(CHANGED, REFUSE)
    limit = _gravest([row for row in rows if (everywhere if row.account_id is None else here) > row.most])
    if limit is None:
        return None
    count = everywhere if limit.account_id is None else here
    where = "" if limit.account_id is None else " on this account"
    sentence = f"You may have {limit.most:.0f} orders open{where} by the rules; with this one it would be {count}."
    return Exceeded(sentence, limit.beyond, Decimal(count))


def _gravest(rows: list[ValueLimit]) -> ValueLimit | None:
    return min(rows, key=lambda row: (-STRICTNESS[row.beyond], row.most), default=None)
