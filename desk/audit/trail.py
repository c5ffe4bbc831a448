"""The audit trail: a chain of hashes, one event for every change, written in the transaction of that change.

Each event carries the hash of the previous one, so an edit, a gap, a swap or a fork shows. What a database owner could
still do is to cut off the end. That shows in `audit-heads.log`, to which the new head is appended after every commit,
and in decisions, with each of which a passkey signs the head. `desk.audit_check` checks all of it.
"""

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import connection, transaction

from desk import models
from desk.audit import heads
from desk.processes import request_ids

if TYPE_CHECKING:
    from desk.models import AuditEvent, Person

NO_HEAD = "0" * 64
HEADS_FILE = "audit-heads.log"
# Any constant serves; all writers must use the same one.
_LOCK_KEY = 0x636F756E746572


class CannotRecord(RuntimeError):
    """The event can't become part of the caller's transaction: a mistake in the calling code."""


def record(
    *,
    actor: "Person | None",
    action: str,
    subject: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    now: datetime,
    session_key: str = "",
    request_id: str | None = None,
) -> "AuditEvent":
    """Append one event to the chain, inside the caller's transaction, and return it.

    `subject` is "name:key", for example "withdrawal:12". `before` and `after` hold text, whole numbers, decimals,
    times, lists and mappings; floats and anything secret are refused with TypeError. Writers wait for one another from
    here to their commit, so call it last in the transaction. Without a transaction it raises CannotRecord.
    """
    if not connection.in_atomic_block:
        raise CannotRecord("An audit event must be written in the same transaction as the change it records.")
    if now.tzinfo is None:
        raise TypeError("The time of an audit event must include a time zone.")
    take_turn()
    seq, prev = _head()
    event = models.AuditEvent(
        seq=seq + 1,
        prev=prev,
        at=now.astimezone(UTC),
        actor_id=actor.pk if actor is not None else None,
        session_digest=digest_of(session_key),
        action=action,
        subject=subject,
        before_text=canonical(before),
        after_text=canonical(after),
        request_id=request_ids.current_id() if request_id is None else request_id,
    )
    event.hash = hash_of(event)
    event.save(force_insert=True)
    transaction.on_commit(lambda: heads.append(heads_path(), seq=event.seq, hash=event.hash, at=event.at))
    return event


def head() -> str:
    """Hash of the newest event, or 64 zeros when there is none yet."""
    return _head()[1]


def digest_of(session_key: str) -> str:
    """What is stored of a session key: enough to tell sessions apart, useless for stealing one."""
    return hashlib.sha256(f"desk.session:{session_key}".encode()).hexdigest() if session_key else ""


def hash_of(event: "AuditEvent") -> str:
    """SHA-256 over the canonical form of every column, the previous hash included."""
    return hashlib.sha256(canonical(content_of(event)).encode()).hexdigest()


def content_of(event: "AuditEvent") -> list[Any]:
    """Every column of an event but its hash, in the order in which they are hashed; the time as text."""
    return [
        event.seq,
        event.prev,
        event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        event.actor_id,
        event.session_digest,
        event.action,
        event.subject,
        event.before_text,
        event.after_text,
        event.request_id,
    ]


def canonical(value: Any) -> str:
    """One text for one content: keys sorted, no spaces, ASCII only, decimals and times as text."""
    return json.dumps(_plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        value = value.value
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, Mapping):
        if not all(isinstance(key, str) for key in value):
            raise TypeError("Keys in the audit trail must be strings.")
        return {key: _plain(member) for key, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        members = [_plain(member) for member in value]
        return sorted(members) if isinstance(value, set | frozenset) else members
    return _as_text(value)


def _as_text(value: object) -> str:
    if isinstance(value, Decimal) and value.is_finite():
        return format(value, "f")
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="microseconds")
    if isinstance(value, date | UUID):
        return str(value)
    raise TypeError(f"The audit trail can't store this {type(value).__name__}.")


def take_turn() -> None:
    """Let one writer at a time go on, until its transaction ends. SQLite does so by itself from the start of one.

    `record` takes the turn itself. Code that writes rows which others write after their own event takes it first.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK_KEY])


def _head() -> tuple[int, str]:
    newest = models.AuditEvent.objects.order_by("-seq").values_list("seq", "hash").first()
    return newest or (0, NO_HEAD)


def heads_path() -> Path:
    """The file of heads, outside the database."""
    return heads.folder() / HEADS_FILE
