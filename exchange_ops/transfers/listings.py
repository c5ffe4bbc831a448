"""After a transfer: the ledger has to show what was answered, and must not show what was given up.

What the exchange gave an id for has to be listed as requested within ten minutes. What was not seen, closed or not,
raises the alarm when it is listed after all. Nothing here ever sends anything.
"""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction

from desk.machines import decisions
from desk.machines.step_clock import Stopwatch
from exchange_ops.keys import clients
from exchange_ops.keys.clients import ClientFor
from exchange_ops.keys.store import NoUsableKey
from exchange_ops.ledger import sync
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.shared.backoff import pause
from exchange_ops.transfers import ledger_matching, machine, states
from exchange_ops.transfers.models import Transfer, TransferCall
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed, Refused
from wire.operation import BadArgument

LISTED_BY = timedelta(minutes=10)
LISTING_PAUSES_S = (2, 5, 10, 20, 30)
WATCH_EVERY = timedelta(minutes=5)
LISTED = "success"
NO_SUCH_TRANSACTION = 20004
_log = structlog.get_logger(__name__)


def look_for_listing(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Move 13: within ten minutes the ledger has to show what the exchange gave an id for, as it was requested."""
    ids = [one for one in (row.exchange_id, row.second_id) if one]
    if not ids or row.ledger_seen_at is not None:
        machine.touch(row, next_action_at=None)
        return
    watch = Stopwatch(now)
    absent, problem = _read_by_id(row, ids, client_for, now)
    entries = ledger_matching.by_id(row, ids)
    differing = [entry for entry in entries if entry.status == "failed" or not ledger_matching.agrees(row, entry)]
    if differing and row.state == states.DONE:
        _listed_differently(row, differing, watch.now())
    elif len(entries) == len(ids) and not differing and all(entry.status == LISTED for entry in entries):
        _listed(row, watch.now())
    elif row.state == states.DONE and absent and _age(row, now) >= LISTED_BY:
        _not_listed(row, problem, watch.now())
    elif row.state == states.DONE:
        tries = 1 + int(_age(row, now).total_seconds() // 10)
        machine.touch(row, next_action_at=watch.now() + pause(LISTING_PAUSES_S, tries), last_problem=problem[:500])
    else:
        _watch_on(row, watch.now())


def look_for_latecomer(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Move 12: a transfer that was not seen, closed or not, is in the ledger after all: two people, and the alarm.

    An entry may belong to an equal transfer under way; then it is left to that one.
    """
    call = TransferCall.objects.filter(transfer=row).exclude(outcome=TransferCall.NOT_SENT).order_by("attempt").last()
    entries_by_leg = {} if call is None else ledger_matching.candidates(row, call, late=ledger_matching.LATE_FOR)
    entries = [entry for leg in entries_by_leg.values() for entry in leg]
    twins = Transfer.objects.filter(
        account=row.account_id, kind=row.kind, currency=row.currency, amount=row.amount, state__in=states.IN_FLIGHT
    )
    if not entries or twins.exists():
        _watch_on(row, now)
        return
    ids = ", ".join(entry.exchange_id for entry in entries)
    reason = f"The money moved: the transfer appeared late in the ledger ({ids})."
    machine.move(
        row,
        event="appeared_late",
        to=states.INVESTIGATE,
        now=now,
        next_action_at=None,
        last_problem=reason[:500],
        evidence={"candidates": [facts_of(entry) for entry in entries]},
    )
    alarm(row)


def alarm(row: Transfer) -> None:
    """Alert people: the inbox of treasury shows it at once, readiness names it, and the log has it as an error."""
    decisions.announce(row)
    _log.error("transfers.alarm", transfer=row.pk, state=row.state, reason=row.last_problem)


def facts_of(entry: LedgerEntry) -> dict[str, Any]:
    """The facts of an entry that people compare."""
    return {
        "exchange_id": entry.exchange_id,
        "index": entry.index,
        "type": entry.type,
        "sub_type": entry.sub_type,
        "status": entry.status,
        "currency": entry.currency,
        "amount": entry.amount,
        "created_at": entry.created_at,
    }


def _listed(row: Transfer, now: datetime) -> None:
    machine.move(
        row,
        event="listed",
        to=states.DONE,
        now=now,
        next_action_at=None,
        ledger_seen_at=now,
        last_problem="",
        evidence={},
    )


def _not_listed(row: Transfer, problem: str, now: datetime) -> None:
    """The alarm of an answer that the ledger does not confirm. It is still looked for, and ends when it is listed."""
    reason = (
        f"The exchange returned the ID {row.exchange_id}, but its ledger still does not show this "
        "transaction after ten minutes."
    )
    machine.move(
        row,
        event="not_listed",
        to=states.INVESTIGATE,
        now=now,
        next_action_at=now + WATCH_EVERY,
        last_problem=reason,
        evidence={"exchange_id": row.exchange_id, "problem": problem},
    )
    alarm(row)


def _listed_differently(row: Transfer, differing: list[LedgerEntry], now: datetime) -> None:
    """The exchange did something else than requested: the account is frozen. Rows are locked as for a freeze."""
    reason = "The exchange's ledger entry differs from the request."
    with transaction.atomic():
        freezes.lock_open(Freeze(account=row.account))
        machine.move(
            row,
            event="listed_differently",
            to=states.INVESTIGATE,
            now=now,
            next_action_at=None,
            last_problem=reason,
            evidence={"entries": [facts_of(entry) for entry in differing]},
        )
        freezes.freeze(person=None, reason=f"{row.reference}: {reason}", account=row.account, now=now)
    alarm(row)


def _read_by_id(row: Transfer, ids: list[str], client_for: ClientFor, now: datetime) -> tuple[bool, str]:
    """Read the transactions that our copy lacks: whether the exchange said for certain that it has none, and why."""
    listed_ids = {entry.exchange_id for entry in ledger_matching.by_id(row, ids) if entry.status == LISTED}
    absent, problem = False, ""
    try:
        with clients.client(client_for, account=row.account, right=Right.PAYMENTS) as client:
            for one in ids:
                if one in listed_ids:
                    continue
                try:
                    record = client.get_transaction(exchange_id=one)
                except BadArgument as odd:
                    absent, problem = True, f"{one} can't be read: {odd}"
                    continue
                except Refused as refused:
                    absent = absent or refused.code == NO_SUCH_TRANSACTION
                    problem = f"The exchange's ledger does not show {one} yet: {refused}"
                    continue
                sync.apply(account=row.account, transactions=[record], source=sync.REST, now=now)
    except (CallFailed, NoUsableKey) as failure:
        return False, f"The exchange's ledger is not available: {failure}"
    return absent, problem


def _watch_on(row: Transfer, now: datetime) -> None:
    """Check again in five minutes, until a day after it was sent."""
    is_over = _age(row, now) >= ledger_matching.LATE_FOR
    machine.touch(row, next_action_at=None if is_over else now + WATCH_EVERY)


def _age(row: Transfer, now: datetime) -> timedelta:
    return now - (row.sent_at or row.updated_at)
