"""Transfers that wait for approvals, and how they ended, for the list of what waits and for their requesters."""

from collections.abc import Collection, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, F, OuterRef, QuerySet
from django.urls import reverse

from desk.actions.entries import MOST, Entry
from desk.people import roles
from desk.rooms import OpenWord
from exchange_ops.shared import rules
from exchange_ops.transfers import approvals, states
from exchange_ops.transfers.models import Transfer, TransferApproval, TransferEvent
from exchange_ops.transfers.views import briefing

if TYPE_CHECKING:
    from desk.models import Person


def visible_to(person: "Person") -> QuerySet[Transfer]:
    """The transfers that this person may see."""
    return rules.seen_by(person, Transfer.objects.all())


def undecided(person: "Person", now: datetime) -> list[Entry]:
    """Everything that waits for approvals, with a briefing on its recipient."""
    rows = _with_counts(rules.seen_by(person, approvals.undecided()))
    briefings = briefing.briefings(rows)
    return [_entry(row, person, briefings.get(row.pk)) for row in rows]


def followed(person: "Person", now: datetime, others: Collection[int]) -> list[Entry]:
    """This person's own open requests other than those that wait."""
    requests = Transfer.objects.filter(initiator=person, state__in=states.OPEN_STATES).exclude(pk__in=others)
    rows = _with_counts(rules.seen_by(person, requests).order_by("-pk"))
    return [_entry(row, person, None) for row in rows]


def done(person: "Person", now: datetime) -> list[Entry]:
    """Those that were decided last."""
    transfers = Transfer.objects.filter(approvals__stage="review", decided_at__isnull=False).distinct()
    entries = []
    for row in _with_counts(rules.seen_by(person, transfers).order_by(F("decided_at").desc(), "-pk")):
        entry = _entry(row, person, None)
        entry.outcome = "rejected" if row.state == states.REJECTED else "approved"
        entries.append(entry)
    return entries


def ended(since: datetime) -> QuerySet[Transfer]:
    """Closed requests that were written since then.

    A transfer without approvals is over in a second, while the requester watches; one that they cancelled is no news.
    """
    has_approval = Exists(TransferApproval.objects.filter(transfer=OuterRef("pk")))
    cancellations = TransferEvent.objects.filter(
        transfer=OuterRef("pk"), event="cancelled", actor=OuterRef("initiator")
    )
    transfers = Transfer.objects.filter(state__in=states.TABLE.over, updated_at__gt=since)
    return transfers.filter(has_approval, ~Exists(cancellations))


def news(numbers: Collection[int]) -> Iterator[tuple[int, Entry]]:
    """How requests ended, for their requesters."""
    for row in Transfer.objects.filter(pk__in=numbers):
        yield row.initiator_id, Entry.of_request(row, title="Transfer", icon=states.STATES[row.state].icon)


def open_words(person: "Person") -> Iterator[OpenWord]:
    """Approvals of transfers that still need others."""
    votes = TransferApproval.objects.filter(person=person, verdict=TransferApproval.APPROVE)
    open_votes = votes.filter(digest=F("transfer__digest"), transfer__state=states.REVIEW)
    for vote in open_votes.select_related("transfer").order_by("transfer_id"):
        row = vote.transfer
        sentence = f"Approved a transfer of {row.amount:f} {row.currency}"
        yield OpenWord(row.reference, reverse("transfer", args=[row.pk]), sentence, row.subject)


def _entry(row: Any, person: "Person", row_briefing: briefing.Briefing | None) -> Entry:
    state, row.briefing = states.STATES[row.state], row_briefing
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title="Transfer",
        sentence=row.sentence,
        url=reverse("transfer", args=[row.pk]),
        since=row.created_at,
        tone=state.tone,
        label=row.label,
        icon=state.icon,
        own=row.initiator_id == person.pk,
        who=roles.TREASURY,
        row=row,
        template="exchange_ops/action/_transfer.html",
        progress=f"{row.tally.counted} of {row.quorum_required} approvals" if row.quorum_required else "",
        missing=row.tally.waits_for if row.state == states.REVIEW else "",
        votes=row.votes,
        phase=row.state,
        scope=str(row.account_id),
    )


def _with_counts(rows: QuerySet[Any]) -> list[Any]:
    """The rows with the number of people whose approvals count, as their pages count them."""
    with_counts = list(rows.select_related("initiator", "decided_by", "account")[:MOST])
    votes = approvals.counting_by_row(with_counts)
    for row in with_counts:
        row.votes = votes.get(row.pk, [])
        row.tally = approvals.tally_of(row, [vote.person_id for vote in row.votes])
    return with_counts
