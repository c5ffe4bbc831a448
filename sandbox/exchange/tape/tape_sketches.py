"""How a quarter of an hour of simulated trading looks before it has prices: which sides, at which points of the path.

A sketch is drawn once and used for many quarters: with the prices of the path put in, its open, close, extremes and
sums follow without making its trades one by one, and making them gives exactly the same.
"""

import random
from functools import cache
from typing import Final, NamedTuple

LEAF_MS: Final = 900_000  # a leaf of the tape: a quarter of an hour
POINTS: Final = 4  # of the path in a leaf: its marks, those at both ends included
FARTHEST: Final = 4  # offset from the path
VARIANTS: Final = 16  # sketches of each length
NOWHERE: Final = 2**60  # the lowest offset at a point without trades; its negative is the highest one
_LEAST_WITH_EXTREMES: Final = 6
_HEAVIEST: Final = 40


class Slot(NamedTuple):
    """One trade to be: at which point of the path it happens, how far above (a purchase) or below it (a sale), and its
    share of the volume."""

    point: int
    offset: int
    weight: int


class Sketch(NamedTuple):
    """The trades of a leaf in their order, and what its sums and extremes need.

    `weights` are the shares by point; `net` is the sum of the offsets by their shares. `lowest` and `highest` are the
    outermost offsets by point, `least` and `most` those of all.
    """

    slots: tuple[Slot, ...]
    weights: tuple[int, ...]
    net: int
    total: int
    lowest: tuple[int, ...]
    highest: tuple[int, ...]
    least: int
    most: int


@cache
def sketches(trades: int) -> tuple[Sketch, ...]:
    """The sketches with so many trades, at least one; the same in every world."""
    draw = random.Random(trades)  # noqa: S311 (every world must draw the same)
    return tuple(_sketch(draw, trades) for _ in range(VARIANTS))


def _sketch(draw: random.Random, trades: int) -> Sketch:
    slots = [_slot(draw, (2 * place + 1) * (POINTS - 1) // trades) for place in range(trades)]
    if trades >= _LEAST_WITH_EXTREMES:
        for place, offset in zip(draw.sample(range(1, trades - 1), 2), (FARTHEST, -FARTHEST), strict=True):
            slots[place] = Slot(slots[place].point, offset, draw.randint(1, 3))
    weights, lowest, highest = [0] * POINTS, [NOWHERE] * POINTS, [-NOWHERE] * POINTS
    for point, offset, weight in slots:
        weights[point] += weight
        lowest[point], highest[point] = min(lowest[point], offset), max(highest[point], offset)
    net = sum(slot.offset * slot.weight for slot in slots)
    outermost = tuple(lowest), tuple(highest), min(lowest), max(highest)
    return Sketch(tuple(slots), tuple(weights), net, sum(weights), *outermost)


def _slot(draw: random.Random, doubled_point: int) -> Slot:
    """A trade at the point nearest to its time; most are small, a few are large."""
    weight = 1 + draw.randrange(_HEAVIEST) * draw.randrange(_HEAVIEST) // _HEAVIEST
    return Slot((doubled_point + 1) // 2, draw.choice((-1, 1)) * draw.randint(1, FARTHEST - 1), weight)
