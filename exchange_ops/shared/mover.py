"""The one mover of all rows that have a table of states: nothing else writes their `state` and `version`.

A move is a conditional UPDATE on (id, state, version), an event row, a row of the audit trail and an announcement, in
one transaction. Of two movers that saw the same version one wins and the other gets CannotMove. What one kind of row
has of its own stands in its `Machine`; the fronts (`lifecycle`, `transfer_moves`, `order_moves`, `subaccount_moves`)
are what the rules call.
"""

import json
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, connection, models, transaction

from desk import outbox
from desk.audit import trail as audit
from desk.fields import plain
from desk.live import announcements
from exchange_ops.shared.states import EXCHANGE, WORKER, State, Transition

if TYPE_CHECKING:
    from desk.models import Person


class CannotMove(RuntimeError):
    """The row is no longer what the mover saw, or the table has no such move. Nothing was written."""


@dataclass(frozen=True)
class Trail:
    """How the audit trail names a move: what was done, to what, and what is shown besides the changed columns."""

    action: str
    subject: str
    also: Mapping[str, Any]


@dataclass(frozen=True)
class Machine:
    """One kind of row: its table, and what its moves show and tell.

    `at_rest` are the states in which nothing is due and no claim is kept; `unrecorded` columns only say when to look
    again and would bury the trail; `touchable` ones may change without a move; `always_shown` are in every row of the
    trail. `kept` gives the event's own columns beside those that all events have, `after` what follows the update in
    the same transaction: hints, and what a move teaches of other rows.
    """

    model: type[models.Model]
    events: type[models.Model]
    owner: str
    states: Mapping[str, State]
    transitions: tuple[Transition, ...]
    unrecorded: frozenset[str]
    touchable: frozenset[str]
    named: Callable[[Any], str]
    trail: Callable[[Any, str], Trail]
    at_rest: Container[str] = ()
    locked_with: tuple[str, ...] | None = ()
    always_shown: tuple[str, ...] = ()
    kept: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda after: {}

    @cached_property
    def allowed(self) -> frozenset[tuple[str, str, str]]:
        """Every move of the table."""
        return frozenset((t.source, t.event, t.target) for t in self.transitions)

    def lock(self, number: int) -> Any:
        """Read the row and, where the engine can, keep others waiting until the transaction ends.

        Correctness rests on the conditional update alone; waiting only spares the loser a failed attempt. Always taken
        before the audit trail's turn, so that two movers can't wait for each other.
        """
        rows = self.model._default_manager.select_related(*(self.locked_with or ()))
        if connection.features.has_select_for_update:
            rows = rows.select_for_update(of=("self",))
        return rows.get(pk=number)

    def touch(self, row: Any, columns: Mapping[str, Any]) -> bool:
        """Change columns that decide nothing; True when the row still was at this state and version."""
        if not self.touchable.issuperset(columns):
            raise ValueError(f"Only a move changes {sorted(set(columns) - self.touchable)}.")
        if self._same(row).update(**columns) != 1:
            return False
        _carry(row, columns)
        return True

    def move(
        self,
        row: Any,
        changes: Mapping[str, Any],
        *,
        event: str,
        to: str,
        now: datetime,
        actor: "Person | None",
        evidence: Mapping[str, Any] | None,
        session_key: str,
        after: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Take the row from the state and version that it carries to `to`; `row` is brought up to date.

        CannotMove when the table has no such move or somebody was faster. Without a `next_action_at` a worker looks
        again at once where it is the worker's or the exchange's turn, else never. `after` is told the new columns.
        """
        new = self._columns(row, changes, event=event, to=to, now=now)
        always = {name: new.get(name, getattr(row, name)) for name in self.always_shown}
        shown = {name: value for name, value in new.items() if name not in self.unrecorded} | always
        before = {name: getattr(row, name) for name in shown}
        try:
            with transaction.atomic():
                if self.locked_with is not None:
                    self.lock(row.pk)
                self.record(row, event, before, shown, actor=actor, evidence=evidence, now=now, session_key=session_key)
                if self._same(row).update(**new) != 1:
                    raise CannotMove(f"{self.named(row)} was changed by somebody else meanwhile.")
                after(new)
        except IntegrityError as error:
            raise CannotMove(f"The database refused {event!r} of {self.named(row)}: {error}") from error
        _carry(row, new)

    def record(
        self,
        row: Any,
        event: str,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        *,
        actor: "Person | None",
        evidence: Mapping[str, Any] | None,
        now: datetime,
        session_key: str,
    ) -> None:
        """The trail's row and the event row, before the update: a trigger refuses a version that has no event."""
        facts, told = texts(evidence or {}), self.trail(row, event)
        written = audit.record(
            actor=actor,
            action=told.action,
            subject=told.subject,
            before=texts(before),
            after={**texts(after), **told.also, "evidence": facts},
            now=now,
            session_key=session_key,
        )
        self.events._default_manager.create(
            **{self.owner: row.pk},
            version=after["version"],
            event=event,
            from_state=before.get("state", ""),
            to_state=after["state"],
            actor=actor,
            evidence=facts,
            audit_number=written.seq,
            at=now,
            **self.kept(after),
        )

    def _columns(self, row: Any, changes: Mapping[str, Any], *, event: str, to: str, now: datetime) -> dict[str, Any]:
        """Everything that the move writes."""
        if (row.state, event, to) not in self.allowed:
            raise CannotMove(f"There is no move {event!r} from {row.state or 'nothing'} to {to}.")
        new = dict(changes)
        if to in self.at_rest:
            new |= {"next_action_at": None, "lease_until": None}
        elif "next_action_at" not in new:
            new["next_action_at"] = now if self.states[to].turn in {WORKER, EXCHANGE} else None
        return new | {"state": to, "version": row.version + 1, "updated_at": now}

    def _same(self, row: Any) -> Any:
        return self.model._default_manager.filter(pk=row.pk, state=row.state, version=row.version)


def ends(table: Mapping[str, State]) -> frozenset[str]:
    """The states of a table that nothing leaves by itself."""
    return frozenset(name for name, state in table.items() if state.terminal)


def announce(*, subject: str, topic: str, number: int, state: str, version: int, **more: Any) -> None:
    """Hints after commit to the pages that show the row, alone or in a list."""
    announcements.announce(subject, state=state, version=version)
    announcements.announce(topic, id=number, **more, state=state, version=version)


def wake_if_due(task: str, number: int, next_action_at: datetime | None, now: datetime) -> None:
    """Wake a worker after commit where there is something to do at once."""
    if next_action_at is not None and next_action_at <= now:
        outbox.wake(task, number)


def texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The same mapping in JSON's own types, exact and without secrets: decimals and times as text, rows as numbers."""
    result: dict[str, Any] = json.loads(audit.canonical({name: _bare(value) for name, value in values.items()}))
    return result


def _bare(value: Any) -> Any:
    """Rows as their numbers, and equal amounts as equal texts, as the database gives them back."""
    if isinstance(value, models.Model):
        return value.pk
    return plain(value) if isinstance(value, Decimal) else value


def _carry(row: Any, columns: Mapping[str, Any]) -> None:
    for name, value in columns.items():
        setattr(row, name, value)
