"""What the account stream tells becomes rows: the watermark that moves with what was loaded, and balances to zero."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from exchange_ops.ledger import balances, stream, sync
from exchange_ops.ledger.models import Balance, LedgerEntry, LedgerVersion
from exchange_ops.wire import records
from exchange_ops.wire.session import Balances, Origin, Transactions

NOW = datetime(2026, 11, 21, 10, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def transaction(index, minutes_ago=0):
    then = NOW - timedelta(minutes=minutes_ago)
    return records.Transaction(
        id=f"t-{index}",
        index=index,
        currency="BTC",
        amount=Decimal("1.5"),
        status="success",
        type="payin",
        created_at=NOW - timedelta(days=1),  # which never changes of a transaction
        updated_at=then,
    )


@pytest.fixture
def load(account):
    """A page as the session loads it, taken; gives the watermark after it."""

    def take(loaded_from, *found, origin=Origin.BACKLOG):
        event = Transactions(origin, found, loaded_from=loaded_from)
        stream.store(account=account, event=event, now=NOW)
        return sync.watermark(account=account)

    return take


def test_the_watermark_moves_behind_what_was_loaded_and_is_old_enough(load):
    assert load(0, transaction(3, 60), transaction(7, 11), transaction(8, 9), transaction(9)) == 7
    assert load(7, transaction(7, 11), transaction(8, 9), transaction(9)) == 7
    assert LedgerVersion.objects.count() == 4


def test_a_page_goes_on_from_the_one_before_only_when_all_of_that_is_certain(load):
    assert load(0, transaction(3, 60), transaction(7, 30), transaction(8)) == 7
    assert load(9, transaction(12, 20), transaction(14)) == 7  # between 7 and 9 there is one that is young
    assert load(8, transaction(8, 60), transaction(12, 20), transaction(14)) == 12


def test_what_was_only_notified_moves_nothing(load, account):
    event = Transactions(Origin.NOTIFICATION, (transaction(3, 60), transaction(9)))
    stream.store(account=account, event=event, now=NOW)
    assert (sync.watermark(account=account), LedgerEntry.objects.count()) == (0, 2)


def test_a_page_that_is_not_in_its_order_moves_nothing(load):
    assert load(0, transaction(9), transaction(3, 60)) == 0


def test_the_watermark_never_goes_back(load):
    assert load(0, transaction(7, 60), transaction(9)) == 7
    assert load(0, transaction(3, 60), transaction(9)) == 7
    assert load(0) == 7


def test_a_listing_of_balances_sets_to_zero_what_it_leaves_out_and_a_notification_does_not(account):
    def held(code):
        return Balance.objects.get(currency=code, wallet=Balance.BANK).available

    def tell(minutes, whole, *entries):
        now = NOW + timedelta(minutes=minutes)
        stream.store(account=account, event=Balances(entries, is_complete=whole), now=now)

    coin, other = (records.Balance(code, Decimal(2), Decimal(0)) for code in ("BTC", "ETH"))
    balances.store(account=account, wallet=Balance.TRADING, entries=[coin], now=NOW, full=True)
    tell(0, False, coin, other)
    tell(1, False, other)
    assert (held("BTC"), held("ETH")) == (2, 2)
    tell(2, True, other)
    assert (held("BTC"), held("ETH")) == (0, 2)
    assert Balance.objects.get(wallet=Balance.TRADING).available == 2
