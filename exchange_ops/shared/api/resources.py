"""What the resources of the exchange's rooms share besides `desk.api`: who may, the account, and what is recorded."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiResponse
from rest_framework import generics
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from desk import clock
from desk.api import idempotency, resources
from desk.api.parsing import BoundedJSONParser
from desk.api.requests import ApiRequest
from desk.api.resources import NOT_FOUND, keyed, of_shape, read, recorded
from desk.models import Person
from desk.web.problem_details import refusing
from exchange_ops.shared import rules
from exchange_ops.shared.views import accounts


class MaySee(BasePermission):
    """Every role reads everything about the account."""

    message = "Your role does not allow this."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.user, Person) and rules.may_see(request.user)


class MaySeeAndDraft(MaySee):
    """Operators draft as well."""

    message = "Payout not requested: only operators can request payouts."

    def has_permission(self, request: Request, view: APIView) -> bool:
        person = request.user
        if not (isinstance(person, Person) and super().has_permission(request, view)):
            return False
        return request.method in {"GET", "HEAD", "OPTIONS"} or rules.may_request(person)


class Listing(resources.Listing):
    """A list in pages, narrowed by a form where there is one."""

    permission_classes: Sequence[type[BasePermission]] = (MaySee,)


class OfAccount(Listing):
    """A list of the rows of one account: that of the path, or the only one there is.

    It is not there where the path has to name one of several.
    """

    refusals = refusing(404)

    def get_queryset(self) -> QuerySet[Any]:
        """The rows of the account; none before there is one. Raises `ChooseAccount` where the path has to name one."""
        return super().get_queryset().filter(account=accounts.current(self.request))


class Reading(resources.Reading):
    """One row."""

    permission_classes: Sequence[type[BasePermission]] = (MaySee,)


class Recording(generics.GenericAPIView[Any]):
    """A request that is recorded: new, or the one that was recorded before with its key.

    `record` is the domain's own function: it gives the row, or raises `refused`.
    """

    permission_classes: Sequence[type[BasePermission]] = (MaySeeAndDraft,)
    parser_classes = (BoundedJSONParser,)
    body_class: type[Serializer[Any]]
    refused: type[Exception]
    record: Callable[..., Any]

    @idempotency.once
    def post(self, request: ApiRequest) -> Response:
        """Record it, once for each key: that of the body, or else that of the header."""
        now = clock.now()
        content = read(self.body_class, request)
        content["request_key"] = content.get("request_key") or idempotency.required_key(request)
        content |= {"initiator": request.user, "account": accounts.required(request)}
        row = recorded(self.refused, self.record, now=now, **content)
        return Response(self.get_serializer_class()(row).data, status=201 if row.created_at == now else 200)


def recording(name: str, body: type[Serializer[Any]], shape: type[Serializer[Any]], does: str) -> Callable[[Any], Any]:
    """Describe a request that is recorded; `does` says what follows."""
    before = OpenApiResponse(shape, description="Already recorded with this idempotency key.")
    responses: dict[Any, Any] = {201: shape, 200: before, **idempotency.REFUSALS, **NOT_FOUND}
    described = keyed(operation_id=name, description=does, request=body, responses=responses)
    return of_shape(shape, body_class=body, post=described)
