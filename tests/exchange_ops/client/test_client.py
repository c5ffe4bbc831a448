"""The client against the sandbox over real HTTP: what leaves, what comes back, and what can't leave at all."""

from decimal import Decimal

import pytest

from exchange_ops.client import UnknownOperation, WouldPayAtOnce
from exchange_ops.client.core import refuse_to_pay_at_once
from exchange_ops.wire import catalogue
from exchange_ops.wire.new_orders import NewOrder
from wire import operation
from wire.errors import BadReply, OutcomeUnknown, Refused, Unreachable

ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
HOLD = {"currency": "BTC", "amount": Decimal("0.25"), "address": ADDRESS}


def calls(sandbox, name):
    return sandbox.control(f"calls?operation={name}")["calls"]


def test_a_withdrawal_leaves_as_a_hold_that_pays_nobody(sandbox, client_as):
    client = client_as("demo-withdraw")
    exchange_id = client.create_withdrawal(**HOLD, public_comment="tx-1")
    (call,) = calls(sandbox, "create_withdrawal")
    assert call["form"] == {
        "currency": "BTC",
        "amount": "0.25",
        "address": ADDRESS,
        "includeFee": "false",
        "autoCommit": "false",
        "publicComment": "tx-1",
    }
    held = client.get_transaction(exchange_id=exchange_id)
    assert (held.status, held.amount, held.public_comment) == ("created", Decimal("0.25"), "tx-1")


@pytest.mark.parametrize("changes", [{}, {"autoCommit": True}, {"autoCommit": None}])
def test_no_call_can_ask_for_a_payment_at_once(sandbox, client_as, changes):
    with pytest.raises(WouldPayAtOnce, match="not sent"):
        client_as("demo-withdraw").call("create_withdrawal", **HOLD, **changes)
    assert calls(sandbox, "create_withdrawal") == []


def test_the_bytes_are_judged_and_not_the_arguments():
    row = catalogue.by_name["create_withdrawal"]
    sound = operation.bind(row, {**HOLD, "autoCommit": False})
    refuse_to_pay_at_once(sound)
    for form in (
        [(name, text) for name, text in sound.form if name != "autoCommit"],
        [*sound.form, ("autoCommit", "true")],
        [*sound.form, ("autoCommit", "false")],
        [("autoCommit", "False") if name == "autoCommit" else (name, text) for name, text in sound.form],
    ):
        with pytest.raises(WouldPayAtOnce):
            refuse_to_pay_at_once(operation.Request(row, sound.method, sound.path, sound.query, tuple(form)))


def test_a_hostile_address_cannot_smuggle_the_flag(sandbox, client_as):
    client = client_as("demo-withdraw")
    hostile = ADDRESS + "&autoCommit=true"
    held = client.create_withdrawal(currency="BTC", amount=Decimal("0.25"), address=hostile)
    record = client.get_transaction(exchange_id=held)
    assert (record.status, record.address) == ("created", hostile)


def test_commit_and_rollback_are_answered_and_may_be_repeated(client_as):
    client = client_as("demo-withdraw")
    paid, released = client.create_withdrawal(**HOLD), client.create_withdrawal(**HOLD, include_fee=True)
    assert [client.commit_withdrawal(exchange_id=paid) for _ in range(2)] == [True, True]
    assert [client.rollback_withdrawal(exchange_id=released) for _ in range(2)] == [True, True]
    assert client.get_transaction(exchange_id=released).status == "failed"


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "drop_after"},
        {"kind": "drop_before"},
        {"kind": "html"},
        {"kind": "cut_body"},
        {"kind": "redirect"},
        {"kind": "status", "status": 503},
        {"kind": "echo_differs", "field": "id", "absent": True},
        {"kind": "echo_differs", "field": "id", "value": 7},
        {"kind": "echo_differs", "field": "id", "value": ""},
    ],
)
def test_whatever_is_not_the_documented_answer_to_money_is_unknown(sandbox, client_as, fault):
    sandbox.control("faults", {"operation": "create_withdrawal", "times": 1, **fault})
    with pytest.raises(OutcomeUnknown):
        client_as("demo-withdraw").create_withdrawal(**HOLD)
    assert len(calls(sandbox, "create_withdrawal")) == 1


def test_a_refusal_of_money_is_a_refusal(client_as):
    with pytest.raises(Refused) as refused:
        client_as("demo-withdraw").create_withdrawal(currency="BTC", amount=Decimal(10**6), address=ADDRESS)
    assert refused.value.code == 20001


def test_every_answer_tells_the_time_and_a_key_that_is_turned_down_is_heard(client_as):
    dates, refusals = [], []
    client = client_as("demo-read", date_seen=dates.append, rejected=refusals.append)
    client.get_balances()
    with pytest.raises(Refused):
        client.create_withdrawal(**HOLD)
    with pytest.raises(Refused):
        client.get_transaction(exchange_id="nothing")
    assert [refusal.code for refusal in refusals] == [1003]
    assert len(dates) == 3
    assert all(date.utcoffset() is not None for date in dates)


def test_reads_give_typed_answers(client_as):
    client = client_as()
    assert client.estimate_withdrawal(currency="BTC", amount=Decimal(1)) > 0
    own = client.call("get_deposit_address", currency="BTC").address
    assert client.is_own_address(address=own) is True
    assert client.is_own_address(address=ADDRESS) is False
    assert {record.id for record in client.get_currencies().records} >= {"BTC", "ETH", "BCH", "USD"}
    assert client.get_symbols().asides == ()
    assert all(ticker.last for ticker in client.get_tickers().records if ticker.symbol == "BTCUSD")
    assert client.get_trading_balances().records
    assert isinstance(client.get_used_addresses(currency="BTC"), list)


def test_one_bad_record_does_not_hide_the_others(sandbox, client_as):
    sandbox.control(
        "faults",
        {"operation": "get_balances", "kind": "echo_differs", "field": "available", "value": "NaN", "times": 1},
    )
    listing = client_as().get_balances()
    assert len(listing.asides) >= 1
    assert all(aside.reason for aside in listing.asides)


def test_a_body_that_is_no_list_is_a_bad_reply(sandbox, client_as):
    sandbox.control("faults", {"operation": "get_balances", "kind": "html", "times": 1})
    with pytest.raises(BadReply):
        client_as().get_balances()


def test_what_is_not_in_the_catalogue_or_no_list_is_refused_here(client_as):
    client = client_as()
    with pytest.raises(UnknownOperation):
        client.call("withdraw_everything")
    with pytest.raises(UnknownOperation):
        client.listing("get_transaction", id="x")
    with pytest.raises(UnknownOperation):
        client.listing("cancel_orders")


def test_an_exchange_that_is_away_is_unreachable(sandbox, client_as):
    client = client_as(deadline_s=2)
    sandbox.stop()
    with pytest.raises(Unreachable):
        client.get_balances()
    with pytest.raises(Unreachable):
        client.create_withdrawal(**HOLD)


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_the_client_speaks_with_either_dialect(sandbox, client_as, dialect):
    """Where live servers differ from the specification the same calls are answered (supplement 6)."""
    sandbox.control("config", {"dialect": dialect})
    client = client_as("demo-full")
    order = NewOrder(
        client_order_id="either-1", symbol="ETHBTC", side="buy", quantity=Decimal("0.063"), price=Decimal("0.001")
    )
    placed = client.put_order(order=order)
    assert (placed.client_order_id, placed.time_in_force) == ("either-1", "GTC")
    assert client.get_order(client_order_id="either-1").id == placed.id
    assert client.cancel_order(client_order_id="either-1").status == "canceled"
    exchange_id = client.create_withdrawal(**HOLD)
    client.commit_withdrawal(exchange_id=exchange_id)
    assert client.get_transaction(exchange_id=exchange_id).status == "created"
    assert exchange_id in {record.id for record in client.call("get_transactions", limit=1_000)}
