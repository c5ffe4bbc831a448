"""What people do to one withdrawal. Each view makes one domain call; a refusal is shown on the same page."""

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
from exchange_ops.shared.forms import CancelForm, DecisionForm, ReasonForm, ResolutionForm
from exchange_ops.shared.views.access import posted
from exchange_ops.withdrawals import states, workflow
from exchange_ops.withdrawals.decisions import approvals, open_holds, resolutions
from exchange_ops.withdrawals.forms import ReleaseForm
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.views import detail

_REFUSALS = (
    approvals.CannotApprove,
    workflow.CannotCancel,
    resolutions.CannotResolve,
    open_holds.CannotOrderRelease,
    CannotConfirm,
)
_MESSAGES = {
    states.COMMITTING: "Approved. The payment order is being sent to the exchange.",
    states.QUEUED: "Approved. The funds are being reserved.",
    states.HELD: "Approval recorded. Another treasurer must also approve.",
    states.REVIEW: "Approval recorded. Another treasurer must also approve.",
    states.ROLLING_BACK: "Nothing was paid. The funds are being released.",
    states.CANCELLED: "Request closed. Nothing was sent.",
    states.INVESTIGATE: "Finding recorded. A second treasurer must submit the same finding.",
    states.DISPUTED: "Finding recorded. A second treasurer must submit the same finding.",
}

Act = Callable[[dict[str, Any], forms.Form], Withdrawal]


@posted(rules.may_see)
def approve(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """One approval with its second factor, for the digest that was on the screen."""
    form = DecisionForm(request.POST)

    def act(common: dict[str, Any], valid: forms.Form) -> Withdrawal:
        arguments = {"digest": valid.cleaned_data["digest"], "comment": valid.cleaned_data["comment"]}
        arguments["purpose"] = request.POST.get("purpose", "")
        return approvals.approve(answer=form.answer, **arguments, **common)

    return _acted(request, withdrawal_id, form, "approve_form", act)


@posted(rules.may_see)
def reject(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """A no with its reason."""
    return _with_reason(request, withdrawal_id, ReasonForm(request.POST, prefix="reject"), approvals.reject)


@posted(rules.may_see)
def recall(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """Call an approval back, as long as the exchange was told nothing."""
    return _with_reason(request, withdrawal_id, ReasonForm(request.POST, prefix="recall"), approvals.recall)


@posted(rules.may_see)
def cancel(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """Take a request back."""
    is_own = Withdrawal.objects.filter(pk=withdrawal_id, initiator=request.user).exists()
    form = CancelForm(request.POST, prefix="cancel", by_requester=is_own)
    return _with_reason(request, withdrawal_id, form, workflow.cancel)


@posted(rules.may_see)
def resolve(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """One of the two verdicts that close an unclear case."""
    form = ResolutionForm(request.POST)

    def act(common: dict[str, Any], valid: forms.Form) -> Withdrawal:
        cleaned = valid.cleaned_data
        arguments = {"digest": cleaned["digest"], "verdict": cleaned["verdict"], "evidence": cleaned["comment"]}
        return resolutions.resolve(answer=form.answer, **arguments, **common)

    return _acted(request, withdrawal_id, form, "resolve_form", act)


@posted(rules.may_see)
def release(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """One of the two orders that release the hold of a closed request."""
    form = ReleaseForm(request.POST)

    def act(common: dict[str, Any], valid: forms.Form) -> Withdrawal:
        arguments = {"digest": valid.cleaned_data["digest"], "reason": valid.cleaned_data["comment"]}
        return open_holds.order_release(answer=form.answer, **arguments, **common)

    return _acted(request, withdrawal_id, form, "release_form", act)


def _with_reason(
    request: DeskRequest, withdrawal_id: int, form: ReasonForm, act: Callable[..., Withdrawal]
) -> HttpResponse:
    return _acted(
        request,
        withdrawal_id,
        form,
        f"{form.prefix}_form",
        lambda common, valid: act(reason=valid.cleaned_data["reason"], **common),
    )


def _acted(request: DeskRequest, withdrawal_id: int, form: forms.Form, name: str, act: Act) -> HttpResponse:
    if not form.is_valid():
        return detail.render_page(request, withdrawal_id, status=422, **{name: form})
    common = {
        "withdrawal_id": withdrawal_id,
        "person": request.user,
        "session_key": request.session.session_key or "",
        "now": clock.now(),
    }
    try:
        row = act(common, form)
    except _REFUSALS as problem:
        # On the page itself and not in the form: after a refusal the form may have gone.
        return detail.render_page(request, withdrawal_id, status=409, refusal=str(problem), **{name: form})
    messages.success(request, f"{row.reference}: {_MESSAGES.get(row.state, row.sentence)}")
    return redirect("withdrawal", withdrawal_id)
