"""Somebody wants to know something that only a worker can find out: ask once, keep the answer, say when it came.

A page writes a row and goes on; a worker that it wakes finds out, writes the answer and announces it; the page reads
its row again. One row is one question, however often and by whomever it is asked. The row is the queue: a wake-up call
or a worker that is lost costs a moment, for the question is put again when its time is over. What is asked, and what
an answer says, is known to the rooms above; here is only when, and each of them declares how it differs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q, QuerySet

from desk import outbox
from desk.live import announcements

if TYPE_CHECKING:
    from desk.models import Person

LONGEST_PROBLEM = 300  # characters


class Question(models.Model):
    """Who asked last and when, and when that was answered: empty as long as it waits. `problem` is why it was not."""

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

    `task` is woken with the number of the row, or with nothing when it `looks_at_all` that wait. `topic` and the values
    of `hint` name attributes of the row, for instance "addresscheck:{row.pk}". An answer counts for `fresh_for` from
    the moment in the column `fresh_since`, and not at all when `fresh_for` is empty; an answer that is a problem counts
    for `problem_for`, where that is shorter. A question without an answer is lost after `lost_after`. Asked again, the
    row gets `asked_anew`; its other columns show the old answer until there is a new one.
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
            raise ValueError(f"{self.model.__name__} would be asked again for ever: its times have to be positive.")

    def ask(self, *, person: "Person | None", now: datetime, anew: bool = False, **question: Any) -> Row:
        """The row of a question, asked when that is due; `anew` asks in any case. `question` is what makes it one row.

        Of several who ask at once one wakes a worker. What the columns don't take is raised, and nothing is asked.
        """
        rows = self.model._default_manager
        row, is_new = rows.get_or_create(**question, defaults={"requested_by": person, "requested_at": now})
        request = {"requested_by": person, "requested_at": now, "answered_at": None, **self.asked_anew}
        if is_new or rows.filter(Q() if anew else self.due(now), pk=row.pk).update(**request):
            outbox.wake(self.task, *(() if self.looks_at_all else (row.pk,)))
            row.refresh_from_db()
        return row

    def due(self, now: datetime) -> Q:
        """That a question is asked when somebody wants to know: its answer is old, was a problem, or never came."""
        again = Q(answered_at=None, requested_at__lte=now - self.lost_after)
        if self.fresh_for is None:
            return again | Q(answered_at__isnull=False)
        again |= Q(answered_at__isnull=False, **{f"{self.fresh_since}__lte": now - self.fresh_for})
        if self.problem_for is not None:
            again |= ~Q(problem="") & Q(answered_at__lte=now - self.problem_for)
        return again

    def waiting(self) -> QuerySet[Row]:
        """The questions without an answer. A worker reads one before it finds out, and hands the row to `answer`."""
        return self.model._default_manager.filter(answered_at=None)

    def answer(self, row: Row, *, now: datetime, problem: str = "", **columns: Any) -> bool:
        """Write and announce what came of a question as it was read before; whether it was still waiting for that.

        A question that was answered or asked anew meanwhile keeps what it has: the later one has a worker of its own.
        """
        same = self.waiting().filter(pk=row.pk, requested_at=row.requested_at)
        # Text from outside may hold a character that PostgreSQL does not store: the question would wait for ever.
        problem = problem.replace("\0", "")[:LONGEST_PROBLEM]
        if not same.update(answered_at=now, problem=problem, **columns):
            return False
        hint = {name: text.format(row=row) for name, text in self.hint.items()}
        announcements.announce(self.topic.format(row=row), **hint)
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Periodic:
    """What is read every so often in any case, and at once when somebody asks: two moments in columns of a row.

    `requested` is when somebody last wanted it sooner, `tried` the moment before the last call, whatever came of it:
    what is asked for while a worker calls is therefore still due afterwards. `requested_by`, where there is such a
    column, says who. Several rows are read in a round, one process at a time, so that asking twice costs nothing.
    """

    requested: str
    tried: str
    every: timedelta
    requested_by: str = ""

    def want(self, rows: QuerySet[Any], *, now: datetime, person: "Person | None" = None) -> None:
        """Have these rows read sooner; whoever asks for several kinds wakes the worker once, thereafter."""
        columns: dict[str, Any] = {self.requested: now}
        if self.requested_by:
            columns[self.requested_by] = person
        rows.update(**columns)

    def due(self, now: datetime) -> Q:
        """That a row was never tried, not for long, or not since somebody asked."""
        old = Q(**{f"{self.tried}__lte": now - self.every})
        return Q(**{self.tried: None}) | old | Q(**{f"{self.requested}__gt": F(self.tried)})


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """Rows that workers keep up to date as long as somebody looks: the column `asked_at` says when somebody last did.

    A page that is open looks again at least twice in `looked_at_for`. That is noted once in `noted_every`, so that many
    pages don't write one row again and again.
    """

    model: type[models.Model]
    looked_at_for: timedelta = timedelta(seconds=60)
    noted_every: timedelta = timedelta(seconds=10)

    def note(self, asked_at: Mapping[int, datetime], *, now: datetime) -> int:
        """Write down that somebody looks at these rows, by their numbers; how many were not noted lately.

        `asked_at` is as it was just read. Of several who look at the same moment one is told that it noted the row.
        """
        old = [number for number, when in asked_at.items() if when <= now - self.noted_every]
        if not old:
            return 0
        rows = self.model._default_manager.filter(pk__in=old, asked_at__lte=now - self.noted_every)
        return rows.update(asked_at=now)

    def looked_at(self, now: datetime) -> Q:
        """That somebody looks at a row."""
        return Q(asked_at__gt=now - self.looked_at_for)
