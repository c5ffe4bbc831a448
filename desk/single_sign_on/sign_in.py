"""What follows when somebody comes back from the company's directory: signed in, about to connect, or sent away."""

from typing import Any, Final

import structlog
from allauth.account.internal.flows.login import record_authentication
from allauth.account.utils import perform_login
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from desk import clock
from desk.single_sign_on import accounts
from desk.single_sign_on.accounts import Identity

# The key of a session: which account waits to be connected.
WAITING: Final = "desk.company_account"
WAITING_SECONDS: Final = 300
METHOD: Final = "company account"
UNKNOWN, CANCELLED, FAILED = "unknown", "cancelled", "failed"
_log = structlog.get_logger(__name__)


def arrived(request: HttpRequest, identity: Identity, *, then: str | None) -> HttpResponse:
    """Sign in whoever connected this account; somebody who is in already is asked whether to connect it."""
    if request.user.is_authenticated:
        until = int(clock.now().timestamp()) + WAITING_SECONDS
        words = {"issuer": identity.issuer, "subject": identity.subject, "email": identity.email}
        request.session[WAITING] = words | {"until": until}
        return redirect("company-account")
    row = accounts.of_identity(identity)
    if row is None:
        # A log line and no event: strangers must not be able to make the trail grow.
        _log.warning("accounts.company_account_unknown", account=identity.label[:60])
        return _sent_away(UNKNOWN)
    record_authentication(request, row.person, METHOD)
    response: HttpResponse = perform_login(request, row.person, email_verification="none", redirect_url=then)
    return response


def failed(request: HttpRequest, *, cancelled: bool) -> HttpResponse:
    """Back to where it began, with the reason."""
    if request.user.is_authenticated:
        what = "it was cancelled there" if cancelled else "the company's sign-in could not say who you are. Try again"
        messages.error(request, f"Not connected: {what}.")
        return redirect("company-account")
    return _sent_away(CANCELLED if cancelled else FAILED)


def waiting(session: Any) -> Identity | None:
    """The account that this session may connect, for five minutes after it came from there."""
    noted = session.get(WAITING) or {}
    if clock.now().timestamp() >= noted.get("until", 0):
        return None
    return Identity(noted["issuer"], noted["subject"], noted["email"])


def _sent_away(reason: str) -> HttpResponse:
    return redirect(f"{reverse('account_login')}?{urlencode({'company': reason})}")
