"""`Idempotency-Key` at every address that takes a POST: the same request twice is one act and one answer.

What is drafted has a `request_key` of its own as well, for good: who sends none there has that of the header. So a
request that comes again after the answers of `desk.web.idempotency` were forgotten still finds its own row.
"""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Final

from django.db import transaction
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.exceptions import APIException, ParseError, ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from desk import clock
from desk.api.requests import ApiRequest
from desk.web import idempotency
from desk.web.idempotency import HEADER, REPLAYED
from desk.web.problem_details import refusing
from desk.web.requests import scope_of

_DAYS = idempotency.KEPT_FOR.days
PARAMETERS: Final = [
    OpenApiParameter(
        HEADER,
        {"type": "string", "minLength": 8, "maxLength": 82, "pattern": idempotency.PATTERN},
        OpenApiParameter.HEADER,
        description="A key of your choice, unique to each request. Sending it again with the same body within "
        f"{_DAYS} days returns the first response; with a different body the request is rejected.",
    ),
    OpenApiParameter(
        REPLAYED,
        OpenApiTypes.STR,
        OpenApiParameter.HEADER,
        response=[200, 201, 202],
        description="true if this is the stored response to an earlier, identical request.",
    ),
]
REFUSALS: Final = refusing(400, 409, 422)


class KeyRefused(APIException):
    """The key was used for another request."""

    status_code = 422


class InProgress(APIException):
    """The same request is being answered."""

    status_code = 409
    wait = 1


def once(act: Callable[..., Response]) -> Callable[..., Response]:
    """Answer a POST that carries a key once: `act` and its kept answer are one transaction, or neither is."""

    @wraps(act)
    def post(view: Any, request: ApiRequest, **numbers: Any) -> Response:
        key = key_of(request)
        if not key:
            return act(view, request, **numbers)
        try:
            claim = idempotency.begin(person=request.user, key=key, fingerprint=_fingerprint(request), now=clock.now())
            if isinstance(claim, idempotency.StoredReply):
                return _replayed(claim)
            return _answered(claim, lambda: act(view, request, **numbers))
        except idempotency.KeyReused as problem:
            raise KeyRefused(f"Nothing was recorded. {problem}") from None
        except idempotency.StillAnswering as problem:
            raise InProgress(f"Nothing new was recorded. {problem}") from None

    return post


def key_of(request: Request) -> str:
    """The key that the request carries; empty without one. Raises `ValidationError`."""
    try:
        return idempotency.read(request.headers.get(HEADER))
    except idempotency.OddKey as problem:
        raise ValidationError({HEADER: [str(problem)]}) from None


def required_key(request: Request) -> str:
    """The same where a draft can't do without one. Raises `ValidationError`."""
    if not (key := key_of(request)):
        raise ValidationError({HEADER: ["Send a key in this header, or in the request_key field."]})
    return key


def _fingerprint(request: ApiRequest) -> str:
    """Without an account in the path it is of the one that the person is limited to: after another limit, no answer."""
    plain = request._request
    scope = scope_of(plain) or request.user.here or ""
    try:
        return idempotency.fingerprint(method="POST", path=plain.path_info, scope=scope, body=request.data)
    except RecursionError:
        raise ParseError("The request body is nested too deeply.") from None


def _answered(claim: idempotency.Claim, act: Callable[[], Response]) -> Response:
    is_kept = False
    try:
        with transaction.atomic():
            response = act()
            content = JSONRenderer().render(response.data).decode()
            idempotency.keep(claim, status=response.status_code, content=content)
        is_kept = True
    finally:
        if not is_kept:
            idempotency.free(claim)
    return response


def _replayed(reply: idempotency.StoredReply) -> Response:
    return Response(json.loads(reply.content), status=reply.status, headers={REPLAYED: "true"})
