"""The records of the tape: a public trade, and a bar of the trades of some time."""

from typing import NamedTuple


class Trade(NamedTuple):
    """A public trade: price in ticks, quantity in increments, `side` the taker's."""

    id: int
    at_ms: int
    price: int
    quantity: int
    side: str


class Bar(NamedTuple):
    """What the trades of some time come to; prices in ticks, quantity in increments, notional in their product."""

    open: int
    close: int
    low: int
    high: int
    quantity: int
    notional: int
    trades: int
