"""Who does what to an order and to a margin action in which state."""

from decimal import Decimal
from typing import Any

from desk import clock
from desk.people import roles
from exchange_ops.market.models import Symbol
from exchange_ops.orders import machine as orders
from exchange_ops.orders import records
from exchange_ops.orders import states as order_states
from exchange_ops.orders.brackets import machine as brackets
from exchange_ops.orders.brackets import states as bracket_states
from exchange_ops.orders.request_checks import OrderRequest
from exchange_ops.orders.views import titles
from exchange_ops.positions import machine as margin
from exchange_ops.positions import states as margin_states
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.brackets import bracket_rows
from tests.exchange_ops.permissions.shared_form import KEY, OWN, Subject, nothing, signed, walk

BOTH = f"{roles.OPERATOR} and {roles.TREASURY}"
FOR_APPROVAL = {"waiting", "declined", "withdrawn", "lapsed"}
OPERATORS = {roles.OPERATOR, OWN + roles.OPERATOR, OWN + BOTH}  # whoever trades may end what a colleague began


def _observed(row: Any) -> dict[str, Any]:
    record = order_rows.answer(row, now=clock.now())
    return {"exchange_id": record.id, **records.observed_columns(record, now=clock.now())}


ORDER_COLUMNS = {
    "claimed": lambda row: {"sends": 1, "sent_at": clock.now(), "sent_from": clock.now()},
    "accepted": _observed,
    "found": _observed,
}


def order(state: str, person: Any) -> Any:
    """An order in the state."""
    order_rows.market(now=clock.now())
    begin = order_rows.waiting if state in FOR_APPROVAL else order_rows.requested
    return walk(orders.MACHINE, begin(person, now=clock.now()), state, ORDER_COLUMNS)


def _decision(row: Any) -> dict[str, Any]:
    """A second factor for what waits, or the reason of a no."""
    return signed(row, **{f"{name}-reason": "Ours" for name in ("decline", "withdraw")})


def _replacement(row: Any) -> dict[str, Any]:
    """Another price, under the words of the button that were read."""
    wanted = replaced(row)
    effect = f"Replace {row.reference} with {titles.title(wanted, Symbol.objects.get(pk=row.symbol))}"
    return {"quantity": "0.5", "price": "410", "request_key": KEY, "effect": effect}


def _guarded(row: Any) -> dict[str, Any]:
    """A stop and a take profit on both sides of the order's price."""
    return {"stop_loss": "380", "take_profit": "480"}


def replaced(row: Any) -> OrderRequest:
    """The order with the other price."""
    return OrderRequest(
        symbol=row.symbol, side=row.side, type=row.type, time_in_force=row.time_in_force,
        quantity=row.quantity, price=Decimal(410),
    )  # fmt: skip


ORDERS = Subject(
    name="order",
    states=order_states.STATES,
    reach=order,
    owners=(roles.OPERATOR, BOTH),
    routes={
        "order-cancel": nothing,
        "api-order-cancel": nothing,
        "order-replace": _replacement,
        "order-guard": _guarded,
    }
    | dict.fromkeys(("order-approve", "order-decline", "order-withdraw"), _decision)
    | {"api-order-withdraw": lambda row: {"reason": "Ours"}},
    goes_through={
        (state, route): OPERATORS
        for state in ("placed", "found", "replacing", "cancelling")
        for route in ("order-cancel", "api-order-cancel")
    }
    | {(state, "order-replace"): OPERATORS for state in ("placed", "found")}
    | {(state, "order-guard"): OPERATORS for state in ("requested", "sending", "unknown", "placed", "found")}
    | {
        ("waiting", "order-approve"): {roles.TREASURY},
        ("waiting", "order-decline"): {roles.TREASURY},
        ("waiting", "order-withdraw"): {OWN + roles.OPERATOR, OWN + BOTH},
        ("waiting", "api-order-withdraw"): {OWN + roles.OPERATOR, OWN + BOTH},
    },
    over_again={("cancelling", "order-cancel"), ("cancelling", "api-order-cancel")},
    reads={"order": roles.ALL, "api-order": roles.ALL},
    topic=lambda row: f"order:{row.pk}",
)


def bracket(state: str, person: Any) -> Any:
    """A bracket in the state."""
    order_rows.market(now=clock.now())
    # What can be given a stop is something that was entered.
    entered = {"status": "partiallyFilled", "filled": "0.2"} if state == "unguarded" else {}
    row = bracket_rows.asked_for(person, now=clock.now(), **entered)
    return walk(
        brackets.MACHINE, row, state, {name: lambda row: {"outcome": "let_go"} for name in ("let_go", "closed")}
    )


BRACKETS = Subject(
    name="bracket",
    states=bracket_states.STATES,
    reach=bracket,
    owners=(roles.OPERATOR, BOTH),
    routes=dict.fromkeys(("bracket-end", "bracket-let-go", "bracket-stop", "api-bracket-end"), nothing),
    goes_through={
        (state, route): OPERATORS
        for state in ("entering", "guarded", "unguarded", "taking")
        for route in ("bracket-end", "api-bracket-end")
    }
    | {(state, "bracket-let-go"): OPERATORS for state in ("entering", "guarded", "unguarded")}
    | {("unguarded", "bracket-stop"): OPERATORS},
    reads={"bracket": roles.ALL, "api-bracket": roles.ALL},
    topic=lambda row: f"bracket:{row.pk}",
)


MARGIN_ACTIONS = Subject(
    name="margin action",
    states=margin_states.STATES,
    reach=lambda state, person: walk(
        margin.MACHINE,
        rows.margin_action(person, now=clock.now()),
        state,
        {"claimed": lambda row: {"sends": 1, "sent_at": clock.now()}},
    ),
    owners=(roles.OPERATOR,),
    routes={"margin-action-settle": lambda row: {"note": "It opened the account"}},
    goes_through={("unclear", "margin-action-settle"): OPERATORS - {OWN + BOTH}},
    reads={"margin-action": roles.ALL, "api-margin-action": roles.ALL},
    topic=lambda row: f"marginaction:{row.pk}",
)
