"""One shape for every refusal: a problem by RFC 9457; its `errors` maps a member of the request to its sentence."""

import math
import re
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from desk.api.idempotency import KeyRefused
from desk.api.refusals import FORM, CannotRecord
from desk.web import problem_details
from desk.web.idempotency import HEADER
from exchange_ops.shared.views.accounts import ChooseAccount

_MESSAGES = {
    400: "Nothing was recorded: the request is malformed.",
    401: "Sign in or send an API token.",
    403: "No changes made: your roles don't allow this.",
    404: "Not found.",
    405: "Method not allowed for this endpoint.",
    409: "Nothing was recorded.",
    415: "Send JSON.",
}

# A sentence that begins with what happened, such as "Order not placed." or "No changes made".
_SAYS_WHAT_HAPPENED = re.compile(r"(Nothing|Nobody|No|Not)\b|[A-Z]\w+ not \w+[.:]")


def answer(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's handler: every known refusal in our shape, with its own headers."""
    response = exception_handler(exception, context)
    if response is None:
        return None
    code = response.status_code
    message, fields = _MESSAGES.get(code, "The request was rejected."), {}
    if isinstance(exception, CannotRecord):
        fields = {name: text for name, text in exception.problems.items() if name != FORM}
        message = exception.problems.get(FORM, "Nothing was recorded or sent.")
    elif isinstance(exception, KeyRefused):
        # Programs recognise it by the header's name, not by the sentence.
        message = str(exception.detail)
        fields = {HEADER: message}
    elif isinstance(exception, exceptions.ValidationError):
        fields = _flat(exception.detail)
    elif isinstance(exception, exceptions.Throttled):
        message = f"Nothing was recorded: too many requests with this token. Try again in {_seconds(exception)}."
    elif isinstance(exception, exceptions.APIException | Http404 | PermissionDenied):
        message = _sentence(exception, message)
    response.data = problem_details.body(code, message, fields)
    response.content_type = problem_details.MEDIA_TYPE
    return response


def _seconds(exception: exceptions.Throttled) -> str:
    wait: float | None = getattr(exception, "wait", None)
    return "a minute" if wait is None else f"{max(math.ceil(wait), 1)} s"


def _sentence(exception: Exception, usual: str) -> str:
    if isinstance(exception, ChooseAccount):
        return exception.message
    if isinstance(exception, exceptions.NotAuthenticated | exceptions.MethodNotAllowed | Http404):
        return usual
    sentence = str(getattr(exception, "detail", "") or exception or usual)
    refused = isinstance(exception, exceptions.PermissionDenied | PermissionDenied)
    return f"No changes made. {sentence}" if refused and not _SAYS_WHAT_HAPPENED.match(sentence) else sentence


def _flat(detail: Any, prefix: str = "") -> dict[str, str]:
    """Nested problems as one mapping from a dotted name to the sentences about it."""
    if isinstance(detail, dict):
        sentences: dict[str, str] = {}
        for name, inner in detail.items():
            sentences |= _flat(inner, f"{prefix}.{name}" if prefix else str(name))
        return sentences
    if isinstance(detail, list):
        return {prefix or FORM: " ".join(str(item) for item in detail)}
    return {prefix or FORM: str(detail)}
