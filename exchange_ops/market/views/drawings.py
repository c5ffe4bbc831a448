"""Charts of markets as plain figures: the outline of a book's depth, and candles for the chart to draw.

Coordinates are rounded to a tenth of a unit; the exact figures are in the table beside the chart.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Final

from exchange_ops.market.depth import Ladder, Step
from exchange_ops.market.models import Candle
from wire.values import decimal_text

WIDTH, HEIGHT = 640, 170
REACH: Final = 4  # times as far as half of all levels lie: one order far out would flatten the near ones
_TENTH = Decimal("0.1")
_PERCENT: Final = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class DepthPicture:
    """Two outlines in a field of WIDTH by HEIGHT, with its lowest, middle and highest price, and the size at its top.

    `percent` is how far it reaches from the middle, rounded up; `beyond` levels are farther out and are not drawn.
    """

    bid: str
    ask: str
    low: Decimal
    middle: Decimal
    high: Decimal
    top: Decimal
    percent: Decimal
    beyond: int


def depth(ladder: Ladder) -> DepthPicture | None:
    """The cumulative sizes of both sides over the price; None where a side is empty."""
    middle = ladder.middle
    if not middle or not ladder.deepest:
        return None
    reach = _reach(ladder, middle)
    ask, bid = ([one for one in side if abs(one.price - middle) <= reach] for side in (ladder.ask, ladder.bid))
    near = Ladder(tuple(ask), tuple(bid))
    return DepthPicture(
        bid=_outline(near.bid, middle, reach, near.deepest, edge=Decimal(0)),
        ask=_outline(near.ask, middle, reach, near.deepest, edge=Decimal(WIDTH)),
        low=middle - reach,
        middle=middle,
        high=middle + reach,
        top=near.deepest,
        percent=(reach * 100 / middle).quantize(_PERCENT, rounding=ROUND_CEILING),
        beyond=len(ladder.ask) + len(ladder.bid) - len(near.ask) - len(near.bid),
    )


def _reach(ladder: Ladder, middle: Decimal) -> Decimal:
    """How far from the middle is drawn: to the farthest level, but at most REACH times the median distance."""
    distances = sorted(abs(one.price - middle) for one in (*ladder.ask, *ladder.bid))
    return min(distances[-1], REACH * distances[len(distances) // 2])


def _outline(steps: Sequence[Step], middle: Decimal, reach: Decimal, deepest: Decimal, *, edge: Decimal) -> str:
    """From the best price outwards: a step up at each level, along the total to the edge, and down to the base line."""
    points, height = [], HEIGHT * _TENTH * 10
    for step in steps:
        place = (step.price - middle) / reach * WIDTH / 2 + WIDTH // 2
        points.append((place, height))
        height = HEIGHT - step.total / deepest * (HEIGHT - 6)
        points.append((place, height))
    points += [(edge, height), (edge, Decimal(HEIGHT))]
    return "M" + "L".join(f"{_place(x)} {_place(y)}" for x, y in points) + "Z"


def _place(value: Decimal) -> str:
    return decimal_text(value.quantize(_TENTH))


def candles(rows: Iterable[Candle]) -> str:
    """The candles, oldest first, as a JSON list of [second, open, high, low, close, volume]; figures as exact texts."""
    return json.dumps([_candle(row) for row in rows], separators=(",", ":"))


def _candle(row: Candle) -> list[int | str]:
    figures = (row.open, row.max, row.min, row.close, row.volume)
    return [int(row.timestamp.timestamp()), *map(decimal_text, figures)]
