"""Payouts that wait for approvals, and how they ended, for the list of what waits and for their requesters."""

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db.models import F, QuerySet
from django.urls import reverse

from desk.actions.entries import MOST, Entry
from desk.machines.table import NONE
from desk.people import roles
from desk.rooms import OpenWord
from exchange_ops.policy import modes
from exchange_ops.shared import clocks, rules
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import endings, queries, states
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Approval, Withdrawal
from exchange_ops.withdrawals.recipients import briefing
from exchange_ops.withdrawals.recipients.briefing import Recipient
from exchange_ops.withdrawals.views import decisions

if TYPE_CHECKING:
    from desk.models import Person


def visible_to(person: "Person") -> QuerySet[Withdrawal]:
    """The payouts that this person may see."""
    return rules.seen_by(person, Withdrawal.objects.all())


def undecided(person: "Person", now: datetime) -> list[Entry]:
    """Everything that waits for approvals, with a briefing on its recipient."""
    rows = _with_progress(rules.seen_by(person, approvals.undecided()))
    return _entries(rows, person, now, briefing.of_rows(rows, now=now))


def followed(person: "Person", now: datetime, others: Collection[int]) -> list[Entry]:
    """This person's own open requests other than those that wait."""
    rows = rules.seen_by(person, Withdrawal.objects.filter(initiator=person, state__in=states.OPEN_STATES))
    requests = _with_progress(rows.order_by("-pk").select_related("account", "initiator"))
    return _entries([row for row in requests if row.pk not in others], person, now, {})


def done(person: "Person", now: datetime) -> list[Entry]:
    """The payouts decided last, by a person or by a deadline."""
    rows = visible_to(person).exclude(decision=NONE).select_related("account", "initiator", "decided_by")
    entries = []
    for row in queries.with_ends(rows.order_by(F("decided_at").desc(), "-pk"))[:MOST]:
        entry = _entry(row, person, now, None)
        entry.outcome = (
            "approved" if row.decision == states.COMMIT else (row.end.label.lower() if row.end else "stopped")
        )
        entries.append(entry)
    return entries


def ended(since: datetime) -> QuerySet[Withdrawal]:
    """Closed requests that were written since then."""
    return Withdrawal.objects.filter(state__in=states.TABLE.over, updated_at__gt=since)


def news(numbers: Collection[int]) -> Iterator[tuple[int, Entry]]:
    """How requests ended, for their requesters; one that the requester withdrew is no news."""
    for row in queries.with_ends(Withdrawal.objects.filter(pk__in=numbers)):
        if row.end is None or row.end.name != endings.WITHDRAWN:
            yield row.initiator_id, Entry.of_request(row, title="Payout", icon=_icon(row))


def open_words(person: "Person") -> Iterator[OpenWord]:
    """Approvals of payouts that still need others."""
    votes = Approval.objects.filter(person=person, verdict=Approval.APPROVE, digest=F("withdrawal__digest"))
    open_votes = votes.filter(withdrawal__state__in=(states.REVIEW, states.HELD), withdrawal__decision=NONE)
    for vote in open_votes.select_related("withdrawal").order_by("withdrawal_id"):
        row = vote.withdrawal
        sentence = f"Approved a payout of {row.amount:f} {row.currency}"
        yield OpenWord(row.reference, reverse("withdrawal", args=[row.pk]), sentence, row.subject)


def _entries(rows: list[Any], person: "Person", now: datetime, recipients: dict[int, Recipient]) -> list[Entry]:
    """The entries with the exchange's clock, by which their deadlines are kept."""
    accounts: Iterable[Account] = {row.account_id: row.account for row in rows}.values()
    clock = {account.pk: clocks.exchange_now(account=account, now=now) for account in accounts}
    return [_entry(row, person, clock[row.account_id], recipients.get(row.pk)) for row in rows]


def _entry(row: Any, person: "Person", clock: datetime, recipient: Recipient | None) -> Entry:
    row.recipient = recipient
    is_final = row.state == states.HELD and row.mode == modes.APPROVE_THEN_HOLD and row.earlier_fee_limit is None
    return Entry(
        subject=row.subject,
        reference=row.reference,
        title="Final release" if is_final else "Payout",
        sentence=f"{row.sentence} {recipient.short}".strip() if recipient else row.sentence,
        url=reverse("withdrawal", args=[row.pk]),
        since=row.created_at,
        tone=row.tone,
        label=row.label,
        icon=_icon(row),
        deadline=row.approve_until if row.state == states.HELD else None,
        clock=clock,
        by_exchange=True,
        own=row.initiator_id == person.pk,
        who=roles.TREASURY,
        row=row,
        template="exchange_ops/action/_payout.html",
        progress=getattr(row, "progress", ""),
        missing=row.tally.waits_for if hasattr(row, "tally") else "",
        votes=getattr(row, "votes", ()),
        phase=_phase(row),
        lapse="the funds are released and the request expires",
        scope=str(row.account_id),
    )


def _phase(row: Withdrawal) -> str:
    """The state; a fee that rose makes another one, so that approvers hear that their approvals don't count."""
    return row.state if row.earlier_fee_limit is None or row.state != states.HELD else f"{row.state}:{row.digest[:12]}"


def _icon(row: Any) -> str:
    return row.end.sign if row.end else states.STATES[row.state].icon


def _with_progress(rows: QuerySet[Withdrawal]) -> list[Any]:
    """The rows with how they ended and how many approvals of each stage count, as their pages count them."""
    with_ends: list[Any] = list(queries.with_ends(rows.select_related("decided_by", "account"))[:MOST])
    reviewed, released = (approvals.counting_by_row(with_ends, stage) for stage in (Approval.REVIEW, Approval.RELEASE))
    for row in with_ends:
        before, now = reviewed.get(row.pk, []), released.get(row.pk, [])
        row.tally = approvals.tally_of(row, reviewed=reviewed, released=released)
        row.progress = decisions.progress(row, row.tally, before=len(before))
        row.votes = before if row.state == states.REVIEW else now
    return with_ends
