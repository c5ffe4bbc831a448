"""The journal in double entry: every movement is there once, and balances to zero in each of its currencies."""

from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal

import pytest

from exchange_ops.orders.models import AccountTrade
from exchange_ops.shared.periods import month_of
from exchange_ops.statements import journal
from tests.exchange_ops import rows
from tests.exchange_ops.statements.conftest import DAY, entry_of

pytestmark = pytest.mark.django_db
MARCH = month_of(date(2026, 3, 1))
NUMBER, NAME, DEBIT, CREDIT, CURRENCY, NOTE = (
    journal.COLUMNS.index(name) for name in ("movement", "journal account", "debit", "credit", "currency", "note")
)


@pytest.fixture
def every_kind(ledger):
    """A movement of every kind beside those of the ledger: conversion, unknown type, trades with fee and rebate."""
    rows.price()
    entry_of(ledger, 6, type="withdraw", sub_type="swap", amount=Decimal("0.2"))
    entry_of(ledger, 7, type="teleport")
    entry_of(ledger, 8, type="exchangeToBank", currency="USD", amount=Decimal(7))
    rows.trade(1, account=ledger, timestamp=DAY)
    rows.trade(2, account=ledger, timestamp=DAY, side="sell", fee=Decimal("-0.01"))
    rows.trade(3, account=ledger, timestamp=DAY, symbol="GONEUSD")
    rows.trade(4, account=ledger, timestamp=DAY + timedelta(days=60))
    return ledger


def test_each_movement_balances_to_zero_in_each_currency(every_kind):
    lines = list(journal.rows(every_kind, MARCH))
    sums, numbers = defaultdict(Decimal), {line[NUMBER] for line in lines}
    for line in lines:
        assert (line[DEBIT] is None) != (line[CREDIT] is None)
        assert (line[DEBIT] or line[CREDIT]) > 0
        sums[line[NUMBER], line[CURRENCY]] += (line[DEBIT] or 0) - (line[CREDIT] or 0)
    assert set(sums.values()) == {0}
    done = every_kind.ledger_entries.filter(status="success", updated_at__gte=MARCH.begins)
    assert numbers == {*done.values_list("exchange_id", flat=True), "trade 1", "trade 2", "trade 3"}
    assert AccountTrade.objects.count() == 4


def test_the_wallets_move_by_what_the_statement_says(every_kind):
    sums = defaultdict(Decimal)
    for line in journal.rows(every_kind, MARCH):
        sums[line[NAME], line[CURRENCY]] += (line[DEBIT] or 0) - (line[CREDIT] or 0)
    accounts = journal.ACCOUNTS
    assert sums[accounts[journal.BANK], "BCH"] == Decimal("1.5") - Decimal("0.701") - Decimal("0.3") - Decimal("0.2")
    assert sums[accounts[journal.NETWORK_FEES], "BCH"] == Decimal("0.001")
    assert sums[accounts[journal.TRADING], "BCH"] == Decimal("0.3")  # one trade bought what the other sold
    assert sums[accounts[journal.TRADING_FEES], "USD"] == Decimal("0.24")  # 0.25 less a rebate of 0.01


def test_what_has_no_known_sign_is_in_suspense_with_a_note(every_kind):
    by_number = {line[NUMBER]: line for line in journal.rows(every_kind, MARCH)}
    assert by_number["line-7"][NOTE] == journal.UNKNOWN_SIGN
    assert by_number["trade 3"][NOTE] == journal.DELISTED
