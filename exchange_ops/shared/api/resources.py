"""What the resources of /api/v1/ share: who may, the filters of a list, its pages, and the account."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.choices import flatten_choices
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from desk.web import paging
from exchange_ops.shared import rules
from exchange_ops.shared.api.errors import Refusal
from exchange_ops.shared.forms import FilterForm
from exchange_ops.shared.models import Account

REFUSALS = {code: OpenApiResponse(Refusal) for code in (401, 403)}
MALFORMED = {400: OpenApiResponse(Refusal), **REFUSALS}
BEFORE = OpenApiParameter(
    "before",
    {"type": "integer", "format": "int64", "minimum": 0, "maximum": 2**63 - 1},
    description="Only what comes after this place: take it from `older`.",
)


def filters(form: type[FilterForm]) -> list[OpenApiParameter]:
    """The filters of a list as its description has them: words of a list, or short texts. Empty counts as not set."""
    described = []
    for name, field in form.base_fields.items():
        known: dict[str, Any] = {"type": "string"}
        if isinstance(field, forms.IntegerField):
            known = {"type": "integer", "minimum": field.min_value, "maximum": field.max_value}
        elif isinstance(field, forms.ChoiceField):
            known["enum"] = [str(value) for value, _ in flatten_choices(field.choices)]
        else:
            known |= {"maxLength": getattr(field, "max_length", None), "pattern": r"^[^\x00]*$"}
        described.append(OpenApiParameter(name, known))
    return described


def narrowed(request: Request, form: type[FilterForm], rows: QuerySet[Any]) -> QuerySet[Any]:
    """The rows that the filters let through. A program that asks for what there is not is told, not shown everything.

    Raises `ValidationError` for a filter that the description does not allow.
    """
    query = form(request.query_params)
    problems = {} if query.is_valid() else {name: list(texts) for name, texts in query.errors.items()}
    if problems:
        raise ValidationError(problems | _misplaced(request))
    return query.narrow(rows)


class MaySee(BasePermission):
    """Every role reads everything about the account."""

    message = "Your roles don't allow this."

    def has_permission(self, request: Request, view: APIView) -> bool:
        return bool(request.user.is_authenticated) and rules.may_see(request.user)


class MaySeeAndDraft(MaySee):
    """Operators draft as well."""

    message = "Nothing was recorded: operators ask for payouts."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not super().has_permission(request, view):
            return False
        return request.method in {"GET", "HEAD", "OPTIONS"} or rules.may_request(request.user)


def first_account() -> Account:
    """The account of this desk; 404 before there is one."""
    return get_object_or_404(Account.objects.order_by("pk")[:1])


def _misplaced(request: Request) -> dict[str, list[str]]:
    before = request.query_params.get("before")
    if before is None or (before.isascii() and before.isdigit() and int(before[:20]) < 2**63):
        return {}
    return {"before": ["Send a whole number from 0 to 2^63 - 1."]}


def page_of(request: Request, rows: QuerySet[Any], shape: type[Any], *, key: str) -> Response:
    """Fifty rows in their shape, and the address of the next ones.

    Raises `ValidationError` for a place in the list that the description does not allow.
    """
    if problems := _misplaced(request):
        raise ValidationError(problems)
    page = paging.page(request._request, rows, key=key)
    older = f"{request.path}{page.older}" if page.older else None
    return Response({"items": shape(page.rows, many=True).data, "older": older})
