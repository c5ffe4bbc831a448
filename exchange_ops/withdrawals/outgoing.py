"""Payouts as the rules over time count them: requests made here, and payouts made elsewhere, which the ledger lists."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import quote

from django.db.models import BooleanField, Case, Count, IntegerField, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce
from django.urls import reverse

from chaindata.shared import addresses
from desk.fields import ExactSum
from exchange_ops.addresses.destinations import CHAIN_CODE
from exchange_ops.ledger import destinations
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.policy import outgoing, payout_rules
from exchange_ops.policy.outgoing import Group, Past, Recipient
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.recipients import history

_IS_PAID = Q(state__in=states.PAID)
_IS_PENDING = ~Q(state__in=(*states.PAID, *states.NOT_PAID))


def groups(recipient: Recipient, *, now: datetime, without: int | None) -> Iterator[Group]:
    """Requests that are pending or were paid, and payouts made elsewhere that are reserved or were paid."""
    since = now - outgoing.LONGEST
    requests = Withdrawal.objects.annotate(left_at=Coalesce("decided_at", "created_at"))
    requests = requests.filter(_IS_PENDING | _IS_PAID & Q(left_at__gte=since)).exclude(pk=without or 0)
    yield from grouped(requests, recipient=_to(recipient), pending=_IS_PENDING, person="initiator_id", now=now)
    lines = LedgerEntry.objects.filter(destinations.PAID | destinations.RESERVED, withdrawal=None)
    lines = lines.annotate(left_at=Coalesce("updated_at", "created_at")).filter(created_at__gte=since)
    yield from grouped(lines, recipient=_to(recipient), pending=destinations.RESERVED, person="", now=now)


def was_paid(recipient: Recipient) -> bool:
    """Whether this recipient was paid before: by a request made here or elsewhere."""
    paid = Withdrawal.objects.filter(_IS_PAID & _to(recipient))
    return paid.exists() or LedgerEntry.objects.filter(destinations.PAID & _to(recipient)).exists()


def pasts(accounts: Collection[int], *, since: datetime) -> Iterator[Past]:
    """Requests that were paid, and payouts made elsewhere, by when they were requested."""
    for row in Withdrawal.objects.filter(_IS_PAID, account__in=accounts, created_at__gte=since).iterator(1000):
        yield Past(
            reference=row.reference,
            url=reverse("withdrawal", args=[row.pk]),
            account=row.account_id,
            currency=row.currency,
            amount=row.amount,
            recipient=_key(row.account_id, row.currency, row.address, row.payment_id),
            place=(row.account_id, row.currency, row.address, row.payment_id),
            at=row.created_at,
            person=row.initiator_id,
            value=row.quote_value,
            fee=row.known_fee,
        )
    lines = LedgerEntry.objects.filter(destinations.PAID, withdrawal=None, account__in=accounts, created_at__gte=since)
    for line in lines.iterator(1000):
        yield Past(
            reference=f"Transaction {line.exchange_id}",
            url=f"{reverse('ledger')}?text={quote(line.exchange_id)}",
            account=line.account_id,
            currency=line.currency,
            amount=line.amount,
            recipient=_key(line.account_id, line.currency, line.address, line.payment_id),
            place=(line.account_id, line.currency, _normal(line.currency, line.address), line.payment_id),
            at=line.created_at,
            person=None,
            value=None,
            fee=line.fee,
        )


def recipients_before(accounts: Collection[int], *, until: datetime) -> Iterator[Hashable]:
    """The recipients of payouts before that moment."""
    columns = ("account_id", "currency", "address", "payment_id")
    requests = Withdrawal.objects.filter(_IS_PAID, account__in=accounts, created_at__lt=until)
    lines = LedgerEntry.objects.filter(destinations.PAID, account__in=accounts, created_at__lt=until)
    for rows in (requests, lines):
        yield from (_key(*each) for each in rows.order_by().values_list(*columns).distinct())


def _normal(currency: str, address: str) -> str:
    """The address as requests have it, whatever its spelling in the ledger."""
    try:
        return addresses.forms(address).cash_address if currency == CHAIN_CODE else address
    except addresses.NotAnAddress:
        return address


def _key(account: int, currency: str, address: str, payment_id: str) -> Hashable:
    """Equal for equal recipients, however the exchange spells the address."""
    return (account, min(history.spellings(currency, address)), payment_id)


def grouped(rows: QuerySet[Any], *, recipient: Q, pending: Q, person: str, now: datetime) -> Iterable[Group]:
    """The groups of these rows, which have `left_at`; `person` is the column of the requester, empty without one."""
    windows = [When(pending, then=Value(min(payout_rules.WINDOWS_H)))]
    windows += [When(left_at__gte=now - timedelta(hours=hours), then=Value(hours)) for hours in payout_rules.WINDOWS_H]
    annotated = rows.annotate(
        is_same=Case(When(recipient, then=Value(True)), default=Value(False), output_field=BooleanField()),
        window_h=Case(*windows, default=Value(0), output_field=IntegerField()),
    )
    columns = ("account_id", "currency", *([person] if person else ()), "is_same", "window_h")
    sums = annotated.order_by().values_list(*columns).annotate(count=Count("pk"), total=ExactSum("amount"))
    for account, currency, *who, is_same, window_h, count, total in sums:
        yield Group(account, currency, who[0] if who else None, is_same, window_h, count, total)


def _to(recipient: Recipient) -> Q:
    return Q(account=recipient.account, address__in=recipient.names, payment_id=recipient.payment_id)
