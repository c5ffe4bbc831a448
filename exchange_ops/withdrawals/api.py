"""Payouts for programs: read and draft. Approving takes a person and a page."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from desk import clock
from exchange_ops.market.models import Currency
from exchange_ops.shared.api.errors import CannotRecord, Refusal
from exchange_ops.shared.api.parsing import BoundedJSONParser
from exchange_ops.shared.api.resources import (
    BEFORE,
    MALFORMED,
    REFUSALS,
    MaySee,
    MaySeeAndDraft,
    filters,
    first_account,
    narrowed,
    page_of,
)
from exchange_ops.withdrawals import queries, request_checks, workflow
from exchange_ops.withdrawals.api_shapes import CurrencyList, CurrencyOut, WithdrawalIn, WithdrawalOut, WithdrawalPage
from exchange_ops.withdrawals.forms import WithdrawalFilter
from exchange_ops.withdrawals.models import Withdrawal


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
        rows = queries.with_ends(Withdrawal.objects.select_related("initiator"))
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
        serializer = WithdrawalIn(data=request.data)
        serializer.is_valid(raise_exception=True)
        now = clock.now()
        try:
            row = workflow.request(
                initiator=request.user, account=first_account(), now=now, via="api", **serializer.validated_data
            )
        except workflow.CannotRequest as problem:
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


class Currencies(APIView):
    """What the exchange deals in."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="currencies_list", responses={200: CurrencyList, **REFUSALS})
    def get(self, request: Request) -> Response:
        """Every currency, and whether it can be paid out now."""
        rows = list(Currency.objects.order_by("code"))
        for row in rows:
            row.payout_problem = request_checks.currency_problem(row)
        return Response({"items": CurrencyOut(rows, many=True).data})
