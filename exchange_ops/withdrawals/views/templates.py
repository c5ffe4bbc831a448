"""Payout templates: the list of them, saving a payout as one, and removing one."""

from typing import Final

from django import forms
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.shared import rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import posted, requires
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.schedules import book as schedules
from exchange_ops.withdrawals.templates import book
from exchange_ops.withdrawals.templates.models import LONGEST_NAME, PayoutTemplate

ONLY: Final = "Only operators can change payout templates."


class TemplateForm(forms.Form):
    """What a template is called."""

    name = forms.CharField(
        label="Template name",
        max_length=LONGEST_NAME,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
        error_messages={"required": "Enter a name."},
    )


@require_safe
@requires(rules.may_see)
def listed(request: DeskRequest) -> HttpResponse:
    """The templates of the accounts in view."""
    mine = accounts.in_view(request)
    context = {"now": clock.now(), "rows": book.offered(mine), "may_request": rules.may_request(request.user)}
    return show(request, "exchange_ops/payout_templates.html", context)


@require_safe
@requires(rules.may_request, ONLY)
def fill_in(request: DeskRequest, template_id: int) -> HttpResponse:
    """The form of a new payout of the template's account, filled in."""
    get_object_or_404(book.offered(accounts.in_view(request)), pk=template_id)
    return redirect(f"{reverse('withdrawal-new')}?template={template_id}")


@require_http_methods(["GET", "HEAD", "POST"])
@requires(rules.may_request, ONLY)
def save(request: DeskRequest, withdrawal_id: int) -> HttpResponse:
    """Save the content of a payout under a name."""
    row = get_object_or_404(Withdrawal.objects.select_related("account"), pk=withdrawal_id)
    form = TemplateForm(request.POST if request.method == "POST" else None)
    if not form.is_valid():
        return _render_form(request, row, form)
    key = request.session.session_key or ""
    try:
        template = book.save(row, name=form.cleaned_data["name"], person=request.user, now=clock.now(), session_key=key)
    except book.CannotSave as problem:
        form.add_error("name", str(problem))
        return _render_form(request, row, form)
    messages.success(request, f"{template.name}: template saved. Nothing was requested.")
    return redirect("payout-templates")


@posted(rules.may_request, ONLY)
def remove(request: DeskRequest, template_id: int) -> HttpResponse:
    """Offer a template no more."""
    try:
        template = book.remove(
            template_id, person=request.user, now=clock.now(), session_key=request.session.session_key or ""
        )
    except PayoutTemplate.DoesNotExist:
        raise Http404("Template not found.") from None
    except book.CannotSave as problem:
        messages.error(request, str(problem))
    else:
        text = f"{template.name}: template removed. Payouts requested with it are not affected."
        if names := ", ".join(row.reference for row in schedules.active().filter(template=template)):
            text += f" Nothing more is requested for {names}."
        messages.success(request, text)
    return redirect("payout-templates")


def _render_form(request: DeskRequest, row: Withdrawal, form: TemplateForm) -> HttpResponse:
    context = {"row": row, "form": form}
    return show(request, "exchange_ops/payout_template_new.html", context, status=422 if form.errors else 200)
