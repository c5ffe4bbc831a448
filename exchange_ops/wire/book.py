"""One order book rebuilt from a snapshot and its updates (supplement 1.3).

The first update after a snapshot has its sequence plus one, each next one plus one. An update that is not newer is a
repetition; a step of more than one, or a book whose sides cross, is broken until the next snapshot. A snapshot may come
again at any time and counts.
"""

import heapq
from datetime import datetime
from decimal import Decimal
from enum import Enum

from exchange_ops.wire import records
from exchange_ops.wire.records import Level

Sides = tuple[list[Level], list[Level]]


class Step(Enum):
    """What an update did to the book."""

    APPLIED = "applied"
    REPEATED = "repeated"
    BROKEN = "broken"


class Book:
    """The levels of one symbol by their price, as of `sequence`."""

    __slots__ = ("_ask", "_bid", "is_whole", "sequence", "symbol", "timestamp")

    def __init__(self, symbol: str) -> None:
        self.symbol = symbol
        self.sequence = -1
        self.is_whole = False
        self.timestamp: datetime | None = None
        self._ask: dict[Decimal, Decimal] = {}
        self._bid: dict[Decimal, Decimal] = {}

    def restart(self, report: records.BookReport) -> Step:
        """Begin anew from a snapshot."""
        self._ask, self._bid = {}, {}
        self.is_whole = True
        return self._take(report)

    def update(self, report: records.BookReport) -> Step:
        """Apply the changed levels; a book that is not whole waits for its snapshot and takes none."""
        if not self.is_whole or report.sequence <= self.sequence:
            return Step.REPEATED
        if report.sequence != self.sequence + 1:
            self.is_whole = False
            return Step.BROKEN
        return self._take(report)

    def best(self, depth: int) -> Sides:
        """The best `depth` levels of each side, best first: asks ascending, bids descending."""
        ask = heapq.nsmallest(depth, self._ask)
        bid = heapq.nlargest(depth, self._bid)
        return [Level(price, self._ask[price]) for price in ask], [Level(price, self._bid[price]) for price in bid]

    def _take(self, report: records.BookReport) -> Step:
        self.sequence = report.sequence
        self.timestamp = report.timestamp
        for levels, report_levels in ((self._ask, report.ask), (self._bid, report.bid)):
            for level in report_levels:
                if level.size > 0 and level.price > 0:
                    levels[level.price] = level.size
                else:
                    levels.pop(level.price, None)
        if self._ask and self._bid and max(self._bid) >= min(self._ask):
            self.is_whole = False
            return Step.BROKEN
        return Step.APPLIED
