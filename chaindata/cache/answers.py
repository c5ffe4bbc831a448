"""What pages read of the chain: the last answer to a question, and how old it is. Nothing here calls the service.

Reading an answer also records that somebody is interested in it. If it is absent or no longer fresh, a worker fetches
and announces it, and the page reads it again, which keeps the interest alive. Answers that nobody reads any more are
not fetched again.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet

from chaindata.cache import questions
from chaindata.cache.models import ChainAnswer
from chaindata.cache.questions import CannotAsk, Question
from chaindata.wire import catalogue
from desk import clock, outbox
from desk.questions import Interest
from wire import records
from wire.errors import BadReply

__all__ = ["CannotAsk", "Reading", "due", "read", "read_many", "stored", "unclaimed"]

FETCH_TASK = "chaindata.fetch"
INTEREST = Interest(model=ChainAnswer)
CLAIMED_FOR = timedelta(seconds=40)  # longer than a task may run
WOKEN_EVERY = timedelta(seconds=3)  # a lost wake-up call is repeated after this time

FRESH, STALE, ABSENT, MISSING, REFUSED, FAILED = "fresh", "stale", "absent", "missing", "refused", "failed"


@dataclass(frozen=True, slots=True)
class Reading:
    """The stored answer as it is now. `record` is decoded by the catalogue; None while there is no answer, and for
    an output that is spent or unknown, to which the service answers null: `is_known` tells the two apart.

    `freshness` is one of: "fresh"; "stale", the record is old and being fetched again; "absent", there is no answer
    yet; "missing", the service knows no such thing; "refused", the service rejected the question; "failed", the last
    attempt failed and the record, if there is one, is old. `problem` is a sentence for the last three. A page follows
    `topic` to hear of a new answer.
    """

    key: str
    operation: str
    topic: str
    record: Any
    freshness: str
    read_at: datetime | None
    is_final: bool
    problem: str
    problem_at: datetime | None = None

    @property
    def is_known(self) -> bool:
        """Whether there is a record to show, fresh or old."""
        return self.read_at is not None and self.freshness in (FRESH, STALE, FAILED)


def read(operation: str, *, now: datetime, **arguments: object) -> Reading:
    """The last answer to one question; records the interest in it. Arguments are named as on the wire.

    Raises `CannotAsk` for operations whose answers are not stored, and `BadArgument` for what can't be sent.
    """
    return read_many([(operation, arguments)], now=now)[0]


def read_many(calls: Sequence[tuple[str, Mapping[str, object]]], *, now: datetime) -> list[Reading]:
    """The same for many questions, in their order; the number of queries does not depend on how many they are."""
    all_questions = [questions.question(operation, arguments) for operation, arguments in calls]
    rows = _rows(all_questions, now)
    _note(rows.values(), now)
    return [_reading(question, rows[question.key], now) for question in all_questions]


def stored(calls: Sequence[tuple[str, Mapping[str, object]]], *, now: datetime) -> list[Reading | None]:
    """The stored answers to many questions, in their order, without recording interest: nothing is fetched.

    None for a question that was never read.
    """
    all_questions = [questions.question(operation, arguments) for operation, arguments in calls]
    rows = _stored_rows(all_questions)
    return [_reading(each, rows[each.key], now) if each.key in rows else None for each in all_questions]


def due(*, now: datetime) -> QuerySet[ChainAnswer]:
    """The answers that somebody is interested in and that have to be fetched, the longest overdue first."""
    return ChainAnswer.objects.filter(INTEREST.looked_at(now), unclaimed(now), is_due(now)).order_by("due_at", "pk")


def is_due(now: datetime) -> Q:
    """The condition that the row has to be fetched: its time has come, or it was last tried before the clock fell
    back."""
    later = now + clock.TOLERANCE
    before_the_fall = Q(problem_at__gt=later) | Q(problem_at=None, read_at__gt=later)
    return Q(due_at__lte=now) | Q(before_the_fall, due_at__isnull=False)


def unclaimed(now: datetime) -> Q:
    """The condition that no worker is fetching the row at this moment."""
    return clock.ended("claimed_until", now=now, lasts=CLAIMED_FOR)


# Rows ----------------------------------------------------------------------------------------------------------------


def _rows(all_questions: Sequence[Question], now: datetime) -> dict[str, ChainAnswer]:
    """The rows of the questions; missing ones are created."""
    rows = _stored_rows(all_questions)
    missing = {question.key: question for question in all_questions if question.key not in rows}
    if not missing:
        return rows
    new = [
        ChainAnswer(
            key=question.key,
            operation=question.operation,
            arguments=questions.stored_arguments(question),
            asked_at=now,
            due_at=now,
        )
        for question in missing.values()
    ]
    ChainAnswer.objects.bulk_create(new, ignore_conflicts=True)
    return _stored_rows(all_questions)


def _stored_rows(all_questions: Sequence[Question]) -> dict[str, ChainAnswer]:
    return {row.key: row for row in ChainAnswer.objects.filter(key__in={question.key for question in all_questions})}


def _note(rows: Iterable[ChainAnswer], now: datetime) -> None:
    """Record the interest and wake a worker for what is due: once for each operation that has a bulk form."""
    rows = list(rows)
    INTEREST.note({row.pk: row.asked_at for row in rows}, now=now)
    waiting = [row for row in rows if _is_due(row, now)]
    if not waiting:
        return
    asleep = Q(woken_at=None) | clock.older("woken_at", now - WOKEN_EVERY, now=now, or_same=True)
    sleeping = ChainAnswer.objects.filter(asleep, unclaimed(now), pk__in=[row.pk for row in waiting])
    waiting_rows = list(sleeping.order_by("pk").values_list("pk", "operation"))
    if not waiting_rows or not sleeping.update(woken_at=now, asked_at=now):
        return
    woken_operations: set[str] = set()
    for pk, operation in waiting_rows:
        if operation not in woken_operations:
            outbox.wake(FETCH_TASK, pk)
        if questions.freshness(operation).bulk:
            woken_operations.add(operation)


def _is_due(row: ChainAnswer, now: datetime) -> bool:
    """The same as `is_due`, of one row."""
    tried_at = row.problem_at or row.read_at
    is_from_before = tried_at is not None and clock.is_future(tried_at, now)
    return row.due_at is not None and (row.due_at <= now or is_from_before)


# Readings ------------------------------------------------------------------------------------------------------------


def _reading(question: Question, row: ChainAnswer, now: datetime) -> Reading:
    record, readable = _record(row)
    return Reading(
        key=question.key,
        operation=question.operation,
        topic=question.topic,
        record=record,
        freshness=_freshness(row, now) if readable else ABSENT,
        read_at=row.read_at if readable else None,
        is_final=row.is_final and readable,
        problem=row.problem,
        problem_at=row.problem_at,
    )


def _record(row: ChainAnswer) -> tuple[Any, bool]:
    """The record of a row, and whether its body could be decoded: an older release may have stored another form."""
    if row.standing != "found":
        return None, True
    try:
        return records.decode(row.body.encode(), catalogue.by_name[row.operation].result), True
    except BadReply:
        return None, False


def _freshness(row: ChainAnswer, now: datetime) -> str:
    if row.standing != "found":
        return FAILED if row.standing == "absent" and row.problem else row.standing
    if row.is_final or row.due_at is None or not (_is_due(row, now) or row.problem):
        return FRESH
    return FAILED if row.problem else STALE
