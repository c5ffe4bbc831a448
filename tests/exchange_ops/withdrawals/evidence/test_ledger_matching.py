"""Whose a payout in the ledger is: ours by id or tag, awaited, or foreign; and who is woken by what it tells."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.models import AuditEvent
from exchange_ops.keys import store as keys
from exchange_ops.ledger import refresh as copies
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.market import reference
from exchange_ops.shared import public_client
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal

ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
pytestmark = pytest.mark.django_db


@pytest.fixture
def ask(account, demo_keys, sandbox, operator):
    """A payout that somebody asked for, brought on by the worker as far as it goes."""
    reference.refresh_market(now=clock.now(), open_client=public_client.open_client)
    sync()
    numbers = iter(range(100))

    def request(amount="0.25"):
        row = workflow.request(
            initiator=operator,
            account=account,
            currency="BTC",
            amount=Decimal(amount),
            address=ADDRESS,
            payment_id="",
            include_fee=False,
            reason="for a test",
            request_key=f"key-{next(numbers)}",
            now=clock.now(),
        )
        sweep()
        row.refresh_from_db()
        return row

    return request


def sync():
    assert copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)


def sweep(**later):
    return workflow.sweep(now=clock.now() + timedelta(**later), client_for=keys.client_for)


def test_a_hold_of_ours_is_joined_to_its_request(ask):
    row = ask()
    assert row.state == "held"
    sync()
    entry = LedgerEntry.objects.get(exchange_id=row.exchange_id)
    assert (entry.withdrawal, entry.foreign) == (row, False)
    assert not AuditEvent.objects.filter(action="ledger.foreign_payout").exists()


def test_it_is_joined_by_its_id_when_the_exchange_shows_no_comment(sandbox, ask):
    sandbox.control("config", {"echo_comment": False})
    row = ask()
    sync()
    assert LedgerEntry.objects.get(exchange_id=row.exchange_id).withdrawal == row


def test_a_hold_whose_answer_was_lost_is_joined_by_its_tag_and_wakes_the_machine(sandbox, ask):
    sandbox.control("faults", {"operation": "create_withdrawal", "kind": "drop_after", "times": 1})
    row = ask()
    assert row.exchange_id is None or row.state == "held"
    Withdrawal.objects.filter(pk=row.pk).update(next_action_at=clock.now() + timedelta(hours=1))
    LedgerEntry.objects.filter(withdrawal=row).update(withdrawal=None)
    sync()
    entry = LedgerEntry.objects.get(public_comment=row.tag)
    assert entry.withdrawal == row
    row.refresh_from_db()
    assert row.next_action_at <= clock.now()
    sweep()
    row.refresh_from_db()
    assert (row.state, row.exchange_id) == ("held", entry.exchange_id)


def test_a_payout_that_may_be_the_awaited_hold_is_not_called_foreign_yet(account, sandbox, ask, client_as):
    sandbox.control("config", {"echo_comment": False})
    sandbox.control("faults", {"operation": "create_withdrawal", "kind": "drop_before", "times": 1})
    row = ask()
    assert row.state == "hold_unknown"
    client = client_as("demo-withdraw")
    other = client.create_withdrawal(currency="BTC", amount=Decimal("0.25"), address=ADDRESS)
    third = client.create_withdrawal(currency="BTC", amount=Decimal("0.26"), address=ADDRESS)
    sync()
    assert not LedgerEntry.objects.get(exchange_id=other).foreign
    assert LedgerEntry.objects.get(exchange_id=third).foreign


def test_a_payout_that_was_awaited_in_vain_becomes_foreign(account, sandbox, ask, client_as):
    sandbox.control("config", {"echo_comment": False})
    sandbox.control("faults", {"operation": "create_withdrawal", "kind": "drop_before", "times": 1})
    row = ask()
    client = client_as("demo-withdraw")
    first = client.create_withdrawal(currency="BTC", amount=Decimal("0.25"), address=ADDRESS)
    second = client.create_withdrawal(currency="BTC", amount=Decimal("0.25"), address=ADDRESS)
    sync()
    assert not LedgerEntry.objects.filter(foreign=True).exists()
    for minutes in (1, 2, 3, 70):
        sweep(minutes=minutes)
    row.refresh_from_db()
    assert row.state not in {"holding", "hold_unknown"}
    sync()
    assert set(LedgerEntry.objects.filter(foreign=True).values_list("exchange_id", flat=True)) >= (
        {first, second} - {row.exchange_id}
    )


def test_a_second_entry_with_our_tag_belongs_to_the_same_request(account, ask, client_as):
    row = ask()
    late = client_as("demo-withdraw").create_withdrawal(
        currency="BTC", amount=Decimal("0.25"), address=ADDRESS, public_comment=row.tag
    )
    sync()
    assert LedgerEntry.objects.get(exchange_id=late).withdrawal == row
    assert ExternalCall.objects.filter(withdrawal=row, kind="hold").count() == 1


def test_a_tag_of_nobody_is_nobodys(account, ask, client_as):
    ask()
    stranger = client_as("demo-withdraw").create_withdrawal(
        currency="BTC", amount=Decimal("0.25"), address=ADDRESS, public_comment="tx-" + "a" * 26
    )
    sync()
    assert LedgerEntry.objects.get(exchange_id=stranger).foreign


def test_the_end_of_a_payout_is_seen_and_a_finished_row_is_left_alone(account, sandbox, ask, client_as):
    row = ask()
    client_as("demo-withdraw").rollback_withdrawal(exchange_id=row.exchange_id)
    sync()
    sweep()
    row.refresh_from_db()
    assert row.state in {"rolling_back", "rolled_back"}
    sweep(seconds=30)
    row.refresh_from_db()
    assert row.state == "rolled_back"
    before = row.next_action_at
    ledger.apply(
        account=account,
        transactions=client_as("demo-read").call("get_transactions", sort="ASC", by="index", limit=1000),
        source="rest",
        now=clock.now(),
    )
    row.refresh_from_db()
    assert row.next_action_at == before
