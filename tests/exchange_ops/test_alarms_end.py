"""Alarms end with their cause: keys that work again, and records that are here after all."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock, outbox
from exchange_ops.client import Aside
from exchange_ops.keys import probing as key_probing
from exchange_ops.keys import room as keys_room
from exchange_ops.keys import store as keys
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import quarantine
from exchange_ops.ledger import stream as streams
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import LedgerAside, LedgerEntry, Watermark
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.conversation import Unread
from exchange_ops.wire.session import Origin, Transactions
from tests.exchange_ops.ledger.test_sync import transaction
from wire.errors import Refused
from wire.values import Secret

pytestmark = pytest.mark.django_db


# Keys ----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def only_key(account, sandbox):
    key = keys.add(
        account=account,
        label="Only",
        login="demo-full",
        secret=Secret("demo-full-secret"),
        rights=list(Right),
        actor=None,
        now=clock.now() - timedelta(minutes=10),
    )
    key_probing.fill(key_id=key.pk, open_client=keys.client_of, now=clock.now() - timedelta(minutes=10))
    return key


@pytest.fixture
def woken(monkeypatch):
    heard = []
    monkeypatch.setattr(outbox, "wake", lambda *call: heard.append(call))
    return heard


def read_balances(account, *, refused=False):
    client = keys.client_for(account, Right.PAYMENTS)
    try:
        if refused:
            with pytest.raises(Refused):
                client.get_balances()
        else:
            client.get_balances()
    finally:
        client.close()


def refuse_once(sandbox, account, code=1002):
    sandbox.control("faults", {"operation": "get_balances", "kind": "refuse", "code": code, "times": 1})
    read_balances(account, refused=True)


def test_a_minute_after_the_only_key_was_refused_it_is_asked_about_and_the_alarm_ends(account, sandbox, only_key):
    refuse_once(sandbox, account)
    assert not keys_room._keys().ok
    at_once = clock.now()
    assert key_probing.wake_due(now=at_once) == 0
    assert key_probing.wake_due(now=at_once + timedelta(seconds=61)) == 1
    key_probing.fill(key_id=only_key.pk, open_client=keys.client_of, now=at_once + timedelta(seconds=61))
    assert keys_room._keys().ok
    assert key_probing.wake_due(now=at_once + timedelta(minutes=10)) == 0


def test_the_first_call_that_succeeds_has_the_key_asked_about_at_once(account, sandbox, only_key, woken):
    refuse_once(sandbox, account)
    read_balances(account)
    assert woken == [("exchange_ops.probe_key", only_key.pk)]
    read_balances(account)
    assert len(woken) == 1, "once is enough"
    key_probing.fill(key_id=only_key.pk, open_client=keys.client_of, now=clock.now())
    assert keys_room._keys().ok


def test_a_key_that_is_still_turned_down_is_asked_about_each_minute_and_the_alarm_stays(account, sandbox, only_key):
    sandbox.control("faults", {"operation": "*", "kind": "refuse", "code": 1002, "times": 99})
    read_balances(account, refused=True)
    now = clock.now()
    for minute in (1, 2, 3):
        moment = now + timedelta(seconds=61 * minute)
        assert key_probing.wake_due(now=moment) == 1
        key_probing.fill(key_id=only_key.pk, open_client=keys.client_of, now=moment)
        assert not keys_room._keys().ok
    sandbox.control("faults", method="DELETE")
    moment = now + timedelta(seconds=61 * 4)
    assert key_probing.wake_due(now=moment) == 1
    key_probing.fill(key_id=only_key.pk, open_client=keys.client_of, now=moment)
    assert keys_room._keys().ok
    assert ApiKey.objects.get().last_problem.startswith("1002")


# Records -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def sync(account, client_as):
    client = client_as("demo-read")
    return lambda **more: ledger.sync(account=account, client=client, now=clock.now(), **more)


def waiting(account):
    return quarantine.waiting(account=account)


@pytest.mark.parametrize("member", ["id", "index", "amount"])
def test_a_malformed_page_waits_only_until_it_was_read_whole(account, sandbox, sync, member):
    """Whatever could still be told of a broken record: its id, its index, or only where it stood."""
    sync()
    assert waiting(account) == 0
    ours = list(LedgerEntry.objects.order_by("index").values_list("exchange_id", flat=True))
    for exchange_id in ours[:3]:
        Watermark.objects.update(index=0)
        fault = {"operation": "get_transactions", "kind": "echo_differs", "times": 1, "id": exchange_id}
        sandbox.control("faults", {**fault, "field": member, "value": {"odd": True}})
        sync()
        assert waiting(account) >= 1
        Watermark.objects.update(index=0)
        sync()
        assert waiting(account) == 0


def test_a_page_with_unreadable_records_is_read_again_although_its_time_is_long_over(account, sandbox, sync):
    """The watermark waits before them: what could not be read is not passed over for good."""
    found = sync()
    assert found.asides == 0
    top = Watermark.objects.get(name="ledger").index
    Watermark.objects.update(index=0)
    first = LedgerEntry.objects.order_by("index").first()
    fault = {"operation": "get_transactions", "kind": "echo_differs", "times": 1, "id": first.exchange_id}
    sandbox.control("faults", {**fault, "field": "id", "value": 7})
    sync()
    assert (waiting(account), Watermark.objects.get(name="ledger").index) == (1, 0)
    sync()
    assert (waiting(account), Watermark.objects.get(name="ledger").index) == (0, top)


def test_what_stays_unreadable_holds_the_watermark_for_ten_minutes_and_not_for_ever(account, sandbox, sync):
    sync()
    top = Watermark.objects.get(name="ledger").index
    Watermark.objects.update(index=0)
    first = LedgerEntry.objects.order_by("index").first()
    fault = {"operation": "get_transactions", "kind": "echo_differs", "times": 99, "id": first.exchange_id}
    sandbox.control("faults", {**fault, "field": "id", "value": 7})
    sync()
    LedgerAside.objects.update(first_seen_at=clock.now() - timedelta(minutes=11))
    sync()
    assert (waiting(account), Watermark.objects.get(name="ledger").index) == (1, top)


def told_unreadable(account, content):
    event = Transactions(records=(), unread=(Unread(content, "it does not read"),), origin=Origin.NOTIFICATION)
    streams.store(account=account, event=event, now=clock.now())


def test_what_the_stream_told_badly_waits_until_the_ledger_has_it(account):
    told_unreadable(account, '{"id": "t-7", "index": 107, "amount": "NaN"}')
    aside = LedgerAside.objects.get()
    assert (aside.exchange_id, aside.index, waiting(account)) == ("t-7", 107, 1)
    ledger.apply(account=account, transactions=[transaction(id="t-7", index=106)], source="rest", now=clock.now())
    assert waiting(account) == 1, "an older version is not what was told"
    ledger.apply(account=account, transactions=[transaction(id="t-7", index=107)], source="rest", now=clock.now())
    assert waiting(account) == 0


def test_what_was_here_before_it_was_told_badly_does_not_wait_for_ever(account):
    ledger.apply(account=account, transactions=[transaction(id="t-7", index=107)], source="rest", now=clock.now())
    told_unreadable(account, '{"id": "t-7", "index": 107, "amount": "NaN"}')
    assert waiting(account) == 1
    ledger.apply(account=account, transactions=[transaction(id="t-7", index=107)], source="rest", now=clock.now())
    assert waiting(account) == 0


def test_what_the_stream_told_beyond_recognition_waits_until_the_ledger_was_read_whole(account, sync):
    sync()
    told_unreadable(account, "[1, 2]")
    assert waiting(account) == 1
    sync()
    assert waiting(account) == 0


def test_a_record_that_nobody_lists_goes_on_waiting(account, sync):
    aside = Aside("{}", "it does not read", "t-nowhere", 5)
    ledger.apply(account=account, transactions=[], asides=[aside], source="rest", now=clock.now())
    sync()
    sync()
    assert waiting(account) == 1


# Foreign payouts ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "foreign"),
    [
        ({}, False),
        ({"address": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"}, True),
        ({"payment_id": "memo 7"}, True),
        ({"public_comment": "somebody else's"}, True),
        ({"amount": Decimal("0.26")}, True),
        ({"address": None}, False),
    ],
)
def test_while_a_hold_is_unknown_a_payout_of_another_content_is_foreign(account, operator, change, foreign):
    from tests.exchange_ops import rows

    row = rows.submitted(operator, now=clock.now(), currency="BTC", amount=Decimal("0.25"), address=ADDRESS)
    rows.withdrawal_machine.move(
        row, event="hold_claimed", to="holding", now=clock.now(), attempt=1, tag=f"tx-{row.pk}-1"
    )
    rows.withdrawal_machine.move(row, event="hold_unknown", to="hold_unknown", now=clock.now())
    members = {"type": "payout", "status": "created", "currency": "BTC", "amount": Decimal("0.25"), "address": ADDRESS}
    members |= {"created_at": clock.now() + timedelta(seconds=5), "updated_at": clock.now() + timedelta(seconds=5)}
    ledger.apply(account=account, transactions=[transaction(**(members | change))], source="rest", now=clock.now())
    assert LedgerEntry.objects.get().foreign is foreign


ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
