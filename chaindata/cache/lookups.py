"""What comes of asking the service for some rows: for each one an answer, a "no such thing", a refusal or a failure."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from chaindata.cache import finality, questions
from chaindata.cache.models import ChainAnswer
from chaindata.cache.time_budget import Patience
from chaindata.client import Absent, Busy, ChainClient, Declined, TooManyAtOnce, bulks
from chaindata.wire import catalogue
from chaindata.wire.records.slp import Token
from wire import records as wire_records
from wire.errors import BadReply, CallFailed, Unreachable
from wire.operation import BadArgument

MOST_BYTES = 4 * 2**20  # of one answer that is kept
REFUSED_FOR = timedelta(seconds=60)
_FIRST_PAUSE = timedelta(seconds=5)
_LONGEST_PAUSE = timedelta(seconds=120)
_MOST_DOUBLINGS = 5
Changes = dict[str, Any]  # the columns of a row that change by what came


def ask(client: ChainClient, rows: Sequence[ChainAnswer], now: datetime, patience: Patience) -> dict[int, Changes]:
    """What changes in each row, by its number; the rows are of one operation. Nothing is raised for what went wrong.

    A service that is away is asked once, and one that is too slow no longer than the patience lasts.
    """
    bulk = questions.freshness(rows[0].operation).bulk
    found: dict[int, Changes] = {}
    away: CallFailed | None = None
    if bulk and len(rows) > 1:
        try:
            found = _many(client, bulk, rows, now)
        except (Declined, BadReply, BadArgument):
            found = {}  # one element spoils the whole answer: each by itself has its own
        except CallFailed as failure:
            away = failure
    for row in rows:
        if row.pk in found:
            continue
        if away is None and found and patience.is_over:
            away = Unreachable("it answers too slowly")
        try:
            found[row.pk] = _failed(row, away, now) if away is not None else _single(client, row, now)
        except Unreachable as failure:
            away = failure
            found[row.pk] = _failed(row, failure, now)
    return found


def _many(client: ChainClient, bulk: str, rows: Sequence[ChainAnswer], now: datetime) -> dict[int, Changes]:
    """What a bulk call gives; rows that it says nothing of are not there."""
    param = bulks.BULKS[bulk].param
    values_by_row = {row.pk: questions.restored(row.operation, row.arguments)[param] for row in rows}
    found = client.parts(bulk, list(values_by_row.values()))
    return {row.pk: _found(row, found[values_by_row[row.pk]], now) for row in rows if values_by_row[row.pk] in found}


def _single(client: ChainClient, row: ChainAnswer, now: datetime) -> Changes:
    """What its own call gives. Raises `Unreachable` for a service that is away."""
    try:
        answer = client.answer(row.operation, **questions.restored(row.operation, row.arguments))
    except Absent as absent:
        return _missing(row, _sentence(absent), now)
    except TooManyAtOnce as failure:
        return _failed(row, failure, now)
    except (Declined, BadArgument) as refused:
        return _refused(refused, now)
    except BadReply as failure:
        return _failed(row, failure, now)
    return _found(row, answer.body, now)


def _found(row: ChainAnswer, body: bytes, now: datetime) -> Changes:
    policy, arguments = questions.freshness(row.operation), questions.restored(row.operation, row.arguments)
    try:
        record = wire_records.decode(body, catalogue.by_name[row.operation].result)
        bulks.check_identity(row.operation, arguments, record)
        if len(body) > MOST_BYTES:
            raise BadReply(f"the answer has {len(body)} bytes, and {MOST_BYTES} are kept")
    except BadReply as failure:
        return _failed(row, failure, now)
    if isinstance(record, Token) and not record.is_known:
        return _missing(row, "The chain-data service knows no such token.", now)
    ground = finality.ground(row.operation, policy, arguments, record)
    is_final = finality.is_final(ground, policy)
    changes = _settled(now, standing="found", body=body.decode(), size=len(body), is_final=is_final)
    changes |= {"rests_on_height": ground.height, "due_at": None if is_final else now + policy.fresh_for}
    return changes


def _missing(row: ChainAnswer, sentence: str, now: datetime) -> Changes:
    again_at = now + questions.freshness(row.operation).absent_for
    return _settled(now, standing="missing", problem=sentence, due_at=again_at)


def _refused(refused: Exception, now: datetime) -> Changes:
    again_at = now + REFUSED_FOR
    return _settled(now, standing="refused", problem=_sentence(refused), due_at=again_at)


def _settled(now: datetime, **changes: Any) -> Changes:
    """The columns after an answer, whatever it says: nothing of the one before it is left."""
    empty = {"body": "", "size": 0, "is_final": False, "rests_on_height": None, "problem": "", "problem_at": None}
    return {**empty, "failures": 0, "read_at": now, **changes}


def _failed(row: ChainAnswer, failure: CallFailed, now: datetime) -> Changes:
    """The old answer stays; the next try comes later each time, or when the service says that it may."""
    again_at = now + min(_FIRST_PAUSE * 2 ** min(row.failures, _MOST_DOUBLINGS), _LONGEST_PAUSE)
    if isinstance(failure, Busy) and failure.until_s is not None:
        limit_ends_at = datetime.fromtimestamp(min(failure.until_s, 2**32), UTC)
        again_at = max(min(limit_ends_at, now + _LONGEST_PAUSE), now + timedelta(seconds=1))
    return {"problem": _sentence(failure), "problem_at": now, "failures": row.failures + 1, "due_at": again_at}


def _sentence(failure: Exception) -> str:
    if isinstance(failure, Declined | BadArgument):
        return f"The chain-data service says: {failure}"[:300]
    return f"The chain-data service can't be asked at the moment ({failure})."[:300]
