"""While the money is reserved: compare the exchange's record once, watch it, and end it in time."""

from datetime import datetime, timedelta
from typing import Any

from desk.machines.step_clock import Stopwatch
from exchange_ops.keys.clients import ClientFor
from exchange_ops.policy import freezes
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.withdrawals import deadlines, machine, states
from exchange_ops.withdrawals.decisions import alarms, policy_evaluation
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.evidence.ledger_lookup import LedgerAnswer, PayoutVersion
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.steps import echo, reapproval

LOOK_EVERY = timedelta(seconds=60)  # a change wakes the row sooner: the ledger is walked every ten seconds


def step(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 12 and 14: the echo, the deadline, a freeze, changed rules, and what the exchange did by itself."""
    exchange_now = clocks.exchange_now(account=row.account, now=now)
    if row.rollback_at is not None and exchange_now >= row.rollback_at:
        end_by_time(row, now=now, exchange_now=exchange_now)
        return
    if (frozen := freezes.stopping(row.movement)) is not None:
        _release(row, "frozen", now, frozen.release, {"freeze": frozen.pk})
        return
    if policy_evaluation.is_of_older_form(row):
        reapproval.for_older_form(row, now=now, again=now + LOOK_EVERY)
        return
    if not policy_evaluation.still_holds(row):
        _release(
            row,
            "policy_changed",
            now,
            "The policy changed while the payout was pending, so its approvals no longer count.",
            {},
        )
        return
    watch = Stopwatch(now)
    answer = ledger_lookup.read(row, client_for=client_for)
    ledger_lookup.store(row, answer, now=now)
    _judge(row, answer, watch.now())


def end_by_time(row: Withdrawal, *, now: datetime, exchange_now: datetime) -> None:
    """Move 14 at T-5 min: nobody decided, so the hold is released. Raises CannotMove when somebody was faster."""
    evidence = {"rollback_at": row.rollback_at, "exchange_now": exchange_now}
    _release(row, "time_over", now, "No decision by five minutes before the exchange's deadline.", evidence)


def _judge(row: Withdrawal, answer: LedgerAnswer, now: datetime) -> None:
    if answer.newest is None or answer.version is None:
        tries = 1 + int((now - row.updated_at).total_seconds() // 5)
        machine.touch(row, next_action_at=now + pause(READ_PAUSES_S, tries), last_problem=answer.problem[:500])
    elif answer.newest.status == ledger_lookup.OVER:
        reason = "The exchange closed the reservation before a decision was made."
        _release(row, "ended_at_exchange", now, reason, answer.newest.facts())
    elif answer.newest.status != ledger_lookup.HELD:
        reason = (
            f"The exchange shows this payout as {answer.newest.status} although no payment was ordered in Countersign."
        )
        alarms.move_and_freeze(
            row,
            event="executed_without_us",
            to=states.INVESTIGATE,
            now=now,
            reason=reason,
            evidence=answer.newest.facts(),
            **figures(answer.newest),
        )
    else:
        _compare(row, answer.version, now)


def _compare(row: Withdrawal, record: PayoutVersion, now: datetime) -> None:
    comparison = echo.compare(row, record)
    columns = {"echo": comparison.items, "echo_ok": comparison.agrees, "fee": record.fee, **figures(record)}
    if comparison.agrees and row.echo_ok and row.echo == comparison.items:
        machine.touch(row, next_action_at=now + LOOK_EVERY, last_problem="")
    elif comparison.agrees:
        machine.move(
            row,
            event="echo_agrees",
            to=states.HELD,
            now=now,
            next_action_at=now + LOOK_EVERY,
            last_problem="",
            evidence=record.facts(),
            **columns,
            **deadlines.with_earlier(row, record.created_at),
        )
    elif comparison.is_fee_above:
        reapproval.for_fee(row, record, now=now, **figures(record))
    else:
        alarms.move_and_freeze(
            row,
            event="echo_differs",
            to=states.ROLLING_BACK,
            now=now,
            reason=comparison.differences,
            evidence=record.facts(),
            **columns,
            **latch(now),
        )


def figures(record: PayoutVersion) -> dict[str, Any]:
    """The columns that copy the exchange's record."""
    return {
        "exchange_status": record.status[:40],
        "exchange_index": record.index,
        "exchange_error_code": record.error_code[:80],
        "confirmations": record.confirmations,
    }


def latch(now: datetime) -> dict[str, Any]:
    """The desk's own decision to release."""
    return {"decision": states.ROLLBACK, "decided_by": None, "decided_at": now}


def _release(row: Withdrawal, event: str, now: datetime, reason: str, evidence: dict[str, Any], **columns: Any) -> None:
    machine.move(
        row,
        event=event,
        to=states.ROLLING_BACK,
        now=now,
        last_problem=reason[:500],
        evidence=evidence,
        **columns,
        **latch(now),
    )
