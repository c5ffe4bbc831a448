"""Telling the exchange to pay what people approved, repeated until it confirms or until it is too late.

The order names the one hold that was compared with the approval; by the documents repeating it changes nothing. Before
the first order the exchange's record is compared once more. The last order starts thirty seconds before the hour ends;
from then on only the ledger is read.
"""

from datetime import datetime, timedelta
from typing import Any

from desk import clock
from desk.machines import calls as machine_calls
from desk.machines import sending
from desk.machines.step_clock import Stopwatch
from exchange_ops.keys.clients import ClientFor
from exchange_ops.policy import freezes
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import READ_PAUSES_S, pause, pause_after
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import calls, deadlines, machine, states
from exchange_ops.withdrawals.deadlines import COMMIT_PAUSES_S
from exchange_ops.withdrawals.decisions import alarms, approvals, policy_evaluation
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.evidence.ledger_lookup import LedgerAnswer
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from exchange_ops.withdrawals.steps import echo, hold_monitor, reapproval

NEVER_ORDERED = "The deadline for the payment order passed before it was sent."
STILL = timedelta(seconds=60)  # for at least so long an unclear case is read before people are called


def step(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 15 to 19: check, then claim one order to pay and send it, or stop because it is too late."""
    watch = Stopwatch(now)
    if machine_calls.is_leased(machine.MACHINE, row, now):
        return
    if _is_too_late(row, now) and row.put_count == 0:
        _release(row, "time_over", now, NEVER_ORDERED, {"put_stop_at": row.put_stop_at})
        return
    if _is_too_late(row, now):
        _stop(row, now, "The exchange did not confirm the payment order before the deadline.")
        return
    frozen = freezes.stopping(row.movement)
    if frozen is not None and row.put_count == 0:
        _release(row, "frozen", now, frozen.release, {"freeze": frozen.pk})
        return
    if row.put_count == 0 and not approvals.stand(row):
        _without_approvals(row, now)
        return
    answer = ledger_lookup.read(row, client_for=client_for)
    ledger_lookup.store(row, answer, now=now)
    if _settled_by_ledger(row, answer, watch.now()):
        return
    if frozen is not None:
        _wait(
            row,
            watch.now(),
            f"{frozen.title}, so the payment order is not sent again. The exchange's ledger is being checked.",
        )
    elif row.put_count == 0 and answer.version is None:
        _wait(row, watch.now(), f"The exchange's record must be checked before paying: {answer.problem}")
    else:
        _order(row, watch, client_for, answer)


def find_out(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Move 20: only the ledger is read; what it has not answered ten minutes after the hour goes to two people."""
    watch = Stopwatch(now)
    exchange_now = clocks.exchange_now(account=row.account, now=now)
    answer = ledger_lookup.read(row, client_for=client_for)
    ledger_lookup.store(row, answer, now=now)
    facts = answer.newest.facts() if answer.newest else {"problem": answer.problem, "absent": answer.absent}
    is_absent = answer.absent and deadlines.verdict_is_due(row, exchange_now)
    if answer.newest is not None and answer.newest.status in ledger_lookup.EXECUTED:
        confirm(row, watch.now(), facts, **hold_monitor.figures(answer.newest))
    elif is_absent or (answer.newest is not None and answer.newest.status == ledger_lookup.OVER):
        figures = hold_monitor.figures(answer.newest) if answer.newest else {}
        machine.move(
            row,
            event="commit_not_carried_out",
            to=states.EXPIRED,
            now=watch.now(),
            evidence=facts,
            last_problem="",
            **figures,
        )
    elif deadlines.escalation_is_due(row, exchange_now) and clock.has_passed(STILL, since=row.updated_at, now=now):
        reason = answer.problem or "The exchange still shows the reservation as open, long after its deadline."
        machine.move(
            row,
            event="still_unclear",
            to=states.INVESTIGATE,
            now=watch.now(),
            evidence=facts,
            last_problem=reason[:500],
        )
    else:
        _wait(row, watch.now(), answer.problem or "The exchange still shows the reservation as open.")


def confirm(row: Withdrawal, now: datetime, evidence: dict[str, Any], **figures: Any) -> None:
    """Moves 17 and 20: the exchange carried the order out."""
    machine.move(
        row,
        event="commit_confirmed",
        to=states.COMMITTED,
        now=now,
        lease_until=None,
        last_problem="",
        evidence=evidence,
        next_action_at=now,
        **figures,
    )


def _settled_by_ledger(row: Withdrawal, answer: LedgerAnswer, now: datetime) -> bool:
    """Whether the exchange's record already says how it ended, or that it differs from what was approved."""
    if answer.newest is None or answer.version is None:
        return False
    facts, figures = answer.newest.facts(), hold_monitor.figures(answer.newest)
    if answer.newest.status in ledger_lookup.EXECUTED and row.put_count:
        confirm(row, now, facts, **figures)
    elif answer.newest.status in ledger_lookup.EXECUTED:
        reason = f"The exchange shows this payout as {answer.newest.status} although no payment order was sent."
        _alarm(row, "executed_without_us", "investigate", now, reason, evidence=facts, **figures)
    elif answer.newest.status == ledger_lookup.OVER:
        _stop(row, now, "The exchange closed the reservation without paying.", evidence=facts, **figures)
    elif row.put_count == 0 and (comparison := echo.compare(row, answer.version)).is_fee_above:
        reapproval.for_fee(row, answer.version, now=now, **figures)
    elif row.put_count == 0 and not comparison.agrees:
        figures |= {"echo": comparison.items, "echo_ok": False, **hold_monitor.latch(now)}
        _alarm(row, "echo_differs", "rolling_back", now, comparison.differences, evidence=facts, **figures)
    else:
        return False
    return True


def _order(row: Withdrawal, watch: Stopwatch, client_for: ClientFor, answer: LedgerAnswer) -> None:
    sending.step(
        row,
        watch=watch,
        on_obstacle=lambda problem: _wait(row, watch.now(), problem),
        open_client=lambda: client_for(row.account, Right.WITHDRAW),
        claim=lambda _: _claimed(row, watch.now(), answer),
        until=lambda: _last_moment(row, watch.now()),
        send=lambda client, last_look: calls.make(
            client.commit_withdrawal, exchange_id=row.exchange_id or "", last_look=last_look
        ),
        on_outcome=lambda _, reply, __: _on_reply(row, reply, watch),
    )


def _claimed(row: Withdrawal, now: datetime, answer: LedgerAnswer) -> ExternalCall:
    """Move 16: the order is counted and its call written before anything leaves; from here nothing can be recalled.

    The first one keeps the record as it was compared just now, with the fee that is paid.
    """
    first: dict[str, Any] = {}
    if row.put_count == 0 and answer.version is not None:
        first = {"echo": echo.compare(row, answer.version).items, "fee": answer.version.fee}
    content = {"exchange_id": row.exchange_id}
    return machine_calls.claim(
        machine.MACHINE,
        row,
        event="commit_claimed",
        to=states.COMMITTING,
        now=now,
        obstacle=lambda: freezes.late_obstacle(row.movement),
        prepare=lambda: calls.prepare(row, kind=ExternalCall.COMMIT, attempt=row.put_count, now=now, content=content),
        put_count=row.put_count + 1,
        **first,
    )


def _on_reply(row: Withdrawal, reply: machine_calls.Reply, watch: Stopwatch) -> None:
    now = watch.now()
    facts = {**reply.facts, "result": reply.value}
    if reply.accepted and reply.value is True:
        confirm(row, now, facts)
        return
    problem = reply.problem or "The exchange did not execute the payment order."
    machine.move(
        row,
        event="commit_unconfirmed",
        to=states.COMMITTING,
        now=now,
        lease_until=None,
        evidence=facts,
        last_problem=problem[:500],
        next_action_at=_next_try(row, watch),
    )


def _next_try(row: Withdrawal, watch: Stopwatch) -> datetime:
    """The next try after a pause, and one more just before the last moment rather than none."""
    now = watch.now()
    later = now + pause_after(COMMIT_PAUSES_S, row.put_count, took=watch.passed())
    last = _last_moment(row, now) - timedelta(seconds=1)
    return last if now < last < later else later


def _last_moment(row: Withdrawal, now: datetime) -> datetime:
    """T-30 s on our clock."""
    remaining = (row.put_stop_at or now) - clocks.exchange_now(account=row.account, now=now)
    return now + remaining


def _is_too_late(row: Withdrawal, now: datetime) -> bool:
    return _last_moment(row, now) <= now


def _stop(row: Withdrawal, now: datetime, reason: str, **columns: Any) -> None:
    machine.move(
        row,
        event="commit_stopped",
        to=states.COMMIT_UNKNOWN,
        now=now,
        lease_until=None,
        last_problem=reason,
        **columns,
    )


def _release(row: Withdrawal, event: str, now: datetime, reason: str, evidence: dict[str, Any]) -> None:
    machine.move(
        row,
        event=event,
        to=states.ROLLING_BACK,
        now=now,
        evidence=evidence,
        last_problem=reason[:500],
        **hold_monitor.latch(now),
    )


def _alarm(row: Withdrawal, event: str, to: str, now: datetime, reason: str, **columns: Any) -> None:
    alarms.move_and_freeze(row, event=event, to=to, now=now, reason=reason, **columns)


def _without_approvals(row: Withdrawal, now: datetime) -> None:
    """Nothing is paid. What an earlier version of the desk signed is approved anew.

    Else a decision or approvals were written around the desk: the freeze releases what the exchange reserved.
    """
    if policy_evaluation.is_of_older_form(row):
        reapproval.for_older_form(row, now=now, again=min(now + STILL, _last_moment(row, now)))
        return
    reason = f"{row.reference} was stopped before payment: the approvals required by the policy are missing"
    freezes.freeze(person=None, reason=reason, account=row.account, now=now)


def _wait(row: Withdrawal, now: datetime, problem: str) -> None:
    tries = 1 + int((now - row.updated_at).total_seconds() // 5)
    later = now + pause(READ_PAUSES_S, tries)
    if row.state == states.COMMITTING:
        later = min(later, max(_last_moment(row, now), now + timedelta(seconds=1)))
    machine.touch(row, next_action_at=later, last_problem=problem[:500])
