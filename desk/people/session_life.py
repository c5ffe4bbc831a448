"""When a session ends, and the middleware that ends it.

A session ends after `SESSION_IDLE_SECONDS` without a person's action, and in any case `SESSION_COOKIE_AGE` after
sign-in. Re-reads that a page makes by itself send `X-Background: 1` and do not keep a session alive.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib.auth import logout
from django.contrib.sessions import middleware
from django.contrib.sessions.exceptions import SessionInterrupted
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme

from desk import clock
from desk.people import session_keys, sign_in_limits

GetResponse = Callable[[HttpRequest], HttpResponseBase]

SIGNED_IN_AT = "desk.signed_in_at"
SEEN_AT = "desk.seen_at"
DEVICE = "desk.device"
# Writing the session at every request would turn every read into a write; the idle limit may come this much earlier.
SEEN_EVERY_SECONDS = 30
LONGEST_WAY_BACK = 1_000  # characters of the address to return to after signing in
ENDED = {"ended": "yes"}  # the query of the sign-in page where a session ended under an open page


class SessionMiddleware(middleware.SessionMiddleware):
    """Django's, except that only a request that signs out removes the cookie.

    A session gets a new key when its person signs in or changes a factor. A re-read that left before, under the old
    key, finds no session. Removing the cookie then would remove the new one and sign out a person who just confirmed.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """The answer, with the cookie set anew, untouched, or emptied by signing out."""
        try:
            response = super().process_response(request, response)
        except SessionInterrupted:
            # The key was renewed during this request: what it read is right, what it noted in the session is lost.
            if not session_keys.is_renewed(request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""), now=clock.now()):
                raise
        emptied = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if emptied is not None and not emptied.value and not getattr(request, "signed_out", False):
            del response.cookies[settings.SESSION_COOKIE_NAME]
        return response


class SessionLifeMiddleware:
    """Signs out a session that was idle too long or is too old.

    When htmx asked for a part of a page and the answer would be the sign-in page, the browser is sent there as a whole
    instead of getting a sign-in form in the middle of the page. A re-read that left under a key which was renewed
    meanwhile is answered with nothing: the next one carries the new key.

    A session in which a second factor was given goes on under a new key, and a browser on which somebody has signed in
    completely is remembered (`sign_in_limits`).
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated and not _keep_alive(request, clock.now()):
            logout(request)
        with session_keys.Confirmations() as confirmed:
            response = self.get_response(request)
        if confirmed and request.user.is_authenticated and request.session.session_key:
            session_keys.renew(request.session, person=request.user, now=clock.now())
            request.signed_in_person = request.user  # type: ignore[attr-defined]  # password and factor were given here
        if (person := getattr(request, "signed_in_person", None)) is not None:
            sign_in_limits.remember_device(request, response, person)
        sign_in = resolve_url(settings.LOGIN_URL)
        wants_sign_in = response.status_code == 302 and response.headers.get("Location", "").startswith(sign_in)
        if wants_sign_in and request.headers.get("HX-Request"):
            if session_keys.is_renewed(request.COOKIES.get(settings.SESSION_COOKIE_NAME, ""), now=clock.now()):
                return HttpResponse(status=204)
            return HttpResponse(status=204, headers={"HX-Redirect": f"{sign_in}{_way_back(request)}"})
        return response


def _way_back(request: HttpRequest) -> str:
    """`?next=` with the page that the part belongs to, as htmx names it, if it is ours; and `ended`, so that the
    sign-in page says why somebody who did nothing is led there.
    """
    page = request.headers.get("HX-Current-URL", "")
    if not url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}):
        return f"?{urlencode(ENDED)}"
    address = urlsplit(page)
    path = f"{address.path}?{address.query}" if address.query else address.path
    safe = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return f"?{urlencode({'next': path, **ENDED} if safe and len(path) <= LONGEST_WAY_BACK else ENDED)}"


def mark_sign_in(session: Any, now: datetime, *, device: str = "") -> None:
    """Start both clocks of a session, and note the device that it was made with."""
    session[DEVICE] = device
    session[SIGNED_IN_AT] = session[SEEN_AT] = int(now.timestamp())


def is_over(session: Mapping[str, Any], now: datetime) -> bool:
    """Whether a session was idle too long or is too old. One without these times was not made by signing in: over."""
    try:
        signed_in_at, seen_at = int(session[SIGNED_IN_AT]), int(session[SEEN_AT])
    except (KeyError, TypeError, ValueError):
        return True
    at = int(now.timestamp())
    return at - seen_at > settings.SESSION_IDLE_SECONDS or at - signed_in_at > settings.SESSION_COOKIE_AGE


def _keep_alive(request: HttpRequest, now: datetime) -> bool:
    if is_over(request.session, now):
        return False
    at = int(now.timestamp())
    # A later time is from before the clock fell back: it must not keep the session alive for longer.
    is_noted = 0 <= at - request.session[SEEN_AT] < SEEN_EVERY_SECONDS
    if request.headers.get("X-Background") != "1" and not is_noted:
        request.session[SEEN_AT] = at
    return True
