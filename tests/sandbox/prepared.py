"""A sandbox in which every operation of the catalogue has something to work on, asked over HTTP with any key.

The arguments with which an operation works come from its row (`bad_values`), but for the few values below, which must
exist in the world.
"""

import base64
import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

from exchange_ops.wire import catalogue
from sandbox.serving import InProcessSandbox
from tests.sandbox import bad_values, margins, worlds
from tests.sandbox.trading import offered, order
from wire.operation import Operation
from wire.params import Param, Place

FORM, JSON = "application/x-www-form-urlencoded", "application/json"

# Values that must exist in the world, by parameter; where operations differ, by operation as well.
KNOWN = {
    "symbol": "ETHBTC",
    "symbols": "ETHBTC",
    "quantity": "0.02",
    "price": "0.9",
    "side": "sell",
    "address": worlds.outside("BTC"),
    "subAccountId": "7001",
    "subAccountIds": "7001",
    "subAccountUserId": "7001",
    "ids": "7001",
    "identifier": "other@demo.test",
    "requestClientId": "replacement",
    "fromCurrency": "USDT20",
    "toCurrency": "USD",
    "marginBalance": "2",
}
KNOWN_OF = {
    **{f"{name}.clientOrderId": "spot" for name in ("get_order", "cancel_order", "replace_order")},
    **{f"{name}.clientOrderId": "margin" for name in ("get_margin_order", "cancel_margin_order")},
    **{f"{name}.clientOrderId": "fresh" for name in ("put_order", "put_margin_order")},
    **{f"{name}.id": "7001" for name in ("get_subaccount_balances", "get_subaccount_deposit_address")},
    "transfer_to_user.by": "email",
    "transfer_subaccount_funds.type": "deposit",
    "create_order.side": "sell",
}
# What else has to be said for a parameter to apply.
BESIDES = {
    "stopPrice": {"type": "stopLimit", "price": "0.9"},
    "price": {"type": "limit"},
    "expireTime": {"timeInForce": "GTD", "price": "0.9", "type": "limit"},
}


def basic(login: str, secret: str | None = None) -> str:
    """The header of a key of the sandbox, with its own secret unless another is given."""
    credentials = f"{login}:{f'{login}-secret' if secret is None else secret}"
    return "Basic " + base64.b64encode(credentials.encode()).decode()


FULL = basic("demo-full")


@dataclass(frozen=True, slots=True)
class Answered:
    """An answer as it came."""

    status: int
    content_type: str
    body: bytes

    @property
    def error(self) -> dict[str, Any]:
        """The error of an answer in the documented envelope, which is looked at."""
        assert self.content_type == "application/json; charset=utf-8", self
        said = json.loads(self.body)
        assert set(said) == {"error"}, self
        error: dict[str, Any] = said["error"]
        assert set(error) == {"code", "message", "description"}, self
        assert type(error["code"]) is int, self
        assert isinstance(error["message"], str), self
        assert isinstance(error["description"], str), self
        return error


class Prepared:
    """A sandbox in which every operation has something to work on, and what a call would change of it."""

    def __init__(self, box: InProcessSandbox) -> None:
        self.box = box
        self._connection = http.client.HTTPConnection("127.0.0.1", box.port, timeout=30)
        self.known: dict[str, str] = {}
        self.renew()

    def close(self) -> None:
        """Lets go of the connection."""
        self._connection.close()

    def renew(self) -> None:
        """A fresh world with an order of each kind, a position, and a hold; time stands still."""
        self.box.control("reset", {"seed": 1})
        self.box.control("clock", {"frozen": True})
        self.known = self.box.inside(self._filled)
        self.before = self.dump()

    def _filled(self) -> dict[str, str]:
        world = self.box.world
        worlds.dismiss_traders(world)
        placed = order(world, "sell", "0.01", "0.9", clientOrderId="spot")
        margins.funded(world)
        margins.traded(world, "buy", 2)
        margins.margin_order(world, "buy", 1, "0.01", clientOrderId="margin")
        offered(world, "buy", 49_990, 100_000)
        offered(world, "sell", 50_010, 100_000)
        hold = worlds.held(world)
        return {
            **{f"{name}.id": hold for name in ("commit_withdrawal", "rollback_withdrawal", "get_transaction")},
            "get_order_trades.orderId": str(placed["id"]),
        }

    def value(self, operation: Operation, param: Param) -> str:
        """A value with which the operation works."""
        key = f"{operation.name}.{param.name}"
        found = self.known.get(key) or KNOWN_OF.get(key) or KNOWN.get(param.name)
        return found or bad_values.accepted_example(param)

    def good(self, operation: Operation, *names: str) -> dict[str, str]:
        """The arguments that the operation needs, with those that the named parameters need beside them."""
        arguments = {param.name: self.value(operation, param) for param in operation.params if param.required}
        if operation.group in (catalogue.SPOT_ORDERS, catalogue.MARGIN_ORDERS) and operation.param("side"):
            arguments["price"] = KNOWN["price"]
        for name in names:
            beside = BESIDES.get(name, {})
            arguments |= {each: text for each, text in beside.items() if operation.param(each) is not None}
        return arguments

    def ask(
        self,
        operation: Operation,
        arguments: Mapping[str, str],
        *,
        in_query: bool = False,
        authorization: str | None = FULL,
    ) -> Answered:
        """One call, its arguments where the row places them, or all but the path's in the query."""
        path, query, form = operation.path, [], []
        for param in operation.params:
            text = arguments.get(param.name)
            if text is None:
                continue
            if param.place is Place.PATH:
                path = path.replace("{" + param.name + "}", quote(text, safe=""))
            elif param.place is Place.QUERY or in_query:
                query.append((param.name, text))
            else:
                form.append((param.name, text))
        target = f"{path}?{urlencode(query)}" if query else path
        return self.send(operation.method, target, urlencode(form).encode(), authorization=authorization)

    def send(
        self, method: str, target: str, body: bytes = b"", kind: str = FORM, *, authorization: str | None = FULL
    ) -> Answered:
        """A request as it is; `kind` is its content type."""
        headers = {"Content-Type": kind} if body else {}
        if authorization is not None:
            headers["Authorization"] = authorization
        self._connection.request(method, target, body or None, headers)
        answer = self._connection.getresponse()
        return Answered(answer.status, answer.getheader("Content-Type", ""), answer.read())

    def dump(self) -> tuple[object, ...]:
        """Ledger and state, as the control plane tells them, and everything that customers can see."""
        world = self.box.world
        seen = self.box.inside(lambda: (worlds.picture(world), margins.kept(world), sub_accounts(world)))
        return self.box.control("ledger"), self.box.control("state"), seen

    def must_be_unchanged(self) -> None:
        """Fails when anything is not as it was; a good world is made again for the next test."""
        found = self.dump()
        if found != self.before:
            before, self.before = self.before, found
            assert found == before


def sub_accounts(world: Any) -> object:
    """What can be seen of the sub-accounts."""
    listed = worlds.call(world, "get_subaccounts")["result"]
    settings_of = [worlds.call(world, "get_subaccount_settings", subAccountIds=str(each["id"])) for each in listed]
    return listed, settings_of
