"""Raw transactions: explained first, then sent by treasury with a second factor; and what became of them."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from django.views.decorators.http import require_http_methods, require_safe

from chaindata import rules
from chaindata.broadcasts import explanation, requests
from chaindata.broadcasts.models import LONGEST_REASON
from chaindata.cache import answers
from chaindata.explorer.transaction import confirmations
from chaindata.shared.access import readable, target
from chaindata.shared.pages import TIP_TOPIC, freshness_of
from chaindata.tools import cross_checks, tools
from chaindata.tools.forms import HexForm
from chaindata.tools.views import SAFE_AND_POST, TABS
from desk import clock
from desk.forms import SecondFactorForm
from desk.people import trail_readers
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest

PAGE = "chaindata/tools/transaction.html"
PARTS = {"effect": "chaindata/tools/_effect.html", "opinion": "chaindata/tools/_opinion.html"}
LIST_PARTS = {"rows": "chaindata/broadcast/_rows.html"}
SAME = "Inputs, amounts and decoded scripts. The signatures were not sent to the service."
ONE_PARTS = {name: f"chaindata/broadcast/_{name}.html" for name in ("facts", "story")}


class BroadcastForm(SecondFactorForm):
    """A transaction to be sent, with its second factor for exactly these bytes."""

    hex = forms.CharField(max_length=tools.MOST_HEX, widget=forms.HiddenInput)
    digest = forms.RegexField(r"^[0-9a-f]{64}$", widget=forms.HiddenInput)
    reason = forms.CharField(
        label="Reason",
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        error_messages={
            "required": "Enter a reason for broadcasting this transaction. It is recorded in the audit trail."
        },
    )
    purpose = requests.PURPOSE


@require_http_methods(SAFE_AND_POST)
@readable
def transaction(request: DeskRequest) -> HttpResponse:
    """What a raw transaction is and would do; nothing is sent here."""
    params = request.POST if request.method == "POST" else request.GET
    form = HexForm(params) if "hex" in params else HexForm()
    return _page(request, form)


@require_http_methods(SAFE_AND_POST)
@readable
@sensitive_variables("form")
def new(request: DeskRequest) -> HttpResponse:
    """Request that the explained transaction be sent; a refusal is shown on the page that explains it."""
    if request.method != "POST":
        return redirect("chain-tools-transaction")
    form = BroadcastForm(request.POST)
    if not form.is_valid():
        return _page(request, HexForm(request.POST), send_form=form)
    try:
        row = requests.ask(**_arguments(form), person=request.user, session_key=_session(request), now=clock.now())
    except (requests.CannotBroadcast, CannotConfirm, tools.CannotRead) as problem:
        for field, sentence in getattr(problem, "problems", {requests.NON_FIELD: str(problem)}).items():
            form.add_error(field if field in form.fields else None, sentence)
        return _page(request, HexForm(request.POST), send_form=form, status=409)
    messages.success(request, f"Queued as {row.reference}. It will be sent once; follow its status here.")
    return redirect("chain-broadcast", row.pk)


@require_safe
@readable
def broadcast_list(request: DeskRequest) -> HttpResponse:
    """Everything that was sent from here."""
    rows = list(requests.listing().defer("raw")[: requests.MOST_LISTED])
    context = {"now": clock.now(), "tabs": TABS, "rows": rows, "topic": requests.TOPIC}
    return show(request, "chaindata/broadcasts.html", context, parts=LIST_PARTS)


@require_safe
@readable
def broadcast(request: DeskRequest, broadcast_id: int) -> HttpResponse:
    """One transaction that was sent from here, and what became of it."""
    row = get_object_or_404(requests.listing(), pk=broadcast_id)
    now, part = clock.now(), target(request)
    context: dict[str, Any] = {
        "now": now,
        "row": row,
        "may_audit": trail_readers.may_read_about(request.user, row.subject),
    }
    if part != "story":
        reading = answers.read("get_transaction_details", now=now, txid=row.txid)
        context |= {"details": reading.record, "freshness": freshness_of(reading, topics=[row.subject, TIP_TOPIC])}
        context["confirmations"] = confirmations(reading.record, now=now)
    if part != "facts":
        context["events"] = requests.story(row=row)
    return show(request, "chaindata/broadcast.html", context, parts=ONE_PARTS)


def _page(
    request: DeskRequest, form: HexForm, *, send_form: BroadcastForm | None = None, status: int = 200
) -> HttpResponse:
    """The page of a raw transaction, or one of its parts."""
    now, part = clock.now(), target(request)
    context: dict[str, Any] = {"now": now, "tabs": TABS, "form": form, "send_form": send_form or BroadcastForm()}
    if form.is_bound and form.is_valid():
        try:
            context |= _parts(form.cleaned_data["hex"], part, now)
        except tools.CannotRead as problem:
            form.add_error("hex", str(problem))
    context |= {"may_broadcast": rules.may_broadcast(request.user), "again_at": reverse("chain-tools-transaction")}
    wrong = (form.is_bound and form.errors) or (send_form is not None and status == 200)
    return show(request, PAGE, context, parts=PARTS, status=422 if wrong else status)


def _parts(text: str, part: str, now: Any) -> dict[str, Any]:
    decoded = tools.decode(text=text)
    context: dict[str, Any] = {"read": decoded, "hex": decoded.transaction.raw.hex(), "same": SAME}
    if part != "effect":
        context["opinion"] = cross_checks.transaction_opinion(decoded=decoded, now=now)
    if part != "opinion":
        explained = explanation.explain(decoded=decoded, now=now)
        raw = decoded.transaction.raw
        context |= {"effect": explained, "obstacles": requests.obstacles(explained)}
        context |= {"digest": requests.digest_of(raw), "purpose": requests.PURPOSE}
        context["earlier"] = requests.in_effect_for(txid=decoded.txid)
    return context


def _arguments(form: BroadcastForm) -> dict[str, Any]:
    cleaned = form.cleaned_data
    return {"text": cleaned["hex"], "digest": cleaned["digest"], "reason": cleaned["reason"], "answer": form.answer}


def _session(request: DeskRequest) -> str:
    return request.session.session_key or ""
