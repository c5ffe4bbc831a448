"""Fee rates of the transactions that wait for a block: in bands, and the rates that matter to somebody who pays now.

Computed from the entries of the mempool alone. A transaction that spends others which also wait counts with the rate of
all of them, because a block takes it only with them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from chaindata.wire import decoding
from chaindata.wire.records.chain import MempoolEntry

# Satoshis for a byte from which a band begins; the last one has no end.
BANDS: Final = tuple(Decimal(each) for each in (0, 1, 2, 3, 5, 10, 20, 50, 100))
_PLACES: Final = Decimal("0.01")
_BYTES_OF_A_FEE: Final = 1000  # for which the node states its least fee


@dataclass(frozen=True, slots=True)
class Band:
    """Transactions that pay from `low` to below `high` for a byte. `share` is of all bytes, in percent, at least 1."""

    low: Decimal
    high: Decimal | None
    count: int
    size: int
    share: int


@dataclass(frozen=True, slots=True)
class FeeRates:
    """Satoshis for a byte: the least that the node accepts, the median over the waiting bytes, and the highest.

    `bands` leave out the empty ones at both ends; the highest rate comes first.
    """

    lowest: Decimal | None
    middle: Decimal | None
    highest: Decimal | None
    bands: Sequence[Band]


def summarise(entries: Iterable[MempoolEntry], *, least_fee: Decimal | None) -> FeeRates:
    """The rates; `least_fee` is the least fee that the node accepts for a thousand bytes, in coins."""
    rates = sorted((rate, entry.size) for entry in entries if (rate := rate_of(entry)) is not None)
    lowest = None if least_fee is None else _round(least_fee * decoding.SAT_PER_COIN / _BYTES_OF_A_FEE)
    if not rates:
        return FeeRates(lowest, None, None, ())
    return FeeRates(lowest, _round(_middle(rates)), _round(rates[-1][0]), _bands(rates))


def rate_of(entry: MempoolEntry) -> Decimal | None:
    """What it pays for a byte, with the waiting transactions that it spends if that is less; None for no bytes."""
    if entry.size <= 0:
        return None
    own = entry.fee * decoding.SAT_PER_COIN / entry.size
    if entry.ancestorcount <= 1 or entry.ancestorsize <= 0:
        return own
    return min(own, Decimal(entry.ancestorfees) / entry.ancestorsize)


def _middle(rates: Sequence[tuple[Decimal, int]]) -> Decimal:
    """The median rate over all bytes."""
    half, size_so_far = sum(size for _, size in rates) / Decimal(2), 0
    for rate, size in rates:
        size_so_far += size
        if size_so_far >= half:
            return rate
    return rates[-1][0]


def _bands(rates: Sequence[tuple[Decimal, int]]) -> list[Band]:
    total = sum(size for _, size in rates)
    bands = []
    for low, high in zip(BANDS, (*BANDS[1:], None), strict=True):
        sizes = [size for rate, size in rates if rate >= low and (high is None or rate < high)]
        share = 0 if not sizes else max(1, 100 * sum(sizes) // total)
        bands.append(Band(low, high, len(sizes), sum(sizes), share))
    numbers = [n for n, band in enumerate(bands) if band.count]
    return bands[numbers[0] : numbers[-1] + 1][::-1]


def _round(rate: Decimal) -> Decimal:
    return rate.quantize(_PLACES)
