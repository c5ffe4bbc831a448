"""What each account is worth in all: its two wallets, its sub-accounts and its margin collateral, each apart."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from exchange_ops.market import valuation
from exchange_ops.portfolio import amounts
from exchange_ops.portfolio.models import BANK, MARGIN, SUBACCOUNTS, TRADING
from exchange_ops.shared.models import Account

ZERO: Final = Decimal(0)
PARTS: Final = {"own": (BANK, TRADING), "subaccounts": (SUBACCOUNTS,), "margin": (MARGIN,)}


@dataclass(slots=True)
class Totals:
    """In `quote`; None where nothing has a price. `unvalued` are the currencies that no figure includes."""

    quote: str
    account: Account | None = None
    own: Decimal | None = None
    subaccounts: Decimal | None = None
    margin: Decimal | None = None
    as_of: datetime | None = None
    unvalued: tuple[str, ...] = ()

    @property
    def total(self) -> Decimal | None:
        """All three together."""
        return _sum((self.own, self.subaccounts, self.margin))

    @property
    def has_more(self) -> bool:
        """Whether there is anything besides the two wallets."""
        return bool(self.subaccounts or self.margin)


def by_account(accounts: Sequence[Account], *, quote: str, now: datetime) -> list[Totals]:
    """One for each account, in their order; six queries however many there are."""
    values = valuation.values_of_groups(groups=amounts.now(accounts), quote=quote, now=now)
    return [_totals(account, quote, values) for account in accounts]


def quote_for(person: Any, accounts: Sequence[Account]) -> str:
    """The currency that totals are valued in for this reader: the one they chose, else that of the first account."""
    settings = getattr(person, "personal", None)
    own: str = settings.quote_currency if settings is not None else ""
    return own or (accounts[0].quote_currency if accounts else "")


def for_page(accounts: Sequence[Account], *, quote: str, now: datetime) -> dict[str, Any]:
    """The template context: `worth` of all accounts together, `worths` of each where there are several."""
    if not accounts:
        return {"worth": None, "worths": []}
    rows = by_account(accounts, quote=quote, now=now)
    return {"worth": together(rows, quote=quote), "worths": rows if len(rows) > 1 else []}


def together(rows: Sequence[Totals], *, quote: str) -> Totals:
    """The sum over all accounts."""
    ages = [row.as_of for row in rows if row.as_of is not None]
    return Totals(
        quote,
        own=_sum(row.own for row in rows),
        subaccounts=_sum(row.subaccounts for row in rows),
        margin=_sum(row.margin for row in rows),
        as_of=min(ages, default=None),
        unvalued=tuple(sorted({code for row in rows for code in row.unvalued})),
    )


def _totals(account: Account, quote: str, values: dict[amounts.Part, dict[str, valuation.Value]]) -> Totals:
    totals = Totals(quote, account)
    unvalued: set[str] = set()
    ages: list[datetime] = []
    for name, wallets in PARTS.items():
        holdings = [(code, value) for wallet in wallets for code, value in values.get((account.pk, wallet), {}).items()]
        setattr(totals, name, _sum(value.amount for _, value in holdings))
        unvalued |= {code for code, value in holdings if value.amount is None}
        ages += [value.as_of for _, value in holdings if value.amount is not None and value.as_of is not None]
    totals.as_of, totals.unvalued = min(ages, default=None), tuple(sorted(unvalued))
    return totals


def _sum(values: Iterable[Decimal | None]) -> Decimal | None:
    summands = [value for value in values if value is not None]
    return sum(summands, ZERO) if summands else None
