"""What a freeze does to payouts, and what its end does. Registered with `policy.freezes` when the app is ready."""

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import connection
from django.db.models import QuerySet
from django.urls import reverse

from desk import outbox
from desk.machines.table import NONE
from desk.templatetags.desk import kept_amount
from exchange_ops.policy.freeze_scopes import covered
from exchange_ops.policy.freezes import Stoppage
from exchange_ops.policy.models import Freeze
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.models import Withdrawal

if TYPE_CHECKING:
    from desk.models import Person

_OPEN = (states.REVIEW, states.QUEUED, states.HELD, states.COMMITTING)
_WAITING = (states.REVIEW, states.QUEUED)


def lock_open(freeze: Freeze) -> list[Withdrawal]:
    """Every payout that the freeze covers and may move, locked."""
    rows = _in(*_OPEN)
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    return covered(freeze, rows.select_related("account", "initiator"))


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
            last_problem=frozen.release,
        )


def would_release(freeze: Freeze) -> list[Withdrawal]:
    """The payouts whose hold the freeze would release now."""
    return [row for row in covered(freeze, _in(states.HELD, states.COMMITTING)) if _is_released(row)]


def would_stop(freeze: Freeze) -> list[Stoppage]:
    """Payouts without a hold: they wait for the end of the freeze and are evaluated again."""
    return [
        Stoppage(
            row.reference,
            reverse("withdrawal", args=[row.pk]),
            f"{kept_amount(row.amount, row.currency)} to {row.address}",
            "waits until the freeze is lifted; approvals before it no longer count",
        )
        for row in covered(freeze, _in(states.DRAFT, *_WAITING))
    ]


def _is_released(row: Withdrawal) -> bool:
    """Whether a freeze releases its hold: nobody decided on it, or the exchange was not told to pay yet."""
    undecided = row.state == states.HELD and row.decision == NONE
    return undecided or (row.state == states.COMMITTING and row.put_count == 0)


def wake(freeze: Freeze, *, now: datetime) -> None:
    """Wake the requests that waited for the end of the freeze: they are evaluated again and go on."""
    numbers = [row.pk for row in covered(freeze, _in(*_WAITING))]
    for number in numbers:
        outbox.wake(machine.ADVANCE_TASK, number)
    Withdrawal.objects.filter(pk__in=numbers, state__in=_WAITING).update(next_action_at=now)


def _in(*among: str) -> QuerySet[Withdrawal]:
    """The payouts in these states, by number."""
    return Withdrawal.objects.filter(state__in=among).order_by("pk")
