"""Taking in a ledger of 50,000 transactions at a first start: `python -m tools.bench.measure_backfill`.

The records are there as the client gives them, so that only the taking in is measured. The peer is Django's own
`bulk_create` of the same entries and versions, a page at a time, in the same database: without asking what is there
already, without links to our requests, without a watermark. Processor time: SQLite works in this process.
"""

import os
import tempfile
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

TRANSACTIONS, PAGE = 50_000, 1_000
TARGET = 0.25
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


def history() -> list[Any]:
    """Deposits and payouts of long ago, in the exchange's own shape."""
    from exchange_ops.wire import records

    return [
        records.Transaction(
            id=f"b8b333a8-e544-4dd4-952b-{number:012}",
            index=number + 1,
            currency=("BTC", "ETH", "USD")[number % 3],
            amount=Decimal(number % 977 + 1) / 1000,
            fee=Decimal("0.0005") if number % 2 else None,
            status="success",
            type="payout" if number % 2 else "payin",
            address="1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
            hash=f"{number:064x}",
            created_at=BEGAN + timedelta(minutes=number),
            updated_at=BEGAN + timedelta(minutes=number),
        )
        for number in range(TRANSACTIONS)
    ]


class Ready:
    """The one method of a client that a walk asks, over records that are there already: what is measured is ours."""

    def __init__(self, transactions: Sequence[Any]) -> None:
        self._transactions = transactions

    def transactions_after(self, *, index: int, limit: int = PAGE) -> Any:
        """Pages above the index, ascending, until one is not full."""
        from exchange_ops.client import Listing

        while True:
            page = tuple(self._transactions[index : index + limit])
            yield Listing(page)
            if len(page) < limit:
                return
            index += limit


def ours(transactions: Sequence[Any]) -> float:
    """Seconds of processor time of one walk, from nothing to the end."""
    from exchange_ops.ledger import sync as ledger
    from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
    from exchange_ops.shared.models import Account

    account = Account.objects.create(name="measured")
    now, began = datetime.now(UTC), time.process_time()
    done = ledger.sync(account=account, client=Ready(transactions), now=now, walk_for=timedelta(hours=1))  # type: ignore[arg-type]
    spent = time.process_time() - began
    counted = (
        LedgerEntry.objects.filter(account=account).count(),
        LedgerVersion.objects.filter(account=account).count(),
    )
    if counted != (TRANSACTIONS, TRANSACTIONS) or done.asides or not done.complete:
        raise SystemExit(f"The walk left something out: {counted}, {done}.")
    return spent


def theirs(transactions: Sequence[Any]) -> float:
    """Seconds of processor time that Django's bulk_create takes for the same rows."""
    from django.db import transaction

    from exchange_ops.ledger import batches as ledger_batches
    from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
    from exchange_ops.shared.models import Account

    account, now = Account.objects.create(name="peer"), datetime.now(UTC)
    spent = 0.0
    for place in range(0, len(transactions), PAGE):
        page = transactions[place : place + PAGE]
        entries = [ledger_batches.entry_of(account, record, now=now) for record in page]
        began = time.process_time()
        with transaction.atomic():
            stored = LedgerEntry.objects.bulk_create(entries)
            versions = [
                ledger_batches.version_of(entry, one, source="rest", now=now)
                for entry, one in zip(stored, page, strict=True)
            ]
            LedgerVersion.objects.bulk_create(versions)
        spent += time.process_time() - began
    return spent


def main() -> None:
    """Fill a database of its own twice, by either way."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ |= {"DATABASE_URL": f"sqlite:///{folder}/desk.sqlite3", "DATA_DIR": folder, "REDIS_URL": ""}
        os.environ |= {"DJANGO_SETTINGS_MODULE": "project.settings", "DEMO": "1", "LOG_LEVEL": "ERROR"}
        import django
        from django.core.management import call_command

        django.setup()
        call_command("migrate", verbosity=0)
        transactions = history()
        peer_s, spent_s = theirs(transactions), ours(transactions)
    ratio = peer_s / spent_s
    verdict = "holds" if ratio >= TARGET and spent_s < 30 else "MISSED"
    print(
        f"ledger backfill of {TRANSACTIONS:,} transactions on SQLite: {spent_s:.1f} s of processor time, "
        f"Django's bulk_create alone {peer_s:.1f} s: {ratio:.2f}x (target {TARGET:g}x and under 30 s: {verdict})"
    )


if __name__ == "__main__":
    main()
