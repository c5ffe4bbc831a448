"""A batch of payouts: its form, the preview that a person confirms, and the page of one that was requested."""

from typing import Any, Final
from uuid import UUID

from django.contrib import messages
from django.core import signing
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.people.signing.signed_lists import MOST
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.policy import freezes
from exchange_ops.shared import csv_lines, rules
from exchange_ops.shared.forms import fresh_key
from exchange_ops.shared.models import Account
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires
from exchange_ops.withdrawals.batches import checking, overview, reading, requesting
from exchange_ops.withdrawals.batches.checking import Checked
from exchange_ops.withdrawals.batches.forms import HAND_LINES, BatchForm
from exchange_ops.withdrawals.batches.models import PayoutBatch
from exchange_ops.withdrawals.batches.requesting import CannotRequestBatch
from exchange_ops.withdrawals.views.new import ONLY_OPERATORS

SHOWN_SECONDS: Final = 3600  # how long a preview may lie open
RECENT: Final = 5
CHECK_AGAIN: Final = "Nothing was requested. This preview is out of date: check the lines again, then confirm."
TICK: Final = "Nothing was requested. Some lines repeat a payment: tick the box below if that is intended."
_SALT: Final = "exchange_ops.payout_batch"


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_request, ONLY_OPERATORS)
def new(request: DeskRequest) -> HttpResponse:
    """The form; sent, its preview; confirmed there, one payout for each line. Until then nothing is written."""
    if request.method != "POST":
        return _render_form(request, BatchForm(initial={"request_key": fresh_key()}))
    form = BatchForm(request.POST, request.FILES)
    step = request.POST.get("step", "check")
    if step == "edit":
        names = ("text", "request_key")
        return _render_form(request, BatchForm(initial={name: request.POST.get(name, "") for name in names}))
    if not form.is_valid():
        return _render_form(request, form, status=422)
    return _confirm(request, form) if step == "confirm" else _preview(request, form)


@require_safe
@requires(rules.may_request, ONLY_OPERATORS)
def example(request: DeskRequest) -> HttpResponse:
    """A file to begin with. Its addresses are none, so that it can't be paid as it is."""
    response = HttpResponse(reading.EXAMPLE, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="payout-batch-example.csv"'
    return response


@require_safe
@requires(rules.may_see)
def batch(request: DeskRequest, batch_id: int) -> HttpResponse:
    """The lines of a batch with their states, its totals, and for treasury the way to decide on several."""
    rows = PayoutBatch.objects.filter(account__in=accounts.in_view(request)).select_related("account", "initiator")
    row, now = get_object_or_404(rows, pk=batch_id), clock.now()
    payouts = overview.payouts(row)
    decidable = overview.decidable(payouts, request.user)
    context = {
        "row": row,
        "now": now,
        "exchange_now": accounts.exchange_now(row.account, now),
        "payouts": payouts,
        "totals": overview.totals(payouts),
        "decidable": decidable[:MOST],
        "left_out": len(decidable[MOST:]),
    }
    return show(request, "exchange_ops/payout_batch.html", context, parts={"batch": "exchange_ops/batch/_batch.html"})


def _confirm(request: DeskRequest, form: BatchForm) -> HttpResponse:
    account, key = accounts.required(request), form.cleaned_data["request_key"]
    on_preview = _repeats_on_preview(request, account, key, form)
    if on_preview is None:
        return _preview(request, form, refusal=CHECK_AGAIN)
    try:
        row, is_new = requesting.request(
            form.entries,
            account=account,
            person=request.user,
            key=key,
            accepted=on_preview if request.POST.get("repeats") else (),
            now=clock.now(),
            session_key=request.session.session_key or "",
        )
    except requesting.NotAccepted as refusal:
        return _preview(request, form, checked=refusal.checked, refusal=TICK)
    except CannotRequestBatch as refusal:
        return _preview(request, form, checked=refusal.checked, refusal=str(refusal))
    if is_new:
        text = f"{row.reference} requested. Nothing has been sent yet: each payout is being checked."
        messages.success(request, text, extra_tags="new-batch")
    else:
        messages.info(request, f"Already requested as {row.reference}. Nothing was requested again.")
    return redirect("payout-batch", row.pk)


def _render_form(request: DeskRequest, form: BatchForm, *, status: int = 200) -> HttpResponse:
    account = accounts.current(request)
    context: dict[str, Any] = {
        "form": form,
        "frozen": freezes.active_at(account),
        "columns": reading.NAMES,
        "most": csv_lines.MOST_LINES,
        "hand_rows": form.hand_rows() if form.is_bound else [{}] * HAND_LINES,
        "by_hand": form.is_bound and any(any(row.values()) for row in form.hand_rows()),
        "recent": PayoutBatch.objects.filter(account=account).select_related("initiator").order_by("-pk")[:RECENT],
        "now": clock.now(),
    }
    return show(request, "exchange_ops/payout_batch_new.html", context, status=status)


def _preview(
    request: DeskRequest, form: BatchForm, *, checked: Checked | None = None, refusal: str = ""
) -> HttpResponse:
    """Every line as it was read, with its problem or what it needs, and all together."""
    account, now = accounts.required(request), clock.now()
    key: UUID = form.cleaned_data["request_key"]
    if checked is None:
        checked = checking.check(form.entries, account=account, person=request.user, key=key, now=now)
    signed = [request.user.pk, account.pk, str(key), reading.content_of(form.entries), checked.repeated]
    context: dict[str, Any] = {
        "account": account,
        "now": now,
        "checked": checked,
        "frozen": freezes.active_at(account),
        "refusal": refusal,
        "text": form.cleaned_data["text"],
        "again": BatchForm(initial={"text": form.cleaned_data["text"]}),
        "request_key": key,
        "mark": signing.dumps(signed, salt=_SALT, compress=True),
        "earlier": requesting.earlier(form.entries, account=account, now=now),
    }
    status = 409 if refusal else 200 if checked.is_good else 422
    return show(request, "exchange_ops/payout_batch_preview.html", context, status=status)


def _repeats_on_preview(request: DeskRequest, account: Account, key: UUID, form: BatchForm) -> tuple[str, ...] | None:
    """The repeated payments that the preview of exactly these lines showed to this person; None for no preview."""
    try:
        *signed, repeated = signing.loads(request.POST.get("mark", ""), salt=_SALT, max_age=SHOWN_SECONDS)
    except signing.BadSignature:
        return None
    same = [request.user.pk, account.pk, str(key), reading.content_of(form.entries)]
    return tuple(repeated) if signed == same else None
