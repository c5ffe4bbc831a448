"""What every request gets: an id that follows it into logs, tasks and the trail, a log line and a measurement."""

import time
from collections.abc import Callable

import structlog
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django_htmx.middleware import HtmxDetails
from prometheus_client import Histogram

from desk.models import Person
from desk.people import code_limits
from desk.processes import request_ids

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_log = structlog.get_logger(__name__)
_LONGEST_NUMBER = 18  # digits of a key
SECONDS = Histogram("countersign_request_seconds", "Time taken to respond to a request", ["method", "status"])


class DeskRequest(HttpRequest):
    """The type of a request in views behind the sign-in: of a person, and maybe for one part of a page.

    Only a type: Django makes the requests, and middleware has sent strangers away and set these attributes.
    """

    user: Person
    htmx: HtmxDetails


def prefilled(request: HttpRequest, *names: str, longest: int = 80) -> dict[str, str]:
    """What a link fills into a form: each of these parameters that it has, cut to `longest` characters.

    A null character becomes a replacement character, because PostgreSQL compares no text with it.
    """
    return {name: request.GET[name][:longest].replace("\0", "\ufffd") for name in names if name in request.GET}


def prefilled_number(request: HttpRequest, name: str) -> int | None:
    """The number of the row that a link names by this parameter; None where it is not one that a key can have."""
    text = request.GET.get(name, "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else None


class RequestIdMiddleware:
    """Sets `request.request_id`, answers it as X-Request-ID and writes one log line per request, without the query."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = request_ids.usable_id(request.headers.get("X-Request-ID"))
        request.request_id = request_id  # type: ignore[attr-defined]
        token, started = request_ids.enter(request_id), time.monotonic()
        try:
            with code_limits.collecting():
                response = self.get_response(request)
            response["X-Request-ID"] = request_id
            _log_request(request, response.status_code, time.monotonic() - started)
            return response
        finally:
            request_ids.leave(token)


def _log_request(request: HttpRequest, status: int, seconds: float) -> None:
    """Log and measure a request. Checks of liveness get no line."""
    SECONDS.labels(request.method, str(status)).observe(seconds)
    if request.path in {"/healthz", "/readyz", "/metrics"} and status < 500:
        return
    person = getattr(getattr(request, "user", None), "pk", None)
    _log.info(
        "request", method=request.method, path=request.path, status=status, ms=round(seconds * 1000), person=person
    )


def scope_of(request: HttpRequest) -> str:
    """The account that the request's path names, by number, where the apps put one there; empty for the whole desk."""
    return str(getattr(request, "account_number", None) or "")
