"""One transfer: its facts, what this person can do about it, and its history."""

from datetime import datetime
from typing import Any

from django.db.models import Q
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from desk import clock
from desk.actions import upcoming
from desk.models import Person
from desk.people import trail_readers
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.policy import freezes
from exchange_ops.shared import rules
from exchange_ops.shared.forms import CancelForm, DecisionForm, ReasonForm, fresh_key
from exchange_ops.shared.views.access import requires
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.transfers import approvals, endings, states, workflow
from exchange_ops.transfers import rules as transfer_rules
from exchange_ops.transfers.forms import SLUGS, ReissueForm, TransferEndForm, TransferVerdictForm
from exchange_ops.transfers.models import Transfer
from exchange_ops.transfers.views import decisions

PAGE = "exchange_ops/transfer.html"
PARTS = {name: f"exchange_ops/transfer/_{name}.html" for name in ("facts", "decide", "story")}


@require_safe
@requires(rules.may_see)
def transfer(request: DeskRequest, transfer_id: int) -> HttpResponse:
    """The page, or one of its three parts."""
    return render_page(request, transfer_id)


def render_page(request: DeskRequest, transfer_id: int, *, status: int = 200, **forms: Any) -> HttpResponse:
    """The page with the forms that were refused, so that nothing typed is lost."""
    rows = workflow.newest().select_related("decided_by", "reissues", "reissued_as")
    row = get_object_or_404(rows, pk=transfer_id)
    target = request.htmx.target if request.htmx else None
    readers = {"facts": _facts, "decide": _decide, "story": _story}
    context: dict[str, Any] = {"row": row, "now": clock.now(), "drawn_for": f"{row.state}:{digest(row)}"}
    context["slug"] = next(slug for slug, kinds in SLUGS.items() if row.kind in kinds)
    for name in (target,) if target in PARTS else tuple(PARTS):
        context |= readers[name](row, request.user, context["now"])
    return show(request, PAGE, context | forms, parts=PARTS, status=status)


def digest(row: Transfer) -> str:
    """What a decision made on this page is bound to: the content, or in an unclear case its current state."""
    return endings.digest_of(row) if row.state in {states.NOT_SEEN, states.INVESTIGATE} else row.digest


def _facts(row: Transfer, person: Person, now: datetime) -> dict[str, Any]:
    number = row.subaccount_id
    subaccounts = SubAccount.objects.filter(account=row.account_id)
    return {
        "frozen": freezes.stopping(row.movement),
        "subaccount": None if number is None else subaccounts.filter(exchange_id=number).first(),
        "reissued_as": getattr(row, "reissued_as", None),
        "may_repeat": transfer_rules.may_repeat(person, row),
    }


def _decide(row: Transfer, person: Person, now: datetime) -> dict[str, Any]:
    words = list(row.approvals.select_related("person", "confirmation__signed_with").order_by("at", "pk"))
    return {
        "choices": decisions.choices(row, person),
        "words": words,
        "upcoming": upcoming.after(person, row, words),
        "purpose": approvals.PURPOSE,
        "close_purpose": endings.CLOSE_PURPOSE,
        "reissue_purpose": endings.REISSUE_PURPOSE,
        "resolve_purpose": endings.RESOLVE_PURPOSE,
        "digest": digest(row),
        "approve_form": DecisionForm(),
        "close_form": TransferEndForm(auto_id="close_%s"),
        "reissue_form": ReissueForm(auto_id="reissue_%s", initial={"request_key": fresh_key()}),
        "resolve_form": TransferVerdictForm(),
        "reject_form": ReasonForm(prefix="reject"),
        "cancel_form": CancelForm(prefix="cancel", by_requester=row.initiator_id == person.pk),
    }


def _story(row: Transfer, person: Person, now: datetime) -> dict[str, Any]:
    ids = [one for one in (row.exchange_id, row.second_id) if one]
    entries = LedgerEntry.objects.filter(account=row.account_id).filter(Q(exchange_id__in=ids) | Q(transfer=row))
    return {
        "events": row.events.select_related("actor").order_by("version"),
        "calls": row.calls.order_by("pk"),
        "may_audit": trail_readers.may_read_about(person, row.subject),
        "entries": entries.select_related("withdrawal").order_by("-index"),
    }
