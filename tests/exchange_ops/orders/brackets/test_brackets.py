"""A bracket in front of the sandbox: what is entered is guarded at the exchange, and closed once, whatever fails."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.restores import signs
from desk.restores import states as restores
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import room
from exchange_ops.orders.brackets import situation, workflow
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import FeeRates, Order
from exchange_ops.orders.request_checks import CannotPlace
from exchange_ops.shared import heartbeats
from tests.exchange_ops import rows
from tests.exchange_ops.orders.brackets.bracketing import TICK

pytestmark = pytest.mark.engine("money: the walk of a bracket")
HALF = Decimal("0.5")
HOUR = timedelta(hours=1)


def test_what_the_entry_fills_gets_a_stop_at_the_exchange(bracketing):
    row = bracketing.ask()
    assert (row.state, row.legs.count()) == ("entering", 0)
    bracketing.dealing.step(row.entry)
    assert bracketing.turn(row, 1).legs.count() == 0, "nothing is filled, so nothing is to be guarded"
    bracketing.fill(row.entry)
    row = bracketing.turn(row)
    assert row.state == "guarded"
    (stop,) = bracketing.at_exchange()
    assert (stop.type, stop.side, stop.status, stop.quantity, stop.stop_price) == (
        "stopMarket", "sell", "suspended", HALF, row.stop_price,
    )  # fmt: skip
    assert bracketing.events(row) == ["asked", "entered"]
    assert [leg.order.initiated_via for leg in row.legs.all()] == ["bracket"]
    bracketing.turn(row, 3)
    assert len(bracketing.at_exchange()) == 1, "looked at again and again, it places nothing more"


def test_a_fee_in_what_was_bought_is_left_out_of_what_is_guarded_by_the_higher_rate(bracketing):
    row = bracketing.entered()
    symbol = Symbol.objects.get(pk=row.symbol)
    Symbol.objects.filter(pk=symbol.pk).update(fee_currency=symbol.base_currency, take_liquidity_rate=Decimal("0.001"))
    assert situation.current(row, now=clock.now()).entry.filled == HALF * Decimal("0.999")
    own = {"take_liquidity_rate": Decimal("0.004"), "provide_liquidity_rate": Decimal("0.004")}
    rates = FeeRates.objects.create(
        account=row.account, symbol=row.symbol, read_at=clock.now(), requested_at=clock.now(), **own
    )
    assert situation.current(row, now=clock.now()).entry.filled == HALF * Decimal("0.996")
    FeeRates.objects.filter(pk=rates.pk).update(take_liquidity_rate=Decimal("0.0005"))
    assert situation.current(row, now=clock.now()).entry.filled == HALF * Decimal("0.999")


def test_every_part_that_is_filled_is_guarded_while_the_entry_is_open(bracketing):
    row = bracketing.ask()
    bracketing.dealing.step(row.entry)
    bracketing.fill(row.entry, Decimal("0.2"))
    row = bracketing.turn(row)
    assert (row.state, [leg.order.quantity for leg in row.legs.all()]) == ("entering", [Decimal("0.2")])
    bracketing.fill(row.entry, Decimal("0.3"))
    row = bracketing.turn(row)
    assert (row.state, [leg.order.quantity for leg in row.legs.all()]) == ("guarded", [Decimal("0.2"), Decimal("0.3")])


def test_the_stop_closes_it_at_the_exchange_and_the_bracket_says_so(bracketing):
    row = bracketing.entered()
    bracketing.trade_at(row.stop_price)
    row = bracketing.turn(row)
    assert (row.state, row.outcome) == ("closed", "stop"), row.last_problem
    assert bracketing.at_exchange() == []


@pytest.mark.parametrize(
    ("side", "price", "is_reached"),
    [
        ("buy", "0.0519", False),
        ("buy", "0.0520", True),
        ("buy", "0.0521", True),
        ("sell", "0.0521", False),
        ("sell", "0.0520", True),
        ("sell", "0.0519", True),
        ("buy", None, False),
    ],
)
def test_a_take_profit_is_reached_on_the_side_of_the_profit(side, price, is_reached):
    row = Bracket(side=side, take_price=Decimal("0.0520"))
    assert situation.is_reached(row, price=None if price is None else Decimal(price)) is is_reached


def test_a_take_profit_out_of_reach_leaves_the_stop(bracketing):
    row = bracketing.entered()
    bracketing.ticker(bid=row.take_price - TICK, ask=row.take_price)
    row = bracketing.turn(row, 3)
    assert (row.state, row.legs.count()) == ("guarded", 1)
    assert [order.type for order in bracketing.at_exchange()] == ["stopMarket"]


def test_the_take_profit_cancels_the_stop_first_and_closes_at_its_price(bracketing):
    row = bracketing.entered()
    bracketing.other("buy", HALF, row.take_price)
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    row = bracketing.look(row)
    assert row.state == "taking"
    stop = row.legs.get(role="stop").order
    assert stop.state == "cancelling"
    assert row.legs.count() == 1, "nothing is offered before the stop is known to be over"
    row = bracketing.turn(row)
    assert (row.state, row.outcome) == ("closed", "take"), row.last_problem
    take = row.legs.get(role="take").order
    assert (take.type, take.time_in_force, take.price, take.cum_quantity) == ("limit", "IOC", row.take_price, HALF)
    assert bracketing.at_exchange() == []
    assert bracketing.events(row) == ["asked", "entered", "take_reached", "closed"]


def test_what_the_book_does_not_take_gets_its_stop_back(bracketing):
    row = bracketing.entered()
    bracketing.other("buy", Decimal("0.2"), row.take_price)
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    row = bracketing.turn(row)
    assert row.state == "guarded", row.last_problem
    assert bracketing.events(row)[2:] == ["take_reached", "take_missed"]
    (stop,) = bracketing.at_exchange()
    assert (stop.type, stop.quantity, stop.stop_price) == ("stopMarket", Decimal("0.3"), row.stop_price)
    bracketing.other("buy", Decimal("0.3"), row.take_price)
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    assert bracketing.turn(row, 1).state == "guarded", "it was tried a moment ago"
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    row = bracketing.turn(row, later=timedelta(seconds=12))
    assert (row.state, row.outcome) == ("closed", "take")


@pytest.mark.parametrize("kind", ["drop_before", "drop_after"])
def test_a_stop_whose_answer_is_lost_is_looked_for_and_never_placed_twice(bracketing, kind):
    row = bracketing.ask()
    bracketing.dealing.step(row.entry)
    bracketing.fill(row.entry)
    bracketing.dealing.read()
    row = bracketing.look(row)
    stop = row.legs.get().order
    bracketing.dealing.fault("create_order", kind)
    assert bracketing.dealing.step(stop).state == "unknown"
    assert bracketing.look(row).legs.count() == 1
    for seconds in (1, 30, 70, 100):
        if bracketing.dealing.fresh(stop).state == "unknown":
            bracketing.dealing.step(stop, later=timedelta(seconds=seconds))
        row = bracketing.look(row)
    assert row.legs.count() == 1
    if kind == "drop_after":
        assert (row.state, bracketing.dealing.fresh(stop).state) == ("guarded", "found")
        return
    assert (row.state, bracketing.dealing.fresh(stop).state) == ("unguarded", "not_seen")
    assert "was not found on the exchange" in row.last_problem
    workflow.place_stop_again(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())
    row = bracketing.look(row)
    assert row.legs.count() == 1, "the exchange's orders are read once more before another one stands beside it"
    assert "will be checked again" in row.last_problem
    row = bracketing.turn(row, later=timedelta(minutes=2))
    assert (row.state, len(bracketing.at_exchange())) == ("guarded", 1)


def test_a_stop_that_the_exchange_refuses_is_said_and_placed_again_only_when_asked(bracketing):
    row = bracketing.ask()
    bracketing.dealing.step(row.entry)
    bracketing.fill(row.entry)
    bracketing.dealing.fault("create_order", "refuse", code=10001)
    row = bracketing.turn(row, 4)
    assert (row.state, row.legs.count()) == ("unguarded", 1)
    assert "was not placed" in row.last_problem
    row = bracketing.turn(row, 2, later=timedelta(minutes=5))
    assert (row.state, row.legs.count()) == ("unguarded", 1)
    workflow.place_stop_again(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())
    assert bracketing.turn(row).state == "guarded"


def test_a_stop_that_somebody_cancels_is_missed_and_not_fought_over(bracketing):
    row = bracketing.entered()
    stop = row.legs.get().order
    bracketing.dealing.client("demo-trade").cancel_order(client_order_id=stop.client_order_id)
    row = bracketing.turn(row, 2)
    assert (row.state, row.legs.count()) == ("unguarded", 1)
    assert "closed before filling completely" in row.last_problem


def test_an_entry_that_ends_unfilled_ends_the_bracket(bracketing):
    row = bracketing.ask()
    bracketing.dealing.step(row.entry)
    bracketing.dealing.ask_to_cancel(bracketing.dealing.fresh(row.entry))
    row = bracketing.turn(row)
    assert (row.state, row.outcome, row.legs.count()) == ("closed", "not_entered", 0)


def test_a_profit_taken_early_cancels_what_is_left_of_the_entry(bracketing):
    row = bracketing.ask()
    bracketing.dealing.step(row.entry)
    bracketing.fill(row.entry, Decimal("0.2"))
    row = bracketing.turn(row)
    bracketing.other("buy", HALF, row.take_price)
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    row = bracketing.turn(row)
    entry = bracketing.dealing.fresh(row.entry)
    assert (row.state, row.outcome, entry.status, entry.cum_quantity) == ("closed", "take", "canceled", Decimal("0.2"))
    assert row.legs.get(role="take").order.quantity == Decimal("0.2")
    assert bracketing.at_exchange() == []


def test_a_person_ends_it_and_what_is_open_is_cancelled(bracketing):
    row = bracketing.entered()
    workflow.end(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())
    row = bracketing.turn(row)
    assert (row.state, row.outcome) == ("closed", "cancelled")
    assert bracketing.at_exchange() == []
    assert row.events.last().evidence == {"left": "0.5"}


def test_let_go_it_leaves_the_stop_where_it_is(bracketing):
    row = bracketing.entered()
    workflow.let_go(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())
    assert (bracketing.fresh(row).outcome, len(bracketing.at_exchange())) == ("let_go", 1)
    with pytest.raises(workflow.CannotEnd, match="current status: ended"):
        workflow.end(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())


def test_a_freeze_places_nothing_more_and_leaves_the_stop_working(bracketing, treasury):
    from exchange_ops.policy import freezes

    row = bracketing.entered()
    freezes.freeze(account=row.account, person=treasury, reason="A phone was lost.", now=clock.now())
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    row = bracketing.look(row)
    assert (row.state, len(bracketing.at_exchange())) == ("guarded", 1)
    assert "frozen" in row.last_problem


def test_an_old_price_takes_nothing(bracketing):
    row = bracketing.entered()
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    row = bracketing.look(row, later=timedelta(seconds=31))
    assert row.state == "guarded"
    assert "No current price" in row.last_problem


def test_a_price_from_before_the_clock_was_set_back_takes_nothing(bracketing):
    row = bracketing.entered()
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    Ticker.objects.update(read_at=clock.now() + HOUR)
    row = bracketing.turn(row, 2)
    assert (row.state, len(bracketing.at_exchange())) == ("guarded", 1), "the stop is where it was"
    assert "No current price" in row.last_problem
    bracketing.ticker(bid=row.take_price, ask=row.take_price + TICK)
    assert bracketing.look(row).state == "taking"


def test_a_reading_from_before_the_clock_was_set_back_proves_nothing_of_a_lost_order(bracketing):
    row, now = bracketing.ask(), clock.now()
    name = heartbeats.orders_of(row.account)
    heartbeats.succeeded(name, now=now + HOUR, account=row.account)
    assert not situation._is_read(row, since=now, now=now)
    heartbeats.succeeded(name, now=now, account=row.account)
    assert situation._is_read(row, since=now, now=now)


def test_a_position_read_before_the_clock_was_set_back_is_not_what_is_held(bracketing):
    row, now = bracketing.ask(), clock.now()
    row.margin = True
    rows.margin_position(now=now + HOUR, symbol=row.symbol)
    assert situation._held(row, row.entry, [], now) is None
    MarginPosition.objects.update(read_at=now + timedelta(seconds=30))
    assert situation._held(row, row.entry, [], now) == 1


def test_a_look_reads_each_order_once(bracketing):
    row = bracketing.entered()
    with CaptureQueriesContext(connection) as taken:
        bracketing.look(row)
    reads = [each["sql"] for each in taken if 'FROM "exchange_ops_order" ' in each["sql"]]
    assert len(reads) == 4, "of the entry and of the stop: the row, and what replaced it"


def test_asked_for_twice_it_is_one_order_and_one_bracket(bracketing):
    price = bracketing.inside()
    first = bracketing.ask(key="once", price=price)
    assert bracketing.ask(key="once", price=price) == first
    with pytest.raises(CannotPlace, match="with different stop and take-profit prices"):
        bracketing.ask(key="once", price=price, exits=bracketing.exits(price, away=TICK))
    assert (Order.objects.count(), Bracket.objects.count()) == (1, 1)


@pytest.mark.parametrize(
    ("stop", "take", "field", "words"),
    [
        ("0.01", "0.02", "take_profit", "The take profit must be above the entry"),
        ("0.05", "0.06", "stop_loss", "The stop must be below the entry"),
        ("0.0100001", "0.06", "stop_loss", "Price must be a multiple of 0.000001"),
        ("0.01", "0", "take_profit", "Too low"),
    ],
)
def test_prices_that_guard_nothing_are_refused_and_nothing_is_placed(bracketing, stop, take, field, words):
    with pytest.raises(CannotPlace) as refused:
        bracketing.ask(price=Decimal("0.03"), exits=workflow.Exits(Decimal(stop), Decimal(take)))
    assert words in refused.value.problems[field]
    assert not Order.objects.exists()


def test_an_open_order_gets_a_bracket_once(bracketing, auditor):
    order = bracketing.dealing.placed(price=bracketing.inside())
    wish = {"order_id": order.pk, "exits": bracketing.exits(order.price), "now": clock.now()}
    row = workflow.attach(person=bracketing.dealing.operator, **wish)
    assert workflow.attach(person=bracketing.dealing.operator, **wish) == row
    with pytest.raises(CannotPlace, match="already belongs to a bracket"):
        workflow.attach(
            person=bracketing.dealing.operator, **wish | {"exits": bracketing.exits(order.price, away=TICK)}
        )
    with pytest.raises(CannotPlace, match="Only operators"):
        workflow.attach(person=auditor, **wish)
    with pytest.raises(workflow.CannotEnd, match="Only operators"):
        workflow.end(bracket_id=row.pk, person=auditor, now=clock.now())


def test_the_trail_replays_to_the_rows(bracketing):
    row = bracketing.entered()
    bracketing.trade_at(row.stop_price)
    bracketing.turn(row)
    from desk.models import AuditEvent

    trail = list(AuditEvent.objects.filter(subject__startswith="bracket:").order_by("seq"))
    assert list(room.BRACKET_REPLAY.check(iter(trail))) == []
    Bracket.objects.filter(pk=row.pk).update(last_problem="Changed.")
    assert list(room.BRACKET_REPLAY.check(iter(trail))) == [], "a sentence decides nothing"


def test_after_a_restore_it_places_nothing_until_two_people_have_settled(bracketing):
    """What it knows of its orders is of an earlier moment: a stop of after that may rest at the exchange."""
    row = bracketing.ask()
    bracketing.dealing.step(row.entry)
    bracketing.fill(row.entry)
    restore = signs.notice(signs.Sign(restores.HEADS), now=clock.now())
    row = bracketing.turn(row, 2)
    assert (row.state, row.legs.count()) == ("entering", 0)
    assert restore.reference in row.last_problem
