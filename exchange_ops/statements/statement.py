"""The statement of one account for one period: its lines, their values, their proof, and what may still change."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import ROUND_HALF_EVEN, Decimal

from desk.fields import plain
from desk.models import Person
from exchange_ops.market.valuation import PLACES
from exchange_ops.portfolio.prices import DayPrices
from exchange_ops.shared.models import Account
from exchange_ops.shared.periods import Period
from exchange_ops.statements import bank, proofs, support, trading
from exchange_ops.statements.lines import ZERO, Line
from exchange_ops.statements.proofs import Late, Proof, Reconciled
from exchange_ops.statements.support import Support

PRICE_PLACES, PRICE_DIGITS = 12, 10


@dataclass(frozen=True, slots=True)
class Statement:
    """One account in one period, as of `now`. `priced_on` is the day whose prices value the closing balances."""

    account: Account
    period: Period
    now: datetime
    support: Support
    lines: Sequence[Line]
    priced_on: date
    proof: Proof
    reconciled: Reconciled
    late: Late

    @property
    def is_provisional(self) -> bool:
        """Whether the ledger was not read to its end since the period ended: more may follow."""
        synced_at = self.support.synced_at
        return synced_at is None or synced_at < self.period.ends

    @property
    def is_before_all(self) -> bool:
        """Whether the period ends before the first entry of the ledger."""
        return self.support.is_before_all(self.period.ends)

    @property
    def value(self) -> Decimal | None:
        """The value of all closing balances that are known and have a price; None where there is none."""
        values = [line.value for line in self.lines if line.value is not None]
        return sum(values, ZERO) if values else None

    @property
    def unvalued(self) -> list[str]:
        """Currencies with a closing balance that is unknown or has no price; they are not in the value."""
        return sorted({line.currency for line in self.lines if line.value is None})


def of(account: Account, period: Period, *, person: Person, now: datetime) -> Statement:
    """The statement as the stored records support it at this moment."""
    basis = support.of(account, now=now)
    lines = [*bank.lines(account, period, basis), *trading.lines(account, period, basis)]
    priced_on = min(period.last, now.astimezone(UTC).date())
    _value(lines, account.quote_currency, priced_on)
    return Statement(
        account,
        period,
        now,
        basis,
        lines,
        priced_on,
        proofs.proof(account, period),
        proofs.reconciled(account, period, person=person),
        proofs.late(account, period),
    )


def _rounded(rate: Decimal) -> Decimal:
    """A price of at most twelve places, or ten digits if it is below that: an inverse one has no end."""
    places = max(PRICE_PLACES, PRICE_DIGITS - 1 - rate.adjusted())
    return plain(rate.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_EVEN))


def _value(lines: Sequence[Line], quote: str, day: date) -> None:
    """Value the closing balances by the close of that day, or of one at most a week older."""
    prices = DayPrices(codes={line.currency for line in lines}, quote=quote, since=day)
    for line in lines:
        price = prices.on(line.currency, day)
        line.price = None if price is None else replace(price, rate=_rounded(price.rate))
        if line.price is not None and line.closing is not None:
            line.value = (line.closing * line.price.rate).quantize(PLACES, rounding=ROUND_HALF_EVEN)
