"""Releases have a way of their own: whatever hangs elsewhere, none of them waits for it."""

import threading
import time
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection

from desk import clock, rooms
from exchange_ops.shared import backoff
from exchange_ops.withdrawals import deadlines, machine, states, workflow
from exchange_ops.withdrawals.models import Withdrawal
from project import celery_settings
from project.celery import app
from tests.bounds import stretched

HANGING_MS = 60_000


def queue_of(name):
    route = app.amqp.router.route({}, name)
    return route["queue"].name


def test_nothing_but_releases_goes_to_the_queue_of_releases():
    rooms.work()  # which registers every task
    ours = [name for name in app.tasks if name.startswith(("exchange_ops.", "chaindata."))]
    assert sorted(name for name in ours if queue_of(name) == "release") == [
        "exchange_ops.release",
        "exchange_ops.sweep_releases",
    ]
    assert celery_settings.beat_schedule["exchange_ops.sweep_releases"]["task"] == "exchange_ops.sweep_releases"


def test_a_row_that_is_to_be_released_is_given_to_the_worker_of_releases():
    assert machine.task_of("rolling_back") == "exchange_ops.release"
    others = set(states.STATES) - {"rolling_back"}
    assert {machine.task_of(state) for state in others} == {"exchange_ops.advance"}


def test_rows_take_turns_by_kind_and_each_round_begins_with_another_kind():
    rows = [("committing", 1), ("committing", 2), ("committing", 3), ("held", 4), ("queued", 5), ("queued", 6)]
    assert workflow.in_turn(rows, begin=0) == [1, 4, 5, 2, 6, 3]
    assert workflow.in_turn(rows, begin=1) == [4, 5, 1, 6, 2, 3]
    assert workflow.in_turn(rows, begin=5) == [5, 1, 4, 6, 2, 3]
    assert workflow.in_turn([], begin=3) == []


def test_a_call_that_hung_waits_longer_before_the_next_try():
    quick, hung = timedelta(milliseconds=20), timedelta(seconds=8)
    after = [backoff.pause_after(deadlines.COMMIT_PAUSES_S, tries, took=quick).total_seconds() for tries in (1, 2, 9)]
    assert after == [1, 2, 15]
    after = [backoff.pause_after(deadlines.COMMIT_PAUSES_S, tries, took=hung).total_seconds() for tries in (1, 2, 3, 9)]
    assert after == [16, 24, 32, 32]
    assert backoff.pause_after(deadlines.COMMIT_PAUSES_S, 9, took=timedelta(seconds=25)) == timedelta(seconds=60)


@pytest.mark.django_db(transaction=True)
@pytest.mark.engine("two transactions at once")
class TestWhileCallsHang:
    def test_a_release_is_done_while_the_sweep_of_the_others_stands_still(self, walk):
        """The order to pay hangs until it is let go: by then the release of another hold has long ended."""
        paid, rejected = walk.committing(), walk.held(amount=Decimal("0.06"))
        walk.fault("commit_withdrawal", "delay_then_execute", times=99, ms=HANGING_MS)
        walk.reject(rejected)
        others = threading.Thread(target=_sweep_others, args=(walk,), daemon=True)
        others.start()
        _until(lambda: Withdrawal.objects.get(pk=paid.pk).put_count == 1)
        assert workflow.sweep_releases(now=clock.now(), client_for=walk.client_for) >= 1
        assert walk.fresh(rejected).state == "rolled_back"
        assert others.is_alive(), "the order to pay did not hang at all"
        walk.sandbox.stop()
        others.join(30)

    def test_the_sweep_of_the_others_leaves_releases_alone(self, walk):
        rejected = walk.held()
        walk.reject(rejected)
        assert workflow.sweep_others(now=clock.now(), client_for=walk.client_for) == 0
        assert walk.fresh(rejected).state == "rolling_back"

    @pytest.mark.parametrize("code", [429, 1001, 1002, 1003, 1004])
    def test_a_refusal_of_the_call_and_not_of_the_payment_puts_the_request_back(self, walk, code):
        row = walk.until(walk.request(), "queued")
        walk.fault("create_withdrawal", "refuse", code=code)
        row = walk.step(row)
        assert (row.state, walk.outcomes(row, "hold")) == ("queued", ["refused"])
        assert str(code) in row.last_problem
        row = walk.until(row, "held")
        assert len(walk.payouts()) == 1

    @pytest.mark.parametrize("code", [10001, 20001, 403])
    def test_a_refusal_of_the_payment_ends_the_request(self, walk, code):
        row = walk.until(walk.request(), "queued")
        walk.fault("create_withdrawal", "refuse", code=code)
        assert walk.step(row).state == "refused"


def _sweep_others(walk):
    try:
        workflow.sweep_others(now=clock.now(), client_for=walk.client_for)
    finally:
        connection.close()


def _until(holds, seconds=20):
    ends = time.monotonic() + stretched(seconds)
    while not holds():
        assert time.monotonic() < ends, "it did not come to that"
        time.sleep(0.05)
