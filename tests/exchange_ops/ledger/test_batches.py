"""A page of transactions that were never seen is stored at once, and comes to the same as one by one."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.models import AuditEvent
from exchange_ops.ledger import batches, sync
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion
from tests.exchange_ops import rows
from tests.exchange_ops.ledger.test_sync import ADDRESS, transaction

pytestmark = [pytest.mark.django_db, pytest.mark.engine("SQL of our own")]
MANY = batches.FEW + 10


def page(count=MANY, *, begin=200, **changes):
    return [transaction(id=f"p-{begin + number}", index=begin + number, **changes) for number in range(count)]


def take(account, found):
    return sync.apply(account=account, transactions=found, source="rest", now=clock.now())


def stored(account):
    """Everything of entries and versions that a transaction decides."""
    entries = LedgerEntry.objects.filter(account=account).order_by("index")
    versions = LedgerVersion.objects.filter(account=account).order_by("index")
    return (
        list(entries.values_list("exchange_id", "index", "status", "amount", "currency", "foreign", "withdrawal")),
        list(versions.values_list("index", "status", "entry__exchange_id", "content", "source")),
    )


def test_a_page_comes_to_the_same_as_one_by_one(account, django_assert_max_num_queries):
    found = page()
    with django_assert_max_num_queries(20):
        done = take(account, found)
    assert (done.new_versions, len(done.changed), done.asides) == (MANY, MANY, 0)
    at_once = stored(account)
    other = type(account).objects.create(name="Another")
    for record in found:
        take(other, [record])
    assert stored(other) == at_once
    assert take(account, found).new_versions == 0


def test_every_version_of_what_a_page_tells_twice_or_what_is_here_is_kept_in_the_order_of_its_index(account):
    take(account, [transaction(id="p-205", index=50, status="created")])
    twice = transaction(id="p-201", index=900, status="failed")
    done = take(account, [twice, *page()])
    assert done.new_versions == MANY + 1
    assert LedgerEntry.objects.get(exchange_id="p-201").status == "failed"
    assert list(LedgerVersion.objects.filter(entry__exchange_id="p-201").values_list("index", flat=True)) == [201, 900]
    assert LedgerEntry.objects.get(exchange_id="p-205").index == 205
    assert LedgerVersion.objects.filter(entry__exchange_id="p-205").count() == 2


def test_holds_of_ours_are_joined_and_payouts_of_others_flagged_in_a_page_too(account, operator):
    row = rows.held(operator, now=clock.now())
    later = {"created_at": clock.now() + timedelta(seconds=5), "updated_at": clock.now() + timedelta(seconds=5)}
    ours = transaction(id=row.exchange_id, index=901, type="payout", status="created", **later)
    by_tag = transaction(id="by-tag", index=902, type="payout", status="created", public_comment=row.tag, **later)
    foreign = transaction(id="foreign", index=903, type="payout", address=ADDRESS, amount=Decimal(3), **later)
    take(account, [*page(), ours, by_tag, foreign])
    assert {e.exchange_id for e in LedgerEntry.objects.filter(withdrawal=row)} == {row.exchange_id, "by-tag"}
    assert [e.exchange_id for e in LedgerEntry.objects.filter(foreign=True)] == ["foreign"]
    assert AuditEvent.objects.filter(action="ledger.foreign_payout").count() == 1


def test_a_bad_record_in_a_page_is_put_aside_and_the_others_are_stored(account):
    done = take(account, [*page(), transaction(id="odd", index=2**63)])
    assert (done.new_versions, done.asides) == (MANY, 1)
    assert LedgerAside.objects.get().exchange_id == "odd"


def test_what_somebody_else_stores_at_this_moment_makes_each_find_out_for_itself(account):
    """The page is refused as a whole, nothing of it stays, and the walk takes it one by one."""
    found = page()
    take(account, found[:1])
    assert batches.store(account=account, transactions=found, source="rest", now=clock.now()) == {}
    assert LedgerEntry.objects.count() == 1
    assert take(account, found).new_versions == MANY - 1
