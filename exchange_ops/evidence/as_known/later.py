"""What the desk learnt about a payout after a moment, in the order in which it did."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from exchange_ops.evidence.as_known import transactions
from exchange_ops.evidence.as_known.payout import KnownPayout


@dataclass(frozen=True, slots=True)
class Later:
    """One thing: when the desk stored it, its kind, and the row that says it.

    `about` is the incident of an event, with its state in `words`, or when the exchange changed a record.
    """

    at: datetime
    kind: str
    row: Any
    about: Any = None
    words: str = ""

    @property
    def person(self) -> Any:
        """Who did it; None for the desk and the exchange."""
        names = {"event": "actor", "incident": "actor", "freeze": "frozen_by"}
        return getattr(self.row, names.get(self.kind, "person"), None)


def of(past: KnownPayout) -> list[Later]:
    """Everything that became known after the moment, the first one first."""
    return sorted([*_of_the_row(past), *_of_the_exchange(past), *_around(past)], key=lambda each: each.at)


def _of_the_row(past: KnownPayout) -> Iterator[Later]:
    yield from (Later(event.at, "event", event) for event in past.events.later)
    yield from (Later(vote.at, "vote", vote) for vote in past.words.later)
    yield from (Later(order.at, "order", order) for order in past.orders.later)


def _of_the_exchange(past: KnownPayout) -> Iterator[Later]:
    for call in past.every_call:
        if not past.moment.knew(call.prepared_at):
            yield Later(call.answered_at or call.prepared_at, "call", call)
        elif call.answered_at is not None and not past.moment.knew(call.answered_at):
            yield Later(call.answered_at, "call", call)
    for version in past.versions.later:
        yield Later(version.seen_at, "version", version, transactions.record_of(version).updated_at)


def _around(past: KnownPayout) -> Iterator[Later]:
    for each in past.covering:
        if not past.moment.knew(each.frozen_at):
            yield Later(each.frozen_at, "freeze", each)
        if each.thawed_at is not None and not past.moment.knew(each.thawed_at):
            yield Later(each.thawed_at, "thaw", each)
    yield from (Later(comment.at, "comment", comment) for comment in past.comments.later)
    yield from (Later(file.at, "file", file) for file in past.files.later)
    for incident in past.incidents:
        labels = incident.row.table.states
        for event in incident.events.later:
            yield Later(event.at, "incident", event, incident.row, labels[event.to_state].label)
