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

    States in `urgency` come first, in that order. `read_with` are the rows that are read together with one.
    `after_failure` is how long a row rests whose step raised, `sweep_for` after how long a sweep begins no other row.
    """

    machine: Machine[R]
    steps: Mapping[str, Step]
    urgency: tuple[str, ...] = ()
    read_with: tuple[str, ...] = ()
    after_failure: timedelta = timedelta(seconds=15)
    sweep_for: timedelta = timedelta(seconds=20)
    most_steps: int = 1

    def due(self, *, now: datetime, when: Q | None = None) -> QuerySet[R]:
        """Rows that a worker has to look at now, the urgent first; `when` is another reason than their own time."""
        condition = Q(next_action_at__lte=now) if when is None else Q(next_action_at__lte=now) | when
        rows: Any = self.machine.model._default_manager.filter(condition, state__in=list(self.steps))
        ranks = [When(state=state, then=Value(rank)) for rank, state in enumerate(self.urgency)]
        # A case without a choice is a constant, which PostgreSQL takes for the number of a column.
        urgency = [Case(*ranks, default=Value(len(ranks)), output_field=IntegerField())] if ranks else []
        found: QuerySet[R] = rows.order_by(*urgency, "next_action_at", "pk")
        return found

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

    def sweep(
        self,
        numbers: Iterable[int],
        *,
        watch: Stopwatch,
        advance: Callable[[int, datetime], bool],
    ) -> int:
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
