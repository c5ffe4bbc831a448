"""What the simulated traders want to offer in one symbol at a moment: two ladders around the quotes.

The best offers follow the quotes. Behind them every price belongs to a cell of a fixed grid, with a size that holds for
a while, so that most of a book stays as it is while the market moves.
"""

from typing import Final

from sandbox.exchange.tape.market import STEP_MS, UNIT, Market, mixed
from sandbox.exchange.tape.tape_records import Track

LEVELS: Final = 50  # a side, best one included
_GRID: Final = 60  # millionths of the price from one offer to the next
_HOLD_STEPS: Final = 40  # a size holds for so many steps
_MOST_CELLS: Final = 2_000
_LEAST_DOLLARS, _QUIET_DOLLARS, _LIVELY_DOLLARS = 50, 2_000, 20_000

# Sizes in increments by prices in ticks, best first.
Ladder = dict[int, int]


class Wishes:
    """The ladders of one symbol."""

    __slots__ = ("_cells", "_grid", "_market", "_most", "_track")

    def __init__(self, market: Market, track: Track) -> None:
        self._market = market
        self._track = track
        self._grid = market.listed_ticks(track.symbol) * _GRID // 10**6 or 1
        self._most = _QUIET_DOLLARS if track.is_quiet else _LIVELY_DOLLARS
        self._cells: dict[int, tuple[int, int, int]] = {}

    def at(self, at_ms: int) -> tuple[Ladder, Ladder]:
        """Bids and asks at an instant; bids have fewer levels where the price is only a few ticks."""
        bid, ask = self._market.quotes(self._track.symbol, at_ms)
        step = self._market.reached_ms(at_ms) // STEP_MS
        return self._side(bid, step, -1), self._side(ask, step, 1)

    def _side(self, best: int, step: int, away: int) -> Ladder:
        # A step is a second since 1970 and has 31 bits: shifted by 40, the price changes others than it does.
        ladder = {best: self._size(mixed(self._track.key ^ step ^ best << 40))}
        number = best // self._grid
        while len(ladder) < LEVELS and number >= 0:
            price, size = self._cell(number, step)
            if (price - best) * away > 0 and price:
                ladder[price] = size
            number += away
        return ladder

    def _cell(self, number: int, step: int) -> tuple[int, int]:
        """Price and size of a cell of the grid; what was drawn for it is remembered."""
        held = self._cells.get(number)
        if held is not None and held[2] > step:
            return held[:2]
        # What is drawn for a cell says where in it the offer stands and when its size changes: once for all time.
        drawn = mixed(self._track.key ^ number << 1)
        # Cells change at different steps, each after so many: `drawn` says by how much it is ahead of the others.
        turn = (step + drawn % _HOLD_STEPS) // _HOLD_STEPS
        if len(self._cells) >= _MOST_CELLS:
            self._cells.clear()
        price, size = number * self._grid + (drawn >> 16) % self._grid, self._size(mixed(drawn ^ turn))
        self._cells[number] = price, size, (turn + 1) * _HOLD_STEPS - drawn % _HOLD_STEPS
        return price, size

    def _size(self, drawn: int) -> int:
        """Mostly small, now and then large: a product of two even draws is below a tenth of its most in a third of all
        cases. Up to nine increments more keep equal sizes apart. The three draws are of different bits of the number.
        """
        dollars = _LEAST_DOLLARS + self._most * (drawn % 1_000) * ((drawn >> 16) % 1_000) // 10**6
        return max(dollars * self._track.increments // UNIT + (drawn >> 32) % 10, 1)
