"""Past balances from the present ones: each known change is undone, the newest first.

Pure: it knows wallets and currencies by their names only. A currency that would have been below zero was changed by
something unrecorded; at all earlier moments its amount is unknown.
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
    """How one event changed one wallet; without an amount the change is unknown."""

    at: datetime
    wallet: str
    currency: str
    amount: Decimal | None


@dataclass(frozen=True, slots=True)
class Holding:
    """The balances at a moment; `unknown` are the currencies whose amount is not known, in any wallet."""

    at: datetime
    amounts: dict[Place, Decimal]
    unknown: frozenset[str]


def back(*, held: Mapping[Place, Decimal], changes: Iterable[Change], moments: Sequence[datetime]) -> Iterator[Holding]:
    """The balances at each moment, from now back: changes and moments come the newest first.

    Each moment is the instant before: a change of exactly that time has not happened yet.
    """
    amounts, unknown = dict(held), set[str]()
    rest = iter(changes)
    change = next(rest, None)
    for moment in moments:
        while change is not None and change.at >= moment:
            _undo(amounts, unknown, change)
            change = next(rest, None)
        unknown |= {currency for (_, currency), amount in amounts.items() if amount < 0}
        amounts_then = {place: amount for place, amount in amounts.items() if amount and place[1] not in unknown}
        yield Holding(moment, amounts_then, frozenset(unknown))


def _undo(amounts: dict[Place, Decimal], unknown: set[str], change: Change) -> None:
    if change.amount is None:
        unknown.add(change.currency)
        return
    place = change.wallet, change.currency
    amounts[place] = amounts.get(place, ZERO) - change.amount
