"""Readiness in sentences: what is well, what is late, and what that means for the money."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock, health
from exchange_ops.keys import store as keys
from exchange_ops.keys.models import ApiKey
from exchange_ops.ledger import refresh as copies
from exchange_ops.ledger import stream as streams
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger import tasks as ledger_tasks
from exchange_ops.market import stream as market_stream
from exchange_ops.market import tasks as market
from exchange_ops.orders import stream as trading_stream
from exchange_ops.orders import workflow as orders
from exchange_ops.shared import clocks, heartbeats
from exchange_ops.shared.models import FollowerState
from exchange_ops.transfers import machine as transfer_machine
from exchange_ops.wire.session import BecameLive, Ended
from exchange_ops.withdrawals import machine as withdrawal_machine
from exchange_ops.withdrawals import tasks as withdrawals
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows
from tests.exchange_ops.ledger.test_sync import transaction
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.withdrawals.proofs import proving

pytestmark = pytest.mark.django_db


def look(name):
    return health.states()[name]


def age(name, **by):
    FollowerState.objects.filter(name=name).update(
        heard_at=clock.now() - timedelta(**by), beat_at=clock.now() - timedelta(**by)
    )


def test_a_desk_without_an_account_says_what_is_missing(db):
    assert not look("exchange").ok
    assert "An administrator can create" in look("exchange").sentence


def test_before_the_first_round_nothing_is_well_and_nothing_fails(account):
    found = health.states()
    for name in ("exchange", "stream", "worker", "sweeper", "prices"):
        assert not found[name].ok, name
        assert found[name].sentence.endswith("."), name
        assert "failed to run" not in found[name].sentence
    assert found["payouts"].ok


def test_after_a_round_of_everything_all_is_well(account, demo_keys, sandbox):
    ledger_tasks.sync_ledger()
    market.refresh_market()
    withdrawals.sweep_withdrawals()
    withdrawals.sweep_releases()
    heartbeats.succeeded(heartbeats.SWEEPER, now=clock.now())
    streams.store(account=account, event=BecameLive(), now=clock.now())
    found = health.states()
    assert {name: found[name].ok for name in ("exchange", "stream", "worker", "sweeper", "prices", "payouts")} == (
        dict.fromkeys(("exchange", "stream", "worker", "sweeper", "prices", "payouts"), True)
    )
    assert "Main desk was synced" in found["exchange"].sentence


def test_a_ledger_that_is_not_read_any_more_is_late(account, demo_keys, sandbox):
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    age(f"ledger:{account.pk}", minutes=3)
    found = look("exchange")
    assert not found.ok
    assert "3 min ago: figures may be out of date" in found.sentence
    assert found.age_s == pytest.approx(180, abs=5)


def test_the_reason_of_a_failed_round_is_told(account):
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    assert "no active key" in look("exchange").sentence


def test_records_kept_aside_are_told(account, demo_keys, sandbox):
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    ledger.apply(account=account, transactions=[transaction(index=0)], source="rest", now=clock.now())
    assert "Unreadable records: 1; review needed." in look("exchange").sentence


def test_an_absurd_clock_is_told(account, demo_keys, sandbox):
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    clocks.note(account_id=account.pk, date=clock.now() + timedelta(days=40), now=clock.now())
    assert "It is ignored" in look("exchange").sentence


def test_a_stream_that_ended_or_fell_silent_is_told(account):
    streams.store(account=account, event=BecameLive(), now=clock.now())
    assert look("stream").ok
    age(f"stream:{account.pk}", seconds=61)
    assert not look("stream").ok
    streams.store(account=account, event=Ended("No data from the exchange for 25 s."), now=clock.now())
    assert look("stream").sentence.endswith("No data from the exchange for 25 s.")


@pytest.mark.parametrize(
    ("name", "spoken"),
    [("worker", "Worker"), ("releases", "Release worker"), ("sweeper", "Scheduler")],
)
def test_a_loop_that_stopped_is_told_with_its_consequence(account, name, spoken):
    heartbeats.succeeded(name, now=clock.now())
    assert look(name).ok
    age(name, hours=5)
    assert look(name).sentence.startswith(f"{spoken} last active 5 h ago. ")
    assert not look(name).ok


def test_the_sweep_of_a_worker_is_its_sign_of_life(db):
    withdrawals.sweep_withdrawals()
    assert look("worker").ok
    assert not look("releases").ok
    withdrawals.sweep_releases()
    assert look("releases").ok


def test_old_prices_are_told(account, sandbox):
    market.refresh_market()
    from exchange_ops.market.models import Ticker

    Ticker.objects.update(read_at=clock.now() - timedelta(minutes=10))
    assert look("prices").sentence.startswith("Prices last updated 10 min ago")
    assert not look("prices").ok


def test_every_check_answers_within_few_queries(account, demo_keys, sandbox, django_assert_max_num_queries):
    ledger_tasks.sync_ledger()
    with django_assert_max_num_queries(38):
        health.states()


def test_a_key_that_was_turned_down_is_told_and_unwell_only_when_no_other_can_take_over(account, demo_keys):
    assert look("keys").ok
    key = demo_keys["demo-withdraw"]
    ApiKey.objects.filter(pk=key.pk).update(last_problem="1003: Action forbidden.", last_problem_at=clock.now())
    found = look("keys")
    assert not found.ok
    assert "rejected the key demo-withdraw: 1003" in found.sentence
    assert "No other key has the same permissions." in found.sentence
    ApiKey.objects.filter(pk=key.pk).update(last_problem_at=None)
    reader = demo_keys["demo-read"]
    ApiKey.objects.filter(pk=reader.pk).update(last_problem="1002: Authorization failed.", last_problem_at=clock.now())
    found = look("keys")
    assert found.ok
    assert found.sentence.endswith("Other keys are used instead.")


def test_transfers_that_wait_too_long_or_for_people_are_told(account, make_person):
    assert look("transfers").sentence == "No transfer is overdue."
    rows.currency(transfer_enabled=True)
    row = rows.transfer(make_person("operator"), account=account, now=clock.now() - timedelta(minutes=3))
    found = look("transfers")
    assert not found.ok
    assert found.sentence == "Transfers are delayed: the oldest has been due for 3 min."
    transfer_machine.move(row, event="send_claimed", to="sending", now=clock.now(), attempt=1)
    transfer_machine.move(row, event="outcome_unknown", to="unknown", now=clock.now())
    transfer_machine.move(row, event="ambiguous", to="investigate", now=clock.now())
    found = look("transfers")
    assert found.ok
    assert f"{row.reference}: the ledger differs from the request" in found.sentence


def test_an_order_that_waits_for_a_worker_is_told_with_the_age_of_the_lists(operator):
    now = clock.now()
    order_rows.market(now=now)
    assert look("orders").ok
    assert "not synced yet" in look("orders").sentence
    row = order_rows.requested(operator, now=now)
    heartbeats.succeeded(
        orders.name_of(row.account), now=now, remark="One order could not be read.", account=row.account
    )
    type(row).objects.filter(pk=row.pk).update(next_action_at=now - timedelta(minutes=3))
    facts = look("orders")
    assert not facts.ok
    assert "has been queued for 3 min" in facts.sentence
    assert "One order could not be read." in facts.sentence


def test_the_other_streams_are_told_of_and_fail_nothing(account, demo_keys, sandbox):
    market.refresh_market()
    assert "not live; refreshing every few seconds" in look("prices").sentence
    assert "Order updates are not live" in look("orders").sentence
    market_stream.Tally().add(BecameLive(), now=clock.now())
    trading_stream.store(account=account, event=BecameLive(), now=clock.now())
    assert "Open markets are live." in look("prices").sentence
    assert "Order updates are live." in look("orders").sentence
    age("market stream", minutes=3)
    assert look("prices").ok
    assert "are not live" in look("prices").sentence


def test_payouts_that_wait_for_a_proof_or_for_people_are_told(account, make_person):
    operator = make_person("operator")
    assert look("proofs").sentence == "No payouts awaiting on-chain confirmation."
    paid = proving.Proving(account, None, operator)
    row = paid.row("settled", hash="ab" * 32, currency="BCH", amount=Decimal(1), address=proving.supplier())
    paid.row("settled", hash="cd" * 32, currency="BTC", amount=Decimal(1), address=proving.supplier())
    assert (look("proofs").ok, look("proofs").sentence.split(",")[0]) == (
        True,
        "1 payouts await on-chain confirmation",
    )
    Withdrawal.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(minutes=5))
    assert not look("proofs").ok
    withdrawal_machine.move(paid.fresh(row), event="proof_lost", to="disputed", now=clock.now())
    assert f"{row.reference}: reported as paid, but other evidence disagrees." in look("proofs").sentence


def test_a_job_that_runs_too_long_is_an_alarm_until_it_ends(account):
    assert look("jobs").ok
    heartbeats.failed(heartbeats.JOBS, now=clock.now(), problem="A job is overdue: tip: follow.")
    assert not look("jobs").ok
    assert look("jobs").sentence.startswith(
        "A job is overdue: tip: follow. The affected account or task may be delayed"
    )
    heartbeats.failed(heartbeats.JOBS, now=clock.now() - timedelta(minutes=5), problem="A job is overdue.")
    assert look("jobs").ok
