"""What every request carries: an id that follows it into logs, tasks and the audit trail, and a session that ends.

A session ends after `SESSION_IDLE_SECONDS` without a person's action, and in any case `SESSION_COOKIE_AGE` after
sign-in. Re-reads that a page makes by itself send `X-Background: 1` and do not keep a session alive.
"""

import re
import uuid
from collections.abc import Callable, Mapping
from contextvars import ContextVar, Token
from datetime import datetime

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url

from desk import clock

GetResponse = Callable[[HttpRequest], HttpResponse]

_ID_SHAPE = re.compile(r"[A-Za-z0-9-]{8,64}", re.ASCII)
_current: ContextVar[str] = ContextVar("request_id", default="")

SIGNED_IN_AT = "desk.signed_in_at"
SEEN_AT = "desk.seen_at"
# Writing the session at every request would make every read a write; the idle limit is early by at most this much.
SEEN_EVERY_SECONDS = 30


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

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class SessionLifeMiddleware:
    """Signs out a session that was idle too long or is too old, and every session of an earlier epoch."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)
