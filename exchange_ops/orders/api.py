"""Orders, the account's trades and margin under /api/v1/. Operators place and cancel; every role reads.

An order is recorded, then placed by a worker; the same `request_key` gives the same order, however often it is sent.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from typing import Any

from django.shortcuts import get_object_or_404
from rest_framework.exceptions import APIException
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from desk import clock
from desk.api.idempotency import once
from desk.api.parsing import BoundedJSONParser
from desk.api.refusals import CannotRecord
from desk.api.requests import ApiRequest
from desk.api.resources import NOT_FOUND, keyed, listing, read, reading, unpaged
from desk.models import Person
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import Symbol
from exchange_ops.orders import policy_checks, request_checks, workflow
from exchange_ops.orders.api_shapes import BracketOut, MarginOut, OrderIn, OrderOut, OrderWithdrawIn
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.orders.brackets.exit_prices import Exits
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.decisions import approvals
from exchange_ops.orders.forms import BOTH_EXITS, OrderFilter
from exchange_ops.orders.models import Order
from exchange_ops.orders.ticket import sizing
from exchange_ops.shared import rules
from exchange_ops.shared.api.resources import MaySee, OfAccount, Reading, Recording, recording
from exchange_ops.shared.problems import FORM
from exchange_ops.shared.views import accounts


class MaySeeAndTrade(MaySee):
    """Operators place and cancel as well."""

    message = "Only operators can place and cancel orders."

    def has_permission(self, request: Request, view: APIView) -> bool:
        person = request.user
        if not (isinstance(person, Person) and super().has_permission(request, view)):
            return False
        return request.method in {"GET", "HEAD", "OPTIONS"} or rules.may_trade(person)


class NothingToCancel(APIException):
    """The order is not open any more, or moved in this moment."""

    status_code = 409


@recording(
    "orders_place", OrderIn, OrderOut, "Place an order. It is recorded, then sent once; `state` shows the outcome."
)
@listing("orders_list", OrderOut)
class Orders(Recording, OfAccount):
    """Orders on the account, fifty per page, newest first."""

    permission_classes = (MaySeeAndTrade,)
    filter_form = OrderFilter
    queryset = Order.objects.select_related("initiator")
    refused = workflow.CannotPlace

    def record(
        self,
        *,
        initiator: Any,
        account: Any,
        now: Any,
        request_key: str,
        confirmed: Sequence[str] = (),
        stop_loss: Decimal | None = None,
        take_profit: Decimal | None = None,
        amount: Decimal | None = None,
        **content: Any,
    ) -> Order:
        place: Callable[..., Order] = workflow.place
        if (content.get("quantity") is None) == (amount is None):
            raise workflow.CannotPlace({"quantity": sizing.ONE_SIZE})
        if (stop_loss is None) != (take_profit is None):
            raise workflow.CannotPlace({"take_profit" if take_profit is None else "stop_loss": BOTH_EXITS})
        if stop_loss is not None and take_profit is not None:
            place = partial(brackets.place, exits=Exits(stop_loss, take_profit))
        if amount is not None:
            content["quantity"] = _quantity(initiator, request_key, amount, content, now)
            place = partial(sizing.recorded, place, amount=amount)
        try:
            return place(
                initiator=initiator,
                account=account,
                requested=request_checks.OrderRequest(**content),
                request_key=request_key,
                now=now,
                confirmed=confirmed,
                via="api",
            )
        except policy_checks.NotConfirmed as missing:
            named = " ".join(f"{each.token} ({each.sentence})" for each in missing.oversteps)
            raise workflow.CannotPlace(
                {"confirmed": f"Order not placed. Confirm these checks by name: {named}"}
            ) from None


def _quantity(
    initiator: Person, request_key: str, amount: Decimal, content: Mapping[str, Any], now: datetime
) -> Decimal:
    """The quantity for an amount: that of the same request before, else of the present price or book."""
    earlier = sizing.earlier_quantity(initiator=initiator, request_key=request_key, amount=amount)
    if earlier is not None:
        return earlier
    size = sizing.compute(
        symbol=Symbol.objects.filter(pk=content["symbol"]).first(),
        side=content["side"],
        type=content["type"],
        amount=amount,
        price=content.get("price"),
        stop_price=content.get("stop_price"),
        now=now,
    )
    if size.quantity is None:
        raise workflow.CannotPlace({"amount": size.problem})
    return size.quantity


@reading("orders_read", OrderOut)
class OneOrder(Reading):
    """One order, with its status as last synced."""

    queryset = Order.objects.select_related("initiator")
    lookup_url_kwarg = "order_id"


class CancelOrder(APIView):
    """Cancelling one order."""

    permission_classes = (MaySeeAndTrade,)
    parser_classes = (BoundedJSONParser,)
    http_method_names = ("post", "options")

    @keyed(operation_id="orders_cancel", request=None, responses={202: OrderOut, **NOT_FOUND})
    @once
    def post(self, request: ApiRequest, order_id: int) -> Response:
        """Cancel the unfilled part of an order; it can still fill until the exchange confirms."""
        get_object_or_404(Order, pk=order_id)
        try:
            row = workflow.cancel(order_id=order_id, person=request.user, now=clock.now())
        except workflow.CannotCancel as problem:
            raise NothingToCancel(f"Not cancelled. {problem}") from None
        return Response(OrderOut(row).data, status=202)


@reading("brackets_read", BracketOut)
class OneBracket(Reading):
    """One bracket, with its orders as last synced."""

    queryset = Bracket.objects.select_related("initiator", "entry").prefetch_related("legs__order")
    lookup_url_kwarg = "bracket_id"


class EndBracket(APIView):
    """Ending one bracket."""

    permission_classes = (MaySeeAndTrade,)
    parser_classes = (BoundedJSONParser,)
    http_method_names = ("post", "options")

    @keyed(operation_id="brackets_end", request=None, responses={202: BracketOut, **NOT_FOUND})
    @once
    def post(self, request: ApiRequest, bracket_id: int) -> Response:
        """End a bracket: open entry and stop orders are cancelled. The filled position stays open without a stop."""
        get_object_or_404(Bracket, pk=bracket_id)
        try:
            row = brackets.end(bracket_id=bracket_id, person=request.user, now=clock.now())
        except brackets.CannotEnd as problem:
            raise NothingToCancel(f"Bracket not changed. {problem}") from None
        return Response(BracketOut(row).data, status=202)


class WithdrawOrder(APIView):
    """Taking an order back that waits for an approval."""

    permission_classes = (MaySeeAndTrade,)
    parser_classes = (BoundedJSONParser,)
    http_method_names = ("post", "options")

    @keyed(operation_id="orders_withdraw", request=OrderWithdrawIn, responses={200: OrderOut, **NOT_FOUND})
    @once
    def post(self, request: ApiRequest, order_id: int) -> Response:
        """Withdraw an order awaiting approval. Only its requester can; the API cannot approve or reject it."""
        get_object_or_404(Order, pk=order_id)
        content = read(OrderWithdrawIn, request)
        try:
            row = approvals.withdraw(order_id=order_id, person=request.user, now=clock.now(), **content)
        except approvals.CannotDecide as problem:
            raise CannotRecord({FORM: f"Not withdrawn. {problem}"}) from None
        return Response(OrderOut(row).data)


@unpaged("margin_list", MarginOut)
class Margin(OfAccount):
    """All isolated margin accounts, with their positions, as last synced."""

    queryset = MarginAccount.objects.filter(gone_at=None).order_by("symbol")

    def get_queryset(self) -> list[MarginAccount]:  # type: ignore[override]
        mine = MarginPosition.objects.filter(account=accounts.current(self.request), gone_at=None)
        positions = {row.symbol: row for row in mine}
        rows = list(super().get_queryset())
        for row in rows:
            row.position = positions.get(row.symbol)
        return rows
