"""People, workers, crashes, faults and time in any order: nothing is ever paid twice or without its quorum.

Each seed is one schedule over a few requests. `SCHEDULES=200` runs more of them.
"""

import contextlib
import os
import random
from collections import Counter
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import audit_check, clock
from desk.people.stepup import CannotConfirm
from exchange_ops.keys import store as keys
from exchange_ops.policy import freezes
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Approval, Withdrawal
from tests.exchange_ops.withdrawals.steps.test_drafting import thaw
from tests.exchange_ops.withdrawals.test_crash_points import Dying, Killed
from tests.exchange_ops.withdrawals.walks import CHANGES
from wire.errors import CallFailed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: the walk of payouts in any order")]

SCHEDULES = int(os.environ.get("SCHEDULES", "6"))
ACTIONS = 45
READS = ("get_transaction", "get_transactions", "is_own_address", "estimate_withdrawal")
FAULTS = (
    {"kind": "drop_before"},
    {"kind": "drop_after"},
    {"kind": "cut_body"},
    {"kind": "html"},
    {"kind": "redirect"},
    {"kind": "status", "status": 500},
    {"kind": "status", "status": 504, "executes": True},
    {"kind": "delay_then_execute", "ms": 60, "status": 504},
    {"kind": "rate_limit"},
    {"kind": "refuse", "code": 20001},
)
REFUSALS = (approvals.CannotApprove, workflow.CannotCancel, CannotConfirm, freezes.CannotThaw)
NOT_PAID = {"cancelled", "refused", "lapsed", "rolled_back", "expired"}
PAID = {"committed", "sent", "settled"}


class Schedule:
    """Random actions, drawn from one seed."""

    def __init__(self, walk, seed):
        self.walk, self.dice = walk, random.Random(seed)
        self.rows = [walk.request() for _ in range(2)]
        self.acts_done = []

    def run(self):
        acts = [self.step] * 9 + [self.decide] * 4 + [self.fault] * 3 + [self.crash] * 3
        acts += [self.time, self.sweep, self.ask, self.take_back, self.brake, self.read]
        for _ in range(ACTIONS):
            act = self.dice.choice(acts)
            self.acts_done.append(act.__name__)
            with contextlib.suppress(*REFUSALS):
                act()

    def row(self):
        return self.walk.fresh(self.dice.choice(self.rows))

    def step(self):
        self.walk.step(self.row(), lease_over=self.dice.random() < 0.5)

    def decide(self):
        row, person = self.row(), self.dice.choice(self.walk.approvers)
        if self.dice.random() < 0.8:
            self.walk.approve(row, person)
        else:
            self.walk.reject(row, person)

    def take_back(self):
        row, now = self.row(), clock.now()
        if self.dice.random() < 0.5:
            workflow.cancel(withdrawal_id=row.pk, person=self.walk.operator, reason="", now=now)
        else:
            approvals.recall(withdrawal_id=row.pk, person=self.walk.approvers[0], reason="Stop", now=now)

    def fault(self):
        operation = self.dice.choice((*CHANGES, *CHANGES, *READS))
        self.walk.fault(operation, **self.dice.choice(FAULTS), times=self.dice.choice((1, 1, 2, 4)))

    def crash(self):
        self.walk.client_for = Dying(self.dice.choice((*CHANGES, "get_transaction")), after=self.dice.random() < 0.5)
        try:
            self.step()
        except Killed:
            self.acts_done[-1] = "killed"
        finally:
            self.walk.client_for = keys.client_for

    def time(self):
        minutes = self.dice.choice((1, 5, 20, 50, 58))
        self.walk.sandbox.control("clock", {"advance_ms": minutes * 60_000})

    def sweep(self):
        self.walk.sweep()

    def read(self):
        with contextlib.suppress(CallFailed):
            self.walk.read_ledger()

    def ask(self):
        if len(self.rows) < 4:
            amount = self.dice.choice((Decimal("0.05"), Decimal("0.07"), Decimal(1)))
            self.rows.append(self.walk.request(amount=amount))

    def brake(self):
        frozen = freezes.active(self.walk.account)
        if frozen is None and self.dice.random() < 0.3:
            freezes.freeze(person=self.walk.approvers[0], reason="A drill", account=self.walk.account, now=clock.now())
        elif frozen is not None:
            thaw(self.walk, frozen, self.dice.choice(self.walk.approvers))

    def settle(self):
        """No more faults, three hours later, and every worker has had its turn."""
        self.walk.heal()
        for person in self.walk.approvers:
            frozen = freezes.active(self.walk.account)
            if frozen is not None and not frozen.votes.filter(person=person).exists():
                thaw(self.walk, frozen, person)
        for _ in range(3):
            self.walk.later(minutes=61)
            for _ in range(6):
                past = clock.now() - timedelta(minutes=5)
                Withdrawal.objects.filter(next_action_at__isnull=False).update(next_action_at=past)
                Withdrawal.objects.filter(state="commit_unknown").update(updated_at=past)
                Withdrawal.objects.filter(lease_until__isnull=False).update(lease_until=past)
                self.walk.read_ledger()
                self.walk.sweep()


@pytest.mark.parametrize("seed", range(SCHEDULES))
def test_any_schedule_ends_right(walk, settings, seed):
    settings.CALL_DEADLINE_SECONDS = 2
    schedule = Schedule(walk, seed)
    schedule.run()
    schedule.settle()
    story = f"seed {seed}: {' '.join(schedule.acts_done)}"
    paid = Counter(payout.public_comment for payout in walk.payouts() if str(payout.status) in {"pending", "success"})
    put = {call["path"] for call in walk.calls("commit_withdrawal")}
    deleted = {call["path"] for call in walk.calls("rollback_withdrawal")}
    assert not put & deleted, f"{story}: one hold was told both"
    for row in map(walk.fresh, schedule.rows):
        tags = {call.tag for call in row.calls.filter(kind="hold")}
        payments = sum(paid[tag] for tag in tags)
        said = f"{story}: {row.reference} is {row.state} with {payments} payouts"
        assert payments <= 1, said
        assert not (row.state in NOT_PAID and payments), said
        assert not (row.state in PAID and payments != 1), said
        if payments:
            assert row.decision == "commit", said
            words = Approval.objects.filter(withdrawal=row, digest=row.digest, verdict="approve", stage="release")
            assert words.count() >= row.quorum_required, said
            assert not row.events.filter(event__in=["rejected", "recalled", "frozen", "time_over"]).exists(), said
        holds = Counter(call["form"].get("publicComment") for call in walk.calls("create_withdrawal"))
        assert all(holds[tag] <= 1 for tag in tags), f"{said}: a hold was asked for twice"
        ended = NOT_PAID | PAID | {"investigate", "failed", "draft", "queued", "review"}
        assert row.state in ended, f"{said}: nobody acts on it ({row.last_problem})"
    open_holds = [payout for payout in walk.payouts() if str(payout.status) == "created"]
    assert open_holds == [], story
    assert walk.balanced()
    assert audit_check.verify(replay=True) == [], story
