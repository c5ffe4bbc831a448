"""The probe: asks what is safe to ask, always releases its hold, stores dated facts, says what can't be relied on."""

import re
from enum import Enum

import pytest
from django.core.management import CommandError, call_command

from desk import clock
from exchange_ops.keys import store as keys
from exchange_ops.ledger import refresh as copies
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.market import reference, valuation
from exchange_ops.market.models import Currency
from exchange_ops.shared import facts, public_client
from exchange_ops.shared.models import Account, Fact
from exchange_ops.withdrawals.evidence import ledger_matching, probe_readings, probing, reconciliation
from sandbox.exchange.accounts.accounts import SubStatus
from wire.errors import Refused

pytestmark = pytest.mark.django_db


@pytest.fixture
def probe(account, demo_keys, sandbox, capsys):
    """`probe()` asks about BTC; gives the sentences by fact and the command's complaint."""
    reference.refresh_market(now=clock.now(), open_client=public_client.open_client)

    def run(*arguments, currency="btc"):
        complaint = ""
        try:
            call_command("probe_exchange", "--account", "Main desk", "--currency", currency, *arguments)
        except CommandError as problem:
            complaint = str(problem)
        lines = [line.split("  ", 1)[1].strip() for line in capsys.readouterr().out.splitlines() if "  " in line]
        return dict(line.split(": ", 1) for line in lines), complaint

    return run


def open_holds(sandbox):
    return sandbox.control("state")["counts"]["open_holds"]


def newest(account, name):
    return facts.newest(account=account, name=f"probe.{name}").value


def test_the_sandbox_is_one_that_the_desk_can_rely_on(account, sandbox, probe):
    answers, complaint = probe()
    assert complaint == ""
    assert answers["status_of_a_hold"] == "Status of an uncommitted hold: created."
    assert newest(account, "commit_after_rollback") == "refusal 20007"
    assert newest(account, "rollback_again") is True
    assert newest(account, "refusal.insufficient_funds") == {"code": 20001, "http_status": 400}
    assert newest(account, "refusal.validation_error")["code"] == 10001
    assert newest(account, "reserved_holds_amount_and_fee") is True
    assert newest(account, "fee_is_the_estimate") is True
    assert open_holds(sandbox) == 0


def test_what_drifts_is_told_but_may_be_relied_on(account, sandbox, probe):
    sandbox.control("config", {"fee_drift": "0.5", "echo_comment": False})
    _, complaint = probe()
    assert complaint == ""
    assert newest(account, "comment_is_echoed") is False
    assert newest(account, "fee_is_the_estimate") is False


def test_a_listing_that_comes_late_is_measured(account, sandbox, probe):
    sandbox.control("config", {"list_delay_ms": 600})
    probe()
    assert 500 <= newest(account, "listing_delay_ms") <= 1500


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        (
            {"operation": "get_transactions", "kind": "echo_differs", "field": "status", "value": "success"},
            "status_of_a_hold",
        ),
        (
            {"operation": "rollback_withdrawal", "kind": "echo_differs", "field": "result", "value": False},
            "rollback_is_confirmed",
        ),
    ],
)
def test_what_can_not_be_relied_on_fails_the_command(sandbox, probe, fault, name):
    sandbox.control("faults", {"times": 1, **fault})
    _, complaint = probe()
    assert name in complaint
    assert open_holds(sandbox) == 0


@pytest.mark.parametrize(
    "fault",
    [
        {"operation": "get_transactions", "kind": "html", "times": 1},
        {"operation": "get_balances", "kind": "html", "times": 3},
        {"operation": "rollback_withdrawal", "kind": "drop_before", "times": 3},
        {"operation": "rollback_withdrawal", "kind": "drop_after", "times": 1},
        {"operation": "commit_withdrawal", "kind": "html", "times": 1},
        {"operation": "estimate_withdrawal", "kind": "refuse", "code": 600, "times": 1},
    ],
)
def test_whatever_fails_in_between_the_hold_is_released(sandbox, probe, fault):
    sandbox.control("faults", fault)
    probe()
    assert open_holds(sandbox) == 0


def test_an_unknown_outcome_is_told_with_the_comment_to_look_for(account, sandbox, probe, client_as):
    client = client_as("demo-full")
    means = probe_readings.Means(client, client, clock.now, lambda ms: None)
    address = client.call("get_deposit_address", currency="BTC")
    sandbox.control("faults", {"operation": "create_withdrawal", "kind": "drop_after", "times": 1})
    with pytest.raises(probing.CannotProbe, match="unknown whether a hold was created") as problem:
        probing._hold(account, Currency.objects.get(code="BTC"), address, means)
    (held,) = [
        record
        for record in client.call("get_transactions", limit=1000)
        if (record.public_comment or "").startswith("probe-")
    ]
    assert held.public_comment in str(problem.value)
    assert held.status == "created"


def test_the_holds_of_a_probe_are_not_foreign_unless_they_are_paid(account, sandbox, probe, client_as):
    probe("--leave-hold")
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    assert LedgerEntry.objects.filter(public_comment__startswith="probe-").count() == 2
    assert not LedgerEntry.objects.filter(foreign=True).exists()
    reader, now = client_as("demo-full"), clock.now()
    compared = {one.about: one for one in reconciliation.reconcile(account=account, client=reader, now=now)}
    assert compared["open holds"].agrees, "for the hour in which a probe's hold is left open"
    client_as("demo-withdraw").commit_withdrawal(exchange_id=newest(account, "left_hold")["id"])
    sandbox.control("clock", {"advance_ms": 60_000})
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    assert LedgerEntry.objects.get(foreign=True).status in {"pending", "success"}
    assert ledger_matching.UNPAID == ("created", "failed")


@pytest.mark.parametrize(("ends", "status", "complains"), [("lapse", "failed", False), ("stay", "created", True)])
def test_a_hold_left_open_shows_how_its_hour_ends(*, account, sandbox, probe, ends, status, complains):
    sandbox.control("config", {"hold_end": ends})
    first = probe("--leave-hold")[0]["left_hold"]
    assert open_holds(sandbox) == 1
    early, _ = probe("--leave-hold")
    assert (open_holds(sandbox), early["left_hold"]) == (1, first), "another one would put the answer off by an hour"
    assert re.search(r"Run the command again after [-0-9]+ [0-9:]+ UTC", first)
    assert "hold_end" not in early
    sandbox.control("clock", {"advance_ms": 66 * 60_000})
    Fact.objects.filter(name="probe.left_hold").update(
        value={"id": newest(account, "left_hold")["id"], "at": "2026-11-20T00:00:00+00:00"}
    )
    _, complaint = probe()
    assert newest(account, "hold_end") == status
    assert ("hold_end" in complaint) is complains
    assert open_holds(sandbox) == 0
    assert newest(account, "left_hold") == {}
    assert "hold_end" not in probe()[0]


@pytest.mark.parametrize(
    "arguments", [("--account", "Nobody's", "--currency", "BTC"), ("--account", "Main desk", "--currency", "XXX")]
)
def test_an_unknown_account_or_currency_is_refused(probe, arguments):
    with pytest.raises(CommandError):
        call_command("probe_exchange", *arguments)


def test_without_arguments_every_account_is_asked_with_what_costs_least(account, sandbox, probe, capsys):
    now = clock.now()
    assert copies.sync_ledgers(now=now, client_for=keys.client_for) == 1
    Account.objects.create(name="Second desk")
    with pytest.raises(CommandError, match="Second desk could not be verified") as complaint:
        call_command("probe_exchange")
    assert "Main desk" not in str(complaint.value)
    first = capsys.readouterr().out.splitlines()[0]
    chosen = Currency.objects.get(code=first.rsplit(" ", 1)[1].rstrip(":"))
    worth = {
        row.code: valuation.value_of(amount=probing.smallest(row), currency=row.code, quote="USD", now=now).amount
        for row in Currency.objects.filter(payout_enabled=True, payout_is_payment_id=False, crypto=True)
    }
    assert first.startswith("Main desk, with ")
    held = set(account.balances.filter(wallet="bank", available__gt=0).values_list("currency", flat=True))
    assert worth[chosen.code] == min(value for code, value in worth.items() if code in held and value is not None)
    assert newest(account, "commit_after_rollback") == "refusal 20007"
    assert open_holds(sandbox) == 0


def test_what_can_not_be_paid_with_its_fee_is_not_chosen(account, sandbox, probe):
    with pytest.raises(probing.CannotProbe, match="no currency has enough"):
        probing.cheapest(account=account, quote="USD", now=clock.now())


# What is read alone, and what is asked only where somebody says so ----------------------------------------------------


def changes_of(sandbox):
    return [
        call["operation"]
        for call in sandbox.control("calls")["calls"]
        if call["operation"] in {"commit_withdrawal", "transfer_funds", "freeze_subaccounts"} and call["executed"]
    ]


def test_the_readings_answer_as_documented_and_a_bare_probe_moves_nothing(account, sandbox, probe):
    subs = sandbox.world.exchange.accounts
    sandbox.inside(lambda: setattr(subs.sub_account("desk+1@demo.test"), "status", SubStatus.FROZEN))
    answers, complaint = probe()
    assert complaint == ""
    density = newest(account, "index_density")
    assert (density["twice"], density["read"] > 3) == (0, True)
    kinds = newest(account, "ledger_types")
    assert {"payin", "payout", "bankToExchange"} <= set(kinds)
    assert sum(kinds.values()) == density["read"]
    assert newest(account, "frozen_subaccount") == {"status": "disable", "settings_shown": 0}
    assert "sub-accounts: disable; settings returned for 0 of 2" in answers["frozen_subaccount"]
    assert not {"pace", "rollback_after_commit"} & set(answers)
    assert changes_of(sandbox) == []


def test_a_status_that_no_document_names_is_a_complaint(account, sandbox, probe):
    subs = sandbox.world.exchange.accounts
    sandbox.inside(lambda: setattr(subs.sub_account("desk+1@demo.test"), "status", Enum("Odd", {"ICED": "iced"}).ICED))
    _, complaint = probe()
    assert "frozen_subaccount" in complaint
    assert newest(account, "frozen_subaccount")["status"] == "disable, iced"


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ({"operation": "get_transactions", "field": "type", "value": "magic"}, "ledger_types"),
        ({"operation": "get_transactions", "field": "index", "value": 7}, "index_density"),
    ],
)
def test_a_reading_that_is_not_as_documented_fails_the_command(account, sandbox, probe, fault, name):
    sandbox.control("faults", {"times": 99, "kind": "echo_differs", **fault})
    answers, complaint = probe()
    assert name in complaint, answers


def test_sub_accounts_that_the_key_may_not_see_are_no_complaint(account, sandbox, probe):
    sandbox.control("faults", {"operation": "get_subaccounts", "kind": "refuse", "code": 1003, "times": 9})
    assert probe()[1] == ""
    assert newest(account, "frozen_subaccount") == "refusal 1003"


def test_the_documented_pace_goes_through_or_is_a_complaint(account, sandbox, probe):
    _, complaint = probe("--pace")
    assert complaint == ""
    assert newest(account, "pace")["calls"] == 10
    assert newest(account, "pace")["refused"] == 0


def test_a_pace_that_is_refused_is_a_complaint(account, sandbox, probe, client_as):
    client = client_as("demo-full")
    means = probe_readings.Means(client, client, clock.now, lambda ms: None)
    sandbox.control("faults", {"operation": "get_balances", "kind": "refuse", "code": 429, "times": 3})
    answer = probe_readings.pace(means)
    assert (answer.holds, answer.value["refused"]) == (False, 3)
    sandbox.control("faults", {"operation": "get_balances", "kind": "refuse", "code": 1001, "times": 1})
    with pytest.raises(Refused):
        probe_readings.pace(means)


def test_a_call_off_after_the_commit_is_refused_and_the_payment_is_ours(account, sandbox, probe):
    answers, complaint = probe("--pay-own-address")
    assert complaint == "", answers
    assert newest(account, "rollback_after_commit") == "refusal 20006"
    assert changes_of(sandbox).count("commit_withdrawal") == 1
    sandbox.control("clock", {"advance_ms": 60_000})
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    paid = LedgerEntry.objects.get(exchange_id=newest(account, "paid"))
    assert (paid.status in {"pending", "success"}, paid.foreign) == (True, False)
    assert not LedgerEntry.objects.filter(foreign=True).exists()


def test_an_exchange_that_says_a_payment_was_called_off_is_a_complaint(account, sandbox, probe):
    wrong = {"kind": "echo_differs", "field": "result", "value": False, "times": 9}
    sandbox.control("faults", {"operation": "commit_withdrawal", **wrong})
    answers, complaint = probe("--pay-own-address")
    assert "rollback_after_commit" in complaint
    assert "Commit returns False" in answers["rollback_after_commit"]
