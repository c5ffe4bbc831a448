"""Placing and cancelling: once, whatever happens to the answer; and what is asked for is checked before."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction

from desk import clock
from desk.models import AuditEvent
from exchange_ops.orders import machine, room, states, workflow
from exchange_ops.orders.models import Order, OrderEvent
from exchange_ops.policy import freezes
from tests.exchange_ops.withdrawals.test_concurrency import at_once

pytestmark = pytest.mark.engine("money: the walk of an order")
MINUTE = timedelta(seconds=61)


def events(row):
    return list(OrderEvent.objects.filter(order=row, version__isnull=False).values_list("event", flat=True))


# Placing --------------------------------------------------------------------------------------------------------------


def test_an_order_is_placed_once_and_stands_open(dealing):
    row = dealing.placed()
    assert (row.status, row.active, row.cum_quantity) == ("new", True, 0)
    assert dealing.calls(row) == [("place", "accepted")]
    assert dealing.sent() == 1
    assert events(row) == ["asked", "claimed", "accepted"]
    assert not workflow.advance(row.pk, now=clock.now(), client_for=dealing.client_for)
    assert dealing.sent() == 1


def test_a_market_order_shows_its_trades_at_once(dealing):
    row = dealing.placed(type="market", time_in_force="IOC", price=None)
    assert (row.status, row.active) == ("filled", False)
    found = dealing.trades(row)
    assert found
    assert sum(trade.quantity for trade in found) == row.cum_quantity == Decimal("0.5")
    assert all(trade.taker and trade.fee > 0 for trade in found)
    worth = sum(trade.quantity * trade.price for trade in found)
    assert abs(dealing.fresh(row).average_price * Decimal("0.5") - worth) < Decimal("0.000000001")
    before = len(found)
    dealing.read()
    assert len(dealing.trades(row)) == before


def test_the_same_request_is_one_order_and_other_content_under_its_key_is_refused(dealing):
    first = dealing.place(request_key="twice")
    assert dealing.place(request_key="twice").pk == first.pk
    with pytest.raises(workflow.CannotPlace) as refused:
        dealing.place(request_key="twice", quantity=Decimal("0.6"))
    assert first.reference in refused.value.problems["__all__"]
    assert Order.objects.count() == 1


def test_what_the_exchange_refuses_ends_refused_with_its_words(dealing):
    dealing.fault("create_order", "refuse", code=20001)
    row = dealing.step(dealing.place())
    assert (row.state, row.active, row.exchange_id) == ("refused", False, None)
    assert "20001" in row.last_problem or "funds" in row.last_problem
    assert dealing.calls(row) == [("place", "refused")]


def test_an_order_that_waited_too_long_is_not_sent(dealing):
    row = dealing.step(dealing.place(now=clock.now() - MINUTE))
    assert row.state == "not_sent"
    assert "within a minute" in row.last_problem
    assert dealing.sent() == 0


def test_a_freeze_stops_placing_and_not_cancelling(dealing, treasury):
    open_row, waiting = dealing.placed(), dealing.place()
    freezes.freeze(person=None, reason="A test.", account=dealing.account, now=clock.now())
    with pytest.raises(workflow.CannotPlace) as refused:
        dealing.place()
    assert "frozen" in refused.value.problems["__all__"]
    assert dealing.step(waiting).state == "not_sent"
    assert dealing.sent() == 1
    dealing.ask_to_cancel(open_row)
    assert dealing.step(open_row).status == "canceled"


def test_only_operators_place_and_cancel(dealing, auditor):
    row = dealing.placed()
    dealing.operator = auditor
    with pytest.raises(workflow.CannotPlace):
        dealing.place()
    with pytest.raises(workflow.CannotCancel):
        dealing.ask_to_cancel(row)
    with pytest.raises(workflow.CannotCancel):
        workflow.cancel_all(account=dealing.account, symbol="", newest=row.pk, person=auditor, now=clock.now())
    assert dealing.fresh(row).state == "placed"


@pytest.mark.parametrize(
    ("changes", "field", "words"),
    [
        ({"symbol": "NOSUCH"}, "symbol", "does not list"),
        ({"quantity": Decimal("0.50001")}, "quantity", "multiple of 0.0001"),
        ({"quantity": Decimal("0.00001")}, "quantity", "at least 0.0001"),
        ({"quantity": Decimal(0)}, "quantity", "greater than zero"),
        ({"quantity": Decimal("1e35"), "price": Decimal("1e35")}, "quantity", "cost is too large"),
        ({"quantity": Decimal("1000000"), "price": Decimal("1")}, "quantity", "required, including fees"),
        ({"side": "sell", "quantity": Decimal("1000000")}, "quantity", "ETH required"),
        ({"price": Decimal("0.0000015")}, "price", "multiple of 0.000001"),
        ({"price": None}, "price", "Enter a price"),
        ({"type": "market", "time_in_force": "IOC"}, "price", "Leave the price empty"),
        ({"type": "market", "price": None}, "time_in_force", "IOC or FOK"),
        ({"type": "stopLimit"}, "stop_price", "Enter a stop price"),
        ({"stop_price": Decimal("0.01")}, "stop_price", "only stop orders"),
        ({"time_in_force": "GTD"}, "expire_time", "Enter an expiry date"),
        ({"expire_time": clock.now() + MINUTE}, "expire_time", "only GTD orders"),
        ({"time_in_force": "GTD", "expire_time": clock.now() - MINUTE}, "expire_time", "has already passed"),
        ({"post_only": True, "time_in_force": "FOK"}, "post_only", "can't be post-only"),
        ({"side": "hold"}, "side", "side"),
        ({"type": "iceberg"}, "type", "type"),
        ({"time_in_force": "soon"}, "time_in_force", "timeInForce"),
    ],
)
def test_what_breaks_the_rules_is_told_beside_its_field_and_leaves_nothing(dealing, changes, field, words):
    with pytest.raises(workflow.CannotPlace) as refused:
        dealing.place(**changes)
    assert words in refused.value.problems[field], refused.value.problems
    assert not Order.objects.exists()


# Lost answers ---------------------------------------------------------------------------------------------------------


def test_an_order_that_was_executed_though_its_answer_was_lost_is_found_and_sent_once(dealing):
    row = dealing.unknown("drop_after")
    assert row.is_open
    row = dealing.step(row)
    assert (row.state, row.status, row.active) == ("found", "new", True)
    assert dealing.sent() == 1
    assert dealing.calls(row) == [("place", "unknown")]


def test_an_order_that_never_arrived_is_looked_for_a_minute_and_never_sent_again(dealing):
    row = dealing.unknown("drop_before")
    for _ in range(3):
        row = dealing.step(row)
        assert row.state == "unknown"
    row = dealing.step(row, later=MINUTE)
    assert (row.state, row.exchange_id, row.next_action_at) == ("not_seen", None, None)
    assert dealing.sent() == 1
    assert "will not be sent again" in row.sentence


def test_an_order_that_appears_after_all_is_shown(dealing):
    row = dealing.unknown("drop_before")
    for later in (0, 0, 62):
        row = dealing.step(row, later=timedelta(seconds=later))
    assert row.state == "not_seen"
    dealing.elsewhere(client_order_id=row.client_order_id, quantity=row.quantity)
    dealing.read()
    row = dealing.fresh(row)
    assert (row.state, row.active) == ("found", True)
    assert Order.objects.count() == 1


def test_a_look_that_fails_does_not_count(dealing):
    row = dealing.unknown("drop_before")
    dealing.fault("get_order", "status", times=20, status=503)
    for _ in range(4):
        row = dealing.step(row, later=MINUTE)
    assert (row.state, row.looks) == ("unknown", 0)
    assert "could not be sent" in row.last_problem


class WorkerDied(BaseException):
    """No handler of errors may swallow it."""


@pytest.mark.parametrize(("when", "placed"), [("before", False), ("after", True)])
def test_a_worker_that_dies_with_the_order_in_its_hands_leaves_it_to_be_looked_for(dealing, when, placed):
    living = dealing.client_for

    def dying(account, right):
        client = living(account, right)
        send = client.create_order

        def create_order(**arguments):
            if when == "after":
                send(**arguments)
            raise WorkerDied

        client.create_order = create_order
        return client

    row = dealing.place()
    dealing.client_for = dying
    with pytest.raises(WorkerDied):
        dealing.step(row)
    dealing.client_for = living
    row = dealing.fresh(row)
    assert (row.state, row.sends) == ("sending", 1)
    assert dealing.step(row, lease_over=False).state == "sending"
    assert dealing.step(row).state == "unknown"
    row = dealing.step(row)
    assert row.state == ("found" if placed else "unknown")
    assert dealing.sent() == (1 if placed else 0)


def test_a_second_worker_finds_nothing_to_send(dealing):
    row = dealing.place()
    rival = dealing.fresh(row)
    dealing.step(row)
    from exchange_ops.orders import sending

    with pytest.raises(machine.CannotMove):
        machine.move(rival, event="claimed", to="sending", now=clock.now(), sends=1)
    with pytest.raises(machine.CannotMove):
        sending.step(rival, now=clock.now(), client_for=dealing.client_for)
    assert dealing.sent() == 1


# Cancelling -----------------------------------------------------------------------------------------------------------


def test_a_cancel_ends_the_order_and_keeps_who_asked(dealing):
    row = dealing.placed()
    dealing.ask_to_cancel(row)
    row = dealing.step(row)
    assert (row.state, row.status, row.active) == ("placed", "canceled", False)
    assert dealing.calls(row) == [("place", "accepted"), ("cancel", "accepted")]
    cancel_event = OrderEvent.objects.get(order=row, event="cancel_asked")
    assert cancel_event.actor == dealing.operator
    with pytest.raises(workflow.CannotCancel, match="canceled"):
        dealing.ask_to_cancel(row)


@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
def test_a_cancel_whose_answer_was_lost_is_repeated_until_the_order_is_over(dealing, kind):
    row = dealing.placed()
    dealing.fault("cancel_order", kind)
    dealing.ask_to_cancel(row)
    row = dealing.step(row)
    assert row.state == "cancelling"
    row = dealing.step(row)
    assert (row.state, row.status, row.active) == ("placed", "canceled", False)
    assert dealing.sent("cancel_order") == (2 if kind == "drop_before" else 1)


def test_a_cancel_that_comes_too_late_shows_that_the_order_was_filled(dealing):
    price = dealing.best_bid()
    row = dealing.placed(price=price)
    dealing.ask_to_cancel(row)
    dealing.elsewhere("other-full", side="sell", quantity=Decimal("0.5"), price=price)
    for _ in range(3):
        row = dealing.step(row)
    assert (row.state, row.status, row.cum_quantity) == ("placed", "filled", Decimal("0.5"))


def test_a_cancel_that_the_exchange_refuses_says_so_and_the_order_stays(dealing):
    row = dealing.placed()
    dealing.fault("cancel_order", "refuse", code=1003)
    dealing.ask_to_cancel(row)
    row = dealing.step(row)
    assert (row.state, row.active) == ("placed", True)
    assert row.last_problem.startswith("Not cancelled:")


def test_cancel_all_takes_what_was_seen_and_nothing_newer(dealing):
    mine, other = dealing.placed(), dealing.placed(symbol="BTCUSD", price=Decimal("0.01"), quantity=Decimal("0.001"))
    newer = dealing.placed()
    count = workflow.cancel_all(
        account=dealing.account, symbol="", newest=other.pk, person=dealing.operator, now=clock.now()
    )
    assert count == 2
    workflow.sweep(now=clock.now(), client_for=dealing.client_for)
    assert [dealing.fresh(row).status for row in (mine, other, newer)] == ["canceled", "canceled", "new"]
    assert not workflow.cancel_all(
        account=dealing.account, symbol="BTCUSD", newest=newer.pk, person=dealing.operator, now=clock.now()
    )


# The rows themselves --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"state": "placed"},
        {"version": 7},
        {"quantity": Decimal(9)},
        {"client_order_id": "another"},
        {"sends": 2},
        {"exchange_id": 5},
    ],
)
def test_the_database_refuses_a_change_past_the_mover(dealing, change):
    row = dealing.placed()
    if change == {"state": "placed"}:
        change = {"state": "refused"}
    with pytest.raises(DatabaseError), transaction.atomic():
        Order.objects.filter(pk=row.pk).update(**change)
    with pytest.raises(DatabaseError), transaction.atomic():
        OrderEvent.objects.filter(order=row).update(event="asked")
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("DELETE FROM exchange_ops_orderevent")


def test_every_state_can_be_reached_and_says_whose_turn_it_is():
    sources = {move.source for move in states.TRANSITIONS}
    targets = {move.target for move in states.TRANSITIONS}
    assert targets == set(states.STATES)
    assert sources - {""} <= set(states.STATES)
    assert [move.source for move in states.TRANSITIONS if move.target == "requested"] == ["", "waiting", ""]
    assert [move.source for move in states.TRANSITIONS if move.target == "sending"] == ["requested"]


def test_the_trail_replays_to_the_rows(dealing):
    dealing.ask_to_cancel(dealing.placed())
    dealing.elsewhere()
    dealing.read()
    foreign = Order.objects.get(initiator=None)
    dealing.ask_to_cancel(foreign)
    assert dealing.step(foreign).status == "canceled"
    trail = AuditEvent.objects.filter(subject__startswith="order:").order_by("seq")
    assert list(room.REPLAY.check(iter(trail))) == []
    assert list(room.REPLAY.check(iter(trail[1:])))


def test_two_workers_and_two_clicks_at_once_are_one_order_and_one_call(dealing):
    def click():
        return dealing.place(request_key="one click too many").pk

    first, second = at_once(click, click)
    assert first == second
    row = Order.objects.get()

    def work():
        return workflow.advance(row.pk, now=clock.now(), client_for=dealing.client_for)

    at_once(work, work, work)
    row = dealing.fresh(row)
    assert (row.state, row.sends) == ("placed", 1)
    assert dealing.sent() == 1
    assert dealing.calls(row) == [("place", "accepted")]


def test_a_cancel_and_a_freeze_at_once_leave_nothing_half_done(dealing):
    row, waiting = dealing.placed(), dealing.place()

    def stop():
        freezes.freeze(person=None, reason="At once.", account=dealing.account, now=clock.now())

    def work():
        workflow.advance(waiting.pk, now=clock.now(), client_for=dealing.client_for)

    at_once(stop, work, lambda: dealing.ask_to_cancel(row))
    assert dealing.step(row).status == "canceled"
    # A worker that finds the freeze once it has the lock leaves the order to the next sweep, which stops it.
    waiting = dealing.step(waiting)
    assert (waiting.state, dealing.sent()) in {("placed", 2), ("not_sent", 1)}
