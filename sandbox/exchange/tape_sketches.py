"""How a quarter of an hour of simulated trading looks before it has prices: which sides, at which points of the path.

A sketch is drawn once and used for many quarters: with the prices of the path put in, its open, close, extremes and
sums follow without making its trades one by one, and making them gives exactly the same.
"""

import random
from functools import cache
from typing import Final, NamedTuple

LEAF_MS: Final = 900_000  # a leaf of the tape: a quarter of an hour
POINTS: Final = 7  # of the path in a leaf: its four marks and the middles between them
HIGH: Final = POINTS
LOW: Final = POINTS + 1
FARTHEST: Final = 4  # offset from the path
VARIANTS: Final = 16  # sketches of each length
MOST_TRADES: Final = 1_000
_LEAST_WITH_EXTREMES: Final = 6
_HEAVIEST: Final = 40


class Slot(NamedTuple):
    """One trade to be: where on the path it happens (or HIGH, LOW), how far above (a purchase) or below it (a sale),
    and its share of the volume."""

    point: int
    offset: int
    weight: int


class Sketch(NamedTuple):
    """The trades of a leaf in their order, and what its sums need.

    `weights` are the shares by point, HIGH and LOW included; `net` is the sum of the offsets of the others by their
    shares. `reach` are the points and offsets among which the extremes are found.
    """

    slots: tuple[Slot, ...]
    weights: tuple[int, ...]
    net: int
    total: int
    reach: tuple[tuple[int, int], ...]


@cache
def sketches(trades: int) -> tuple[Sketch, ...]:
    """The sketches with so many trades, 1 to `MOST_TRADES`; the same in every world."""
    draw = random.Random(trades)  # noqa: S311 (every world must draw the same)
    return tuple(_sketch(draw, trades) for _ in range(VARIANTS))


def _sketch(draw: random.Random, trades: int) -> Sketch:
    slots = [_slot(draw, (2 * place + 1) * (POINTS - 1) // trades) for place in range(trades)]
    if trades >= _LEAST_WITH_EXTREMES:
        high, low = draw.sample(range(1, trades - 1), 2)
        slots[high] = Slot(HIGH, 1, draw.randint(1, 3))
        slots[low] = Slot(LOW, -1, draw.randint(1, 3))
        reach: tuple[tuple[int, int], ...] = ((HIGH, 1), (LOW, -1))
    else:
        reach = tuple({(slot.point, slot.offset): None for slot in slots})
    weights = [0] * (POINTS + 2)
    for slot in slots:
        weights[slot.point] += slot.weight
    net = sum(slot.offset * slot.weight for slot in slots if slot.point < POINTS)
    return Sketch(tuple(slots), tuple(weights), net, sum(weights), reach)


def _slot(draw: random.Random, doubled_point: int) -> Slot:
    """A trade at the point nearest to its time; most are small, a few are large."""
    weight = 1 + draw.randrange(_HEAVIEST) * draw.randrange(_HEAVIEST) // _HEAVIEST
    return Slot((doubled_point + 1) // 2, draw.choice((-1, 1)) * draw.randint(1, FARTHEST), weight)
