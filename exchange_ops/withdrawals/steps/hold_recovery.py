"""Finding out what became of a hold whose answer never came, by reading the exchange's ledger.

A candidate carries our tag, or it is a payout of the same content that came after everything we knew, inside the hour,
with no comment and no other owner. Exactly one that still waits is adopted; several, or one that was executed, need two
people. None at all means that there is no hold, once the ledger has been read to its end five minutes after the call by
our clock and by the exchange's, or after the hour. Should a hold come up later still, its request is closed, it was
never ordered to be paid, and `orphans` releases it.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction

from desk.live import announcements
from desk.machines.step_clock import Stopwatch
from exchange_ops.addresses import destinations
from exchange_ops.keys import clients
from exchange_ops.keys.clients import ClientFor
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.ledger import sync
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import deadlines, machine, states
from exchange_ops.withdrawals.decisions import alarms
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from wire.errors import CallFailed

CREATED_MARGIN = timedelta(minutes=2)
PROVEN_AFTER = timedelta(minutes=5)
LONGEST_CALL = timedelta(minutes=1)  # after `send_by`, for a worker that died before it wrote down how the call ended


def step(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 9 to 11: read the whole ledger, then adopt, wait, close or call two people."""
    watch = Stopwatch(now)
    call = ExternalCall.objects.filter(withdrawal=row, kind=ExternalCall.HOLD, attempt=row.attempt).first()
    try:
        unreadable = _read(row, call, client_for, now)
    except (CallFailed, NoUsableKey) as problem:
        _wait(row, watch.now(), f"The exchange's ledger is not available: {problem}")
        return
    # Judged by the clock from before the reading, because the ledger showed the state of that moment.
    exchange_now = clocks.exchange_now(account=row.account, now=now)
    candidates = find_candidates(row, call)
    open_entries = [entry for entry in candidates if entry.status != ledger_lookup.OVER]
    facts = {
        "candidates": [ledger_lookup.version_of_entry(entry).facts() for entry in candidates],
        "read_to_index": sync.highest_index(account=row.account),
        "unreadable": unreadable,
    }
    if len(open_entries) > 1 or any(entry.status != ledger_lookup.HELD for entry in open_entries):
        _call_people(row, open_entries, facts, watch.now())
    elif open_entries:
        _adopt(row, open_entries[0], call, facts, watch.now())
    elif unreadable and deadlines.escalation_is_due(row, exchange_now):
        _call_people(row, open_entries, facts, watch.now())
    elif not unreadable and (
        candidates or deadlines.verdict_is_due(row, exchange_now) or _is_proven_absent(row, call, began=now)
    ):
        _lapse(row, call, facts, watch.now())
    else:
        _wait(row, watch.now(), "The exchange's ledger does not show the reservation yet.")


def find_candidates(row: Withdrawal, call: ExternalCall | None) -> list[LedgerEntry]:
    """The entries of our copy of the ledger that may be the hold of this attempt."""
    payouts = LedgerEntry.objects.filter(account=row.account_id, type="payout", currency=row.currency)
    unmatched = payouts.exclude(exchange_id__in=_adopted_by_others(row))
    entries = {entry.pk: entry for entry in unmatched.filter(public_comment=row.tag)}
    if call is not None and call.exchange_id:
        entries |= {entry.pk: entry for entry in unmatched.filter(exchange_id=call.exchange_id)}
    untagged = unmatched.filter(public_comment="", index__gt=0 if call is None else call.watermark)
    if row.window_from is not None and row.closes_at is not None:
        untagged = untagged.filter(
            created_at__gte=row.window_from - CREATED_MARGIN, created_at__lte=row.closes_at + CREATED_MARGIN
        )
    entries |= {entry.pk: entry for entry in untagged if _same_content(row, entry)}
    return sorted(entries.values(), key=lambda entry: entry.index)


def _is_proven_absent(row: Withdrawal, call: ExternalCall | None, *, began: datetime) -> bool:
    """Whether the reading that `began` then, and went to the ledger's end, came late enough to have shown a hold.

    Both clocks have to say so, because either may have been set: ours since the call ended, and the exchange's own, as
    its last answer dated it, since the later of both when the call was made. Without dates only the hour counts.
    """
    at_exchange = clocks.at_least(account=row.account, now=began)
    if call is None or row.window_from is None or at_exchange is None:
        return False
    ended = call.answered_at or call.send_by + LONGEST_CALL
    return began >= ended + PROVEN_AFTER and at_exchange >= row.window_from + PROVEN_AFTER


def _same_content(row: Withdrawal, entry: LedgerEntry) -> bool:
    fee = entry.fee or Decimal(0)
    amounts = {entry.amount, entry.amount + fee} if row.include_fee else {entry.amount}
    return (
        row.amount in amounts
        and row.payment_id == entry.payment_id
        and destinations.same_address(code=row.currency, one=row.address, other=entry.address)
    )


def _adopted_by_others(row: Withdrawal) -> Any:
    others = Withdrawal.objects.filter(account=row.account_id, exchange_id__isnull=False).exclude(pk=row.pk)
    return others.values("exchange_id")


def _read(row: Withdrawal, call: ExternalCall | None, client_for: ClientFor, now: datetime) -> int:
    """Store everything newer than what we knew before the call; returns how many of our records were unreadable."""
    unreadable = 0
    with clients.client(client_for, account=row.account, right=Right.PAYMENTS) as client:
        for page in client.transactions_after(index=0 if call is None else call.watermark):
            sync.apply(account=row.account, transactions=page.records, asides=page.asides, source=sync.REST, now=now)
            unreadable += sum(row.tag in aside.content for aside in page.asides)
            unreadable += sum(
                row.tag == (record.public_comment or "") for record in page.records if sync.unstorable(record)
            )
    return unreadable


def _adopt(
    row: Withdrawal, entry: LedgerEntry, call: ExternalCall | None, facts: dict[str, Any], now: datetime
) -> None:
    with transaction.atomic():
        machine.move(
            row,
            event="hold_adopted",
            to=states.HELD,
            now=now,
            exchange_id=entry.exchange_id,
            next_action_at=now,
            evidence=facts,
            last_problem="",
            **deadlines.with_earlier(row, entry.created_at),
        )
        _resolve(call, ExternalCall.FOUND, entry.exchange_id)
        LedgerEntry.objects.filter(pk=entry.pk).update(withdrawal=row, foreign=False)
        announcements.announce(f"ledger:{entry.account_id}")


def _lapse(row: Withdrawal, call: ExternalCall | None, facts: dict[str, Any], now: datetime) -> None:
    with transaction.atomic():
        machine.move(row, event="hold_not_found", to=states.LAPSED, now=now, evidence=facts, last_problem="")
        _resolve(call, ExternalCall.FOUND if facts["candidates"] else ExternalCall.ABSENT, "")


def _call_people(row: Withdrawal, open_entries: list[LedgerEntry], facts: dict[str, Any], now: datetime) -> None:
    listing = ", ".join(f"{entry.exchange_id} ({entry.status})" for entry in open_entries)
    reason = (
        f"The ledger shows {len(open_entries)} payouts that may match this request: {listing}."
        if len(open_entries) > 1
        else "The ledger has an unreadable record with this payout's tag."
        if not open_entries
        else f"The payout was executed although no payment was ordered in Countersign: {listing}."
    )
    alarms.move_and_freeze(row, event="hold_ambiguous", to=states.INVESTIGATE, now=now, reason=reason, evidence=facts)


def _resolve(call: ExternalCall | None, outcome: str, exchange_id: str) -> None:
    if call is None:
        return
    open_calls = ExternalCall.objects.filter(pk=call.pk).exclude(outcome=ExternalCall.ACCEPTED)
    open_calls.update(outcome=outcome, exchange_id=exchange_id or call.exchange_id)


def _wait(row: Withdrawal, now: datetime, problem: str) -> None:
    tries = 1 + int((now - row.updated_at).total_seconds() // 5)
    machine.touch(row, next_action_at=now + pause(READ_PAUSES_S, tries), last_problem=problem[:500])
