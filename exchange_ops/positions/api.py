"""What is done to margin accounts and positions, under /api/v1/. Operators ask for it; every role reads.

An action is recorded and sent by a worker, once; the same `request_key` gives the same action. What has to be confirmed
by name is named by the refusal, as with orders. An unclear result is noted by a person on its page.
"""

from collections.abc import Sequence
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from desk.api.fields import RequestKey, StrictBody, StrictChoice, StrictText
from desk.api.resources import listing, reading
from exchange_ops.orders.api import MaySeeAndTrade
from exchange_ops.orders.api_shapes import OverstepOut
from exchange_ops.policy.oversteps import MOST_CONFIRMED
from exchange_ops.positions import states, workflow
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared.api.fields import AmountIn, AmountText, ExchangeIdIn, ExchangeIdText
from exchange_ops.shared.api.resources import OfAccount, Reading, Recording, recording


class MarginActionOut(serializers.ModelSerializer[MarginAction]):
    """A margin action. `sentence` describes its status, starting with what happened to the money."""

    reference = serializers.CharField(read_only=True)
    action = serializers.ChoiceField(source="kind", choices=list(states.KINDS), read_only=True)
    state = serializers.ChoiceField(choices=list(states.STATES), read_only=True)
    sentence = serializers.CharField(read_only=True)
    amount = AmountText(read_only=True, allow_null=True)
    quantity = AmountText(read_only=True, allow_null=True)
    price = AmountText(read_only=True, allow_null=True)
    position_id = ExchangeIdText(read_only=True, allow_null=True)
    exchange_order_id = ExchangeIdText(read_only=True, allow_null=True)
    oversteps = serializers.SerializerMethodField()
    initiator = serializers.CharField(source="initiator.username", read_only=True)

    class Meta:
        model = MarginAction
        fields = (
            "id",
            "reference",
            "action",
            "state",
            "sentence",
            "symbol",
            "amount",
            "side",
            "quantity",
            "order_type",
            "price",
            "position_id",
            "oversteps",
            "client_order_id",
            "exchange_order_id",
            "initiator",
            "initiated_via",
            "request_key",
            "last_problem",
            "sent_at",
            "created_at",
            "updated_at",
        )
        read_only_fields = fields

    @extend_schema_field(OverstepOut(many=True))
    def get_oversteps(self, row: MarginAction) -> Any:
        """The bounds of the rules that it went beyond, as they were confirmed."""
        return OverstepOut(row.confirmed.get("oversteps", []), many=True).data


class MarginActionIn(StrictBody):
    """A margin action. Figures are strings; requests that are invalid or exceed available funds are rejected."""

    action = StrictChoice(choices=list(states.KINDS))
    symbol = StrictText(max_length=40)
    amount = AmountIn(required=False, allow_null=True, help_text="For open and set: the total collateral to hold.")
    quantity = AmountIn(required=False, allow_null=True, help_text="For reduce: the quantity to close.")
    price = AmountIn(
        required=False, allow_null=True, help_text="For close and reduce: the limit price; omit to close at market."
    )
    position_id = ExchangeIdIn(
        required=False,
        default=None,
        allow_null=True,
        help_text=(
            "For close, reduce and close_account: the exchange_id of the intended position. A different position "
            "opened since then is not affected."
        ),
    )
    confirmed = serializers.ListField(
        child=StrictText(max_length=81),
        max_length=MOST_CONFIRMED,
        required=False,
        help_text="Checks to override, as named in an earlier rejection, e.g. call_near:1.3.",
    )
    request_key = RequestKey()


@recording(
    "margin_actions_create",
    MarginActionIn,
    MarginActionOut,
    "Open or change a margin account, or close a position. The request is sent once; `state` shows the outcome.",
)
@listing("margin_actions_list", MarginActionOut)
class MarginActions(Recording, OfAccount):
    """Margin actions, fifty per page, newest first."""

    permission_classes = (MaySeeAndTrade,)
    queryset = MarginAction.objects.select_related("initiator")
    refused = workflow.CannotAct

    def record(self, *, confirmed: Sequence[str] = (), **content: Any) -> MarginAction:
        common = {name: content.pop(name) for name in ("initiator", "account", "now", "request_key")}
        try:
            return workflow.act(wish=_wish(content), confirmed=confirmed, via="api", **common)
        except workflow.NotConfirmed as missing:
            named = " ".join(f"{each.token} ({each.sentence})" for each in missing.oversteps)
            raise workflow.CannotAct({"confirmed": f"Not sent. Confirm these checks by name: {named}"}) from None


@reading("margin_actions_read", MarginActionOut)
class OneMarginAction(Reading):
    """One margin action, with its current status."""

    queryset = MarginAction.objects.select_related("initiator")
    lookup_url_kwarg = "margin_action_id"


def _wish(content: dict[str, Any]) -> workflow.Wish:
    """What is asked for. A close needs the number of the position that was seen; each kind takes its own members."""
    kind = content.pop("action")
    takes = _TAKES[kind]
    if odd := [name for name, value in content.items() if value is not None and name not in {"symbol", *takes}]:
        raise workflow.CannotAct({odd[0]: f"Not allowed for this action: {states.KINDS[kind]}."})
    if kind in {states.CLOSE, states.REDUCE} and content.get("position_id") is None:
        raise workflow.CannotAct({"position_id": "Send the exchange_id of the intended position."})
    order_type = states.LIMIT if content.get("price") is not None else states.MARKET
    return workflow.Wish(kind=kind, **content, order_type=order_type if "price" in takes else "")


_TAKES = {
    states.OPEN: ("amount",),
    states.SET: ("amount",),
    states.CLOSE_ACCOUNT: ("position_id",),
    states.CLOSE: ("position_id", "price"),
    states.REDUCE: ("position_id", "price", "quantity"),
}
