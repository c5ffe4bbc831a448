"""The one mover of all rows that have a table of states: nothing else writes their `state` and `version`.

A move is one transaction: a conditional UPDATE on (id, state, version), an event row, a row of the audit trail, hints
to the pages that show the row, and a wake-up call where there is something to do at once. Of two movers that read the
same version one wins, and the other gets CannotMove. There are no callbacks: whatever else a room does, it does before
or after the move in the same transaction.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, Generic, TypeVar

from django.db import IntegrityError, connection, models, transaction

from desk import outbox
from desk.audit import trail
from desk.fields import plain
from desk.live import announcements
from desk.machines.rows import Event, Subject
from desk.machines.table import Column, Table
from desk.models import Person
from desk.people import scopes

R = TypeVar("R", bound=Subject)
_COPIED = ("decision", "changes")  # columns that an event has beside those that all have


class CannotMove(RuntimeError):
    """The row has changed since the mover read it, or the table has no such move. Nothing was written."""


@dataclass(frozen=True)
class Machine(Generic[R]):
    """A table of states and the rows that move by it.

    `task` does the next step of a row, in some states another one of `tasks`. Pages follow one row by `topic`, a format
    of the row's attributes, and lists by `lists`. `locked_with` are the related rows to read with a locked row; None
    means that the callers take a lock of their own.
    """

    model: type[R]
    events: type[Event]
    task: str
    lists: tuple[str, ...] = ()
    topic: str = "{0.subject}"
    tasks: Mapping[str, str] = field(default_factory=dict)
    locked_with: tuple[str, ...] | None = ()

    @property
    def table(self) -> Table:
        """The states and moves."""
        return self.model.table

    @cached_property
    def owner(self) -> str:
        """The column of an event that names its row."""
        return next(
            each.attname
            for each in self.events._meta.concrete_fields
            if each.is_relation and each.related_model is self.model
        )

    @cached_property
    def _copied(self) -> frozenset[str]:
        return frozenset(each.name for each in self.events._meta.concrete_fields if each.name in _COPIED)

    def task_of(self, state: str) -> str:
        """The task that does the next step of a row in this state."""
        return self.tasks.get(state, self.task)

    def lock(self, number: int) -> R:
        """Read the row and lock it until the transaction ends, where the engine can.

        Correctness rests on the conditional update alone; the lock only spares the loser a failed attempt. It is always
        taken before the audit trail's turn, so that two movers can't wait for each other. Raises the model's
        DoesNotExist.
        """
        rows = self.model._default_manager.select_related(*(self.locked_with or ()))
        if connection.features.has_select_for_update:
            rows = rows.select_for_update(of=("self",))
        row: Any = rows.get(pk=number)
        return row  # type: ignore[no-any-return]  # of the model of this machine

    def create(
        self,
        row: R,
        *,
        now: datetime,
        event: str = "created",
        to: str = "",
        actor: Person | None = None,
        evidence: Mapping[str, Any] | None = None,
        session_key: str = "",
        facts: Mapping[str, Any] | None = None,
    ) -> R:
        """Store a new row with its first event; the trail records `facts` together with the recorded columns.

        Raises IntegrityError where an equal row exists (of the same person and request key, for instance).
        """
        row.state, row.version = to or self.table.born[0], 1
        row.created_at = row.updated_at = now
        row.next_action_at = self._due(row.state, now)
        with transaction.atomic():
            _refuse_stranger(row, actor)
            row.save(force_insert=True)
            recorded = (*self.table.named(Column.RECORDED), *self.table.named(Column.DECISION), "state", "version")
            after = {name: getattr(row, name) for name in recorded} | dict(facts or {})
            self.record(row, event, {}, after, actor=actor, evidence=evidence, now=now, session_key=session_key)
            self._announce(row, now)
        return row

    def create_unrecorded(self, row: R, *, event: str, to: str, evidence: Mapping[str, Any], now: datetime) -> R:
        """Store a row of something that happened elsewhere. The trail begins with what somebody here does about it."""
        row.state, row.version, row.created_at, row.updated_at = to, 1, now, now
        with transaction.atomic():
            row.save(force_insert=True)
            columns = {"version": 1, "event": event, "to_state": to, "evidence": texts(evidence), "at": now}
            self.events._default_manager.create(**{self.owner: row.pk}, **columns)
            self._announce(row, now)
        return row

    def move(
        self,
        row: R,
        *,
        event: str,
        to: str,
        now: datetime,
        actor: Person | None = None,
        evidence: Mapping[str, Any] | None = None,
        session_key: str = "",
        **changes: Any,
    ) -> R:
        """Move the row from the state and version that it carries to `to`, with `changes` to other columns.

        `row` is updated and returned. Raises CannotMove when the table has no such move or somebody was faster. Without
        a `next_action_at` the row is due at once in states in which the desk goes on by itself.
        """
        new = self._columns(row, changes, event=event, to=to, now=now)
        always = {name: new.get(name, getattr(row, name)) for name in self.table.named(Column.DECISION)}
        recorded = {name: value for name, value in new.items() if name not in self.table.unrecorded} | always
        before = {name: getattr(row, name) for name in recorded}
        try:
            with transaction.atomic():
                if self.locked_with is not None:
                    self.lock(row.pk)
                _refuse_stranger(row, actor)
                self.record(
                    row, event, before, recorded, actor=actor, evidence=evidence, now=now, session_key=session_key
                )
                if self._as_read(row).update(**new) != 1:
                    raise CannotMove(f"{row.reference} was changed by someone else in the meantime.")
        except IntegrityError as error:
            raise CannotMove(f"The database rejected {event!r} for {row.reference}: {error}") from error
        _carry(row, new)
        self._announce(row, now)
        return row

    def touch(self, row: R, **columns: Any) -> bool:
        """Change columns that decide nothing; False when the row is no longer at this state and version.

        Pages that show the row are notified when the sentence about the last attempt changes.
        """
        touchable = self.table.named(Column.TOUCHED)
        if wrong := sorted(columns.keys() - set(touchable)):
            raise ValueError(f"Only a state transition can change {wrong}.")
        previous_problem = str(row.last_problem)
        if self._as_read(row).update(**columns) != 1:
            return False
        _carry(row, columns)
        if row.last_problem != previous_problem:
            announcements.announce(self.topic.format(row), state=row.state, version=row.version)
        return True

    def announce(self, row: R, now: datetime) -> None:
        """Hints after commit to the pages that show the row, and a wake-up call where something is due at once."""
        self._announce(row, now)

    def _announce(self, row: R, now: datetime) -> None:
        announcements.announce(self.topic.format(row), state=row.state, version=row.version)
        for topic in self.lists:
            announcements.announce(topic, id=row.pk, state=row.state, version=row.version)
        if row.next_action_at is not None and row.next_action_at <= now:
            outbox.wake(self.task_of(row.state), row.pk)

    def record(
        self,
        row: R,
        event: str,
        before: Mapping[str, Any],
        after: Mapping[str, Any],
        *,
        actor: Person | None,
        evidence: Mapping[str, Any] | None,
        now: datetime,
        session_key: str,
    ) -> None:
        """Write the row of the trail and the event, before the update: a trigger refuses a version without an event."""
        facts = texts(evidence or {})
        written = trail.record(
            actor=actor,
            action=row.action(event),
            subject=row.subject,
            before=texts(before),
            after={**texts(after), **row.trail_facts(), "evidence": facts},
            now=now,
            session_key=session_key,
        )
        copied = {"decision": after.get("decision"), "changes": texts(after)}
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
            **{name: copied[name] for name in self._copied},
        )

    def _columns(self, row: R, changes: Mapping[str, Any], *, event: str, to: str, now: datetime) -> dict[str, Any]:
        if (row.state, event, to) not in self.table.allowed:
            raise CannotMove(f"There is no transition {event!r} from {row.state or 'nothing'} to {to}.")
        new = dict(changes)
        if to in self.table.resting:
            new |= {"next_action_at": None, "lease_until": None}
        elif "next_action_at" not in new:
            new["next_action_at"] = self._due(to, now)
        return new | {"state": to, "version": row.version + 1, "updated_at": now}

    def _due(self, state: str, now: datetime) -> datetime | None:
        return now if state in self.table.at_work and state not in self.table.resting else None

    def _as_read(self, row: R) -> Any:
        return self.model._default_manager.filter(pk=row.pk, state=row.state, version=row.version)


@dataclass(frozen=True)
class Unrecorded(Machine[R]):
    """A machine of rows that decide and prove nothing: a move writes no event and no row of the trail.

    Its `events` is the base model of all events, to which nothing is written.
    """

    def record(self, *_: Any, **__: Any) -> None:
        """Record nothing."""


def texts(values: Mapping[str, Any]) -> dict[str, Any]:
    """The mapping in JSON's own types, exact and without secrets: decimals and times as text, rows as their numbers."""
    result: dict[str, Any] = json.loads(trail.canonical({name: _bare(value) for name, value in values.items()}))
    return result


def _bare(value: Any) -> Any:
    """Rows as their numbers, and equal amounts as equal texts, as the database gives them back."""
    if isinstance(value, models.Model):
        return value.pk
    return plain(value) if isinstance(value, Decimal) else value


def _refuse_stranger(row: models.Model, actor: Person | None) -> None:
    """Check once more, by the person's current row, that they have a role at the row's account.

    The room has checked the person as they were read before. Raises CannotMove. One query for each move by a person.
    """
    scope = getattr(row, "scope", "")
    if actor is None or not scope:
        return
    limited = Person.objects.filter(pk=actor.pk).exclude(limits="").first()
    if limited is not None and not scopes.may_see(limited, scope):
        raise CannotMove(f"{actor} no longer has a role for this account.")


def _carry(row: models.Model, columns: Mapping[str, Any]) -> None:
    for name, value in columns.items():
        setattr(row, name, value)
