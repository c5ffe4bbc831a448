"""Candles older than those kept: from the rows, else by one question to a worker, and never with a hole."""

from datetime import timedelta
from decimal import Decimal
from itertools import pairwise

import pytest

from desk import clock
from exchange_ops.market import history, interest, quotes
from exchange_ops.market.history import State
from exchange_ops.market.models import Candle, CandleHistory, Symbol
from exchange_ops.shared import public_client
from exchange_ops.wire import records

pytestmark = pytest.mark.django_db

ONE, PERIOD = Decimal(1), "H1"


@pytest.fixture
def woken(monkeypatch):
    """The tasks that were woken, by name and row."""
    found = []
    monkeypatch.setattr("desk.outbox.wake", lambda name, *rows: found.append((name, *rows)))
    return found


@pytest.fixture
def symbol(db):
    rates = dict.fromkeys(("quantity_increment", "tick_size", "take_liquidity_rate", "provide_liquidity_rate"), ONE)
    columns = {"base_currency": "ETH", "quote_currency": "BTC", "fee_currency": "BTC", "read_at": clock.now()}
    return Symbol.objects.create(code="ETHBTC", **columns, **rates)


def kept(count, *, ends):
    """So many candles, one an hour, the newest at `ends`."""
    rows = [records.Candle(ends - n * timedelta(hours=1), ONE, ONE, ONE, ONE, ONE, ONE) for n in range(count)]
    quotes.keep_candles(symbol="ETHBTC", period=PERIOD, candles=rows, now=ends)


def before(moment, now=None):
    return history.before(symbol="ETHBTC", period=PERIOD, moment=moment, person=None, now=now or clock.now())


def full_hour():
    return clock.now().replace(minute=0, second=0, microsecond=0)


def test_what_is_kept_is_given_at_once_newest_first_and_asks_nobody(symbol, woken):
    kept(10, ends=full_hour())
    found = before(full_hour() - timedelta(hours=3))
    assert found.state is State.STORED
    assert [row.timestamp for row in found.rows] == [full_hour() - timedelta(hours=n) for n in range(4, 10)]
    assert not woken
    assert not CandleHistory.objects.exists()


def test_an_answer_holds_no_more_than_a_page_of_them(symbol):
    kept(history.PAGE + 5, ends=full_hour())
    assert len(before(full_hour() + timedelta(hours=1)).rows) == history.PAGE


def test_what_is_not_kept_is_asked_once_however_many_look(symbol, woken):
    kept(2, ends=full_hour())
    for _ in range(3):
        assert before(full_hour() - timedelta(hours=1)).state is State.WAITING
    row = CandleHistory.objects.get()
    assert (row.symbol, row.period, row.answered_at, row.topic) == ("ETHBTC", PERIOD, None, "history:ETHBTC.H1")
    assert woken == [(history.TASK, row.pk)]


def test_a_question_that_was_lost_is_put_again(symbol, woken):
    kept(2, ends=full_hour())
    before(full_hour() - timedelta(hours=1))
    before(full_hour() - timedelta(hours=1), now=clock.now() + timedelta(seconds=11))
    assert len(woken) == 2


def read(now=None):
    question = CandleHistory.objects.get()
    return history.read(history_id=question.pk, now=now or clock.now(), open_client=public_client.open_client)


@pytest.fixture
def read_closely(sandbox, symbol, woken):
    """A symbol of which the newest candles were read."""
    now = clock.now()
    interest.ask(symbol=symbol, period=PERIOD, now=now)
    quotes.read_candles(client=public_client.open_client(), symbol="ETHBTC", period=PERIOD, now=now)
    return Candle.objects.order_by("timestamp").first().timestamp


def test_a_worker_reads_a_page_before_the_oldest_one_kept_without_a_hole(read_closely):
    assert before(read_closely).state is State.WAITING
    count = read()
    assert count > 0
    assert CandleHistory.objects.get().answered_at is not None
    found = before(read_closely)
    assert found.state is State.STORED
    assert found.rows[0].timestamp < read_closely
    times = list(Candle.objects.order_by("timestamp").values_list("timestamp", flat=True))
    answer = public_client.open_client().get_symbol_candles(symbol="ETHBTC", period=PERIOD, since=times[0], limit=1000)
    assert [one.timestamp for one in answer.records][: len(times)] == times[: len(answer.records)]
    assert all(earlier < later for earlier, later in pairwise(times))


def test_the_first_candle_there_is_ends_the_asking(read_closely, woken):
    for _ in range(200):
        oldest = Candle.objects.order_by("timestamp").first().timestamp
        state = before(oldest, now=clock.now() + history.PAUSE).state
        if state is State.FIRST:
            break
        assert state is State.WAITING
        read()
    assert state is State.FIRST
    before_it = len(woken)
    assert before(oldest).state is State.FIRST
    assert len(woken) == before_it


def test_an_exchange_that_does_not_answer_is_said_and_left_alone_for_a_moment(read_closely, sandbox, woken):
    before(read_closely)
    sandbox.control("faults", {"operation": "get_symbol_candles", "times": 9, "kind": "status", "status": 500})
    assert read() == 0
    found = before(read_closely)
    assert found.state is State.PROBLEM
    assert found.problem.startswith("Older candles are not available")
    assert before(read_closely, now=clock.now() + history.PAUSE).state is State.WAITING


def test_nobody_who_waits_is_nothing_to_do(read_closely):
    before(read_closely)
    read()
    assert read() == 0


def test_candles_that_were_let_go_meanwhile_leave_no_hole(read_closely, monkeypatch):
    """Between the call and the writing everything older was let go: what was read is not put there."""
    before(read_closely)
    client = public_client.open_client()

    class LettingGo:
        def get_symbol_candles(self, **named):
            answer = client.get_symbol_candles(**named)
            Candle.objects.filter(timestamp=read_closely).delete()
            return answer

        def close(self):
            client.close()

    history.read(history_id=CandleHistory.objects.get().pk, now=clock.now(), open_client=LettingGo)
    assert not Candle.objects.filter(timestamp__lte=read_closely).exists()
    assert CandleHistory.objects.get().answered_at is not None
