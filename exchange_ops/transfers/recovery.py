"""Finding out from the exchange's ledger what became of a transfer whose answer was lost.

Exactly one matching transaction, and balances that moved by what the ledger says, means done. None in three listings
after the quiet period, and balances that did not move, means not seen: then a person decides. Anything else needs two
people. Nothing here ever sends anything.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from desk.machines.mover import texts
from desk.machines.step_clock import Stopwatch
from exchange_ops.keys.clients import ClientFor
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared import clocks
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.transfers import ledger_matching, listings, machine, snapshots, states
from exchange_ops.transfers.calls import MARGIN, QUIET
from exchange_ops.transfers.models import Transfer, TransferCall
from exchange_ops.transfers.snapshots import CannotRead, Snapshot

LISTINGS = 3


def find_out(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 8 to 10: read the account, then done, wait, not seen, or two people."""
    watch = Stopwatch(now)
    call = TransferCall.objects.filter(transfer=row).exclude(outcome=TransferCall.NOT_SENT).order_by("attempt").last()
    if call is None:
        _not_sent(row, watch.now())
        return
    if call.outcome == TransferCall.ACCEPTED and call.exchange_id:
        _settle(row, call, [call.exchange_id, call.second_id], {"answered": "late"}, watch.now())
        return
    try:
        currencies = [code for code in (row.currency, row.to_currency) if code]
        patient = not _is_quiet_over(call, now)
        after = snapshots.read(
            account=row.account, currencies=currencies, client_for=client_for, now=now, patient=patient
        )
    except CannotRead as problem:
        _wait(row, watch.now(), str(problem))
        return
    _judge(row, call, after, now, watch)


def _judge(row: Transfer, call: TransferCall, after: Snapshot, now: datetime, watch: Stopwatch) -> None:
    """Compare one listing of the account with what was known before the call."""
    entries_by_leg = ledger_matching.candidates(row, call)
    unexplained = snapshots.unexplained(call, after)
    looks, quiet = row.looks + 1, _is_quiet_over(call, now)
    facts = {
        "candidates": [listings.facts_of(entry) for entries in entries_by_leg.values() for entry in entries],
        "read_to_index": after.watermark,
        "unexplained": None if unexplained is None else texts(unexplained),
        "listings": looks,
        "unread": after.unread,
    }
    counts = {len(entries) for entries in entries_by_leg.values()}
    several, one, none = max(counts) > 1, counts == {1}, counts == {0}
    if several:
        _call_people(row, call, facts, "The ledger shows several transactions that may be this transfer.", watch.now())
    elif one and unexplained == {}:
        _settle(row, call, [entries[0].exchange_id for entries in entries_by_leg.values()], facts, watch.now())
    elif none and unexplained == {} and not after.unread:
        if quiet and looks >= LISTINGS:
            _not_seen(row, call, facts, watch.now())
        else:
            _wait(row, watch.now(), "The exchange's ledger does not show the transfer yet.", looks)
    elif looks >= LISTINGS and (one or quiet):
        _call_people(row, call, facts, _disagreement(unexplained, after, call), watch.now())
    else:
        _wait(row, watch.now(), _disagreement(unexplained, after, call), looks)


def _is_quiet_over(call: TransferCall, now: datetime) -> bool:
    """Whether ten minutes have passed since the call by both clocks: a host whose clock jumps decides nothing early."""
    reading = clocks.believed(account=call.account)
    exchange_now = now if reading is None else now + timedelta(milliseconds=reading.skew_ms)
    return now >= call.prepared_at + QUIET and exchange_now >= call.created_from + MARGIN + QUIET


def _disagreement(unexplained: dict[str, Any] | None, after: Snapshot, call: TransferCall) -> str:
    if unexplained is None and not (call.balances.get("bank") and after.wallets["bank"]):
        return "Balances can't be compared: the account changed during the check."
    if unexplained is None:
        return "Balances can't be compared: the ledger has an entry of an unknown type."
    if unexplained:
        amounts = ", ".join(f"{amount} {code}" for code, amount in texts(unexplained).items())
        return f"Ledger and balances disagree: {amounts} moved without a matching transaction."
    if after.unread:
        return "The outcome is unknown: some ledger records can't be read."
    return "The ledger shows only part of the transfer."


def _settle(row: Transfer, call: TransferCall, ids: list[str], facts: dict[str, Any], now: datetime) -> None:
    """Move 8. The next step confirms the listing, as after an answer."""
    first, second = (*[one for one in ids if one], None)[:2]
    with transaction.atomic():
        machine.move(
            row,
            event="found",
            to=states.DONE,
            now=now,
            exchange_id=first,
            second_id=second,
            sent_at=call.sent_at or call.prepared_at,
            last_problem="",
            next_action_at=now,
            evidence=facts | {"exchange_ids": [first, second] if second else [first]},
        )
        _resolve(call, TransferCall.FOUND, first or "", second or "")
        ledger_matching.adopt(row, LedgerEntry.objects.filter(account=row.account_id, exchange_id__in=ids))


def _not_seen(row: Transfer, call: TransferCall, facts: dict[str, Any], now: datetime) -> None:
    problem = f"Not found in {facts['listings']} checks of the ledger, and balances did not change."
    with transaction.atomic():
        machine.move(
            row,
            event="not_found",
            to=states.NOT_SEEN,
            now=now,
            next_action_at=now + listings.WATCH_EVERY,
            last_problem=problem,
            sent_at=call.sent_at,
            evidence=facts,
        )
        _resolve(call, TransferCall.ABSENT, "", "")


def _not_sent(row: Transfer, now: datetime) -> None:
    """A worker came back after its lease, and the last check kept it from sending: certain, but still for people."""
    problem = "Not sent: the deadline passed before it could be sent."
    machine.move(
        row,
        event="not_found",
        to=states.NOT_SEEN,
        now=now,
        next_action_at=now + listings.WATCH_EVERY,
        last_problem=problem,
    )


def _call_people(row: Transfer, call: TransferCall, facts: dict[str, Any], reason: str, now: datetime) -> None:
    machine.move(
        row,
        event="ambiguous",
        to=states.INVESTIGATE,
        now=now,
        next_action_at=None,
        last_problem=reason[:500],
        sent_at=call.sent_at,
        evidence=facts,
    )
    listings.alarm(row)


def _resolve(call: TransferCall, outcome: str, first: str, second: str) -> None:
    open_calls = TransferCall.objects.filter(pk=call.pk).exclude(outcome=TransferCall.ACCEPTED)
    open_calls.update(outcome=outcome, exchange_id=first, second_id=second)


def _wait(row: Transfer, now: datetime, problem: str, looks: int | None = None) -> None:
    tries = 1 + int((now - row.updated_at).total_seconds() // 5)
    columns = {} if looks is None else {"looks": looks}
    machine.touch(row, next_action_at=now + pause(READ_PAUSES_S, tries), last_problem=problem[:500], **columns)
