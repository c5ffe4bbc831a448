"""Lanes: a call that hangs takes the threads of its own lane and no other's. A fake call hangs until it is let go."""

import threading

import pytest

from desk.machines import lanes as kit
from desk.machines.lanes import WIDTH, Job, Lanes

PATIENCE_S = 10  # only a failing test waits so long


class Hanging:
    """A call that hangs until it is let go."""

    def __init__(self):
        self.begun, self.free, self.calls = threading.Semaphore(0), threading.Event(), 0

    def __call__(self):
        self.calls += 1
        self.begun.release()
        assert self.free.wait(PATIENCE_S)
        return 1


@pytest.fixture
def lanes(monkeypatch):
    monkeypatch.setattr(
        "desk.machines.lanes.connection",
        type("Apart", (), {"in_atomic_block": False, "close": staticmethod(lambda: None)}),
    )
    return Lanes(is_threaded=True)


@pytest.fixture
def hanging():
    call = Hanging()
    yield call
    call.free.set()


def done(lanes, lane, key):
    """Whether a job put there now is done while others hang."""
    answered = threading.Event()
    lanes.put([Job(lane, key, lambda: answered.set() or 1)])
    return answered.wait(PATIENCE_S)


def test_six_payouts_that_hang_delay_neither_a_hold_nor_another_account(lanes, hanging):
    lanes.put([Job((1, "committing"), number, hanging) for number in range(6)])
    for _ in range(6):
        assert hanging.begun.acquire(timeout=PATIENCE_S)
    assert done(lanes, (1, "queued"), 7)
    assert done(lanes, (2, "committing"), 8)


def test_a_new_job_of_the_same_lane_passes_six_that_hang(lanes, hanging):
    lanes.put([Job("holds", number, hanging) for number in range(6)])
    assert done(lanes, "holds", 7)


def test_a_full_lane_begins_no_more_than_its_width_and_holds_up_no_other(lanes, hanging):
    lanes.put([Job("full", number, hanging) for number in range(WIDTH + 3)])
    assert done(lanes, "other", 1)
    assert hanging.calls <= WIDTH
    hanging.free.set()
    for _ in range(WIDTH + 3):
        assert hanging.begun.acquire(timeout=PATIENCE_S)


def test_thousands_of_wakes_for_deliveries_are_one_sweep_that_runs_and_one_that_waits(lanes, hanging):
    lanes.put([Job("deliveries", "sweep", hanging)])
    assert hanging.begun.acquire(timeout=PATIENCE_S)
    for _ in range(5_620):
        lanes.put([Job("deliveries", "sweep", hanging)])
    assert done(lanes, "tip", "follow")
    assert done(lanes, "proofs", "sweep")
    hanging.free.set()
    assert lanes.put([Job("deliveries", "last", lambda: 0)], wait_s=PATIENCE_S) == 0
    assert hanging.begun.acquire(timeout=PATIENCE_S)
    assert hanging.calls == 2


def test_a_job_that_fails_leaves_its_lane_working(lanes):
    def fail():
        raise ValueError

    assert lanes.put([Job("one", 1, fail), Job("one", 2, lambda: 3)], wait_s=PATIENCE_S) == 3


def test_an_end_begins_nothing_more_and_says_what_did_not_end(lanes, hanging):
    lanes.put([Job("full", number, hanging) for number in range(WIDTH + 3)])
    for _ in range(WIDTH):
        assert hanging.begun.acquire(timeout=PATIENCE_S)
    assert not lanes.finish(within_s=0.01)
    hanging.free.set()
    assert lanes.finish(within_s=PATIENCE_S)
    assert hanging.calls == WIDTH


def test_without_threads_the_caller_does_the_work_in_its_order():
    order = []
    lanes = Lanes()
    assert lanes.put([Job(lane, lane, lambda lane=lane: order.append(lane) or 2) for lane in "abc"]) == 6
    assert order == [*"abc"]


def test_a_job_beyond_its_time_is_named_while_it_runs_and_logged_once(lanes, hanging, caplog):
    lanes.put([Job("deliveries", "sweep", hanging, longest_s=0.0), Job("tip", "follow", hanging)])
    for _ in range(2):
        assert hanging.begun.acquire(timeout=PATIENCE_S)
    assert lanes.overdue() == lanes.overdue() == ["deliveries: sweep"]
    assert caplog.text.count("lanes.job_overdue") == 1
    hanging.free.set()
    assert lanes.finish(within_s=PATIENCE_S)
    assert lanes.overdue() == []


def test_a_thread_gives_its_connection_back_before_a_call_waits(lanes, monkeypatch):
    closed, held = [], []
    monkeypatch.setattr("desk.machines.lanes.connection.close", lambda: closed.append(threading.get_ident()))

    def call():
        kit._give_connection_back()  # as the transport does before it waits
        held.append(threading.get_ident())
        return 1

    kit._give_connection_back()
    assert closed == [], "a thread of a page keeps its own"
    assert lanes.put([Job("calls", 1, call)], wait_s=PATIENCE_S) == 1
    assert closed[0] == held[0]
