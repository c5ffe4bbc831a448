"""What the resources of every interface share: lists and their pages, one row, what is recorded, their description.

They stand on the generic views of Django REST framework: a resource names its rows, its shape and who may, and is
described by `listing`, `unpaged`, `reading` and `keyed`, from which the interface's description is made.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from django import forms
from django.db.models import QuerySet
from django.utils.choices import flatten_choices
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_view
from rest_framework import generics
from rest_framework.exceptions import ValidationError
from rest_framework.filters import BaseFilterBackend
from rest_framework.pagination import BasePagination, Cursor, CursorPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from desk import clock
from desk.api import idempotency
from desk.api.refusals import FORM, CannotRecord
from desk.lists.declared import List
from desk.lists.filters import FilterForm
from desk.lists.places import PAGE_ROWS
from desk.web.problem_details import refusing

REFUSALS = refusing(401, 403, 429)
MALFORMED = refusing(400) | REFUSALS
NOT_FOUND = refusing(404) | REFUSALS
_FARTHEST = 2**63 - 1
_SUMMARY_MOST = 100


class Places(CursorPagination):
    """Fifty rows a page, newest first, by the whole number that the list names as its `key`, unique in its rows.

    What is unique at one account may be had twice by two, so such lists are of one (`OfAccount`). The
    place is that number of the last row, so a page is the same however many rows came meanwhile. The address of the
    next page stands in `older`.
    """

    page_size = PAGE_ROWS
    cursor_query_param = "before"
    request: Request  # the one that is answered, from the framework

    def get_ordering(self, request: Request, queryset: QuerySet[Any], view: Any) -> tuple[str, ...]:
        return (f"-{view.key}",)

    def decode_cursor(self, request: Request) -> Cursor | None:
        if problems := _misplaced(request):
            raise ValidationError(problems)
        place = request.query_params.get(self.cursor_query_param)
        return None if place is None else Cursor(offset=0, reverse=False, position=int(place))

    def encode_cursor(self, cursor: Cursor) -> str:
        base = urlsplit(self.base_url or "")
        query = self.request.query_params.copy()
        query[self.cursor_query_param] = str(cursor.position)
        return f"{base.path}?{query.urlencode()}"

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"items": data, "older": self.get_next_link()})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return _object(items=schema, older={"type": "string", "nullable": True})

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        place = {"type": "integer", "format": "int64", "minimum": 0, "maximum": _FARTHEST}
        sentence = "Cursor for the next page: the value of `older` on the previous page."
        return [_parameter(self.cursor_query_param, place, description=sentence)]


class Unpaged(BasePagination):
    """A list that is short by its nature, all of it at once."""

    def paginate_queryset(self, queryset: Any, request: Request, view: APIView | None = None) -> list[Any]:
        return list(queryset)

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"items": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return _object(items=schema)


class Filters(BaseFilterBackend):
    """The rows that the filters of the page's own form let through.

    A program that asks for what there is not is told, not shown everything.
    """

    def filter_queryset(self, request: Request, queryset: QuerySet[Any], view: Any) -> QuerySet[Any]:
        query: FilterForm = view.filter_form(request.query_params)
        if not query.is_valid():
            problems = {name: [str(text) for text in texts] for name, texts in query.errors.items()}
            raise ValidationError(problems | _misplaced(request))
        return query.narrowed(queryset, clock.now())

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [_parameter(name, _described(field)) for name, field in view.filter_form.base_fields.items()]


class Listing(generics.ListAPIView[Any]):
    """A list in pages, narrowed by a form where there is one."""

    refusals: ClassVar[Mapping[Any, OpenApiResponse]] = {}  # besides those of every list
    pagination_class: type[BasePagination] = Places
    key = "pk"
    filter_form: type[FilterForm] | None = None

    @property
    def filter_backends(self) -> list[type[BaseFilterBackend]]:  # type: ignore[override]
        """The form's, when there is one."""
        return [Filters] if self.filter_form else []


class Reading(generics.RetrieveAPIView[Any]):
    """One row."""


class Described(AutoSchema):
    """The description's words: what a page of a shape is called."""

    def get_paginated_name(self, serializer_name: str) -> str:
        is_paged = getattr(self.view, "pagination_class", None) is Places
        return f"{serializer_name.removesuffix('Out')}{'Page' if is_paged else 'List'}"

    def get_summary(self) -> str | None:
        """The first sentence of the description: what a list of operations says beside each."""
        first = re.split(r"[.;:](?:\s|$)", " ".join(self.get_description().split()), maxsplit=1)[0]
        return first if 0 < len(first) <= _SUMMARY_MOST else None


def listing(
    name: str, shape: type[Serializer[Any]], more: Mapping[Any, OpenApiResponse] = REFUSALS
) -> Callable[[Any], Any]:
    """Describe a list: what it is called, the shape of its rows, and what else it may answer."""
    responses: dict[Any, Any] = {200: shape(many=True), **MALFORMED, **more}
    return lambda view: _listed(name, shape, responses, view)


def of_list(declared: List) -> Any:
    """The resource of a list that programs only read, from its declaration."""
    interface = declared.interface
    if interface is None:
        raise ValueError(f"The list of {declared.many} is not available through the API.")
    members = {
        "__doc__": interface.sentence,
        "filter_form": declared.filters,
        "queryset": interface.rows,
        "key": interface.key,
    }
    view = type(interface.name, (interface.resource,), members)
    return listing(f"{interface.name}_list", interface.shape)(view)


def unpaged(name: str, shape: type[Serializer[Any]]) -> Callable[[Any], Any]:
    """Describe a list that is given at once."""
    responses: dict[Any, Any] = {200: shape(many=True), **REFUSALS}
    return lambda view: _listed(name, shape, responses, view, pagination_class=Unpaged)


def _listed(name: str, shape: type[Serializer[Any]], responses: Mapping[Any, Any], view: Any, **attributes: Any) -> Any:
    described = extend_schema(operation_id=name, responses={**responses, **view.refusals})
    return of_shape(shape, get=described, **attributes)(view)


def reading(name: str, shape: type[Serializer[Any]]) -> Callable[[Any], Any]:
    """Describe one row."""
    return of_shape(shape, get=extend_schema(operation_id=name, responses={200: shape, **NOT_FOUND}))


def keyed(**described: Any) -> Callable[[Any], Any]:
    """Describe a POST that takes an `Idempotency-Key` (`idempotency.once`)."""
    responses = idempotency.REFUSALS | described.pop("responses")
    return extend_schema(parameters=idempotency.PARAMETERS, responses=responses, **described)


def of_shape(
    shape: type[Serializer[Any]], *, get: Any = None, post: Any = None, **attributes: Any
) -> Callable[[Any], Any]:
    """Give a resource its shape and what belongs to it, and describe its methods."""
    described = {name: one for name, one in (("get", get), ("post", post)) if one is not None}

    def decorate(view: Any) -> Any:
        for name, value in {"serializer_class": shape, **attributes}.items():
            setattr(view, name, value)
        return extend_schema_view(**described)(view)

    return decorate


def read(shape: type[Serializer[Any]], request: Request) -> dict[str, Any]:
    """The members of a body. Raises `ValidationError` for one that is not as it is described."""
    body = shape(data=request.data)
    body.is_valid(raise_exception=True)
    return dict(body.validated_data)


def recorded(refused: type[Exception], act: Callable[..., Any], **arguments: Any) -> Any:
    """What `act` gives; what it refuses becomes an answer that names the members."""
    try:
        return act(**arguments)
    except refused as problem:
        raise CannotRecord(getattr(problem, "problems", {FORM: str(problem)})) from None


def _misplaced(request: Request) -> dict[str, list[str]]:
    before = request.query_params.get(Places.cursor_query_param)
    if before is None or (before.isascii() and before.isdigit() and int(before[:20]) <= _FARTHEST):
        return {}
    return {"before": ["Must be a whole number from 0 to 2^63 - 1."]}


def _described(field: forms.Field) -> dict[str, Any]:
    """A filter for programs: a word of a list, a number, a text of one form or any text; empty counts as not set."""
    if isinstance(field, forms.IntegerField):
        return {"type": "integer", "minimum": field.min_value, "maximum": field.max_value}
    if isinstance(field, forms.ChoiceField):
        choices: Any = field.choices
        values = [str(value) for value, _ in flatten_choices(choices)]
        # An empty text filters nothing, as the absent parameter does.
        return {"type": "string", "enum": values if field.required or "" in values else ["", *values]}
    if pattern := getattr(field, "pattern", ""):
        return {"type": "string", "pattern": pattern}
    return {"type": "string", "maxLength": getattr(field, "max_length", None), "pattern": r"^[^\x00]*$"}


def _parameter(name: str, schema: dict[str, Any], **more: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "schema": schema, **more}


def _object(**members: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(members), "properties": members}
