"""Who holds a role with networks of its own (ROLE_NETWORKS) is let in from those alone: requests and sign-in.

Sockets ask in `desk.live.consumers`, API tokens in `desk.people.tokens`.
"""

from collections.abc import Callable
from typing import Any

from allauth.account.internal.stagekit import clear_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from desk import clock
from desk.models import Person
from desk.people.by_role import networks
from desk.web import errors

GetResponse = Callable[[HttpRequest], HttpResponseBase]

# URL names: signing out, and what strangers may reach.
REACHED = frozenset({"account_logout", "healthz", "readyz", "metrics", "csp-reports"})


class NetworkMiddleware:
    """Answers a session's requests from another network with 403; signing out stays."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: Any, view: Any, args: Any, named: Any) -> HttpResponse | None:
        """None where the session may go on."""
        if not request.user.is_authenticated or request.resolver_match.url_name in REACHED:
            return None
        sentence = networks.refusal(
            request.user,
            address=networks.address_of(request),
            way=networks.PAGE,
            now=clock.now(),
            session_key=request.session.session_key or "",
        )
        return errors.outside_network(request, sentence) if sentence else None


def refused_sign_in(request: HttpRequest, person: Person) -> HttpResponse | None:
    """The answer to somebody whose sign-in was right, from another network; None from an allowed one."""
    address, now = networks.address_of(request), clock.now()
    sentence = networks.refusal(person, address=address, way=networks.SIGN_IN, now=now)
    if not sentence:
        return None
    clear_login(request)  # this browser's session has noted that the password was right
    return errors.outside_network(request, sentence)
