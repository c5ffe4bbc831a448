"""Calls that change something at the exchange: a row before the bytes leave, one last look, one send, one outcome.

The row is committed in the transaction of the claim. Immediately before the send the worker has to find its own claim
still standing, and its clocks have to say that it was not held up. What is sent late all the same is harmless: a hold
pays nobody, and orders to pay or to release can be repeated.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction

from exchange_ops.client import ExchangeClient
from exchange_ops.ledger import sync as ledger
from exchange_ops.ledger.models import Balance
from exchange_ops.shared import mover as shared_mover
from exchange_ops.shared.calls import Reply, fingerprint, sent, too_late
from exchange_ops.shared.step_clock import SEND_WITHIN, Stopwatch
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal

_log = structlog.get_logger(__name__)


def prepare(row: Withdrawal, *, kind: str, attempt: int, now: datetime, content: dict[str, Any]) -> ExternalCall:
    """The row of a call, inside the transaction of the claim that it belongs to. `content` is what will be sent."""
    wallets = Balance.objects.filter(account=row.account_id, currency=row.currency)
    return ExternalCall.objects.create(
        account_id=row.account_id,
        withdrawal_id=row.pk,
        kind=kind,
        attempt=attempt,
        epoch=row.lease_epoch,
        tag=str(content.get("public_comment", "")),
        exchange_id=str(content.get("exchange_id", "")),
        fingerprint=fingerprint(kind, content),
        watermark=ledger.highest_index(account=row.account),
        balances=shared_mover.texts({w.wallet: {"available": w.available, "reserved": w.reserved} for w in wallets}),
        prepared_at=now,
        send_by=now + SEND_WITHIN,
    )


def make(
    call: ExternalCall,
    row: Withdrawal,
    *,
    client: ExchangeClient,
    watch: Stopwatch,
    until: datetime | None,
    send: Callable[[], Any],
) -> Reply:
    """Send once, when the claim still stands and it is not too late, and keep the outcome; `until` is by our clock.

    The clocks are asked again by the client itself, after it waited for its turn and before the first byte.
    """
    if problem := _not_ours_any_more(call, row, watch) or too_late(watch, until):
        return _close(call, Reply(ExternalCall.NOT_SENT, problem=problem), watch)
    client.look_before_acting(lambda: too_late(watch, until))
    return _close(call, sent(send), watch)


def make_unclaimed(call: ExternalCall, *, watch: Stopwatch, send: Callable[[], Any]) -> Reply:
    """Send a call that needs no claim because it can only release money; keep its outcome."""
    ExternalCall.objects.filter(pk=call.pk).update(outcome=ExternalCall.SENT, sent_at=watch.now())
    return _close(call, sent(send), watch)


def _not_ours_any_more(call: ExternalCall, row: Withdrawal, watch: Stopwatch) -> str:
    """Mark the call as sent, if the row still carries this worker's claim; else why it does not."""
    with transaction.atomic(durable=True):
        standing = ExternalCall.objects.filter(
            pk=call.pk,
            outcome=ExternalCall.PREPARED,
            withdrawal__lease_epoch=call.epoch,
            withdrawal__version=row.version,
            withdrawal__state=row.state,
        )
        marked = standing.update(outcome=ExternalCall.SENT, sent_at=watch.now())
    return "" if marked else "Another worker had taken over, so this one sent nothing."


def _close(call: ExternalCall, reply: Reply, watch: Stopwatch) -> Reply:
    columns: dict[str, Any] = {
        "outcome": reply.outcome,
        "answered_at": watch.now(),
        "error_code": reply.code,
        "detail": reply.problem[:500],
    }
    if call.kind == ExternalCall.HOLD and reply.accepted:
        columns["exchange_id"] = str(reply.value)[:80]
    ExternalCall.objects.filter(pk=call.pk).update(**columns)
    return reply
