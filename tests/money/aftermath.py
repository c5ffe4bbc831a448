"""What dead workers leave behind: rows ready for a step, fresh workers that go on, and the exchange's own books."""

import signal
from collections import Counter
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from itertools import count
from typing import Any

from desk import clock
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from tests.exchange_ops.withdrawals.walks import Walk
from tests.money.workers import Nursery

# Later than any lease of a worker that died a moment ago.
LATER_S = 100


@dataclass
class Aftermath:
    """The desk of one test, the workers that die on it and those that come after them."""

    walk: Walk
    nursery: Nursery
    _amounts: Any = field(default_factory=lambda: count(1500))
    _ahead_s: int = 0

    # Before -----------------------------------------------------------------------------------------------------------

    def another(self, **changes: Any) -> Withdrawal:
        """A request like no other, so that none waits for its twin, and so small that all of them need one approval."""
        return self.walk.request(amount=Decimal(next(self._amounts)).scaleb(-6), **changes)

    def queued(self) -> Withdrawal:
        """Ready to be held."""
        return self.due(self.walk.until(self.another(), "queued"))

    def held(self) -> Withdrawal:
        """Held, its record not compared yet."""
        return self.due(self.walk.until(self.another(), "held"))

    def compared(self) -> Withdrawal:
        """Held and ready to be approved."""
        row = self.walk.until(self.another(), "held")
        return self.walk.fresh(row) if row.echo_ok else self.walk.step(row)

    def committing(self) -> Withdrawal:
        """Approved, and nobody was told."""
        row = self.compared()
        self.walk.approve(row)
        return self.due(row)

    def rolling_back(self) -> Withdrawal:
        """Rejected, and nobody was told."""
        row = self.compared()
        self.walk.reject(row)
        return self.due(row)

    def due(self, row: Withdrawal) -> Withdrawal:
        """The row waits for a worker now."""
        Withdrawal.objects.filter(pk=row.pk).update(next_action_at=clock.now() - timedelta(seconds=1))
        return self.walk.fresh(row)

    # Death ------------------------------------------------------------------------------------------------------------

    def die(self, row: Withdrawal, **at: Any) -> Withdrawal:
        """A worker that steps this row is killed before this point; the row as it lies there."""
        outcome = self.nursery.run("advance", withdrawal_id=row.pk, dies=at)
        assert outcome["killed"] == signal.SIGKILL, outcome
        return self.walk.fresh(row)

    # After ------------------------------------------------------------------------------------------------------------

    def sweep(self, rounds: int = 1) -> None:
        """Fresh workers, later than every lease, do what is due."""
        for _ in range(rounds):
            self._ahead_s += LATER_S
            outcome = self.nursery.run("sweep", ahead_s=self._ahead_s)
            assert "result" in outcome, outcome

    def exchange_later(self, **duration: float) -> None:
        """Time passes at the exchange; nobody here has heard of it yet."""
        self.walk.sandbox.control("clock", {"advance_ms": int(timedelta(**duration).total_seconds() * 1000)})

    def pay_out(self) -> None:
        """Fresh workers tell what is to be paid, the exchange carries it out, and they hear of it."""
        self.sweep(2)
        self.exchange_later(minutes=1)
        self.sweep(3)

    def heard(self, row: Withdrawal) -> list[str]:
        """The holds that the exchange was asked for on behalf of this row, by their tags."""
        tags = set(ExternalCall.objects.filter(withdrawal=row, kind="hold").values_list("tag", flat=True))
        comments = [call["form"].get("publicComment") for call in self.walk.calls("create_withdrawal", executed=True)]
        return [tag for tag in comments if tag in tags]

    def orders(self, row: Withdrawal) -> Counter[str]:
        """How often the exchange was told to pay and to release the hold of this row."""
        exchange_id = self.walk.fresh(row).exchange_id or "no hold"
        calls = self.walk.calls("commit_withdrawal", "rollback_withdrawal", executed=True)
        return Counter(call["operation"].split("_")[0] for call in calls if call["path"].endswith(f"/{exchange_id}"))

    def statuses(self, row: Withdrawal) -> list[str]:
        """What became, in the exchange's own books, of every payout of this row's amount."""
        return [str(one.status) for one in self.walk.payouts() if one.amount == row.amount]
