"""What approvers should know of a transfer to another user: earlier ones, equal ones, its share of the funds.

It is read for a whole list at once, by a number of queries that does not grow with the list.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db.models import Count, Max, Sum

from exchange_ops.ledger.models import Balance
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer

WITHIN: Final = timedelta(hours=24)
MOST: Final = 5
MOVED: Final = (states.DONE, states.RESOLVED_MOVED)
# It is certain that the money stayed: people are told to ask again after these.
NOT_MOVED: Final = (
    states.REFUSED,
    states.CLOSED,
    states.CANCELLED,
    states.REJECTED,
    states.LAPSED,
    states.RESOLVED_NOT_MOVED,
)
Place = tuple[int, str, str, str]  # account, currency, how the other user is named, their name


@dataclass(slots=True)
class Briefing:
    """`sent_before` counts earlier transfers of this currency to this user, the last one at `last_sent_at`.

    `equal` are others of the same amount to them within a day. `share` is the part of the bank account's money of this
    currency that leaves, between 0 and 1 and above where the balance is too small; nothing when no balance is known.
    """

    sent_before: int = 0
    last_sent_at: datetime | None = None
    equal: list[Transfer] = field(default_factory=list)
    share: Decimal | None = None


def briefings(rows: Sequence[Transfer]) -> dict[int, Briefing]:
    """The briefing of each row that leaves the company, by its number."""
    leaving = [row for row in rows if row.leaves]
    by_number = {row.pk: Briefing() for row in leaving}
    if leaving:
        _count_earlier(leaving, by_number)
        _find_equal(leaving, by_number)
        _compare_with_balance(leaving, by_number)
    return by_number


def _place(row: Transfer) -> Place:
    return row.account_id, row.currency, row.by, row.identifier


def _count_earlier(rows: Sequence[Transfer], by_number: dict[int, Briefing]) -> None:
    transfers = Transfer.objects.filter(state__in=MOVED, identifier__in={row.identifier for row in rows})
    names = ("account_id", "currency", "by", "identifier")
    groups = transfers.order_by().values(*names).annotate(number=Count("pk"), last=Max("sent_at"))
    earlier = {tuple(group[name] for name in names): group for group in groups}
    for row in rows:
        if group := earlier.get(_place(row)):
            by_number[row.pk].sent_before, by_number[row.pk].last_sent_at = group["number"], group["last"]


def _find_equal(rows: Sequence[Transfer], by_number: dict[int, Briefing]) -> None:
    times = [row.created_at for row in rows]
    candidates = Transfer.objects.filter(
        identifier__in={row.identifier for row in rows},
        created_at__gte=min(times) - WITHIN,
        created_at__lte=max(times) + WITHIN,
    ).exclude(state__in=NOT_MOVED)
    by_content: defaultdict[tuple[Place, Decimal], list[Transfer]] = defaultdict(list)
    for other in candidates.order_by("-pk"):
        by_content[_place(other), other.amount].append(other)
    for row in rows:
        others = [other for other in by_content[_place(row), row.amount] if other.pk != row.pk]
        by_number[row.pk].equal = [other for other in others if abs(other.created_at - row.created_at) <= WITHIN][:MOST]


def _compare_with_balance(rows: Sequence[Transfer], by_number: dict[int, Briefing]) -> None:
    bank = Balance.objects.filter(wallet=Balance.BANK, currency__in={row.currency for row in rows}).order_by()
    sums = bank.values("account_id", "currency").annotate(free=Sum("available"), locked=Sum("reserved"))
    totals = {(each["account_id"], each["currency"]): (each["free"] or 0) + (each["locked"] or 0) for each in sums}
    for row in rows:
        if total := totals.get((row.account_id, row.currency)):
            by_number[row.pk].share = row.amount / total
