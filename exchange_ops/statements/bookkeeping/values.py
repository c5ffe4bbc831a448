"""The movements of a period valued for a program that holds money in one currency.

Each posting gets one amount in cents that stands on both of its sides, so debits equal credits whatever is rounded. A
movement with a part that has no price is left out as a whole; what is left out is counted, and its currencies named.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date
from decimal import ROUND_HALF_EVEN, Decimal
from heapq import merge
from typing import Final

from exchange_ops.market.valuation import plain_code
from exchange_ops.portfolio import effects
from exchange_ops.portfolio.prices import DayPrices
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.statements import journal
from exchange_ops.statements.journal import Movement, Posting

CENT: Final = Decimal("0.01")
MOST: Final = 99_999  # amounts at a time: DATEV takes no more in a file, and all of them are held in memory


class TooMany(Exception):
    """The period has more amounts than `MOST`."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A posting, upright, and its value in the currency of the batch: above zero, whole cents."""

    posting: Posting
    value: Decimal


@dataclass(frozen=True, slots=True)
class Valued:
    """A movement of an account with the amounts that are not zero."""

    account: Account
    movement: Movement
    amounts: tuple[Amount, ...]

    @property
    def day(self) -> date:
        """Its day in UTC."""
        return self.movement.at.astimezone(UTC).date()


@dataclass(slots=True)
class Batch:
    """The valued movements of some accounts in the order of time, and what is not among them.

    `unvalued` movements have no value for want of a price of `unpriced`; `small` amounts are below half a cent.
    """

    currency: str
    movements: list[Valued] = field(default_factory=list)
    count: int = 0
    unvalued: int = 0
    unpriced: set[str] = field(default_factory=set)
    small: int = 0

    @property
    def used(self) -> list[str]:
        """The accounts of the journal that are posted to, in its order."""
        keys = {
            key
            for each in self.movements
            for amount in each.amounts
            for key in (amount.posting.debit, amount.posting.credit)
        }
        return [key for key in journal.ACCOUNTS if key in keys]

    def add(self, account: Account, movement: Movement, values: Sequence[Decimal | None]) -> None:
        """Count a movement with the exact value of each of its postings, not rounded. Raises TooMany."""
        unpriced = {posting.currency for posting, value in zip(movement.postings, values, strict=True) if value is None}
        if unpriced:
            self.unvalued += 1
            self.unpriced |= unpriced
            return
        rounded = [(value or Decimal(0)).quantize(CENT, rounding=ROUND_HALF_EVEN) for value in values]
        amounts = tuple(
            Amount(posting.upright, abs(value))
            for posting, value in zip(movement.postings, rounded, strict=True)
            if value
        )
        self.small += len(rounded) - len(amounts)
        self.count += len(amounts)
        if self.count > MOST:
            raise TooMany
        if amounts:
            self.movements.append(Valued(account, movement, amounts))


class _Prices:
    """Values of the currencies of one account: in its quote currency, and from there in that of the batch."""

    def __init__(self, account: Account, period: Period, currency: str) -> None:
        self._quote, self._currency = plain_code(account.quote_currency), plain_code(currency)
        self._own = DayPrices(codes=effects.currencies(account), quote=self._quote, since=period.first)
        self._conversion = DayPrices(codes=[self._quote], quote=self._currency, since=period.first)

    def value(self, posting: Posting, day: date) -> Decimal | None:
        if plain_code(posting.currency) == self._currency:
            return posting.amount
        value = self._own.value(posting.currency, posting.amount, day)
        return None if value is None else self._conversion.value(self._quote, value, day)


def batch(accounts: Sequence[Account], period: Period, *, currency: str) -> Batch:
    """Value every movement of the period by the prices of its day. Raises TooMany."""
    result = Batch(currency)
    sources = [_of(account, period, currency) for account in accounts]
    for account, movement, values in merge(*sources, key=lambda each: each[1].at):
        result.add(account, movement, values)
    return result


def _of(account: Account, period: Period, currency: str) -> Iterator[tuple[Account, Movement, list[Decimal | None]]]:
    prices = _Prices(account, period, currency)
    for movement in journal.of(account, period):
        day = movement.at.astimezone(UTC).date()
        yield account, movement, [prices.value(posting, day) for posting in movement.postings]
