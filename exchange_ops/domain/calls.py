"""Calls that change something at the exchange: a row before the bytes leave, one last look, one send, one outcome.

The row is committed in the transaction of the claim. Immediately before the send the worker has to find its own claim
still standing, and its clocks have to say that it was not held up. What is sent late all the same is harmless: a hold
pays nobody, and orders to pay or to release can be repeated.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import structlog
from django.conf import settings
from django.db import transaction

from exchange_ops.client import ExchangeClient, WouldPayAtOnce
from exchange_ops.domain import ledger, lifecycle
from exchange_ops.domain.stopwatch import SEND_WITHIN, Stopwatch
from exchange_ops.models import Balance, ExternalCall, Withdrawal
from wire.errors import CallFailed, Refused, Unreachable
from wire.operation import BadArgument

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Reply:
    """What came of one call: an outcome of ExternalCall, the value of an accepted one, a sentence about any other."""

    outcome: str
    value: Any = None
    code: int | None = None
    problem: str = ""

    @property
    def accepted(self) -> bool:
        """Whether the exchange answered and did not refuse."""
        return self.outcome == ExternalCall.ACCEPTED


def lease(now: datetime) -> datetime:
    """Until when a claim made now keeps other workers away: longer than any task lives."""
    return now + timedelta(seconds=settings.LEASE_SECONDS)


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
        balances=lifecycle.texts({w.wallet: {"available": w.available, "reserved": w.reserved} for w in wallets}),
        prepared_at=now,
        send_by=now + SEND_WITHIN,
    )


def fingerprint(kind: str, content: dict[str, Any]) -> str:
    """A hash of what is sent, so that two calls can be compared without keeping addresses twice."""
    text = json.dumps(lifecycle.texts(content), sort_keys=True)
    return hashlib.sha256(f"{kind}|{text}".encode()).hexdigest()


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


def too_late(watch: Stopwatch, until: datetime | None) -> str:
    """Why nothing may be sent any more, else an empty text; `until` is by our clock."""
    if until is not None and watch.now() >= until:
        return "The last moment for this call had passed, so it was not sent."
    return watch.too_late_to_send()


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


def sent(send: Callable[[], Any]) -> Reply:
    """Send, and say in one of four outcomes what came of it; nothing that can happen outside is raised."""
    try:
        return Reply(ExternalCall.ACCEPTED, value=send())
    except Refused as refused:
        return Reply(ExternalCall.REFUSED, code=refused.code, problem=str(refused))
    except (BadArgument, WouldPayAtOnce) as problem:
        # Raised before a byte leaves: the call can't be made in this form, now or later.
        return Reply(ExternalCall.REFUSED, problem=f"It can't be sent like this: {problem}")
    except Unreachable as problem:
        return Reply(ExternalCall.NOT_SENT, problem=f"The exchange was not reached: {problem.reason}")
    except CallFailed as problem:
        return Reply(ExternalCall.UNKNOWN, problem=f"No usable answer: {problem}")
    except Exception as problem:  # whatever a library raises: once it may have left, the outcome is unknown
        _log.exception("calls.unexpected")
        return Reply(ExternalCall.UNKNOWN, problem=f"No usable answer: {type(problem).__name__}")


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
