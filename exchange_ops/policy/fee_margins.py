"""The network fee that an approval covers: the exchange's estimate, and the margin that the rules allow above it.

A network fee moves every few minutes, so people approve "at most this fee" and not one figure. The margin is a factor,
because fees move in proportion to themselves, and a floor, because twice a few cents is still not worth another
decision. The usual factor covers what fees do within the exchange's hour on a busy day.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

from exchange_ops.policy.models import PolicyVersion

USUAL_FACTOR: Final = Decimal("1.5")
USUAL_FLOOR: Final = Decimal(5)
FACTORS: Final = (Decimal(1), Decimal(10))
FLOORS: Final = (Decimal(0), Decimal(1_000))
_DIGITS: Final = 3  # of a highest fee, rounded up: people read it


@dataclass(frozen=True, slots=True)
class FeeMargin:
    """How far a fee may exceed its estimate: to `factor` times the estimate, or by `floor`, whichever is more.

    `floor` is a value in the currency of the rules.
    """

    factor: Decimal = USUAL_FACTOR
    floor: Decimal = USUAL_FLOOR

    def highest(self, estimate: Decimal, *, price: Decimal | None) -> Decimal:
        """The highest fee that is covered, in the coin of the estimate.

        `price` is that of one coin in the currency of the rules; where it is not known, the factor alone counts.
        """
        by_floor = estimate + self.floor / price if price is not None and price > 0 else estimate
        return _rounded_up(max(estimate * self.factor, by_floor))

    def problems(self) -> Iterator[str]:
        """What is wrong with it, one sentence each."""
        if not FACTORS[0] <= self.factor <= FACTORS[1]:
            yield f"The network fee limit must be between {FACTORS[0]} and {FACTORS[1]} times the estimate."
        if not FLOORS[0] <= self.floor <= FLOORS[1]:
            yield f"The fixed margin above the network fee estimate must be between {FLOORS[0]} and {FLOORS[1]:,}."


USUAL: Final = FeeMargin()


def margin_of(policy: PolicyVersion) -> FeeMargin:
    """The margin of a published version."""
    return FeeMargin(
        USUAL_FACTOR if policy.fee_factor is None else policy.fee_factor,
        USUAL_FLOOR if policy.fee_floor is None else policy.fee_floor,
    )


def as_json(margin: FeeMargin) -> list[str]:
    """Factor and floor as text, whatever zeros they were written with."""
    return [f"{figure.normalize():f}" for figure in (margin.factor, margin.floor)]


def from_json(content: Any) -> FeeMargin:
    """The margin that `as_json` wrote; the usual one where there is none, as in drafts of older versions."""
    return FeeMargin(*(Decimal(figure) for figure in content)) if content else USUAL


def _rounded_up(fee: Decimal) -> Decimal:
    if fee <= 0:
        return Decimal(0)
    step = Decimal(1).scaleb(fee.adjusted() - _DIGITS + 1)
    return (fee / step).to_integral_value(rounding=ROUND_CEILING) * step
