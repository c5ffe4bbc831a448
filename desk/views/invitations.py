"""The page behind a one-time link: its person chooses a password, and is led to a second factor."""

from typing import Any

from django.contrib.auth import login
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import SetPasswordForm
from django.http import HttpResponse
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from desk.people import invitations
from desk.views.rendering import show

_BACKEND = "allauth.account.auth_backends.AuthenticationBackend"


@login_not_required
@never_cache
@sensitive_post_parameters()
@require_http_methods(["GET", "POST"])
def begin(request: Any) -> HttpResponse:
    """Choose a password. The code stands in the query, which no log keeps, and then in the form."""
    code = (request.POST if request.method == "POST" else request.GET).get("code", "")
    person = invitations.person_of(code)
    if person is None:
        return show(request, "account/begin.html", {"form": None}, status=404)
    form = SetPasswordForm(person, request.POST or None)
    if form.is_valid():
        form.save()
        login(request, person, backend=_BACKEND)
        return redirect("mfa_index")
    return show(request, "account/begin.html", {"form": form, "code": code}, status=422 if form.errors else 200)
