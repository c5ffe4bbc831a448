"""The approved payees, as rules and forms read them: only what two people provably approved counts."""

import hashlib
from collections import defaultdict
from collections.abc import Collection
from datetime import datetime
from typing import Final, NamedTuple

from django.db.models import F, QuerySet

from desk.audit import trail
from desk.machines import votes
from desk.people import roles
from exchange_ops.payees import machine, states
from exchange_ops.payees.models import Payee, PayeeApproval
from exchange_ops.shared.models import Account

BALLOT: Final = votes.Ballot(PayeeApproval, "payee", machine.PURPOSE, roles.TREASURY)


class Key(NamedTuple):
    """A recipient in one currency at one account; `address` is in the normal form of the currency."""

    account: int
    currency: str
    address: str
    payment_id: str


def approved(keys: Collection[Key], *, now: datetime) -> dict[Key, Payee]:
    """Those of these recipients that are approved payees now, from a few queries however many there are."""
    rows = in_force(now).filter(account__in={key.account for key in keys}, address__in={key.address for key in keys})
    by_key = _newest(_proven(rows))
    return {key: by_key[key] for key in keys if key in by_key}


def in_force(now: datetime) -> QuerySet[Payee]:
    """The payees whose cooling-off period is over and that have not expired, by name; whether they were approved is
    for `approved` to prove."""
    rows = Payee.objects.filter(state__in=(states.COOLING_OFF, states.ACTIVE))
    return rows.filter(counts_from__lte=now, expires_at__gt=now).order_by("title", "pk")


def usable(*, account: Account, currency: str, now: datetime) -> list[Payee]:
    """The approved payees that count at the account now, by name; an empty `currency` stands for every currency."""
    rows = in_force(now).filter(account=account)
    proven = _proven(rows.filter(currency=currency) if currency else rows)
    newest = _newest(proven)
    return [row for row in proven if newest[key_of(row)] == row]


def key_of(row: Payee) -> Key:
    """The recipient of a payee."""
    return Key(row.account_id, row.currency, row.address, row.payment_id)


def of_recipient(row: Payee) -> QuerySet[Payee]:
    """Every payee of the same recipient, this one as well."""
    return Payee.objects.filter(**_recipient(row)).order_by("pk")


def renewed(row: Payee) -> Payee | None:
    """The payee that counts while this one waits or cools off, and that this one takes over from."""
    return of_recipient(row).filter(state=states.ACTIVE, pk__lt=row.pk).first()


def goes_back_to(row: Payee, earlier: Payee) -> bool:
    """Whether this payee is that earlier one, or renews it without a gap: nobody removed it and it never expired."""
    if key_of(row) != key_of(earlier):
        return False
    approved_between = of_recipient(row).filter(pk__gte=earlier.pk, pk__lt=row.pk, counts_from__isnull=False)
    return earlier.pk <= row.pk and not approved_between.exclude(state=states.RENEWED).exists()


def digest_of(row: Payee) -> str:
    """The digest that people sign: of everything about the recipient, and who added it."""
    names = ("account_id", "initiator_id", "currency", "address", "payment_id")
    texts = ("title", "owner", "group", "supplier", "evidence")
    signed = ["countersign-payee-1", *(getattr(row, name) for name in (*names, *texts))]
    return hashlib.sha256(trail.canonical(signed).encode()).hexdigest()


def _recipient(row: Payee) -> dict[str, object]:
    return {name: getattr(row, name) for name in ("account_id", "currency", "address", "payment_id")}


def _newest(rows: list[Payee]) -> dict[Key, Payee]:
    """By recipient: where a renewal counts already, it and no longer the payee before it."""
    return {key_of(row): row for row in sorted(rows, key=lambda row: row.pk)}


def _proven(rows: QuerySet[Payee]) -> list[Payee]:
    """Those that enough people approved: a row that was written past the desk never counts."""
    payees = list(rows)
    named = {"payee__in": payees, "digest": F("payee__digest"), "verdict": PayeeApproval.APPROVE}
    approvals = PayeeApproval.objects.filter(**named).exclude(person=F("payee__initiator"))
    people: defaultdict[int, set[int]] = defaultdict(set)
    for payee, person in votes.among(approvals, purpose=machine.PURPOSE).values_list("payee_id", "person_id"):
        people[payee].add(person)
    return [row for row in payees if len(people[row.pk]) >= states.APPROVALS and row.digest == digest_of(row)]
