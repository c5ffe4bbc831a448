"""The answers to requests that fail: first what happened to the money, then why."""

import sqlite3
import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from desk.processes import request_ids
from desk.web import problem_details

API = "/api/"
_SENTENCES = {
    400: ("Nothing was sent", "The request could not be read. Check it and try again."),
    403: ("No changes made, nothing sent", "Your roles don't allow this."),
    404: ("Page not found", "No money moved. The URL is wrong, or the item does not exist."),
    500: (
        "Internal error",
        "Your request may or may not have been recorded. Check the relevant list before you submit it again. "
        "Countersign never sends a payment twice.",
    ),
}
_STALE_FORM = (
    "Nothing was sent",
    "The form expired or came from another page. Go back, reload the page and submit it again.",
)
_AWAY_READING = (
    "Page temporarily unavailable",
    "No money moved. The desk's database did not respond in time; try again in a moment. If the problem persists, "
    "contact an administrator.",
)
_AWAY_WRITING = (
    "Your request may not have been recorded",
    "Nothing was sent by this request itself. The desk's database did not respond in time. Check the relevant list "
    "before you submit it again; Countersign never sends a payment twice. If the problem persists, contact an "
    "administrator.",
)
_AWAY_RETRY_SECONDS = 5
# Locked by another writer, a full or broken disk, a file that can't be opened: not the fault of the request.
_AWAY_ON_SQLITE = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
}

_WRONG_METHOD = ("Nothing was sent", "This URL can't be opened directly: it only accepts submitted forms.")
_FOREIGN_SITE = (
    "Nothing was sent",
    "The request came from another website. If it was intended, open the desk and submit it there.",
)


def _answer(
    request: HttpRequest, status: int, words: tuple[str, str], *, page: str = "errors/error.html"
) -> HttpResponse:
    title, sentence = words
    if request.path_info.startswith(API):
        body = problem_details.body(status, f"{title}. {sentence}")
        return JsonResponse(body, status=status, content_type=problem_details.MEDIA_TYPE)
    context = {"title": title, "sentence": sentence, "status": status, "request_id": request_ids.current_id()}
    return render(request, page, context, status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request could not be read."""
    return _answer(request, 400, _SENTENCES[400])


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: the person may not; a sentence given with PermissionDenied says what exactly."""
    title, sentence = _SENTENCES[403]
    return _answer(request, 403, (title, str(exception) or sentence))


def outside_network(request: HttpRequest, sentence: str) -> HttpResponse:
    """403 for somebody whose role can't be used from their network; the sentence says which, and who can help."""
    return _answer(request, 403, (_SENTENCES[403][0], sentence), page="errors/network.html")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: no such page or row. The address is not repeated, so that nothing hostile is shown."""
    return _answer(request, 404, _SENTENCES[404])


def foreign_site(request: HttpRequest) -> HttpResponse:
    """403 for something that another site's page sent."""
    return _answer(request, 403, _FOREIGN_SITE)


def wrong_method(request: HttpRequest, allowed: str) -> HttpResponse:
    """405 with the methods that the address takes."""
    response = _answer(request, 405, _WRONG_METHOD)
    response["Allow"] = allowed
    return response


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403 for a form that does not carry this session's token."""
    return _answer(request, 403, _STALE_FORM)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: rendered without session, rows or context processors, any of which may be broken.

    503 with Retry-After instead where the database did not answer in time.
    """
    away = _is_away(sys.exc_info()[1])
    status = 503 if away else 500
    response = _broken(request, status, _away(request) if away else _SENTENCES[500])
    if away:
        response["Retry-After"] = str(_AWAY_RETRY_SECONDS)
    return response


def _broken(request: HttpRequest, status: int, words: tuple[str, str]) -> HttpResponse:
    if request.path_info.startswith(API):
        return _answer(request, status, words)
    title, sentence = words
    context = {"title": title, "sentence": sentence, "status": status, "request_id": request_ids.current_id()}
    return HttpResponse(render_to_string("errors/broken.html", context), status=status)


def _away(request: HttpRequest) -> tuple[str, str]:
    return _AWAY_READING if request.method in {"GET", "HEAD", "OPTIONS"} else _AWAY_WRITING


def _is_away(problem: BaseException | None) -> bool:
    """Whether the database can't be used at the moment, in contrast to a faulty query."""
    if not isinstance(problem, InterfaceError | OperationalError):
        return False
    cause = problem.__cause__
    if isinstance(cause, sqlite3.Error):
        # The extended codes keep the kind in their last byte.
        return (getattr(cause, "sqlite_errorcode", 0) & 0xFF) in _AWAY_ON_SQLITE
    return True
