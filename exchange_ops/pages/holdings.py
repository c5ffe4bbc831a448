"""The table of balances: one row a currency, both wallets, what it is worth and how old that is."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from exchange_ops.ledger.models import Balance
from exchange_ops.market import valuation
from exchange_ops.shared.models import Account

ZERO = Decimal(0)


@dataclass(slots=True)
class Holding:
    """What the account holds of one currency; `share` is its part of the total, between 0 and 1."""

    currency: str
    bank: Decimal = ZERO
    trading: Decimal = ZERO
    reserved: Decimal = ZERO
    value: valuation.Value | None = None
    share: Decimal | None = None
    read_at: datetime | None = None


@dataclass(slots=True)
class Holdings:
    """All currencies, the most valuable first. `total` counts those with a value; `unvalued` names the others."""

    quote: str
    rows: list[Holding] = field(default_factory=list)
    total: Decimal | None = None
    as_of: datetime | None = None
    read_at: datetime | None = None
    unvalued: list[str] = field(default_factory=list)


def table(account: Account | None, *, quote: str, now: datetime) -> Holdings:
    """The holdings of an account, valued in `quote`, from three queries, however many currencies there are."""
    if account is None:
        return Holdings(quote="")
    rows = _rows(account)
    amounts = {code: row.bank + row.trading + row.reserved for code, row in rows.items()}
    values = valuation.values_of(amounts=amounts, quote=quote, now=now) if amounts else {}
    for code, row in rows.items():
        row.value = values[code]
    known = [row.value.amount for row in rows.values() if row.value and row.value.amount is not None]
    total = sum(known, ZERO) if known else None
    for row in rows.values():
        if total and row.value and row.value.amount is not None:
            row.share = row.value.amount / total
    ages = [row.value.as_of for row in rows.values() if row.value and row.value.amount is not None and row.value.as_of]
    return Holdings(
        quote=quote,
        rows=sorted(rows.values(), key=_worth_first),
        total=total,
        as_of=min(ages, default=None),
        read_at=min((row.read_at for row in rows.values() if row.read_at), default=None),
        unvalued=sorted(code for code, row in rows.items() if row.value is None or row.value.amount is None),
    )


def _rows(account: Account) -> dict[str, Holding]:
    rows: dict[str, Holding] = {}
    for balance in Balance.objects.filter(account=account).order_by("currency"):
        if not balance.available and not balance.reserved:
            continue
        row = rows.setdefault(balance.currency, Holding(balance.currency))
        if balance.wallet == Balance.BANK:
            row.bank += balance.available
        else:
            row.trading += balance.available
        row.reserved += balance.reserved
        row.read_at = min(row.read_at or balance.read_at, balance.read_at)
    return rows


def _worth_first(row: Holding) -> tuple[bool, Decimal, str]:
    worth = row.value.amount if row.value else None
    return (worth is None, -(worth or ZERO), row.currency)
