"""One withdrawal: its facts, what this person can do about it, and its history."""

from datetime import datetime
from typing import Any

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from desk import clock
from desk.actions import attachments, upcoming
from desk.models import Person
from desk.people import trail_readers
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.addresses import destinations
from exchange_ops.addresses.destinations import Destination
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.shared import clocks, rules
from exchange_ops.shared.forms import CancelForm, DecisionForm, ReasonForm, ResolutionForm
from exchange_ops.shared.views.access import requires
from exchange_ops.withdrawals import rules as withdrawal_rules
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.batches.models import PayoutBatchLine
from exchange_ops.withdrawals.decisions import approvals, open_holds, resolutions
from exchange_ops.withdrawals.forms import ReleaseForm
from exchange_ops.withdrawals.models import PayoutProof, Withdrawal
from exchange_ops.withdrawals.proofs import material, payouts, sentences
from exchange_ops.withdrawals.recipients import briefing
from exchange_ops.withdrawals.recipients.briefing import Recipient
from exchange_ops.withdrawals.schedules.models import PayoutOccurrence
from exchange_ops.withdrawals.views import decisions

PAGE = "exchange_ops/withdrawal.html"
PARTS = {name: f"exchange_ops/withdrawal/_{name}.html" for name in ("facts", "decide", "story")}


@require_safe
@requires(rules.may_see)
def withdrawal(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """The page, or one of its three parts."""
    return render_page(request, withdrawal_id)


def render_page(request: DeskRequest, withdrawal_id: int, *, status: int = 200, **forms: Any) -> HttpResponse:
    """The page with the forms that were refused, so that nothing typed is lost."""
    now = clock.now()
    rows = Withdrawal.objects.select_related("account", "initiator", "decided_by")
    row = get_object_or_404(rows, pk=withdrawal_id)
    target = request.htmx.target if request.htmx else None
    parts = (target,) if target in PARTS else tuple(PARTS)
    readers = {"facts": _facts, "decide": _decide, "story": _story}
    context: dict[str, Any] = {
        "row": row,
        "now": now,
        "exchange_now": clocks.exchange_now(account=row.account, now=now),
        "drawn_for": f"{row.state}:{_digest(row)}",
        "cancel_open": request.GET.get("do") == "cancel",
    }
    for name in parts:
        context |= readers[name](row, request.user, now)
    return show(request, PAGE, context | forms, parts=PARTS, status=status)


def _facts(row: Withdrawal, person: Person, now: datetime) -> dict[str, Any]:
    on_chain = row.currency == payouts.COIN
    return {
        "destination": destination_of(row),
        "batch_line": PayoutBatchLine.objects.filter(withdrawal=row).select_related("batch").first(),
        "occurrence": PayoutOccurrence.objects.filter(withdrawal=row).select_related("schedule").first(),
        "files": attachments.of(row.subject),
        "frozen": freezes.stopping(row.movement),
        "may_save_template": rules.may_request(person, row.account_id),
        "may_repeat": withdrawal_rules.may_repeat(person, row),
        "on_chain": on_chain,
        # Then the desk counts confirmations itself on the same page, and a second count would contradict it.
        "is_followed": on_chain and PayoutProof.objects.filter(withdrawal=row).exists(),
    }


def _decide(row: Withdrawal, person: Person, now: datetime) -> dict[str, Any]:
    words = list(row.approvals.select_related("person", "confirmation__signed_with").order_by("at", "pk"))
    return {
        "choices": decisions.choices(row, person, now=now),
        "words": words,
        "upcoming": upcoming.after(person, row, words),
        "recipient": _recipient(row, now),
        "purpose": approvals.purpose_of(row),
        "resolve_purpose": resolutions.PURPOSE,
        "digest": _digest(row),
        "approve_form": DecisionForm(),
        "resolve_form": ResolutionForm(),
        "release_purpose": open_holds.PURPOSE,
        "release_form": ReleaseForm(),
        "open_hold": open_holds.sentence(row) if open_holds.stands(row) else "",
        "release_votes": list(row.release_votes.select_related("person", "confirmation")),
        "reject_form": ReasonForm(prefix="reject"),
        "cancel_form": CancelForm(prefix="cancel", by_requester=row.initiator_id == person.pk),
        "recall_form": ReasonForm(prefix="recall"),
    }


def _story(row: Withdrawal, person: Person, now: datetime) -> dict[str, Any]:
    if may_export := withdrawal_rules.may_export_evidence(person, row):
        material.stored(row, now=now)  # so that a worker has fetched it by the time the evidence is exported
    return {
        "may_export": may_export,
        "chain": sentences.chain_status(row, now=now),
        "events": row.events.select_related("actor").order_by("version"),
        "calls": row.calls.order_by("pk"),
        "may_audit": trail_readers.may_read_about(person, row.subject),
        "entries": row.ledger_entries.select_related("withdrawal").order_by("-index"),
    }


def _digest(row: Withdrawal) -> str:
    """What a decision made on this page is bound to: the content, or in an unclear or closed case the current state."""
    if row.state in states.CLOSED_STATES:
        return open_holds.digest_of(row)
    return resolutions.digest_of(row) if row.state in {states.INVESTIGATE, states.DISPUTED} else row.digest


def _recipient(row: Withdrawal, now: datetime) -> Recipient | None:
    """The briefing on the recipient, as long as somebody can still stop this payout."""
    if row.state not in decisions.UNDECIDED | states.CANCELLABLE | {states.COMMITTING}:
        return None
    return briefing.of_rows([row], now=now)[row.pk]


def destination_of(row: Withdrawal) -> Destination | None:
    """The address parsed again by the rules of its currency; None when one of the two is not known any more."""
    currency = Currency.objects.filter(pk=row.currency).first()
    try:
        return (
            destinations.check(currency=currency, address=row.address, payment_id=row.payment_id) if currency else None
        )
    except destinations.CannotUseDestination:
        return None
