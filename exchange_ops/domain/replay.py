"""Rebuilding every withdrawal from the audit trail alone, and comparing the result with the tables.

Called by `verify_audit --replay`. Each event says what the row was and what it became; a row, an event or a decision
that was changed behind the mover's back shows as a difference.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exchange_ops.domain.lifecycle import texts
from exchange_ops.models import Withdrawal, WithdrawalEvent
from exchange_ops.models.states import TRANSITIONS

if TYPE_CHECKING:
    from desk.models import AuditEvent

SUBJECT = "withdrawal"
# Touched between moves, so the last event need not know the newest value.
_LOOSE = frozenset({"evidence", "exchange_status", "exchange_index", "confirmations", "last_problem"})
_ALLOWED = {(t.source, t.event, t.target) for t in TRANSITIONS}
_NOT_MOVES = frozenset({"orphan_released"})


def check(events: Iterator["AuditEvent"]) -> Iterator[str]:
    """A sentence for everything in which trail, events and rows differ."""
    rebuilt: dict[int, dict[str, Any]] = {}
    moves: dict[tuple[int, int], int] = {}
    for event in events:
        name, number = event.action.removeprefix("withdrawal."), int(event.subject.split(":", 1)[1])
        if name in _NOT_MOVES:
            continue
        known, after = rebuilt.setdefault(number, {}), event.after
        yield from _odd_step(event, number, name, known)
        known |= after
        moves[number, int(after["version"])] = event.seq
    yield from _compare_rows(rebuilt)
    yield from _compare_events(moves)


def _odd_step(event: "AuditEvent", number: int, name: str, known: dict[str, Any]) -> Iterator[str]:
    seq, before, after = event.seq, event.before, event.after
    source, target = known.get("state", ""), after.get("state")
    if (source, name, target) not in _ALLOWED:
        yield f"Event {seq}: W-{number} went from {source or 'nothing'} to {target} by {name}: there is no such move."
    if known and (before.get("version"), before.get("state")) != (known.get("version"), known.get("state")):
        yield f"Event {seq}: W-{number} does not follow on the event before it."
    if after.get("version") != known.get("version", 0) + 1:
        yield f"Event {seq}: W-{number} jumps to version {after.get('version')}."


def _compare_rows(rebuilt: dict[int, dict[str, Any]]) -> Iterator[str]:
    seen = set()
    for row in Withdrawal.objects.order_by("pk").iterator(chunk_size=500):
        seen.add(row.pk)
        expected = rebuilt.get(row.pk)
        if expected is None:
            yield f"{row.reference} is in the table and not in the trail."
            continue
        names = [name for name in expected if name not in _LOOSE]
        actual = texts({name: getattr(row, name) for name in names})
        yield from (
            f"{row.reference}: {name} is {actual[name]!r} in the table and {expected[name]!r} by the trail."
            for name in names
            if actual[name] != expected[name]
        )
    yield from (f"W-{number} is in the trail and not in the table." for number in sorted(rebuilt.keys() - seen))


def _compare_events(moves: dict[tuple[int, int], int]) -> Iterator[str]:
    rows = WithdrawalEvent.objects.values_list("withdrawal_id", "version", "audit_number").order_by("pk")
    found = {(number, version): seq for number, version, seq in rows.iterator(chunk_size=1000)}
    for number, version in sorted(found.keys() | moves.keys()):
        if found.get((number, version)) != moves.get((number, version)):
            yield f"W-{number}, version {version}: its event and the trail do not belong together."
