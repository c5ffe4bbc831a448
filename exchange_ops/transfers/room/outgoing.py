"""Transfers to other users as the rules for payouts over time count them."""

from collections.abc import Collection, Hashable, Iterable, Iterator
from datetime import datetime
from decimal import Decimal

from django.db.models import Q
from django.db.models.functions import Coalesce
from django.urls import reverse

from exchange_ops.policy import outgoing
from exchange_ops.policy.outgoing import Group, Past, Recipient
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer
from exchange_ops.withdrawals.outgoing import grouped

_IS_PENDING = Q(state__in=states.OPEN_STATES)
_IS_DONE = Q(state__in=(states.DONE, states.RESOLVED_MOVED))


def groups(recipient: Recipient, *, now: datetime, without: int | None) -> Iterable[Group]:
    """Transfers that are pending or were carried out."""
    rows = Transfer.objects.filter(kind__in=states.LEAVING_KINDS).exclude(pk=without or 0)
    rows = rows.annotate(left_at=Coalesce("sent_at", "decided_at", "created_at"))
    rows = rows.filter(_IS_PENDING | _IS_DONE & Q(left_at__gte=now - outgoing.LONGEST))
    return grouped(rows, recipient=_to(recipient), pending=_IS_PENDING, person="initiator_id", now=now)


def was_paid(recipient: Recipient) -> bool:
    """Whether this user was sent money before."""
    return Transfer.objects.filter(_IS_DONE & _to(recipient), kind__in=states.LEAVING_KINDS).exists()


def pasts(accounts: Collection[int], *, since: datetime) -> Iterator[Past]:
    """Transfers to other users that were carried out, by when they were requested."""
    rows = Transfer.objects.filter(_IS_DONE, kind__in=states.LEAVING_KINDS, account__in=accounts, created_at__gte=since)
    for row in rows.iterator(1000):
        yield Past(
            reference=row.reference,
            url=reverse("transfer", args=[row.pk]),
            account=row.account_id,
            currency=row.currency,
            amount=row.amount,
            recipient=(row.account_id, row.by, row.identifier),
            place=None,
            at=row.created_at,
            person=row.initiator_id,
            value=row.quote_value,
            fee=Decimal(0),
        )


def recipients_before(accounts: Collection[int], *, until: datetime) -> Iterable[Hashable]:
    """The users that were sent money before that moment."""
    rows = Transfer.objects.filter(_IS_DONE, kind__in=states.LEAVING_KINDS, account__in=accounts, created_at__lt=until)
    return rows.order_by().values_list("account_id", "by", "identifier").distinct()


def _to(recipient: Recipient) -> Q:
    return Q(account=recipient.account, identifier__in=recipient.names, by=recipient.payment_id)
