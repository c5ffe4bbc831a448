"""The page behind a one-time link: its person chooses a password, and is led to a second factor."""

from datetime import datetime
from typing import Any

from django import forms
from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.db import transaction
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from desk import clock
from desk.people import invitations as first_links
from desk.staff import invitations
from desk.staff.models import Invitation
from desk.views.rendering import show

_BACKEND = "desk.people.accounts.PeopleBackend"


class InvitedForm(SetPasswordForm):  # type: ignore[type-arg]
    """A password, and the address that the link is bound to, which a person whom it was forwarded to does not know."""

    email = forms.CharField(
        label="The e-mail address that you were invited with",
        max_length=254,
        widget=forms.EmailInput(attrs={"autocomplete": "email"}),
    )

    def __init__(self, row: Invitation, *arguments: Any, now: datetime) -> None:
        super().__init__(row.person, *arguments)
        self._row, self._now = row, now

    def clean_email(self) -> str:
        """Check the address; five wrong ones end the link."""
        typed = str(self.cleaned_data["email"])
        if not invitations.is_for(self._row, typed, now=self._now):
            raise forms.ValidationError("The link was made for another address. After five wrong ones it ends.")
        return typed


@login_not_required
@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def begin(request: Any) -> HttpResponse:
    """Choose a password. The code comes in the query, which is not logged, and then in the form."""
    code = (request.POST if request.method == "POST" else request.GET).get("code", "")
    now = clock.now()
    if (row := invitations.good_invitation(code, now=now)) is not None:
        return _invited(request, row, code, now)
    person = first_links.person_of(code)
    if person is None:
        return show(request, "account/begin.html", {"form": None}, status=404)
    form = SetPasswordForm(person, request.POST or None)
    if form.is_valid():
        with transaction.atomic():
            invitations.arrived(person, now=now)
            form.save()
        login(request, person, backend=_BACKEND)
        return redirect("mfa_index")
    return show(request, "account/begin.html", {"form": form, "code": code}, status=422 if form.errors else 200)


def _invited(request: Any, row: Invitation, code: str, now: datetime) -> HttpResponse:
    form = InvitedForm(row, request.POST or None, now=now)
    if not form.is_valid():
        return show(request, "account/begin.html", {"form": form, "code": code}, status=422 if form.errors else 200)
    with transaction.atomic():
        used = invitations.use(row, now=now)
        if used:
            form.save()
    if not used:
        return show(request, "account/begin.html", {"form": None}, status=404)
    login(request, row.person, backend=_BACKEND)
    return redirect("mfa_index")
