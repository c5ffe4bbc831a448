"""Rebuilding every action on a sub-account from the audit trail alone, and comparing the result with the table.

The trail gathers them under the sub-account they are for, so each event names its action.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exchange_ops.shared.mover import texts
from exchange_ops.subaccounts.machine import TRANSITIONS
from exchange_ops.subaccounts.models import SubAccountAction, SubAccountEvent
from exchange_ops.subaccounts.mover import CONTENT

if TYPE_CHECKING:
    from desk.models import AuditEvent

SUBJECT = "subaccount"
_ALLOWED = {(t.source, t.event, t.target) for t in TRANSITIONS}
_MOVED = ("state", "version", *CONTENT, "attempt", "answer")


def check(events: Iterator["AuditEvent"]) -> Iterator[str]:
    """A sentence for everything in which trail, events and rows differ."""
    rebuilt: dict[int, dict[str, Any]] = {}
    moves: dict[tuple[int, int], int] = {}
    for event in events:
        number, after = int(event.after["action"]), event.after
        known = rebuilt.setdefault(number, {})
        name = event.action.removeprefix(f"subaccount.{known.get('kind', after.get('kind'))}_")
        source, target = known.get("state", ""), after.get("state")
        if (source, name, target) not in _ALLOWED:
            yield f"Event {event.seq}: action {number} went from {source or 'nothing'} to {target}: no such move."
        if after.get("version") != known.get("version", 0) + 1:
            yield f"Event {event.seq}: action {number} jumps to version {after.get('version')}."
        known |= after
        moves[number, int(after["version"])] = event.seq
    yield from _compare_rows(rebuilt)
    yield from _compare_events(moves)


def _compare_rows(rebuilt: dict[int, dict[str, Any]]) -> Iterator[str]:
    seen = set()
    for row in SubAccountAction.objects.order_by("pk").iterator(chunk_size=500):
        seen.add(row.pk)
        expected = rebuilt.get(row.pk)
        if expected is None:
            yield f"Action {row.pk} on a sub-account is in the table and not in the trail."
            continue
        names = [name for name in _MOVED if name in expected]
        actual = texts({name: getattr(row, name) for name in names})
        yield from (
            f"Action {row.pk} on a sub-account: {name} is {actual[name]!r} in the table "
            f"and {expected[name]!r} by the trail."
            for name in names
            if actual[name] != expected[name]
        )
    for number in sorted(rebuilt.keys() - seen):
        yield f"Action {number} on a sub-account is in the trail and not in the table."


def _compare_events(moves: dict[tuple[int, int], int]) -> Iterator[str]:
    rows = SubAccountEvent.objects.values_list("action_id", "version", "audit_number").order_by("pk")
    found = {(number, version): seq for number, version, seq in rows.iterator(chunk_size=1000)}
    for number, version in sorted(found.keys() | moves.keys()):
        if found.get((number, version)) != moves.get((number, version)):
            yield f"Action {number}, version {version}: its event and the trail do not belong together."
