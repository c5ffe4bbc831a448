"""What the books said to the orders of one input: noted for the journal while it happens, read from it when the journal
is lived again.

The simulated traders are not journaled: after a restart their orders are others. What an order of a customer met is
therefore a part of the journal, and a replay asks the journal instead of the book: it takes the recorded fills off the
customers' orders that made them, lets the rest of the order rest if it did, and never matches anything. A fill against
a simulated trader has the maker 0.
"""

from typing import NamedTuple, TypeAlias

# A trade of an order with the book: the number of the trade, the resting order (0: a simulated trader's), its price,
# and the quantity.
Meeting: TypeAlias = tuple[int, int, int, int]


class Met(NamedTuple):
    """What one order met in its book. `reason` tells why the rest of it is gone (see `matching.Outcome`); "" when it
    rests or nothing is left; "funds" when a woken stop order could not be paid for."""

    trades: tuple[Meeting, ...]
    reason: str = ""


FUNDS = "funds"
NOTHING = Met(())


class RecordedFills:
    """The outcomes of one input, in their order. While `replaying`, they come from the journal."""

    def __init__(self) -> None:
        self.replaying = False
        self._mets: list[Met] = []
        self._next = 0

    def begin(self) -> None:
        """Begins to note the outcomes of a new input."""
        self._mets, self._next = [], 0

    def note(self, met: Met) -> None:
        """Notes an outcome as it happens; what is lived again is noted already."""
        if not self.replaying:
            self._mets.append(met)

    def give(self, recorded: list[object]) -> None:
        """Begins an input whose outcomes are known; raises ValueError when they can't be read."""
        self._mets, self._next = [_read(one) for one in recorded], 0

    def peek(self) -> Met:
        """The next recorded outcome; raises ValueError when there is none."""
        if self._next >= len(self._mets):
            raise ValueError("the journal has fewer outcomes than the input")
        return self._mets[self._next]

    def take(self) -> Met:
        """The next recorded outcome, which is then done with."""
        met = self.peek()
        self._next += 1
        return met

    def is_next(self, reason: str) -> bool:
        """Whether the next recorded outcome, if there is one, has this reason."""
        return self._next < len(self._mets) and self._mets[self._next].reason == reason

    def must_be_used_up(self) -> None:
        """Raises ValueError when recorded outcomes are left over."""
        if self._next != len(self._mets):
            raise ValueError("the journal has more outcomes than the input")

    def recorded(self) -> list[object]:
        """What was noted, as the journal keeps it."""
        return [[met.reason, *(list(meeting) for meeting in met.trades)] for met in self._mets]

    def put_aside(self) -> list[Met]:
        """What was noted so far, while another input comes in between; `resume` takes it up again."""
        noted, self._mets = self._mets, []
        return noted

    def resume(self, noted: list[Met]) -> None:
        """Goes on where `put_aside` left off."""
        self._mets = noted


def _read(recorded: object) -> Met:
    match recorded:
        case [str(reason), *meetings]:
            return Met(tuple(meeting_of(each) for each in meetings), reason)
    raise ValueError("not an outcome")


def meeting_of(recorded: object) -> Meeting:
    """A recorded trade; raises ValueError when it is none."""
    match recorded:
        case [int(trade_id), int(maker_id), int(price), int(quantity)]:
            return trade_id, maker_id, price, quantity
    raise ValueError("not a trade")
