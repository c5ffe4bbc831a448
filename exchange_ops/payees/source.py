"""Payees in the list of what needs action: those that wait for approvals."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from django.db.models import QuerySet
from django.urls import reverse

from desk.actions.entries import MOST, Entry, Source
from desk.audit.words import SYSTEM
from desk.people import roles
from exchange_ops.payees import book, machine, states, workflow
from exchange_ops.payees.models import Payee, PayeeApproval
from exchange_ops.shared import rules as shared_rules

if TYPE_CHECKING:
    from desk.models import Person


def _rows(person: "Person") -> QuerySet[Payee]:
    return shared_rules.seen_by(person, Payee.objects.select_related("initiator", "account"))


def _waiting(person: "Person", now: datetime) -> Sequence[Entry]:
    return _entries(_rows(person).filter(state=states.REVIEW).order_by("pk")[:MOST], person, now)


def _done(person: "Person", now: datetime) -> Sequence[Entry]:
    entries = _entries(_rows(person).exclude(state=states.REVIEW).order_by("-updated_at", "-pk")[:MOST], person, now)
    for entry in entries:
        entry.mine, entry.deadline, entry.done_at = False, None, entry.row.updated_at
        entry.outcome = entry.row.label.lower()
        last = entry.row.events.order_by("-version").select_related("actor").first()
        entry.done_by = str((last.actor if last else None) or SYSTEM)
    return entries


def _count(person: "Person", scope: str) -> int:
    at_account = {"account": int(scope)} if scope else {}
    return workflow.waiting().for_person(person).filter(**at_account).count()


def _recipients(people: "Sequence[Person]") -> "Iterator[tuple[Person, tuple[str, str]]]":
    for person, rows in workflow.waiting().for_each(people):
        for row in rows:
            yield person, (row.subject, row.state)


def _entries(rows: Any, person: "Person", now: datetime) -> list[Entry]:
    rows = list(rows)
    approvals = book.BALLOT.counting_by_row(rows, stage=PayeeApproval.REVIEW, verdict=PayeeApproval.APPROVE)
    mine = {row.pk for row in workflow.waiting().for_person(person).filter(pk__in=[row.pk for row in rows])}
    return [_entry(row, person, now, approvals.get(row.pk, []), row.pk in mine) for row in rows]


def _entry(row: Payee, person: "Person", now: datetime, approvals: list[Any], is_mine: bool) -> Entry:
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title=f"New payee: {row.title}",
        sentence=f"{row.currency} to {row.address}, added by {row.initiator.get_username()}. {row.sentence}",
        url=reverse("payee", args=[row.pk]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=states.STATES[row.state].icon,
        deadline=row.next_action_at if row.state == states.REVIEW else None,
        clock=now,
        mine=is_mine,
        own=row.initiator_id == person.pk,
        who=roles.TREASURY,
        phase=row.state,
        progress=f"{len(approvals)} of {states.APPROVALS} approvals",
        votes=approvals,
        row=row,
        scope=str(row.account_id),
    )


def _page(person: "Person", number: int) -> str:
    return reverse("payee", args=[number]) if _rows(person).filter(pk=number).exists() else ""


SOURCE: Final = Source(
    name="payees",
    label="Payees",
    waiting=_waiting,
    done=_done,
    count=_count,
    subjects=lambda: {Payee.name: _page},
    topics=lambda: machine.TOPIC,
    empty="No payee needs your approval.",
    acts=(roles.TREASURY,),
    recipients=_recipients,
)
