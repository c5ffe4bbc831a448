"""An account with a read ledger, an opening figure, and lines of each kind in March 2026."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.shared import facts, heartbeats
from exchange_ops.withdrawals.evidence import reconciliation
from tests.exchange_ops import rows

DAY = datetime(2026, 3, 5, 12, tzinfo=UTC)


@pytest.fixture
def read_account(account):
    """An account whose ledger and trades were read to their end, with opening figures of two currencies."""
    for name in (heartbeats.ledger_of(account), heartbeats.orders_of(account)):
        heartbeats.succeeded(name, account=account, now=clock.now())
    facts.note(account=account, name=reconciliation.OPENING, value={"BCH": "2", "USD": "100"}, now=clock.now())
    return account


@pytest.fixture
def ledger(read_account):
    """Entries of February and March; index, time and type differ, all but the last succeeded."""
    entry_of(read_account, 1, at=DAY - timedelta(days=20), amount=Decimal("0.000000000000000001"))
    entry_of(read_account, 2, amount=Decimal("1.5"))
    entry_of(read_account, 3, type="payout", amount=Decimal("0.7"), fee=Decimal("0.001"))
    entry_of(read_account, 4, type="bankToExchange", amount=Decimal("0.3"))
    entry_of(read_account, 5, type="payout", status="failed", amount=Decimal(9))
    return read_account


def entry_of(account, number, *, at=DAY, **changes):
    """A line dated `at` that was read a minute later."""
    seen = at + timedelta(minutes=1)
    return rows.entry(
        number, account=account, created_at=at, updated_at=at, first_seen_at=seen, seen_at=seen, **changes
    )
