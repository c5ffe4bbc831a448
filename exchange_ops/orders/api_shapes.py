"""The members of orders, trades and margin in requests and answers. Figures are text; times are UTC in ISO form."""

from datetime import datetime
from typing import Any

from django import forms
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from desk.api.fields import RequestKey, StrictBody, StrictBoolean, StrictChoice, StrictText
from desk.machines.votes import LONGEST_COMMENT
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.orders import outcomes, states
from exchange_ops.orders.brackets import results, situation
from exchange_ops.orders.brackets import states as bracket_states
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.policy.oversteps import MOST_CONFIRMED
from exchange_ops.shared.api.fields import AmountIn, AmountText, ExchangeIdText, SignedAmountText
from exchange_ops.shared.forms import read_instant
from exchange_ops.wire import records

_INSTANT = r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])[T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?Z?$"


@extend_schema_field({"type": "string", "pattern": _INSTANT, "example": "2026-11-30T18:00:00Z"})
class InstantText(serializers.Field[datetime, Any, str, Any]):
    """A moment in UTC as text, to the second: of the days that there are."""

    def to_internal_value(self, data: Any) -> datetime:
        if not isinstance(data, str):
            raise serializers.ValidationError("Send the time as a string, for example 2026-11-30T18:00:00Z.")
        try:
            return read_instant(data.removesuffix("Z"))
        except forms.ValidationError as problem:
            raise serializers.ValidationError(problem.messages) from None

    def to_representation(self, value: datetime) -> str:
        return value.strftime("%Y-%m-%dT%H:%M:%SZ")


class OverstepOut(serializers.Serializer[Any]):
    """A bound of the rules that the order went beyond: its size, and what was confirmed or is to be approved."""

    name = serializers.CharField()
    size = serializers.CharField()
    beyond = serializers.CharField()
    sentence = serializers.CharField()
    up_to = serializers.CharField()


class OrderResultOut(serializers.Serializer[Any]):
    """Realised P&L on what an order sold, after fees, first in, first out.

    `realised` is in `currency`, the account's quote currency; null if it can't be determined, and `reason` says why.
    """

    realised = SignedAmountText(source="amount", read_only=True, allow_null=True)
    currency = serializers.CharField(read_only=True)
    reason = serializers.CharField(read_only=True)


class OrdersOut(serializers.ListSerializer[Any]):
    """Several orders, whose outcomes are read together."""

    def to_representation(self, data: Any) -> list[Any]:
        rows = list(data)
        for row, outcome in zip(rows, outcomes.of_all(rows).values(), strict=True):
            row.outcome = outcome
        return super().to_representation(rows)


class OrderOut(serializers.ModelSerializer[Order]):
    """An order. `state` is its state in Countersign, `status` the exchange's status once it has one.

    `value` is in the quote currency, before fees; negative `fees` are a rebate. Null: not all fills are synced yet.
    """

    reference = serializers.CharField(read_only=True)
    state = serializers.ChoiceField(choices=list(states.STATES), read_only=True)
    sentence = serializers.CharField(read_only=True)
    is_open = serializers.BooleanField(read_only=True)
    quantity = AmountText(read_only=True)
    price = AmountText(read_only=True, allow_null=True)
    stop_price = AmountText(read_only=True, allow_null=True)
    filled = AmountText(source="cum_quantity", read_only=True)
    average_price = AmountText(read_only=True, allow_null=True)
    amount = AmountText(
        source="outcome.amount",
        read_only=True,
        allow_null=True,
        help_text="Requested amount in the quote currency; null if placed by quantity.",
    )
    value = AmountText(source="outcome.value", read_only=True, allow_null=True)
    fees = SignedAmountText(source="outcome.fees", read_only=True, allow_null=True)
    fee_currency = serializers.CharField(source="outcome.fee_currency", read_only=True)
    result = OrderResultOut(source="outcome.result", read_only=True)
    exchange_id = ExchangeIdText(read_only=True, allow_null=True)
    oversteps = OverstepOut(many=True, read_only=True)
    initiator = serializers.CharField(
        source="initiator.username", read_only=True, allow_null=True, help_text="null if placed outside Countersign."
    )

    class Meta:
        model = Order
        list_serializer_class = OrdersOut
        fields = (
            "id",
            "reference",
            "state",
            "sentence",
            "status",
            "is_open",
            "symbol",
            "side",
            "type",
            "time_in_force",
            "quantity",
            "amount",
            "price",
            "stop_price",
            "expire_time",
            "post_only",
            "margin",
            "oversteps",
            "filled",
            "average_price",
            "value",
            "fees",
            "fee_currency",
            "result",
            "client_order_id",
            "exchange_id",
            "initiator",
            "initiated_via",
            "request_key",
            "last_problem",
            "exchange_created_at",
            "exchange_updated_at",
            "read_at",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    def to_representation(self, instance: Any) -> dict[str, Any]:
        if not hasattr(instance, "outcome"):
            instance.outcome = outcomes.of(instance)
        data: dict[str, Any] = super().to_representation(instance)
        data.setdefault("initiator", None)  # a source through an absent person gives no member at all
        return data


class OrderIn(StrictBody):
    """An order request. Figures are strings; requests that are invalid or exceed available funds are rejected.

    Send either `quantity` or `amount`, not both.
    """

    symbol = StrictText(max_length=40)
    side = StrictChoice(choices=list(records.SIDES))
    type = StrictChoice(choices=list(records.ORDER_TYPES), required=False, default="limit")
    time_in_force = StrictChoice(
        choices=list(records.TIMES_IN_FORCE), required=False, help_text="Default: GTC; IOC for market orders."
    )
    quantity = AmountIn(required=False, allow_null=True, help_text="In the base currency.")
    amount = AmountIn(
        required=False,
        allow_null=True,
        help_text=(
            "In the quote currency, before fees. The quantity is computed from the price (market orders: from the "
            "visible book) and rounded down to the lot size."
        ),
    )
    price = AmountIn(required=False, allow_null=True)
    stop_price = AmountIn(required=False, allow_null=True)
    expire_time = InstantText(required=False, allow_null=True)
    post_only = StrictBoolean(required=False, default=False)
    strict_validate = StrictBoolean(
        required=False,
        default=True,
        help_text="If true, price and quantity must match the tick and lot size; if false, the exchange rounds them.",
    )
    margin = StrictBoolean(required=False, default=False, help_text="Trade on the symbol's isolated margin account.")
    take_liquidity_markup = AmountIn(
        required=False, allow_null=True, help_text="A markup as a fraction of the volume, added to the fee."
    )
    provide_liquidity_markup = AmountIn(required=False, allow_null=True)
    stop_loss = AmountIn(
        required=False,
        allow_null=True,
        help_text="With take_profit, creates a bracket: each fill gets a stop at this price on the exchange.",
    )
    take_profit = AmountIn(
        required=False,
        allow_null=True,
        help_text="Monitored by Countersign; the position is closed at this price or better.",
    )
    confirmed = serializers.ListField(
        child=StrictText(max_length=81),
        max_length=MOST_CONFIRMED,
        required=False,
        help_text="Checks to override, as named in an earlier rejection, e.g. price_far:6.3.",
    )
    request_key = RequestKey()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs.setdefault("time_in_force", "IOC" if attrs["type"] == "market" else "GTC")
        return attrs


class BracketOrderOut(serializers.Serializer[Any]):
    """One order in a bracket; a replaced order is represented by its replacement. `role`: entry, stop or take."""

    role = serializers.ChoiceField(choices=["entry", "stop", "take"])
    order_id = serializers.IntegerField()
    is_open = serializers.BooleanField()
    quantity = AmountText()
    filled = AmountText()


class BracketResultOut(serializers.Serializer[Any]):
    """The bracket's result so far, computed from the account's trades.

    `realised` is in the quote currency, null while nothing is closed; `is_after_fees` says whether `fees`, which are in
    `fee_currency`, are deducted from it. `is_complete` is false while some fills are not synced yet.
    """

    realised = SignedAmountText(read_only=True, allow_null=True)
    quote_currency = serializers.CharField(read_only=True)
    fees = SignedAmountText(read_only=True)
    fee_currency = serializers.CharField(read_only=True)
    is_after_fees = serializers.BooleanField(source="after_fees", read_only=True)
    is_complete = serializers.BooleanField(read_only=True)


class BracketOut(serializers.ModelSerializer[Bracket]):
    """A stop and a take profit for one order's fills. `outcome` says how the bracket ended."""

    reference = serializers.CharField(read_only=True)
    state = serializers.ChoiceField(choices=list(bracket_states.STATES), read_only=True)
    outcome = serializers.ChoiceField(choices=["", *bracket_states.OUTCOMES], read_only=True)
    sentence = serializers.CharField(read_only=True)
    stop_price = AmountText(read_only=True)
    take_price = AmountText(read_only=True)
    initiator = serializers.CharField(source="initiator.username", read_only=True)
    orders = serializers.SerializerMethodField()
    result = serializers.SerializerMethodField()

    class Meta:
        model = Bracket
        fields = (
            "id",
            "reference",
            "state",
            "sentence",
            "outcome",
            "symbol",
            "side",
            "margin",
            "stop_price",
            "take_price",
            "orders",
            "result",
            "initiator",
            "initiated_via",
            "last_problem",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(BracketOrderOut(many=True))
    def get_orders(self, row: Bracket) -> Any:
        """The entry, then the orders that it placed."""
        chains = situation.read(row)
        roots = [("entry", row.entry_id), *((leg.role, leg.order_id) for leg in row.legs.all())]
        heads = [(role, situation.head(chains[number])) for role, number in roots]
        return BracketOrderOut(
            [
                {
                    "role": role,
                    "order_id": order.pk,
                    "is_open": order.is_open,
                    "quantity": order.quantity,
                    "filled": order.cum_quantity,
                }
                for role, order in heads
            ],
            many=True,
        ).data

    @extend_schema_field(BracketResultOut)
    def get_result(self, row: Bracket) -> Any:
        """What its exits realised so far."""
        return BracketResultOut(results.of(row, situation.read(row))).data


class TradeOut(serializers.ModelSerializer[AccountTrade]):
    """One trade on the account; a negative fee is a rebate."""

    exchange_id = ExchangeIdText(read_only=True)
    exchange_order_id = ExchangeIdText(read_only=True)
    quantity = AmountText(read_only=True)
    price = AmountText(read_only=True)
    fee = SignedAmountText(read_only=True)
    fee_currency = serializers.CharField(read_only=True, help_text="Empty if the symbol is no longer listed.")

    class Meta:
        model = AccountTrade
        fields = (
            "exchange_id",
            "exchange_order_id",
            "client_order_id",
            "symbol",
            "side",
            "quantity",
            "price",
            "fee",
            "fee_currency",
            "taker",
            "liquidation",
            "timestamp",
            "read_at",
        )
        read_only_fields = fields


class OrderWithdrawIn(StrictBody):
    """The reason for withdrawing an order awaiting approval."""

    reason = StrictText(max_length=LONGEST_COMMENT)


class PositionOut(serializers.ModelSerializer[MarginPosition]):
    """A position; a negative quantity is a short. `exchange_id` is its ID on the exchange."""

    exchange_id = ExchangeIdText(read_only=True)
    quantity = SignedAmountText(read_only=True)
    price_entry = AmountText(read_only=True)
    pnl = SignedAmountText(read_only=True, allow_null=True)
    price_margin_call = AmountText(read_only=True, allow_null=True)
    price_liquidation = AmountText(read_only=True, allow_null=True)

    class Meta:
        model = MarginPosition
        fields = (
            "exchange_id",
            "quantity",
            "price_entry",
            "pnl",
            "price_margin_call",
            "price_liquidation",
            "updated_at",
            "read_at",
        )
        read_only_fields = fields


class MarginOut(serializers.ModelSerializer[MarginAccount]):
    """An isolated margin account as last synced; balances are in the symbol's quote currency."""

    leverage = AmountText(read_only=True)
    margin_balance = AmountText(read_only=True)
    margin_balance_orders = AmountText(read_only=True)
    margin_balance_required = AmountText(read_only=True)
    position = PositionOut(read_only=True, allow_null=True)

    class Meta:
        model = MarginAccount
        fields = (
            "symbol",
            "leverage",
            "margin_balance",
            "margin_balance_orders",
            "margin_balance_required",
            "position",
            "updated_at",
            "read_at",
        )
        read_only_fields = fields
