"""Rebuilding every order from the audit trail alone, and comparing the result with the table.

An order that was placed elsewhere enters the trail with the first thing that somebody here did about it.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exchange_ops.orders.machine import TRANSITIONS
from exchange_ops.orders.models import Order, OrderEvent
from exchange_ops.orders.mover import CONTENT
from exchange_ops.shared.mover import texts

if TYPE_CHECKING:
    from desk.models import AuditEvent

SUBJECT = "order"
_ALLOWED = {(t.source, t.event, t.target) for t in TRANSITIONS}
# What the exchange tells is written by whoever reads it last; these alone are the mover's.
_MOVED = ("state", "version", *CONTENT, "exchange_id", "sends", "cancels")


def check(events: Iterator["AuditEvent"]) -> Iterator[str]:
    """A sentence for everything in which trail, events and rows differ."""
    rebuilt: dict[int, dict[str, Any]] = {}
    moves: dict[tuple[int, int], int] = {}
    for event in events:
        name, number = event.action.removeprefix("order."), int(event.subject.split(":", 1)[1])
        known = rebuilt.setdefault(number, {})
        if not known and event.before:
            known |= event.before
        yield from _odd_step(event, number, name, known)
        known |= event.after
        moves[number, int(event.after["version"])] = event.seq
    yield from _compare_rows(rebuilt)
    yield from _compare_events(moves)


def _odd_step(event: "AuditEvent", number: int, name: str, known: dict[str, Any]) -> Iterator[str]:
    source, target = known.get("state", ""), event.after.get("state")
    if (source, name, target) not in _ALLOWED:
        yield f"Event {event.seq}: O-{number} went from {source or 'nothing'} to {target} by {name}: no such move."
    if event.after.get("version") != known.get("version", 0) + 1:
        yield f"Event {event.seq}: O-{number} jumps to version {event.after.get('version')}."


def _compare_rows(rebuilt: dict[int, dict[str, Any]]) -> Iterator[str]:
    seen = set()
    for row in Order.objects.order_by("pk").iterator(chunk_size=500):
        seen.add(row.pk)
        expected = rebuilt.get(row.pk)
        if expected is None:
            if row.initiator_id is not None or row.version > 1:
                yield f"{row.reference} is in the table and not in the trail."
            continue
        names = [name for name in _MOVED if name in expected]
        actual = texts({name: getattr(row, name) for name in names})
        yield from (
            f"{row.reference}: {name} is {actual[name]!r} in the table and {expected[name]!r} by the trail."
            for name in names
            if actual[name] != expected[name]
        )
    yield from (f"O-{number} is in the trail and not in the table." for number in sorted(rebuilt.keys() - seen))


def _compare_events(moves: dict[tuple[int, int], int]) -> Iterator[str]:
    rows = OrderEvent.objects.filter(audit_number__isnull=False).order_by("pk")
    found = {
        (number, version or 0): seq
        for number, version, seq in rows.values_list("order_id", "version", "audit_number").iterator(chunk_size=1000)
    }
    for number, version in sorted(found.keys() | moves.keys()):
        if found.get((number, version)) != moves.get((number, version)):
            yield f"O-{number}, version {version}: its event and the trail do not belong together."
