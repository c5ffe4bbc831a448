"""Margin accounts and positions: asked for once, sent once, and what became of a lost answer is read, never guessed."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, transaction

from desk import clock
from desk.models import AuditEvent
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.policy import freezes
from exchange_ops.positions import room, states, workflow
from exchange_ops.positions.models import MarginAction

pytestmark = pytest.mark.engine("money: the walk of a margin action")


# Collateral -----------------------------------------------------------------------------------------------------------


def test_an_account_is_opened_changed_and_closed(margin_desk):
    row = margin_desk.done(states.OPEN, amount=Decimal("1"))
    assert margin_desk.calls(row) == ["accepted"]
    assert margin_desk.events(row) == ["asked", "claimed", "accepted", "seen"]
    assert margin_desk.balance() == Decimal("1")
    margin_desk.dealing.read()
    margin_desk.done(states.SET, amount=Decimal("0.75"))
    assert margin_desk.balance() == Decimal("0.75")
    margin_desk.dealing.read()
    margin_desk.done(states.CLOSE_ACCOUNT)
    assert margin_desk.balance() is None


def test_a_second_press_is_the_same_action_and_other_content_is_refused(margin_desk):
    first = margin_desk.ask(states.OPEN, amount=Decimal("1"), key="twice")
    assert margin_desk.ask(states.OPEN, amount=Decimal("1"), key="twice").pk == first.pk
    with pytest.raises(workflow.CannotAct) as refused:
        margin_desk.ask(states.OPEN, amount=Decimal("2"), key="twice")
    assert first.reference in str(refused.value)
    with pytest.raises(workflow.CannotAct, match="in progress"):
        margin_desk.ask(states.OPEN, amount=Decimal("1"))
    assert MarginAction.objects.count() == 1


@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
def test_a_lost_answer_is_found_out_and_never_sent_again(margin_desk, kind):
    margin_desk.dealing.fault("set_margin_account", kind)
    row = margin_desk.step(margin_desk.ask(states.OPEN, amount=Decimal("1")))
    assert row.state == states.UNKNOWN
    row = margin_desk.found_out(row)
    happened = kind == "drop_after"
    assert row.state == (states.DONE if happened else states.NOT_DONE)
    assert (margin_desk.balance() is not None) == happened
    assert margin_desk.dealing.sent("set_margin_account") == 1


def test_nothing_is_concluded_from_one_look(margin_desk):
    margin_desk.dealing.fault("set_margin_account", "drop_before")
    row = margin_desk.step(margin_desk.ask(states.OPEN, amount=Decimal("1")))
    for _ in range(4):
        row = margin_desk.step(row)
    assert row.state == states.UNKNOWN, "a minute has to pass as well"


def test_what_the_exchange_refuses_ends_refused(margin_desk):
    margin_desk.dealing.fault("set_margin_account", "refuse", code=20001)
    row = margin_desk.step(margin_desk.ask(states.OPEN, amount=Decimal("1")))
    assert row.state == states.REFUSED
    assert margin_desk.calls(row) == ["refused"]


def test_what_changed_otherwise_is_for_a_person(margin_desk):
    margin_desk.has_account("1")
    margin_desk.dealing.fault("set_margin_account", "drop_before")
    row = margin_desk.step(margin_desk.ask(states.SET, amount=Decimal("0.5")))
    margin_desk.exchange().set_margin_account(symbol="ETHBTC", margin_balance=Decimal("0.8"))
    row = margin_desk.found_out(row)
    assert row.state == states.UNCLEAR
    row = workflow.settle(
        action_id=row.pk, person=margin_desk.dealing.operator, note="Somebody set it to 0.8.", now=clock.now()
    )
    assert row.state == states.SETTLED


def test_collateral_has_its_bounds(margin_desk):
    margin_desk.has_position(quantity="2")
    held, position = MarginAccount.objects.get(), MarginPosition.objects.get()
    least = held.margin_balance_required - min(position.pnl, Decimal(0))
    with pytest.raises(workflow.CannotAct, match="Minimum collateral"):
        margin_desk.ask(states.SET, amount=least / 2)
    with pytest.raises(workflow.CannotAct, match="Insufficient balance"):
        margin_desk.ask(states.SET, amount=Decimal(10**9))
    with pytest.raises(workflow.CannotAct, match="current collateral"):
        margin_desk.ask(states.SET, amount=held.margin_balance)
    with pytest.raises(workflow.CannotAct, match="already has a margin account"):
        margin_desk.ask(states.OPEN, amount=Decimal(1))


# Closing --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["buy", "sell"])
def test_a_position_is_closed_at_the_market_and_its_account_stays(margin_desk, side):
    margin_desk.has_position(side)
    margin_desk.read_book()
    row = margin_desk.ask(states.CLOSE, order_type=states.MARKET)
    assert (row.side, row.quantity) == ("sell" if side == "buy" else "buy", Decimal(2))
    assert {"average", "fee", "pnl"} <= set(row.confirmed["estimate"])
    row = margin_desk.step(row)
    assert row.state == states.DONE
    assert margin_desk.position() is None
    assert margin_desk.balance() is not None


def test_a_part_is_closed_by_an_order_of_the_other_side(margin_desk):
    margin_desk.has_position()
    row = margin_desk.done(states.REDUCE, quantity=Decimal("0.5"), order_type=states.MARKET)
    assert margin_desk.position().quantity == Decimal("1.5")
    assert row.exchange_order_id is not None


def test_a_part_whose_answer_is_lost_is_found_by_its_order(margin_desk):
    margin_desk.has_position()
    margin_desk.dealing.fault("create_margin_order", "drop_after")
    row = margin_desk.step(margin_desk.ask(states.REDUCE, quantity=Decimal("0.5"), order_type=states.MARKET))
    assert row.state == states.UNKNOWN
    row = margin_desk.found_out(row)
    assert row.state == states.DONE, row.last_problem
    assert margin_desk.position().quantity == Decimal("1.5")
    assert margin_desk.dealing.sent("create_margin_order") == 2, "the one that opened it, and this one"


@pytest.mark.parametrize("kind", ["", "drop_after", "drop_before"])
def test_a_close_at_a_limit_rests_in_the_book(margin_desk, kind):
    margin_desk.has_position()
    if kind:
        margin_desk.dealing.fault("close_margin_position", kind)
    far = MarginPosition.objects.get().price_entry.quantize(Decimal("0.000001")) * 2
    row = margin_desk.step(margin_desk.ask(states.CLOSE, order_type=states.LIMIT, price=far))
    row = margin_desk.found_out(row)
    assert row.state == (states.NOT_DONE if kind == "drop_before" else states.DONE), row.last_problem
    resting = margin_desk.exchange().get_margin_orders(symbol="ETHBTC").records
    assert [one.id for one in resting] == ([] if kind == "drop_before" else [row.exchange_order_id])
    assert margin_desk.position().quantity == Decimal(2)


def test_an_account_with_a_position_is_closed_with_it(margin_desk):
    margin_desk.has_position()
    row = margin_desk.ask(states.CLOSE_ACCOUNT)
    assert (row.side, row.quantity) == ("sell", Decimal(2))
    row = margin_desk.step(row)
    assert row.state == states.DONE
    assert (margin_desk.position(), margin_desk.balance()) == (None, None)


def test_a_position_that_is_another_one_by_now_is_not_closed(margin_desk):
    margin_desk.has_position()
    row = margin_desk.ask(states.CLOSE, order_type=states.MARKET)
    margin_desk.trade("buy", "1")
    row = margin_desk.step(row)
    assert row.state == states.NOT_SENT
    assert "changed from 2 to 3" in row.last_problem
    assert margin_desk.dealing.sent("close_margin_position") == 0


def test_parts_have_their_bounds(margin_desk):
    margin_desk.has_position()
    for quantity, words in (("2", "choose Whole position"), ("0.00001", "multiple"), ("5", "choose Whole position")):
        with pytest.raises(workflow.CannotAct, match=words):
            margin_desk.ask(states.REDUCE, quantity=Decimal(quantity), order_type=states.MARKET)
    with pytest.raises(workflow.CannotAct, match="tick size"):
        margin_desk.ask(states.CLOSE, order_type=states.LIMIT, price=Decimal("0.0500001"))


def test_all_positions_that_were_seen_are_closed_and_no_other(margin_desk):
    margin_desk.has_position()
    held = MarginPosition.objects.get()
    seen = [(held.symbol, held.exchange_id, held.quantity)]
    close = {"initiator": margin_desk.dealing.operator, "account": margin_desk.account, "now": clock.now()}
    with pytest.raises(workflow.CannotAct, match="changed after"):
        workflow.close_all(positions=[(held.symbol, held.exchange_id, Decimal(1))], request_key="a", **close)
    with pytest.raises(workflow.NotConfirmed, match="ETHBTC: Policy allows at most"):
        workflow.close_all(positions=seen, request_key="b", confirmed={"BTCUSD": ["book_deep:unknown"]}, **close)
    rows = workflow.close_all(positions=seen, request_key="b", confirmed={"ETHBTC": ["book_deep:unknown"]}, **close)
    assert [one.pk for one in workflow.close_all(positions=seen, request_key="b", **close)] == [one.pk for one in rows]
    assert margin_desk.step(rows[0]).state == states.DONE
    assert margin_desk.position() is None


# Who and when ---------------------------------------------------------------------------------------------------------


def test_a_freeze_stops_what_is_asked_and_what_waits(margin_desk):
    waiting = margin_desk.ask(states.OPEN, amount=Decimal(1))
    freezes.freeze(person=None, reason="A test.", account=margin_desk.account, now=clock.now())
    assert margin_desk.step(waiting).state == states.NOT_SENT
    with pytest.raises(workflow.CannotAct, match="frozen"):
        margin_desk.ask(states.OPEN, amount=Decimal(1))
    assert margin_desk.dealing.sent("set_margin_account") == 0


def test_only_operators_act(margin_desk, treasury):
    margin_desk.dealing.operator = treasury
    with pytest.raises(workflow.CannotAct, match="Only operators"):
        margin_desk.ask(states.OPEN, amount=Decimal(1))


def test_what_waited_for_a_minute_is_not_sent(margin_desk):
    row = margin_desk.step(margin_desk.ask(states.OPEN, amount=Decimal(1)), later=timedelta(seconds=61))
    assert row.state == states.NOT_SENT
    assert margin_desk.dealing.sent("set_margin_account") == 0


def test_the_trail_tells_the_same_and_the_database_keeps_it(margin_desk):
    row = margin_desk.done(states.OPEN, amount=Decimal(1))
    events = AuditEvent.objects.filter(subject__startswith="marginaction:").order_by("seq")
    assert list(room.REPLAY.check(iter(events))) == []
    for columns in ({"state": "requested"}, {"sends": 0}, {"amount": Decimal(5)}):
        with pytest.raises(DatabaseError), transaction.atomic():
            MarginAction.objects.filter(pk=row.pk).update(**columns)
