"""Another ledger behind the same address freezes the account at the next reading, and nothing else does."""

from datetime import timedelta
from types import SimpleNamespace

import pytest

from desk import clock
from desk.incidents import review
from desk.incidents.models import Incident
from exchange_ops.ledger import continuity, refresh, sync
from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.policy import freezes
from exchange_ops.shared import alarms, heartbeats
from tests.exchange_ops.ledger.test_sync import transaction
from wire.errors import Refused

pytestmark = pytest.mark.django_db


class Exchange:
    """An exchange that has these transactions."""

    def __init__(self, *found):
        self.found, self.calls = {one.id: one for one in found}, []

    def get_transaction(self, *, exchange_id):
        self.calls.append(exchange_id)
        if exchange_id not in self.found:
            raise Refused(20004, "Transaction not found")
        return self.found[exchange_id]

    def listing(self, name, **_):
        self.calls.append(name)
        return SimpleNamespace(records=[*self.found.values()][:1])


KNOWN = [transaction(id=f"t-{number}", index=100 + number) for number in range(5)]


@pytest.fixture
def copy(account):
    now = clock.now()
    sync.apply(account=account, transactions=KNOWN, source=sync.REST, now=now)
    heartbeats.succeeded(heartbeats.ledger_of(account), now=now, account=account)
    return account


def rows():
    entries = LedgerEntry.objects.order_by("pk").values_list("exchange_id", "index", "status", "currency", "seen_at")
    return list(entries), list(LedgerVersion.objects.order_by("pk").values_list("index", "content"))


def read(account, exchange, now=None):
    continuity.require(account=account, client=exchange, now=now or clock.now())


def breaks(account, exchange, now=None):
    before = rows()
    with pytest.raises(continuity.LedgerBroke) as broke:
        read(account, exchange, now)
    assert rows() == before
    return str(broke.value)


def test_the_same_ledger_costs_one_call_and_nothing_is_frozen(copy):
    exchange = Exchange(*KNOWN)
    read(copy, exchange)
    assert exchange.calls == ["t-4"]
    assert freezes.active(copy) is None


def test_another_ledger_freezes_at_the_next_reading_with_an_incident_and_changes_no_row(copy):
    sentence = breaks(copy, Exchange(transaction(id="x-1", index=1), transaction(id="x-2", index=200)))
    assert "t-4 dated 2026-11-20 12:00 UTC is missing at the exchange" in sentence
    frozen = freezes.active(copy)
    assert frozen.frozen_by is None
    review.review(now=clock.now())
    incident = Incident.objects.get(kind=alarms.FROZEN)
    assert "is not the one synced before" in incident.sentence
    assert "The stored copy was not changed." in incident.sentence


@pytest.mark.parametrize(
    "other",
    [
        {"currency": "ETH"},
        {"type": "payout"},
        {"index": 1},
        {"created_at": KNOWN[0].created_at + timedelta(hours=1)},
    ],
)
def test_known_ids_with_other_content_are_another_ledger(copy, other):
    changed = [transaction(**{"id": one.id, "index": one.index, **other}) for one in KNOWN]
    assert "differs at the exchange" in breaks(copy, Exchange(*changed))
    assert freezes.active(copy) is not None


def test_transactions_that_changed_since_are_the_same_ledger(copy):
    read(copy, Exchange(*(transaction(id=one.id, index=5000 + one.index, status="failed") for one in KNOWN)))
    assert freezes.active(copy) is None


@pytest.mark.parametrize("left", [[], KNOWN[:-1]], ids=["an exchange that starts is empty", "one is missing"])
def test_a_doubt_fails_the_reading_and_freezes_only_when_it_lasts(copy, left):
    now = clock.now()
    breaks(copy, Exchange(*left), now)
    assert freezes.active(copy) is None
    read(copy, Exchange(*KNOWN), now)
    breaks(copy, Exchange(*left), now + continuity.DOUBT_LASTS + timedelta(seconds=5))
    assert freezes.active(copy) is not None


def test_a_new_account_and_an_old_transaction_that_arrives_late_freeze_nothing(account):
    exchange = Exchange()
    read(account, exchange)
    assert exchange.calls == []
    sync.apply(account=account, transactions=KNOWN, source=sync.REST, now=clock.now())
    late = transaction(id="old", index=3)
    sync.apply(account=account, transactions=[late], source=sync.REST, now=clock.now())
    read(account, Exchange(*KNOWN, late))
    assert freezes.active(account) is None


def test_what_only_a_stream_brought_is_not_asked_for(copy):
    sync.apply(account=copy, transactions=[transaction(id="s-1", index=900)], source=sync.STREAM, now=clock.now())
    read(copy, Exchange(*KNOWN))


def test_a_refusal_of_another_kind_says_nothing_about_the_ledger(copy):
    class Refusing(Exchange):
        def get_transaction(self, *, exchange_id):
            raise Refused(1003, "Action forbidden for this API key")

    with pytest.raises(Refused):
        read(copy, Refusing())
    assert freezes.active(copy) is None


def test_a_reading_with_pages_between_old_mark_and_end_makes_progress(account, demo_keys, sandbox, client_as):
    client = client_as("demo-read")
    total = len(client.call("get_transactions", sort="ASC", by="index", limit=1000))
    reached = []
    for _ in range(total + 1):
        continuity.require(account=account, client=client, now=clock.now())
        walk = sync.sync(
            account=account,
            client=client,
            now=clock.now(),
            page_size=1,
            walk_for=timedelta(0),
            keep_running=lambda _: False,
        )
        reached.append(LedgerEntry.objects.filter(account=account).count())
        if walk.complete:
            break
    assert walk.complete
    assert reached[:-1] == sorted({*reached[:-1]})
    assert LedgerEntry.objects.filter(account=account).count() == total
    assert freezes.active(account) is None


def test_a_round_against_another_ledger_reads_nothing_of_it(account, demo_keys, sandbox):
    from exchange_ops.keys import store as keys

    sync.apply(account=account, transactions=KNOWN, source=sync.REST, now=clock.now())
    before = rows()
    assert refresh.sync_ledgers(now=clock.now(), client_for=keys.client_for) == 0
    assert rows() == before
    assert freezes.active(account) is not None
    assert "is not the same ledger as in earlier syncs" in heartbeats.state_of(heartbeats.ledger_of(account)).problem
