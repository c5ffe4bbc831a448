"""Margin in profit and loss: what positions realised in a range, and the exchange's unrealised result of those open."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final

from exchange_ops.margin.models import MarginPosition
from exchange_ops.market.models import Symbol
from exchange_ops.positions import results
from exchange_ops.shared.models import Account

ZERO: Final = Decimal(0)


@dataclass(frozen=True, slots=True)
class MarginLine:
    """One symbol of one account, in the quote currency of the symbol; `position` is None where nothing is open."""

    account: Account
    symbol: str
    total: results.Total
    position: MarginPosition | None

    @property
    def unrealised(self) -> Decimal | None:
        """The exchange's result of the open position as last read."""
        return None if self.position is None else self.position.pnl


def lines(mine: Sequence[Account], *, since: date | None) -> list[MarginLine]:
    """A line for each symbol with an open position, or something realised, from that UTC day on."""
    rows: list[MarginLine] = []
    for account in mine:
        held = MarginPosition.objects.filter(account=account, gone_at=None).exclude(quantity=0)
        positions = {row.symbol: row for row in held}
        totals = results.totals_by_symbol(account, since=since)
        missing = [code for code in positions if code not in totals]
        quotes = dict(Symbol.objects.filter(code__in=missing).values_list("code", "quote_currency"))
        totals |= {code: results.Total(quotes.get(code, "")) for code in missing}
        rows += [MarginLine(account, code, totals[code], positions.get(code)) for code in sorted(totals)]
    return rows


def sums(rows: Sequence[MarginLine]) -> list[tuple[results.Total, Decimal]]:
    """For each quote currency what was realised, and what is unrealised."""
    realised: dict[str, results.Total] = {}
    unrealised: dict[str, Decimal] = {}
    for line in rows:
        quote = line.total.quote_currency
        realised.setdefault(quote, results.Total(quote)).add(line.total)
        unrealised[quote] = unrealised.get(quote, ZERO) + (line.unrealised or ZERO)
    return [(realised[quote], unrealised[quote]) for quote in sorted(realised)]
