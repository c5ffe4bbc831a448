"""Finding out from the exchange's ledger what became of a transfer: after a lost answer, after an answer, and later on.

Exactly one transaction like it, and balances that moved by what the ledger says, means done. None in three listings
after the quiet period, and balances that did not move, means not seen: then a person decides. Anything else needs two
people. What was answered must be listed within ten minutes; what was closed raises the alarm when it is listed after
all. Nothing here ever sends anything.
"""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.db import transaction

from desk import live
from exchange_ops.domain import asking, freezes, keys, ledger
from exchange_ops.domain import transfer_links as links
from exchange_ops.domain import transfer_moves as moves
from exchange_ops.domain import transfer_snapshots as snapshots
from exchange_ops.domain.asking import ClientFor
from exchange_ops.domain.lifecycle import texts
from exchange_ops.domain.stopwatch import Stopwatch
from exchange_ops.domain.transfer_calls import QUIET
from exchange_ops.domain.transfer_snapshots import CannotRead, Snapshot
from exchange_ops.domain.windows import READ_PAUSES_S, pause
from exchange_ops.models import LedgerEntry, Transfer, TransferCall
from exchange_ops.models import transfer_states as kinds
from exchange_ops.wire.catalogue import Right
from wire.errors import CallFailed, Refused

LISTINGS = 3
LISTED_BY = timedelta(minutes=10)
WATCH_EVERY = timedelta(minutes=5)
LISTED = "success"
NO_SUCH_TRANSACTION = 20004
_log = structlog.get_logger(__name__)


def find_out(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Rows 8 to 10: read the account, then done, wait, not seen, or two people."""
    watch = Stopwatch(now)
    call = TransferCall.objects.filter(transfer=row).exclude(outcome=TransferCall.NOT_SENT).order_by("attempt").last()
    if call is None:
        _not_sent(row, watch.now())
        return
    if call.outcome == TransferCall.ACCEPTED and call.exchange_id:
        _found(row, call, [call.exchange_id, call.second_id], {"answered": "late"}, watch.now())
        return
    try:
        currencies = [code for code in (row.currency, row.to_currency) if code]
        after = snapshots.take(account=row.account, currencies=currencies, client_for=client_for, now=now)
    except CannotRead as problem:
        _wait(row, watch.now(), str(problem))
        return
    _judge(row, call, after, now, watch)


def look_for_listing(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Row 13: the ledger has to show what the exchange gave an id for, as it was asked for, within ten minutes."""
    ids = [one for one in (row.exchange_id, row.second_id) if one]
    if not ids or row.ledger_seen_at is not None:
        moves.touch(row, next_action_at=None)
        return
    watch = Stopwatch(now)
    absent, problem = _read_by_id(row, ids, client_for, now)
    entries = links.by_id(row, ids)
    odd = [entry for entry in entries if entry.status == "failed" or not links.agrees(row, entry)]
    if odd and row.state == "done":
        _listed_differently(row, odd, watch.now())
    elif len(entries) == len(ids) and not odd and all(entry.status == LISTED for entry in entries):
        _listed(row, watch.now())
    elif row.state == "done" and absent and _age(row, now) >= LISTED_BY:
        _not_listed(row, problem, watch.now())
    elif row.state == "done":
        tries = 1 + int(_age(row, now).total_seconds() // 10)
        moves.touch(row, next_action_at=watch.now() + pause((2, 5, 10, 20, 30), tries), last_problem=problem[:500])
    else:
        _watch_on(row, watch.now())


def look_for_latecomer(row: Transfer, *, now: datetime, client_for: ClientFor) -> None:
    """Row 12: what was not seen, closed or not, and is in our copy of the ledger after all: two people, and the alarm.

    An entry that a transfer under way waits for may be that one's, so it is left to it.
    """
    call = TransferCall.objects.filter(transfer=row).exclude(outcome=TransferCall.NOT_SENT).order_by("attempt").last()
    found = {} if call is None else links.candidates(row, call, late=links.LATE_FOR)
    entries = [entry for leg in found.values() for entry in leg]
    twins = Transfer.objects.filter(
        account=row.account_id, kind=row.kind, currency=row.currency, amount=row.amount, state__in=kinds.IN_FLIGHT
    )
    if not entries or twins.exists():
        _watch_on(row, now)
        return
    shown = ", ".join(entry.exchange_id for entry in entries)
    reason = f"The ledger shows it after all: {shown}. It moved although nobody saw it in time."
    moves.move(
        row,
        event="appeared_late",
        to="investigate",
        now=now,
        next_action_at=None,
        last_problem=reason[:500],
        evidence={"candidates": [_facts(entry) for entry in entries]},
    )
    _alarm(row)


def _judge(row: Transfer, call: TransferCall, after: Snapshot, now: datetime, watch: Stopwatch) -> None:
    """One listing of the account, compared with what was known before the call."""
    found = links.candidates(row, call)
    left = snapshots.unexplained(call, after)
    looks, quiet = row.looks + 1, now >= call.prepared_at + QUIET
    facts = {
        "candidates": [_facts(entry) for entries in found.values() for entry in entries],
        "read_to_index": after.watermark,
        "unexplained": None if left is None else texts(left),
        "listings": looks,
        "unread": after.unread,
    }
    counts = {len(entries) for entries in found.values()}
    several, one, none = max(counts) > 1, counts == {1}, counts == {0}
    if several:
        _call_people(row, call, facts, "The ledger shows several transactions that may be this one.", watch.now())
    elif one and left == {}:
        _found(row, call, [entries[0].exchange_id for entries in found.values()], facts, watch.now())
    elif none and left == {} and not after.unread:
        if quiet and looks >= LISTINGS:
            _not_seen(row, call, facts, watch.now())
        else:
            _wait(row, watch.now(), "The exchange's ledger shows nothing of it yet.", looks)
    elif looks >= LISTINGS and (one or quiet):
        _call_people(row, call, facts, _disagreement(left, after), watch.now())
    else:
        _wait(row, watch.now(), _disagreement(left, after), looks)


def _disagreement(left: dict[str, Any] | None, after: Snapshot) -> str:
    if left is None:
        return "The balances can't be compared: the ledger has a movement of an unknown type."
    if left:
        told = ", ".join(f"{amount} {code}" for code, amount in texts(left).items())
        return f"Ledger and balances disagree: {told} moved without a transaction that says so."
    if after.unread:
        return "The ledger has records that can't be read, so nothing is certain."
    return "The ledger shows only a part of it."


def _found(row: Transfer, call: TransferCall, ids: list[str], facts: dict[str, Any], now: datetime) -> None:
    """Row 8. The listing is confirmed by the step that follows, as after an answer."""
    first, second = (*[one for one in ids if one], None)[:2]
    with transaction.atomic():
        moves.move(
            row,
            event="found",
            to="done",
            now=now,
            exchange_id=first,
            second_id=second,
            sent_at=call.sent_at or call.prepared_at,
            last_problem="",
            next_action_at=now,
            evidence=facts | {"exchange_ids": [first, second] if second else [first]},
        )
        _resolve(call, TransferCall.FOUND, first or "", second or "")
        links.adopt(row, LedgerEntry.objects.filter(account=row.account_id, exchange_id__in=ids))


def _not_seen(row: Transfer, call: TransferCall, facts: dict[str, Any], now: datetime) -> None:
    problem = f"Nothing of it in {facts['listings']} readings of the ledger, and the balances did not move."
    with transaction.atomic():
        moves.move(
            row,
            event="not_found",
            to="not_seen",
            now=now,
            next_action_at=now + WATCH_EVERY,
            last_problem=problem,
            sent_at=call.sent_at,
            evidence=facts,
        )
        _resolve(call, TransferCall.ABSENT, "", "")


def _not_sent(row: Transfer, now: datetime) -> None:
    """A worker that was given up came back, and its last look kept it from sending: certain, and still a person's."""
    problem = "It was not sent: its worker came back too late to send it."
    moves.move(row, event="not_found", to="not_seen", now=now, next_action_at=now + WATCH_EVERY, last_problem=problem)


def _call_people(row: Transfer, call: TransferCall, facts: dict[str, Any], reason: str, now: datetime) -> None:
    moves.move(
        row,
        event="ambiguous",
        to="investigate",
        now=now,
        next_action_at=None,
        last_problem=reason[:500],
        sent_at=call.sent_at,
        evidence=facts,
    )
    _alarm(row)


def _listed(row: Transfer, now: datetime) -> None:
    moves.move(
        row, event="listed", to="done", now=now, next_action_at=None, ledger_seen_at=now, last_problem="", evidence={}
    )


def _not_listed(row: Transfer, problem: str, now: datetime) -> None:
    """The alarm of an answer that the ledger does not bear out. It is still looked for, and ends when it is listed."""
    reason = f"The exchange gave it the number {row.exchange_id}, and its ledger does not show it after ten minutes."
    moves.move(
        row,
        event="not_listed",
        to="investigate",
        now=now,
        next_action_at=now + WATCH_EVERY,
        last_problem=reason,
        evidence={"exchange_id": row.exchange_id, "problem": problem},
    )
    _alarm(row)


def _listed_differently(row: Transfer, odd: list[LedgerEntry], now: datetime) -> None:
    """The exchange did something else than it was asked for: the account is frozen. Rows are locked as for a freeze."""
    reason = "The exchange's ledger says something else than what was asked for."
    with transaction.atomic():
        freezes.lock_open(row.account)
        moves.move(
            row,
            event="listed_differently",
            to="investigate",
            now=now,
            next_action_at=None,
            last_problem=reason,
            evidence={"entries": [_facts(entry) for entry in odd]},
        )
        freezes.freeze(person=None, reason=f"{row.reference}: {reason}", account=row.account, now=now)
    _alarm(row)


def _alarm(row: Transfer) -> None:
    """People have to look: the inbox of treasury shows it at once, readiness names it, and the log says it loudly."""
    live.announce("approvals", transfer=row.pk)
    _log.error("transfers.alarm", transfer=row.pk, state=row.state, reason=row.last_problem)


def _read_by_id(row: Transfer, ids: list[str], client_for: ClientFor, now: datetime) -> tuple[bool, str]:
    """Ask for the transactions our copy does not have; whether the exchange said for certain that it has none."""
    known = {entry.exchange_id for entry in links.by_id(row, ids) if entry.status == LISTED}
    absent, problem = False, ""
    try:
        with asking.client(client_for, account=row.account, right=Right.PAYMENTS) as client:
            for one in ids:
                if one in known:
                    continue
                try:
                    record = client.get_transaction(exchange_id=one)
                except Refused as refused:
                    absent = absent or refused.code == NO_SUCH_TRANSACTION
                    problem = f"The exchange's ledger does not show {one} yet: {refused}"
                    continue
                ledger.apply(account=row.account, found=[record], source=ledger.REST, now=now)
    except (CallFailed, keys.NoUsableKey) as failure:
        return False, f"The exchange's ledger was not readable: {failure}"
    return absent, problem


def _resolve(call: TransferCall, outcome: str, first: str, second: str) -> None:
    open_calls = TransferCall.objects.filter(pk=call.pk).exclude(outcome=TransferCall.ACCEPTED)
    open_calls.update(outcome=outcome, exchange_id=first, second_id=second)


def _watch_on(row: Transfer, now: datetime) -> None:
    """Look again in five minutes, until a day after it was sent."""
    over = _age(row, now) >= links.LATE_FOR
    moves.touch(row, next_action_at=None if over else now + WATCH_EVERY)


def _wait(row: Transfer, now: datetime, problem: str, looks: int | None = None) -> None:
    tries = 1 + int((now - row.updated_at).total_seconds() // 5)
    counted = {} if looks is None else {"looks": looks}
    moves.touch(row, next_action_at=now + pause(READ_PAUSES_S, tries), last_problem=problem[:500], **counted)


def _age(row: Transfer, now: datetime) -> timedelta:
    return now - (row.sent_at or row.updated_at)


def _facts(entry: LedgerEntry) -> dict[str, Any]:
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
