"""The rows of a machine as a queue: what is due, one step of a row, and a sweep over everything that is due.

The row is the queue: it says when somebody has to look at it, and a worker that takes it claims it by its move. A lost
wake-up call costs one sweep; a row that fails keeps no other one waiting.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, TypeVar

import structlog
from django.db.models import Case, IntegerField, Q, QuerySet, Value, When

from desk.machines.mover import CannotMove, Machine
from desk.machines.rows import Subject
from desk.machines.step_clock import Stopwatch

R = TypeVar("R", bound=Subject)
Step = Callable[..., None]
MOST_STEPS = 8  # of one row in one sweep, so that one which never waits keeps nobody else waiting for long
_log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class Queue(Generic[R]):
    """The steps of a machine, by state. Each is called with the row, `now`, and what the worker brings (a client, ...).

    What `urgency` names comes first, in that order: states, or conditions. `also_due` is a reason besides a row's own
    time. `read_with` are the rows that are read together with one. `after_failure` is how long a row rests whose step
    raised; a sweep begins no other row after `sweep_for`, and looks at `at_once` rows at most.
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

    def due(self, *, now: datetime, when: Q | None = None) -> QuerySet[R]:
        """Rows that a worker has to look at now, the urgent first; `when` is one more reason than their own time."""
        condition = Q(next_action_at__lte=now)
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
        """One step of one row, when it is due; True when there was something to do. Losing a race is not an error."""
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
        """Everything that is due, the urgent first; gives the number of steps. Any process that calls out may do it."""
        numbers = list(self.due(now=now).values_list("pk", flat=True)[: self.at_once])
        return self.work(numbers, Stopwatch(now), lambda number, at: self.advance(number, now=at, **outside))

    def work(self, numbers: Iterable[int], watch: Stopwatch, advance: Callable[[int, datetime], bool]) -> int:
        """Steps of these rows, each until it has to wait; the number of steps. Ends when its time is over."""
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
