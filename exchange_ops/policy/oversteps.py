"""Bounds that an order or a margin action goes beyond: named, with figures; confirmed, approved or refused.

One component for everything that is judged so: which bounds there are is the rooms' to say, what a person confirms and
what that covers is said here. A tick stands for a name and a size; it covers a tenth more, since the market moves
between the look and the press, and never any size at all. What is not known is more than any bound.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import Any, Final

from exchange_ops.policy.modes import APPROVE, CONFIRM, REFUSE

PRICE_FAR: Final = "price_far"
LIMIT_PAST_STOP: Final = "limit_past_stop"
STOP_REACHED: Final = "stop_reached"
BOOK_DEEP: Final = "book_deep"
OVER_VALUE: Final = "over_value"
MANY_OPEN: Final = "many_open"
CALL_NEAR: Final = "call_near"
LIQUIDATION_NEAR: Final = "liquidation_near"
LABELS: Final = {
    PRICE_FAR: "Price far from the market",
    LIMIT_PAST_STOP: "Limit far beyond its stop",
    STOP_REACHED: "Stop is reached already",
    BOOK_DEEP: "Eats deep into the book",
    OVER_VALUE: "Worth more than the limit",
    MANY_OPEN: "Many open orders",
    CALL_NEAR: "Margin call comes near",
    LIQUIDATION_NEAR: "Liquidation comes near",
}
CONFIRMED: Final = "confirmed"  # the field that carries what was confirmed
MOST_CONFIRMED: Final = len(LABELS)
NO_APPROVAL: Final = "This can't wait for an approval."
_UNKNOWN: Final = "unknown"
_MOST_AHEAD: Final = 2  # how many times the present size may be confirmed: not any size beforehand
_AHEAD: Final = Decimal("1.1")  # what is confirmed covers a tenth more than was seen: the market moves meanwhile
_DIGITS: Final = 2  # of what is confirmed, rounded up


@dataclass(frozen=True, slots=True)
class Overstep:
    """One bound that is gone beyond. `size` is what it is measured by (percent, value, or number of orders), the larger
    the graver; None where it is not known well enough. `field` is the one it is about."""

    name: str
    field: str
    sentence: str
    beyond: str
    size: Decimal | None = None

    @property
    def label(self) -> str:
        """Its name in words."""
        return LABELS[self.name]

    @property
    def token(self) -> str:
        """What a person confirms: this name, up to a tenth more than they saw; a number of orders as it is."""
        if self.size is None:
            return f"{self.name}:{_UNKNOWN}"
        return f"{self.name}:{f'{self.size:f}' if self.name == MANY_OPEN else _rounded_up(self.size * _AHEAD)}"

    @property
    def fact(self) -> dict[str, str]:
        """What is kept of it on the row and in the audit trail."""
        size = _UNKNOWN if self.size is None else f"{self.size.normalize():f}"
        return {"name": self.name, "size": size, "beyond": self.beyond, "sentence": self.sentence, "up_to": self.token}

    def confirmed_by(self, tokens: Iterable[str]) -> str:
        """The one of these that confirms it, of at least its size; an empty text where there is none."""
        for token in tokens:
            name, _, most = token.partition(":")
            if name != self.name:
                continue
            if most == _UNKNOWN if self.size is None else _reaches(most, self.size):
                return token
        return ""


def unconfirmed(found: Iterable[Overstep], *, confirmed: Collection[str]) -> list[Overstep]:
    """Of these what has to be confirmed and was not, or not for its size."""
    return [each for each in found if each.beyond == CONFIRM and not each.confirmed_by(confirmed)]


def named(missing: Iterable[Overstep]) -> str:
    """What is missing in one sentence for a person: each by its name, with its figures."""
    return " ".join(f"{each.label}: {each.sentence}" for each in missing)


def refusals(found: Iterable[Overstep], *, can_wait: bool = True) -> dict[str, str]:
    """By field, what the rules refuse; also what needs an approval, where it `can_wait` for none."""
    problems: dict[str, str] = {}
    for each in found:
        if each.beyond == REFUSE:
            problems.setdefault(each.field, each.sentence)
        elif each.beyond == APPROVE and not can_wait:
            problems.setdefault(each.field, f"{each.sentence} {NO_APPROVAL}")
    return problems


def kept(found: Iterable[Overstep]) -> list[dict[str, Any]]:
    """What is stored of them on the row that they were judged for."""
    return [each.fact for each in found]


def percent(share: Decimal) -> str:
    """A share in percent as the sentences write it."""
    return f"{share.normalize():f} %"


def _rounded_up(size: Decimal) -> str:
    """The size with two digits, rounded up."""
    if not size:
        return "0"
    step = Decimal(1).scaleb(size.adjusted() - _DIGITS + 1)
    return f"{(size / step).to_integral_value(rounding=ROUND_CEILING) * step:f}"


def _reaches(most: str, size: Decimal) -> bool:
    """Whether what was confirmed covers the size, and not any size at all."""
    try:
        return size <= Decimal(most) <= _MOST_AHEAD * Decimal(_rounded_up(size))
    except ArithmeticError:
        return False
