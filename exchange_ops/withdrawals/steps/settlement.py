"""After the exchange accepted the order: its transaction, its success or its failure, as its ledger reports them."""

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet

from desk.machines.step_clock import Stopwatch
from exchange_ops.keys import clients
from exchange_ops.keys.clients import ClientFor
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.ledger import balances
from exchange_ops.ledger.models import Balance
from exchange_ops.shared.backoff import READ_PAUSES_S, pause
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.evidence import ledger_lookup
from exchange_ops.withdrawals.evidence.ledger_lookup import PayoutVersion
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.steps import hold_monitor
from wire.errors import CallFailed

LOOK_EVERY = timedelta(seconds=15)
REPORTED_PAID = (states.SETTLED, states.VERIFIED)
TAKEN = (states.COMMITTED, states.SENT)
CARRIED_OUT_WITHIN = timedelta(hours=1)  # after that a payout that does not advance is an alarm, until it does


def step(row: Withdrawal, *, now: datetime, client_for: ClientFor) -> None:
    """Moves 24, 25, 27 and 28: what the ledger has reported since the order was accepted."""
    watch = Stopwatch(now)
    answer = ledger_lookup.read(row, client_for=client_for)
    ledger_lookup.store(row, answer, now=now)
    if answer.newest is None:
        tries = 1 + int((now - row.updated_at).total_seconds() // 15)
        later = watch.now() + pause(READ_PAUSES_S, tries)
        next_look = None if row.state in REPORTED_PAID else later
        machine.touch(row, next_action_at=next_look, last_problem=answer.problem[:500])
    elif answer.newest.status == ledger_lookup.OVER:
        _failed(row, answer.newest, client_for, watch)
    elif row.state in REPORTED_PAID:
        hash_column = {} if row.hash else {"hash": answer.newest.hash}
        columns: dict[str, Any] = {"confirmations": answer.newest.confirmations, "last_problem": ""} | hash_column
        machine.touch(row, next_action_at=None, **columns)
    else:
        _follow(row, answer.newest, watch.now())


def overdue(*, now: datetime) -> QuerySet[Withdrawal]:
    """Payouts that the exchange accepted and has not advanced for an hour; one that advances drops out."""
    rows = Withdrawal.objects.filter(state__in=TAKEN, updated_at__lte=now - CARRIED_OUT_WITHIN)
    return rows.select_related("account", "initiator").order_by("updated_at", "pk")


def overdue_sentence(row: Withdrawal, *, now: datetime) -> str:
    """What happened to the money, why this is an alarm, and who can do what."""
    minutes = int((now - row.updated_at).total_seconds() // 60)
    what = "accepted the payment order" if row.state == states.COMMITTED else "returned the transaction hash"
    since = f"{minutes} min" if minutes < 120 else f"{minutes // 60} h"
    return (
        f"{row.reference}: the exchange {what} {since} ago and has not reported it as paid. Do not "
        "pay this again; contact the exchange."
    )


def _follow(row: Withdrawal, record: PayoutVersion, now: datetime) -> None:
    columns: dict[str, Any] = {**hold_monitor.figures(record), "evidence": record.facts(), "last_problem": ""}
    if record.fee is not None:
        columns["fee"] = record.fee
    succeeded = record.status == ledger_lookup.DONE
    if row.state == states.COMMITTED and record.hash:
        later = now if succeeded else now + LOOK_EVERY
        machine.move(row, event="hash_seen", to=states.SENT, now=now, hash=record.hash, next_action_at=later, **columns)
    elif succeeded:
        machine.move(row, event="exchange_succeeded", to=states.SETTLED, now=now, next_action_at=None, **columns)
    else:
        machine.touch(
            row,
            next_action_at=now + LOOK_EVERY,
            last_problem="",
            exchange_status=record.status[:40],
            exchange_index=record.index,
            confirmations=record.confirmations,
        )


def _failed(row: Withdrawal, record: PayoutVersion, client_for: ClientFor, watch: Stopwatch) -> None:
    """Move 28, or move 27 when it had been reported as paid. The balance is read again: the money has to be back."""
    wallet = _balance(row, client_for, watch.now())
    reason = f"The exchange marked the payout as failed{f' ({record.error_code})' if record.error_code else ''}."
    machine.move(
        row,
        event="exchange_failed",
        to=states.DISPUTED if row.state in REPORTED_PAID else states.FAILED,
        now=watch.now(),
        last_problem=reason[:500],
        evidence={**record.facts(), "balance": wallet},
        **hold_monitor.figures(record),
    )


def _balance(row: Withdrawal, client_for: ClientFor, now: datetime) -> dict[str, Any]:
    try:
        with clients.client(client_for, account=row.account, right=Right.PAYMENTS) as client:
            listing = client.get_balances()
    except (CallFailed, NoUsableKey) as problem:
        return {"problem": f"Balance not available: {problem}"}
    balances.store(account=row.account, wallet=Balance.BANK, entries=listing.records, now=now, full=not listing.asides)
    balance = next((entry for entry in listing.records if entry.currency == row.currency), None)
    return {} if balance is None else {"available": balance.available, "reserved": balance.reserved}
