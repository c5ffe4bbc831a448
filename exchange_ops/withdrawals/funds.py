"""What the accounts hold of each currency in both wallets, what it is worth, and what is reserved for our own payouts.

Every figure is the one last read; `read_at` is the older of the two wallets' readings.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from exchange_ops.ledger.models import Balance
from exchange_ops.market import valuation
from exchange_ops.market.models import Currency
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import states
from exchange_ops.withdrawals.models import Withdrawal

ZERO = Decimal(0)
# States in which the exchange keeps money reserved for a payout of ours.
RESERVING = (
    states.HELD,
    states.COMMITTING,
    states.COMMIT_UNKNOWN,
    states.ROLLING_BACK,
    states.COMMITTED,
    states.SENT,
)


@dataclass(slots=True)
class Funds:
    """One currency; all amounts are in it. `holds` is what our own payouts keep reserved in the bank wallet."""

    currency: str
    full_name: str = ""
    bank: Decimal = ZERO
    bank_reserved: Decimal = ZERO
    trading: Decimal = ZERO
    trading_reserved: Decimal = ZERO
    holds: Decimal = ZERO
    value: valuation.Value | None = None
    read_at: datetime | None = None
    takes_deposits: bool = False
    moves: bool = False
    converts: bool = False

    @property
    def total(self) -> Decimal:
        """The whole amount, available and reserved."""
        return self.bank + self.bank_reserved + self.trading + self.trading_reserved

    @property
    def reserved(self) -> Decimal:
        """What is reserved in both wallets."""
        return self.bank_reserved + self.trading_reserved

    @property
    def reserved_otherwise(self) -> Decimal:
        """What the bank wallet has reserved beyond our own payouts; negative while a reading is behind."""
        return self.bank_reserved - self.holds

    @property
    def worth(self) -> Decimal | None:
        """The value in the quote currency, when there is a price for it."""
        return self.value.amount if self.value is not None else None


def by_currency(*, accounts: Sequence[Account], quote: str, now: datetime) -> list[Funds]:
    """Every currency that the exchange describes or one of the accounts holds, by code, in five queries.

    Several accounts are added up; values are in `quote`.
    """
    currencies = list(Currency.objects.all())
    rows = {
        row.code: Funds(
            row.code,
            row.full_name,
            takes_deposits=row.crypto and row.payin_enabled and not row.delisted,
            moves=row.transfer_enabled and not row.delisted,
        )
        for row in currencies
    }
    _mark_convertible(rows, [row.code for row in currencies if not row.delisted])
    for balance in Balance.objects.filter(account__in=accounts):
        _add(rows.setdefault(balance.currency, Funds(balance.currency)), balance)
    for code, amount in _holds(accounts):
        rows.setdefault(code, Funds(code)).holds += amount
    totals = {code: row.total for code, row in rows.items() if row.total}
    values = valuation.values_of(amounts=totals, quote=quote, now=now) if totals else {}
    for code, value in values.items():
        rows[code].value = value
    return [rows[code] for code in sorted(rows)]


def total(rows: Iterable[Funds]) -> Decimal | None:
    """The sum of the values, leaving out what has none; None when nothing has a value."""
    values = [row.worth for row in rows if row.worth is not None]
    return sum(values, ZERO) if values else None


def _mark_convertible(rows: dict[str, Funds], codes: list[str]) -> None:
    """A currency can be converted when its coin exists on another network as well."""
    coins = Counter(valuation.plain_code(code) for code in codes)
    for code in codes:
        rows[code].converts = coins[valuation.plain_code(code)] > 1


def _add(row: Funds, balance: Balance) -> None:
    if balance.wallet == Balance.BANK:
        row.bank += balance.available
        row.bank_reserved += balance.reserved
    else:
        row.trading += balance.available
        row.trading_reserved += balance.reserved
    row.read_at = min(row.read_at or balance.read_at, balance.read_at)


def _holds(accounts: Sequence[Account]) -> Iterable[tuple[str, Decimal]]:
    for payout in Withdrawal.objects.filter(account__in=accounts, state__in=RESERVING):
        leaves = payout.leaves
        yield payout.currency, payout.amount if leaves is None else leaves
