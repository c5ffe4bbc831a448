"""What a freeze does to payouts, and what its end does. Registered with `policy.freezes` when the app is ready."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import connection

from desk import outbox
from desk.machines.table import NONE
from exchange_ops.policy.freezes import Stoppage
from exchange_ops.policy.models import Freeze
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.models import Withdrawal

if TYPE_CHECKING:
    from desk.models import Person

_OPEN = (states.REVIEW, states.QUEUED, states.HELD, states.COMMITTING)
_WAITING = (states.REVIEW, states.QUEUED)


def lock_open(account: Account) -> list[Withdrawal]:
    """Every payout of the account that a freeze may move, locked."""
    rows = Withdrawal.objects.filter(account=account, state__in=_OPEN).order_by("pk")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    return list(rows.select_related("account", "initiator"))


def stop(row: Withdrawal, *, frozen: Freeze, person: "Person | None", now: datetime, session_key: str) -> None:
    """Release a hold without a decision, and recall an approval that was not acted on."""
    if _is_released(row):
        machine.move(
            row,
            event="frozen",
            to=states.ROLLING_BACK,
            now=now,
            actor=person,
            session_key=session_key,
            evidence={"freeze": frozen.pk, "reason": frozen.reason},
            decision=states.ROLLBACK,
            decided_by=person,
            decided_at=now,
            last_problem=f"Frozen: {frozen.reason}"[:500],
        )


def would_release(account: Account) -> list[Withdrawal]:
    """The payouts whose hold a freeze of this account would release now."""
    rows = Withdrawal.objects.filter(account=account, state__in=(states.HELD, states.COMMITTING)).order_by("pk")
    return [row for row in rows if _is_released(row)]


def would_stop(account: Account) -> list[Stoppage]:
    """None: payouts without a hold wait for the end of the freeze and are evaluated again."""
    return []


def _is_released(row: Withdrawal) -> bool:
    """Whether a freeze releases its hold: nobody decided on it, or the exchange was not told to pay yet."""
    undecided = row.state == states.HELD and row.decision == NONE
    return undecided or (row.state == states.COMMITTING and row.put_count == 0)


def wake(account_id: int, *, now: datetime) -> None:
    """Wake the requests that waited for the end of the freeze: they are evaluated again and go on."""
    rows = Withdrawal.objects.filter(account_id=account_id, state__in=_WAITING)
    for number in rows.values_list("pk", flat=True):
        outbox.wake(machine.ADVANCE_TASK, number)
    rows.update(next_action_at=now)
