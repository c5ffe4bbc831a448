"""Older candles for a chart that is moved back: from the rows, and before the oldest of them from a worker.

A page asks for the candles before a moment and does not wait; the worker that it wakes reads one page of candles before
the oldest stored one, and announces `history:<symbol>.<period>`. The stored candles of a symbol never have a gap, so
they only grow at their ends. Retention deletes old candles again (`MARKET_CANDLES_KEPT`): a later look asks again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from django.db import transaction

from desk import clock, questions
from exchange_ops.client import ExchangeClient
from exchange_ops.market import quotes
from exchange_ops.market.models import Candle, CandleHistory
from wire.errors import CallFailed

if TYPE_CHECKING:
    from desk.models import Person

PAGE: Final = 500  # candles in one answer to a page
READ: Final = 1_000  # candles of one call, the most that the interface gives (exchange REST, Candle)
TASK: Final = "exchange_ops.read_history"
PAUSE: Final = timedelta(seconds=5)  # after a reading that failed, or brought nothing
RULE: Final = questions.Rule(
    model=CandleHistory, task=TASK, topic="{row.topic}", lost_after=timedelta(seconds=10), asked_anew={"problem": ""}
)
_STEP = timedelta(milliseconds=1)


class State(StrEnum):
    """What an answer to a page is."""

    STORED = "found"  # here they are
    WAITING = "waiting"  # a worker reads them
    FIRST = "first"  # the exchange has none that are older
    PROBLEM = "problem"  # they could not be read


@dataclass(frozen=True, slots=True)
class OlderCandles:
    """Candles before a moment, newest first, or why there are none; `problem` is a sentence."""

    state: State
    rows: tuple[Candle, ...] = ()
    problem: str = ""


def before(*, symbol: str, period: str, moment: datetime, person: "Person | None", now: datetime) -> OlderCandles:
    """The stored candles that begin before `moment`; where there are none, a worker is asked for them."""
    candles = Candle.objects.filter(symbol=symbol, period=period, timestamp__lt=moment).order_by("-timestamp")[:PAGE]
    if rows := tuple(candles):
        return OlderCandles(State.STORED, rows)
    row = CandleHistory.objects.filter(symbol=symbol, period=period).first()
    if row is not None and row.first_at is not None and moment <= row.first_at:
        return OlderCandles(State.FIRST)
    if row is not None and row.answered_at is not None and not clock.has_passed(PAUSE, since=row.answered_at, now=now):
        return OlderCandles(State.PROBLEM, problem=row.problem or "Older candles are not available.")
    RULE.ask(person=person, now=now, symbol=symbol, period=period)
    return OlderCandles(State.WAITING)


def read(*, history_id: int, now: datetime, open_client: Callable[[], ExchangeClient]) -> int:
    """Answer one question by a page of candles; returns how many were read, 0 when nobody waits for it any more."""
    row = RULE.waiting().filter(pk=history_id).first()
    if row is None:
        return 0
    client = open_client()
    try:
        count, first_at, problem = _read_page(client, row, now)
    except CallFailed as failure:
        count, first_at, problem = 0, row.first_at, f"Older candles are not available: {failure}."
    finally:
        client.close()
    RULE.answer(row, now=now, problem=problem, first_at=first_at)
    return count


def _read_page(client: ExchangeClient, row: CandleHistory, now: datetime) -> tuple[int, datetime | None, str]:
    """Read before the oldest stored candle: how many there were, the exchange's first one if reached, a problem."""
    oldest = _oldest(row)
    if oldest is None:
        return 0, None, "No candles for this period yet."
    listing = client.get_symbol_candles(
        symbol=row.symbol, period=row.period, until=oldest - _STEP, sort="DESC", limit=READ
    )
    older = [one for one in listing.records if one.timestamp < oldest]
    with transaction.atomic():
        quotes.turn_of(row.symbol, row.period)
        if _oldest(row) != oldest:  # deleted, or read by another worker: the next question starts from there
            return 0, row.first_at, ""
        quotes.keep_candles(symbol=row.symbol, period=row.period, candles=older, now=now)
        is_all = len(listing.records) + len(listing.asides) < READ
        return len(older), _oldest(row) if is_all else None, ""


def _oldest(row: CandleHistory) -> datetime | None:
    candles = Candle.objects.filter(symbol=row.symbol, period=row.period).order_by("timestamp")
    return candles.values_list("timestamp", flat=True).first()
