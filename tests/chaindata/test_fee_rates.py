"""What waits for a block by what it pays for a byte."""

from decimal import Decimal

import pytest

from chaindata.explorer import fee_rates
from chaindata.wire.records.chain import MempoolEntry

LEAST = Decimal("0.00001")


def entry(fee_sat, size, *, ancestors=1, ancestor_fees=0, ancestor_size=0):
    return MempoolEntry(
        size=size,
        fee=Decimal(fee_sat).scaleb(-8),
        modifiedfee=Decimal(0),
        time=1,
        height=1,
        descendantcount=1,
        descendantsize=size,
        descendantfees=fee_sat,
        ancestorcount=ancestors,
        ancestorsize=ancestor_size or size,
        ancestorfees=ancestor_fees or fee_sat,
        depends=[],
    )


def test_an_empty_mempool_says_only_what_is_accepted():
    found = fee_rates.summarise([], least_fee=LEAST)
    assert (found.lowest, found.middle, found.highest, found.bands) == (Decimal("1.00"), None, None, ())


def test_before_the_node_was_read_nothing_is_known():
    assert fee_rates.summarise([], least_fee=None).lowest is None


def test_bands_go_from_the_highest_to_the_lowest_with_empty_ones_between():
    found = fee_rates.summarise([entry(250, 250), entry(1_000, 100), entry(900, 250)], least_fee=LEAST)
    bands = [(each.low, each.high, each.count, each.size, each.share) for each in found.bands]
    assert bands == [
        (10, 20, 1, 100, 16),
        (5, 10, 0, 0, 0),
        (3, 5, 1, 250, 41),
        (2, 3, 0, 0, 0),
        (1, 2, 1, 250, 41),
    ]
    assert found.highest == Decimal("10.00")


def test_the_middle_is_of_bytes_and_not_of_transactions():
    found = fee_rates.summarise([entry(100, 100), entry(100, 100), entry(50_000, 1_000)], least_fee=LEAST)
    assert found.middle == Decimal("50.00")


def test_the_last_band_has_no_end_and_a_small_share_still_shows():
    found = fee_rates.summarise([entry(100_000, 100), entry(1_000_000, 1_000_000)], least_fee=LEAST)
    assert (found.bands[0].low, found.bands[0].high, found.bands[0].share) == (100, None, 1)


def test_what_waits_on_something_cheap_is_judged_with_it():
    rich = entry(10_000, 100, ancestors=2, ancestor_fees=10_100, ancestor_size=1_000)
    assert fee_rates.rate_of(rich) == Decimal("10.1")
    poor = entry(100, 100, ancestors=2, ancestor_fees=10_100, ancestor_size=200)
    assert fee_rates.rate_of(poor) == Decimal(1), "a block may take what it waits on alone"


@pytest.mark.parametrize("size", [0, -1])
def test_no_bytes_have_no_rate(size):
    assert fee_rates.rate_of(entry(1, size)) is None
