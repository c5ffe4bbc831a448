"""An order book as a stream has told it, and what of it changed since (supplement 1.3).

Only told levels can be told as gone, and a number counts every telling of a change, never with a gap.
"""

from collections.abc import Iterable

Levels = list[tuple[int, int]]


class PublishedBook:
    """The levels that were told, sizes by prices, and the sequence of the latest telling."""

    __slots__ = ("asks", "bids", "sequence")

    def __init__(self, sequence: int, asks: Iterable[tuple[int, int]], bids: Iterable[tuple[int, int]]) -> None:
        self.sequence = sequence
        self.asks = dict(asks)
        self.bids = dict(bids)

    def change(self, asks: Levels, bids: Levels) -> tuple[Levels, Levels] | None:
        """What to tell so that these are the told levels: asks ascending, bids descending, size 0 for a level that is
        gone. None when nothing changed; else the sequence has grown by one."""
        asks_now, bids_now = dict(asks), dict(bids)
        changes = sorted(_differences(self.asks, asks_now)), sorted(_differences(self.bids, bids_now), reverse=True)
        if not any(changes):
            return None
        self.sequence += 1
        self.asks, self.bids = asks_now, bids_now
        return changes

    def levels(self) -> tuple[Levels, Levels]:
        """Asks ascending and bids descending, as told."""
        return sorted(self.asks.items()), sorted(self.bids.items(), reverse=True)


def _differences(before: dict[int, int], now: dict[int, int]) -> Levels:
    gone = [(price, 0) for price in before if price not in now]
    return gone + [(price, size) for price, size in now.items() if before.get(price) != size]
