"""Balances as known at a moment are what the desk would have said then, whatever it read later."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import count

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desk.as_known.moments import Moment
from exchange_ops.ledger import sync
from exchange_ops.portfolio import effects
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from exchange_ops.statements import as_known, bank
from exchange_ops.withdrawals.evidence import reconciliation
from tests.exchange_ops.ledger.test_sync import transaction

pytestmark = pytest.mark.django_db
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
NUMBERS = count(1)
# Which transaction, its status and amount at the exchange, and how long afterwards the desk reads it, in hours.
CHANGES = st.tuples(
    st.integers(1, 3),
    st.sampled_from(["created", "success", "success", "failed"]),
    st.decimals(min_value=0, max_value=1000, places=8),
    st.integers(0, 5),
)
TYPES = {1: "payin", 2: "payout", 3: "bankToExchange"}


def entry(number, status, amount, *, index, at):
    """One version of a transaction, changed at the exchange at `at`."""
    kind = TYPES[number]
    return transaction(
        id=f"t-{number}",
        index=index,
        type=kind,
        status=status,
        amount=amount,
        fee=Decimal("0.01") if kind == "payout" else None,
        created_at=BEGIN,
        updated_at=at,
    )


def truth(account):
    """The balance that the desk would give now."""
    return Decimal(7) + sum((one.change - one.fee for one in bank.sums(effects.succeeded(account))), Decimal(0))


def opened():
    """A new account with an opening balance of 7 BTC."""
    account = Account.objects.create(name=f"Generated {next(NUMBERS)}", quote_currency="USD")
    facts.note(account=account, name=reconciliation.OPENING, value={"BTC": "7"}, now=BEGIN)
    return account


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=1, max_size=9))
def test_each_moment_again_after_everything_was_read(db, changes):
    account, said = opened(), []
    reads = sorted(
        (hour + delay, index, number, status, amount)
        for index, (hour, (number, status, amount, delay)) in enumerate(enumerate(changes), 100)
    )
    for hour, index, number, status, amount in reads:
        now = BEGIN + timedelta(hours=hour, seconds=index)
        dated = BEGIN + timedelta(hours=index - 100)
        sync.apply(
            account=account,
            transactions=[entry(number, status, amount, index=index, at=dated)],
            source=sync.REST,
            now=now,
        )
        said.append((now, truth(account)))
    newest = {number: index for index, (number, *_) in enumerate(changes, 100)}
    for now, balance in said:
        (line,) = as_known.of(account, Moment(now)).lines or [None]
        assert (line.balance if line else Decimal(7)) == balance
        if line and all(BEGIN + timedelta(hours=index - 100) <= now for index in newest.values()):
            assert line.balance_today == truth(account)


def test_what_had_happened_and_was_read_later_is_added_up_apart(signed_in, treasury):
    account = opened()
    at = BEGIN + timedelta(days=1)
    for number, read in ((1, at), (2, at + timedelta(days=2))):
        record = entry(number, "success", Decimal("1.5"), index=100 + number, at=at)
        sync.apply(account=account, transactions=[record], source=sync.REST, now=read)
    client = signed_in(treasury)
    with CaptureQueriesContext(connection) as few:
        page = client.get(reverse("balances-as-known"), {"at": "2026-03-03 00:00"})
    (known,) = page.context["known"]
    (line,) = known.lines
    assert (line.balance, line.late, line.balance_today) == (Decimal("8.5"), Decimal("-1.51"), Decimal("6.99"))
    assert [one.type for one in known.late] == ["payout"]
    assert "Became known later" in page.content.decode()
    for number in range(20):
        record = transaction(id=f"more-{number}", index=200 + number, created_at=at, updated_at=at)
        sync.apply(account=account, transactions=[record], source=sync.REST, now=at + timedelta(days=number % 4))
    with CaptureQueriesContext(connection) as many:
        client.get(reverse("balances-as-known"), {"at": "2026-03-03 00:00"})
    assert len(many) <= len(few)


def test_before_the_first_reconciliation_no_balance_is_given(db):
    account = opened()
    record = entry(1, "success", Decimal(1), index=101, at=BEGIN - timedelta(days=2))
    sync.apply(account=account, transactions=[record], source=sync.REST, now=BEGIN - timedelta(days=1))
    (line,) = as_known.of(account, Moment(BEGIN - timedelta(hours=1))).lines
    assert (line.balance, line.moved, line.reason) == (None, Decimal(1), "No opening balance was on record.")
