"""The resources of /api/v1/. A token or a session may read and draft; approving takes a person and a page."""

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.utils.choices import flatten_choices
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from desk import clock, paging
from exchange_ops import rules
from exchange_ops.api.errors import CannotRecord, Refusal
from exchange_ops.api.parsing import BoundedJSONParser
from exchange_ops.api.serializers import (
    BalanceList,
    BalanceOut,
    CurrencyList,
    CurrencyOut,
    LedgerEntryOut,
    LedgerPage,
    WithdrawalIn,
    WithdrawalOut,
    WithdrawalPage,
)
from exchange_ops.domain import requesting, withdrawal_endings, withdrawals
from exchange_ops.forms import FilterForm, LedgerFilter, WithdrawalFilter
from exchange_ops.models import Account, Balance, Currency, LedgerEntry, Withdrawal

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
    asked = form(request.query_params)
    problems = {} if asked.is_valid() else {name: list(texts) for name, texts in asked.errors.items()}
    if problems:
        raise ValidationError(problems | _misplaced(request))
    return asked.narrow(rows)


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


class Withdrawals(APIView):
    """The requests for payouts."""

    permission_classes = (MaySeeAndDraft,)
    parser_classes = (BoundedJSONParser,)

    @extend_schema(
        operation_id="withdrawals_list",
        parameters=[
            BEFORE,
            *filters(WithdrawalFilter),
        ],
        responses={200: WithdrawalPage, **MALFORMED},
    )
    def get(self, request: Request) -> Response:
        """Fifty a page, newest first."""
        rows = withdrawal_endings.with_ends(Withdrawal.objects.select_related("initiator"))
        return page_of(request, narrowed(request, WithdrawalFilter, rows), WithdrawalOut, key="pk")

    @extend_schema(
        operation_id="withdrawals_create",
        request=WithdrawalIn,
        responses={
            201: WithdrawalOut,
            200: OpenApiResponse(WithdrawalOut, description="The same request was recorded before with this key."),
            400: OpenApiResponse(Refusal),
            422: OpenApiResponse(Refusal),
            **REFUSALS,
        },
    )
    def post(self, request: Request) -> Response:
        """Record a request. Nothing is sent: the desk checks it, and people decide."""
        asked = WithdrawalIn(data=request.data)
        asked.is_valid(raise_exception=True)
        now = clock.now()
        try:
            row = withdrawals.request(
                initiator=request.user, account=first_account(), now=now, via="api", **asked.validated_data
            )
        except withdrawals.CannotRequest as problem:
            raise CannotRecord(problem.problems) from None
        return Response(WithdrawalOut(row).data, status=201 if row.created_at == now else 200)


class OneWithdrawal(APIView):
    """One request."""

    permission_classes = (MaySee,)

    @extend_schema(
        operation_id="withdrawals_read", responses={200: WithdrawalOut, 404: OpenApiResponse(Refusal), **REFUSALS}
    )
    def get(self, request: Request, withdrawal_id: int) -> Response:
        """As it stands now."""
        row = get_object_or_404(Withdrawal.objects.select_related("initiator"), pk=withdrawal_id)
        return Response(WithdrawalOut(row).data)


class Ledger(APIView):
    """The exchange's ledger as the desk has read it."""

    permission_classes = (MaySee,)

    @extend_schema(
        operation_id="ledger_list",
        parameters=[
            BEFORE,
            *filters(LedgerFilter),
        ],
        responses={200: LedgerPage, **MALFORMED},
    )
    def get(self, request: Request) -> Response:
        """Fifty a page, the most recently changed first."""
        return page_of(request, narrowed(request, LedgerFilter, LedgerEntry.objects.all()), LedgerEntryOut, key="index")


class Balances(APIView):
    """What the account holds."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="balances_list", responses={200: BalanceList, **REFUSALS})
    def get(self, request: Request) -> Response:
        """Both wallets, with the time each was read."""
        rows = Balance.objects.order_by("currency", "wallet")
        return Response({"items": BalanceOut(rows, many=True).data})


class Currencies(APIView):
    """What the exchange deals in."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="currencies_list", responses={200: CurrencyList, **REFUSALS})
    def get(self, request: Request) -> Response:
        """Every currency, and whether it can be paid out now."""
        rows = list(Currency.objects.order_by("code"))
        for row in rows:
            row.payout_problem = requesting.currency_problem(row)
        return Response({"items": CurrencyOut(rows, many=True).data})


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
