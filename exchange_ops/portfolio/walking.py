"""From what is held now back to what was held: each change that is known is taken back, the newest first.

Pure: it knows wallets and currencies by their names only. A currency that would have been below zero was changed by
something that is not known; from there backwards its amount can't be told, and isn't.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final

ZERO: Final = Decimal(0)
Place = tuple[str, str]  # wallet, currency


@dataclass(frozen=True, slots=True)
class Change:
    """What one event did to one wallet. Without an amount, what it did isn't known."""

    at: datetime
    wallet: str
    currency: str
    amount: Decimal | None


@dataclass(frozen=True, slots=True)
class Holding:
    """What was held at a moment; `unknown` are the currencies of which that can't be told, in any wallet."""

    at: datetime
    amounts: dict[Place, Decimal]
    unknown: frozenset[str]


def back(*, held: Mapping[Place, Decimal], changes: Iterable[Change], moments: Sequence[datetime]) -> Iterator[Holding]:
    """What was held at each moment, from now back: changes and moments come the newest first.

    A change of exactly that moment had not happened yet: each moment is the instant before.
    """
    amounts, unknown = dict(held), set[str]()
    rest = iter(changes)
    change = next(rest, None)
    for moment in moments:
        while change is not None and change.at >= moment:
            _take_back(amounts, unknown, change)
            change = next(rest, None)
        unknown |= {currency for (_, currency), amount in amounts.items() if amount < 0}
        known = {place: amount for place, amount in amounts.items() if amount and place[1] not in unknown}
        yield Holding(moment, known, frozenset(unknown))


def _take_back(amounts: dict[Place, Decimal], unknown: set[str], change: Change) -> None:
    if change.amount is None:
        unknown.add(change.currency)
        return
    place = change.wallet, change.currency
    amounts[place] = amounts.get(place, ZERO) - change.amount
