"""What the desk learnt about a payout after a moment, in the order in which it did."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from exchange_ops.evidence.as_known.payout import KnownPayout
from exchange_ops.ledger import as_known as ledger


@dataclass(frozen=True, slots=True)
class Later:
    """One thing: when the desk stored it, its kind, and the row that says it.

    `about` is the incident of an event, and when the exchange changed the record of a version.
    """

    at: datetime
    kind: str
    row: Any
    about: Any = None

    @property
    def person(self) -> Any:
        """Who did it; None for the desk and the exchange."""
        names = {"event": "actor", "incident": "actor", "freeze": "frozen_by"}
        return getattr(self.row, names.get(self.kind, "person"), None)


def of(known: KnownPayout) -> list[Later]:
    """Everything that became known after the moment, the first one first."""
    return sorted([*_of_the_row(known), *_of_the_exchange(known), *_around(known)], key=lambda each: each.at)


def _of_the_row(known: KnownPayout) -> Iterator[Later]:
    yield from (Later(event.at, "event", event) for event in known.events.later)
    yield from (Later(vote.at, "vote", vote) for vote in known.words.later)
    yield from (Later(order.at, "order", order) for order in known.orders.later)


def _of_the_exchange(known: KnownPayout) -> Iterator[Later]:
    for call in known.every_call:
        if not known.moment.knew(call.prepared_at):
            yield Later(call.answered_at or call.prepared_at, "call", call)
        elif call.answered_at is not None and not known.moment.knew(call.answered_at):
            yield Later(call.answered_at, "call", call)
    for version in known.versions.later:
        yield Later(version.seen_at, "version", version, ledger.record_of(version).updated_at)


def _around(known: KnownPayout) -> Iterator[Later]:
    for each in known.covering:
        if not known.moment.knew(each.frozen_at):
            yield Later(each.frozen_at, "freeze", each)
        if each.thawed_at is not None and not known.moment.knew(each.thawed_at):
            yield Later(each.thawed_at, "thaw", each)
    yield from (Later(comment.at, "comment", comment) for comment in known.comments.later)
    yield from (Later(file.at, "file", file) for file in known.files.later)
    for incident in known.incidents:
        yield from (Later(event.at, "incident", event, incident.row) for event in incident.events.later)
