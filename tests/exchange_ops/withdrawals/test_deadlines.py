"""The exchange's hour: what happens at each deadline, with everything up, everything down, and wrong clocks."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.machines import step_clock
from exchange_ops.keys import store as keys
from exchange_ops.keys.models import ApiKey
from exchange_ops.shared import backoff
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import calls, deadlines, workflow
from exchange_ops.withdrawals.models import Withdrawal
from tests import trail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: the hour")]


def unpayable(walk):
    """A decision to pay that the exchange never hears."""
    row = walk.committing()
    walk.fault("commit_withdrawal", "drop_before", times=99)
    return walk.step(row)


def test_the_deadlines_lie_inside_the_hour(walk):
    row = walk.held()
    left = [row.closes_at - at for at in (row.window_from, row.approve_until, row.rollback_at, row.put_stop_at)]
    assert left == [timedelta(minutes=60), timedelta(minutes=7), timedelta(minutes=5), timedelta(seconds=30)]
    assert abs(row.window_from - row.created_at) < timedelta(seconds=5)


def test_an_earlier_birth_in_the_ledger_moves_the_deadlines(walk):
    row = walk.until(walk.request(), "held")
    earlier = row.window_from - timedelta(minutes=4)
    walk.fault("get_transaction", "echo_differs", field="createdAt", value=earlier.isoformat()[:23] + "Z")
    row = walk.step(row)
    assert row.echo_ok is True
    assert abs(row.closes_at - earlier - timedelta(minutes=60)) < timedelta(milliseconds=2)


def test_a_request_made_while_the_exchange_is_far_ahead_has_its_whole_hour(walk):
    walk.later(hours=5)
    row = walk.held()
    walk.sweep()
    assert walk.fresh(row).state == "held"
    walk.approve(row)
    walk.until(row, "committed")


@pytest.mark.parametrize(("minutes", "state"), [(54.5, "held"), (55.1, "rolling_back")])
def test_five_minutes_before_the_end_the_release_is_latched_by_any_process(walk, minutes, state):
    """The latch needs neither broker, nor key, nor exchange: a process that may call nobody can do it."""
    row = walk.held()
    walk.later(minutes=minutes)
    walk.sandbox.stop()
    assert workflow.latch_deadlines(now=clock.now()) == (state == "rolling_back")
    row = walk.fresh(row)
    assert (row.state, row.decision) == (state, "rollback" if state == "rolling_back" else "none")


def test_a_slow_exchange_does_not_delay_the_latch_of_the_others(walk):
    rows = [walk.held(amount=Decimal(f"0.0{number}")) for number in (5, 6, 7)]
    walk.later(minutes=55, seconds=5)
    walk.fault("rollback_withdrawal", "drop_before", times=99)
    walk.sweep()
    assert [walk.fresh(row).decision for row in rows] == ["rollback"] * len(rows)


# C24: the order to pay can't be told until it is too late ------------------------------------------------------------


@pytest.mark.parametrize(
    ("ledger", "end"),
    [("failed", "expired"), ("success", "committed"), ("pending", "committed"), ("lapsed", "expired")],
)
def test_c24_when_the_last_moment_passed_only_the_ledger_is_read(walk, ledger, end):
    row = unpayable(walk)
    before = len(walk.calls("commit_withdrawal"))
    if ledger != "lapsed":
        walk.later(minutes=59, seconds=35)
        row = walk.step(row)
        assert row.state == "commit_unknown"
        walk.sandbox.control(f"payouts/{row.exchange_id}", {"status": ledger})
    else:
        walk.later(minutes=61)
        row = walk.until(row, "commit_unknown")
    row = walk.step(row)
    assert (row.state, row.decision) == (end, "commit")
    assert len(walk.calls("commit_withdrawal")) == before
    assert walk.calls("rollback_withdrawal") == []
    assert trail.problems() == []


def test_c24_what_stays_open_ten_minutes_after_goes_to_two_people(walk):
    walk.sandbox.control("config", {"hold_end": "stay"})
    row = unpayable(walk)
    walk.later(minutes=59, seconds=35)
    row = walk.step(row)
    walk.later(minutes=5)
    assert walk.step(row).state == "commit_unknown"
    walk.later(minutes=6)
    Withdrawal.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(minutes=10))
    row = walk.step(row)
    assert row.state == "investigate"
    assert walk.calls("rollback_withdrawal") == []


def test_the_last_try_is_not_later_than_thirty_seconds_before_the_end(walk):
    row = unpayable(walk)
    walk.later(minutes=59, seconds=10)
    row = walk.step(row)
    assert row.state == "committing"
    left = row.put_stop_at - walk_exchange_now(walk)
    assert row.next_action_at - clock.now() <= max(left, timedelta(seconds=1))


def walk_exchange_now(walk):
    from exchange_ops.shared import clocks

    return clocks.exchange_now(account=Account.objects.get(pk=walk.account.pk), now=clock.now())


# C26: everything was down --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("decided", ["nothing", "commit", "rollback", "unknown"])
def test_c26_everything_was_down_from_ten_minutes_before_to_twenty_after(walk, decided):
    if decided == "unknown":
        walk.fault("create_withdrawal", "drop_after")
        row = walk.until(walk.request(), "hold_unknown")
    else:
        row = walk.held()
    walk.later(minutes=49)
    if decided == "commit":
        walk.approve(row)
    if decided == "rollback":
        walk.reject(row)
    walk.later(minutes=31)
    end = {"nothing": "rolled_back", "commit": "rolled_back", "rollback": "rolled_back", "unknown": "lapsed"}[decided]
    for _ in range(4):
        Withdrawal.objects.filter(pk=row.pk, next_action_at__isnull=False).update(next_action_at=clock.now())
        walk.sweep()
    assert walk.fresh(row).state == end
    assert walk.calls("commit_withdrawal") == []
    assert [str(payout.status) for payout in walk.payouts()] == ["failed"]
    assert trail.problems() == []


def test_c26_a_release_that_stays_unconfirmed_says_so_and_goes_on(walk):
    walk.sandbox.control("config", {"hold_end": "stay"})
    row = walk.held()
    walk.reject(row)
    walk.fault("rollback_withdrawal", "drop_before", times=99)
    walk.step(row)
    walk.later(minutes=71)
    row = walk.step(row)
    assert "The release is not confirmed although the exchange's deadline has passed" in row.last_problem
    assert row.last_problem.startswith("Rejected by treasury: Not ours")
    walk.step(row)
    assert row.events.filter(event="escalated").count() == 1
    walk.heal()
    row = walk.until(row, "rolled_back")
    assert row.decision == "rollback"
    assert row.last_problem == "Rejected by treasury: Not ours", "a released row no longer says that it is not released"


# C29: clocks ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump_s", [-600, 600, 30])
def test_c29_a_clock_that_jumps_between_claim_and_send_stops_the_send(walk, monkeypatch, jump_s):
    row = walk.committing()
    make, now = calls.make, clock.now

    def jump_then_make(*arguments, **more):
        monkeypatch.setattr(step_clock.clock, "now", lambda: now() + timedelta(seconds=jump_s))
        return make(*arguments, **more)

    monkeypatch.setattr(calls, "make", jump_then_make)
    row = walk.step(row)
    assert walk.outcomes(row, "commit") == ["not_sent"]
    assert walk.calls("commit_withdrawal") == []
    assert row.state == "committing"


def test_c29_a_host_that_is_ten_minutes_behind_tells_nothing_after_the_end(walk, monkeypatch):
    row = walk.committing()
    walk.later(minutes=59, seconds=45)
    now = clock.now
    monkeypatch.setattr(clock, "now", lambda: now() - timedelta(minutes=10))
    Withdrawal.objects.filter(pk=row.pk).update(next_action_at=clock.now(), lease_until=None)
    workflow.advance(row.pk, now=clock.now(), client_for=walk.client_for)
    assert walk.calls("commit_withdrawal") == []
    assert walk.fresh(row).put_count == 0 or walk.outcomes(row, "commit") == ["not_sent"]


@pytest.mark.parametrize("wall_too", [True, False])
def test_a_worker_that_was_held_up_sends_nothing(walk, monkeypatch, wall_too):
    """The machine slept for 25 s; a wall clock that did not notice is a reason of its own not to send."""
    row = walk.until(walk.request(), "queued")
    boot, now = step_clock.time.clock_gettime_ns, clock.now
    make = calls.make

    def sleep_then_make(*arguments, **more):
        monkeypatch.setattr(step_clock.time, "clock_gettime_ns", lambda which: boot(which) + 25_000_000_000)
        if wall_too:
            monkeypatch.setattr(step_clock.clock, "now", lambda: now() + timedelta(seconds=25))
        try:
            return make(*arguments, **more)
        finally:
            monkeypatch.setattr(step_clock.time, "clock_gettime_ns", boot)
            monkeypatch.setattr(step_clock.clock, "now", now)

    monkeypatch.setattr(calls, "make", sleep_then_make)
    row = walk.step(row)
    assert walk.calls("create_withdrawal") == []
    assert (row.state, walk.outcomes(row, "hold")) == ("queued", ["not_sent"])
    monkeypatch.setattr(calls, "make", make)
    row = walk.until(row, "held")
    assert (row.attempt, len(walk.payouts())) == (2, 1)


def test_a_machine_that_sleeps_while_the_call_waits_for_its_turn_sends_nothing(walk, monkeypatch):
    """The last look is after the wait for a place among the calls of the key, not before it."""
    from exchange_ops.client import pacing

    row = walk.until(walk.request(), "queued")
    boot, leave = step_clock.time.clock_gettime_ns, pacing.PacedTransport._leave

    def sleep_then_leave(paced, request, within_ns):
        if request.method != "GET":
            monkeypatch.setattr(step_clock.time, "clock_gettime_ns", lambda which: boot(which) + 25_000_000_000)
        return leave(paced, request, within_ns)

    monkeypatch.setattr(pacing.PacedTransport, "_leave", sleep_then_leave)
    row = walk.step(row)
    assert walk.calls("create_withdrawal") == []
    assert (row.state, walk.outcomes(row, "hold")) == ("queued", ["not_sent"])


# C36, C37: keys and limits -------------------------------------------------------------------------------------------


def test_c36_a_key_turned_down_before_the_order_is_replaced_by_another(walk):
    from exchange_ops.wire.catalogue import Right
    from wire.values import Secret

    row = walk.committing()
    walk.fault("commit_withdrawal", "refuse", code=1003)
    row = walk.step(row)
    assert row.state == "committing"
    assert "1003" in row.last_problem
    assert "1003" in ApiKey.objects.get(login="demo-withdraw").last_problem
    keys.add(
        account=walk.account,
        label="Second",
        login="demo-full",
        secret=Secret("demo-full-secret"),
        rights=list(Right),
        actor=None,
        now=clock.now(),
    )
    walk.until(row, "committed")
    assert walk.calls("commit_withdrawal")[-1]["key"] == "demo-full"


def test_c36_without_a_key_the_row_says_so_and_the_release_is_still_latched(walk):
    row = walk.held()
    ApiKey.objects.filter(login="demo-withdraw").update(active=False)
    walk.later(minutes=55, seconds=5)
    walk.sweep()
    row = walk.fresh(row)
    assert (row.state, row.decision) == ("rolling_back", "rollback")
    assert "no active key" in row.last_problem
    ApiKey.objects.filter(login="demo-withdraw").update(active=True)
    walk.until(row, "rolled_back")


def test_c37_too_many_requests_in_the_last_minutes(walk):
    row = walk.committing()
    walk.later(minutes=58)
    walk.fault("commit_withdrawal", "rate_limit", times=3)
    for count in (1, 2, 3):
        began = clock.now()
        row = walk.step(row)
        assert (row.state, row.put_count) == ("committing", count)
        # On a slow machine the step itself takes long, and what takes long waits longer.
        longest = backoff.pause_after(deadlines.COMMIT_PAUSES_S, count, took=clock.now() - began)
        assert row.next_action_at <= clock.now() + longest
    assert walk.until(row, "committed").put_count == 4


def test_c37_orders_come_before_everything_else(walk):
    waiting = walk.until(walk.request(), "queued")
    paid = walk.committing(amount=Decimal("0.006"))
    Withdrawal.objects.filter(pk=waiting.pk).update(next_action_at=clock.now() - timedelta(minutes=5))
    due = list(workflow.due(account=walk.account, now=clock.now()))
    assert [row.state for row in due] == ["committing", "queued"]
    assert due[0].pk == paid.pk


def test_a_row_that_breaks_does_not_keep_the_others_waiting(walk, monkeypatch):
    broken, fine = walk.request(), walk.request()
    submit = workflow.STEPS["draft"]

    def fail_for_one(row, **more):
        if row.pk == broken.pk:
            raise RuntimeError("a bug")
        submit(row, **more)

    monkeypatch.setitem(workflow.STEPS, "draft", fail_for_one)
    walk.sweep()
    assert walk.fresh(fine).state == "held"
    assert walk.fresh(broken).next_action_at > clock.now()


def test_after_the_exchange_took_it_a_failure_is_told_with_its_code(walk):
    row = walk.committing()
    row = walk.until(row, "committed")
    walk.sandbox.control(f"payouts/{row.exchange_id}", {"status": "failed", "errorCode": "INVALID_ADDRESS"})
    row = walk.step(row)
    assert (row.state, row.exchange_error_code) == ("failed", "INVALID_ADDRESS")
    assert row.events.last().evidence["balance"]["available"]
    assert trail.problems() == []


def test_a_success_that_is_taken_back_is_disputed(walk):
    row = walk.until(walk.committing(), "committed")
    walk.sandbox.control("clock", {"advance_ms": 60_000})
    row = walk.until(row, "settled")
    assert walk.sweep() == 0
    walk.fault("get_transactions", "echo_differs", field="status", value="failed", id=row.exchange_id, times=99)
    walk.fault("get_transaction", "echo_differs", field="status", value="failed", times=99)
    from exchange_ops.ledger.models import LedgerEntry

    LedgerEntry.objects.filter(exchange_id=row.exchange_id).update(status="failed", withdrawal=row)
    walk.sweep()
    row = walk.fresh(row)
    assert (row.state, row.turn) == ("disputed", "person")
