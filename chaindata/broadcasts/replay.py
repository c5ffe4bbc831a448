"""Rebuilding every broadcast from the audit trail alone, and comparing the result with the table."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from chaindata.broadcasts.machine import TRANSITIONS
from chaindata.broadcasts.models import ChainBroadcast

if TYPE_CHECKING:
    from desk.models import AuditEvent

SUBJECT = "chain-broadcast"
_COMPARED = ("state", "txid", "digest", "size", "reason")


def check(events: Iterator["AuditEvent"]) -> Iterator[str]:
    """A sentence for everything in which trail and rows differ."""
    rebuilt: dict[int, dict[str, Any]] = {}
    for event in events:
        name, number = event.action.removeprefix(f"{SUBJECT}."), int(event.subject.split(":", 1)[1])
        known = rebuilt.setdefault(number, {"sends": 0})
        source, target = known.get("state", ""), event.after.get("state")
        if (source, name, target) not in TRANSITIONS:
            yield f"Event {event.seq}: B-{number} went from {source or 'nothing'} to {target} by {name}: no such move."
        known["sends"] += name == "claimed"
        known |= {column: event.after[column] for column in _COMPARED if column in event.after}
    yield from _compare(rebuilt)


def _compare(rebuilt: dict[int, dict[str, Any]]) -> Iterator[str]:
    seen = set()
    for row in ChainBroadcast.objects.order_by("pk").iterator(chunk_size=500):
        seen.add(row.pk)
        expected = rebuilt.get(row.pk)
        if expected is None:
            yield f"{row.reference} is in the table and not in the trail."
            continue
        actual = {name: getattr(row, name) for name in expected}
        yield from (
            f"{row.reference}: {name} is {actual[name]!r} in the table and {value!r} by the trail."
            for name, value in expected.items()
            if actual[name] != value
        )
    yield from (f"B-{number} is in the trail and not in the table." for number in sorted(rebuilt.keys() - seen))
