"""Orders, the account's trades and margin under /api/v1/. Operators place and cancel; every role reads.

An order is recorded and placed by a worker; the same `request_key` gives the same order, however often it is sent.
"""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from desk import clock
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.orders import request_checks, workflow
from exchange_ops.orders.api_shapes import MarginList, MarginOut, OrderIn, OrderOut, OrderPage, TradeOut, TradePage
from exchange_ops.orders.forms import OrderFilter, TradeFilter
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.shared import rules
from exchange_ops.shared.api.errors import CannotRecord, Refusal
from exchange_ops.shared.api.parsing import BoundedJSONParser
from exchange_ops.shared.api.resources import (
    BEFORE,
    MALFORMED,
    REFUSALS,
    MaySee,
    filters,
    first_account,
    narrowed,
    page_of,
)


class MaySeeAndTrade(MaySee):
    """Operators place and cancel as well."""

    message = "Operators place and cancel orders."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if not super().has_permission(request, view):
            return False
        return request.method in {"GET", "HEAD", "OPTIONS"} or rules.may_trade(request.user)


class NothingToCancel(APIException):
    """The order is not open any more, or moved in this moment."""

    status_code = 409


class Orders(APIView):
    """The orders of the account."""

    permission_classes = (MaySeeAndTrade,)
    parser_classes = (BoundedJSONParser,)

    @extend_schema(
        operation_id="orders_list",
        parameters=[BEFORE, *filters(OrderFilter)],
        responses={200: OrderPage, **MALFORMED},
    )
    def get(self, request: Request) -> Response:
        """Fifty a page, newest first."""
        rows = narrowed(request, OrderFilter, Order.objects.select_related("initiator"))
        return page_of(request, rows, OrderOut, key="pk")

    @extend_schema(
        operation_id="orders_place",
        request=OrderIn,
        responses={
            201: OrderOut,
            200: OpenApiResponse(OrderOut, description="The same order was recorded before with this key."),
            400: OpenApiResponse(Refusal),
            422: OpenApiResponse(Refusal),
            **REFUSALS,
        },
    )
    def post(self, request: Request) -> Response:
        """Place an order. It is recorded and sent once; look at `state` for what came of it."""
        serializer = OrderIn(data=request.data)
        serializer.is_valid(raise_exception=True)
        content, now = dict(serializer.validated_data), clock.now()
        key = content.pop("request_key")
        try:
            row = workflow.place(
                initiator=request.user,
                account=first_account(),
                wanted=request_checks.Wanted(**content),
                request_key=key,
                now=now,
                via="api",
            )
        except workflow.CannotPlace as problem:
            raise CannotRecord(problem.problems) from None
        return Response(OrderOut(row).data, status=201 if row.created_at == now else 200)


class OneOrder(APIView):
    """One order."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="orders_read", responses={200: OrderOut, 404: OpenApiResponse(Refusal), **REFUSALS})
    def get(self, request: Request, order_id: int) -> Response:
        """As it was last read."""
        return Response(OrderOut(get_object_or_404(Order.objects.select_related("initiator"), pk=order_id)).data)


class CancelOrder(APIView):
    """Cancelling one order."""

    permission_classes = (MaySeeAndTrade,)
    parser_classes = (BoundedJSONParser,)
    http_method_names = ("post", "options")

    @extend_schema(
        operation_id="orders_cancel",
        request=None,
        responses={202: OrderOut, 404: OpenApiResponse(Refusal), 409: OpenApiResponse(Refusal), **REFUSALS},
    )
    def post(self, request: Request, order_id: int) -> Response:
        """Have what is left of it cancelled; it can still be filled until the exchange has confirmed."""
        get_object_or_404(Order, pk=order_id)
        try:
            row = workflow.cancel(order_id=order_id, person=request.user, now=clock.now())
        except workflow.CannotCancel as problem:
            raise NothingToCancel(f"Nothing was cancelled. {problem}") from None
        return Response(OrderOut(row).data, status=202)


class Trades(APIView):
    """The account's own trades."""

    permission_classes = (MaySee,)

    @extend_schema(
        operation_id="trades_list",
        parameters=[BEFORE, *filters(TradeFilter)],
        responses={200: TradePage, **MALFORMED},
    )
    def get(self, request: Request) -> Response:
        """Fifty a page, newest first."""
        rows = narrowed(request, TradeFilter, AccountTrade.objects.all())
        return page_of(request, rows, TradeOut, key="exchange_id")


class Margin(APIView):
    """Margin as last read."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="margin_list", responses={200: MarginList, **REFUSALS})
    def get(self, request: Request) -> Response:
        """Every isolated margin account with its position."""
        positions = {row.symbol: row for row in MarginPosition.objects.filter(gone_at=None)}
        rows = list(MarginAccount.objects.filter(gone_at=None).order_by("symbol"))
        for row in rows:
            row.position = positions.get(row.symbol)
        return Response({"items": MarginOut(rows, many=True).data})
