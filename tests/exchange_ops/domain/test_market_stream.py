"""What the public stream tells, gathered and written once: the newest of each topic, and one hint with values."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from desk import clock, live
from exchange_ops.domain import looks, market_stream
from exchange_ops.models import BookSnapshot, Candle, FollowerState, MarketLook, PublicTrade, Symbol, Ticker
from exchange_ops.wire import records
from exchange_ops.wire.book import Book
from exchange_ops.wire.conversation import BecameLive, Ended
from exchange_ops.wire.market_session import (
    BookBroke,
    BookChanged,
    CandlesTold,
    Channel,
    NotFollowed,
    Subscription,
    TickerTold,
    TradesTold,
)

pytestmark = [pytest.mark.django_db, pytest.mark.rows]
AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
ONE = Decimal(1)


@pytest.fixture(autouse=True)
def _pinned(settings):
    settings.MARKET_PINNED = []


@pytest.fixture
def hints(monkeypatch, django_capture_on_commit_callbacks):
    """What leaves for browsers, as (topic, hint): the broker is the only thing that is not there."""
    import json

    told = []

    class Broker:
        def send(self, group, message):
            frame = json.loads(message["text"])
            told.append((frame["topic"], frame["hint"]))

    monkeypatch.setattr(live, "_sender", Broker)

    def keep(tally):
        told.clear()
        with django_capture_on_commit_callbacks(execute=True):
            tally.keep(now=clock.now())
        return told

    return keep


def symbol(code="ETHBTC"):
    rates = dict.fromkeys(("quantity_increment", "tick_size", "take_liquidity_rate", "provide_liquidity_rate"), ONE)
    columns = {"base_currency": "ETH", "quote_currency": "BTC", "fee_currency": "BTC", "read_at": clock.now()}
    return Symbol.objects.create(code=code, **columns, **rates)


def ticker(last, *, after=0, code="ETHBTC"):
    amounts = dict.fromkeys(("low", "high", "volume", "volume_quote", "ask", "bid", "open"), ONE)
    at = AT + timedelta(milliseconds=after)
    return TickerTold(records.Ticker(symbol=code, timestamp=at, last=Decimal(last), **amounts))


def trade(number, **changes):
    told = {"id": number, "price": ONE, "quantity": ONE, "side": "buy", "timestamp": AT + timedelta(seconds=number)}
    return records.PublicTrade(**{**told, **changes})


def candle(minutes, **changes):
    figures = dict.fromkeys(("open", "close", "min", "max", "volume", "volume_quote"), ONE)
    return records.Candle(timestamp=AT + timedelta(minutes=minutes), **{**figures, **changes})


def book(sequence=1, ask="11", bid="10", size="1"):
    kept = Book("ETHBTC")
    sides = ([records.Level(Decimal(price), Decimal(size))] for price in (ask, bid))
    kept.restart(records.BookReport("ETHBTC", sequence, *sides, timestamp=AT))
    return kept


def tally_of(*events):
    tally = market_stream.Tally()
    for event in events:
        tally.take(event, now=clock.now())
    return tally


def test_what_is_looked_at_or_pinned_is_wanted_with_its_periods_and_what_nobody_looks_at_is_not(settings):
    now, first, second = clock.now(), symbol(), symbol("BTCUSD")
    looks.ask(symbol=first, period="M1", now=now)
    looks.ask(symbol=first, period="H1", now=now)
    looks.ask(symbol=second, period="M30", now=now - timedelta(minutes=2))
    of_first = {Subscription("ETHBTC", channel) for channel in (Channel.TICKER, Channel.BOOK, Channel.TRADES)}
    of_first |= {Subscription("ETHBTC", Channel.CANDLES, period) for period in ("M1", "H1")}
    assert market_stream.wanted(now=now) == of_first
    settings.MARKET_PINNED = ["BTCUSD"]
    more = market_stream.wanted(now=now) - of_first
    assert {(one.symbol, one.period) for one in more} == {("BTCUSD", ""), ("BTCUSD", "M30")}


def test_of_many_tickers_the_newest_is_written_and_told_once_with_values(hints):
    tally = tally_of(ticker("2"), ticker("3", after=5), ticker("0.00000001", after=9), ticker("1", after=7))
    told = hints(tally)
    assert Ticker.objects.get().last == Decimal("0.00000001")
    ((topic, hint),) = told
    assert topic == "symbol:ETHBTC"
    assert (hint["last"], hint["parts"], hint["at"]) == ("0.00000001", "ticker", "2026-11-20T10:00:00.009Z")
    assert hints(tally) == []  # nothing new, nothing told
    tally.take(ticker("5", after=8), now=clock.now())
    assert hints(tally) == []  # overtaken on its way


def test_a_symbol_with_odd_letters_has_a_topic_all_the_same(hints):
    told = hints(tally_of(ticker("2", code="A/B c")))
    assert [topic for topic, _ in told] == ["symbol:A.B.c"]


def test_trades_of_a_snapshot_and_updates_are_written_once_each(hints):
    looks.ask(symbol=symbol(), period="M30", now=clock.now())
    PublicTrade.objects.create(
        symbol="ETHBTC", trade_id=99, price=ONE, quantity=ONE, side="buy", timestamp=AT, read_at=AT
    )
    whole = TradesTold("ETHBTC", (trade(1), trade(2)), whole=True)
    update = TradesTold("ETHBTC", (trade(3, side="auction"),), whole=False)
    told = hints(tally_of(TradesTold("ETHBTC", (trade(50),), whole=False), whole, update, update))
    assert list(PublicTrade.objects.order_by("trade_id").values_list("trade_id", "side")) == [
        (1, "buy"),
        (2, "buy"),
        (3, "auction"),
    ]
    assert told == [("symbol:ETHBTC", {"parts": "trades"})]
    assert MarketLook.objects.get().trades_read_at is not None


def test_a_candle_that_grows_is_kept_as_it_was_last(hints):
    looks.ask(symbol=symbol(), period="M1", now=clock.now())
    looks.ask(symbol=Symbol.objects.get(), period="H1", now=clock.now())
    grown = candle(1, max=Decimal(3), close=Decimal(2))
    hints(
        tally_of(
            CandlesTold("ETHBTC", "M1", (candle(0), candle(1)), whole=True),
            CandlesTold("ETHBTC", "M1", (grown,), whole=False),
        )
    )
    kept = Candle.objects.order_by("timestamp")
    assert [(one.period, one.close) for one in kept] == [("M1", 1), ("M1", 2)]
    read = dict(MarketLook.objects.values_list("period", "candles_read_at"))
    assert read["M1"] is not None
    assert read["H1"] is None


def test_figures_that_contradict_each_other_are_left_out_and_the_others_kept(hints):
    wrong = candle(1, max=Decimal("0.5"))
    hints(
        tally_of(
            CandlesTold("ETHBTC", "M1", (candle(0), wrong), whole=True),
            TradesTold("ETHBTC", (trade(1), trade(2, price=Decimal(0))), whole=True),
        )
    )
    assert (Candle.objects.count(), PublicTrade.objects.count()) == (1, 1)


def test_a_book_is_written_as_it_is_when_it_is_written_and_never_while_it_is_broken(hints):
    kept = book()
    tally = tally_of(BookChanged(kept))
    kept.update(records.BookReport("ETHBTC", 2, [records.Level(Decimal("10.5"), ONE)], [], timestamp=AT))
    assert hints(tally) == [("symbol:ETHBTC", {"parts": "book"})]
    assert BookSnapshot.objects.get().ask == [["10.5", "1"], ["11", "1"]]
    tally.take(BookChanged(kept), now=clock.now())
    kept.update(records.BookReport("ETHBTC", 9, [records.Level(Decimal("10.2"), ONE)], [], timestamp=AT))
    assert hints(tally) == []
    assert BookSnapshot.objects.get().ask[0][0] == "10.5"


def test_only_so_many_levels_are_kept_and_a_book_without_time_gets_ours(hints):
    kept = Book("ETHBTC")
    asks = [records.Level(Decimal(price), ONE) for price in range(1_000, 2, -1)]
    kept.restart(records.BookReport("ETHBTC", 1, asks, []))
    hints(tally_of(BookChanged(kept)))
    row = BookSnapshot.objects.get()
    assert (len(row.ask), row.ask[0][0], row.ask[-1][0], row.bid) == (100, "3", "102", [])
    assert clock.now() - row.timestamp < timedelta(minutes=1)


def test_how_the_stream_is_doing_is_written_down(hints):
    state = FollowerState.objects.filter(name="market stream")
    tally_of(BecameLive(), BookBroke("ETHBTC"), BookBroke("ETHBTC"))
    assert (state.get().connected, state.get().gaps_closed) == (True, 2)
    refused = NotFollowed(Subscription("NOPE", Channel.TICKER), "The exchange would not tell the ticker of NOPE.")
    tally_of(refused)
    assert (state.get().connected, state.get().problem) == (True, refused.sentence)
    tally_of(Ended("The exchange was silent for 25 s."))
    assert (state.get().connected, state.get().reconnects) == (False, 1)
