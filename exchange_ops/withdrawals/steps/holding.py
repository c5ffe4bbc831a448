"""Asking the exchange to reserve the money, once for each attempt, and never to pay it.

The call is the one that can't be repeated. So its row is committed first, the outcome is one of accepted, refused, not
sent or unknown, and unknown is resolved by reading the ledger (`adoption`), never by sending again.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from desk.machines import calls as machine_calls
from desk.machines import mover as machine_mover
from desk.machines.step_clock import Stopwatch
from exchange_ops.client import ExchangeClient
from exchange_ops.keys import store as keys
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import QUEUE_PAUSES_S, pause
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import calls, deadlines, machine, mover, request_checks, tags
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from exchange_ops.withdrawals.steps import drafting
from wire.errors import OutcomeUnknown

LOOK_AGAIN = timedelta(seconds=15)
LONGEST_ID = 80
# Refusals of the call and not of the payment (exchange REST, Errors: too many requests, credentials, rights): nothing
# was reserved, and the same request may be taken later or with another key.
NOT_ABOUT_THE_PAYMENT = frozenset({429, 1001, 1002, 1003, 1004})


def step(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 4 to 8: claim, one POST with autoCommit=false, and where its outcome leads."""
    watch = Stopwatch(now)
    if not policy_evaluation.still_holds(row):
        drafting.judge_again(row, now=now)
        return
    if problem := _obstacle(row):
        mover.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=problem)
        return
    try:
        client = client_for(row.account, Right.WITHDRAW)
    except keys.NoUsableKey as problem:
        mover.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=str(problem)[:500])
        return
    try:
        call = _claim(row, now)
        if call is None:
            return
        asked = _content(row)
        reply = calls.make(call, row, client=client, watch=watch, until=None, send=lambda: _reserved(client, asked))
    finally:
        client.close()
    _settle(row, reply, watch.now())


def give_up_after_lease(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Row 8: the worker that claimed the hold is gone; what it did is unknown until the ledger has been read."""
    if row.lease_until is not None and now < row.lease_until:
        mover.touch(row, next_action_at=row.lease_until)
        return
    problem = "The worker that asked for the hold did not come back with an answer."
    mover.move(row, event="hold_unknown", to="hold_unknown", now=now, last_problem=problem, lease_until=None)


def _obstacle(row: Withdrawal) -> str:
    """Why no hold may be asked for right now, or an empty text. The request waits; it can be cancelled meanwhile."""
    if (frozen := freezes.active(row.account)) is not None:
        return f"The account is frozen: {frozen.reason}"[:500]
    if problem := request_checks.currency_problem(Currency.objects.filter(pk=row.currency).first()):
        return problem
    twin = Withdrawal.objects.filter(
        account=row.account_id,
        currency=row.currency,
        amount=row.amount,
        address=row.address,
        payment_id=row.payment_id,
        state__in=machine.IN_FLIGHT_HOLDS,
    ).first()
    return f"{twin.reference} asks for exactly the same at this moment, so this one waits for it." if twin else ""


def _claim(row: Withdrawal, now: datetime) -> ExternalCall | None:
    """Row 4: the claim and the row of the call, durable before anything leaves. None when a twin was faster."""
    exchange_now = clocks.exchange_now(account=row.account, now=now)
    attempt = row.attempt + 1
    try:
        with transaction.atomic(durable=True):
            current = mover.lock(row.pk)
            if freezes.active(row.account) is not None:
                raise machine_mover.CannotMove("The account was frozen in this moment.")
            mover.move(
                row,
                event="hold_claimed",
                to="holding",
                now=now,
                attempt=attempt,
                tag=tags.of(withdrawal_id=row.pk, attempt=attempt),
                lease_epoch=current.lease_epoch + 1,
                lease_until=machine_calls.lease(now),
                next_action_at=machine_calls.lease(now),
                last_problem="",
                **deadlines.deadlines(exchange_now),
            )
            return calls.prepare(row, kind=ExternalCall.HOLD, attempt=attempt, now=now, content=_content(row))
    except machine_mover.CannotMove as lost:
        fresh = Withdrawal.objects.get(pk=row.pk)
        if fresh.state == "queued":
            mover.touch(fresh, next_action_at=now + LOOK_AGAIN, last_problem=str(lost)[:500])
        return None


def _content(row: Withdrawal) -> dict[str, Any]:
    return {
        "currency": row.currency,
        "amount": row.amount,
        "address": row.address,
        "payment_id": row.payment_id,
        "include_fee": row.include_fee,
        "public_comment": row.tag,
    }


def _reserved(client: ExchangeClient, asked: dict[str, Any]) -> str:
    exchange_id = client.create_withdrawal(**asked)
    if len(exchange_id) > LONGEST_ID or not exchange_id.isprintable():
        raise OutcomeUnknown("the exchange gave the hold a number that can't be kept")
    return exchange_id


def _settle(row: Withdrawal, reply: machine_calls.Reply, now: datetime) -> None:
    facts = {"outcome": reply.outcome, "code": reply.code, "problem": reply.problem}
    if reply.accepted:
        mover.move(
            row,
            event="hold_accepted",
            to="held",
            now=now,
            exchange_id=reply.value,
            lease_until=None,
            next_action_at=now,
            evidence={"exchange_id": reply.value},
        )
    elif reply.outcome == ExternalCall.REFUSED and reply.code not in NOT_ABOUT_THE_PAYMENT:
        mover.move(row, event="hold_refused", to="refused", now=now, evidence=facts, last_problem=reply.problem[:500])
    elif reply.outcome in {ExternalCall.NOT_SENT, ExternalCall.REFUSED}:
        mover.move(
            row,
            event="hold_not_sent",
            to="queued",
            now=now,
            evidence=facts,
            last_problem=reply.problem[:500],
            lease_until=None,
            next_action_at=now + pause(QUEUE_PAUSES_S, row.attempt),
        )
    else:
        mover.move(
            row,
            event="hold_unknown",
            to="hold_unknown",
            now=now,
            evidence=facts,
            last_problem=reply.problem[:500],
            lease_until=None,
        )
