"""Reconciliation: everything agrees after ordinary life, and each kind of difference is found and named."""

from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command

from desk import clock
from exchange_ops.keys import store as keys
from exchange_ops.ledger import refresh as copies
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import LedgerVersion
from exchange_ops.shared import facts
from exchange_ops.shared.models import Fact
from exchange_ops.withdrawals.evidence import reconciliation
from tests.exchange_ops.ledger.test_sync import transaction

ADDRESS = "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2"
pytestmark = pytest.mark.django_db


@pytest.fixture
def reconcile(account, demo_keys, client_as):
    def run():
        client = client_as("demo-read")
        findings = reconciliation.reconcile(account=account, client=client, now=clock.now())
        return {finding.about: finding for finding in findings}

    return run


@pytest.fixture
def differing(reconcile):
    return lambda: {about: finding.sentence for about, finding in reconcile().items() if not finding.agrees}


def live_a_little(sandbox, client):
    """Payins, transfers, a paid, a released and a waiting payout."""
    sandbox.control("config", {"payout_seconds": 1})
    sandbox.control("deposit", {"currency": "ETH", "amount": "3.5"})
    hold = {"currency": "BTC", "address": ADDRESS}
    paid = client.create_withdrawal(amount=Decimal("0.5"), **hold)
    released = client.create_withdrawal(amount=Decimal("0.6"), include_fee=True, **hold)
    client.create_withdrawal(amount=Decimal("0.7"), **hold)
    client.commit_withdrawal(exchange_id=paid)
    client.rollback_withdrawal(exchange_id=released)
    client.call("transfer_funds", currency="BTC", amount=Decimal(2), type="bankToExchange")
    client.call("transfer_funds", currency="BTC", amount=Decimal("0.5"), type="exchangeToBank")
    sandbox.control("clock", {"advance_ms": 60_000})


def test_the_first_one_keeps_the_opening_figures(account, reconcile):
    findings = reconcile()
    assert all(finding.agrees for finding in findings.values())
    assert "Opening balance" in findings["BTC"].sentence
    assert Fact.objects.get(name=reconciliation.OPENING).value["USD"] == "1000000"


def test_after_ordinary_life_everything_still_agrees(account, sandbox, reconcile, client_as):
    reconcile()
    live_a_little(sandbox, client_as("demo-full"))
    findings = reconcile()
    assert {about for about, finding in findings.items() if not finding.agrees} == {"open holds"}
    assert findings["BTC"].sentence == "The bank balance matches its transactions."
    assert "1 pending payouts at the exchange were not requested in Countersign" in findings["open holds"].sentence
    assert Fact.objects.filter(name=reconciliation.OPENING).count() == 1


def test_money_that_moved_without_a_transaction_is_found(account, reconcile, differing):
    reconcile()
    opening = facts.newest(account=account, name=reconciliation.OPENING)
    facts.note(account=account, name=reconciliation.OPENING, value={**opening.value, "BTC": "100.25"}, now=clock.now())
    assert set(differing()) == {"BTC"}
    assert "not explained by any transaction" in differing()["BTC"]


def test_a_transaction_that_was_thought_to_be_here_is_found(account, demo_keys, sandbox, differing):
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    late = LedgerVersion.objects.filter(index__lte=ledger.watermark(account=account)).order_by("index").first()
    from django.db import connection

    from exchange_ops.ledger.room import GUARDS

    GUARDS.remove(connection)
    try:
        entry = late.entry
        entry.versions.all().delete()
        entry.delete()
    finally:
        GUARDS.install(connection)
    assert f"missing from our ledger, now added: 1 ({entry.exchange_id})." in differing()["transactions"]
    assert differing() == {}


def test_a_transaction_that_the_exchange_does_not_know_is_found(account, reconcile, differing):
    reconcile()
    ledger.apply(account=account, transactions=[transaction(index=7)], source="rest", now=clock.now())
    assert "unknown to the exchange: 1" in differing()["transactions"]


def test_a_record_kept_aside_is_found(account, reconcile, differing):
    ledger.apply(account=account, transactions=[transaction(index=0)], source="rest", now=clock.now())
    assert differing() == {"unread records": "1 records could not be read."}


def test_a_currency_with_movements_nobody_knows_is_not_called_proven(account, sandbox, reconcile):
    sandbox.control(
        "faults",
        {"operation": "get_transactions", "kind": "echo_differs", "field": "type", "value": "teleport", "times": 1},
    )
    findings = reconcile()
    assert "Not verifiable: unknown transaction type 'teleport'" in findings["BTC"].sentence
    assert "Opening balance" in findings["USD"].sentence


def test_reserved_money_without_a_payout_is_found(account, sandbox, reconcile):
    reconcile()
    for _ in range(2):
        sandbox.control(
            "faults",
            {"operation": "get_balances", "kind": "echo_differs", "field": "reserved", "value": "0.5", "times": 2},
        )
        found = reconcile()
        assert "0.5 BTC reserved without a pending payout" in found["BTC reserved"].sentence
        assert not found["BTC"].agrees


def test_an_account_that_never_stands_still_is_not_judged(account, sandbox, client_as, reconcile):
    class Restless:
        """The exchange's client, with somebody else at work between any two of its reads."""

        def __init__(self):
            self.reader, self.hands, self.number = client_as("demo-read"), client_as("demo-withdraw"), 0

        def get_balances(self):
            self.number += 1
            self.hands.create_withdrawal(currency="BTC", amount=Decimal(self.number) / 1000, address=ADDRESS)
            return self.reader.get_balances()

        def transactions_after(self, **arguments):
            return self.reader.transactions_after(**arguments)

    with pytest.raises(reconciliation.CannotReconcile, match="too active for a consistent snapshot"):
        reconciliation.reconcile(account=account, client=Restless(), now=clock.now())


# The command ---------------------------------------------------------------------------------------------------------


def test_the_command_succeeds_when_everything_agrees(account, demo_keys, sandbox, capsys):
    call_command("reconcile")
    output = capsys.readouterr().out
    assert "agrees   transactions: All 11 transactions are up to date" in output
    assert "DIFFERS" not in output


def test_the_command_fails_when_something_differs(account, demo_keys, sandbox, client_as, capsys):
    client_as("demo-withdraw").create_withdrawal(currency="BTC", amount=Decimal("0.1"), address=ADDRESS)
    with pytest.raises(CommandError, match="1 difference found"):
        call_command("reconcile")
    assert "DIFFERS  open holds" in capsys.readouterr().out


@pytest.mark.parametrize("fault", [{"kind": "html"}, {"kind": "status", "status": 503, "times": 9}])
def test_the_command_fails_with_a_sentence_when_the_exchange_does_not_answer(account, demo_keys, sandbox, fault):
    sandbox.control("faults", {"operation": "get_balances", "times": 1, **fault})
    with pytest.raises(CommandError, match="could not be reconciled"):
        call_command("reconcile")


def test_the_command_needs_an_account_with_a_key(db, account):
    with pytest.raises(CommandError, match="no active key"):
        call_command("reconcile")
    with pytest.raises(CommandError, match="Account not found"):
        call_command("reconcile", "--account", "Nobody's")
