"""While the money is reserved: compare the exchange's record once, watch it, and end it in time."""

from datetime import datetime, timedelta
from typing import Any

from desk.machines.step_clock import Stopwatch
from exchange_ops.keys.clients import ClientFor
from exchange_ops.policy import freezes
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.withdrawals import deadlines, machine, mover
from exchange_ops.withdrawals.decisions import alarms, policy_evaluation
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.evidence.ledger_lookup import Seen, Sight
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.steps import echo

LOOK_EVERY = timedelta(seconds=60)  # a change wakes the row sooner: the ledger is walked every ten seconds


def step(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 12 and 14: the echo gate, the deadline, a freeze, changed rules, and whatever happened without us."""
    exchange_now = clocks.exchange_now(account=row.account, now=now)
    if row.rollback_at is not None and exchange_now >= row.rollback_at:
        end_by_time(row, now=now, exchange_now=exchange_now)
        return
    if (frozen := freezes.active(row.account)) is not None:
        _release(row, "frozen", now, f"Frozen: {frozen.reason}", {"freeze": frozen.pk})
        return
    if not policy_evaluation.still_holds(row):
        _release(row, "policy_changed", now, "The rules changed while it waited, so its approvals are void.", {})
        return
    watch = Stopwatch(now)
    sight = ledger_lookup.read(row, client_for=client_for)
    ledger_lookup.keep(row, sight, now=now)
    _judge(row, sight, watch.now())


def end_by_time(row: Withdrawal, *, now: datetime, exchange_now: datetime) -> None:
    """Row 14 at T-5 min: nobody decided, so the hold is released. Raises CannotMove when somebody was faster."""
    evidence = {"rollback_at": row.rollback_at, "exchange_now": exchange_now}
    _release(row, "time_over", now, "Nobody decided in time, five minutes before the exchange's hour ends.", evidence)


def _judge(row: Withdrawal, sight: Sight, now: datetime) -> None:
    if sight.newest is None or sight.answer is None:
        tries = 1 + int((now - row.updated_at).total_seconds() // 5)
        mover.touch(row, next_action_at=now + pause(READ_PAUSES_S, tries), last_problem=sight.problem[:500])
    elif sight.newest.status == ledger_lookup.OVER:
        reason = "The exchange ended the reservation before anybody here decided."
        _release(row, "ended_at_exchange", now, reason, sight.newest.facts())
    elif sight.newest.status != ledger_lookup.HELD:
        reason = f"The exchange shows it as {sight.newest.status} although nobody here told it to pay."
        alarms.move_and_freeze(
            row,
            event="executed_without_us",
            to=machine.INVESTIGATE,
            now=now,
            reason=reason,
            evidence=sight.newest.facts(),
            **figures(sight.newest),
        )
    else:
        _compare(row, sight.answer, now)


def _compare(row: Withdrawal, seen: Seen, now: datetime) -> None:
    found = echo.compare(row, seen)
    columns = {"echo": found.items, "echo_ok": found.agrees, "fee": seen.fee, **figures(seen)}
    if found.agrees and row.echo_ok:
        mover.touch(row, next_action_at=now + LOOK_EVERY, last_problem="")
    elif found.agrees:
        mover.move(
            row,
            event="echo_agrees",
            to=machine.HELD,
            now=now,
            next_action_at=now + LOOK_EVERY,
            last_problem="",
            evidence=seen.facts(),
            **columns,
            **deadlines.with_earlier(row, seen.created_at),
        )
    elif found.fee_drifted:
        reason = f"The exchange's fee changed: it is {seen.fee}, estimated was {row.fee_estimate}."
        _release(row, "fee_drifted", now, reason, seen.facts(), **columns)
    else:
        alarms.move_and_freeze(
            row,
            event="echo_differs",
            to=machine.ROLLING_BACK,
            now=now,
            reason=found.differences,
            evidence=seen.facts(),
            **columns,
            **latch(now),
        )


def figures(seen: Seen) -> dict[str, Any]:
    """The columns that copy the exchange's record."""
    return {
        "exchange_status": seen.status[:40],
        "exchange_index": seen.index,
        "exchange_error_code": seen.error_code[:80],
        "confirmations": seen.confirmations,
    }


def latch(now: datetime) -> dict[str, Any]:
    """The decision of the desk itself to release."""
    return {"decision": machine.ROLLBACK, "decided_by": None, "decided_at": now}


def _release(row: Withdrawal, event: str, now: datetime, reason: str, evidence: dict[str, Any], **columns: Any) -> None:
    mover.move(
        row,
        event=event,
        to=machine.ROLLING_BACK,
        now=now,
        last_problem=reason[:500],
        evidence=evidence,
        **columns,
        **latch(now),
    )
