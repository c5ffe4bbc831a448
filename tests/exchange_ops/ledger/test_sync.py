"""The copy of the exchange's ledger: complete, once each, whatever order, delay, fault or oddity it comes with."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.audit import witness_chain
from desk.models import AuditEvent
from exchange_ops.ledger import quarantine
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, LedgerVersion, Watermark
from exchange_ops.shared import clocks
from exchange_ops.wire import records
from exchange_ops.withdrawals.evidence import ledger_matching as links
from wire.errors import CallFailed

ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
pytestmark = pytest.mark.django_db


@pytest.fixture
def sync(account, client_as):
    """One walk with the demo desk's read key."""
    client = client_as("demo-read")
    return lambda **more: ledger.sync(account=account, client=client, now=clock.now(), **more)


@pytest.fixture
def hold(client_as):
    """A hold that somebody makes with the withdraw key; gives its id."""
    client = client_as("demo-withdraw")

    def make(**changes):
        return client.create_withdrawal(**{"currency": "BTC", "amount": Decimal("0.1"), "address": ADDRESS, **changes})

    make.client = client
    return make


def listed(client):
    """The exchange's own listing, the newest version of each transaction by its id."""
    return {record.id: record for record in client.call("get_transactions", sort="ASC", by="index", limit=1000)}


def agrees(account, client):
    theirs = listed(client)
    ours = {entry.exchange_id: entry for entry in LedgerEntry.objects.filter(account=account)}
    assert ours.keys() == theirs.keys()
    for exchange_id, record in theirs.items():
        entry = ours[exchange_id]
        assert (entry.index, entry.status, entry.amount, entry.fee) == (
            record.index,
            record.status,
            record.amount,
            record.fee,
        )
        assert (entry.hash, entry.address) == (record.hash or "", record.address or "")
    return True


def transaction(**changes):
    known = {
        "id": "t-1",
        "index": 100,
        "currency": "BTC",
        "amount": Decimal("1.5"),
        "status": "success",
        "type": "payin",
        "created_at": datetime(2026, 11, 20, 12, tzinfo=UTC),
        "updated_at": datetime(2026, 11, 20, 12, tzinfo=UTC),
    }
    return records.Transaction(**{**known, **changes})


def take(account, *found, source="rest", now=None):
    return ledger.apply(account=account, transactions=found, source=source, now=now or clock.now())


# The walk ------------------------------------------------------------------------------------------------------------


def test_the_first_walk_copies_everything_and_the_next_one_nothing(account, sync, client_as):
    first = sync()
    assert first.new_versions == LedgerEntry.objects.count() == LedgerVersion.objects.count() > 5
    assert agrees(account, client_as("demo-read"))
    assert sync().new_versions == 0


def test_every_version_of_a_transaction_is_kept(account, sync, hold):
    exchange_id = hold(public_comment="tx-1")
    sync()
    hold.client.rollback_withdrawal(exchange_id=exchange_id)
    sync()
    entry = LedgerEntry.objects.get(exchange_id=exchange_id)
    assert entry.status == "failed"
    assert [version.status for version in entry.versions.order_by("index")] == ["created", "failed"]
    assert entry.versions.order_by("index").first().content["publicComment"] == "tx-1"


def test_pages_of_a_moving_ledger_lose_nothing(account, client_as, hold, monkeypatch):
    """Between two pages a transaction that was read already changes: it jumps behind what is not read yet."""
    made = [hold(amount=Decimal("0.01") + Decimal(number) / 1000) for number in range(6)]
    reader = client_as("demo-read")
    pages = reader.transactions_after(index=0, limit=4)
    walked = []
    for number, page in enumerate(pages):
        walked += page.records
        ledger.apply(account=account, transactions=page.records, source="rest", now=clock.now())
        if number < len(made):
            hold.client.rollback_withdrawal(exchange_id=made[number])
    assert len({record.index for record in walked}) == len(walked)
    ledger.sync(account=account, client=reader, now=clock.now())
    assert agrees(account, reader)


def test_a_listing_that_shows_a_transaction_late_does_not_lose_it(account, sandbox, sync, hold, client_as):
    sandbox.control("clock", {"frozen": True})
    sync()
    sandbox.control("config", {"list_delay_ms": 60_000})
    late = hold()
    sandbox.control("config", {"list_delay_ms": 0})
    early = hold(amount=Decimal("0.2"))
    sandbox.control("config", {"list_delay_ms": 60_000})
    sync()
    known = set(LedgerEntry.objects.values_list("exchange_id", flat=True))
    assert late not in known
    sandbox.control("clock", {"advance_ms": 61_000})
    sync()
    assert set(LedgerEntry.objects.values_list("exchange_id", flat=True)) >= known | {late, early}
    assert agrees(account, client_as("demo-read"))


def test_the_watermark_waits_before_what_is_young_and_moves_when_it_is_not(account, sandbox, sync, hold):
    sync()
    old = ledger.watermark(account=account)
    assert 0 < old < ledger.highest_index(account=account)
    hold()
    sandbox.control("clock", {"advance_ms": 11 * 60_000})
    last = hold(amount=Decimal("0.3"))
    sync()
    moved = ledger.watermark(account=account)
    assert old < moved < LedgerEntry.objects.get(exchange_id=last).index


def test_a_quiet_ledger_settles_by_the_exchanges_clock(account, sandbox, client_as, hold):
    def seen(date):
        clocks.note(account_id=account.pk, date=date, now=clock.now())

    last = hold()
    reader = client_as("demo-read", date_seen=seen)
    ledger.sync(account=account, client=reader, now=clock.now())
    assert ledger.watermark(account=account) < LedgerEntry.objects.get(exchange_id=last).index
    sandbox.control("clock", {"advance_ms": 11 * 60_000})
    for _ in range(2):
        ledger.sync(account=account, client=reader, now=clock.now())
    assert ledger.watermark(account=account) == ledger.highest_index(account=account)


def test_a_walk_that_runs_out_of_time_is_gone_on_with(account, client_as, hold):
    made = [hold(amount=Decimal(number + 1) / 1000) for number in range(12)]
    reader = client_as("demo-read")
    walks = []
    while not walks or not walks[-1].complete:
        walks.append(ledger.sync(account=account, client=reader, now=clock.now(), walk_for=timedelta(0), page_size=4))
        assert len(walks) < 20
    assert len(walks) >= 5
    assert all(walk.new_versions <= 4 for walk in walks)
    assert LedgerEntry.objects.filter(exchange_id__in=made).count() == 12
    assert agrees(account, reader)
    assert ledger.sync(account=account, client=reader, now=clock.now()).new_versions == 0


@pytest.mark.parametrize(
    "fault",
    [
        {"kind": "drop_before", "times": 9},
        {"kind": "cut_body", "times": 9},
        {"kind": "html", "times": 1},
        {"kind": "status", "status": 500, "times": 9},
        {"kind": "rate_limit", "times": 1},
        {"kind": "redirect", "times": 1},
        {"kind": "refuse", "code": 1002, "times": 1},
    ],
)
def test_a_walk_that_breaks_off_is_made_good_by_the_next(account, sandbox, client_as, hold, fault):
    hold()
    reader = client_as("demo-read", deadline_s=2)
    sandbox.control("faults", {"operation": "get_transactions", **fault})
    with pytest.raises(CallFailed):
        ledger.sync(account=account, client=reader, now=clock.now())
    sandbox.control("faults", method="DELETE")
    ledger.sync(account=account, client=reader, now=clock.now())
    assert agrees(account, reader)


@pytest.mark.django_db(transaction=True)
def test_the_same_walk_twice_at_once_stores_each_version_once(account, client_as, hold):
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connection

    for number in range(5):
        hold(amount=Decimal(number + 1) / 100)
    readers = [client_as("demo-read") for _ in range(4)]

    def walk(reader):
        try:
            return ledger.sync(account=account, client=reader, now=clock.now()).new_versions
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        stored = sum(pool.map(walk, readers))
    assert stored == LedgerVersion.objects.count()
    assert agrees(account, readers[0])
    assert LedgerAside.objects.count() == 0


# One record ----------------------------------------------------------------------------------------------------------


def test_an_older_version_is_kept_and_changes_nothing(account):
    take(account, transaction(index=200, status="success"))
    done = take(account, transaction(index=150, status="pending"))
    entry = LedgerEntry.objects.get()
    assert (entry.index, entry.status, done.new_versions, done.changed) == (200, "success", 1, ())
    assert entry.versions.count() == 2


def test_the_same_version_any_number_of_times_is_one(account):
    for source in ("rest", "stream", "rest"):
        take(account, transaction(), transaction(), source=source)
    assert (LedgerEntry.objects.count(), LedgerVersion.objects.count(), LedgerAside.objects.count()) == (1, 1, 0)


def test_members_that_a_newer_version_lacks_keep_what_was_told(account):
    take(account, transaction(index=100, hash="ab", address=ADDRESS, fee=Decimal("0.1")))
    take(account, transaction(index=101), source="stream")
    entry = LedgerEntry.objects.get()
    assert (entry.index, entry.hash, entry.address, entry.fee) == (101, "ab", ADDRESS, Decimal("0.1"))


def test_the_listing_fills_in_what_the_stream_left_out(account):
    take(account, transaction(), source="stream")
    take(account, transaction(hash="ab", address=ADDRESS))
    entry = LedgerEntry.objects.get()
    assert (entry.hash, entry.address, entry.versions.count()) == ("ab", ADDRESS, 1)


def test_words_nobody_knows_yet_are_kept_as_they_are(account):
    take(account, transaction(type="teleport", status="haunted", sub_type="quantum"))
    entry = LedgerEntry.objects.get()
    assert (entry.type, entry.status, entry.sub_type) == ("teleport", "haunted", "quantum")
    assert not entry.foreign


def test_a_stream_that_differs_from_the_listing_waits_for_the_next_walk_and_is_settled_by_it(account):
    take(account, transaction())
    take(account, transaction(amount=Decimal("1.6"), fee=Decimal("0.1")), source="stream")
    entry = LedgerEntry.objects.get()
    assert (entry.amount, entry.fee) == (Decimal("1.5"), Decimal("0.1"))
    assert "differs between rest and stream: amount" in LedgerAside.objects.get().reason
    assert quarantine.waiting(account=account) == 1
    take(account, transaction())
    assert LedgerEntry.objects.get().amount == Decimal("1.5")
    assert quarantine.waiting(account=account) == 0


def test_a_listing_that_differs_from_the_stream_replaces_it_once(account):
    """Both are kept as they were read; the next walk finds nothing that differs."""
    later = {"updated_at": transaction().updated_at + timedelta(seconds=5)}
    take(account, transaction(amount=Decimal("1.6"), status="pending"), source="stream")
    for _ in range(2):
        outcome = take(account, transaction())
        assert outcome.asides == 0
    entry = LedgerEntry.objects.get()
    assert (entry.amount, entry.status, entry.versions.get().content["amount"]) == (Decimal("1.5"), "success", "1.6")
    aside = LedgerAside.objects.get()
    assert '"amount":"1.5"' in aside.content
    assert aside.cleared_at is not None
    take(account, transaction(status="failed", **later), source="stream")
    take(account, transaction())
    assert LedgerEntry.objects.get().status == "failed", "the newer reading counts, whoever brings it"
    assert quarantine.waiting(account=account) == 0


def test_confirmations_go_on_counting_within_a_version(account):
    """What has ended is confirmed further by its network without becoming another version (supplement 6)."""
    take(account, transaction(type="payout", confirmations=2))
    take(account, transaction(type="payout", confirmations=63), source="stream")
    take(account, transaction(type="payout", confirmations=40))  # told late
    entry = LedgerEntry.objects.get()
    assert (entry.confirmations, entry.versions.count()) == (63, 1)
    assert not LedgerAside.objects.exists()
    take(account, transaction(type="payout", confirmations=64, amount=Decimal("1.6")))
    assert "differs between rest and rest: amount" in LedgerAside.objects.get().reason


def test_counts_of_many_are_written_at_once_and_nobody_is_woken_for_them(account):
    """No row of the chain of entries, no look at whose they are, and as many statements for thirty as for two."""

    def confirmed(*counts):
        found = [transaction(id=f"t-{n}", index=100 + n, confirmations=each) for n, each in enumerate(counts)]
        with CaptureQueriesContext(connection) as seen:
            done = take(account, *found)
        return len(done.changed), [query["sql"] for query in seen if query["sql"].startswith(("UPDATE", "INSERT"))]

    confirmed(*[1] * 30)
    witness_chain.write_noted()
    (few, statements), many = confirmed(3, 3), confirmed(*[4] * 30)
    assert (few, len(statements), many[0], len(many[1])) == (2, 1, 30, 1)
    assert connection.unwitnessed == {}
    assert set(LedgerEntry.objects.values_list("confirmations", flat=True)) == {4}
    assert confirmed(2, 4)[0] == 0, "told late"


def test_what_has_ended_is_counted_no_further_than_pages_say(account):
    take(account, transaction(confirmations=9), transaction(id="t-2", index=101, confirmations=9, status="pending"))
    for count in (11, 12):
        take(account, *(transaction(id=i, index=n, confirmations=count, status=s) for i, n, s in (
            ("t-1", 100, "success"), ("t-2", 101, "pending"),
        )))  # fmt: skip
    ended, pending = LedgerEntry.objects.order_by("index")
    assert (ended.confirmations, ended.confirmations_text) == (11, "10+")
    assert (pending.confirmations, pending.confirmations_text) == (12, "12")
    assert LedgerEntry(confirmations=None).confirmations_text == ""


def test_a_ledger_at_rest_writes_no_row_that_is_witnessed(account, sandbox, sync):
    sandbox.control("clock", {"frozen": True})
    sync()
    witness_chain.write_noted()
    moved_at = Watermark.objects.get(name=ledger.UNFINISHED).moved_at
    sync()
    assert connection.unwitnessed == {}
    assert Watermark.objects.get(name=ledger.UNFINISHED).moved_at > moved_at


def test_a_payout_that_is_confirmed_further_is_walked_over_again(account, sync, sandbox, client_as):
    sandbox.control("clock", {"frozen": True})
    exchange_id = client_as("demo-withdraw").create_withdrawal(
        currency="ETH", amount=Decimal(1), address="0x" + "1" * 40
    )
    client_as("demo-withdraw").commit_withdrawal(exchange_id=exchange_id)
    sandbox.control("clock", {"advance_ms": 12_000})
    sync()
    entry = LedgerEntry.objects.get(exchange_id=exchange_id)
    assert (entry.status, entry.confirmations) == ("success", 2)
    sandbox.control("clock", {"advance_ms": 40_000})
    Watermark.objects.filter(account=account).delete()  # as after a crash: everything is read once more
    assert sync().new_versions == 0
    entry.refresh_from_db()
    assert entry.confirmations == 12
    assert not LedgerAside.objects.exists()


def test_one_index_for_two_transactions_is_noticed(account):
    take(account, transaction(), transaction(id="t-2"))
    assert LedgerEntry.objects.get().exchange_id == "t-1"
    assert "already belongs to 't-1'" in LedgerAside.objects.get().reason


@pytest.mark.parametrize(
    ("odd", "reason"),
    [
        ({"index": 0}, "index"),
        ({"index": -5}, "index"),
        ({"index": 2**63}, "index"),
        ({"amount": Decimal("1e40")}, "digits"),
        ({"amount": Decimal("0." + "1" * 25)}, "digits"),
        ({"fee": Decimal("1e-30")}, "digits"),
        ({"id": "x" * 81}, "exchange_id is too long"),
        ({"status": "x" * 41}, "status is too long"),
        ({"hash": "x" * 257}, "hash is too long"),
        ({"address": "a\x00b"}, "characters"),
        ({"senders": ["a\x00b"]}, "characters"),
        ({"confirmations": 2**40}, "confirmations"),
        ({"created_at": datetime(1, 1, 1, tzinfo=UTC)}, "times"),
        ({"updated_at": datetime(9999, 12, 31, tzinfo=UTC)}, "times"),
    ],
)
def test_a_record_that_can_not_be_kept_is_put_aside_with_a_sentence(account, odd, reason):
    done = take(account, transaction(**odd), transaction(id="sound", index=101))
    assert LedgerEntry.objects.get().exchange_id == "sound"
    aside = LedgerAside.objects.get()
    assert reason in aside.reason
    assert (done.asides, quarantine.waiting(account=account)) == (1, 1)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("amount", "NaN"),
        ("amount", "Infinity"),
        ("amount", "1e99999"),
        ("amount", None),
        ("amount", {"of": "BTC"}),
        ("index", "many"),
        ("index", 10**40),
        ("status", 5),
        ("createdAt", "yesterday"),
        ("id", ""),
        ("currency", ""),
        ("fee", "free"),
    ],
)
def test_an_answer_with_a_bad_member_never_stops_the_walk(*, account, sandbox, sync, hold, field, value):
    exchange_id = hold()
    sandbox.control(
        "faults",
        {
            "operation": "get_transactions",
            "kind": "echo_differs",
            "field": field,
            "value": value,
            "id": exchange_id,
            "times": 1,
        },
    )
    assert sync().asides == 1
    assert LedgerEntry.objects.count() > 5
    assert not LedgerEntry.objects.filter(exchange_id=exchange_id).exists()
    sync()
    assert LedgerEntry.objects.get(exchange_id=exchange_id).status == "created"
    cleared = LedgerAside.objects.get()
    assert cleared.content
    assert cleared.cleared_at is not None, "it is here now, whatever could be told of the bad one"


@pytest.mark.parametrize("field", ["amount", "index", "status", "type", "currency", "createdAt", "id"])
def test_an_answer_without_a_member_never_stops_the_walk(account, sandbox, sync, hold, field):
    exchange_id = hold()
    sandbox.control(
        "faults",
        {
            "operation": "get_transactions",
            "kind": "echo_differs",
            "field": field,
            "absent": True,
            "id": exchange_id,
            "times": 1,
        },
    )
    assert sync().asides == 1
    sync()
    assert LedgerEntry.objects.filter(exchange_id=exchange_id).exists()


def test_members_nobody_named_harm_nothing(account, sandbox, sync, client_as):
    sandbox.control(
        "faults",
        {"operation": "get_transactions", "kind": "echo_differs", "field": "novelty", "value": [1], "times": 1},
    )
    sync()
    assert agrees(account, client_as("demo-read"))


def test_the_same_bad_record_seen_again_is_one_row(account):
    for minute in range(3):
        take(account, transaction(index=0), now=clock.now() + timedelta(minutes=minute))
    aside = LedgerAside.objects.get()
    assert aside.seen_at - aside.first_seen_at >= timedelta(minutes=1)


# Whose it is ---------------------------------------------------------------------------------------------------------


def test_a_payout_made_elsewhere_is_flagged_once_and_told_to_the_auditors(account, sync, hold):
    exchange_id = hold()
    sync()
    hold.client.commit_withdrawal(exchange_id=exchange_id)
    sync()
    entry = LedgerEntry.objects.get(exchange_id=exchange_id)
    assert entry.foreign
    assert entry.withdrawal is None
    (event,) = AuditEvent.objects.filter(action="ledger.foreign_payout")
    assert event.subject == f"ledger:{entry.pk}"


def test_what_happened_before_the_desk_kept_the_account_is_not_foreign(account, sync):
    sync()
    assert LedgerEntry.objects.filter(type="payout").exists()
    assert not LedgerEntry.objects.filter(foreign=True).exists()


def test_a_payin_is_never_foreign(account, sandbox, sync):
    sandbox.control("deposit", {"currency": "ETH", "amount": "1.5"})
    sync()
    assert not LedgerEntry.objects.filter(foreign=True).exists()
    assert links.LEAVING == ("payout", "withdraw")


def test_the_watermark_is_noted_as_read_even_when_nothing_is_new(account, sync):
    sync()
    before = Watermark.objects.get(name="ledger").moved_at
    sync()
    assert Watermark.objects.get(name="ledger").moved_at > before
