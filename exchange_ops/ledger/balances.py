"""The balances of the wallets, as last read. A reading never overwrites a later one.

The bank wallet comes by REST and by the stream, the trading wallet by REST only (supplement 1.6). Only non-zero entries
are sure to be listed, so a full listing also sets those it leaves out to zero; a notification does not.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from desk import clock
from desk.live import announcements
from exchange_ops.client import ExchangeClient
from exchange_ops.ledger.models import Balance
from exchange_ops.shared.amounts import storable
from exchange_ops.shared.models import Account
from exchange_ops.wire import records

ZERO = Decimal(0)
LONGEST_CODE = 20


def sync(*, account: Account, wallet: str, client: ExchangeClient, now: datetime) -> list[str]:
    """Read one wallet; returns a sentence for every record that could not be stored.

    `now` is the moment before the call: what the stream brings meanwhile is later and stays.
    """
    listing = client.get_balances() if wallet == Balance.BANK else client.get_trading_balances()
    problems = [f"Unreadable {wallet} balance: {aside.reason}" for aside in listing.asides]
    return problems + store(account=account, wallet=wallet, entries=listing.records, now=now, full=not listing.asides)


def store(*, account: Account, wallet: str, entries: Iterable[records.Balance], now: datetime, full: bool) -> list[str]:
    """Store the entries of one wallet, read at `now`; with `full`, all other currencies are set to zero."""
    amounts: dict[str, tuple[Decimal, Decimal]] = {}
    problems: list[str] = []
    for entry in entries:
        if len(entry.currency) > LONGEST_CODE or not storable(entry.available) or not storable(entry.reserved):
            problems.append(
                f"The {wallet} balance of {entry.currency[:LONGEST_CODE]!r} was not stored: invalid code or amount."
            )
        else:
            amounts[entry.currency] = (entry.available, entry.reserved)
    with transaction.atomic():
        changed = _write(account, wallet, amounts, now, full)
        if changed:
            announcements.announce(f"balances:{account.pk}", wallet=wallet)
    return problems


def _write(
    account: Account, wallet: str, amounts: Mapping[str, tuple[Decimal, Decimal]], now: datetime, full: bool
) -> bool:
    rows = {row.currency: row for row in Balance.objects.filter(account=account, wallet=wallet)}
    unchanged, changed, older = [], False, clock.older("read_at", now, now=clock.now())
    for code, row in rows.items():
        if code not in amounts and not full:
            continue
        available, reserved = amounts.get(code, (ZERO, ZERO))
        if (row.available, row.reserved) == (available, reserved):
            unchanged.append(row.pk)
        elif Balance.objects.filter(older, pk=row.pk).update(available=available, reserved=reserved, read_at=now):
            changed = True
    Balance.objects.filter(older, pk__in=unchanged).update(read_at=now)
    new = [
        Balance(account=account, wallet=wallet, currency=code, available=available, reserved=reserved, read_at=now)
        for code, (available, reserved) in amounts.items()
        if code not in rows and (available or reserved)
    ]
    Balance.objects.bulk_create(new, ignore_conflicts=True)
    return changed or bool(new)
