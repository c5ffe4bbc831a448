"""Questions that only a worker can answer: asked once, with the answer stored and announced.

A page writes a row and goes on. A worker that it wakes finds the answer, writes it and announces it; the page reads its
row again. There is one row for a question, however often and by whomever it is asked. The row is the queue: where a
wake-up call or a worker is lost, the question is asked again after a while. The rooms know what is asked and what an
answer says; this module decides when to ask, by the rule that each room declares.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q, QuerySet

from desk import clock, outbox
from desk.live import announcements

if TYPE_CHECKING:
    from desk.models import Person

LONGEST_PROBLEM = 300  # characters


class Question(models.Model):
    """Who asked last and when, and when it was answered; empty while it waits. `problem` says why it could not be."""

    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    requested_at = models.DateTimeField()
    answered_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=LONGEST_PROBLEM, default="", blank=True)

    class Meta:
        abstract = True


Row = TypeVar("Row", bound=Question)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule(Generic[Row]):
    """How one kind of question is asked, and when it is asked again.

    `task` is woken with the number of the row, or without arguments where it `looks_at_all` waiting rows. `topic` and
    the values of `hint` are formats of the row's attributes, for instance "addresscheck:{row.pk}". An answer is valid
    for `fresh_for` from the time in the column `fresh_since`, and never without `fresh_for`; a problem is valid for
    `problem_for`, where that is shorter. A question without an answer counts as lost after `lost_after`. When it is
    asked again, the row gets the columns of `asked_anew`; the others show the old answer until there is a new one.
    """

    model: type[Row]
    task: str
    topic: str
    lost_after: timedelta
    fresh_for: timedelta | None = None
    fresh_since: str = "answered_at"
    problem_for: timedelta | None = None
    asked_anew: Mapping[str, Any] = field(default_factory=lambda: {"problem": ""})
    hint: Mapping[str, str] = field(default_factory=dict)
    looks_at_all: bool = False

    def __post_init__(self) -> None:
        for name in (*self.asked_anew, self.fresh_since):
            self.model._meta.get_field(name)
        if any(time <= timedelta() for time in (self.lost_after, self.fresh_for, self.problem_for) if time is not None):
            raise ValueError(f"{self.model.__name__} would be asked again forever: its intervals must be positive.")

    def ask(self, *, person: "Person | None", now: datetime, anew: bool = False, **question: Any) -> Row:
        """The row of a question, which is asked if that is due; `anew` asks in any case. `question` identifies the row.

        Of several who ask at once, one wakes a worker. Raises what the columns don't accept, and asks nothing then.
        """
        rows = self.model._default_manager
        row, is_new = rows.get_or_create(**question, defaults={"requested_by": person, "requested_at": now})
        request = {"requested_by": person, "requested_at": now, "answered_at": None, **self.asked_anew}
        if is_new or rows.filter(Q() if anew else self.due(now), pk=row.pk).update(**request):
            outbox.wake(self.task, *(() if self.looks_at_all else (row.pk,)))
            row.refresh_from_db()
        return row

    def due(self, now: datetime) -> Q:
        """The condition that asking is due: the answer is too old, was a problem, or never came."""
        again = Q(answered_at=None) & clock.older("requested_at", now - self.lost_after, now=now, or_same=True)
        if self.fresh_for is None:
            return again | Q(answered_at__isnull=False)
        old = clock.older(self.fresh_since, now - self.fresh_for, now=now, or_same=True)
        again |= Q(answered_at__isnull=False) & old
        if self.problem_for is not None:
            again |= ~Q(problem="") & clock.older("answered_at", now - self.problem_for, now=now, or_same=True)
        return again

    def waiting(self) -> QuerySet[Row]:
        """The questions without an answer. A worker reads the row first and passes it to `answer` afterwards."""
        return self.model._default_manager.filter(answered_at=None)

    def answer(self, row: Row, *, now: datetime, problem: str = "", **columns: Any) -> bool:
        """Write and announce the answer to a question as the worker has read it; whether it was still waiting.

        A question that was answered or asked anew meanwhile is left as it is: the newer one has a worker of its own.
        """
        same = self.waiting().filter(pk=row.pk, requested_at=row.requested_at)
        # Text from outside may hold a character that PostgreSQL can't store; the question would wait for ever.
        problem = problem.replace("\0", "")[:LONGEST_PROBLEM]
        if not same.update(answered_at=now, problem=problem, **columns):
            return False
        hint = {name: text.format(row=row) for name, text in self.hint.items()}
        announcements.announce(self.topic.format(row=row), **hint)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Periodic:
    """What is read at regular intervals, and at once when somebody asks: two times in columns of a row.

    `requested` is the column of the last request, `tried` that of the time before the last call, whatever its outcome.
    So a request during a call is still due afterwards. `requested_by`, where there is such a column, says who asked.
    Several rows are read in one round, by one process at a time, so that asking twice costs nothing.
    """

    requested: str
    tried: str
    every: timedelta
    requested_by: str = ""

    def want(self, rows: QuerySet[Any], *, now: datetime, person: "Person | None" = None) -> None:
        """Have these rows read sooner. The caller wakes the worker, once for all kinds that it asks for."""
        columns: dict[str, Any] = {self.requested: now}
        if self.requested_by:
            columns[self.requested_by] = person
        rows.update(**columns)

    def due(self, now: datetime) -> Q:
        """The condition that a row is due: it was never tried, not for a long time, or not since the last request."""
        old = clock.older(self.tried, now - self.every, now=now, or_same=True)
        # One request from before the clock fell back would be due until the clock has reached it again.
        request = Q(**{f"{self.requested}__gt": F(self.tried), f"{self.requested}__lte": now + clock.TOLERANCE})
        return Q(**{self.tried: None}) | old | request


@dataclass(frozen=True, slots=True, kw_only=True)
class Interest:
    """Rows that workers keep up to date while somebody looks at them; the column `asked_at` says when somebody last
    did.

    An open page asks again at least twice in `looked_at_for`. This is written only once in `noted_every`, so that many
    pages don't keep writing one row.
    """

    model: type[models.Model]
    looked_at_for: timedelta = timedelta(seconds=60)
    noted_every: timedelta = timedelta(seconds=10)

    def note(self, asked_at: Mapping[int, datetime], *, now: datetime) -> int:
        """Record that somebody looks at these rows, by number; how many were written, since they were not lately.

        `asked_at` is as it was just read. Of several callers at the same time, only one writes a row and counts it.
        """
        old = [number for number, when in asked_at.items() if clock.has_passed(self.noted_every, since=when, now=now)]
        if not old:
            return 0
        earlier = clock.older("asked_at", now - self.noted_every, now=now, or_same=True)
        rows = self.model._default_manager.filter(earlier, pk__in=old)
        return rows.update(asked_at=now)

    def looked_at(self, now: datetime) -> Q:
        """The condition that somebody looks at a row."""
        return clock.recent("asked_at", now - self.looked_at_for, now=now)
