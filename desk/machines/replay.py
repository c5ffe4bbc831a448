"""Rebuilds the rows of a machine from the audit trail alone, and compares the result with its rows and events.

Called by `verify_audit --replay`. Each event of the trail says what the row was and what it became. A row, an event or
a decision that was changed without the mover shows as a difference.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from desk.machines.mover import Machine, texts

if TYPE_CHECKING:
    from desk.models import AuditEvent


class Votes(Protocol):
    """Counts people's votes again from the trail."""

    def note(self, event: "AuditEvent", name: str, number: int, after: Any) -> Iterator[str]:
        """Take note of one event; a sentence where it counts a vote that does not count."""

    def compare(self) -> Iterator[str]:
        """A sentence for every stored vote without an event or without proof, and for every missing one."""


@dataclass(frozen=True)
class Replay:
    """How the trail records the rows of one machine.

    `not_moves` are actions that move nothing. `numbered_by` is the fact of an event that names the row, where the
    subject names something else. With `enter_late` a row is in the trail only from the first thing that somebody here
    did about it. Events from before the trail recorded versions are followed by state alone.
    """

    machine: Machine[Any]
    not_moves: frozenset[str] = frozenset()
    numbered_by: str = ""
    enter_late: bool = False
    votes: Callable[[], Votes] | None = None

    @property
    def subject(self) -> str:
        """The name with which the subjects of its events begin."""
        return str(self.machine.model.name)

    def check(self, events: Iterator["AuditEvent"]) -> Iterator[str]:
        """A sentence for every difference between trail, events and rows."""
        rebuilt: dict[int, dict[str, Any]] = {}
        moves: dict[tuple[int, int], int] = {}
        votes = self.votes() if self.votes else None
        for event in events:
            after = event.after
            number = int(after[self.numbered_by] if self.numbered_by else event.subject.split(":", 1)[1])
            name = event.action.removeprefix(f"{self.subject}.")
            if name in self.not_moves:
                continue
            row = rebuilt.setdefault(number, {})
            if self.enter_late and not row and event.before:
                row |= event.before
            name = name.removeprefix(f"{row.get('kind', after.get('kind'))}_") if self.numbered_by else name
            yield from self._odd_step(event, number, name, row)
            if votes is not None:
                yield from votes.note(event, name, number, after)
            row |= after
            if "version" in after:
                moves[number, int(after["version"])] = event.seq
            else:
                row.pop("version", None)
        yield from self._compare_rows(rebuilt)
        yield from self._compare_events(moves)
        if votes is not None:
            yield from votes.compare()

    def _odd_step(self, event: "AuditEvent", number: int, name: str, row: dict[str, Any]) -> Iterator[str]:
        seq, before, after = event.seq, event.before, event.after
        source, target, which = row.get("state", ""), after.get("state"), self._named(number)
        if (source, name, target) not in self.machine.table.allowed:
            yield f"Event {seq}: {which} moved from {source or 'nothing'} to {target} by {name}, which is not allowed."
        if "version" not in after or (row and "version" not in row):
            return
        if row and (before.get("version"), before.get("state")) != (row.get("version"), row.get("state")):
            yield f"Event {seq}: {which} does not follow from the previous event."
        if after["version"] != row.get("version", 0) + 1:
            yield f"Event {seq}: {which} skips to version {after['version']}."

    def _compare_rows(self, rebuilt: dict[int, dict[str, Any]]) -> Iterator[str]:
        table, numbers = self.machine.table, set()
        columns = {name for each in self.machine.model._meta.concrete_fields for name in (each.name, each.attname)}
        for row in self.machine.model._default_manager.order_by("pk").iterator(chunk_size=500):
            numbers.add(row.pk)
            expected = rebuilt.get(row.pk)
            if expected is None:
                if not self.enter_late or row.initiator_id is not None or row.version > 1:
                    yield f"{self._named(row.pk)} is in the table but not in the trail."
                continue
            names = [name for name in expected if name in columns and name not in table.beside_the_trail]
            actual = texts({name: getattr(row, name) for name in names})
            yield from (
                f"{self._named(row.pk)}: {name} is {actual[name]!r} in the table but {expected[name]!r} in the trail."
                for name in names
                if actual[name] != expected[name]
            )
        for number in sorted(rebuilt.keys() - numbers):
            yield f"{self._named(number)} is in the trail but not in the table."

    def _compare_events(self, moves: dict[tuple[int, int], int]) -> Iterator[str]:
        rows = self.machine.events._default_manager.filter(audit_number__isnull=False).order_by("pk")
        numbers = {
            (number, version or 0): seq
            for number, version, seq in rows.values_list(self.machine.owner, "version", "audit_number").iterator(
                chunk_size=1000
            )
        }
        for number, version in sorted(numbers.keys() | moves.keys()):
            if numbers.get((number, version)) != moves.get((number, version)):
                yield f"{self._named(number)}, version {version}: its event does not match the trail."

    def _named(self, number: int) -> str:
        return f"{self.machine.model.mark}{number}"
