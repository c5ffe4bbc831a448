"""What pages read of the chain: the last answer to a question, and how old it is. Nobody here calls out.

A page looks, and its look is written down: an answer that is absent or no longer fresh is asked for by a worker, which
announces it; the page reads again, by which it goes on asking. What nobody looks at any more is not asked again.
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
from desk import outbox
from desk.questions import Interest
from wire import records as wire_records
from wire.errors import BadReply

__all__ = ["CannotAsk", "Reading", "due", "kept", "look", "look_many", "unclaimed"]

FETCH_TASK = "chaindata.fetch"
LOOK = Interest(model=ChainAnswer)
WOKEN_EVERY = timedelta(seconds=3)  # a wake-up call that was lost is repeated after this

FRESH, STALE, ABSENT, MISSING, REFUSED, FAILED = "fresh", "stale", "absent", "missing", "refused", "failed"


@dataclass(frozen=True, slots=True)
class Reading:
    """One answer as it is known now. `record` is decoded as the catalogue says; None while there is none, and of an
    output that is spent or unknown, for which the service says null: `is_known` tells the two apart.

    `freshness`: "fresh"; "stale", the record is old and asked for again; "absent", nobody answered yet; "missing", the
    service knows no such thing; "refused", the question itself was turned down; "failed", the last try did not succeed
    and the record, if there is one, is old. `problem` is a sentence for the last three. `topic` is to be followed.
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


def look(operation: str, *, now: datetime, **arguments: object) -> Reading:
    """The last answer to one question; notes that somebody looks. Arguments are named as on the wire.

    Raises `CannotAsk` for operations whose answers are not kept, and `BadArgument` for what can't be sent.
    """
    return look_many([(operation, arguments)], now=now)[0]


def look_many(wanted: Sequence[tuple[str, Mapping[str, object]]], *, now: datetime) -> list[Reading]:
    """The same for many questions, in their order, with a handful of queries however many they are."""
    all_questions = [questions.question(operation, arguments) for operation, arguments in wanted]
    rows = _rows(all_questions, now)
    _note(rows.values(), now)
    return [_reading(question, rows[question.key], now) for question in all_questions]


def kept(wanted: Sequence[tuple[str, Mapping[str, object]]], *, now: datetime) -> list[Reading | None]:
    """What is kept of many questions, in their order, for whoever only compares: nobody is asked, no look is noted.

    None for a question that nobody ever looked at.
    """
    all_questions = [questions.question(operation, arguments) for operation, arguments in wanted]
    rows = _known(all_questions)
    return [_reading(each, rows[each.key], now) if each.key in rows else None for each in all_questions]


def due(*, now: datetime) -> QuerySet[ChainAnswer]:
    """The answers that somebody looks at and that are to be asked for, the longest waiting first."""
    return ChainAnswer.objects.filter(LOOK.looked_at(now), unclaimed(now), due_at__lte=now).order_by("due_at", "pk")


def unclaimed(now: datetime) -> Q:
    """That no worker is asking at this moment."""
    return Q(claimed_until=None) | Q(claimed_until__lte=now)


# Rows ----------------------------------------------------------------------------------------------------------------


def _rows(all_questions: Sequence[Question], now: datetime) -> dict[str, ChainAnswer]:
    """The rows of the questions, made where there were none."""
    known = _known(all_questions)
    missing = {question.key: question for question in all_questions if question.key not in known}
    if not missing:
        return known
    new = [
        ChainAnswer(
            key=question.key,
            operation=question.operation,
            arguments=questions.stored(question),
            asked_at=now,
            due_at=now,
        )
        for question in missing.values()
    ]
    ChainAnswer.objects.bulk_create(new, ignore_conflicts=True)
    return _known(all_questions)


def _known(all_questions: Sequence[Question]) -> dict[str, ChainAnswer]:
    return {row.key: row for row in ChainAnswer.objects.filter(key__in={question.key for question in all_questions})}


def _note(rows: Iterable[ChainAnswer], now: datetime) -> None:
    """Write down who looks, and wake a worker for what is due: once for each operation that answers many at once."""
    rows = list(rows)
    LOOK.note({row.pk: row.asked_at for row in rows}, now=now)
    waiting = [row for row in rows if row.due_at is not None and row.due_at <= now]
    if not waiting:
        return
    asleep = Q(woken_at=None) | Q(woken_at__lte=now - WOKEN_EVERY)
    sleeping = ChainAnswer.objects.filter(asleep, unclaimed(now), pk__in=[row.pk for row in waiting])
    chosen = list(sleeping.order_by("pk").values_list("pk", "operation"))
    if not chosen or not sleeping.update(woken_at=now, asked_at=now):
        return
    called: set[str] = set()
    for pk, operation in chosen:
        if operation not in called:
            outbox.wake(FETCH_TASK, pk)
        if questions.freshness(operation).bulk:
            called.add(operation)


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
    """The record of a row, and whether its body could be read at all: an older release may have left another form."""
    if row.standing != "found":
        return None, True
    try:
        return wire_records.decode(row.body.encode(), catalogue.by_name[row.operation].result), True
    except BadReply:
        return None, False


def _freshness(row: ChainAnswer, now: datetime) -> str:
    if row.standing != "found":
        return FAILED if row.standing == "absent" and row.problem else row.standing
    if row.is_final or row.due_at is None or (now < row.due_at and not row.problem):
        return FRESH
    return FAILED if row.problem else STALE
