"""Profit and loss of one coin: the lots that were bought or came in, and the proceeds of their sale. Pure functions.

There are two methods: first in, first out removes the oldest lot; average cost removes the same share of everything
held. The cost of a lot and the price of a disposal may be unknown: neither is guessed, each is counted separately.
Costs and proceeds are in one quote currency and include fees. All is exact to `PLACES`: the remainder of a division
stays with the rest of the lot, so nothing is lost, and both methods agree in total once everything is sold.
"""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import ROUND_HALF_EVEN, Context, Decimal, localcontext
from typing import Final, Protocol

ZERO: Final = Decimal(0)
PLACES: Final = Decimal(1).scaleb(-24)
_EXACT: Final = Context(prec=120, rounding=ROUND_HALF_EVEN)
FIFO, AVERAGE = "fifo", "average"
METHODS: Final = {FIFO: "First in, first out", AVERAGE: "Average cost"}


@dataclass(frozen=True, slots=True)
class Movement:
    """One event of the coin: `quantity` came in (above zero) or left (below zero).

    `value` is the amount paid or received, after fees, and None where no price is known; `fee` is the fee within it,
    for display. `order` is the exchange's number of the order that sold it; None for everything else.
    """

    at: datetime
    quantity: Decimal
    value: Decimal | None
    fee: Decimal = ZERO
    order: int | None = None


@dataclass(frozen=True, slots=True)
class Lot:
    """What is held of one purchase or arrival. `at` is None for holdings from before the history begins."""

    at: datetime | None
    quantity: Decimal
    cost: Decimal | None


@dataclass(slots=True)
class Day:
    """The realised profit and the fees of one day."""

    realised: Decimal = ZERO
    fees: Decimal = ZERO


@dataclass(slots=True)
class Sale:
    """What the sales of one order realised in `trades` trades, as far as costs and prices are known.

    `quantity` left in all; `without_cost` and `without_price` of it are not in `realised`.
    """

    trades: int = 0
    quantity: Decimal = ZERO
    realised: Decimal = ZERO
    without_cost: Decimal = ZERO
    without_price: Decimal = ZERO


@dataclass(slots=True)
class Book:
    """The lots and the profit by one method. Quantities are in the coin, amounts in the quote currency.

    `opening` was held before the first movement, at an unknown cost; `unexplained` left without a movement.
    `sold_without_cost` brought `proceeds_without_cost`, its cost unknown; `left_without_price` had cost
    `cost_without_price` and left at an unknown price. Neither is in `realised`. `sales` are by the exchange's number of
    the order.
    """

    lots: list[Lot] = field(default_factory=list)
    realised: Decimal = ZERO
    fees: Decimal = ZERO
    sold_without_cost: Decimal = ZERO
    proceeds_without_cost: Decimal = ZERO
    left_without_price: Decimal = ZERO
    cost_without_price: Decimal = ZERO
    opening: Decimal = ZERO
    unexplained: Decimal = ZERO
    days: dict[date, Day] = field(default_factory=dict)
    sales: dict[int, Sale] = field(default_factory=dict)

    @property
    def quantity(self) -> Decimal:
        """Everything that is held."""
        return _EXACT.plus(sum((lot.quantity for lot in self.lots), ZERO))

    @property
    def known_quantity(self) -> Decimal:
        """The part of it whose cost is known."""
        return sum((lot.quantity for lot in self.lots if lot.cost is not None), ZERO)

    @property
    def cost(self) -> Decimal:
        """The cost of `known_quantity`."""
        return sum((lot.cost for lot in self.lots if lot.cost is not None), ZERO)


class _Holding(Protocol):
    def add(self, lot: Lot) -> None: ...
    def remove(self, quantity: Decimal) -> list[Lot]: ...
    def rest(self) -> list[Lot]: ...


def book(movements: Iterable[Movement], *, balance: Decimal, method: str) -> Book:
    """The lots and what was realised, by `method`; the quantities of the lots add up to `balance`, what is held.

    Movements of one moment count in the order in which they come.
    """
    with localcontext(_EXACT):
        ordered = sorted(movements, key=lambda movement: movement.at)
        outcome, holding = Book(), _METHODS[method]()
        outcome.opening, outcome.unexplained = _missing(ordered, balance)
        if outcome.opening:
            holding.add(Lot(None, outcome.opening, None))
        for movement in ordered:
            _apply(outcome, holding, movement)
        if outcome.unexplained:
            holding.remove(outcome.unexplained)
        outcome.lots = holding.rest()
        return outcome


def unrealised(*, quantity: Decimal, cost: Decimal, price: Decimal | None) -> Decimal | None:
    """What a sale of `quantity` at `price` would bring above its cost; None without a price."""
    with localcontext(_EXACT):
        return None if price is None else _cut(quantity * price) - cost


def _missing(movements: Sequence[Movement], balance: Decimal) -> tuple[Decimal, Decimal]:
    """The quantity that must have been held before the first movement, and the one that must have left unrecorded."""
    running = lowest = ZERO
    for movement in movements:
        running += movement.quantity
        lowest = min(lowest, running)
    opening = max(balance - running, -lowest)
    return opening, opening + running - balance


def _apply(outcome: Book, holding: _Holding, movement: Movement) -> None:
    day = outcome.days.setdefault(movement.at.date(), Day())
    outcome.fees += movement.fee
    day.fees += movement.fee
    if movement.quantity > 0:
        holding.add(Lot(movement.at, movement.quantity, movement.value))
    elif movement.quantity < 0:
        before = (outcome.realised, outcome.sold_without_cost, outcome.left_without_price)
        _dispose(outcome, holding.remove(-movement.quantity), movement.value)
        day.realised += outcome.realised - before[0]
        if movement.order is not None:
            _add_sale(outcome, movement.order, -movement.quantity, before)


def _add_sale(outcome: Book, order: int, quantity: Decimal, before: tuple[Decimal, Decimal, Decimal]) -> None:
    """Count for its order what a disposal added to the book; `before` are the book's sums up to it."""
    sale = outcome.sales.setdefault(order, Sale())
    sale.trades += 1
    sale.quantity += quantity
    sale.realised += outcome.realised - before[0]
    sale.without_cost += outcome.sold_without_cost - before[1]
    sale.without_price += outcome.left_without_price - before[2]


def _dispose(outcome: Book, parts: list[Lot], proceeds: Decimal | None) -> None:
    """Divide the proceeds among the removed parts of lots; the last one takes the remainder."""
    remaining_quantity, remaining_proceeds = sum((part.quantity for part in parts), ZERO), proceeds
    for number, part in enumerate(parts, start=1):
        if remaining_proceeds is None:
            outcome.left_without_price += part.quantity
            outcome.cost_without_price += part.cost or ZERO
            continue
        is_last = number == len(parts)
        share = remaining_proceeds if is_last else _cut(remaining_proceeds * part.quantity / remaining_quantity)
        remaining_quantity, remaining_proceeds = remaining_quantity - part.quantity, remaining_proceeds - share
        if part.cost is None:
            outcome.sold_without_cost += part.quantity
            outcome.proceeds_without_cost += share
        else:
            outcome.realised += share - part.cost


class _FirstInFirstOut:
    """The oldest lot leaves first."""

    def __init__(self) -> None:
        self._lots: deque[Lot] = deque()

    def add(self, lot: Lot) -> None:
        self._lots.append(lot)

    def remove(self, quantity: Decimal) -> list[Lot]:
        parts = []
        while quantity:
            lot = self._lots.popleft()
            part = lot
            if lot.quantity > quantity:
                part, rest = _split(lot, quantity)
                self._lots.appendleft(rest)
            parts.append(part)
            quantity -= part.quantity
        return parts

    def rest(self) -> list[Lot]:
        return list(self._lots)


class _AverageCost:
    """Removes the same share of the quantities with and without a known cost; within each, all units cost the same."""

    def __init__(self) -> None:
        self._with_cost = Lot(None, ZERO, ZERO)
        self._without_cost = Lot(None, ZERO, None)

    def add(self, lot: Lot) -> None:
        if lot.cost is None:
            self._without_cost = _joined(self._without_cost, lot)
        else:
            self._with_cost = _joined(self._with_cost, lot)

    def remove(self, quantity: Decimal) -> list[Lot]:
        total = self._with_cost.quantity + self._without_cost.quantity
        known_quantity = min(_cut(quantity * self._with_cost.quantity / total), quantity, self._with_cost.quantity)
        known_quantity = max(known_quantity, quantity - self._without_cost.quantity)
        first, self._with_cost = _split(self._with_cost, known_quantity)
        second, self._without_cost = _split(self._without_cost, quantity - known_quantity)
        return [part for part in (first, second) if part.quantity]

    def rest(self) -> list[Lot]:
        return [lot for lot in (self._with_cost, self._without_cost) if lot.quantity]


_METHODS: Final[dict[str, Callable[[], _Holding]]] = {FIFO: _FirstInFirstOut, AVERAGE: _AverageCost}


def _split(lot: Lot, quantity: Decimal) -> tuple[Lot, Lot]:
    """The removed part of a lot, and its rest, which keeps the remainder of dividing the cost."""
    if lot.cost is None:
        return Lot(lot.at, quantity, None), Lot(lot.at, lot.quantity - quantity, None)
    cost = lot.cost if quantity == lot.quantity else _cut(lot.cost * quantity / lot.quantity)
    return Lot(lot.at, quantity, cost), Lot(lot.at, lot.quantity - quantity, lot.cost - cost)


def _joined(lot: Lot, other: Lot) -> Lot:
    cost = None if lot.cost is None or other.cost is None else lot.cost + other.cost
    return Lot(lot.at or other.at, lot.quantity + other.quantity, cost)


def _cut(value: Decimal) -> Decimal:
    return value.quantize(PLACES, rounding=ROUND_HALF_EVEN)
