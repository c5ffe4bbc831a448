"""Oversteps: the bounds that an order or a margin action exceeds, each with its figures.

The rooms decide which bounds there are; this module decides what a person confirms and how much a confirmation covers.
A confirmation names an overstep and its size, and covers ten percent more, because the market moves between reading the
page and pressing the button. It never covers every size. A size that is not known counts as beyond any bound.
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
    LIMIT_PAST_STOP: "Limit price far beyond stop price",
    STOP_REACHED: "Stop price already reached",
    BOOK_DEEP: "Goes deep into the order book",
    OVER_VALUE: "Above the value limit",
    MANY_OPEN: "Too many open orders",
    CALL_NEAR: "Close to margin call",
    LIQUIDATION_NEAR: "Close to liquidation",
}
CONFIRMED: Final = "confirmed"  # the field that carries what was confirmed
MOST_CONFIRMED: Final = len(LABELS)
NO_APPROVAL: Final = "This action can't be submitted for approval."
_UNKNOWN: Final = "unknown"
_MOST_AHEAD: Final = 2  # how many times the present size may be confirmed: not any size beforehand
_AHEAD: Final = Decimal("1.1")  # a confirmation covers a tenth more than the page showed: the market moves meanwhile
_DIGITS: Final = 2  # of what is confirmed, rounded up


@dataclass(frozen=True, slots=True)
class Overstep:
    """One bound that is exceeded. `size` is in percent, a value, or a number of orders: the larger, the more serious;
    None where it is not known well enough. `field` is the form's field that it is about."""

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
        """What the row and the audit trail store about it."""
        size = _UNKNOWN if self.size is None else f"{self.size.normalize():f}"
        return {"name": self.name, "size": size, "beyond": self.beyond, "sentence": self.sentence, "up_to": self.token}

    def confirmed_by(self, tokens: Iterable[str]) -> str:
        """The first of these tokens that confirms this overstep at its size; an empty text where none does."""
        for token in tokens:
            name, _, most = token.partition(":")
            if name != self.name:
                continue
            if most == _UNKNOWN if self.size is None else _reaches(most, self.size):
                return token
        return ""


def unconfirmed(oversteps: Iterable[Overstep], *, confirmed: Collection[str]) -> list[Overstep]:
    """Those that have to be confirmed and were not, or not for their size."""
    return [each for each in oversteps if each.beyond == CONFIRM and not each.confirmed_by(confirmed)]


def in_words(oversteps: Iterable[Overstep]) -> str:
    """What a person still has to confirm, as one text: each overstep by its name, with its figures."""
    return " ".join(f"{each.label}: {each.sentence}" for each in oversteps)


def refusals(oversteps: Iterable[Overstep], *, can_wait: bool = True) -> dict[str, str]:
    """The refusals by field. What needs an approval is refused too where it can't wait for one."""
    problems: dict[str, str] = {}
    for each in oversteps:
        if each.beyond == REFUSE:
            problems.setdefault(each.field, each.sentence)
        elif each.beyond == APPROVE and not can_wait:
            problems.setdefault(each.field, f"{each.sentence} {NO_APPROVAL}")
    return problems


def facts(oversteps: Iterable[Overstep]) -> list[dict[str, Any]]:
    """What the row that they were judged for stores about them."""
    return [each.fact for each in oversteps]


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
