"""The supply of a managed property over time, from its grants and revocations."""

from decimal import Decimal

import pytest

from chaindata.tokens import supply
from chaindata.tokens.supply import Change


def change(amount, block, position=0):
    return Change(f"{block}-{position}", Decimal(amount), block, position)


def test_changes_are_in_the_order_of_the_chain_whatever_order_they_come_in():
    found = supply.steps([change(5, 12), change(-3, 11, 4), change(10, 10), change(-2, 11, 1)])
    assert [(each.change.block, each.supply) for each in found] == [(10, 10), (11, 8), (11, 5), (12, 10)]


def test_nothing_is_drawn_before_every_block_is_known():
    found = supply.steps([change(5, 12), change(5, None)])
    assert found == []
    assert supply.drawing(found, tip=20) is None


def test_the_line_steps_at_each_block_and_goes_on_to_the_tip():
    drawn = supply.drawing(supply.steps([change(10, 10), change(-5, 20)]), tip=30)
    assert drawn.line == "M0 140H0V11.2H500V75.6H1000"
    assert drawn.area == f"{drawn.line}V140Z"
    assert drawn.words == "From block 10 to block 30 the supply went from 0 to 5, peaking at 10."


@pytest.mark.parametrize("tip", [None, 3, 10])
def test_a_tip_that_is_not_known_or_behind_is_no_error(tip):
    assert supply.drawing(supply.steps([change(10, 10)]), tip=tip).line.endswith("H1000")


def test_a_supply_that_never_was_is_not_drawn():
    assert supply.drawing(supply.steps([change(-1, 10)]), tip=20) is None
