"""What approvers should know of a payout before they open it: network, earlier and equal payments, share of the funds.

It is read for a whole list at once, by a number of queries that does not grow with the list.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Max, Sum
from django.db.models.functions import Coalesce

from exchange_ops.addresses import destinations
from exchange_ops.ledger.models import Balance
from exchange_ops.market.models import Currency
from exchange_ops.withdrawals import equal_payments, states
from exchange_ops.withdrawals.models import Withdrawal

Place = tuple[int, str, str, str]  # account, currency, address, payment id


@dataclass(slots=True)
class Briefing:
    """`paid_before` counts earlier payouts to this address and payment id, the last one at `last_paid_at`.

    `equal` are others of the same amount to it within a day. `share` is the part of the bank account's money of this
    currency that leaves, between 0 and 1 and above where the balance is too small; nothing when no balance is known.
    """

    network: str = ""
    paid_before: int = 0
    last_paid_at: datetime | None = None
    equal: list[Withdrawal] = field(default_factory=list)
    share: Decimal | None = None


def briefings(rows: Sequence[Withdrawal]) -> dict[int, Briefing]:
    """The briefing of each row, by its number."""
    by_number = {row.pk: Briefing() for row in rows}
    if rows:
        _name_networks(rows, by_number)
        _count_earlier(rows, by_number)
        _find_equal(rows, by_number)
        _compare_with_balance(rows, by_number)
    return by_number


def _place(row: Withdrawal) -> Place:
    return row.account_id, row.currency, row.address, row.payment_id


def _name_networks(rows: Sequence[Withdrawal], by_number: dict[int, Briefing]) -> None:
    currencies = Currency.objects.in_bulk({row.currency for row in rows})
    for row in rows:
        currency = currencies.get(row.currency)
        try:
            if currency is not None:
                destination = destinations.check(currency=currency, address=row.address, payment_id=row.payment_id)
                by_number[row.pk].network = destination.network
        except destinations.CannotUseDestination:
            continue


def _count_earlier(rows: Sequence[Withdrawal], by_number: dict[int, Briefing]) -> None:
    paid = Withdrawal.objects.filter(state__in=states.PAID, address__in={row.address for row in rows})
    names = ("account_id", "currency", "address", "payment_id")
    groups = paid.order_by().values(*names).annotate(number=Count("pk"), last=Max("created_at"))
    earlier = {tuple(group[name] for name in names): group for group in groups}
    for row in rows:
        if group := earlier.get(_place(row)):
            by_number[row.pk].paid_before, by_number[row.pk].last_paid_at = group["number"], group["last"]


def _find_equal(rows: Sequence[Withdrawal], by_number: dict[int, Briefing]) -> None:
    times = [row.created_at for row in rows]
    candidates = Withdrawal.objects.filter(
        address__in={row.address for row in rows},
        created_at__gte=min(times) - equal_payments.WITHIN,
        created_at__lte=max(times) + equal_payments.WITHIN,
    ).exclude(state__in=states.NOT_PAID)
    by_content: defaultdict[tuple[int, str, str, Decimal], list[Withdrawal]] = defaultdict(list)
    for other in candidates.only("account_id", "currency", "address", "amount", "created_at", "state").order_by("-pk"):
        by_content[other.account_id, other.currency, other.address, other.amount].append(other)
    for row in rows:
        others = by_content[row.account_id, row.currency, row.address, row.amount]
        by_number[row.pk].equal = [
            other
            for other in others
            if other.pk != row.pk and abs(other.created_at - row.created_at) <= equal_payments.WITHIN
        ][: equal_payments.MOST]


def _compare_with_balance(rows: Sequence[Withdrawal], by_number: dict[int, Briefing]) -> None:
    bank = Balance.objects.filter(wallet=Balance.BANK, currency__in={row.currency for row in rows}).order_by()
    sums = bank.values("account_id", "currency").annotate(
        total=Coalesce(Sum("available"), Decimal(0)) + Coalesce(Sum("reserved"), Decimal(0))
    )
    totals = {(each["account_id"], each["currency"]): each["total"] for each in sums}
    for row in rows:
        total = totals.get((row.account_id, row.currency))
        if total:
            by_number[row.pk].share = row.amount / total
