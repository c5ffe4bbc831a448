"""Holds that carry our tag and belong to no request any more: released, whoever made them and however late.

A worker that was paused can still send its request long after the row was closed. Such a hold was never compared or
approved, so we can never pay it; it only keeps money reserved until it is released here. So does the hold of a closed
request whose release two people of treasury ordered (`open_holds`).
"""

from datetime import datetime, timedelta

import structlog
from django.db import transaction
from django.db.models import Q

from desk import clock
from desk.audit import trail
from desk.machines import calls as machine_calls
from desk.machines.step_clock import SEND_WITHIN, Stopwatch
from exchange_ops.client import ExchangeClient
from exchange_ops.keys.clients import ClientFor
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.ledger import sync
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import calls, states
from exchange_ops.withdrawals.decisions import open_holds
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from wire.errors import CallFailed

AGAIN_AFTER = timedelta(seconds=30)

_log = structlog.get_logger(__name__)


def release_all(*, account: Account, now: datetime, client_for: ClientFor) -> int:
    """Release every orphan of the account that was not tried just now; returns how many calls were sent."""
    sent = 0
    for entry, owner in find(account):
        try:
            sent += _release(entry, owner, now, client_for)
        except Exception:
            _log.exception("orphans.release_failed", entry=entry.pk)
    return sent


def find(account: Account) -> list[tuple[LedgerEntry, Withdrawal]]:
    """Open holds with our tag that are not the adopted hold of a request that is still going on."""
    open_holds = LedgerEntry.objects.filter(account=account, type="payout", status=ledger_lookup.HELD)
    tags = ExternalCall.objects.filter(account=account, kind=ExternalCall.HOLD).exclude(tag="")
    pairs = []
    calls_with_id = tags.exclude(exchange_id="")
    by_tag_or_id = Q(public_comment__in=tags.values("tag")) | Q(exchange_id__in=calls_with_id.values("exchange_id"))
    for entry in open_holds.filter(by_tag_or_id):
        by_this_entry = Q(tag=entry.public_comment) | Q(exchange_id=entry.exchange_id)
        call = tags.filter(by_this_entry).select_related("withdrawal__account").order_by("pk").last()
        if call is not None and _is_orphan(entry, call):
            pairs.append((entry, call.withdrawal))
    return pairs


def _is_orphan(entry: LedgerEntry, call: ExternalCall) -> bool:
    row = call.withdrawal
    if row.put_count and row.exchange_id == entry.exchange_id:
        return open_holds.is_ordered(row)
    if row.exchange_id is not None:
        is_another = row.exchange_id != entry.exchange_id
        return is_another or row.state in open_holds.CLOSED_UNPAID or open_holds.is_ordered(row)
    is_awaited = row.state in states.IN_FLIGHT_HOLDS and row.attempt == call.attempt
    return not is_awaited and row.state != states.INVESTIGATE


def _release(entry: LedgerEntry, owner: Withdrawal, now: datetime, client_for: ClientFor) -> int:
    tries = ExternalCall.objects.filter(withdrawal=owner, kind=ExternalCall.ORPHAN)
    lately = clock.recent("prepared_at", now - AGAIN_AFTER, now=now)
    if tries.filter(lately, exchange_id=entry.exchange_id).exists():
        return 0
    watch = Stopwatch(now)
    try:
        client = client_for(owner.account, Right.WITHDRAW)
    except NoUsableKey as problem:
        _log.warning("orphans.no_key", entry=entry.pk, reason=str(problem))
        return 0
    try:
        call = _prepare(entry, owner, tries.count() + 1, now)
        send = lambda: client.rollback_withdrawal(exchange_id=entry.exchange_id)  # noqa: E731
        calls.make_unclaimed(call, watch=watch, send=send)
        _read_back(entry, owner, client, watch.now())
    finally:
        client.close()
    return 1


def _prepare(entry: LedgerEntry, owner: Withdrawal, attempt: int, now: datetime) -> ExternalCall:
    """The call's row and the audit entry, durable before the bytes leave. Of two sweepers at once one fails."""
    with transaction.atomic(durable=True):
        call = ExternalCall.objects.create(
            account=owner.account,
            withdrawal=owner,
            kind=ExternalCall.ORPHAN,
            attempt=attempt,
            epoch=owner.lease_epoch,
            tag=entry.public_comment,
            exchange_id=entry.exchange_id,
            fingerprint=machine_calls.fingerprint(ExternalCall.ORPHAN, {"exchange_id": entry.exchange_id}),
            prepared_at=now,
            send_by=now + SEND_WITHIN,
        )
        trail.record(
            actor=None,
            action="withdrawal.orphan_released",
            subject=owner.subject,
            before={},
            after={"exchange_id": entry.exchange_id, "tag": entry.public_comment, "attempt": attempt},
            now=now,
        )
    return call


def _read_back(entry: LedgerEntry, owner: Withdrawal, client: ExchangeClient, now: datetime) -> None:
    try:
        record = client.get_transaction(exchange_id=entry.exchange_id)
    except CallFailed as problem:
        _log.info("orphans.not_read_back", entry=entry.pk, reason=str(problem))
        return
    sync.apply(account=owner.account, transactions=[record], source=sync.REST, now=now)
