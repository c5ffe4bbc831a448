"""Calls that change something at the exchange: a row before the bytes leave, a last check, one send, one outcome.

The row is committed in the transaction of the claim. Immediately before the send the worker has to find its own claim
still valid, and its clocks have to show that it was not held up. Sending late would still be harmless: a hold pays
nobody, and orders to pay or to release can be repeated.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any, ParamSpec

from desk.machines import calls
from desk.machines.calls import Reply
from desk.machines.mover import texts
from desk.machines.step_clock import SEND_WITHIN, Stopwatch
from exchange_ops.ledger import sync
from exchange_ops.ledger.models import Balance
from exchange_ops.shared.calls import reply_of
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal

P = ParamSpec("P")


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
        fingerprint=calls.fingerprint(kind, content),
        watermark=sync.highest_index(account=row.account),
        balances=texts({w.wallet: {"available": w.available, "reserved": w.reserved} for w in wallets}),
        prepared_at=now,
        send_by=now + SEND_WITHIN,
    )


def make(ask: Callable[P, Any], *arguments: P.args, **named: P.kwargs) -> Reply:
    """Call the exchange once and return the outcome."""
    return reply_of(lambda: ask(*arguments, **named))


def make_unclaimed(call: ExternalCall, *, watch: Stopwatch, send: Callable[[], Any]) -> Reply:
    """Send a call that needs no claim because it can only release money, and store its outcome."""
    return calls.make_unclaimed(call, watch=watch, send=lambda: reply_of(send))
