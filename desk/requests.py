"""What every request carries: an id that follows it into logs, tasks and the audit trail, and a session that ends.

A session ends after `SESSION_IDLE_SECONDS` without a person's action, and in any case `SESSION_COOKIE_AGE` after
sign-in. Re-reads that a page makes by itself send `X-Background: 1` and do not keep a session alive.
"""

import re
import time
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from datetime import datetime
from typing import Any
from urllib.parse import urlencode, urlsplit

import structlog
from django.conf import settings
from django.contrib.auth import logout
from django.contrib.sessions import middleware as sessions
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme
from prometheus_client import Histogram

from desk import attempts, clock

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_ID_SHAPE = re.compile(r"[A-Za-z0-9-]{8,64}", re.ASCII)
_current: ContextVar[str] = ContextVar("request_id", default="")
_log = structlog.get_logger(__name__)
SECONDS = Histogram("countersign_request_seconds", "Time to answer a request", ["method", "status"])

SIGNED_IN_AT = "desk.signed_in_at"
SEEN_AT = "desk.seen_at"
DEVICE = "desk.device"
# Writing the session at every request would make every read a write; the idle limit is early by at most this much.
SEEN_EVERY_SECONDS = 30
LONGEST_WAY_BACK = 1_000  # characters of an address that is gone back to after signing in


def current_id() -> str:
    """The id of the request or task being worked on, or empty text outside of both."""
    return _current.get()


def enter(request_id: str) -> Token[str]:
    """Work under this id until `leave`; used by the middleware and by Celery tasks."""
    return _current.set(request_id)


def leave(token: Token[str]) -> None:
    """Go back to the id that was current before `enter`."""
    _current.reset(token)


def usable_id(given: str | None) -> str:
    """The given id when it is harmless in a log line, else a fresh one."""
    return given if given and _ID_SHAPE.fullmatch(given) else uuid.uuid4().hex


class RequestIdMiddleware:
    """Sets `request.request_id`, answers it as X-Request-ID and writes one log line per request, without the query."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = usable_id(request.headers.get("X-Request-ID"))
        request.request_id = request_id  # type: ignore[attr-defined]
        token, started = enter(request_id), time.monotonic()
        try:
            with attempts.collecting():
                response = self.get_response(request)
            response["X-Request-ID"] = request_id
            _tell(request, response.status_code, time.monotonic() - started)
            return response
        finally:
            leave(token)


def _tell(request: HttpRequest, status: int, seconds: float) -> None:
    """One line and one measurement. Checks of liveness are not worth a line each."""
    SECONDS.labels(request.method, str(status)).observe(seconds)
    if request.path in {"/healthz", "/readyz", "/metrics"} and status < 500:
        return
    person = getattr(getattr(request, "user", None), "pk", None)
    _log.info(
        "request", method=request.method, path=request.path, status=status, ms=round(seconds * 1000), person=person
    )


class SessionMiddleware(sessions.SessionMiddleware):
    """Django's, but only a request that signs out takes the cookie away.

    A session gets a new key while its person signs in or changes a factor. A re-read that left before, under the old
    key, finds no session: taking the cookie away then would throw out the new one, and sign out who just confirmed.
    """

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        """The answer, with the cookie set anew, untouched, or emptied by signing out."""
        response = super().process_response(request, response)
        emptied = response.cookies.get(settings.SESSION_COOKIE_NAME)
        if emptied is not None and not emptied.value and not getattr(request, "signed_out", False):
            del response.cookies[settings.SESSION_COOKIE_NAME]
        return response


class SessionLifeMiddleware:
    """Signs out a session that was idle too long or is too old.

    When htmx asked for a part of a page and the answer would be the sign-in page, the browser is sent there as a whole
    instead of getting a sign-in form in the middle of the page.
    """

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if request.user.is_authenticated and not _keep_alive(request, clock.now()):
            logout(request)
        response = self.get_response(request)
        sign_in = resolve_url(settings.LOGIN_URL)
        wants_sign_in = response.status_code == 302 and response.headers.get("Location", "").startswith(sign_in)
        if wants_sign_in and request.headers.get("HX-Request"):
            return HttpResponse(status=204, headers={"HX-Redirect": f"{sign_in}{_way_back(request)}"})
        return response


def _way_back(request: HttpRequest) -> str:
    """`?next=` with the page that the part belongs to, as htmx names it; empty for an address that is not ours."""
    page = request.headers.get("HX-Current-URL", "")
    if not url_has_allowed_host_and_scheme(page, allowed_hosts={request.get_host()}):
        return ""
    told = urlsplit(page)
    path = f"{told.path}?{told.query}" if told.query else told.path
    safe = path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None)
    return f"?{urlencode({'next': path})}" if safe and len(path) <= LONGEST_WAY_BACK else ""


def mark_sign_in(session: Any, now: datetime, *, device: str = "") -> None:
    """Start both clocks of a session, and keep what it was made with."""
    session[DEVICE] = device
    session[SIGNED_IN_AT] = session[SEEN_AT] = int(now.timestamp())


def is_over(session: Mapping[str, Any], now: datetime) -> bool:
    """Whether a session was idle too long or is too old. One without marks was not made by signing in: it is over."""
    try:
        signed_in, seen = int(session[SIGNED_IN_AT]), int(session[SEEN_AT])
    except (KeyError, TypeError, ValueError):
        return True
    at = int(now.timestamp())
    return at - seen > settings.SESSION_IDLE_SECONDS or at - signed_in > settings.SESSION_COOKIE_AGE


def _keep_alive(request: HttpRequest, now: datetime) -> bool:
    if is_over(request.session, now):
        return False
    at = int(now.timestamp())
    if request.headers.get("X-Background") != "1" and at - request.session[SEEN_AT] >= SEEN_EVERY_SECONDS:
        request.session[SEEN_AT] = at
    return True
