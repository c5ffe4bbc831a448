"""What people decide about an order beyond a limit. Each view is one call of the domain; a refusal comes back on the
page of the order."""

from collections.abc import Callable
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect

from desk import clock
from desk.people.stepup import CannotConfirm
from desk.web.requests import DeskRequest
from exchange_ops.orders import states
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.models import Order
from exchange_ops.orders.views import detail
from exchange_ops.orders.views.choices import ApproveForm
from exchange_ops.shared import rules
from exchange_ops.shared.forms import ReasonForm
from exchange_ops.shared.views.access import posted

_MESSAGES = {
    states.REQUESTED: "Approved. The order is being sent now.",
    states.DECLINED: "Rejected. Order not placed.",
    states.WITHDRAWN: "Withdrawn. Order not placed.",
}


@posted(rules.may_see)
def approve(request: DeskRequest, order_id: int) -> HttpResponse:
    """The approval with its second factor, for the digest that was on the screen."""
    form = ApproveForm(request.POST)

    def act(common: dict[str, Any]) -> Order:
        fields = {name: form.cleaned_data[name] for name in ("comment", "digest", "confirmed")}
        return approvals.approve(answer=form.answer, **fields, **common)

    return _act(request, order_id, form, "approve_form", act)


@posted(rules.may_see)
def decline(request: DeskRequest, order_id: int) -> HttpResponse:
    """A no with its reason."""
    return _with_reason(request, order_id, "decline", approvals.decline)


@posted(rules.may_see)
def withdraw(request: DeskRequest, order_id: int) -> HttpResponse:
    """Take a request back."""
    return _with_reason(request, order_id, "withdraw", approvals.withdraw)


def _with_reason(request: DeskRequest, order_id: int, name: str, act: Callable[..., Order]) -> HttpResponse:
    form = ReasonForm(request.POST, prefix=name)
    return _act(
        request, order_id, form, f"{name}_form", lambda common: act(reason=form.cleaned_data["reason"], **common)
    )


def _act(
    request: DeskRequest, order_id: int, form: forms.Form, name: str, act: Callable[[dict[str, Any]], Order]
) -> HttpResponse:
    refused: dict[str, Any] = {name: form}
    if not form.is_valid():
        return detail.render_page(request, order_id, status=422, **refused)
    common = {
        "order_id": order_id,
        "person": request.user,
        "session_key": request.session.session_key or "",
        "now": clock.now(),
    }
    try:
        row = act(common)
    except (approvals.CannotDecide, CannotConfirm) as problem:
        # On the page itself and not in the form: after a refusal the form may have gone.
        return detail.render_page(request, order_id, status=409, refusal=str(problem), **refused)
    messages.success(request, f"{row.reference}: {_MESSAGES[row.state]}")
    return redirect("order", row.pk)
