"""The next step of a bracket, decided from its orders and the market as last read: data in, one step out, no effects.

Its rules, in this order: never close more than the entry opened and is still open; count an order whose outcome is
unknown with all that it may close, so that no second order is placed beside it; keep the stop until the take profit is
really reached, and place it again when the book did not take everything; report whatever has no working stop.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import ROUND_FLOOR, Decimal, localcontext
from enum import StrEnum
from typing import Final

from desk import clock
from exchange_ops.orders.brackets import states
from exchange_ops.orders.brackets.chains import ZERO, Chain
from exchange_ops.orders.brackets.models import BracketLeg

_DIGITS: Final = 200  # of a quotient of two amounts
REST: Final = timedelta(seconds=10)  # after a take profit that the book filled only in part
TRY_AGAIN: Final = timedelta(seconds=30)  # after a stop that never left the desk
READ_WITHIN: Final = timedelta(seconds=30)  # how soon the reading has to follow when somebody has a stop placed again
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

    `gross` is the same before fees, where they differ. `open`: it may still be filled, or whether it may is not known.
    `is_certain`: the exchange is known to have had the order, or will never have it. `note` tells people what is not
    known about it.
    """

    filled: Decimal
    open: bool
    is_certain: bool = True
    gross: Decimal | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Leg:
    """One exit order of the bracket as last read, with its chain of replacements.

    `never_left`: nothing was sent. From `settled_at` on the bracket no longer relies on it; `read_since` says whether
    the exchange's orders were read after that. `at` is when it last changed. `reason` says why it guards nothing,
    `note` what is unknown about it while it does guard.
    """

    number: int
    role: str
    chain: Chain
    at: datetime
    never_left: bool = False
    settled_at: datetime | None = None
    read_since: bool = False
    reason: str = ""
    note: str = ""

    @property
    def open(self) -> bool:
        """Whether it may still be filled, or its outcome is unknown."""
        return self.chain.open

    @property
    def filled(self) -> Decimal:
        """What it closed."""
        return self.chain.filled

    @property
    def is_settled(self) -> bool:
        """Whether the bracket no longer relies on it."""
        return self.settled_at is not None

    @property
    def least(self) -> Decimal:
        """The quantity that it guards for certain."""
        return ZERO if self.is_settled else self.chain.least

    @property
    def most(self) -> Decimal:
        """The quantity that it may still close, relied on or not, until the exchange's orders were read without it."""
        return ZERO if self.is_settled and not self.open and self.read_since else self.chain.most

    @property
    def is_lost(self) -> bool:
        """Whether it may be at the exchange although it was not seen."""
        return self.chain.is_lost and self.most > ZERO

    @property
    def fell_away(self) -> bool:
        """Whether it ended or got lost before it closed all that the bracket relied on it for."""
        return not self.open and not self.is_settled and self.chain.remaining > ZERO

    @property
    def is_in_doubt(self) -> bool:
        """Whether it works, while a larger order that was to replace it was not seen."""
        return self.chain.is_in_doubt and not self.is_settled


@dataclass(frozen=True, slots=True)
class Situation:
    """Everything that the next step depends on. `step` is the quantity increment of the symbol.

    `reached`: by a fresh price the take profit can be had. `held` is the size of the margin position; None while it is
    not known, and for brackets that are not on margin.
    """

    state: str
    entry: Entry
    legs: Sequence[Leg]
    step: Decimal
    reached: bool
    frozen: str  # what is frozen, as the beginning of a sentence; empty while nothing is
    now: datetime
    held: Decimal | None = None

    @property
    def exposed(self) -> Decimal:
        """What the entry opened and no exit has closed yet, in whole steps."""
        return floored(self.entry.filled - sum((leg.filled for leg in self.legs), ZERO), self.step)

    @property
    def bare(self) -> Decimal:
        """The exposed quantity that no order guards for certain, in whole steps."""
        return floored(self.exposed - sum((leg.least for leg in self.legs), ZERO), self.step)

    @property
    def room(self) -> Decimal:
        """The exposed quantity that no present or possible order can close: that much may be placed, in whole steps."""
        return floored(self.exposed - sum((leg.most for leg in self.legs), ZERO), self.step)

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
    """One step: what to do, for which quantity in the base currency, and the sentence that explains it.

    `settled` are the numbers of the legs that the bracket stops relying on. `cancel_entry`: cancel what remains of the
    entry too, because closing has begun; `cancel_legs`: cancel these legs too, because other orders replace them.
    """

    do: Do
    quantity: Decimal = ZERO
    sentence: str = ""
    settled: tuple[int, ...] = ()
    cancel_entry: bool = False
    cancel_legs: tuple[int, ...] = ()
    outcome: str = ""


def next_step(at: Situation) -> Plan:
    """The next step, asked for again whenever something changed or a moment has passed."""
    step = _step(at)
    # An order that was replaced by another one may still appear.
    stray = tuple(leg.number for leg in at.legs if leg.open and leg.is_settled)
    surplus = _surplus(at)
    if stray or surplus:
        return replace(step, cancel_legs=(*stray, *surplus), settled=(*step.settled, *surplus))
    return step


def _step(at: Situation) -> Plan:
    if not at.any_open and at.exposed <= ZERO and at.entry.is_certain and not _lost(at.legs):
        return Plan(Do.CLOSE, outcome=_outcome(at))
    match at.state:
        case states.TAKING:
            return _taking(at)
        case states.ENDING:
            # An order that is lost is for the person to compare, who ended the bracket.
            return Plan(Do.CANCEL) if at.any_open else Plan(Do.CLOSE, outcome=_outcome(at))
        case _:
            return _watching(at)


def _watching(at: Situation) -> Plan:
    if at.reached and not at.frozen and at.exposed > ZERO and _can_take(at):
        return Plan(Do.BEGIN_TO_TAKE)
    if at.state == states.GUARDED and at.held is not None and at.held < at.exposed - at.room:
        return Plan(Do.END_POSITION_GONE)
    return _unguarded(at) if at.state == states.UNGUARDED else _guarding(at)


def _surplus(at: Situation) -> tuple[int, ...]:
    """The newest legs that rest beyond what was opened: an order that the exchange had denied appeared after all.

    The opened quantity counts before fees: a rate that rises says nothing about what was deducted from earlier fills.
    """
    if at.state in {states.TAKING, states.ENDING}:
        return ()  # there everything is cancelled
    entered = at.entry.filled if at.entry.gross is None else at.entry.gross
    resting = [leg for leg in at.legs if leg.chain.rests > ZERO and not leg.is_settled]
    excess = sum((leg.filled for leg in at.legs), ZERO) + sum((leg.chain.rests for leg in resting), ZERO) - entered
    numbers: list[int] = []
    while excess > ZERO and resting:
        leg = resting.pop()
        numbers.append(leg.number)
        excess -= leg.chain.rests
    return tuple(numbers)


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
    """While the entry is open and afterwards: whatever was filled and has no stop gets one."""
    has_begun_to_close = at.entry.open and any(leg.filled > ZERO for leg in at.legs)
    if at.bare > ZERO:
        if failed_legs := _failed_legs(at) or _overdue_legs(at):
            return Plan(Do.SAY_UNGUARDED, sentence=failed_legs[-1].reason, cancel_entry=has_begun_to_close)
        if at.room <= ZERO or is_paced(at):
            return Plan(Do.WAIT, sentence=notes(at), cancel_entry=has_begun_to_close)
        return Plan(Do.PLACE_STOP, at.room, cancel_entry=has_begun_to_close)
    if at.state == states.ENTERING and not at.entry.open and at.exposed > ZERO:
        return Plan(Do.SAY_GUARDED)
    return Plan(Do.WAIT, sentence=notes(at), cancel_entry=has_begun_to_close)


def _failed_legs(at: Situation) -> list[Leg]:
    """The legs that leave part of the position without a stop until a person has looked."""
    lost = [leg for leg in at.legs if leg.is_lost and not leg.is_settled]
    return lost or [leg for leg in at.stops if leg.fell_away] or [leg for leg in at.stops if leg.is_in_doubt]


def _overdue_legs(at: Situation) -> list[Leg]:
    """The legs whose outcome has been unknown for too long to rely on them, while nothing else can be placed."""
    if at.room > ZERO:
        return []
    unread = [leg for leg in at.legs if leg.settled_at and leg.is_lost and _has_waited(at, leg.settled_at, READ_WITHIN)]
    return unread or [leg for leg in at.legs if leg.chain.is_overdue(at.now)]


def is_paced(at: Situation) -> bool:
    """Whether the next stop has to wait, so that many small fills within half a minute share one."""
    return len(at.legs) >= MOST_BY_ITSELF and not all(_has_waited(at, leg.at, TRY_AGAIN) for leg in at.legs)


def notes(at: Situation) -> str:
    """What people should know about orders that work: what is unknown, and what did not happen."""
    return " ".join(note for note in (at.entry.note, *(leg.note for leg in at.legs)) if note)


def unclear(at: Situation) -> str:
    """Which orders may be at the exchange unseen, or were looked for in vain for too long; empty where there are none.

    A replacement that was not seen is left out while the order that it was to replace works.
    """
    lost = [leg.reason for leg in at.legs if leg.is_lost or leg.chain.is_overdue(at.now)]
    return " ".join((*([] if at.entry.is_certain else [at.entry.note]), *lost))


def _unguarded(at: Situation) -> Plan:
    if at.bare <= ZERO:
        return Plan(Do.SAY_GUARDED)
    failed_legs, causes = _failed_legs(at), _failed_legs(at) or _overdue_legs(at)
    tries_again = (
        all(leg.never_left and not leg.is_lost for leg in failed_legs)
        and len(at.legs) < MOST_BY_ITSELF
        and all(_has_waited(at, leg.at, TRY_AGAIN) for leg in failed_legs)
        if failed_legs
        else not is_paced(at)  # the outcome is known by now, and nobody has to be asked
    )
    if tries_again and not at.frozen and at.room > ZERO:
        return Plan(Do.PLACE_STOP, at.room, settled=tuple(leg.number for leg in failed_legs))
    return Plan(Do.WAIT, sentence=causes[-1].reason if causes else "")


@dataclass(frozen=True, slots=True)
class NewStop:
    """The stop that is placed when a person asks for it again; `quantity` is in the base currency.

    `numbers` are the legs that the bracket stops relying on. Those in `lost` may be at the exchange unseen, so its
    orders are read first; those in `cancelled` still work and are cancelled before another one is placed.
    """

    quantity: Decimal
    numbers: tuple[int, ...]
    lost: tuple[int, ...]
    cancelled: tuple[int, ...]


def place_again(at: Situation) -> NewStop:
    """The stop that would be placed again; its quantity is zero where every order may be there and none is dropped."""
    dropped_legs = [leg for leg in at.legs if leg.is_in_doubt or leg.fell_away]
    cover = sum((leg.most for leg in at.legs if leg not in dropped_legs and not leg.is_settled), ZERO)
    return NewStop(
        quantity=floored(at.exposed - cover, at.step),
        numbers=tuple(leg.number for leg in dropped_legs),
        lost=tuple(leg.number for leg in dropped_legs if leg.is_lost),
        cancelled=tuple(leg.number for leg in dropped_legs if leg.open),
    )


def most_instead_of(at: Situation, number: int) -> Decimal:
    """The largest full quantity for a replacement of this leg, so that no more rests than is open."""
    leg = next(leg for leg in at.legs if leg.number == number)
    return leg.filled + leg.most + at.room


def _taking(at: Situation) -> Plan:
    """First the stops and what remains of the entry have to end; then the rest is offered at the take profit."""
    if at.entry.open or any(leg.open for leg in at.stops):
        return Plan(Do.CANCEL)
    current_takes = [leg for leg in at.takes if not leg.is_settled]
    if any(leg.open for leg in current_takes):
        return Plan(Do.WAIT)
    if lost := _lost(at.legs):  # it may be there all the same, so no second order may be placed
        return Plan(Do.SAY_UNGUARDED, sentence=lost[-1].reason)
    if current_takes:  # the book filled only a part, or it was never there
        return Plan(
            Do.GIVE_UP_TAKING,
            sentence=current_takes[-1].reason,
            settled=tuple(leg.number for leg in (*current_takes, *at.stops)),
        )
    return Plan(Do.PLACE_TAKE, at.room) if at.room > ZERO else Plan(Do.WAIT, sentence=notes(at))


def _can_take(at: Situation) -> bool:
    """Whether no order is on its way or lost, and the last attempt is long enough ago."""
    rested = all(_has_waited(at, leg.at, REST) for leg in at.takes)
    return rested and not _lost(at.legs) and not any(leg.open for leg in at.takes)


def _lost(legs: Iterable[Leg]) -> list[Leg]:
    return [leg for leg in legs if leg.is_lost]


def _has_waited(at: Situation, since: datetime, wait: timedelta) -> bool:
    return clock.has_passed(wait, since=since, now=at.now)


def _outcome(at: Situation) -> str:
    by_stop, by_take = (any(leg.filled > ZERO for leg in legs) for legs in (at.stops, at.takes))
    if by_stop and by_take:
        return states.BY_BOTH
    if by_stop or by_take:
        return states.BY_STOP if by_stop else states.BY_TAKE
    return states.NOT_ENTERED if at.state != states.ENDING else states.CANCELLED
