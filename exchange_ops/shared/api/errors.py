"""One shape for every refusal: {"error": {"code", "message", "fields"}}; `fields` maps a member to its sentence."""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404
from rest_framework import exceptions, serializers
from rest_framework.response import Response
from rest_framework.views import exception_handler

from exchange_ops.shared.views.accounts import ChooseAccount

FORM = "__all__"
_MESSAGES = {
    400: "Nothing was recorded: the request is not well formed.",
    401: "Sign in, or send a token.",
    403: "Nothing was changed: you may not do this.",
    404: "There is nothing here.",
    405: "This address does not take that method.",
    409: "Nothing was recorded.",
    415: "Send JSON.",
    429: "Too many requests: wait a little.",
}


class RefusalBody(serializers.Serializer):
    """What was refused and why."""

    code = serializers.IntegerField(help_text="The HTTP status.")
    message = serializers.CharField(help_text="What happened, for a person; what happened to the money first.")
    fields = serializers.DictField(  # type: ignore[assignment]
        child=serializers.CharField(), help_text="Member of the request to what is wrong with it."
    )


class Refusal(serializers.Serializer):
    """The body of every answer that is not a success."""

    error = RefusalBody()


class CannotRecord(exceptions.APIException):
    """The domain refused the request; `problems` names members and says why."""

    status_code = 422

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(problems)
        self.problems = problems


def body(code: int, message: str, fields: dict[str, str] | None = None) -> dict[str, Any]:
    """The body of a refusal."""
    return {"error": {"code": code, "message": message, "fields": fields or {}}}


def answer(exception: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's handler: every known refusal in our shape, with its own headers."""
    response = exception_handler(exception, context)
    if response is None:
        return None
    code = response.status_code
    message, fields = _MESSAGES.get(code, "The request was refused."), {}
    if isinstance(exception, CannotRecord):
        fields = {name: text for name, text in exception.problems.items() if name != FORM}
        message = exception.problems.get(FORM, "Nothing was recorded and nothing was sent.")
    elif isinstance(exception, exceptions.ValidationError):
        fields = _flat(exception.detail)
    elif isinstance(exception, exceptions.APIException | Http404 | PermissionDenied):
        message = _spoken(exception, message)
    response.data = body(code, message, fields)
    return response


def _spoken(exception: Exception, usual: str) -> str:
    if isinstance(exception, ChooseAccount):
        return exception.message
    if isinstance(exception, exceptions.NotAuthenticated | exceptions.MethodNotAllowed | Http404):
        return usual
    sentence = str(getattr(exception, "detail", "") or exception or usual)
    refused = isinstance(exception, exceptions.PermissionDenied | PermissionDenied)
    return f"Nothing was changed. {sentence}" if refused and not sentence.startswith("Nothing") else sentence


def _flat(detail: Any, prefix: str = "") -> dict[str, str]:
    """Nested problems as one mapping from a dotted name to the sentences about it."""
    if isinstance(detail, dict):
        found: dict[str, str] = {}
        for name, inner in detail.items():
            found |= _flat(inner, f"{prefix}.{name}" if prefix else str(name))
        return found
    if isinstance(detail, list):
        return {prefix or FORM: " ".join(str(item) for item in detail)}
    return {prefix or FORM: str(detail)}
