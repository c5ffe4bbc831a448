"""A worker dies between two lines: whatever it had done, the rows lead to the right end and nothing is paid twice."""

import pytest

from desk import clock
from desk.machines import calls as machine_calls
from desk.machines import mover as moving
from exchange_ops.keys import store as keys
from exchange_ops.withdrawals import calls, workflow
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from exchange_ops.withdrawals.steps import committing, holding, releasing
from tests import trail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: crash points")]


class Killed(BaseException):
    """Nothing in the product may catch this."""


class Dies:
    """A function or a table at which the worker dies."""

    def __call__(self, *_, **__):
        raise Killed

    __getitem__ = __call__


class Dying:
    """Clients whose one call kills the worker, before or after the exchange has heard it."""

    def __init__(self, operation, *, after=False):
        self.operation, self.after = operation, after

    def __call__(self, account, right):
        client = keys.client_for(account, right)
        call = getattr(client, self.operation)

        def killed(**arguments):
            if self.after:
                call(**arguments)
            raise Killed

        setattr(client, self.operation, killed)
        return client


def kill(walk, row, monkeypatch, module=None, name=""):
    """One step of the row in which the worker dies; then everything works again."""
    with monkeypatch.context() as patch:
        if module is not None:
            patch.setattr(module, name, Dies())
        with pytest.raises(Killed):
            walk.step(row)
    walk.client_for = keys.client_for
    return walk.fresh(row)


def ends_paid(walk, row):
    """The rest of the way, and one payout in the books."""
    row = walk.until(row, "held")
    row = row if row.echo_ok else walk.step(row)
    walk.approve(row)
    walk.until(row, "committed")
    assert len(walk.payouts()) == 1
    assert len(walk.calls("create_withdrawal", executed=True)) == 1
    assert trail.problems() == []


# Submit and claim ----------------------------------------------------------------------------------------------------


def test_c1_a_request_nobody_was_told_about_is_found_by_the_sweep(walk):
    row = walk.request()
    for _ in range(3):
        walk.sweep()
    assert walk.fresh(row).state == "held"


def test_c2_a_task_delivered_twice_makes_one_call(walk):
    row = walk.request()
    for _ in range(6):
        workflow.advance(row.pk, now=clock.now(), client_for=walk.client_for)
    assert walk.fresh(row).state == "held"
    assert len(walk.calls("create_withdrawal")) == 1
    assert ExternalCall.objects.filter(withdrawal=row).count() == 1


def test_c3_killed_inside_the_claim_leaves_it_queued(walk, monkeypatch):
    row = walk.until(walk.request(), "queued")
    row = kill(walk, row, monkeypatch, calls, "prepare")
    assert (row.state, row.attempt, ExternalCall.objects.count()) == ("queued", 0, 0)
    assert walk.calls() == []
    ends_paid(walk, row)


@pytest.mark.parametrize(("module", "name"), [(calls, "make"), (machine_calls, "_mark_sent"), (calls, "reply_of")])
def test_c4_killed_after_the_claim_before_the_bytes(walk, monkeypatch, module, name):
    row = walk.until(walk.request(), "queued")
    row = kill(walk, row, monkeypatch, module, name)
    assert row.state == "holding"
    row = walk.step(row, lease_over=False)
    assert row.state == "holding", "while the lease runs nobody else touches it"
    row = walk.step(row)
    assert row.state == "hold_unknown"
    assert walk.calls("create_withdrawal") == []
    assert walk.step(row).state == "hold_unknown"
    walk.later(minutes=62, seconds=5)
    assert walk.step(row).state == "lapsed"
    assert walk.payouts() == []
    assert trail.problems() == []


def test_c6_killed_before_the_answer_was_read(walk, monkeypatch):
    row = walk.until(walk.request(), "queued")
    walk.client_for = Dying("create_withdrawal", after=True)
    row = kill(walk, row, monkeypatch)
    assert (row.state, len(walk.payouts())) == ("holding", 1)
    row = walk.until(row, "held")
    assert row.exchange_id == walk.payouts()[0].id
    ends_paid(walk, row)


@pytest.mark.parametrize(
    ("module", "name"), [(machine_calls, "close"), (holding, "_BY_OUTCOME"), (moving.Machine, "record")]
)
def test_c12_killed_after_the_answer_before_it_was_written(walk, monkeypatch, module, name):
    row = walk.until(walk.request(), "queued")
    if name == "record":
        record, seen = moving.Machine.record, []

        def second_dies(*arguments, **more):
            seen.append(arguments)
            if len(seen) == 2:
                raise Killed
            return record(*arguments, **more)

        monkeypatch.setattr(moving.Machine, "record", second_dies)
        with pytest.raises(Killed):
            walk.step(row)
        monkeypatch.setattr(moving.Machine, "record", record)
        row = walk.fresh(row)
    else:
        row = kill(walk, row, monkeypatch, module, name)
    assert row.state == "holding"
    row = walk.until(row, "held")
    assert row.exchange_id == walk.payouts()[0].id
    ends_paid(walk, row)


# Commit --------------------------------------------------------------------------------------------------------------


def test_c21_decided_and_nobody_told_is_paid_by_the_sweep(walk):
    row = walk.committing()
    Withdrawal.objects.filter(pk=row.pk).update(next_action_at=clock.now())
    walk.sweep()
    assert walk.fresh(row).state == "committed"
    assert len(walk.calls("commit_withdrawal")) == 1


@pytest.mark.parametrize(("module", "name"), [(calls, "make"), (machine_calls, "_mark_sent"), (calls, "reply_of")])
def test_c22_killed_after_the_order_was_counted_then_frozen(walk, monkeypatch, module, name):
    from exchange_ops.policy import freezes
    from exchange_ops.withdrawals.decisions import approvals

    row = walk.committing()
    row = kill(walk, row, monkeypatch, module, name)
    assert (row.state, row.put_count) == ("committing", 1)
    freezes.freeze(person=walk.approvers[1], reason="Something is odd", account=walk.account, now=clock.now())
    assert walk.fresh(row).state == "committing", "an order that was counted is not called back"
    with pytest.raises(approvals.CannotApprove, match="can no longer be recalled"):
        approvals.recall(withdrawal_id=row.pk, person=walk.approvers[1], reason="Stop", now=clock.now())
    row = walk.step(row)
    assert walk.calls("commit_withdrawal") == [], "a freeze stops further orders"
    walk.later(minutes=59, seconds=40)
    row = walk.step(row)
    assert row.state == "commit_unknown"
    walk.later(minutes=3)
    assert walk.step(row).state == "expired"
    assert walk.calls("rollback_withdrawal") == []
    assert trail.problems() == []


@pytest.mark.parametrize("how", ["before", "after"])
def test_c23_killed_around_the_order_to_pay(walk, monkeypatch, how):
    row = walk.committing()
    walk.client_for = Dying("commit_withdrawal", after=how == "after")
    row = kill(walk, row, monkeypatch)
    assert (row.state, row.put_count) == ("committing", 1)
    assert walk.step(row, lease_over=False).put_count == 1
    row = walk.until(row, "committed")
    walk.sandbox.control("clock", {"advance_ms": 60_000})
    walk.until(row, "settled")
    assert [str(payout.status) for payout in walk.payouts()] == ["success"]
    assert trail.problems() == []


def test_c23_killed_after_the_answer_to_the_order(walk, monkeypatch):
    row = walk.committing()
    row = kill(walk, row, monkeypatch, committing, "_on_reply")
    assert row.state == "committing"
    walk.until(row, "committed")
    assert len(walk.payouts()) == 1


def test_c23_false_again_and_again_is_repeated_and_then_the_ledger_decides(walk):
    row = walk.committing()
    for kind in ({"kind": "echo_differs", "field": "result", "value": False}, {"kind": "status", "status": 504}):
        walk.fault("commit_withdrawal", **kind, times=3)
    for expected in range(1, 7):
        row = walk.step(row)
        assert (row.state, row.put_count) == ("committing", expected)
    row = walk.until(row, "committed")
    assert len(walk.payouts()) == 1


# Rollback ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["before", "after", "claimed", "answered"])
def test_c25_killed_around_the_release(walk, monkeypatch, how):
    row = walk.held()
    walk.reject(row)
    if how in {"before", "after"}:
        walk.client_for = Dying("rollback_withdrawal", after=how == "after")
        row = kill(walk, row, monkeypatch)
    elif how == "claimed":
        row = kill(walk, row, monkeypatch, calls, "make")
    else:
        row = kill(walk, row, monkeypatch, releasing, "_settled_by_ledger")
    assert (row.state, row.delete_count) == ("rolling_back", 1)
    walk.until(row, "rolled_back")
    assert [str(payout.status) for payout in walk.payouts()] == ["failed"]
    assert walk.calls("commit_withdrawal") == []
    assert trail.problems() == []


def test_c25_false_from_the_release_is_not_believed(walk):
    row = walk.held()
    walk.reject(row)
    walk.fault("rollback_withdrawal", "drop_before", times=1)
    assert walk.step(row).state == "rolling_back"
    walk.fault("rollback_withdrawal", "echo_differs", field="result", value=False)
    row = walk.step(row)
    assert row.state == "rolled_back", "the ledger shows the release whatever the answer said"


def test_true_from_the_release_is_not_believed_without_the_ledger(walk):
    row = walk.held()
    walk.reject(row)
    walk.fault("get_transaction", "echo_differs", field="status", value="created", times=99)
    row = walk.step(row)
    assert row.state == "rolling_back"
    walk.heal()
    assert walk.step(row).state == "rolled_back"


def test_paid_although_it_was_to_be_released(walk):
    row = walk.held()
    walk.reject(row)
    walk.sandbox.control(f"payouts/{row.exchange_id}", {"status": "success"})
    row = walk.step(row)
    assert row.state == "investigate"
    assert "although a release was ordered" in row.last_problem
