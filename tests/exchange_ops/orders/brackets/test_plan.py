"""What a bracket does next, against an exchange that fills, loses, refuses and cancels in any order.

Whatever happens, orders that may still be filled never close more than was opened, and what is opened and not closed
has a stop, is being closed, or is said to have none.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from exchange_ops.orders.brackets import machine, plan
from exchange_ops.orders.brackets.models import BracketLeg
from exchange_ops.orders.brackets.plan import Do, Entry, Leg, Situation

NOW = datetime(2026, 11, 25, tzinfo=UTC)
STEP = Decimal("0.1")
STOP, TAKE = BracketLeg.STOP, BracketLeg.TAKE
quantities = st.integers(1, 20).map(lambda number: number * STEP)


class Order:
    """An order as the exchange has it, and as the desk believes it to be."""

    def __init__(self, role, quantity, at):
        self.role, self.quantity, self.at = role, quantity, at
        self.filled = Decimal(0)
        self.open = True  # at the exchange, or on the way there
        self.believed_open = True
        self.lost = self.never_left = self.settled = self.cancelling = False

    @property
    def left(self):
        return self.quantity - self.filled


class AnyExchange(RuleBasedStateMachine):
    """The desk sees what the exchange tells; of a lost order nothing."""

    @initialize(quantity=quantities)
    def begin(self, quantity):
        self.now, self.state = NOW, machine.ENTERING
        self.entry, self.legs = Order("entry", quantity, NOW), []
        self.reached, self.frozen = False, False

    def situation(self):
        legs = [
            Leg(
                number=number,
                role=each.role,
                quantity=each.quantity,
                filled=each.filled,
                open=each.believed_open,
                at=each.at,
                lost=each.lost,
                never_left=each.never_left,
                settled=each.settled,
                reason="over",
            )
            for number, each in enumerate(self.legs, 1)
        ]
        return Situation(
            state=self.state,
            entry=Entry(filled=self.entry.filled, open=self.entry.open),
            legs=legs,
            step=STEP,
            reached=self.reached,
            frozen=self.frozen,
            now=self.now,
        )

    @rule()
    def look_on(self):
        for _ in range(2):
            if self.state != machine.CLOSED:
                self.look()

    def look(self):
        at = self.situation()
        found = plan.next_step(at)
        for number in found.settled:
            self.legs[number - 1].settled = True
        for each in ([self.entry] if found.cancel_entry else []) + [self.legs[one - 1] for one in found.cancel_legs]:
            each.cancelling = True
        match found.do:
            case Do.SAY_GUARDED:
                self.moves("entered" if self.state == machine.ENTERING else "guarded_again", machine.GUARDED)
            case Do.PLACE_STOP:
                if self.state == machine.UNGUARDED:
                    self.moves("stop_asked", machine.GUARDED)
                self.legs.append(Order(STOP, found.quantity, self.now))
            case Do.SAY_UNGUARDED:
                self.moves("stop_missing", machine.UNGUARDED)
            case Do.BEGIN_TO_TAKE:
                self.moves("take_reached", machine.TAKING)
                self.cancels()
            case Do.CANCEL:
                self.cancels()
            case Do.PLACE_TAKE:
                assert found.quantity > 0
                self.legs.append(Order(TAKE, found.quantity, self.now))
            case Do.GIVE_UP_TAKING:
                self.moves("take_missed", machine.GUARDED)
            case Do.CLOSE:
                self.moves("closed", machine.CLOSED)
                assert not at.any_open
                assert at.exposed == 0 or at.state == machine.ENDING

    def moves(self, event, to):
        assert (self.state, event, to) in machine.TABLE.allowed, f"{event} from {self.state}"
        self.state = to

    def cancels(self):
        for each in (self.entry, *self.legs):
            each.cancelling = each.open and each.believed_open

    @precondition(lambda self: self.entry.open and self.entry.left > 0)
    @rule(part=quantities)
    def entry_fills(self, part):
        self.entry.filled += min(part, self.entry.left)
        self.entry.open = self.entry.left > 0
        self.look_on()

    @rule()
    def cancelled(self):
        for each in (self.entry, *self.legs):
            if each.cancelling and each.open and not each.lost:
                each.open = each.believed_open = each.cancelling = False
                each.at = self.now

    @rule(part=quantities, number=st.integers(0, 30))
    def leg_fills(self, part, number):
        legs = [each for each in self.legs if each.open and not each.lost]
        if legs:
            leg = legs[number % len(legs)]
            leg.filled += min(part, leg.left)
            leg.open = leg.believed_open = leg.left > 0
            leg.at = self.now

    @rule(number=st.integers(0, 30), how=st.sampled_from(["refused", "never_left", "lost", "over"]))
    def leg_ends(self, number, how):
        legs = [each for each in self.legs if each.open and not each.lost and not each.filled]
        if not legs:
            return
        leg = legs[number % len(legs)]
        leg.believed_open, leg.at = False, self.now
        leg.never_left, leg.lost = how == "never_left", how == "lost"
        leg.open = how == "lost"  # it may be there all the same
        self.look_on()

    @rule(number=st.integers(0, 30), there=st.booleans())
    def lost_one_is_found(self, number, there):
        lost = [each for each in self.legs if each.lost and not each.settled]
        if lost:
            leg = lost[number % len(lost)]
            leg.lost, leg.open, leg.believed_open = False, there, there
            leg.never_left = not there

    @precondition(lambda self: self.state not in {machine.CLOSED, machine.ENDING})
    @rule(really=st.integers(0, 9))
    def somebody_ends_it(self, really):
        if really == 9:
            self.state = machine.ENDING

    @precondition(
        lambda self: self.state == machine.UNGUARDED and not any(each.lost and each.open for each in self.legs)
    )
    @rule()
    def somebody_compares_and_has_the_stop_placed_again(self):
        for each in self.legs:
            each.settled = each.settled or (not each.believed_open and each.left > 0)
        self.moves("stop_asked", machine.GUARDED)
        self.look_on()

    @rule(reached=st.booleans(), seconds=st.integers(0, 40))
    def time_passes(self, reached, seconds):
        self.reached, self.now = reached, self.now + timedelta(seconds=seconds)
        self.look_on()

    @rule(frozen=st.booleans())
    def account_freezes(self, frozen):
        self.frozen = frozen

    @invariant()
    def nothing_closes_more_than_was_opened(self):
        if hasattr(self, "legs"):
            closing = sum((each.filled + (each.left if each.open else 0) for each in self.legs), Decimal(0))
            assert closing <= self.entry.filled, "orders that may be filled would close more than was opened"

    @invariant()
    def what_is_open_is_guarded_or_said_to_be_not(self):
        """Looked at once more, a guarded one either has its stops or does something about it."""
        if not hasattr(self, "legs") or self.state != machine.GUARDED:
            return
        at = self.situation()
        if at.bare > 0:
            assert plan.next_step(at).do not in {Do.SAY_GUARDED, Do.CLOSE}


TestAnyExchange = AnyExchange.TestCase
TestAnyExchange.settings = settings(max_examples=300, stateful_step_count=40, deadline=None)


def situation(**changes):
    known = {
        "state": machine.GUARDED,
        "entry": Entry(filled=Decimal(1), open=False),
        "legs": [Leg(1, STOP, Decimal(1), Decimal(0), open=True, at=NOW)],
        "step": STEP,
        "reached": False,
        "frozen": False,
        "now": NOW,
    }
    return Situation(**(known | changes))


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
        ({"entry": Entry(filled=Decimal(0), open=False), "legs": [], "state": machine.ENTERING}, Do.CLOSE),
        ({"entry": Entry(Decimal(0), open=False, seen=False), "legs": [], "state": machine.ENTERING}, Do.WAIT),
        ({"state": machine.ENDING}, Do.CANCEL),
    ],
)
def test_the_next_step(changes, does):
    assert plan.next_step(situation(**changes)).do == does


def test_of_many_small_fills_those_of_half_a_minute_share_a_stop():
    legs = [Leg(number, STOP, STEP, Decimal(0), open=True, at=NOW) for number in range(1, 11)]
    at = {"entry": Entry(filled=Decimal(2), open=True), "legs": legs, "state": machine.ENTERING}
    assert plan.next_step(situation(**at)).do == Do.WAIT
    later = plan.next_step(situation(**at, now=NOW + timedelta(seconds=31)))
    assert (later.do, later.quantity) == (Do.PLACE_STOP, Decimal(1))


@pytest.mark.parametrize(
    ("amount", "step", "whole"),
    [("1.25", "0.1", "1.2"), ("-1", "0.1", "0"), ("0.05", "0.1", "0"), ("7", "0", "7"), ("1e30", "1e-12", "1e30")],
)
def test_quantities_are_whole_steps_and_never_more(amount, step, whole):
    assert plan.floored(Decimal(amount), Decimal(step)) == Decimal(whole)
