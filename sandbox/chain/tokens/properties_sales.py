"""Crowdsales: what a payment buys, to the last base unit, and how a sale ends (supplement 1.13).

All divisions are integer divisions, in exactly this order: another order gives other last digits.
"""

from typing import NamedTuple

from msgspec.structs import replace

from sandbox.chain.tokens.properties_state import Ending, Sale, State
from sandbox.chain.tokens.properties_terms import Moment

SCALE = 10**12  # of shares and percentages
UNIT = 10**8  # of the first property and of prices
WEEK_S = 604_800


class Purchase(NamedTuple):
    """What a payment comes to: `spent` of it goes to the issuer, `units` to the buyer; it may end the sale."""

    spent: int
    units: int
    ends: bool


def purchase(sale: Sale, amount: int, time_s: int) -> Purchase:
    """What `amount` of the first property buys at a time."""
    remaining = sale.total - sale.sold
    if _bought(sale, 1, time_s) // SCALE // UNIT > remaining:
        return Purchase(0, 0, True)
    scaled = _bought(sale, amount, time_s)
    units = scaled // SCALE // UNIT
    if units < remaining:
        return Purchase(amount - _refund(sale, scaled - units * SCALE * UNIT, time_s), units, False)
    return Purchase(amount * SCALE // (units * SCALE // remaining), remaining, True)


def bonus(sale: Sale, time_s: int) -> int:
    """What a buyer gets for each token that is paid, times 10^12: more for every week until the deadline."""
    remaining_s = max(sale.deadline_s - time_s, 0)
    weeks = remaining_s // WEEK_S * SCALE + remaining_s % WEEK_S * SCALE // WEEK_S
    return (100 * SCALE + weeks * sale.early_bonus) // 100


def _bought(sale: Sale, amount: int, time_s: int) -> int:
    """Base units for an amount, times 10^20."""
    return _parts(sale) * amount * bonus(sale, time_s) * sale.price // UNIT


def _refund(sale: Sale, excess: int, time_s: int) -> int:
    """What is given back because it buys no whole base unit."""
    return excess * UNIT * SCALE // bonus(sale, time_s) // sale.price // _parts(sale) // SCALE


def _parts(sale: Sale) -> int:
    """The base units of a whole token."""
    return int(10**sale.precision)


# The life of a sale --------------------------------------------------------------------------------------------------


def end_sale(
    state: State, property_id: int, moment: Moment, *, early: bool, sold_out: bool = False, txid: str = ""
) -> None:
    """Ends an active sale: what is not sold goes to its issuer."""
    sale = state.sales[property_id]
    issuer = state.properties[property_id].issuer
    returned = sale.total - sale.sold
    state.credit(property_id, issuer, returned)
    ending = Ending(early, sold_out, moment.time_s, txid, returned)
    state.sales[property_id] = replace(sale, ending=ending)
    del state.selling[issuer]


def count(state: State, property_id: int, bought: Purchase) -> None:
    """Keeps in the sale what was sold and paid."""
    sale = state.sales[property_id]
    state.sales[property_id] = replace(sale, sold=sale.sold + bought.units, raised=sale.raised + bought.spent)


def expire(state: State, moment: Moment) -> None:
    """Ends the sales whose deadline is before the time of the block."""
    for property_id in sorted(state.selling.values()):
        if moment.time_s > state.sales[property_id].deadline_s:
            end_sale(state, property_id, moment, early=False)
