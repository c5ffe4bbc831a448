"""Telling the exchange to release a hold, repeated even after its hour: no order to pay was ever sent for it.

An answer alone does not end it: only the ledger does, by showing that the payout failed or by having none any more.
"""

from datetime import datetime, timedelta

from desk import clock
from desk.machines import calls as machine_calls
from desk.machines import sending
from desk.machines.step_clock import Stopwatch
from exchange_ops.keys.clients import ClientFor
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import pause, pause_after
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import calls, deadlines, machine, states
from exchange_ops.withdrawals.deadlines import RELEASE_PAUSES_S
from exchange_ops.withdrawals.decisions import alarms
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.evidence.ledger_lookup import LedgerAnswer
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from exchange_ops.withdrawals.steps import hold_monitor

UNCONFIRMED = "The release is not confirmed although the exchange's deadline has passed."
_RELEASED_ANSWERS = frozenset({20005, 20007})  # Payout not found, Payout already rolled back


def step(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 21 to 23: claim one DELETE, send it, and read in the ledger what came of it."""
    watch = Stopwatch(now)
    if machine_calls.is_leased(machine.MACHINE, row, now):
        return
    _escalate_once(row, now)
    if row.delete_count:
        answer = ledger_lookup.read(row, client_for=client_for)
        ledger_lookup.store(row, answer, now=now)
        if _settled_by_ledger(row, answer, watch.now()):
            return
    sending.step(
        row,
        watch=watch,
        on_obstacle=lambda problem: _wait(row, watch.now(), problem),
        open_client=lambda: client_for(row.account, Right.WITHDRAW),
        claim=lambda _: _claimed(row, watch.now()),
        send=lambda client, last_look: calls.make(
            client.rollback_withdrawal, exchange_id=row.exchange_id or "", last_look=last_look
        ),
        on_outcome=lambda _, reply, __: _on_reply(row, reply, watch, client_for),
    )


def _on_reply(row: Withdrawal, reply: machine_calls.Reply, watch: Stopwatch, client_for: ClientFor) -> None:
    """The answer alone ends nothing: the ledger is read, and the order repeated until it shows the release."""
    now = watch.now()
    answer = ledger_lookup.read(row, client_for=client_for)
    ledger_lookup.store(row, answer, now=now)
    if not _settled_by_ledger(row, answer, watch.now(), reply):
        _repeat(row, reply, answer, watch)


def _wait(row: Withdrawal, now: datetime, problem: str) -> None:
    later = now + pause(RELEASE_PAUSES_S, len(RELEASE_PAUSES_S))
    machine.touch(row, next_action_at=later, last_problem=problem[:500])


def _settled_by_ledger(
    row: Withdrawal, answer: LedgerAnswer, now: datetime, reply: machine_calls.Reply | None = None
) -> bool:
    if answer.newest is not None:
        facts, figures = answer.newest.facts(), hold_monitor.figures(answer.newest)
        if answer.newest.status == ledger_lookup.OVER:
            machine.move(
                row,
                event="released",
                to=states.ROLLED_BACK,
                now=now,
                evidence=facts,
                last_problem=_reason(row),
                **figures,
            )
            return True
        if answer.newest.status in ledger_lookup.EXECUTED:
            reason = f"The exchange shows this payout as {answer.newest.status} although a release was ordered."
            alarms.move_and_freeze(
                row, event="paid_anyway", to=states.INVESTIGATE, now=now, reason=reason, evidence=facts, **figures
            )
            return True
        return False
    if answer.absent and _released_without_record(row, reply, now):
        facts = {"ledger": "absent", "answer": None if reply is None else reply.value or reply.code}
        machine.move(row, event="released", to=states.ROLLED_BACK, now=now, evidence=facts, last_problem=_reason(row))
        return True
    return False


def _released_without_record(row: Withdrawal, reply: machine_calls.Reply | None, now: datetime) -> bool:
    """The ledger has no record: believed when the exchange itself confirmed the release, or long after the hour."""
    if reply is not None and reply.accepted and reply.value is True:
        return True
    knows_none = reply is not None and reply.code in _RELEASED_ANSWERS
    return knows_none and deadlines.verdict_is_due(row, clocks.exchange_now(account=row.account, now=now))


def _claimed(row: Withdrawal, now: datetime) -> ExternalCall:
    content = {"exchange_id": row.exchange_id}
    return machine_calls.claim(
        machine.MACHINE,
        row,
        event="rollback_claimed",
        to=states.ROLLING_BACK,
        now=now,
        prepare=lambda: calls.prepare(
            row, kind=ExternalCall.ROLLBACK, attempt=row.delete_count, now=now, content=content
        ),
        delete_count=row.delete_count + 1,
        moves_money=False,
    )


def _repeat(row: Withdrawal, reply: machine_calls.Reply, answer: LedgerAnswer, watch: Stopwatch) -> None:
    now = watch.now()
    problem = reply.problem or answer.problem or "The exchange's ledger does not show the release yet."
    if deadlines.escalation_is_due(row, clocks.exchange_now(account=row.account, now=now)):
        problem = f"{UNCONFIRMED} {problem}"
    machine.move(
        row,
        event="rollback_unconfirmed",
        to=states.ROLLING_BACK,
        now=now,
        lease_until=None,
        evidence={"outcome": reply.outcome, "code": reply.code, "result": reply.value, "problem": problem},
        last_problem=f"{_why(row)}{problem}"[:500],
        next_action_at=now + pause_after(RELEASE_PAUSES_S, row.delete_count, took=watch.passed()),
    )


def _reason(row: Withdrawal) -> str:
    """Why it is released, without what went wrong with the release."""
    return row.last_problem.split(" | ", 1)[0]


def _why(row: Withdrawal) -> str:
    """The reason for the release, kept in front of what went wrong with it."""
    first = _reason(row)
    return f"{first} | " if first else ""


def _escalate_once(row: Withdrawal, now: datetime) -> None:
    """Ten minutes after the hour the row says clearly that the release is not confirmed; the desk continues to try."""
    exchange_now = clocks.exchange_now(account=row.account, now=now)
    if not deadlines.escalation_is_due(row, exchange_now) or row.events.filter(event="escalated").exists():
        return
    late = timedelta(minutes=1)
    if row.delete_count == 0 and not clock.has_passed(late, since=row.updated_at, now=now):
        return
    machine.move(
        row,
        event="escalated",
        to=states.ROLLING_BACK,
        now=now,
        next_action_at=now,
        last_problem=f"{_why(row)}{UNCONFIRMED}"[:500],
    )
