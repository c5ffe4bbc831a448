"""An order of a bracket that a person replaces, in front of the sandbox.

Whatever becomes of the call, nothing is closed twice, and nothing stays without a stop in silence.

The orders of events are searched in `test_plan`; here stands what only the desk's rows and the exchange show.
"""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.orders import room
from exchange_ops.orders.brackets import workflow
from exchange_ops.orders.steps import replacing
from exchange_ops.shared import alarms

pytestmark = pytest.mark.engine("money: the walk of a bracket whose orders are replaced")
HALF, FIFTH = Decimal("0.5"), Decimal("0.2")
LATER = timedelta(minutes=2)


def causes(name):
    (kind,) = [kind for kind in room.ROOM.incidents if kind.name == name]
    return [cause.sentence for cause in kind.causes(clock.now(), "")]


def stops_out(bracketing, row):
    """The price falls to the stop; what was sold of what had been bought."""
    before = bracketing.sold()
    bracketing.trade_at(row.stop_price, bids="2")
    row = bracketing.turn(row, later=LATER)
    assert (row.state, row.outcome, bracketing.at_exchange()) == ("closed", "stop", []), row.last_problem
    return bracketing.sold() - before


def test_a_smaller_stop_that_never_arrives_leaves_the_one_that_works(bracketing):
    row = bracketing.entered()
    stop = row.legs.get().order
    new = bracketing.replace(stop, FIFTH, fault="drop_before")
    row = bracketing.look(row)
    assert (new.state, row.state, bracketing.resting()) == ("unknown", "guarded", [HALF])
    assert f"Not yet known whether {new.reference} replaced the stop {stop.reference}." in row.last_problem
    assert bracketing.looked_for(new).state == "not_seen"
    row = bracketing.turn(row, 3, later=LATER)
    assert (row.state, row.legs.count(), bracketing.resting()) == ("guarded", 1, [HALF])
    assert f"was not found on the exchange. {stop.reference} is still working" in row.last_problem
    with pytest.raises(workflow.CannotEnd, match="current status: protected"):
        workflow.place_stop_again(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())
    assert stops_out(bracketing, row) == HALF


@pytest.mark.parametrize("fault", ["drop_after", "late"])
def test_a_smaller_stop_that_arrived_unheard_gets_the_rest_beside_it(bracketing, fault):
    row = bracketing.entered()
    new = bracketing.replace(row.legs.get().order, FIFTH, fault="drop_before" if fault == "late" else fault)
    assert bracketing.look(row).legs.count() == 1, "as long as it is not known, nothing stands beside it"
    if fault == "late":
        assert bracketing.looked_for(new).state == "not_seen"
        bracketing.arrive(new)
    row = bracketing.turn(row, later=LATER)
    assert (row.state, bracketing.dealing.fresh(new).state) == ("guarded", "found")
    assert sorted(bracketing.resting()) == [FIFTH, HALF - FIFTH], (
        "what the smaller one leaves bare has a stop of its own"
    )
    assert stops_out(bracketing, row) == HALF


@pytest.mark.parametrize("fault", ["drop_before", "drop_after"])
def test_what_a_replaced_entry_fills_is_guarded_whichever_of_the_two_is_there(bracketing, fault):
    row = bracketing.ask()
    bracketing.dealing.step(row.entry)
    bracketing.dealing.read()
    entry = bracketing.dealing.fresh(row.entry)
    bracketing.fill(entry, FIFTH)
    new = bracketing.replace(entry, 2 * HALF, fault=fault)
    row = bracketing.turn(row, 2)
    assert (row.legs.get().order.quantity, row.state) == (FIFTH, "entering"), "what was filled before is not waited for"
    assert bracketing.looked_for(new).state == ("found" if fault == "drop_after" else "not_seen")
    whole = 2 * HALF if fault == "drop_after" else HALF
    bracketing.fill(entry, whole - FIFTH)
    row = bracketing.turn(row, later=LATER)
    assert (row.state, sum(bracketing.resting())) == ("guarded", whole)
    assert stops_out(bracketing, row) == whole


def test_a_larger_stop_that_was_not_seen_is_for_a_person_and_never_stands_beside_another(bracketing):
    row = bracketing.entered()
    small = bracketing.replace(row.legs.get().order, FIFTH)
    row = bracketing.turn(row)
    other = row.legs.last().order
    bracketing.dealing.client("demo-trade").cancel_order(client_order_id=other.client_order_id)
    row = bracketing.turn(row, 2)
    assert row.state == "unguarded"
    with pytest.raises(replacing.CannotReplace, match=f"Enter at most 0.5: the part of {row.reference}"):
        bracketing.replace(bracketing.dealing.fresh(small), Decimal("0.6"))
    new = bracketing.replace(bracketing.dealing.fresh(small), HALF, fault="drop_before")
    assert bracketing.looked_for(new).state == "not_seen"
    row = bracketing.turn(row, 3, later=LATER)
    assert (row.state, bracketing.resting()) == ("unguarded", [FIFTH])
    assert len(causes(alarms.WITHOUT_A_STOP)) == 1
    workflow.place_stop_again(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())
    for _ in range(6):
        row = bracketing.turn(row, 1, later=LATER)
        assert sum(bracketing.resting()) <= HALF
    assert (row.state, bracketing.resting(), causes(alarms.WITHOUT_A_STOP)) == ("guarded", [HALF], [])
    assert stops_out(bracketing, row) == HALF


def test_ended_while_a_replacement_is_unknown_both_are_cancelled(bracketing):
    row = bracketing.entered()
    bracketing.replace(row.legs.get().order, FIFTH, fault="drop_after")
    workflow.end(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())
    row = bracketing.turn(row)
    assert (row.state, row.outcome, bracketing.at_exchange()) == ("closed", "cancelled", [])


def test_an_entry_that_is_over_beside_a_lost_replacement_is_an_incident(bracketing):
    """Replaces `test_an_order_that_is_not_known_to_be_there_keeps_its_bracket`: the same, of an entry alone."""
    row = bracketing.ask()
    bracketing.dealing.fault("create_order", "drop_before")
    order = bracketing.dealing.step(row.entry)
    assert bracketing.looked_for(order).state == "not_seen"
    row = bracketing.look(row)
    sentence = f"The entry {order.reference} was not found on the exchange; its status is unknown."
    assert (row.state, row.last_problem) == ("entering", sentence)
    assert [sentence in cause for cause in causes(alarms.BRACKET_UNCLEAR)] == [True]
    workflow.end(bracket_id=row.pk, person=bracketing.dealing.operator, now=clock.now())
    assert (bracketing.look(row).state, causes(alarms.BRACKET_UNCLEAR)) == ("closed", [])
