"""The session of public market data with scripted frames: what is wanted, books with gaps, and every oddity."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exchange_ops.wire.conversation import BecameLive, Ended, Odd, Phase
from exchange_ops.wire.market_session import (
    BookBroke,
    BookChanged,
    CandlesTold,
    Channel,
    MarketPace,
    MarketSession,
    NotFollowed,
    Subscription,
    TickerTold,
    TradesTold,
)
from tests.exchange_ops.wire.scripts import Script

BOOK = Subscription("ETHBTC", Channel.BOOK)
TICKER = Subscription("ETHBTC", Channel.TICKER)
TRADES = Subscription("ETHBTC", Channel.TRADES)
CANDLES = Subscription("ETHBTC", Channel.CANDLES, "M30")
AT = "2026-11-20T10:00:00.000Z"
QUICK = MarketPace(between_ms=0)


def ticker(**changes):
    figures = dict.fromkeys(("ask", "bid", "last", "open", "low", "high", "volume", "volumeQuote"), "1.5")
    return {**figures, "timestamp": AT, "symbol": "ETHBTC", **changes}


def book(sequence, ask=(), bid=(), **changes):
    sides = {"ask": [{"price": p, "size": s} for p, s in ask], "bid": [{"price": p, "size": s} for p, s in bid]}
    return {**sides, "sequence": sequence, "timestamp": AT, "symbol": "ETHBTC", **changes}


def trade(number, **changes):
    return {"id": number, "price": "0.05", "quantity": "2", "side": "sell", "timestamp": AT, **changes}


def candle(**changes):
    figures = dict.fromkeys(("open", "close", "min", "max", "volume", "volumeQuote"), "1")
    return {"timestamp": AT, **figures, **changes}


def following(*wanted, pace=QUICK):
    """A script whose session follows these, everything confirmed."""
    script = Script(MarketSession(pace))
    script.session.follow(wanted, script.now_ms)
    script.open()
    script.confirm_all()
    script.happened.clear()
    return script


def with_book(sequence=10):
    script = following(BOOK)
    script.notify("snapshotOrderbook", book(sequence, ask=[("11", "1"), ("12", "2")], bid=[("10", "3"), ("9", "4")]))
    return script


def levels(script):
    ask, bid = script.of(BookChanged)[-1].book.best(100)
    return [(str(one.price), str(one.size)) for one in ask], [(str(one.price), str(one.size)) for one in bid]


# What is wanted ------------------------------------------------------------------------------------------------------


def test_everything_that_is_wanted_is_subscribed_to_once_with_its_params():
    script = Script(MarketSession(QUICK))
    script.session.follow([BOOK, TICKER, TRADES, CANDLES], script.now_ms)
    assert script.requests() == []  # not before the socket is there
    script.open()
    script.confirm_all()
    assert len(script.of(BecameLive)) == 1
    assert script.session.followed == {BOOK, TICKER, TRADES, CANDLES}
    script.session.follow([CANDLES, TRADES, TICKER, BOOK], script.now_ms)
    assert script.requests() == []


def test_the_params_are_those_of_the_interface():
    script = Script(MarketSession(QUICK))
    script.session.follow([CANDLES], script.now_ms)
    (requests,) = script.open()
    assert requests[:2] == ("subscribeCandles", {"symbol": "ETHBTC", "period": "M30", "limit": 500})
    script.answer(requests, True)
    script.session.follow([BOOK], script.now_ms)
    methods = [one[:2] for one in script.requests()] + [one[:2] for one in script.wait(1)]
    assert methods == [
        ("unsubscribeCandles", {"symbol": "ETHBTC", "period": "M30"}),
        ("subscribeOrderbook", {"symbol": "ETHBTC"}),
    ]


def test_many_subscriptions_go_out_a_few_at_a_time():
    pace = MarketPace(between_ms=100, most_open=3)
    script = Script(MarketSession(pace))
    script.session.follow([Subscription(f"S{number:02}", Channel.TICKER) for number in range(10)], script.now_ms)
    assert len(script.open()) == 1
    for _ in range(5):
        script.wait(100)
    assert len(script.waiting) == 3  # no answer, no more
    script.confirm_all()
    while len(script.session.followed) < 10:
        assert len(script.wait(100)) == 1
        script.confirm_all()
    assert script.wait(100) == []


def test_a_market_that_is_looked_at_closely_does_not_wait_for_a_list_of_others():
    script = Script(MarketSession(MarketPace(between_ms=10, most_open=1)))
    closely = [Subscription("ZZZ", channel) for channel in (Channel.BOOK, Channel.TICKER, Channel.TRADES)]
    wanted = [Subscription(f"S{number:03}", Channel.TICKER) for number in range(100)]
    script.session.follow(wanted, script.now_ms)
    script.open()
    script.session.follow([*wanted, *closely], script.now_ms)
    for _ in range(4):
        script.confirm_all()
        script.wait(10)
    assert script.session.followed > set(closely)
    assert len(script.session.followed) < 10


def test_too_many_requests_is_waited_for_and_asked_again():
    script = Script(MarketSession(QUICK))
    script.session.follow([TICKER], script.now_ms)
    (requests,) = script.open()
    script.refuse(requests, 429, "Too many requests")
    assert script.wait(1_000) == []
    (again,) = script.wait(1_500)
    assert again[0] == "subscribeTicker"
    assert not script.of(NotFollowed)


def test_a_symbol_that_is_not_known_is_told_and_left_alone_and_the_others_go_on():
    script = Script(MarketSession(QUICK))
    wrong = Subscription("NOPE", Channel.TICKER)
    script.session.follow([TICKER, wrong], script.now_ms)
    script.open()
    script.wait(1)
    refused = next(one for one in script.waiting if one[1]["symbol"] == "NOPE")
    script.refuse(refused, 2001, "Symbol not found", "Try get /api/2/public/symbol")
    script.confirm_all()
    assert [event.subscription for event in script.of(NotFollowed)] == [wrong]
    assert "2001 Symbol not found" in script.of(NotFollowed)[0].sentence
    assert script.wait(10_000) == []
    script.notify("ticker", ticker())
    assert len(script.of(TickerTold)) == 1
    for _ in range(30):
        script.session.heard(script.now_ms + 10_000)
        script.notify("ticker", ticker())
        if script.wait(10_000):
            break
    assert [one[1]["symbol"] for one in script.waiting] == ["NOPE"]


def test_what_is_not_wanted_any_more_may_still_be_told_and_is_dropped():
    script = following(TICKER, BOOK, TRADES, CANDLES)
    script.session.follow([], script.now_ms)
    script.wait(1)
    script.notify("ticker", ticker())
    script.notify("snapshotOrderbook", book(1))
    script.notify("updateTrades", {"data": [trade(1)], "symbol": "ETHBTC"})
    script.notify("updateCandles", {"data": [candle()], "symbol": "ETHBTC", "period": "M30"})
    assert script.happened == []
    assert script.session.phase is Phase.LIVE


# What is told --------------------------------------------------------------------------------------------------------


def test_tickers_trades_and_candles_come_as_records():
    script = following(TICKER, TRADES, CANDLES)
    script.notify("ticker", ticker(last="0.000000000000000001"))
    script.notify("snapshotTrades", {"data": [trade(1), trade(2)], "symbol": "ETHBTC"})
    script.notify("updateTrades", {"data": [trade(3)], "symbol": "ETHBTC"})
    script.notify("snapshotCandles", {"data": [candle()], "symbol": "ETHBTC", "period": "M30"})
    script.notify("updateCandles", {"data": [candle(close="1")], "symbol": "ETHBTC", "period": "M30"})
    assert script.of(TickerTold)[0].record.last == Decimal("0.000000000000000001")
    assert [(len(event.records), event.is_complete) for event in script.of(TradesTold)] == [(2, True), (1, False)]
    assert [(event.period, event.is_complete) for event in script.of(CandlesTold)] == [("M30", True), ("M30", False)]


def test_members_and_words_that_nobody_knows_harm_nothing():
    script = following(TICKER, TRADES)
    script.notify("ticker", ticker(mood="calm"))
    script.notify("updateTrades", {"data": [trade(1, side="auction", venue=7)], "symbol": "ETHBTC", "more": None})
    assert len(script.of(TickerTold)) == 1
    assert script.of(TradesTold)[0].records[0].side == "auction"
    assert not script.of(Odd)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("halted", {"symbol": "ETHBTC"}),
        ("ticker", ticker(last="NaN")),
        ("ticker", []),
        ("ticker", {"symbol": "ETHBTC"}),
        ("updateTrades", {"symbol": "ETHBTC", "data": {}}),
        ("updateCandles", {"symbol": "ETHBTC", "data": [candle()]}),
    ],
)
def test_what_can_not_be_read_is_odd_and_the_next_is_heard(method, params):
    script = following(TICKER)
    script.notify(method, params)
    script.notify("ticker", ticker())
    assert len(script.of(Odd)) == 1
    assert len(script.of(TickerTold)) == 1


def test_something_new_is_told_once_however_often_it_comes():
    script = following(TICKER)
    for _ in range(200):
        script.notify("weather", {"rain": True})
    script.notify("ticker", ticker())
    assert len(script.of(Odd)) == 1
    assert len(script.of(TickerTold)) == 1


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"result":true}', b"\xff", '{"method":"a","id":1}', '{"id":99,"result":1}']
)
def test_frames_that_are_none_are_odd_until_there_are_too_many(text):
    script = following(TICKER)
    for _ in range(51):
        script.say(text)
    assert "Too many unknown messages" in script.end.sentence


def test_a_subscription_that_is_not_confirmed_ends_it():
    script = Script(MarketSession(QUICK))
    script.session.follow([TICKER], script.now_ms)
    (requests,) = script.open()
    script.answer(requests, False)
    assert "did not confirm" in script.end.sentence


# Order books ---------------------------------------------------------------------------------------------------------


def test_a_book_is_its_snapshot_and_its_updates():
    script = with_book()
    script.notify("updateOrderbook", book(11, ask=[("11", "0.000"), ("13", "5")], bid=[("10.5", "7"), ("9", "0")]))
    assert levels(script) == ([("12", "2"), ("13", "5")], [("10.5", "7"), ("10", "3")])
    assert not script.of(BookBroke)


def test_a_repeated_snapshot_counts_and_goes_on_from_its_sequence():
    script = with_book()
    script.notify("updateOrderbook", book(11, ask=[("11", "0")]))
    script.notify("snapshotOrderbook", book(11, ask=[("12", "9")], bid=[("10", "3")]))
    script.notify("updateOrderbook", book(12, ask=[("14", "1")]))
    assert levels(script)[0] == [("12", "9"), ("14", "1")]
    assert script.waiting == []


def test_an_update_told_twice_changes_nothing():
    script = with_book()
    update = book(11, ask=[("11", "8")])
    script.notify("updateOrderbook", update)
    script.notify("updateOrderbook", book(12, ask=[("11", "9")]))
    script.notify("updateOrderbook", update)
    assert levels(script)[0][0] == ("11", "9")
    assert len(script.of(BookChanged)) == 3
    assert not script.of(BookBroke)


def test_an_update_before_the_snapshot_waits_for_it():
    script = following(BOOK)
    script.notify("updateOrderbook", book(9, ask=[("11", "8")]))
    assert script.happened == []
    script.notify("snapshotOrderbook", book(10, ask=[("11", "1")]))
    assert levels(script)[0] == [("11", "1")]


@pytest.mark.parametrize("sequence", [12, 13, 2**62])
def test_a_gap_asks_for_the_book_anew_and_nothing_broken_is_told(sequence):
    script = with_book()
    requests = script.notify("updateOrderbook", book(sequence, ask=[("11.5", "1")]))
    assert [one[:2] for one in requests] == [
        ("unsubscribeOrderbook", {"symbol": "ETHBTC"}),
        ("subscribeOrderbook", {"symbol": "ETHBTC"}),
    ]
    assert [event.symbol for event in script.of(BookBroke)] == ["ETHBTC"]
    script.notify("updateOrderbook", book(sequence + 1, ask=[("11.6", "1")]))
    assert len(script.of(BookChanged)) == 1  # only the first snapshot
    script.confirm_all()
    script.notify("snapshotOrderbook", book(sequence + 3, ask=[("20", "1")]))
    script.notify("updateOrderbook", book(sequence + 4, ask=[("21", "1")]))
    assert levels(script)[0] == [("20", "1"), ("21", "1")]


def test_two_updates_in_the_wrong_order_break_the_book():
    script = with_book()
    script.notify("updateOrderbook", book(12, ask=[("11.5", "1")]))
    script.notify("updateOrderbook", book(11, ask=[("11.4", "1")]))
    assert len(script.of(BookBroke)) == 1
    assert script.confirm_all() == ["unsubscribeOrderbook", "subscribeOrderbook"]


def test_a_book_whose_sides_cross_is_broken():
    script = with_book()
    script.notify("updateOrderbook", book(11, bid=[("11", "1")]))
    assert len(script.of(BookBroke)) == 1


def test_an_update_that_can_not_be_read_breaks_the_book_it_names():
    script = with_book()
    script.notify("updateOrderbook", book(11, ask=[("NaN", "1")]))
    assert len(script.of(BookBroke)) == 1
    assert script.confirm_all() == ["unsubscribeOrderbook", "subscribeOrderbook"]


def test_a_book_that_breaks_again_and_again_is_asked_for_more_and_more_rarely():
    script, requests, sequence = with_book(), 0, 10
    for _ in range(300):
        sequence += 5
        script.notify("updateOrderbook", book(sequence))
        requests += script.confirm_all().count("subscribeOrderbook")
        script.notify("snapshotOrderbook", book(sequence))
        requests += [one[0] for one in script.wait(100)].count("subscribeOrderbook")
        script.confirm_all()
    assert 3 <= requests <= 8


def test_a_snapshot_that_never_comes_is_asked_for_again():
    script = following(BOOK)
    assert script.wait(4_000) == []
    requests = script.wait(1_500)
    assert [one[0] for one in requests] == ["unsubscribeOrderbook", "subscribeOrderbook"]


LADDER = st.lists(st.tuples(st.integers(1, 40), st.integers(0, 3)), max_size=6)


@given(st.lists(st.tuples(LADDER, st.sampled_from(["once", "twice", "lost", "snapshot"])), max_size=25))
def test_whatever_happens_to_updates_a_book_that_is_told_is_the_real_one(steps):
    script, real, sequence = following(BOOK), {}, 10
    script.notify("snapshotOrderbook", book(sequence))
    for changes, fate in steps:
        sequence += 1
        real |= dict(changes)
        if fate == "snapshot":
            sizes = [(str(price), str(size)) for price, size in sorted(real.items()) if size]
            script.notify("snapshotOrderbook", book(sequence, ask=sizes))
        update = book(sequence, ask=[(str(price), str(size)) for price, size in dict(changes).items()])
        for _ in range({"once": 1, "twice": 2}.get(fate, 0)):
            before = len(script.of(BookChanged))
            script.notify("updateOrderbook", update)
            if len(script.of(BookChanged)) > before:
                expected = [(str(price), str(size)) for price, size in sorted(real.items()) if size]
                assert levels(script)[0] == expected
        for requests in [one for one in script.waiting if one[0] == "subscribeOrderbook"]:
            script.answer(requests, True)
            sizes = [(str(price), str(size)) for price, size in sorted(real.items()) if size]
            script.notify("snapshotOrderbook", book(sequence, ask=sizes))


# Ends ----------------------------------------------------------------------------------------------------------------


def test_silence_an_unanswered_question_and_a_closed_socket_end_it():
    silent = following(TICKER)
    silent.wait(26_000)
    assert "No data from the exchange" in silent.end.sentence
    unanswered = Script(MarketSession(QUICK))
    unanswered.session.follow([TICKER], unanswered.now_ms)
    unanswered.open()
    unanswered.wait(11_000)
    assert "No response to subscribeTicker" in unanswered.end.sentence
    closed = following(TICKER)
    closed.session.closed("reset")
    closed.requests()
    assert closed.end == Ended("The connection was lost: reset.")
    closed.notify("ticker", ticker())
    closed.session.closed("again")
    assert len(closed.of(Ended)) == 1


def test_a_socket_that_only_answers_pings_ends_although_it_is_not_silent():
    script = following(TICKER)
    for _ in range(16):
        script.session.heard(script.now_ms + 10_000)
        script.wait(10_000)
    assert "No market data from the exchange" in script.end.sentence


def test_a_session_that_follows_nothing_may_be_quiet_for_ever():
    script = following()
    for _ in range(100):
        script.session.heard(script.now_ms + 10_000)
        script.wait(10_000)
    assert script.session.phase is Phase.LIVE
