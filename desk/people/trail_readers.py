"""Who reads what of the audit trail.

Auditors and administrators of the whole desk read all of it. Treasury reads the trail of each object that they decided
on, and everybody their own events. Somebody who is limited to accounts reads no object of another account; an auditor
or administrator of some accounts reads every object of these. Pages of one account show no object of another one,
whoever reads them.

Every page, file and block that shows the trail takes its events from `readable`.
"""

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from django.db.models import F, Q, QuerySet, Value
from django.db.models.functions import Concat

from desk import models
from desk.audit import words
from desk.people import roles

if TYPE_CHECKING:
    from desk.models import AuditEvent, Person


def may_read(person: "Person") -> bool:
    """Whether the person may open the trail: with any role, at any account."""
    return person.has_role(*roles.ALL)


def reads_all(person: "Person") -> bool:
    """Whether the person reads the trail of the whole desk."""
    return person.has_role(roles.AUDITOR, roles.ADMIN, scope="")


def readable(person: "Person", *, at: Collection[str] | None = None) -> "QuerySet[AuditEvent]":
    """The events that this person may read; with `at`, only those of these accounts and of the whole desk."""
    rows = _of_reader(person)
    return rows if at is None else rows.exclude(_of_other_accounts(at))


def _of_reader(person: "Person") -> "QuerySet[AuditEvent]":
    rows = models.AuditEvent.objects.all()
    if reads_all(person):
        return rows
    mine = Q(actor=person)
    if person.has_role(roles.TREASURY):
        mine |= _about(_decided_by(person))
    audited = person.scopes(roles.AUDITOR, roles.ADMIN)
    if audited:
        mine |= _of_accounts(audited)
    held = person.scopes(*roles.ALL)
    rows = rows.filter(mine)
    return rows if held is None else rows.exclude(_of_other_accounts(held))


def may_read_about(person: "Person", subject: str) -> bool:
    """Whether the person may read the whole trail of this object, for the links that lead there."""
    return reads_all(person) or readable(person).filter(subject=subject).exclude(actor=person).exists()


def _decided_by(person: "Person") -> "QuerySet[AuditEvent]":
    return models.AuditEvent.objects.filter(actor=person, action__in=words.decisions()).order_by()


def _about(decided: "QuerySet[AuditEvent]") -> Q:
    """The events of these objects, and of their comments."""
    comments = decided.annotate(thread=Concat(Value(f"{words.THREAD}:"), F("subject")))
    return Q(subject__in=decided.values("subject")) | Q(subject__in=comments.values("thread"))


def _of_accounts(scopes: Collection[str]) -> Q:
    condition = Q()
    for each, prefix in _of_an_account():
        condition |= Q(subject__in=each.subjects_of(scopes, prefix))
    return condition


def _of_other_accounts(held: Collection[str]) -> Q:
    """The objects of accounts that are not among these, and the comments on them."""
    condition = Q()
    for each, prefix in _of_an_account():
        condition |= Q(subject__startswith=f"{prefix}:") & ~Q(subject__in=each.subjects_of(held, prefix))
    return condition


def _of_an_account() -> Iterator[tuple[words.Words, str]]:
    """The words for objects that belong to an account, with each prefix of their subjects."""
    for each in words.declared():
        if each.model is not None:
            yield from ((each, prefix) for prefix in each.prefixes)
