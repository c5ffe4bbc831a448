"""The one mover of broadcasts: nothing else writes their `state` and `version`.

A move is a conditional update on (id, state, version), a row of the audit trail and an announcement, in one
transaction. Of two movers that saw the same version one wins and the other gets CannotMove.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction

from chaindata.broadcasts import machine
from chaindata.broadcasts.models import ChainBroadcast
from desk.audit import trail
from desk.live import announcements

if TYPE_CHECKING:
    from desk.models import Person

TOPIC = "chain-broadcasts"


class CannotMove(RuntimeError):
    """The row is no longer what the mover saw, or the table has no such move. Nothing was written."""


def create(row: ChainBroadcast, *, now: datetime, session_key: str, evidence: Mapping[str, Any]) -> None:
    """The first move, inside the caller's transaction."""
    row.state, row.created_at, row.updated_at, row.next_action_at = machine.REQUESTED, now, now, now
    row.save(force_insert=True)
    told = {"txid": row.txid, "digest": row.digest, "size": row.size, "reason": row.reason, "state": row.state}
    _tell(row, "asked", {}, told | dict(evidence), actor=row.requested_by, now=now, session_key=session_key)


def move(
    row: ChainBroadcast,
    *,
    event: str,
    to: str,
    now: datetime,
    next_action_at: datetime | None = None,
    evidence: Mapping[str, Any] | None = None,
    **changes: Any,
) -> None:
    """Take the row from the state and version that it carries to `to`, by a worker; `row` is brought up to date."""
    if (row.state, event, to) not in machine.TRANSITIONS:
        raise CannotMove(f"No {event!r} leads from {row.state!r} to {to!r}.")
    columns = {"state": to, "version": row.version + 1, "updated_at": now, "next_action_at": next_action_at} | changes
    with transaction.atomic():
        if _same(row).update(**columns) != 1:
            raise CannotMove(f"{row.reference} was changed by somebody else meanwhile.")
        _tell(row, event, {"state": row.state}, {"state": to, **(evidence or {})}, actor=None, now=now, session_key="")
    _carry(row, columns)


def touch(row: ChainBroadcast, **columns: Any) -> bool:
    """Change columns that decide nothing; True when the row still was at this state and version."""
    if not {"next_action_at", "looks", "last_problem"}.issuperset(columns):
        raise ValueError("Only a move changes more than when to look again.")
    if _same(row).update(**columns) != 1:
        return False
    _carry(row, columns)
    announcements.announce(row.subject)
    return True


def _same(row: ChainBroadcast) -> Any:
    return ChainBroadcast.objects.filter(pk=row.pk, state=row.state, version=row.version)


def _carry(row: ChainBroadcast, columns: Mapping[str, Any]) -> None:
    for name, value in columns.items():
        setattr(row, name, value)


def _tell(
    row: ChainBroadcast,
    event: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    actor: "Person | None",
    now: datetime,
    session_key: str,
) -> None:
    announcements.announce(row.subject)
    announcements.announce(TOPIC)
    trail.record(
        actor=actor,
        action=f"chain-broadcast.{event}",
        subject=row.subject,
        before=before,
        after=after,
        now=now,
        session_key=session_key,
    )
