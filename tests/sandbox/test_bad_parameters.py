"""Every parameter of every operation given wrong: the documented error in its envelope, nothing changed, never a 500.

What is wrong comes from the catalogue's rows (`bad_values`), so a new row is covered by itself; what is right comes
from there too, but for the few values below that must exist. `--hypothesis-profile=thorough` asks much more.
"""

import http.client
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exchange_ops.wire import catalogue
from exchange_ops.wire.refusals import CATALOGUE, SUBACCOUNT_UNKNOWN
from sandbox.serving import InProcessSandbox
from tests.sandbox import bad_values, margins, worlds
from tests.sandbox.trading import offered, order
from wire.operation import Operation
from wire.params import BadArgument, Kind, Param, Place, from_text

OPERATIONS = pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda operation: operation.name)
AUTHORIZATION = {"Authorization": "Basic ZGVtby1mdWxsOmRlbW8tZnVsbC1zZWNyZXQ="}  # demo-full with its secret
FORM, JSON = "application/x-www-form-urlencoded", "application/json"
ORDER_CODES = frozenset({2010, 2011, 2012, 2020, 2021, 2022})
NO_FUNDS = frozenset({20001, 20003})

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

    def ask(self, operation: Operation, arguments: Mapping[str, str], *, in_query: bool = False) -> Answered:
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
        return self.send(operation.method, target, urlencode(form).encode(), FORM)

    def send(self, method: str, target: str, body: bytes = b"", content_type: str = FORM) -> Answered:
        """A request as it is."""
        headers = AUTHORIZATION | ({"Content-Type": content_type} if body else {})
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


@pytest.fixture(scope="module")
def prepared() -> Iterator[Prepared]:
    """One sandbox for all tests of the module."""
    with InProcessSandbox(seed=1, still=True, payout_seconds=0) as box:
        made = Prepared(box)
        yield made
        made.close()


def must_be_refused(answer: Answered, param: Param, what: object) -> None:
    """The documented refusal of a parameter: 400, the envelope, a code of the catalogue that fits, the name of it."""
    assert answer.status == 400, (param.name, what, answer)
    error = answer.error
    code = error["code"]
    assert CATALOGUE[code].http_status == 400, (param.name, what, answer)
    if code == 10001:
        assert error["message"] == "Validation error", (param.name, what, answer)
        assert param.name in error["description"], (param.name, what, answer)
    else:
        assert code in fitting(param), (param.name, what, answer)


def fitting(param: Param) -> frozenset[int]:
    """The codes beside 10001 that say that a parameter is wrong."""
    if param.kind in (Kind.CODE, Kind.CODES):
        return frozenset({2001, 2002})
    return ORDER_CODES | NO_FUNDS if param.kind is Kind.DECIMAL else frozenset()


def must_be_documented(answer: Answered, operation: Operation, what: object) -> None:
    """Either the reply, or an error of the catalogue with the status that it has there."""
    if answer.status == 200:
        json.loads(answer.body)
        return
    if answer.status == 404:  # the page of a path that has no such address
        assert answer.content_type.startswith("text/html"), (what, answer)
        return
    error = answer.error
    assert CATALOGUE[error["code"]].http_status == answer.status, (what, answer)
    if answer.status >= 500:
        number = error["description"].rsplit(" ", 1)[-1]
        assert operation.group == catalogue.SUBACCOUNTS, (what, answer)
        assert error["description"] == SUBACCOUNT_UNKNOWN.format(id=number), (what, answer)


# Every parameter -----------------------------------------------------------------------------------------------------


@OPERATIONS
def test_what_a_row_rules_out_is_refused_and_changes_nothing(prepared: Prepared, operation: Operation) -> None:
    for param in operation.params:
        good = prepared.good(operation, param.name)
        for text in bad_values.refused(param):
            must_be_refused(prepared.ask(operation, good | {param.name: text}), param, text)
    prepared.must_be_unchanged()
    assert prepared.ask(operation, prepared.good(operation)).status == 200, "what was wrong was not what it seemed"
    if operation.method != "GET":
        prepared.renew()


@OPERATIONS
def test_what_is_required_must_be_there(prepared: Prepared, operation: Operation) -> None:
    for param in operation.params:
        good = prepared.good(operation)
        if param.required and param.place is not Place.PATH:
            missing = {name: text for name, text in good.items() if name != param.name}
            for arguments in (missing, good | {param.name: ""}):
                must_be_refused(prepared.ask(operation, arguments), param, arguments)
        elif param.place is Place.PATH and not is_documented_without(operation, param):
            answer = prepared.ask(operation, good | {param.name: ""})
            assert answer.status == 404, (param.name, answer)
            assert answer.content_type.startswith("text/html"), (param.name, answer)
    prepared.must_be_unchanged()


def is_documented_without(operation: Operation, param: Param) -> bool:
    """Whether the path, ended before this parameter, is another operation's: a slash at the end makes no difference."""
    shorter = operation.path.split("/{" + param.name)[0]
    return any((each.method, each.path) == (operation.method, shorter) for each in catalogue.OPERATIONS)


@pytest.mark.parametrize(
    "operation",
    [each for each in catalogue.OPERATIONS if each.method in ("PUT", "PATCH", "DELETE")],
    ids=lambda operation: operation.name,
)
def test_a_query_is_as_strict_as_a_form(prepared: Prepared, operation: Operation) -> None:
    for param in operation.params:
        good = prepared.good(operation, param.name)
        for text in () if param.place is Place.PATH else bad_values.refused(param):
            must_be_refused(prepared.ask(operation, good | {param.name: text}, in_query=True), param, text)
    prepared.must_be_unchanged()


@pytest.mark.parametrize(
    "operation",
    [each for each in catalogue.OPERATIONS if any(param.place is Place.FORM for param in each.params)],
    ids=lambda operation: operation.name,
)
def test_json_of_a_wrong_type_is_refused(prepared: Prepared, operation: Operation) -> None:
    in_form = [param for param in operation.params if param.place is Place.FORM]
    for param in in_form:
        good = prepared.good(operation, param.name)
        path = operation.path
        for each in operation.params:
            path = path.replace("{" + each.name + "}", good.get(each.name, ""))
        others = [f"{json.dumps(each.name)}:{json.dumps(good[each.name])}" for each in in_form if each.name in good]
        for written in bad_values.wrong_json(param):
            # The last of equal names counts, so that the wrong one is what is read.
            body = "{" + ",".join([*others, f"{json.dumps(param.name)}:{written}"]) + "}"
            must_be_refused(prepared.send(operation.method, path, body.encode(), JSON), param, written)
        for body in ("{", "[]", '"x"', "1", "null", "[" * 5_000, '{"a":"\\ud800"}', "\x00"):
            answer = prepared.send(operation.method, path, body.encode(), JSON)
            assert (answer.status, answer.error["code"]) == (400, 10001), (body[:20], answer)
    prepared.must_be_unchanged()


@OPERATIONS
def test_what_is_not_utf_8_is_refused(prepared: Prepared, operation: Operation) -> None:
    path = operation.path
    for param in operation.params:
        path = path.replace("{" + param.name + "}", prepared.value(operation, param))
    answer = prepared.send(operation.method, path + "?x=%FF")
    assert (answer.status, answer.error["code"]) == (400, 10001), answer
    if "{" in operation.path:
        assert prepared.send(operation.method, operation.path.split("{")[0] + "%C3%28").status == 404
    prepared.must_be_unchanged()


@OPERATIONS
def test_a_hostile_text_does_no_harm(prepared: Prepared, operation: Operation) -> None:
    """Where any text is welcome, odd ones are kept as they are or refused; they break nothing and say nothing."""
    for param in operation.params:
        good = prepared.good(operation, param.name)
        for text in bad_values.hostile(param):
            answer = prepared.ask(operation, good | {param.name: text})
            must_be_documented(answer, operation, (param.name, text))
            if answer.status == 200 and operation.method != "GET":
                assert prepared.box.control("ledger")["balanced"] is True
                prepared.renew()
    prepared.must_be_unchanged()


# Whatever comes ------------------------------------------------------------------------------------------------------

numbers = st.one_of(
    st.decimals().map(str),
    st.floats().map(repr),
    st.integers().map(str),
    st.from_regex(r"[-+]?[0-9]{0,30}(\.[0-9]{0,30})?([eE][-+]?[0-9]{1,4})?", fullmatch=True),
)
instants = st.one_of(st.datetimes().map(lambda at: at.isoformat()), st.dates().map(str), st.integers().map(str))
words = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.from_regex(r"[A-Za-z0-9._,/-]{1,40}", fullmatch=True),
    st.sampled_from(["BTC", "ethbtc", "ETHBTC,BTCUSD", "true", "False", "7001", "7001,7002", "spot", "margin"]),
)
PAIRS = [(operation, param) for operation in catalogue.OPERATIONS for param in operation.params]


@pytest.mark.timeout(3_600)
@given(
    pair=st.sampled_from(PAIRS),
    text=st.one_of(numbers, instants, words),
    in_query=st.booleans(),
)
@settings(
    max_examples=6 * settings.default.max_examples,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_comes_is_answered_as_documented(
    prepared: Prepared, pair: tuple[Operation, Param], text: str, in_query: bool
) -> None:
    operation, param = pair
    in_query = in_query and operation.method in ("PUT", "PATCH", "DELETE")
    answer = prepared.ask(operation, prepared.good(operation, param.name) | {param.name: text}, in_query=in_query)
    must_be_documented(answer, operation, (operation.name, param.name, text))
    if text and is_ruled_out(param, text):
        assert answer.status == 400, (operation.name, param.name, text, answer)
    if answer.status == 200 and operation.method != "GET":
        assert prepared.box.control("ledger")["balanced"] is True
        prepared.renew()
    else:
        assert prepared.box.control("state") == prepared.before[1]
    if answer.status == 400:
        assert prepared.box.control("ledger") == prepared.before[0]


def is_ruled_out(param: Param, text: str) -> bool:
    """Whether the row does not take the text."""
    try:
        from_text(param, text)
    except BadArgument:
        return True
    return False


def test_after_all_of_it_the_sandbox_is_as_it_was(prepared: Prepared) -> None:
    prepared.must_be_unchanged()
