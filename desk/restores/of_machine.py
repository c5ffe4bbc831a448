"""The declaration of which rows of a machine wait to be sent; it makes the room's source (`waiting.Source`)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final, Generic, TypeVar

from django.db import connection
from django.db.models import Exists, OuterRef

from desk.machines.mover import Machine
from desk.machines.rows import Subject
from desk.restores import signs, states
from desk.restores.models import Restore, RestoreEvent
from desk.restores.waiting import Act, Item, Source

R = TypeVar("R", bound=Subject)
LOOK_AGAIN: Final = timedelta(seconds=15)


def no_evidence(row: Any) -> Sequence[str]:
    """No evidence: for rows of which no outside system shows anything that the desk reads."""
    return ()


def left_to_people(machine: Machine[R], row: R, *, now: datetime) -> bool:
    """Whether the row stays as it is because two people judge it after a restore; it is due again a little later.

    Asked where a row that waits to be sent would end by itself. What the database lost may have sent it, so no worker
    says meanwhile that nothing was.
    """
    if not (problem := signs.check(now=now)):
        return False
    notice = Restore.objects.get(state=states.OPEN).notice
    if not _events_before(machine, notice).filter(**{machine.owner: row.pk}).exists():
        return False
    machine.touch(row, next_action_at=now + LOOK_AGAIN, last_problem=problem)
    return True


def _events_before(machine: Machine[Any], notice: RestoreEvent) -> Any:
    return machine.events._default_manager.filter(audit_number__lt=notice.audit_number)


@dataclass(frozen=True)
class Waits(Generic[R]):
    """Rows of a machine that wait to be sent.

    `ends` gives, for each state in which a row waits, the event and the state by which a cancelled row ends; `columns`
    gives the other columns written then. `evidence` gives sentences about what outside systems show of a row.
    """

    machine: Machine[R]
    ends: Mapping[str, tuple[str, str]]
    title: Callable[[R], str]
    url: Callable[[R], str]
    asked_by: Callable[[R], int | None]
    evidence: Callable[[R], Iterable[str]] = no_evidence
    columns: Callable[[Act], Mapping[str, Any]] = lambda act: {}
    read_with: tuple[str, ...] = ()

    @property
    def source(self) -> Source:
        """The source for the desk."""
        return Source(self.machine.model.name, self.items, self.lock, self.cancel, self.go_on)

    def items(self, notice: RestoreEvent) -> Iterator[Item]:
        """The waiting rows that were there when the restore was noticed."""
        earlier = _events_before(self.machine, notice)
        rows = self._rows().filter(
            Exists(earlier.filter(**{self.machine.owner: OuterRef("pk")})), state__in=list(self.ends)
        )
        for row in rows.order_by("pk"):
            yield Item(
                subject=row.subject,
                reference=row.reference,
                title=self.title(row),
                label=row.label,
                url=self.url(row),
                since=row.created_at,
                state=f"{row.state}|{getattr(row, 'digest', '')}",
                asked_by=self.asked_by(row),
                evidence=tuple(self.evidence(row)),
            )

    def lock(self, numbers: Collection[int]) -> None:
        """Keep the rows from workers until the transaction ends, where the engine can."""
        if numbers and connection.features.has_select_for_update:
            rows = self.machine.model._default_manager.filter(pk__in=numbers).order_by("pk")
            list(rows.select_for_update(of=("self",)))

    def cancel(self, number: int, act: Act) -> None:
        """End the row if it still waits."""
        row: Any = self._rows().get(pk=number)
        if row.state in self.ends:
            event, to = self.ends[row.state]
            self.machine.move(
                row,
                event=event,
                to=to,
                now=act.now,
                actor=act.person,
                session_key=act.session_key,
                evidence=act.evidence,
                last_problem=f"Cancelled by two people after restore {act.restore}.",
                **self.columns(act),
            )

    def go_on(self, number: int, act: Act) -> None:
        """Make the row due at once."""
        rows = self.machine.model._default_manager.filter(pk=number, state__in=list(self.ends))
        rows.filter(next_action_at__isnull=False).update(next_action_at=act.now)

    def _rows(self) -> Any:
        return self.machine.model._default_manager.select_related(*self.read_with)
