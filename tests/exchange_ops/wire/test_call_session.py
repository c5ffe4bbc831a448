"""Every documented method of the sockets by its name: what is sent, what becomes of the answer, what never leaves."""

import json
from decimal import Decimal

import pytest

from exchange_ops.wire import streams
from exchange_ops.wire.call_session import Answered, AnswerUnreadable, CallSession, Declined, Notified, UnknownMethod
from exchange_ops.wire.conversation import BecameLive, Ended, Odd, Pace
from exchange_ops.wire.streams import Address
from tests.exchange_ops.wire import golden
from wire.params import BadArgument, Problem

METHODS = golden.files("exchange_streams", "methods")
EVENTS = golden.files("exchange_streams", "events")
ORDER = {"clientOrderId": "a", "symbol": "ETHBTC", "side": "buy", "quantity": Decimal("0.1"), "price": Decimal("0.01")}


def opened(*addresses, **pace):
    session = CallSession(addresses or tuple(Address), pace=Pace(**pace))
    session.opened(0)
    assert session.events() == [BecameLive()]
    assert session.outgoing() == []
    return session


@pytest.mark.parametrize("name", METHODS)
def test_a_call_is_sent_as_documented_and_its_answer_becomes_the_record(name):
    file, session = METHODS[name], opened()
    number = session.call(name, golden.typed(file["params"]), 0)
    (frame,) = session.outgoing()
    assert json.loads(frame) == json.loads(file["message"]) | {"id": number}
    session.received(json.dumps(file["answer"] | {"id": number}), 1)
    (event,) = session.events()
    assert isinstance(event, Answered)
    assert event.number == number
    assert golden.facts(event.record, file["facts"]) == file["facts"]


@pytest.mark.parametrize("name", EVENTS)
def test_a_notification_becomes_its_record(name):
    session = opened()
    session.received(json.dumps(EVENTS[name]["message"]), 1)
    (event,) = session.events()
    assert isinstance(event, Notified)
    assert event.name == name
    assert golden.facts(event.record, EVENTS[name]["facts"]) == EVENTS[name]["facts"]


@pytest.mark.parametrize(
    ("name", "params", "param", "problem"),
    [
        ("newOrder", ORDER | {"price": 0.01}, "price", Problem.MALFORMED),
        ("newOrder", ORDER | {"side": "hold"}, "side", Problem.NOT_A_CHOICE),
        ("newOrder", ORDER | {"clientOrderId": "x" * 33}, "clientOrderId", Problem.TOO_LONG),
        ("newOrder", ORDER | {"quantity": None}, "quantity", Problem.MISSING),
        ("newOrder", ORDER | {"autoCommit": True}, "autoCommit", Problem.UNKNOWN),
        ("marginAccountSet", {"symbol": "BTCUSD", "marginBalance": Decimal(-1)}, "marginBalance", Problem.TOO_LOW),
        ("loadTransactions", {"limit": 1001}, "limit", Problem.TOO_HIGH),
        ("login", {"algo": "BASIC", "pKey": "key", "sKey": 7}, "sKey", Problem.MALFORMED),
    ],
)
def test_what_does_not_fit_the_table_never_leaves(name, params, param, problem):
    session = opened()
    with pytest.raises(BadArgument) as caught:
        session.call(name, params, 0)
    assert (caught.value.param, caught.value.problem) == (param, problem)
    assert session.outgoing() == []


def test_a_socket_is_asked_for_its_own_methods_only():
    for address in Address:
        session = opened(address)
        for method in streams.METHODS:
            if address not in method.addresses:
                with pytest.raises(UnknownMethod):
                    session.call(method.name, golden.typed(METHODS[method.name]["params"]), 0)
        with pytest.raises(UnknownMethod):
            session.call("getEverything", {}, 0)
        assert session.outgoing() == []


def test_answers_are_matched_whatever_their_order_and_a_refusal_ends_nothing():
    session = opened()
    first, second = session.call("getOrders", {}, 0), session.call("getBalance", {}, 0)
    session.received(json.dumps({"jsonrpc": "2.0", "error": {"code": 1003, "message": "No"}, "id": second}), 1)
    session.received(json.dumps({"jsonrpc": "2.0", "result": 7, "id": first}), 2)
    declined, unreadable = session.events()
    assert isinstance(declined, Declined)
    assert (declined.number, declined.failure.code) == (second, 1003)
    assert isinstance(unreadable, AnswerUnreadable)
    assert unreadable.number == first
    session.received(json.dumps({"jsonrpc": "2.0", "result": [], "id": session.call("getOrders", {}, 3)}), 4)
    assert [type(event) for event in session.events()] == [Answered]


def test_an_answer_that_stays_away_ends_the_conversation():
    session = opened(answer_ms=1_000)
    session.call("newOrder", ORDER, 0)
    session.tick(1_001)
    (ended,) = session.events()
    assert isinstance(ended, Ended)
    assert "newOrder" in ended.sentence


@pytest.mark.parametrize("message", [{"method": "weather", "params": {}}, {"method": "report", "params": {"id": "x"}}])
def test_what_nobody_knows_is_odd_and_hides_nothing(message):
    session = opened()
    number = session.call("getOrders", {}, 0)
    session.received(json.dumps({"jsonrpc": "2.0", **message}), 1)
    session.received(json.dumps({"jsonrpc": "2.0", "result": [], "id": number}), 2)
    assert [type(event) for event in session.events()] == [Odd, Answered]


def test_what_acts_is_what_the_specification_says_changes_orders_and_money():
    """Written from the specification's tables: placing, replacing and cancelling orders, and margin accounts."""
    of_orders = {
        method.name
        for method in streams.METHODS
        if {"report", "marginOrderReport", "marginAccountReport"}.intersection(method.notifies)
        and "ubscribe" not in method.name
    }
    assert streams.ACTING == of_orders | {"marginOrdersCancel"}
