"""Two at once: of two decisions one is made, of two workers one calls, and the loser hears who was faster."""

import threading
from decimal import Decimal

import pytest
from django.db import connection

from desk import clock
from desk.people.stepup import CannotConfirm
from exchange_ops.policy import freezes
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Approval, ExternalCall, WithdrawalEvent
from tests import trail

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("two transactions at once")]

ROUNDS = 4
REFUSALS = (approvals.CannotApprove, workflow.CannotCancel, CannotConfirm)


def at_once(*acts):
    """Run the acts in threads that start together; what each gave or raised."""
    results = [None] * len(acts)
    start = threading.Barrier(len(acts))

    def run(number, act):
        try:
            start.wait(10)
            results[number] = act()
        except Exception as problem:
            results[number] = problem
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "two waited for each other"
    odd = [result for result in results if isinstance(result, Exception) and not isinstance(result, REFUSALS)]
    assert odd == [], odd
    return results


def approval(walk, row, person):
    """An approval ready to be given: its code is made beforehand."""
    digest, answer = walk.fresh(row).digest, walk.answer(person)
    return lambda: approvals.approve(
        withdrawal_id=row.pk,
        person=person,
        digest=digest,
        answer=answer,
        comment="",
        session_key=f"session-{person.pk}",
        now=clock.now(),
    )


def decided_once(walk, row):
    """Exactly one event latched the decision, the row carries it, and the trail agrees."""
    latched = WithdrawalEvent.objects.filter(withdrawal=row).exclude(decision="none").order_by("version")
    assert len({event.decision for event in latched}) == 1
    assert walk.fresh(row).decision == latched[0].decision
    assert trail.problems() == []
    return latched[0].decision


@pytest.mark.parametrize("attempt", range(ROUNDS))
def test_approve_against_reject(walk, attempt):
    row = walk.held()
    results = at_once(
        approval(walk, row, walk.approvers[0]),
        lambda: approvals.reject(withdrawal_id=row.pk, person=walk.approvers[1], reason="No", now=clock.now()),
    )
    losers = [str(result) for result in results if isinstance(result, Exception)]
    assert len(losers) == 1
    assert losers[0].startswith("Already decided by ")
    decided_once(walk, row)
    verdicts = set(Approval.objects.filter(withdrawal=row).values_list("verdict", flat=True))
    assert len(verdicts) == 1, "the loser's word is not kept either"


@pytest.mark.parametrize("attempt", range(ROUNDS))
def test_two_last_approvals(walk, attempt):
    """Two are needed and two come at once: both count, and one of them latches the decision."""
    row = walk.held(amount=Decimal(1))
    assert row.quorum_required == 2
    results = at_once(approval(walk, row, walk.approvers[0]), approval(walk, row, walk.approvers[1]))
    assert not any(isinstance(result, Exception) for result in results)
    assert walk.fresh(row).state == "committing"
    assert decided_once(walk, row) == "commit"
    assert WithdrawalEvent.objects.filter(withdrawal=row, event="quorum_reached").count() == 1


@pytest.mark.parametrize("attempt", range(ROUNDS))
def test_one_approval_too_many(walk, attempt):
    row = walk.held()
    results = at_once(*(approval(walk, row, person) for person in walk.approvers))
    assert sum(isinstance(result, Exception) for result in results) == 2
    assert decided_once(walk, row) == "commit"
    assert Approval.objects.filter(withdrawal=row).count() == 1


@pytest.mark.parametrize("attempt", range(ROUNDS))
def test_approve_against_the_release_at_the_deadline(walk, attempt):
    """The desk's clock says that there is a moment left, another process has latched the release already."""
    row = walk.held()
    walk.later(minutes=52, seconds=57)
    give = approval(walk, row, walk.approvers[0])

    def sweep():
        walk.later(minutes=3)
        return workflow.latch_deadlines(now=clock.now())

    approved, latched = at_once(give, sweep)
    decision = decided_once(walk, row)
    assert (decision == "rollback") == (latched == 1)
    assert (decision == "rollback") == isinstance(approved, approvals.CannotApprove)


@pytest.mark.parametrize("attempt", range(ROUNDS))
def test_approve_against_a_freeze(walk, attempt):
    row = walk.held()
    other = walk.held(amount=Decimal("0.06"))
    results = at_once(
        approval(walk, row, walk.approvers[0]),
        lambda: freezes.freeze(person=walk.approvers[1], reason="Stop", account=walk.account, now=clock.now()),
        approval(walk, other, walk.approvers[2]),
    )
    assert not isinstance(results[1], Exception)
    for one in (row, other):
        now = walk.fresh(one)
        assert (now.state, now.decision, now.put_count) == ("rolling_back", "rollback", 0)
        walk.until(one, "rolled_back")
    assert walk.calls("commit_withdrawal") == []
    assert trail.problems() == []


def test_approve_against_cancel(walk):
    row = walk.held()
    results = at_once(
        approval(walk, row, walk.approvers[0]),
        lambda: workflow.cancel(withdrawal_id=row.pk, person=walk.operator, reason="", now=clock.now()),
    )
    assert sum(isinstance(result, Exception) for result in results) == 1
    decided_once(walk, row)


@pytest.mark.parametrize("state", ["queued", "committing", "rolling_back"])
def test_four_workers_on_one_row_make_one_call(walk, state):
    row = {
        "queued": lambda: walk.until(walk.request(), "queued"),
        "committing": walk.committing,
        "rolling_back": walk.held,
    }[state]()
    if state == "rolling_back":
        walk.reject(row)
    before = len(walk.calls())
    work = lambda: workflow.advance(row.pk, now=clock.now(), client_for=walk.client_for)  # noqa: E731
    at_once(work, work, work, work)
    assert len(walk.calls()) == before + 1
    kind = {"queued": "hold", "committing": "commit", "rolling_back": "rollback"}[state]
    assert ExternalCall.objects.filter(withdrawal=row, kind=kind).count() == 1
    assert trail.problems() == []


def test_two_sweeps_at_once_over_many_rows(walk):
    rows = [walk.request(amount=Decimal("0.01") + Decimal(number) / 1000) for number in range(6)]
    for _ in range(4):
        at_once(walk.sweep, walk.sweep)
    assert {walk.fresh(row).state for row in rows} == {"held"}
    assert len(walk.calls("create_withdrawal")) == len(walk.payouts()) == 6
    assert trail.problems() == []


def test_the_same_form_sent_twice_at_once(walk):
    send = lambda: walk.request(request_key="same", initiator=walk.operator)  # noqa: E731
    rows = at_once(send, send, send)
    assert len({row.pk for row in rows}) == 1
    assert trail.problems() == []


def test_two_people_thaw_at_once(walk):
    from tests.exchange_ops.withdrawals.steps.test_drafting import thaw

    frozen = freezes.freeze(person=None, reason="A drill", account=walk.account, now=clock.now())
    at_once(lambda: thaw(walk, frozen, walk.approvers[0]), lambda: thaw(walk, frozen, walk.approvers[1]))
    assert freezes.active(walk.account) is None
    assert trail.problems() == []
