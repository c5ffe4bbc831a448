"""The shape of every refusal that a program gets: problem details by RFC 9457."""

from http import HTTPStatus
from typing import Any, Final

from drf_spectacular.utils import OpenApiResponse
from rest_framework import serializers

MEDIA_TYPE: Final = "application/problem+json"


def body(status: int, detail: str, errors: dict[str, str] | None = None) -> dict[str, Any]:
    """The members of a refusal: `detail` is for a person, `errors` maps a member of the request to its sentence."""
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": status, "detail": detail, "errors": errors or {}}


class Problem(serializers.Serializer[Any]):
    """The body of every answer that is not a success (RFC 9457), sent as application/problem+json."""

    type = serializers.CharField(help_text="Always about:blank; the status identifies the problem.")
    title = serializers.CharField(help_text="The HTTP status phrase.")
    status = serializers.IntegerField(help_text="The HTTP status.")
    detail = serializers.CharField(help_text="What happened, in plain language, starting with whether money moved.")
    errors = serializers.DictField(  # type: ignore[assignment]
        child=serializers.CharField(), help_text="Errors by request field; empty if there are none."
    )


def refusing(*statuses: int) -> dict[tuple[int, str], OpenApiResponse]:
    """The description of refusals with these statuses."""
    return dict.fromkeys([(status, MEDIA_TYPE) for status in statuses], OpenApiResponse(Problem))
