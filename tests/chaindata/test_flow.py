"""A transaction as a drawing: widths are values, nothing overlaps its neighbour, and words say the same."""

import re
from decimal import Decimal
from itertools import pairwise

import pytest

from chaindata.explorer import flow
from chaindata.explorer.flow import Part

NUMBERS = re.compile(r"-?\d+(?:\.\d+)?")


def parts(*coins, tone=flow.PLAIN):
    return [Part(Decimal(each), f"{each} BCH", tone) for each in coins]


def outside(ribbon):
    """Where a ribbon begins and ends at the edge of the drawing."""
    found = [Decimal(each) for each in NUMBERS.findall(ribbon.path)]
    return found[1], found[-1]


def test_a_payment_with_change_and_a_fee():
    drawn = flow.drawing(inputs=parts("1.5"), outputs=parts("1", "0.4"), fee=Decimal("0.1"))
    assert [each.tone for each in drawn.ribbons] == [flow.PLAIN, flow.PLAIN, flow.PLAIN, flow.FEE]
    assert drawn.words == "1 input (1.5 BCH), 2 outputs (1.4 BCH), fee 0.1 BCH."
    wide = [low - high for high, low in map(outside, drawn.ribbons[1:])]
    assert wide[0] > wide[1] > wide[2] >= flow.THINNEST
    assert abs((wide[0] - flow.THINNEST) / (wide[1] - flow.THINNEST) - Decimal("2.5")) < Decimal("0.05")


@pytest.mark.parametrize("count", [1, 2, 5, 12, 13, 200])
def test_everything_lies_inside_and_nothing_overlaps(count):
    drawn = flow.drawing(inputs=parts(*["1"] * count), outputs=parts(str(count)), fee=Decimal(0))
    left = drawn.ribbons[:-1]
    assert len(left) == min(count, flow.MOST_SIDES)
    edges = [outside(each) for each in left]
    assert edges[0][0] >= 0
    assert edges[-1][1] <= Decimal(drawn.height) + Decimal("0.02")
    assert all(low < high for (_, low), (high, _) in pairwise(edges))


def test_the_smallest_of_many_are_drawn_together():
    coins = [str(n) for n in range(1, 31)]
    drawn = flow.drawing(inputs=parts("465"), outputs=parts(*coins), fee=Decimal(0))
    rest = [each for each in drawn.ribbons if each.tone == flow.OTHERS]
    assert [each.words for each in rest] == ["19 others: 190 BCH"]


@pytest.mark.parametrize("count", [2, 12, 40])
def test_every_label_has_a_line_of_its_own_beside_its_ribbon(count):
    dust = [Part(Decimal("0.00000546"), "dust", label=f"…{n:06}") for n in range(count)]
    drawn = flow.drawing(inputs=parts("5"), outputs=[*parts("4.9"), *dust], fee=Decimal("0.01"))
    places = [Decimal(each.label_y) for each in drawn.outputs]
    assert all(low - high >= flow.LINE for high, low in pairwise(places))
    assert places[0] >= flow.LINE / 2
    assert places[-1] <= Decimal(drawn.height) - flow.LINE / 2 + flow.BASELINE
    for ribbon, place in zip(drawn.outputs, places, strict=True):
        assert abs(sum(outside(ribbon)) / 2 - (place - flow.BASELINE)) < Decimal("0.02")
    last = f"{count - 10} others" if count > 11 else f"…{count - 1:06}"
    assert [each.label for each in drawn.outputs[-2:]] == [last, "fee"]


@pytest.mark.parametrize(("inputs", "outputs"), [((), ("1",)), (("1",), ()), (("0",), ("0",))])
def test_what_moves_nothing_is_not_drawn(inputs, outputs):
    assert flow.drawing(inputs=parts(*inputs), outputs=parts(*outputs), fee=Decimal(0)) is None
