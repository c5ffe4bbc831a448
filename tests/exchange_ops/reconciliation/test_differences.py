"""What a reconciliation says of a difference: which transactions, or since when, and nothing that a reading hides."""

from datetime import timedelta

import msgspec
import pytest
from django.db import connection

from exchange_ops.ledger import sync
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.ledger.room import GUARDS
from exchange_ops.shared import facts
from exchange_ops.withdrawals.evidence import reconciliation
from tests.exchange_ops.reconciliation.generated_month import WHOLE, Exchange, exact

pytestmark = pytest.mark.django_db


@pytest.fixture
def exchange(account):
    """An exchange with a payin of each currency, reconciled once."""
    exchange = Exchange(seed=1, movements=0)
    exchange.end()
    assert differing(account, exchange) == {}
    exchange.now += timedelta(hours=1)
    return exchange


def differing(account, exchange):
    findings = reconciliation.reconcile(account=account, client=exchange, now=exchange.now)
    return {one.about: one.sentence for one in findings if not one.agrees}


@pytest.mark.parametrize("source", [sync.REST, sync.STREAM])
def test_an_entry_that_was_changed_here_is_named_when_the_listing_corrects_it(account, exchange, source):
    listed = exchange.newest_of("ETH")
    late = msgspec.structs.replace(listed, id="late", index=listed.index + 100)
    exchange.state.newest["late"] = late
    exchange.state.order.append((late.index, "late"))
    exchange.state.bank["ETH"] += int(late.amount * WHOLE)
    sync.apply(account=account, transactions=[late], source=source, now=exchange.now)
    GUARDS.remove(connection)
    LedgerEntry.objects.filter(exchange_id="late").update(amount=late.amount + exact(exchange.unit("ETH")))
    sentence = "Entries that differed from the exchange's, now corrected: 1 (late)."
    assert differing(account, exchange) == {"content of transactions": sentence}
    assert LedgerEntry.objects.get(exchange_id="late").amount == late.amount
    assert differing(account, exchange) == {}


def test_a_mistake_of_the_stream_that_the_listing_corrects_is_no_finding(account, exchange):
    listed = exchange.newest_of("ETH")
    late = msgspec.structs.replace(listed, id="late", index=listed.index + 100)
    exchange.state.newest["late"] = late
    exchange.state.order.append((late.index, "late"))
    exchange.state.bank["ETH"] += int(late.amount * WHOLE)
    wrong = msgspec.structs.replace(late, amount=2 * late.amount)
    sync.apply(account=account, transactions=[wrong], source=sync.STREAM, now=exchange.now)
    assert differing(account, exchange) == {}


def test_a_currency_that_came_later_began_at_zero(account, exchange):
    """Otherwise whatever is unexplained at its first check would be its opening balance."""
    exchange.state.bank["BCH"] = exchange.unit("BCH")
    for _ in range(2):
        assert differing(account, exchange) == {
            "BCH": "0.00000001 BCH not explained by any transaction. Last agreed 2026-04-01 00:30 UTC."
        }
        exchange.now += timedelta(hours=1)
    exchange.state.bank["BCH"] = 0
    assert differing(account, exchange) == {}
    assert facts.newest(account=account, name=reconciliation.OPENING).value["BCH"] == "0"
    exchange.state.bank["BCH"] = exchange.unit("BCH")
    assert "Last agreed 2026-04-01 03:30 UTC." in differing(account, exchange)["BCH"]
