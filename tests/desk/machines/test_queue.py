"""The rows of a machine as a queue: one that fails keeps no other one waiting, and one that never waits ends."""

from datetime import timedelta

import pytest

from desk import clock
from desk.machines.queue import Queue
from desk.machines.step_clock import Stopwatch
from exchange_ops.withdrawals import machine
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def drafts(operator):
    """Three new requests."""
    now = clock.now()
    return [rows.requested(operator, now=now, request_key=f"key-{number}") for number in range(3)]


def swept(queue, numbers, now):
    return queue.work(numbers, Stopwatch(now), lambda number, at: queue.advance(number, now=at))


def test_a_row_that_fails_rests_and_the_others_go_on(drafts):
    done = []

    def step(row, *, now):
        if row.pk == drafts[0].pk:
            raise ZeroDivisionError
        done.append(row.pk)
        machine.touch(row, next_action_at=None)

    queue, now = Queue(machine.MACHINE, {"draft": step}, after_failure=timedelta(minutes=2)), clock.now()
    assert swept(queue, [row.pk for row in drafts], now) == 3
    assert done == [drafts[1].pk, drafts[2].pk]
    assert not queue.due(now=now + timedelta(minutes=1)).exists()
    assert [row.pk for row in queue.due(now=now + timedelta(minutes=3))] == [drafts[0].pk]


def test_a_row_that_never_waits_ends_after_its_steps(drafts):
    steps = []
    queue = Queue(machine.MACHINE, {"draft": lambda row, *, now: steps.append(row.pk)}, most_steps=4)
    assert swept(queue, [drafts[0].pk], clock.now()) == 4
    assert steps == [drafts[0].pk] * 4


def test_what_is_not_due_or_lost_is_no_error(drafts):
    def lose(row, *, now):
        raise machine.CannotMove("Somebody was faster.")

    queue, now = Queue(machine.MACHINE, {"draft": lose}), clock.now()
    assert queue.advance(drafts[0].pk, now=now)
    assert not queue.advance(drafts[0].pk, now=now - timedelta(days=2))
    assert not queue.advance(0, now=now)


def test_no_row_is_begun_when_the_time_of_a_sweep_is_over(drafts):
    queue = Queue(
        machine.MACHINE, {"draft": lambda row, *, now: machine.touch(row, next_action_at=None)}, sweep_for=timedelta(0)
    )
    assert swept(queue, [row.pk for row in drafts], clock.now()) == 1
