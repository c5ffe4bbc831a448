"""Before the hold: check a draft with the exchange, evaluate it by the rules, and keep waiting requests up to date."""

from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from desk.restores.of_machine import left_to_people
from exchange_ops.addresses import destinations
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.market.models import Currency
from exchange_ops.policy import modes
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import machine, request_checks, states
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.models import Withdrawal
from wire.errors import CallFailed, Refused
from wire.operation import BadArgument

if TYPE_CHECKING:
    from exchange_ops.client import ExchangeClient

LOOK_AGAIN_EVERY = timedelta(minutes=1)
_WORTH_ASKING_AGAIN = frozenset({429, 500, 503, 504, 1001, 1002, 1003, 1004})


def submit(row: Withdrawal, *, now: datetime, client_for: Callable[..., "ExchangeClient"]) -> None:
    """Move 2: own address and fee estimate, rules, digest; then on to the queue or to the approvals."""
    try:
        is_own, fee = _own_and_fee(row, client_for)
    except NoUsableKey as problem:
        _wait(row, str(problem), now)
        return
    except (CallFailed, BadArgument) as problem:
        if isinstance(problem, BadArgument) or (
            isinstance(problem, Refused) and problem.code not in _WORTH_ASKING_AGAIN
        ):
            _fail(row, f"The exchange rejected the check: {problem}", now)
        else:
            _wait(row, f"Checks not completed: {problem}", now)
        return
    if trouble := _problem(row, is_own, fee):
        _fail(row, trouble, now)
        return
    verdict, columns = policy_evaluation.evaluate(row, now=now, fee_estimate=fee, fee_estimated_at=now)
    if verdict.blocked:
        _fail(row, verdict.blocked, now)
        return
    machine.move(
        row,
        event="submitted",
        to=states.REVIEW if verdict.mode == modes.APPROVE_THEN_HOLD else states.QUEUED,
        now=now,
        next_action_at=now,
        evidence={"own_address": is_own, "fee": fee, "trace": columns["policy_trace"]},
        last_problem="",
        **columns,
    )


def look_again(row: Withdrawal, *, now: datetime, client_for: Callable[..., "ExchangeClient"]) -> None:
    """Evaluate a request that waits for approvals again when the rules changed or a freeze came in between."""
    if not policy_evaluation.still_holds(row):
        judge_again(row, now=now)
    else:
        machine.touch(row, next_action_at=now + LOOK_AGAIN_EVERY)


def judge_again(row: Withdrawal, *, now: datetime) -> None:
    """A new digest under the rules in force; approvals of the old one no longer count."""
    verdict, columns = policy_evaluation.evaluate(row, now=now)
    if verdict.blocked:
        machine.touch(row, next_action_at=now + LOOK_AGAIN_EVERY, last_problem=verdict.blocked[:500])
        return
    first = row.state == states.REVIEW or verdict.mode == modes.APPROVE_THEN_HOLD
    machine.move(
        row,
        event="judged_again",
        to=states.REVIEW if first else states.QUEUED,
        now=now,
        next_action_at=now + LOOK_AGAIN_EVERY if first else now,
        evidence={"trace": columns["policy_trace"]},
        last_problem="",
        **columns,
    )


def _own_and_fee(row: Withdrawal, client_for: Callable[..., "ExchangeClient"]) -> tuple[bool, Decimal]:
    client = client_for(row.account, Right.PAYMENTS)
    try:
        is_own = client.is_own_address(address=row.address)
    finally:
        client.close()
    client = client_for(row.account, Right.WITHDRAW)
    try:
        return is_own, client.estimate_withdrawal(currency=row.currency, amount=row.amount)
    finally:
        client.close()


def _problem(row: Withdrawal, is_own: bool, fee: Decimal) -> str:
    """Why the request can't go on after all, or an empty text."""
    if is_own:
        return "The address belongs to this account: use a transfer instead."
    if fee < 0:
        return "The exchange returned a negative fee estimate."
    currency = Currency.objects.filter(pk=row.currency).first()
    problem = request_checks.currency_problem(currency)
    if problem or currency is None:
        return problem
    arrives = row.amount - fee if row.include_fee else row.amount
    if arrives <= 0 or arrives < (currency.payout_minimal_amount or Decimal(0)):
        return "After the fee, the amount is below the exchange's minimum."
    try:
        destinations.check(currency=currency, address=row.address, payment_id=row.payment_id)
    except destinations.CannotUseDestination as unusable:
        problem = str(unusable)
    return problem


def _fail(row: Withdrawal, problem: str, now: datetime) -> None:
    if left_to_people(machine.MACHINE, row, now=now):
        return
    machine.move(
        row,
        event="checks_failed",
        to=states.CANCELLED,
        now=now,
        evidence={"problem": problem},
        last_problem=problem[:500],
    )


def _wait(row: Withdrawal, problem: str, now: datetime) -> None:
    tries = int((now - row.created_at).total_seconds() // 15) + 1
    machine.touch(row, next_action_at=now + pause(READ_PAUSES_S, tries), last_problem=problem[:500])
