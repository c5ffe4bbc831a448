"""What a bracket does next, from what is known of its orders and of the market: data in, one step out, nothing done.

Rules of it, in this order: nothing more is closed than the entry opened and is not closed yet; an order whose outcome
is not known counts as open, so that nothing takes its place; a stop stays until the take profit is really reached, and
comes back when the book did not take the rest; what has no stop is said.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal, localcontext
from enum import StrEnum
from typing import Final

from exchange_ops.orders.brackets import machine
from exchange_ops.orders.brackets.models import BracketLeg

ZERO: Final = Decimal(0)
_DIGITS: Final = 200  # of a quotient of two amounts
REST: Final = timedelta(seconds=10)  # after a take profit that the book did not take whole
TRY_AGAIN: Final = timedelta(seconds=30)  # after a stop that never left the desk
MOST_BY_ITSELF: Final = 10  # orders of one bracket, before a person has to ask for more


class Do(StrEnum):
    """The next step."""

    WAIT = "wait"
    SAY_GUARDED = "say_guarded"
    PLACE_STOP = "place_stop"
    SAY_UNGUARDED = "say_unguarded"
    BEGIN_TO_TAKE = "begin_to_take"
    PLACE_TAKE = "place_take"
    GIVE_UP_TAKING = "give_up_taking"
    CANCEL = "cancel"
    END_POSITION_GONE = "end_position_gone"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Entry:
    """The entry as last read, with what replaced it. `filled` is what it opened, after fees in the base currency.

    `open`: it may still be filled, or that is not known. `seen`: the exchange is known to have had it, or never will.
    """

    filled: Decimal
    open: bool
    seen: bool = True


@dataclass(frozen=True, slots=True)
class Leg:
    """One order of the bracket as last read, with what replaced it; quantities in the base currency.

    `open`: it may still be filled, or that is not known. `lost`: not seen at the exchange, which is no proof.
    `never_left`: nothing was sent. `settled`: the bracket counts on it no more. `at` is when it was last heard of.
    """

    number: int
    role: str
    quantity: Decimal
    filled: Decimal
    open: bool
    at: datetime
    lost: bool = False
    never_left: bool = False
    settled: bool = False
    reason: str = ""

    @property
    def left(self) -> Decimal:
        """What is not filled."""
        return max(self.quantity - self.filled, ZERO)

    @property
    def fell_away(self) -> bool:
        """Whether it is over with something left that the bracket counted on."""
        return not self.open and not self.settled and self.left > ZERO


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that the next step depends on. `step` is the quantity increment of the symbol.

    `reached`: a fresh price says that the take profit can be had. `held`: what of the position is there, on margin;
    None where that is not known, or not asked because it is not on margin.
    """

    state: str
    entry: Entry
    legs: Sequence[Leg]
    step: Decimal
    reached: bool
    frozen: bool
    now: datetime
    held: Decimal | None = None

    @property
    def exposed(self) -> Decimal:
        """What the entry opened and nothing closed yet, in whole steps."""
        return floored(self.entry.filled - sum((leg.filled for leg in self.legs), ZERO), self.step)

    @property
    def bare(self) -> Decimal:
        """What of it no open order closes, in whole steps."""
        closing = sum((leg.left for leg in self.legs if leg.open and not leg.settled), ZERO)
        return floored(self.exposed - closing, self.step)

    @property
    def stops(self) -> list[Leg]:
        """Its stops."""
        return [leg for leg in self.legs if leg.role == BracketLeg.STOP]

    @property
    def takes(self) -> list[Leg]:
        """Its orders at the take profit."""
        return [leg for leg in self.legs if leg.role == BracketLeg.TAKE]

    @property
    def any_open(self) -> bool:
        """Whether anything of it can still be filled."""
        return self.entry.open or any(leg.open for leg in self.legs)


@dataclass(frozen=True, slots=True)
class Plan:
    """One step: what, how much in the base currency, and the sentence that goes with it.

    `settled` are the numbers of the legs that are no longer counted on. `cancel_entry`: what is left of the entry is
    cancelled besides, since the bracket began to close; `cancel_legs`: so are these, which others stand in for.
    """

    do: Do
    quantity: Decimal = ZERO
    sentence: str = ""
    settled: tuple[int, ...] = ()
    cancel_entry: bool = False
    cancel_legs: tuple[int, ...] = ()
    outcome: str = ""


def next_step(at: Situation) -> Plan:
    """The next step. Called again when anything changed, or a moment later."""
    found = _step(at)
    # One that was lost, and that another stands in for, may appear all the same.
    stray = tuple(leg.number for leg in at.legs if leg.open and leg.settled)
    return replace(found, cancel_legs=stray) if stray else found


def _step(at: Situation) -> Plan:
    if not at.any_open and at.exposed <= ZERO and at.entry.seen and not _lost(at.legs):
        return Plan(Do.CLOSE, outcome=_outcome(at))
    match at.state:
        case machine.TAKING:
            return _taking(at)
        case machine.ENDING:
            # What is lost is the person's to compare: they ended it.
            return Plan(Do.CANCEL) if at.any_open else Plan(Do.CLOSE, outcome=_outcome(at))
        case _:
            return _watching(at)


def _watching(at: Situation) -> Plan:
    if at.reached and not at.frozen and at.exposed > ZERO and _can_take(at):
        return Plan(Do.BEGIN_TO_TAKE)
    if at.state == machine.GUARDED and at.held is not None and at.held < at.exposed - at.bare:
        return Plan(Do.END_POSITION_GONE)
    return _unguarded(at) if at.state == machine.UNGUARDED else _guarding(at)


def floored(amount: Decimal, step: Decimal) -> Decimal:
    """The largest multiple of the step that is not above the amount; zero where it is below one."""
    if amount <= ZERO:
        return ZERO
    if step <= ZERO:
        return amount
    with localcontext() as context:
        context.prec = _DIGITS
        return (amount / step).quantize(Decimal(1), rounding=ROUND_FLOOR) * step


def _guarding(at: Situation) -> Plan:
    """While the entry is open, and after: what is filled and bare gets a stop."""
    began = at.entry.open and any(leg.filled > ZERO for leg in at.legs)
    if at.bare > ZERO:
        if fallen := _lost(at.legs) or [leg for leg in at.stops if leg.fell_away]:
            return Plan(Do.SAY_UNGUARDED, sentence=fallen[-1].reason, cancel_entry=began)
        if len(at.legs) >= MOST_BY_ITSELF and _newest(at.legs) > at.now - TRY_AGAIN:
            return Plan(Do.WAIT, cancel_entry=began)  # of many small fills those of half a minute share a stop
        return Plan(Do.PLACE_STOP, at.bare, cancel_entry=began)
    if at.state == machine.ENTERING and not at.entry.open and at.exposed > ZERO:
        return Plan(Do.SAY_GUARDED)
    return Plan(Do.WAIT, cancel_entry=began)


def _unguarded(at: Situation) -> Plan:
    if at.bare <= ZERO:
        return Plan(Do.SAY_GUARDED)
    fallen = [leg for leg in at.stops if leg.fell_away]
    tries_again = (
        not at.frozen
        and fallen
        and not _lost(at.legs)
        and all(leg.never_left for leg in fallen)
        and len(at.legs) < MOST_BY_ITSELF
        and at.now - max(leg.at for leg in fallen) >= TRY_AGAIN
    )
    if tries_again:
        return Plan(Do.PLACE_STOP, at.bare, settled=tuple(leg.number for leg in fallen))
    return Plan(Do.WAIT)


def _taking(at: Situation) -> Plan:
    """The stops and the rest of the entry are over first; then what is left is offered at the take profit."""
    if at.entry.open or any(leg.open for leg in at.stops):
        return Plan(Do.CANCEL)
    offered = [leg for leg in at.takes if not leg.settled]
    if any(leg.open for leg in offered):
        return Plan(Do.WAIT)
    if lost := _lost(at.legs):  # it may be there all the same, and nothing may stand beside it
        return Plan(Do.SAY_UNGUARDED, sentence=lost[-1].reason)
    if offered:  # the book did not take it whole, or it was never there
        return Plan(
            Do.GIVE_UP_TAKING, sentence=offered[-1].reason, settled=tuple(leg.number for leg in (*offered, *at.stops))
        )
    return Plan(Do.PLACE_TAKE, at.exposed)


def _can_take(at: Situation) -> bool:
    """Nothing is on the way or lost, and the last try was not a moment ago."""
    rested = all(at.now - leg.at >= REST for leg in at.takes)
    return rested and not _lost(at.legs) and not any(leg.open for leg in at.takes)


def _lost(legs: Iterable[Leg]) -> list[Leg]:
    return [leg for leg in legs if leg.lost and not leg.settled]


def _newest(legs: Iterable[Leg]) -> datetime:
    return max(leg.at for leg in legs)


def _outcome(at: Situation) -> str:
    by_stop, by_take = (any(leg.filled > ZERO for leg in legs) for legs in (at.stops, at.takes))
    if by_stop and by_take:
        return machine.BY_BOTH
    if by_stop or by_take:
        return machine.BY_STOP if by_stop else machine.BY_TAKE
    return machine.NOT_ENTERED if at.state != machine.ENDING else machine.CANCELLED
