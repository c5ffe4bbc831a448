"""The templates of an account: saving the content of a payout under a name, removing one, and what is offered."""

from collections.abc import Collection
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import QuerySet

from desk.audit import trail
from desk.invisible import revealed
from desk.machines.guards import Guards
from exchange_ops.shared.models import Account
from exchange_ops.shared.rules import may_request
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.templates.models import LONGEST_NAME, PayoutTemplate, PayoutTemplateEnd

if TYPE_CHECKING:
    from desk.models import Person

MOST: Final = 200  # of one account
GUARDS: Final = Guards(history=(PayoutTemplate, PayoutTemplateEnd))
_CONTENT: Final = ("currency", "amount", "include_fee", "address", "payment_id", "reason")


class CannotSave(Exception):
    """Nothing was saved or removed; the text is the sentence for the person."""


def offered(accounts: Collection[Account]) -> QuerySet[PayoutTemplate]:
    """The templates of these accounts, by name."""
    rows = PayoutTemplate.objects.filter(account__in=accounts, end=None)
    return rows.select_related("account", "person").order_by("name", "pk")


def save(row: Withdrawal, *, name: str, person: "Person", now: datetime, session_key: str = "") -> PayoutTemplate:
    """Save the content of this payout as a template. Raises CannotSave."""
    name = name.strip()
    if not may_request(person, row.account_id):
        raise CannotSave("Only operators can request payouts.")
    if not 0 < len(name) <= LONGEST_NAME or revealed(name) != name:
        raise CannotSave(f"Enter a name of up to {LONGEST_NAME} visible characters.")
    with transaction.atomic():
        trail.take_turn()
        existing = offered([row.account])
        if existing.filter(name__iexact=name).exists():
            raise CannotSave(f"{name} exists already. Choose another name, or remove it first.")
        if existing.count() >= MOST:
            raise CannotSave(f"{MOST} templates are the most of an account. Remove one first.")
        template = PayoutTemplate.objects.create(
            account=row.account,
            person=person,
            name=name,
            at=now,
            **{field: getattr(row, field) for field in _CONTENT},
        )
        facts = {"payout": row.reference} | {field: getattr(template, field) for field in ("name", *_CONTENT)}
        _record("payout_template.saved", template, facts, person=person, now=now, session_key=session_key)
    return template


def remove(template_id: int, *, person: "Person", now: datetime, session_key: str = "") -> PayoutTemplate:
    """Offer a template no more. Raises CannotSave, and the model's DoesNotExist."""
    with transaction.atomic():
        trail.take_turn()
        template = PayoutTemplate.objects.select_related("account").get(pk=template_id)
        if not may_request(person, template.account_id):
            raise CannotSave("Only operators can change templates.")
        if PayoutTemplateEnd.objects.filter(template=template).exists():
            raise CannotSave(f"{template.name} is removed already.")
        PayoutTemplateEnd.objects.create(template=template, person=person, at=now)
        _record(
            "payout_template.removed",
            template,
            {"name": template.name},
            person=person,
            now=now,
            session_key=session_key,
        )
    return template


def _record(action: str, template: PayoutTemplate, facts: dict[str, Any], **who: Any) -> None:
    trail.record(
        actor=who["person"],
        action=action,
        subject=f"payout_template:{template.pk}",
        before={},
        after=facts,
        now=who["now"],
        session_key=who["session_key"],
    )
