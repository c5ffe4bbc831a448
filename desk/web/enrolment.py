"""A person without a second factor reaches nothing but enrolment; neither does a session that a recovery code opened.

Nor does somebody without a passkey whose role requires one (`desk.people.by_role.required_passkeys`).

Checked for every request of a session; sockets ask `presence`, and tokens are asked in `tokens.living_token`.
"""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from desk.people import factors
from desk.people.by_role import required_passkeys
from desk.web import errors

GetResponse = Callable[[HttpRequest], HttpResponseBase]

# URL names: the own factors, what the library asks before them, signing out, and what strangers may reach.
REACHED = frozenset(
    {
        "mfa_index",
        "mfa_activate_totp",
        "mfa_deactivate_totp",
        "mfa_add_webauthn",
        "mfa_list_webauthn",
        "mfa_edit_webauthn",
        "mfa_remove_webauthn",
        "mfa_view_recovery_codes",
        "mfa_generate_recovery_codes",
        "mfa_download_recovery_codes",
        "factor-confirm",
        "mfa_reauthenticate",
        "mfa_reauthenticate_webauthn",
        "account_reauthenticate",
        "account_login",
        "account_logout",
        "begin",
        "healthz",
        "readyz",
        "metrics",
        "csp-reports",
    }
)
NEEDED = "Set up a second factor first, or sign in with an existing one."


class EnrolmentMiddleware:
    """Redirects such a session to the page of its factors, and refuses everything else."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: Any, view: Any, args: Any, named: Any) -> HttpResponse | None:
        """None where the session may go on."""
        request.enrols = request.user.is_authenticated and not factors.may_enter(request.user, request.session)
        if not request.enrols or request.resolver_match.url_name in REACHED:
            return None
        if request.path_info.startswith(errors.API):
            return errors.permission_denied(request, PermissionDenied(_needed(request)))
        page = reverse("mfa_index")
        if request.headers.get("HX-Request"):
            # What a page re-reads by itself must not send it to itself again and again.
            by_itself = request.headers.get("X-Background") == "1"
            return HttpResponse(status=204, headers={} if by_itself else {"HX-Redirect": page})
        if request.method in {"GET", "HEAD"}:
            return redirect(page)
        return errors.permission_denied(request, PermissionDenied(_needed(request)))


def _needed(request: Any) -> str:
    """What the person has to do first."""
    why = required_passkeys.reason(request.user)
    return f"Add a passkey first: {why}." if why else NEEDED
