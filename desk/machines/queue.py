"""The rows of a machine as a queue: what is due, one step of a row, and a sweep over everything that is due.

There is no other queue than the rows: each says when it is due, and a worker claims it by a move. A lost wake-up call
delays a row until the next sweep; a row that fails does not delay the others.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import structlog
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from desk.audit import clock_falls
from desk.machines.lanes import LANES, WAIT_S, Job
from desk.machines.mover import CannotMove, Machine
from desk.machines.rows import Subject
from desk.machines.step_clock import Stopwatch

R = TypeVar("R", bound=Subject)
Step = Callable[..., None]
MOST_STEPS = 8  # of one row in one sweep, so that a row that is always due does not delay the others for long
_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Queue(Generic[R]):
    """The steps of a machine, by state. Each is called with the row, `now`, and what the worker brings (a client, ...).

    `urgency` names states or conditions; rows that meet them come first, in that order. `also_due` is a further
    condition under which rows are due. `read_with` are the related rows to read with each. A row whose step raised is
    due again after `after_failure`. A sweep begins no further row after `sweep_for` and takes at most `at_once` rows.
    `lane` names the columns whose rows share a lane: rows of other lanes never wait for their calls (`lanes`).
    """

    machine: Machine[R]
    steps: Mapping[str, Step]
    urgency: tuple[str | Q, ...] = ()
    also_due: Callable[[datetime], Q] | None = None
    read_with: tuple[str, ...] = ()
    after_failure: timedelta = timedelta(seconds=15)
    sweep_for: timedelta = timedelta(seconds=20)
    most_steps: int = 1
    at_once: int | None = None
    lane: tuple[str, ...] = ()

    def due(self, *, now: datetime, when: Q | None = None) -> QuerySet[R]:
        """The rows that are due, the urgent ones first; `when` is a further condition under which rows are due."""
        condition = Q(next_action_at__lte=now) | clock_falls.timers_before_the_fall(now)
        for other in (when, self.also_due and self.also_due(now)):
            condition = condition if other is None else condition | other
        rows: Any = self.machine.model._default_manager.filter(condition, state__in=list(self.steps))
        conditions = [one if isinstance(one, Q) else Q(state=one) for one in self.urgency]
        ranks = [When(each, then=Value(rank)) for rank, each in enumerate(conditions)]
        # A case without a choice is a constant, which PostgreSQL takes for the number of a column.
        urgency = [Case(*ranks, default=Value(len(ranks)), output_field=IntegerField())] if ranks else []
        queue: QuerySet[R] = rows.order_by(*urgency, "next_action_at", "pk")
        return queue

    def advance(self, number: int, *, now: datetime, due: QuerySet[R] | None = None, **outside: Any) -> bool:
        """Do one step of one row if it is due; whether it was. Losing a race is no error."""
        rows = self.due(now=now) if due is None else due
        row = rows.select_related(*self.read_with).filter(pk=number).first()
        if row is None:
            return False
        try:
            self.steps[row.state](row, now=now, **outside)
        except CannotMove as lost:
            _log.info("machines.step_lost", row=row.subject, reason=str(lost))
        return True

    def sweep(self, *, now: datetime, **outside: Any) -> int:
        """Work on all due rows, the urgent ones first; the number of steps. Several processes may do so at once."""
        watch, rows = Stopwatch(now), self.due(now=now).values_list("pk", *self.lane)[: self.at_once]

        def advance(number: int, at: datetime) -> bool:
            return self.advance(number, now=at, **outside)

        if not self.lane:
            return self.work([row[0] for row in rows], watch, advance)
        return LANES.put([self.job(row[0], row[1:], watch, advance) for row in rows], wait_s=WAIT_S)

    def look(self, number: int, *, now: datetime, **outside: Any) -> None:
        """Do one step of one row, in its lane, if it is due."""
        lane = self.machine.model._default_manager.filter(pk=number).values_list(*self.lane).first()
        if lane is not None:
            watch = Stopwatch(now)
            run = lambda: int(self.advance(number, now=watch.now(), **outside))  # noqa: E731
            LANES.put([Job((self.machine.model.__name__, *lane), number, run)])

    def job(
        self, number: int, lane: Sequence[object], watch: Stopwatch, advance: Callable[[int, datetime], bool]
    ) -> Job:
        """The steps of this row as a job of its lane. It does nothing where its turn comes after `sweep_for`."""

        def run() -> int:
            return 0 if watch.passed() > self.sweep_for else self._run(number, watch, advance)

        return Job((self.machine.model.__name__, *lane), number, run)

    def work(self, numbers: Iterable[int], watch: Stopwatch, advance: Callable[[int, datetime], bool]) -> int:
        """Do the steps of these rows, each until it has to wait; the number of steps. Stops after `sweep_for`."""
        steps = 0
        for number in numbers:
            steps += self._run(number, watch, advance)
            if watch.passed() > self.sweep_for:
                break
        return steps

    def _run(self, number: int, watch: Stopwatch, advance: Callable[[int, datetime], bool]) -> int:
        for steps in range(self.most_steps):
            try:
                if not advance(number, watch.now()):
                    return steps
            except Exception:
                _log.exception("machines.step_failed", row=f"{self.machine.model.name}:{number}")
                now = watch.now()
                rows = self.machine.model._default_manager.filter(pk=number, next_action_at__lte=now)
                rows.update(next_action_at=now + self.after_failure)
                return steps + 1
        return self.most_steps
