"""The outcome of asking the service, for each row: an answer, a "no such thing", a refusal or a failure."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from chaindata.cache import finality, questions
from chaindata.cache.models import ChainAnswer
from chaindata.cache.service import TimeBudget, outage_sentence
from chaindata.client import Absent, Busy, ChainClient, Declined, TooManyAtOnce, bulks
from chaindata.wire import catalogue
from chaindata.wire.records.slp import Token
from wire import records
from wire.errors import BadReply, CallFailed, Unreachable
from wire.operation import BadArgument

MOST_BYTES = 4 * 2**20  # of one answer that is stored
REFUSED_FOR = timedelta(seconds=60)
_FIRST_PAUSE = timedelta(seconds=5)
_LONGEST_PAUSE = timedelta(seconds=120)
_MOST_DOUBLINGS = 5
Changes = dict[str, Any]  # the columns of a row that the outcome changes


def ask(client: ChainClient, rows: Sequence[ChainAnswer], now: datetime, budget: TimeBudget) -> dict[int, Changes]:
    """Ask the service about rows of one operation; the changes of each row by its number. Failures are not raised.

    A service that is away is asked only once, and one that is slow only until the time budget is spent.
    """
    bulk = questions.freshness(rows[0].operation).bulk
    changes: dict[int, Changes] = {}
    away: CallFailed | None = None
    if bulk and len(rows) > 1:
        try:
            changes = _many(client, bulk, rows, now)
        except (Declined, BadReply, BadArgument):
            changes = {}  # one element spoils the whole answer, so each is asked about by itself
        except CallFailed as failure:
            away = failure
    for row in rows:
        if row.pk in changes:
            continue
        if away is None and changes and budget.is_over:
            away = Unreachable("it is too slow to respond")
        try:
            changes[row.pk] = _on_failure(row, away, now) if away is not None else _single(client, row, now)
        except Unreachable as failure:
            away = failure
            changes[row.pk] = _on_failure(row, failure, now)
    return changes


def _many(client: ChainClient, bulk: str, rows: Sequence[ChainAnswer], now: datetime) -> dict[int, Changes]:
    """The changes by a bulk call; rows that it does not answer are left out."""
    param = bulks.BULKS[bulk].param
    values_by_row = {row.pk: questions.wire_arguments(row.operation, row.arguments)[param] for row in rows}
    bodies = client.parts(bulk, list(values_by_row.values()))
    return {
        row.pk: _on_record(row, bodies[values_by_row[row.pk]], now) for row in rows if values_by_row[row.pk] in bodies
    }


def _single(client: ChainClient, row: ChainAnswer, now: datetime) -> Changes:
    """The changes by a call for this row alone. Raises `Unreachable` if the service is away."""
    try:
        answer = client.answer(row.operation, **questions.wire_arguments(row.operation, row.arguments))
    except Absent as absent:
        return _on_absence(row, _sentence(absent), now)
    except TooManyAtOnce as failure:
        return _on_failure(row, failure, now)
    except (Declined, BadArgument) as refusal:
        return _on_refusal(refusal, now)
    except BadReply as failure:
        return _on_failure(row, failure, now)
    return _on_record(row, answer.body, now)


def _on_record(row: ChainAnswer, body: bytes, now: datetime) -> Changes:
    policy, arguments = questions.freshness(row.operation), questions.wire_arguments(row.operation, row.arguments)
    try:
        record = records.decode(body, catalogue.by_name[row.operation].result)
        bulks.check_identity(row.operation, arguments, record)
        if len(body) > MOST_BYTES:
            raise BadReply(f"the response is {len(body)} bytes; the limit is {MOST_BYTES}")
    except BadReply as failure:
        return _on_failure(row, failure, now)
    if isinstance(record, Token) and not record.is_known:
        return _on_absence(row, "The chain-data service has no such token.", now)
    ground = finality.ground(row.operation, policy, arguments, record)
    is_final = finality.is_final(ground, policy)
    changes = _after_answer(now, standing="found", body=body.decode(), size=len(body), is_final=is_final)
    changes |= {"rests_on_height": ground.height, "due_at": None if is_final else now + policy.fresh_for}
    return changes


def _on_absence(row: ChainAnswer, sentence: str, now: datetime) -> Changes:
    again_at = now + questions.freshness(row.operation).absent_for
    return _after_answer(now, standing="missing", problem=sentence, due_at=again_at)


def _on_refusal(refusal: Exception, now: datetime) -> Changes:
    again_at = now + REFUSED_FOR
    return _after_answer(now, standing="refused", problem=_sentence(refusal), due_at=again_at)


def _after_answer(now: datetime, **changes: Any) -> Changes:
    """The columns after any answer: nothing of the one before remains."""
    empty = {"body": "", "size": 0, "is_final": False, "rests_on_height": None, "problem": "", "problem_at": None}
    return {**empty, "failures": 0, "read_at": now, **changes}


def _on_failure(row: ChainAnswer, failure: CallFailed, now: datetime) -> Changes:
    """The old answer stays. Each next attempt waits longer, or until the time that the service named."""
    again_at = now + min(_FIRST_PAUSE * 2 ** min(row.failures, _MOST_DOUBLINGS), _LONGEST_PAUSE)
    if isinstance(failure, Busy) and failure.until_s is not None:
        limit_ends_at = datetime.fromtimestamp(min(failure.until_s, 2**32), UTC)
        again_at = max(min(limit_ends_at, now + _LONGEST_PAUSE), now + timedelta(seconds=1))
    return {"problem": _sentence(failure), "problem_at": now, "failures": row.failures + 1, "due_at": again_at}


def _sentence(failure: Exception) -> str:
    if isinstance(failure, Declined | BadArgument):
        return f"The chain-data service returned an error: {failure}"[:300]
    return outage_sentence(failure)
