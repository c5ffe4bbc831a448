"""What people do to one transfer. Each view makes one domain call; a refusal is shown on the same page."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from desk import clock
from desk.people.stepup import CannotConfirm
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.forms import CancelForm, DecisionForm, ReasonForm
from exchange_ops.shared.views.access import posted
from exchange_ops.transfers import approvals, endings, states, workflow
from exchange_ops.transfers.forms import ReissueForm, TransferEndForm, TransferVerdictForm
from exchange_ops.transfers.models import Transfer
from exchange_ops.transfers.views import detail

_REFUSALS = (
    approvals.CannotApprove,
    workflow.CannotCancel,
    workflow.CannotTransfer,
    endings.CannotClose,
    endings.CannotResolve,
    CannotConfirm,
)
_MESSAGES = {
    states.REVIEW: "Approval recorded. Another treasurer must also approve.",
    states.APPROVED: "Approved. The transfer is being sent.",
    states.REJECTED: "Rejected. Nothing was sent.",
    states.CANCELLED: "Withdrawn. Nothing was sent.",
    states.CLOSED: "Transfer closed. It was not sent again.",
    states.INVESTIGATE: "Finding recorded. A second treasurer must submit the same finding.",
}


@posted(rules.may_see)
def approve(request: DeskRequest, transfer_id: int) -> HttpResponse:
    """One approval with its second factor, for the digest that was on the screen."""
    return _signed(
        request, transfer_id, DecisionForm(request.POST), "approve_form", approvals.approve, comment_as="comment"
    )


@posted(rules.may_see)
def reject(request: DeskRequest, transfer_id: int) -> HttpResponse:
    """A no with its reason."""
    return _with_reason(request, transfer_id, ReasonForm(request.POST, prefix="reject"), approvals.reject)


@posted(rules.may_see)
def cancel(request: DeskRequest, transfer_id: int) -> HttpResponse:
    """Take a request back."""
    is_own = Transfer.objects.filter(pk=transfer_id, initiator=request.user).exists()
    form = CancelForm(request.POST, prefix="cancel", by_requester=is_own)
    return _with_reason(request, transfer_id, form, workflow.cancel)


@posted(rules.may_see)
def close(request: DeskRequest, transfer_id: int) -> HttpResponse:
    """Close a transfer that was not seen."""
    form = TransferEndForm(request.POST, auto_id="close_%s")
    return _signed(request, transfer_id, form, "close_form", endings.close, comment_as="reason")


@posted(rules.may_see)
def reissue(request: DeskRequest, transfer_id: int) -> HttpResponse:
    """Close a transfer that was not seen and ask for the same anew."""
    form = ReissueForm(request.POST, auto_id="reissue_%s")

    def act(*, transfer_id: int, **arguments: Any) -> Transfer:
        key = str(form.cleaned_data["request_key"])
        return endings.reissue(transfer_id=transfer_id, request_key=key, **arguments)

    return _signed(request, transfer_id, form, "reissue_form", act, comment_as="reason")


@posted(rules.may_see)
def resolve(request: DeskRequest, transfer_id: int) -> HttpResponse:
    """One of the two verdicts that close an unclear case."""
    form = TransferVerdictForm(request.POST)

    def act(*, transfer_id: int, **arguments: Any) -> Transfer:
        return endings.resolve(transfer_id=transfer_id, verdict=form.cleaned_data["verdict"], **arguments)

    return _signed(request, transfer_id, form, "resolve_form", act, comment_as="evidence")


def _with_reason(
    request: DeskRequest, transfer_id: int, form: ReasonForm, act: Callable[..., Transfer]
) -> HttpResponse:
    name = f"{form.prefix}_form"
    return _acted(request, transfer_id, form, name, lambda common: act(reason=form.cleaned_data["reason"], **common))


def _signed(
    request: DeskRequest,
    transfer_id: int,
    form: DecisionForm,
    name: str,
    act: Callable[..., Transfer],
    *,
    comment_as: str,
) -> HttpResponse:
    """An act with its second factor; `comment_as` is what the domain calls the comment."""

    def signed(common: dict[str, Any]) -> Transfer:
        arguments = {comment_as: form.cleaned_data["comment"], "digest": form.cleaned_data["digest"]}
        return act(answer=form.answer, **arguments, **common)

    return _acted(request, transfer_id, form, name, signed)


def _acted(
    request: DeskRequest, transfer_id: int, form: forms.Form, name: str, act: Callable[[dict[str, Any]], Transfer]
) -> HttpResponse:
    if not form.is_valid():
        return detail.render_page(request, transfer_id, status=422, **{name: form})
    common = {
        "transfer_id": transfer_id,
        "person": request.user,
        "session_key": request.session.session_key or "",
        "now": clock.now(),
    }
    try:
        row = act(common)
    except _REFUSALS as problem:
        # On the page itself and not in the form: after a refusal the form may have gone.
        return detail.render_page(request, transfer_id, status=409, refusal=str(problem), **{name: form})
    if row.pk != transfer_id:
        messages.success(request, f"Requested again as {row.reference}. {row.sentence}")
    else:
        messages.success(request, f"{row.reference}: {_MESSAGES.get(row.state, row.sentence)}")
    return redirect("transfer", row.pk)
