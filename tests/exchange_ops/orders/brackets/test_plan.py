"""What a bracket does next, against an exchange that fills, loses, refuses, replaces and cancels in any order.

Whatever happens, what may be filled never closes more than was opened, and what is opened and not closed has a stop, is
being closed, or is said to have none.
"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from exchange_ops.orders.brackets import chains, plan, states
from exchange_ops.orders.brackets.chains import Chain, Presence
from exchange_ops.orders.brackets.models import BracketLeg
from exchange_ops.orders.brackets.plan import Do, Entry, Leg, Situation
from tests.exchange_ops.orders.brackets.any_exchange import (
    ACCEPTED,
    DENIED,
    FATES,
    LATE,
    LOST_AFTER,
    LOST_BEFORE,
    ZERO,
    Family,
    Order,
    every,
    some,
)

NOW = datetime(2026, 11, 25, tzinfo=UTC)
STEP = Decimal("0.1")
STOP, TAKE = BracketLeg.STOP, BracketLeg.TAKE
LIVE = (states.ENTERING, states.GUARDED, states.UNGUARDED)
quantities = st.integers(1, 20).map(lambda number: number * STEP)
numbers = st.integers(0, 30)
fates = st.sampled_from(["", *FATES, LOST_BEFORE, LOST_AFTER, LATE, DENIED])  # empty: it is not sent yet


class AnyExchange(RuleBasedStateMachine):
    """The desk sees what the exchange tells; of what is lost nothing."""

    @initialize(quantity=quantities, part=quantities)
    def begin(self, quantity, part):
        """Most begin with something that is filled and has its stop: there it can go wrong."""
        self.now, self.state, self.numbers, self.moment = NOW, states.ENTERING, 0, 0
        self.entry, self.legs = Family("entry", NOW), []
        self.new_order(self.entry, quantity)
        self.entry.send(self.entry.orders[0], ACCEPTED)
        self.reached = self.frozen = False
        for each in (part, quantity - part):
            if each > STEP:
                self.fill(self.entry, self.entry.orders[0], each)
                self.legs[-1].send(self.legs[-1].orders[0], ACCEPTED)
                self.look_on()

    @property
    def families(self):
        return [self.entry, *self.legs]

    def new_order(self, family, quantity, replaces=None):
        self.numbers += 1
        family.orders.append(Order(self.numbers, quantity, self.now, replaces))

    def changed(self, family):
        self.moment += 1
        family.at, family.changed = self.now, self.moment

    # What the desk does ----------------------------------------------------------------------------------------------

    def leg(self, number, family):
        chain = chains.comes_to(family.links, now=self.now)
        unknown = [order for order in family.orders if order.number in chain.coming and order.fate]
        return Leg(
            number=number,
            role=family.role,
            chain=chain,
            at=family.at,
            never_left=family.head.fate == "never left",
            settled_at=family.settled_at,
            read_since=family.settled_at is not None and family.read > max(family.settled, family.changed),
            reason="over",
            note="not known" if chain.unseen or unknown or (family.settled_at and chain.open) else "",
        )

    def situation(self):
        entry = chains.comes_to(self.entry.links, now=self.now)
        return Situation(
            state=self.state,
            entry=Entry(
                filled=entry.filled,
                open=entry.open,
                is_certain=not entry.is_lost and not entry.is_overdue(self.now),
                note="not known" if entry.unseen or entry.coming else "",
            ),
            legs=[self.leg(number, each) for number, each in enumerate(self.legs, 1)],
            step=STEP,
            reached=self.reached,
            frozen=self.frozen,
            now=self.now,
        )

    def look_on(self):
        for _ in range(2):
            if self.state != states.CLOSED:
                self.look()
        if self.state in {states.ENTERING, states.GUARDED}:
            at = self.situation()
            overdue = any(leg.chain.is_overdue(self.now) for leg in at.legs)
            assert not (at.bare > 0 and at.room <= 0 and overdue), "it waits in silence for what does not come"

    def look(self):
        at = self.situation()
        step = plan.next_step(at)
        for number in step.settled:
            self.settle(number)
        for family in ([self.entry] if step.cancel_entry else []) + [self.legs[one - 1] for one in step.cancel_legs]:
            family.cancel()
        match step.do:
            case Do.SAY_GUARDED:
                self.moves("entered" if self.state == states.ENTERING else "guarded_again", states.GUARDED)
            case Do.PLACE_STOP:
                if self.state == states.UNGUARDED:
                    self.moves("stop_asked", states.GUARDED)
                self.place(STOP, step.quantity)
            case Do.SAY_UNGUARDED:
                self.moves("stop_missing", states.UNGUARDED)
            case Do.BEGIN_TO_TAKE:
                self.moves("take_reached", states.TAKING)
                self.cancels()
            case Do.CANCEL:
                self.cancels()
            case Do.PLACE_TAKE:
                self.place(TAKE, step.quantity)
            case Do.GIVE_UP_TAKING:
                self.moves("take_missed", states.GUARDED)
            case Do.CLOSE:
                self.closes(at)

    def closes(self, at):
        self.moves("closed", states.CLOSED)
        assert not at.any_open
        if at.state != states.ENDING:
            assert at.exposed == 0
            open_ones = [order for family, order in every(self.families) if order.open and order.fate != DENIED]
            assert not open_ones, "it ended beside an order that can be filled"

    def place(self, role, quantity):
        assert quantity > 0
        self.legs.append(Family(role, self.now))
        self.new_order(self.legs[-1], quantity)

    def settle(self, number):
        self.moment += 1
        leg = self.legs[number - 1]
        if leg.settled_at is None:
            leg.settled_at, leg.settled = self.now, self.moment

    def moves(self, event, to):
        assert (self.state, event, to) in states.TABLE.allowed, f"{event} from {self.state}"
        self.state = to

    def cancels(self):
        for family in self.families:
            family.cancel()

    @precondition(lambda self: self.unsent())
    @rule(number=numbers, fate=st.sampled_from((*[ACCEPTED] * 4, *FATES, DENIED)))
    def one_is_sent(self, number, fate):
        family, order = some(self.unsent(), number)
        family.send(order, fate)
        self.changed(family)
        self.look_on()

    def unsent(self):
        return [each for each in every(self.families) if not each[1].fate]

    @precondition(lambda self: self.looked_for())
    @rule(number=numbers, sees=st.sampled_from([True, True, False]))
    def a_lost_one_is_looked_for(self, number, sees):
        family, order = some(self.looked_for(), number)
        if order.taken_in and sees:
            order.show()
        else:
            order.presence = Presence.NOT_SEEN
        self.changed(family)
        self.look_on()

    def looked_for(self):
        return [each for each in every(self.families) if each[1].fate and each[1].presence is Presence.COMING]

    @rule()
    def the_orders_are_read(self):
        """Also what was not seen, or refused, appears; what was not there by then comes no more if it was given up."""
        self.moment += 1
        for family, order in every(self.families):
            family.read = self.moment
            if order.taken_in and order.fate and order.presence is not Presence.THERE:
                order.show()
            elif order.presence is Presence.NOT_SEEN and family.settled_at is not None:
                order.on_its_way = False
            order.look_again()
        self.look_on()

    # What people do --------------------------------------------------------------------------------------------------

    @precondition(lambda self: self.state != states.CLOSED and self.is_replaceable(self.entry))
    @rule(quantity=quantities, fate=fates)
    def somebody_replaces_the_entry(self, quantity, fate):
        self.replace(self.entry, quantity, fate)

    @precondition(lambda self: self.state != states.CLOSED and self.replaceable_stops())
    @rule(number=numbers, share=st.integers(1, 9), fate=fates)
    def somebody_replaces_a_stop(self, number, share, fate):
        """By a smaller one, or one of up to all that may be."""
        place, family = some(self.replaceable_stops(), number)
        most = plan.most_instead_of(self.situation(), place)
        self.replace(family, plan.floored(most * share / 9, STEP), fate)

    def replaceable_stops(self):
        legs = enumerate(self.legs, 1)
        return [(place, family) for place, family in legs if family.role == STOP and self.is_replaceable(family)]

    def replace(self, family, quantity, fate):
        old = family.head
        if quantity != old.quantity and quantity > old.seen_filled:
            self.new_order(family, quantity, replaces=old)
            self.look_on()
            if fate and not family.orders[-1].fate:
                family.send(family.orders[-1], fate)
            self.changed(family)
            self.look_on()

    def is_replaceable(self, family):
        head = family.head
        if head.presence is not Presence.THERE:
            return False
        coming = [order for order in family.orders if order.replaces is head and order.presence is Presence.COMING]
        return head.seen_open and not head.cancelling and not coming

    @precondition(lambda self: self.state in {*LIVE, states.TAKING})
    @rule(really=st.integers(0, 9))
    def somebody_ends_it(self, really):
        if really == 9:
            self.state = states.ENDING

    @precondition(lambda self: self.state == states.UNGUARDED)
    @rule()
    def somebody_has_the_stop_placed_again(self):
        again = plan.place_again(self.situation())
        if again.quantity > 0:
            for number in again.numbers:
                self.settle(number)
            self.moves("stop_asked", states.GUARDED)
            self.look_on()

    # What the exchange does ------------------------------------------------------------------------------------------

    @precondition(lambda self: self.late())
    @rule(number=numbers)
    def a_late_one_arrives(self, number):
        some(self.late(), number)[1].arrive()
        self.look_on()

    def late(self):
        return [each for each in every(self.families) if each[1].on_its_way and each[1].fate == LATE]

    @precondition(lambda self: self.over())
    @rule(number=numbers)
    def what_was_replaced_is_seen_to_be_over(self, number):
        family, order = some(self.over(), number)
        order.look_again()
        self.changed(family)
        self.look_on()

    def over(self):
        return [each for each in every(self.families) if each[1].seen_open and not each[1].open]

    @precondition(lambda self: self.open(self.families))
    @rule(part=quantities, number=numbers)
    def one_fills(self, part, number):
        self.fill(*some(self.open(self.families), number), part)

    def fill(self, family, order, part):
        order.filled += min(part, order.left)
        order.open = order.filled < order.quantity
        order.look_again()
        self.changed(family)
        self.look_on()

    def open(self, families):
        return [each for each in every(families) if each[1].open]

    @precondition(lambda self: any(order.cancelling for _, order in every(self.families)))
    @rule(is_answered=st.booleans())
    def cancelled(self, is_answered):
        for family, order in every(self.families):
            if order.cancelling:
                order.final = order.final or (order.open and is_answered)
                order.open = order.cancelling = False
                order.look_again()
                self.changed(family)

    @precondition(lambda self: self.open(self.families))
    @rule(number=numbers)
    def the_exchange_ends_one(self, number):
        family, order = some(self.open(self.families), number)
        order.open = False
        order.look_again()
        self.changed(family)
        self.look_on()

    @rule(reached=st.integers(0, 5), frozen=st.integers(0, 5), seconds=st.sampled_from([0, 2, 10, 40, 130]))
    def time_passes(self, reached, frozen, seconds):
        self.reached, self.frozen = reached == 5, frozen == 5
        self.now += timedelta(seconds=seconds)
        self.look_on()

    # What holds ------------------------------------------------------------------------------------------------------

    @invariant()
    def nothing_closes_more_than_was_opened(self):
        """What the exchange has that it had denied is the exception: by as much, until the desk has seen it."""
        if hasattr(self, "legs"):
            closing = sum((each.filled + each.left for each in self.legs), ZERO)
            on_the_way = sum(
                (order.quantity for _, order in every(self.legs) if not order.fate and not order.replaces), ZERO
            )
            denied = sum((order.quantity for _, order in every(self.legs) if order.fate == DENIED), ZERO)
            assert closing + on_the_way <= self.entry.filled + denied, "orders would close more than was opened"

    @invariant()
    def what_is_open_is_guarded_or_said_to_be_not(self):
        """Looked at once more, a guarded one has its stops, does something about it, or says what is not known."""
        if not hasattr(self, "legs") or self.state not in {states.ENTERING, states.GUARDED}:
            return
        at = self.situation()
        step = plan.next_step(at)
        sent_soon = sum((order.quantity for _, order in every(self.legs) if not order.fate), ZERO)
        guarding = sum((each.left for each in self.legs), ZERO) + sent_soon
        deceived = any(order.fate == DENIED and order.presence is Presence.ABSENT for _, order in every(self.families))
        if plan.floored(at.exposed - guarding, STEP) > 0 and not plan.is_paced(at) and not deceived:
            acts = step.do not in {Do.WAIT, Do.SAY_GUARDED, Do.CLOSE}
            assert acts or step.sentence, "something is open without a stop, and nobody says so"

    @invariant()
    def what_rests_beyond_is_being_cancelled(self):
        if not hasattr(self, "legs") or self.state not in LIVE:
            return
        at = self.situation()
        step = plan.next_step(at)
        staying = [each for number, each in enumerate(self.legs, 1) if number not in step.cancel_legs]
        resting = sum((each.known_left() for each in staying), ZERO)
        assert sum((leg.filled for leg in at.legs), ZERO) + resting <= max(
            at.entry.filled, sum((leg.filled for leg in at.legs), ZERO)
        )


TestAnyExchange = AnyExchange.TestCase
USUAL, THOROUGH = 250, 10_000
TestAnyExchange.settings = settings(
    max_examples=USUAL if settings.default.max_examples <= 100 else THOROUGH, stateful_step_count=40, deadline=None
)


def situation(**changes):
    known = {
        "state": states.GUARDED,
        "entry": Entry(filled=Decimal(1), open=False),
        "legs": [stop(1, "1")],
        "step": STEP,
        "reached": False,
        "frozen": False,
        "now": NOW,
    }
    return Situation(**(known | changes))


def stop(number, quantity):
    amount = Decimal(quantity)
    return Leg(number, STOP, Chain(number, amount, ZERO, open=True, rests=amount, least=amount, most=amount), at=NOW)


@pytest.mark.parametrize(
    ("changes", "does"),
    [
        ({}, Do.WAIT),
        ({"reached": True}, Do.BEGIN_TO_TAKE),
        ({"reached": True, "frozen": True}, Do.WAIT),
        ({"held": Decimal("0.5")}, Do.END_POSITION_GONE),
        ({"held": Decimal(1)}, Do.WAIT),
        ({"entry": Entry(filled=Decimal("1.25"), open=False)}, Do.PLACE_STOP),
        ({"entry": Entry(filled=Decimal("1.05"), open=False)}, Do.WAIT),
        ({"entry": Entry(filled=Decimal(0), open=False), "legs": [], "state": states.ENTERING}, Do.CLOSE),
        ({"entry": Entry(Decimal(0), open=False, is_certain=False), "legs": [], "state": states.ENTERING}, Do.WAIT),
        ({"state": states.ENDING}, Do.CANCEL),
    ],
)
def test_the_next_step(changes, does):
    assert plan.next_step(situation(**changes)).do == does


@pytest.mark.parametrize(
    ("ages", "does"),
    [
        ([29], Do.WAIT),
        ([30], Do.PLACE_STOP),
        ([-3600], Do.PLACE_STOP),  # before this machine's clock was set back
        ([-3600, 5], Do.WAIT),
    ],
)
def test_a_stop_that_never_left_is_tried_again_after_its_pause(ages, does):
    legs = [
        replace(leg(number), at=NOW - timedelta(seconds=age), never_left=True) for number, age in enumerate(ages, 1)
    ]
    assert plan.next_step(situation(state=states.UNGUARDED, legs=legs)).do == does


def leg(number, role=STOP, *, settled=False, **chain):
    """One whose chain is as given, in the base currency; `settled` is not counted on any more."""
    whole = Decimal(chain.pop("quantity", "1"))
    known = {"filled": "0", "rests": "0", "least": "0", "most": "0"} | chain
    amounts = {name: Decimal(known.pop(name)) for name in ("filled", "rests", "least", "most")}
    chain = Chain(number, whole, **amounts, **({"open": False} | known))
    return Leg(number, role, chain, at=NOW, settled_at=NOW if settled else None)


LOST = leg(1, most="0.5", unseen=(1,))
STRAY = {"open": True, "settled": True, "most": "0.4"}  # of one that another stands in for, and works all the same
IN_DOUBT = leg(1, open=True, rests="0.4", least="0.4", most="1", unseen=(2,))


@pytest.mark.parametrize(
    ("state", "legs", "does", "quantity"),
    [
        (states.GUARDED, [leg(2, filled="1"), LOST], Do.WAIT, "0"),
        (states.TAKING, [LOST], Do.SAY_UNGUARDED, "0"),
        (states.TAKING, [leg(1, TAKE, **STRAY)], Do.PLACE_TAKE, "0.6"),
        (states.UNGUARDED, [leg(1, **STRAY)], Do.PLACE_STOP, "0.6"),
        (states.GUARDED, [IN_DOUBT], Do.SAY_UNGUARDED, "0"),
    ],
    ids=["no end beside lost", "no offer beside lost", "an offer of the room", "a stop of the room", "doubt is said"],
)
def test_nothing_is_placed_or_over_beside_what_may_be_there(state, legs, does, quantity):
    step = plan.next_step(situation(state=state, legs=legs))
    assert (step.do, step.quantity) == (does, Decimal(quantity))


def test_a_stop_is_not_placed_again_beside_one_that_works_until_its_replacement_comes():
    coming = leg(1, open=True, rests="1", least="0.4", most="1", coming=(2,))
    assert plan.place_again(situation(legs=[coming])) == plan.NewStop(Decimal(0), (), (), ())
    assert plan.place_again(situation(legs=[IN_DOUBT])) == plan.NewStop(Decimal(1), (1,), (), (1,))


def test_of_many_small_fills_those_of_half_a_minute_share_a_stop():
    legs = [stop(number, STEP) for number in range(1, 11)]
    at = {"entry": Entry(filled=Decimal(2), open=True), "legs": legs, "state": states.ENTERING}
    assert plan.next_step(situation(**at)).do == Do.WAIT
    later = plan.next_step(situation(**at, now=NOW + timedelta(seconds=31)))
    assert (later.do, later.quantity) == (Do.PLACE_STOP, Decimal(1))


@pytest.mark.parametrize(
    ("amount", "step", "whole"),
    [
        ("1.25", "0.1", "1.2"),
        ("1.29", "0.1", "1.2"),
        ("-1", "0.1", "0"),
        ("0.05", "0.1", "0"),
        ("7", "0", "7"),
        ("1e30", "1e-12", "1e30"),
    ],
)
def test_quantities_are_whole_steps_and_never_more(amount, step, whole):
    assert plan.floored(Decimal(amount), Decimal(step)) == Decimal(whole)
