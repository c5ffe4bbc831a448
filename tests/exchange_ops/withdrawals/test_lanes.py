"""Lanes with real payouts: threads, the sandbox's faults, connections of their own. What hangs delays its own kind."""

import threading
import time
from dataclasses import replace
from decimal import Decimal
from types import SimpleNamespace

import pytest

from chaindata.explorer import tasks as tip
from desk import clock
from desk.machines import lanes as kit
from desk.machines.lanes import Job
from exchange_ops.keys import store as keys
from exchange_ops.reconciliation import tasks as duties
from exchange_ops.shared import facts
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import tasks as proofs
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from wire.values import Secret

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("two transactions at once")]
HANGS_MS = 12_000
SOON_S = 5.0  # two seconds, and the normal time of a step on a machine that is busy


@pytest.fixture
def threads(monkeypatch, walk):
    """Lanes with threads, as in a worker."""
    opened = kit.Lanes()
    opened.use_threads()
    monkeypatch.setattr(workflow, "LANES", opened)
    yield opened
    walk.heal()
    assert opened.finish(within_s=60)


def second_account():
    account = Account.objects.create(name="Second desk", quote_currency="USD")
    facts.note(account=account, name=facts.HOLD_END, value=facts.LAPSES, now=clock.now())
    keys.add(
        account=account,
        label="full",
        login="demo-full",
        secret=Secret("demo-full-secret"),
        rights=list(Right),
        actor=None,
        now=clock.now(),
    )
    return account


def wait_for(holds, within_s=30.0):
    ends = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < ends, "it did not come about in time"
        time.sleep(0.05)


def due(row):
    Withdrawal.objects.filter(pk=row.pk).update(next_action_at=clock.now())
    workflow.look(row.pk, now=clock.now(), client_for=keys.client_for)


def queued(walk, **changes):
    row = walk.request(**changes)
    return walk.until(row, "queued")


def commits_sent():
    return ExternalCall.objects.filter(kind=ExternalCall.COMMIT, outcome=ExternalCall.SENT).count()


def commits_received(walk):
    return len(walk.sandbox.control("calls?operation=commit_withdrawal")["calls"])


def test_six_payouts_that_hang_delay_no_hold_of_their_account_and_none_is_sent_twice(walk, threads):
    paid = [walk.committing(amount=Decimal("0.01") + Decimal(number) / 1000) for number in range(6)]
    fresh = queued(walk, amount=Decimal("0.02"))
    walk.fault("commit_withdrawal", "delay_then_execute", times=6, ms=HANGS_MS)
    for row in paid:
        due(row)
    wait_for(lambda: commits_sent() == 6)
    begun = time.monotonic()
    due(fresh)
    wait_for(lambda: walk.fresh(fresh).state == "held")
    took = time.monotonic() - begun
    assert commits_sent() == 6, "they hang still"
    assert took < SOON_S
    workflow.sweep_others(now=clock.now(), client_for=keys.client_for)
    wait_for(lambda: not commits_sent())
    assert commits_received(walk) == 6


def test_an_account_whose_calls_hang_delays_no_other_account(walk, threads):
    other = replace(walk, account=second_account())
    row, slow = queued(other, amount=Decimal("0.03")), queued(walk, amount=Decimal("0.04"))
    walk.fault("create_withdrawal", "delay_then_execute", times=1, ms=HANGS_MS, key="demo-withdraw")
    due(slow)
    wait_for(lambda: walk.fresh(slow).state == "holding")
    begun = time.monotonic()
    due(row)
    wait_for(lambda: other.fresh(row).state == "held")
    took = time.monotonic() - begun
    assert walk.fresh(slow).state == "holding", "it hangs still"
    assert took < SOON_S


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_ends_between_send_and_record_pays_once_and_its_lane_works_on(walk, threads):
    row = walk.committing(amount=Decimal("0.05"))
    ended = threading.Event()

    def dying(account, right):
        client = keys.client_for(account, right)
        send = client.commit_withdrawal

        def commit(*args, **arguments):
            send(*args, **arguments)
            ended.set()
            raise SystemExit  # the end of the process, as its thread meets it

        client.commit_withdrawal = commit
        return client

    Withdrawal.objects.filter(pk=row.pk).update(next_action_at=clock.now())
    workflow.look(row.pk, now=clock.now(), client_for=dying)
    assert ended.wait(30)
    job = Job((Withdrawal.__name__, row.account_id, "committing"), 0, lambda: 1)
    assert threads.put([job], wait_s=10) == 1
    assert commits_sent() == 1, "nothing was recorded"
    walk.until(row, "committed", "sent", "settled", "commit_unknown")
    walk.until(row, "committed", "sent", "settled")
    assert len(walk.sandbox.control("calls?operation=create_withdrawal")["calls"]) == 1
    commits = walk.sandbox.control("calls?operation=commit_withdrawal")["calls"]
    assert {call["path"] for call in commits} == {commits[0]["path"]}, "the one hold, which the exchange pays once"


def test_deliveries_proofs_and_the_tip_wait_in_lanes_of_their_own(monkeypatch):
    put = []
    noting = SimpleNamespace(put=lambda jobs, **_: put.extend(job.lane for job in jobs) or 0)
    for module, task in ((tip, "follow_tip"), (duties, "deliver"), (proofs, "prove_payouts")):
        monkeypatch.setattr(module, "LANES", noting)
        getattr(module, task)()
    assert len({*put}) == len(put) == 3
