"""A person's own tokens of the desk's API: making one, which is shown once, and revoking it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect
from django.utils.crypto import get_random_string
from django.views.decorators.http import require_http_methods, require_POST

from desk import clock
from desk.forms import SecondFactorForm
from desk.models import ApiToken
from desk.people import tokens
from desk.people.stepup import CannotConfirm
from desk.views.rendering import show
from desk.web.requests import DeskRequest

MOST_SHOWN = 50


class TokenForm(forms.Form):
    """What a token is for, what it may do and how long it is valid."""

    name = forms.CharField(label="Purpose", max_length=80)
    scope = forms.ChoiceField(label="Permissions", choices=ApiToken.Scope.choices, initial=ApiToken.Scope.READ)
    days = forms.IntegerField(
        label="Valid for (days)",
        min_value=1,
        max_value=tokens.LONGEST_DAYS,
        initial=tokens.DEFAULT_DAYS,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
    )
    request_key = forms.RegexField(r"^[A-Za-z0-9]{20}$", widget=forms.HiddenInput)


@require_http_methods(["GET", "HEAD", "POST"])
def own(request: DeskRequest) -> HttpResponse:
    """The list and the form of a new one; then a second factor for exactly that token, whose secret is shown once."""
    if request.method != "POST":
        return _page(request, TokenForm(initial={"request_key": get_random_string(20)}))
    form = TokenForm(request.POST)
    if not form.is_valid() or "back" in request.POST:
        return _page(request, form, status=422 if form.errors else 200)
    confirm_form = SecondFactorForm(request.POST) if "confirmed" in request.POST else SecondFactorForm()
    if not confirm_form.is_valid():
        return _confirm_page(request, form, confirm_form, status=422 if confirm_form.is_bound else 200)
    try:
        row, secret = tokens.make_own(
            person=request.user,
            **form.cleaned_data,
            answer=confirm_form.answer,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except CannotConfirm as problem:
        return _confirm_page(request, form, confirm_form, status=409, refusal=str(problem))
    fresh = TokenForm(initial={"request_key": get_random_string(20)})
    return _page(request, fresh, made=row, secret=tokens.shown_once(secret))


@require_POST
def revoke(request: DeskRequest, token_id: int) -> HttpResponse:
    """End one's own token at once."""
    person = request.user
    row = ApiToken.objects.filter(pk=token_id, person=person).first()
    ended = row is not None and tokens.revoke(token_id=token_id, now=clock.now(), actor=person)
    name = f"Token {row.name}" if row is not None else "Token"
    messages.success(request, f"{name}: revoked." if ended else f"{name}: already revoked or expired.")
    return redirect("tokens")


def _page(request: DeskRequest, form: TokenForm, *, status: int = 200, **words: Any) -> HttpResponse:
    context = {
        "now": clock.now(),
        "form": form,
        "tokens": ApiToken.objects.filter(person=request.user).order_by("-pk")[:MOST_SHOWN],
        "made": None,
        **words,
    }
    return show(request, "account/tokens.html", context, status=status)


def _confirm_page(
    request: DeskRequest, form: TokenForm, confirm_form: SecondFactorForm, *, status: int, refusal: str = ""
) -> HttpResponse:
    """What the new token will be, and the second factor for it."""
    context = {
        "form": confirm_form,
        "sent": form.cleaned_data,
        "scope": ApiToken.Scope(form.cleaned_data["scope"]).label,
        "purpose": tokens.PURPOSE,
        "digest": tokens.digest_of(request.user, **form.cleaned_data),
        "refusal": refusal,
    }
    return show(request, "account/token_confirm.html", context, status=status)
