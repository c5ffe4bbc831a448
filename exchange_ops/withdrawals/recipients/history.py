"""What was paid to recipients: from requests made here, and from the exchange's ledger where it was paid elsewhere.

A recipient is an address and a payment id together. Each function reads a whole list of them at once.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Coalesce

from chaindata.shared import addresses
from exchange_ops.addresses import lookalikes
from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.addresses.lookalikes import Comparable, KnownAddresses
from exchange_ops.addresses.models import DepositAddress
from exchange_ops.ledger import destinations
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

DAY: Final = timedelta(hours=24)
MOST_KNOWN: Final = 10_000  # paid addresses that another one is compared with: those paid last

_IS_PAID: Final = Q(state__in=states.PAID)
_IS_OVER: Final = Q(state__in=states.NOT_PAID)


class Place(NamedTuple):
    """A recipient in one currency at one account; `address` is in the normal form of the currency."""

    account: int
    currency: str
    address: str
    payment_id: str


@dataclass(slots=True)
class History:
    """How many payouts were executed, are pending or ended unpaid, and when the last one was paid.

    Pending ones wait for approvals, are reserved or are being paid. `other_payment_ids` counts the payments to the same
    address with another payment id.
    """

    paid: int = 0
    pending: int = 0
    unpaid: int = 0
    last_paid_at: datetime | None = None
    other_payment_ids: int = 0

    def without(self, state: str) -> "History":
        """The same without one request that is in this state: what was before it."""
        paid, over = state in states.PAID, state in states.NOT_PAID
        return replace(
            self,
            paid=self.paid - paid,
            pending=self.pending - (not paid and not over),
            unpaid=self.unpaid - over,
        )


class Payout(NamedTuple):
    """A payout that was paid within a day or is pending. `number` is that of the request, None where it is foreign."""

    number: int | None
    currency: str
    amount: Decimal


def spellings(currency: str, address: str) -> set[str]:
    """The texts by which the exchange's ledger may name an address in normal form."""
    if currency == CHAIN_CODE:
        return {address, *addresses.every_form(address)}
    return {address, lookalikes.comparable(currency, address).form}


def histories(places: Collection[Place]) -> dict[Place, History]:
    """The history of each recipient in its currency at its account, from two queries."""
    by_place: defaultdict[Place, History] = defaultdict(History)
    normal = {text: place.address for place in places for text in spellings(place.currency, place.address)}
    named = {"account__in": {place.account for place in places}, "currency__in": {place.currency for place in places}}
    requests = Withdrawal.objects.filter(**named, address__in={place.address for place in places})
    paid_at = Coalesce("decided_at", "created_at")
    _count(by_place, requests, normal, (_IS_PAID, ~_IS_PAID & ~_IS_OVER, _IS_OVER), paid_at)
    lines = LedgerEntry.objects.filter(**named, address__in=normal, type=destinations.PAYOUT, withdrawal=None)
    outcomes = (destinations.PAID, destinations.RESERVED, destinations.RELEASED)
    _count(by_place, lines, normal, outcomes, Coalesce("updated_at", "created_at"))
    paid_in_all: defaultdict[tuple[int, str, str], int] = defaultdict(int)
    for place, history in by_place.items():
        paid_in_all[place[:3]] += history.paid
    for place in places:
        by_place[place].other_payment_ids = paid_in_all[place[:3]] - by_place[place].paid
    return {place: by_place[place] for place in places}


def known_addresses(accounts: Collection[int]) -> dict[int, KnownAddresses]:
    """The addresses that each account paid to, the last `MOST_KNOWN` of all of them, and its deposit addresses."""
    names = ("account_id", "currency", "address")
    paid = LedgerEntry.objects.filter(destinations.PAID, account__in=accounts).exclude(address="")
    requested = Withdrawal.objects.filter(_IS_PAID, account__in=accounts)
    rows: list[Any] = [*DepositAddress.objects.filter(account__in=accounts).values_list(*names)]
    for queryset in (paid, requested):
        newest = queryset.order_by().values(*names).annotate(newest=Max("pk")).order_by("-newest")
        rows += newest.values_list(*names)[:MOST_KNOWN]
    by_account: defaultdict[int, list[Comparable]] = defaultdict(list)
    for account, currency, address in rows:
        by_account[account] += lookalikes.in_each_form(currency, address)
    return {account: KnownAddresses(by_account[account]) for account in accounts}


def within_day(places: Collection[Place], *, now: datetime) -> dict[Place, list[Payout]]:
    """What each recipient was paid within the last 24 hours or is about to be paid, in any currency.

    What was rejected, released or failed does not count. Payouts made elsewhere count from the ledger.
    """
    since = now - DAY
    normal = {text: place.address for place in places for text in spellings(place.currency, place.address)}
    accounts = {place.account for place in places}
    is_recent = Q(decided_at__gte=since) | Q(decided_at=None, created_at__gte=since)
    counts = ~_IS_PAID & ~_IS_OVER | _IS_PAID & is_recent
    requests = Withdrawal.objects.filter(counts, account__in=accounts, address__in=normal)
    lines = LedgerEntry.objects.filter(
        destinations.PAID | destinations.RESERVED, account__in=accounts, withdrawal=None, created_at__gte=since
    ).filter(address__in=normal)
    payouts: defaultdict[tuple[int, str, str], list[Payout]] = defaultdict(list)
    columns = ("account_id", "address", "payment_id", "currency", "amount")
    for number, account, address, payment_id, *what in requests.order_by("pk").values_list("pk", *columns):
        payouts[account, normal[address], payment_id].append(Payout(number, *what))
    for account, address, payment_id, *what in lines.order_by("pk").values_list(*columns):
        payouts[account, normal[address], payment_id].append(Payout(None, *what))
    return {place: payouts[place.account, place.address, place.payment_id] for place in places}


def _count(
    by_place: defaultdict[Place, History],
    rows: QuerySet[Any],
    normal: dict[str, str],
    outcomes: tuple[Q, Q, Q],
    paid_at: Coalesce,
) -> None:
    paid, pending, unpaid = outcomes
    groups = rows.order_by().values_list("account_id", "currency", "address", "payment_id")
    counts = {
        "paid": Count("pk", filter=paid),
        "pending": Count("pk", filter=pending),
        "unpaid": Count("pk", filter=unpaid),
        "last": Max(paid_at, filter=paid),
    }
    for account, currency, address, payment_id, *of in groups.annotate(**counts):
        history = by_place[Place(account, currency, normal.get(address, address), payment_id)]
        history.paid += of[0]
        history.pending += of[1]
        history.unpaid += of[2]
        history.last_paid_at = max(filter(None, (history.last_paid_at, of[3])), default=None)
