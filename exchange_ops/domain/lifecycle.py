"""The one mover: nothing else writes `state`, `version` or `decision` of a withdrawal.

A move is a conditional UPDATE on (id, state, version), an event row, a row of the audit trail and an announcement, in
one transaction. Of two movers that saw the same version one wins and the other gets CannotMove. `STATES` and
`TRANSITIONS` are the whole machine; rows 26 and 27 are listed, and their chain events come with the chain part.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connection, models, transaction

from desk import audit, live, outbox
from desk.fields import plain
from exchange_ops.models import Withdrawal, WithdrawalEvent, states
from exchange_ops.models.states import STATES, TRANSITIONS, State, Transition

if TYPE_CHECKING:
    from desk.models import Person

__all__ = ["STATES", "TRANSITIONS", "CannotMove", "State", "Transition", "create", "lock", "move", "touch"]

ADVANCE_TASK = "exchange_ops.advance"
CONTENT = (
    "account_id",
    "initiator_id",
    "initiated_via",
    "currency",
    "amount",
    "include_fee",
    "address",
    "payment_id",
    "reason",
)
_ALLOWED = {(t.source, t.event, t.target) for t in TRANSITIONS}
# Columns that only say when to look again: they change at every step and would bury the trail.
_UNRECORDED = frozenset({"next_action_at", "lease_until", "updated_at"})
# What may change without a move: figures read from the exchange and the time of the next look, never state or content.
_TOUCHABLE = frozenset(
    {
        "next_action_at",
        "last_problem",
        "exchange_status",
        "exchange_index",
        "confirmations",
    }
)


class CannotMove(RuntimeError):
    """The row is no longer what the mover saw, or the table has no such move. Nothing was written."""


def create(*, withdrawal: Withdrawal, now: datetime, session_key: str = "") -> Withdrawal:
    """Row 1: store a new request with its first event. An equal (initiator, request_key) raises IntegrityError."""
    with transaction.atomic():
        withdrawal.state, withdrawal.version, withdrawal.decision = "draft", 1, states.NONE
        withdrawal.created_at = withdrawal.updated_at = withdrawal.next_action_at = now
        withdrawal.save(force_insert=True)
        content = {name: getattr(withdrawal, name) for name in CONTENT}
        after = {**content, "state": "draft", "version": 1, "decision": states.NONE}
        _record(withdrawal, "created", "", {}, after, actor=withdrawal.initiator, evidence={}, now=now, key=session_key)
        _tell(withdrawal, now)
    return withdrawal


def move(
    withdrawal: Withdrawal,
    *,
    event: str,
    to: str,
    now: datetime,
    actor: "Person | None" = None,
    evidence: Mapping[str, Any] | None = None,
    session_key: str = "",
    **changes: Any,
) -> Withdrawal:
    """Take the row from the state and version that `withdrawal` carries to `to`, with `changes` to other columns.

    `withdrawal` is brought up to date and returned. CannotMove when the table has no such move or somebody was faster.
    Without a `next_action_at` a worker looks again at once where it is the worker's or the exchange's turn, else never.
    """
    source, version = withdrawal.state, withdrawal.version
    if (source, event, to) not in _ALLOWED:
        raise CannotMove(f"There is no move {event!r} from {source or 'nothing'} to {to}.")
    if STATES[to].terminal:
        changes |= {"next_action_at": None, "lease_until": None}
    elif "next_action_at" not in changes:
        changes["next_action_at"] = now if STATES[to].turn in {states.WORKER, states.EXCHANGE} else None
    new = {**changes, "state": to, "version": version + 1, "updated_at": now}
    shown = {name: value for name, value in new.items() if name not in _UNRECORDED} | {
        "decision": changes.get("decision", withdrawal.decision)
    }
    before = {name: getattr(withdrawal, name) for name in shown}
    try:
        with transaction.atomic():
            lock(withdrawal.pk)
            _record(withdrawal, event, source, before, shown, actor=actor, evidence=evidence, now=now, key=session_key)
            matching = Withdrawal.objects.filter(pk=withdrawal.pk, state=source, version=version)
            if matching.update(**new) != 1:
                raise CannotMove(f"{withdrawal.reference} was changed by somebody else meanwhile.")
            announced = _with(withdrawal, new)
            _tell(announced, now)
    except IntegrityError as error:
        raise CannotMove(f"The database refused {event!r} of {withdrawal.reference}: {error}") from error
    for name, value in new.items():
        setattr(withdrawal, name, value)
    return withdrawal


def touch(withdrawal: Withdrawal, **columns: Any) -> bool:
    """Change columns that are no part of the decision; True when the row still was at this state and version."""
    if not _TOUCHABLE.issuperset(columns):
        raise ValueError(f"Only a move changes {sorted(set(columns) - _TOUCHABLE)}.")
    same = Withdrawal.objects.filter(pk=withdrawal.pk, state=withdrawal.state, version=withdrawal.version)
    if same.update(**columns) != 1:
        return False
    for name, value in columns.items():
        setattr(withdrawal, name, value)
    return True


def lock(withdrawal_id: int) -> Withdrawal:
    """Read the row and, where the engine can, keep others waiting until the transaction ends.

    Correctness rests on the conditional update alone; waiting only spares the loser a failed attempt. Always taken
    before the audit trail's turn, so that two movers can't wait for each other.
    """
    rows = Withdrawal.objects.select_related("account", "initiator")
    if connection.features.has_select_for_update:
        rows = rows.select_for_update(of=("self",))
    return rows.get(pk=withdrawal_id)


def _record(
    withdrawal: Withdrawal,
    event: str,
    source: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    actor: "Person | None",
    evidence: Mapping[str, Any] | None,
    now: datetime,
    key: str,
) -> None:
    """The trail's row and the event row, before the update: a trigger refuses a version that has no event."""
    facts, changes = texts(evidence or {}), texts(after)
    trail = audit.record(
        actor=actor,
        action=f"withdrawal.{event}",
        subject=withdrawal.subject,
        before=texts(before),
        after={**changes, "evidence": facts},
        now=now,
        session_key=key,
    )
    WithdrawalEvent.objects.create(
        withdrawal_id=withdrawal.pk,
        version=after["version"],
        event=event,
        from_state=source,
        to_state=after["state"],
        decision=after["decision"],
        actor=actor,
        evidence=facts,
        changes=changes,
        audit_number=trail.seq,
        at=now,
    )


def texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same mapping in JSON's own types, exact and without secrets: decimals and times as text, rows as numbers."""
    result: dict[str, Any] = json.loads(audit.canonical({name: _bare(value) for name, value in values.items()}))
    return result


def _bare(value: Any) -> Any:
    """Rows as their numbers, and equal amounts as equal texts, as the database gives them back."""
    if isinstance(value, models.Model):
        return value.pk
    return plain(value) if isinstance(value, Decimal) else value


def _with(withdrawal: Withdrawal, new: Mapping[str, Any]) -> Withdrawal:
    """A copy that carries the new values, so that a failed commit leaves the caller's object as it was."""
    copy = Withdrawal(pk=withdrawal.pk, account_id=withdrawal.account_id)
    for name in ("state", "version", "next_action_at"):
        setattr(copy, name, new[name])
    return copy


def _tell(withdrawal: Withdrawal, now: datetime) -> None:
    """Hints after commit: to the pages that show it, and to a worker where there is something to do at once."""
    hint = {"state": withdrawal.state, "version": withdrawal.version}
    live.announce(withdrawal.subject, **hint)
    live.announce("withdrawals", id=withdrawal.pk, **hint)
    if withdrawal.next_action_at is not None and withdrawal.next_action_at <= now:
        outbox.wake(ADVANCE_TASK, withdrawal.pk)
