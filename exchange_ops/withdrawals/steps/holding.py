"""Asking the exchange to reserve the money, once for each attempt, and never to pay it.

The call can't be repeated. So its row is committed first, the outcome is one of accepted, refused, not sent or unknown,
and unknown is resolved by reading the ledger (`hold_recovery`), never by sending again.
"""

import base64
import hashlib
import hmac
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings

from desk.machines import calls as machine_calls
from desk.machines import sending
from desk.machines.step_clock import Stopwatch
from exchange_ops.client import ExchangeClient
from exchange_ops.keys.clients import ClientFor
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import QUEUE_PAUSES_S, pause
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import calls, deadlines, machine, request_checks, states
from exchange_ops.withdrawals.decisions import policy_evaluation
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from exchange_ops.withdrawals.steps import drafting
from wire.errors import OutcomeUnknown

LOOK_AGAIN = timedelta(seconds=15)
LONGEST_ID = 80
TAG_PREFIX = "tx-"
_TAG_LENGTH = 26
# Refusals of the call and not of the payment (exchange REST, Errors: too many requests, credentials, rights): nothing
# was reserved, and the same request may be taken later or with another key.
NOT_ABOUT_THE_PAYMENT = frozenset({429, 1001, 1002, 1003, 1004})


def step(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 4 to 8: claim, one POST with autoCommit=false, and the move that its outcome leads to."""
    watch = Stopwatch(now)
    if not policy_evaluation.still_holds(row):
        drafting.judge_again(row, now=now)
        return
    sending.step(
        row,
        watch=watch,
        obstacle=lambda: _obstacle(row),
        on_obstacle=lambda problem: machine.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=problem[:500]),
        open_client=lambda: client_for(row.account, Right.WITHDRAW),
        claim=lambda _: sending.claim_or_wait(machine.MACHINE, row, lambda: _claimed(row, now), until=now + LOOK_AGAIN),
        send=lambda client, last_look: calls.make(_reserved, row, client, last_look),
        on_outcome=sending.by_outcome(_BY_OUTCOME),
    )


def tag(*, withdrawal_id: int, attempt: int) -> str:
    """The tag by which the exchange's ledger shows one attempt as ours: the same for ever, another for each attempt.

    It travels as publicComment, so it is a keyed hash: it says nothing to anybody else.
    """
    key = hashlib.sha256(b"countersign.withdrawal-tag|" + settings.SECRET_KEY.encode()).digest()
    mac = hmac.new(key, f"{withdrawal_id}|{attempt}".encode(), hashlib.sha256).digest()
    return TAG_PREFIX + base64.b32encode(mac).decode()[:_TAG_LENGTH]


def _obstacle(row: Withdrawal) -> str:
    """Why no hold may be requested right now, or an empty text. The request waits; it can be cancelled meanwhile."""
    if problem := freezes.obstacle(row.movement):
        return problem
    if problem := request_checks.currency_problem(Currency.objects.filter(pk=row.currency).first()):
        return problem
    twin = Withdrawal.objects.filter(
        account=row.account_id,
        currency=row.currency,
        amount=row.amount,
        address=row.address,
        payment_id=row.payment_id,
        state__in=states.IN_FLIGHT_HOLDS,
    ).first()
    return f"{twin.reference} is an identical request in progress; this one starts after it." if twin else ""


def _claimed(row: Withdrawal, now: datetime) -> ExternalCall:
    """Move 4: the claim, with a tag of its own and the hour that begins now, and the row of the call."""
    attempt = row.attempt + 1
    return machine_calls.claim(
        machine.MACHINE,
        row,
        event="hold_claimed",
        to=states.HOLDING,
        now=now,
        obstacle=lambda: freezes.late_obstacle(row.movement),
        prepare=lambda: calls.prepare(row, kind=ExternalCall.HOLD, attempt=attempt, now=now, content=_content(row)),
        attempt=attempt,
        tag=tag(withdrawal_id=row.pk, attempt=attempt),
        last_problem="",
        **deadlines.deadlines(clocks.exchange_now(account=row.account, now=now)),
    )


def _content(row: Withdrawal) -> dict[str, Any]:
    return {
        "currency": row.currency,
        "amount": row.amount,
        "address": row.address,
        "payment_id": row.payment_id,
        "include_fee": row.include_fee,
        "public_comment": row.tag,
    }


def _reserved(row: Withdrawal, client: ExchangeClient, last_look: machine_calls.LastLook) -> str:
    exchange_id = client.create_withdrawal(**_content(row), last_look=last_look)
    if len(exchange_id) > LONGEST_ID or not exchange_id.isprintable():
        raise OutcomeUnknown("the exchange returned an ID for the hold that can't be stored")
    return exchange_id


def _accepted(row: Withdrawal, reply: machine_calls.Reply, now: datetime) -> None:
    machine.move(
        row,
        event="hold_accepted",
        to=states.HELD,
        now=now,
        exchange_id=reply.value,
        lease_until=None,
        next_action_at=now,
        evidence={"exchange_id": reply.value},
    )


def _refused(row: Withdrawal, reply: machine_calls.Reply, now: datetime) -> None:
    (_hold_not_sent if reply.code in NOT_ABOUT_THE_PAYMENT else _hold_refused)(row, reply, now)


_hold_refused = machine_calls.on_outcome(machine.MACHINE, "hold_refused", states.REFUSED)
_hold_not_sent = machine_calls.on_outcome(
    machine.MACHINE, "hold_not_sent", states.QUEUED, again=lambda row: pause(QUEUE_PAUSES_S, row.attempt)
)
_BY_OUTCOME: Final[dict[str, machine_calls.OnOutcome]] = {
    ExternalCall.ACCEPTED: _accepted,
    ExternalCall.REFUSED: _refused,
    ExternalCall.NOT_SENT: _hold_not_sent,
    ExternalCall.UNKNOWN: machine_calls.on_outcome(machine.MACHINE, "hold_unknown", states.HOLD_UNKNOWN),
}
# Move 8: the outcome is unknown until the ledger has been read.
lease_expired = machine_calls.lease_expired(machine.MACHINE, event="hold_unknown", to=states.HOLD_UNKNOWN)
