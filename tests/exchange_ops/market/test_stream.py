"""What the public stream tells: gathered, told to browsers, and written once. The newest of each topic counts."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from desk import clock, topics
from desk.live import announcements
from exchange_ops.market import interest, stream
from exchange_ops.market import topics as market_topics
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade, Symbol, Ticker
from exchange_ops.market.room import TICKING
from exchange_ops.shared.models import FollowerState
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

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
ONE = Decimal(1)


@pytest.fixture(autouse=True)
def _pinned(settings):
    settings.MARKET_PINNED = []


@pytest.fixture
def leaving(monkeypatch, django_capture_on_commit_callbacks):
    """What leaves for browsers, as (topic, values): the broker is the only thing that is not there."""
    heard = []

    class Sender:
        """Whatever way a frame goes to the broker, here it ends."""

        def __getattr__(self, name):
            return self

        def __call__(self, *sent):
            frame = json.loads(sent[-1])
            heard.append((frame["topic"], frame["tick"]))

    monkeypatch.setattr(announcements, "_sender", Sender)

    def after(act):
        heard.clear()
        with django_capture_on_commit_callbacks(execute=True):
            act()
        return list(heard)

    return after


@pytest.fixture
def keep(leaving):
    """Write what was gathered; gives what browsers are told by that."""
    return lambda tally: leaving(lambda: tally.keep(now=clock.now()))


@pytest.fixture
def tell(leaving):
    """Tell browsers what was gathered, without writing it."""
    return lambda tally: leaving(tally.announce)


def symbol(code="ETHBTC"):
    rates = dict.fromkeys(("quantity_increment", "tick_size", "take_liquidity_rate", "provide_liquidity_rate"), ONE)
    columns = {"base_currency": "ETH", "quote_currency": "BTC", "fee_currency": "BTC", "read_at": clock.now()}
    return Symbol.objects.create(code=code, **columns, **rates)


def ticker(last, *, after=0, code="ETHBTC"):
    amounts = dict.fromkeys(("low", "high", "volume", "volume_quote", "ask", "bid", "open"), ONE)
    at = AT + timedelta(milliseconds=after)
    return TickerTold(records.Ticker(symbol=code, timestamp=at, last=Decimal(last), **amounts))


def trade(number, **changes):
    at = AT + timedelta(seconds=number % 86_400)
    members = {"id": number, "price": ONE, "quantity": ONE, "side": "buy", "timestamp": at}
    return records.PublicTrade(**{**members, **changes})


def candle(minutes, **changes):
    figures = dict.fromkeys(("open", "close", "min", "max", "volume", "volume_quote"), ONE)
    return records.Candle(timestamp=AT + timedelta(minutes=minutes), **{**figures, **changes})


def book(sequence=1, ask="11", bid="10", size="1"):
    kept = Book("ETHBTC")
    sides = ([records.Level(Decimal(price), Decimal(size))] for price in (ask, bid))
    kept.restart(records.BookReport("ETHBTC", sequence, *sides, timestamp=AT))
    return kept


def tally_of(*events):
    tally = stream.Tally()
    for event in events:
        tally.add(event, now=clock.now())
    return tally


def test_what_is_looked_at_or_pinned_is_wanted_with_its_periods_and_what_nobody_looks_at_is_not(settings):
    now, first, second = clock.now(), symbol(), symbol("BTCUSD")
    interest.ask(symbol=first, period="M1", now=now)
    interest.ask(symbol=first, period="H1", now=now)
    interest.ask(symbol=second, period="M30", now=now - timedelta(minutes=2))
    of_first = {Subscription("ETHBTC", channel) for channel in (Channel.TICKER, Channel.BOOK, Channel.TRADES)}
    of_first |= {Subscription("ETHBTC", Channel.CANDLES, period) for period in ("M1", "H1")}
    assert stream.subscriptions(now=now) == of_first
    settings.MARKET_PINNED = ["BTCUSD"]
    more = stream.subscriptions(now=now) - of_first
    assert {(one.symbol, one.period) for one in more} == {("BTCUSD", ""), ("BTCUSD", "M30")}


def test_of_what_is_only_seen_in_a_list_the_ticker_alone_is_wanted_and_nothing_is_read(settings):
    now = clock.now()
    interest.glance(codes=["ETHBTC", "BTCUSD"], now=now - timedelta(seconds=59))
    interest.glance(codes=["ETHBTC", "XRPBTC"], now=now)
    tickers = {Subscription(code, Channel.TICKER) for code in ("ETHBTC", "BTCUSD", "XRPBTC")}
    assert stream.subscriptions(now=now) == tickers
    assert stream.subscriptions(now=now + timedelta(seconds=30)) == tickers - {Subscription("BTCUSD", Channel.TICKER)}
    assert not list(interest.due(now=now))
    settings.MARKET_PINNED = ["ETHBTC"]
    assert not list(interest.due(now=now))
    interest.ask(symbol=symbol(), period="M1", now=now)
    assert len(stream.subscriptions(now=now)) == 3 + 3


def test_a_thousand_symbols_that_are_seen_cost_a_query_and_the_last_seen_count(django_assert_num_queries):
    now, codes = clock.now(), [f"C{number:04}BTC" for number in range(interest.MOST_GLANCED)]
    interest.glance(codes=codes, now=now - timedelta(seconds=5))
    with django_assert_num_queries(1):
        interest.glance(codes=codes, now=now)
    with django_assert_num_queries(2):
        assert len(stream.subscriptions(now=now)) == interest.MOST_GLANCED
    interest.glance(codes=["NEWEST"], now=now)
    found = stream.subscriptions(now=now)
    assert len(found) == interest.MOST_GLANCED
    assert Subscription("NEWEST", Channel.TICKER) in found
    assert not stream.subscriptions(now=now + interest.LOOK.looked_at_for)


def test_of_many_tickers_the_newest_is_written_and_told_once_with_exact_values(keep):
    tally = tally_of(ticker("2"), ticker("3", after=5), ticker("0.00000001", after=9), ticker("1", after=7))
    kept = keep(tally)
    assert Ticker.objects.get().last == Decimal("0.00000001")
    ((topic, tick),) = kept
    assert topic == "symbol:ETHBTC"
    assert (tick["last"], tick["at"]) == ("0.00000001", "2026-11-20T10:00:00.009Z")
    assert (tick["change"], tick["spread"], tick["volume_quote"]) == ("-100.00", "0.000", "1")
    assert keep(tally) == []  # nothing new, nothing told
    tally.add(ticker("5", after=8), now=clock.now())
    assert keep(tally) == []  # overtaken on its way


def test_browsers_are_told_before_it_is_written_and_not_again_by_the_writing(keep, tell):
    tally = tally_of(ticker("2"))
    assert [tick["last"] for _, tick in tell(tally)] == ["2"]
    assert not Ticker.objects.exists()
    assert keep(tally) == []
    assert Ticker.objects.get().last == 2
    tally.add(ticker("3", after=1), now=clock.now())
    tally.add(BookChanged(book()), now=clock.now())
    assert {topic for topic, _ in keep(tally)} == {"symbol:ETHBTC", "book:ETHBTC"}, "what is written was told"


def test_a_price_that_is_not_told_is_nothing_and_not_zero(tell):
    nothing = dict.fromkeys(("last", "ask", "bid", "open", "low", "high"))
    record = records.Ticker(symbol="ETHBTC", timestamp=AT, volume=Decimal(0), volume_quote=Decimal(0), **nothing)
    ((_, tick),) = tell(tally_of(TickerTold(record)))
    assert {name: tick[name] for name in (*nothing, "change", "spread")} == dict.fromkeys(
        (*nothing, "change", "spread")
    )


@pytest.mark.parametrize(
    "odd", ["A/B", "A.B", "A B", "A:B", "A\0B", "\u00c4B", "A\nB", "..", "\ud83d", "X" * 41, ".", ""]
)
def test_two_symbols_never_have_one_topic_however_they_are_called(odd, tell):
    others = ("A.B", "A_B", "AB", "A-B", "A/B", "A B", "ETHBTC", "ETHBTC.M1", "A:B", "candles:A", "..", ".")
    kinds = [(kind, "") for kind in TICKING] + [("candles", period) for period in ("M1", "M30")]
    topics_of = lambda code: {market_topics.topic(code, kind, period=period) for kind, period in kinds}  # noqa: E731
    assert len(topics_of(odd)) == len(kinds)
    assert all(topics.takes_ticks(topic) for topic in topics_of(odd))
    for other in {*others, odd.lower(), odd.upper() + "_"} - {odd}:
        assert not topics_of(odd) & topics_of(other), other
    if odd:
        ((topic, _),) = tell(tally_of(ticker("2", code=odd)))
        assert topic == market_topics.topic(odd)


def test_trades_are_told_as_the_newest_of_all_each_time_by_number(tell):
    tally = tally_of(TradesTold("ETHBTC", tuple(trade(number) for number in range(500)), is_complete=True))
    ((topic, tick),) = tell(tally)
    assert topic == "trades:ETHBTC"
    assert [row[0] for row in tick["rows"]] == [str(number) for number in range(499, 469, -1)]
    tally.add(TradesTold("ETHBTC", (trade(501), trade(500), trade(3)), is_complete=False), now=clock.now())
    wrong = (trade(600, price=Decimal(0)), trade(601, side="x" * 21), trade(602, quantity=Decimal("1e-30")))
    tally.add(TradesTold("ETHBTC", wrong, is_complete=False), now=clock.now())
    tally.add(TradesTold("ETHBTC", (trade(2**62, side="<b>"),), is_complete=False), now=clock.now())
    ((_, tick),) = tell(tally)
    assert [row[0] for row in tick["rows"]] == [str(2**62), "501", "500", *map(str, range(499, 472, -1))]
    assert tick["rows"][0][1:4] == ["1", "1", "<b>"]
    tally.add(TradesTold("ETHBTC", (trade(1),), is_complete=True), now=clock.now())
    ((_, tick),) = tell(tally)
    assert [row[0] for row in tick["rows"]] == ["1"], "an exchange that began anew"


def test_candles_are_told_with_those_before_them_so_that_none_is_missed(tell):
    tally = tally_of(CandlesTold("ETHBTC", "M1", tuple(map(candle, range(10))), is_complete=True))
    tally.add(CandlesTold("ETHBTC", "M1", (candle(10, max=Decimal(3)), candle(2)), is_complete=False), now=clock.now())
    tally.add(CandlesTold("ETHBTC", "M1", (candle(11, max=Decimal("0.5")),), is_complete=False), now=clock.now())
    tally.add(CandlesTold("ETHBTC", "M7", (candle(11),), is_complete=False), now=clock.now())
    ((topic, tick),) = tell(tally)
    assert (topic, tick["period"]) == ("candles:ETHBTC.M1", "M1")
    start = int(AT.timestamp())
    assert tick["rows"] == [
        [start + 480, "1", "1", "1", "1", "1", "1"],
        [start + 540, "1", "1", "1", "1", "1", "1"],
        [start + 600, "1", "3", "1", "1", "1", "1"],
    ]


def test_a_book_is_told_as_it_is_then_and_never_while_it_is_broken(tell):
    kept = book()
    tally = tally_of(BookChanged(kept))
    kept.update(records.BookReport("ETHBTC", 2, [records.Level(Decimal("10.50"), ONE)], [], timestamp=AT))
    ((topic, tick),) = tell(tally)
    assert (topic, tick["ask"], tick["bid"]) == ("book:ETHBTC", [["10.50", "1"], ["11", "1"]], [["10", "1"]])
    tally.add(BookChanged(kept), now=clock.now())
    kept.update(records.BookReport("ETHBTC", 9, [records.Level(Decimal("10.2"), ONE)], [], timestamp=AT))
    assert tell(tally) == []


def test_absurd_figures_fit_into_a_tick_or_are_left_out(tell):
    """Eighty digits each, as many levels and trades as there can be: told are as many as there is room for."""
    kept = Book("ETHBTC")
    asks = [records.Level(Decimal(10**79 + number), Decimal("1." + "1" * 78)) for number in range(200)]
    kept.restart(records.BookReport("ETHBTC", 1, asks, [records.Level(Decimal("1E-70"), ONE)], timestamp=AT))
    large = Decimal("1" * 36 + "." + "1" * 24)
    trades = tuple(trade(number, price=large, quantity=large, side="s" * 20) for number in range(100))
    candles = tuple(candle(number, max=large, volume=large, volume_quote=large) for number in range(9))
    members = dict(
        tell(
            tally_of(
                BookChanged(kept),
                TradesTold("ETHBTC", trades, is_complete=True),
                CandlesTold("ETHBTC", "M1", candles, is_complete=True),
                ticker("1E+40"),
                ticker("1E-25", code="BTCUSD"),
            )
        )
    )
    assert set(members) == {"book:ETHBTC", "trades:ETHBTC", "candles:ETHBTC.M1"}, "no column takes those tickers"
    assert 12 <= len(members["book:ETHBTC"]["ask"]) < 100
    assert len(members["trades:ETHBTC"]["rows"]) == 30


def test_trades_of_a_snapshot_and_updates_are_written_once_each(keep):
    interest.ask(symbol=symbol(), period="M30", now=clock.now())
    PublicTrade.objects.create(
        symbol="ETHBTC", trade_id=99, price=ONE, quantity=ONE, side="buy", timestamp=AT, read_at=AT
    )
    whole = TradesTold("ETHBTC", (trade(1), trade(2)), is_complete=True)
    update = TradesTold("ETHBTC", (trade(3, side="auction"),), is_complete=False)
    kept = keep(tally_of(TradesTold("ETHBTC", (trade(50),), is_complete=False), whole, update, update))
    assert list(PublicTrade.objects.order_by("trade_id").values_list("trade_id", "side")) == [
        (1, "buy"),
        (2, "buy"),
        (3, "auction"),
    ]
    assert [(topic, [row[0] for row in tick["rows"]]) for topic, tick in kept] == [("trades:ETHBTC", ["3", "2", "1"])]
    assert MarketLook.objects.get().trades_read_at is not None


def test_a_candle_that_grows_is_kept_as_it_was_last(keep):
    interest.ask(symbol=symbol(), period="M1", now=clock.now())
    interest.ask(symbol=Symbol.objects.get(), period="H1", now=clock.now())
    grown = candle(1, max=Decimal(3), close=Decimal(2))
    keep(
        tally_of(
            CandlesTold("ETHBTC", "M1", (candle(0), candle(1)), is_complete=True),
            CandlesTold("ETHBTC", "M1", (grown,), is_complete=False),
        )
    )
    kept = Candle.objects.order_by("timestamp")
    assert [(one.period, one.close) for one in kept] == [("M1", 1), ("M1", 2)]
    read = dict(MarketLook.objects.values_list("period", "candles_read_at"))
    assert read["M1"] is not None
    assert read["H1"] is None


def test_figures_that_contradict_each_other_are_left_out_and_the_others_kept(keep):
    wrong = candle(1, max=Decimal("0.5"))
    keep(
        tally_of(
            CandlesTold("ETHBTC", "M1", (candle(0), wrong), is_complete=True),
            TradesTold("ETHBTC", (trade(1), trade(2, price=Decimal(0))), is_complete=True),
        )
    )
    assert (Candle.objects.count(), PublicTrade.objects.count()) == (1, 1)


def test_a_book_is_written_as_it_is_when_it_is_written_and_never_while_it_is_broken(keep):
    kept = book()
    tally = tally_of(BookChanged(kept))
    kept.update(records.BookReport("ETHBTC", 2, [records.Level(Decimal("10.5"), ONE)], [], timestamp=AT))
    assert [topic for topic, _ in keep(tally)] == ["book:ETHBTC"]
    assert BookSnapshot.objects.get().ask == [["10.5", "1"], ["11", "1"]]
    tally.add(BookChanged(kept), now=clock.now())
    kept.update(records.BookReport("ETHBTC", 9, [records.Level(Decimal("10.2"), ONE)], [], timestamp=AT))
    assert keep(tally) == []
    assert BookSnapshot.objects.get().ask[0][0] == "10.5"


def test_only_so_many_levels_are_kept_and_a_book_without_time_gets_ours(keep):
    kept = Book("ETHBTC")
    asks = [records.Level(Decimal(price), ONE) for price in range(1_000, 2, -1)]
    kept.restart(records.BookReport("ETHBTC", 1, asks, []))
    keep(tally_of(BookChanged(kept)))
    row = BookSnapshot.objects.get()
    assert (len(row.ask), row.ask[0][0], row.ask[-1][0], row.bid) == (100, "3", "102", [])
    assert clock.now() - row.timestamp < timedelta(minutes=1)


def test_how_the_stream_is_doing_is_written_down(keep):
    state = FollowerState.objects.filter(name="market stream")
    tally_of(BecameLive(), BookBroke("ETHBTC"), BookBroke("ETHBTC"))
    assert (state.get().connected, state.get().gaps_closed) == (True, 2)
    refused = NotFollowed(Subscription("NOPE", Channel.TICKER), "The exchange refused the ticker of NOPE.")
    tally_of(refused)
    assert (state.get().connected, state.get().problem) == (True, refused.sentence)
    tally_of(Ended("No data from the exchange for 25 s."))
    assert (state.get().connected, state.get().reconnects) == (False, 1)
