"""The pages of sign-in by the company's directory: going there, coming back, and one's own connection."""

from typing import Any, Final

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe
from requests import RequestException

from desk import clock
from desk.forms import SecondFactorForm
from desk.people.stepup import CannotConfirm
from desk.single_sign_on import accounts, sign_in
from desk.single_sign_on.oidc import PROVIDER, Directory
from desk.views.rendering import show
from desk.web.requests import DeskRequest

_LEAVING: Final = "socialaccount/login_redirect.html"


@never_cache
@login_not_required
@require_POST
def begin(request: HttpRequest) -> HttpResponseBase:
    """Go to the company's sign-in, by a page of ours: a form of the desk may lead nowhere else."""
    _require_directory()
    try:
        answer: HttpResponseBase = OAuth2LoginView.adapter_view(Directory)(request)
    except (OAuth2Error, RequestException) as problem:
        provider = get_adapter(request).get_provider(request, PROVIDER)
        try:
            get_adapter(request).on_authentication_error(request, provider, exception=problem)
        except ImmediateHttpResponse as instead:
            answer = instead.response
    if answer.status_code != 302 or not answer.headers["Location"].startswith("http"):
        return answer
    return show(request, _LEAVING, {"redirect_to": answer.headers["Location"], "name": settings.SSO_NAME})


@never_cache
@login_not_required
@require_safe
def callback(request: HttpRequest) -> HttpResponseBase:
    """Where the directory sends people back to."""
    _require_directory()
    answer: HttpResponseBase = OAuth2CallbackView.adapter_view(Directory)(request)
    return answer


@never_cache
@require_safe
def own(request: DeskRequest) -> HttpResponse:
    """The company account that signs this person in, or the one that waits to be connected."""
    return _page(request, SecondFactorForm())


@never_cache
@require_POST
@sensitive_post_parameters("code", "passkey")
def connect(request: DeskRequest) -> HttpResponse:
    """Connect the account that the person has just signed in to at the company."""
    _require_directory()
    form, identity = SecondFactorForm(request.POST), sign_in.waiting(request.session)
    if identity is None:
        messages.error(request, "Not connected: more than five minutes have passed. Sign in at the company again.")
        return redirect("company-account")
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        row = accounts.connect(
            person=request.user,
            identity=identity,
            digest=request.POST.get("digest", ""),
            answer=form.answer,
            session_key=request.session.session_key or "",
            now=clock.now(),
        )
    except (accounts.CannotConnect, CannotConfirm) as problem:
        return _page(request, form, refusal=str(problem), status=409)
    request.session.pop(sign_in.WAITING, None)
    messages.success(request, f"Connected: from now on {row.label} signs you in.")
    return redirect("company-account")


@never_cache
@require_POST
def disconnect(request: DeskRequest) -> HttpResponse:
    """End the connection of one's own company account."""
    _require_directory()
    try:
        row = accounts.disconnect(person=request.user, session_key=request.session.session_key or "", now=clock.now())
    except accounts.CannotConnect as problem:
        messages.error(request, str(problem))
    else:
        messages.success(request, f"Disconnected: {row.label} no longer signs you in.")
    return redirect("company-account")


def _page(request: DeskRequest, form: SecondFactorForm, *, refusal: str = "", status: int = 200) -> HttpResponse:
    _require_directory()
    person, identity = request.user, sign_in.waiting(request.session)
    context: dict[str, Any] = {
        "now": clock.now(),
        "form": form,
        "name": settings.SSO_NAME,
        "connected": accounts.of_person(person),
        "identity": identity,
        "why_not": accounts.why_not(person, identity) if identity else "",
        "purpose": accounts.PURPOSE,
        "digest": accounts.digest_of(person, identity) if identity else "",
        "refusal": refusal,
    }
    return show(request, "account/company_account.html", context, status=status)


def _require_directory() -> None:
    if not accounts.is_set_up():
        raise Http404("This desk has no company sign-in.")
