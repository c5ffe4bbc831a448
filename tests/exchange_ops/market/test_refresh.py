"""The markets that somebody looks at: read closely, kept without holes, and nothing wrong is ever stored."""

from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from desk import clock
from desk.models import Person
from desk.notifications.models import Delivery, Notification
from desk.rows import retention
from exchange_ops.addresses.models import AddressCheck, FeeEstimate
from exchange_ops.market import interest, quotes
from exchange_ops.market import refresh as watched
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade, Symbol
from exchange_ops.orders.models import FeeRates
from exchange_ops.shared import public_client
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from wire.values import Nanoseconds

pytestmark = pytest.mark.django_db

ONE = Decimal(1)
PARTS = {"get_symbol_candles": Candle, "get_symbol_trades": PublicTrade, "get_orderbook": BookSnapshot}


@pytest.fixture(autouse=True)
def _nothing_is_pinned(settings):
    settings.MARKET_PINNED = []


@pytest.fixture
def symbol(db):
    rates = dict.fromkeys(("quantity_increment", "tick_size", "take_liquidity_rate", "provide_liquidity_rate"), ONE)
    columns = {"base_currency": "ETH", "quote_currency": "BTC", "fee_currency": "BTC", "read_at": clock.now()}
    return Symbol.objects.create(code="ETHBTC", **columns, **rates)


def look(symbol, period="M30", now=None):
    return interest.ask(symbol=symbol, period=period, now=now or clock.now())


def refresh(now=None):
    return watched.refresh(now=now or clock.now(), open_client=public_client.open_client)


def calls_of(sandbox, operation):
    return [call["path"] for call in sandbox.control(f"calls?operation={operation}")["calls"]]


def trade(number, *, price="1", quantity="1", at=None):
    return records.PublicTrade(number, Decimal(price), Decimal(quantity), "buy", at or clock.now())


def candle(at, *, low="1", high="4", first="2", last="3", volume="1"):
    figures = (first, last, low, high, volume, "1")
    return records.Candle(at, *(Decimal(text) for text in figures))


# Looking -------------------------------------------------------------------------------------------------------------


def test_what_is_looked_at_is_read_until_a_minute_later(symbol):
    now = clock.now()
    row = look(symbol, now=now)
    assert list(interest.due(now=now + timedelta(seconds=59))) == [row]
    assert not interest.due(now=now + timedelta(seconds=60))
    look(symbol, now=now + timedelta(seconds=70))
    assert list(interest.due(now=now + timedelta(seconds=71))) == [row]


def test_a_page_that_reads_itself_again_and_again_writes_once_in_ten_seconds(symbol, django_assert_num_queries):
    now = clock.now()
    row = look(symbol, now=now)
    look(symbol, now=now + timedelta(seconds=9))
    row.refresh_from_db()
    assert row.asked_at == now
    look(symbol, now=now + timedelta(seconds=10))
    row.refresh_from_db()
    assert row.asked_at == now + timedelta(seconds=10)
    assert MarketLook.objects.count() == 1


def test_a_period_that_the_interface_does_not_have_is_refused(symbol):
    for period in ("", "M2", "m30", "H24", "M30 ", "D1\0"):
        with pytest.raises(interest.UnknownPeriod):
            look(symbol, period)
    assert not MarketLook.objects.exists()


def test_pinned_symbols_are_read_once_a_minute_although_nobody_looks(symbol, sandbox, settings):
    settings.MARKET_PINNED = ["ETHBTC", "NOSUCH"]
    now = clock.now()
    assert [refresh(now + timedelta(seconds=after)) for after in (0, 5, 59, 60)] == [1, 0, 0, 1]
    assert [row.symbol for row in MarketLook.objects.all()] == ["ETHBTC"]
    assert Candle.objects.filter(period="M30").exists()


def test_a_crowd_of_symbols_is_read_in_turns(db):
    now = clock.now()
    most = interest.MOST_AT_ONCE
    MarketLook.objects.bulk_create(MarketLook(symbol=f"S{n}", period="M30", asked_at=now) for n in range(most + 5))
    first = list(interest.due(now=now))
    assert len(first) == most
    MarketLook.objects.filter(pk__in=[row.pk for row in first]).update(tried_at=now)
    assert len([row for row in interest.due(now=now) if row.tried_at is None]) == 5


# Reading -------------------------------------------------------------------------------------------------------------


def test_the_first_round_brings_candles_trades_and_the_book(symbol, sandbox):
    row, now = look(symbol), clock.now()
    assert refresh(now) == 1
    row.refresh_from_db()
    assert (row.candles_read_at, row.trades_read_at, row.book_read_at, row.problem) == (now, now, now, "")
    assert Candle.objects.filter(symbol="ETHBTC", period="M30").count() > 100
    assert PublicTrade.objects.filter(symbol="ETHBTC").count() == quotes.FIRST_TRADES
    book = BookSnapshot.objects.get(symbol="ETHBTC")
    assert Decimal(book.bid[0][0]) < Decimal(book.ask[0][0])
    assert len(book.ask) <= quotes.DEPTH


@pytest.mark.parametrize("period", interest.PERIODS)
def test_every_period_of_the_interface_can_be_looked_at(period, symbol, sandbox):
    look(symbol, period)
    refresh()
    assert MarketLook.objects.get().problem == ""
    assert Candle.objects.filter(period=period).exists()


def test_two_periods_of_a_symbol_share_its_trades_and_book(symbol, sandbox):
    look(symbol, "M1")
    look(symbol, "H1")
    assert refresh() == 1
    assert len(calls_of(sandbox, "get_orderbook")) == len(calls_of(sandbox, "get_symbol_trades")) == 1
    assert len(calls_of(sandbox, "get_symbol_candles")) == 2


def test_later_rounds_walk_on_by_key_and_meet_nothing_twice(symbol, sandbox):
    look(symbol, "M1")
    refresh()
    before = set(PublicTrade.objects.values_list("trade_id", flat=True))
    sandbox.control("clock", {"advance_ms": 600_000})
    later = clock.now() + timedelta(minutes=10)
    look(symbol, "M1", now=later)
    refresh(later)
    assert "'by': 'id'" in str(sandbox.control("calls?operation=get_symbol_trades")["calls"][-1])
    after = set(PublicTrade.objects.values_list("trade_id", flat=True))
    assert before < after
    client = public_client.open_client()
    listed = {one.id for one in client.get_symbol_trades(symbol="ETHBTC", limit=1000).records}
    client.close()
    assert {one for one in listed if min(after) <= one <= max(after)} == after, "a trade is missing"


def test_a_quiet_round_writes_nothing_of_what_is_known(symbol, sandbox):
    sandbox.control("clock", {"frozen": True})
    look(symbol)
    refresh()
    before = list(Candle.objects.order_by("pk").values_list("read_at", flat=True))
    book = BookSnapshot.objects.get().read_at
    refresh(clock.now() + timedelta(seconds=1))
    assert list(Candle.objects.order_by("pk").values_list("read_at", flat=True)) == before
    assert BookSnapshot.objects.get().read_at == book


def test_only_one_process_reads_at_a_time(symbol, sandbox):
    from exchange_ops.shared import leases

    look(symbol)
    assert leases.hold(name=watched.LEASE, holder="another", now=clock.now())
    assert refresh() == 0
    leases.release(name=watched.LEASE, holder="another")
    assert refresh() == 1


def test_a_look_that_was_just_read_is_not_read_again_by_its_wake_up_call(symbol, sandbox):
    row, now = look(symbol), clock.now()
    arguments = {"look_id": row.pk, "open_client": public_client.open_client}
    assert watched.read_one(now=now, **arguments) == 1
    assert watched.read_one(now=now + timedelta(seconds=9), **arguments) == 0
    assert watched.read_one(look_id=row.pk + 1, now=now, open_client=public_client.open_client) == 0


# Bad answers ---------------------------------------------------------------------------------------------------------

SPOILT = [
    {"kind": "cut_body"},
    {"kind": "html"},
    {"kind": "redirect"},
    {"kind": "status", "status": 500},
    {"kind": "refuse", "code": 2001},
    {"kind": "refuse", "code": 10001},
    {"kind": "drop_before"},
    {"kind": "drop_after"},
]


@pytest.mark.parametrize("operation", PARTS)
@pytest.mark.parametrize("fault", SPOILT, ids=lambda fault: "-".join(str(value) for value in fault.values()))
def test_an_answer_that_is_none_stores_nothing_and_says_so(symbol, sandbox, operation, fault):
    look(symbol)
    sandbox.control("faults", {"operation": operation, "times": 9, **fault})
    refresh()
    assert not PARTS[operation].objects.exists()
    assert MarketLook.objects.get().problem
    sandbox.control("faults", method="DELETE")
    refresh(clock.now() + timedelta(seconds=5))
    assert PARTS[operation].objects.exists()
    assert MarketLook.objects.get().problem == ""


WRONG = [
    ("get_symbol_candles", "open", "NaN"),
    ("get_symbol_candles", "min", "-1"),
    ("get_symbol_candles", "max", "0.0000001"),
    ("get_symbol_candles", "volume", None),
    ("get_symbol_candles", "volumeQuote", "1e99"),
    ("get_symbol_candles", "timestamp", "soon"),
    ("get_symbol_candles", "close", ""),
    ("get_symbol_trades", "price", "NaN"),
    ("get_symbol_trades", "price", "0"),
    ("get_symbol_trades", "quantity", "-1"),
    ("get_symbol_trades", "quantity", "Infinity"),
    ("get_symbol_trades", "id", "12"),
    ("get_symbol_trades", "id", -1),
    ("get_symbol_trades", "side", "x" * 500),
    ("get_symbol_trades", "side", "a\0b"),
    ("get_symbol_trades", "timestamp", None),
    ("get_orderbook", "ask", None),
    ("get_orderbook", "ask", [{"price": "1"}]),
    ("get_orderbook", "ask", [{"price": "NaN", "size": "1"}]),
    ("get_orderbook", "bid", [{"price": "1", "size": "0"}]),
    ("get_orderbook", "bid", [{"price": "1", "size": "1"}, {"price": "2", "size": "1"}]),
    ("get_orderbook", "bid", [{"price": "99999", "size": "1"}]),
    ("get_orderbook", "timestamp", "never"),
]


@pytest.mark.parametrize(("operation", "field", "value"), WRONG)
def test_a_member_that_is_wrong_is_not_stored(symbol, sandbox, operation, field, value):
    look(symbol)
    armed = {"operation": operation, "kind": "echo_differs", "field": field, "value": value, "times": 9}
    sandbox.control("faults", armed)
    refresh()
    assert not PARTS[operation].objects.exists()
    assert MarketLook.objects.get().problem
    others = set(PARTS.values()) - {PARTS[operation]}
    assert all(model.objects.exists() for model in others), "one bad part hides no other"


@pytest.mark.parametrize("operation", PARTS)
def test_a_member_that_is_missing_is_not_made_up(symbol, sandbox, operation):
    member = {"get_symbol_candles": "open", "get_symbol_trades": "price", "get_orderbook": "timestamp"}[operation]
    look(symbol)
    armed = {"operation": operation, "kind": "echo_differs", "field": member, "absent": True, "times": 9}
    sandbox.control("faults", armed)
    refresh()
    assert not PARTS[operation].objects.exists()


def test_a_market_that_is_refused_stops_no_other(symbol, sandbox):
    gone = Symbol.objects.get(pk=symbol.pk)
    gone.code = "AAAGONE"
    gone.save(force_insert=True)
    look(gone)
    look(symbol)
    assert refresh() == 2
    assert "2001" in MarketLook.objects.get(symbol="AAAGONE").problem
    assert MarketLook.objects.get(symbol="ETHBTC").problem == ""


def test_an_exchange_out_of_reach_ends_the_round(db, settings):
    settings.EXCHANGE_URL = "http://127.0.0.1:9"
    now = clock.now()
    MarketLook.objects.bulk_create(MarketLook(symbol=f"S{n}", period="M30", asked_at=now) for n in range(9))
    assert refresh(now) == 0
    assert MarketLook.objects.exclude(tried_at=None).count() == watched.MOST_MISSED
    assert not PublicTrade.objects.exists()


# Keeping -------------------------------------------------------------------------------------------------------------


def keep_trades(numbers, *, now=None, whole=False):
    return quotes.keep_trades(
        symbol="ETHBTC", trades=[trade(number) for number in numbers], now=now or clock.now(), is_complete=whole
    )


def kept_trades():
    return set(PublicTrade.objects.values_list("trade_id", flat=True))


def test_a_hole_in_the_trades_is_not_kept():
    keep_trades(range(10))
    newest = range(1_000, 1_000 + quotes.FIRST_TRADES)
    keep_trades(newest, whole=True)
    assert kept_trades() == set(newest)


def test_a_reading_that_reaches_back_keeps_what_lies_before():
    keep_trades(range(10))
    keep_trades(range(9, 9 + quotes.FIRST_TRADES), whole=True)
    assert kept_trades() == set(range(9 + quotes.FIRST_TRADES))


def test_a_few_trades_of_a_quiet_market_keep_what_lies_before():
    keep_trades(range(10))
    keep_trades(range(50, 55), whole=True)
    assert kept_trades() == {*range(10), *range(50, 55)}


def test_an_impossible_number_does_not_stop_the_walk_for_good():
    keep_trades([5, 2**62])
    keep_trades(range(3, 9), whole=True)
    assert kept_trades() == set(range(3, 9))


def test_a_candle_of_a_far_future_does_not_stop_the_walk_for_good(symbol, sandbox):
    far = datetime.fromisoformat("9990-01-01T00:00:00+00:00")
    quotes.keep_candles(symbol="ETHBTC", period="M30", candles=[candle(far)], now=clock.now())
    look(symbol)
    refresh()
    assert not Candle.objects.filter(timestamp=far).exists()
    assert Candle.objects.count() > 100


def test_a_growing_candle_is_written_again_and_an_older_reading_of_it_is_not():
    start, now = datetime.fromisoformat("2026-11-20T10:00:00+00:00"), clock.now()
    arguments = {"symbol": "ETHBTC", "period": "M30"}
    quotes.keep_candles(candles=[candle(start, volume="1")], now=now, **arguments)
    quotes.keep_candles(candles=[candle(start, volume="5")], now=now + timedelta(seconds=5), **arguments)
    quotes.keep_candles(candles=[candle(start, volume="2")], now=now + timedelta(seconds=3), **arguments)
    assert Candle.objects.get().volume == 5


@pytest.mark.parametrize(
    "figures",
    [{"low": "3"}, {"high": "2"}, {"low": "0"}, {"volume": "-1"}, {"low": "5", "high": "4"}, {"low": "-1"}],
)
def test_a_candle_that_contradicts_itself_is_not_kept(figures):
    start = datetime.fromisoformat("2026-11-20T10:00:00+00:00")
    kept = quotes.keep_candles(symbol="E", period="M1", candles=[candle(start, **figures)], now=clock.now())
    assert kept == ["its values are inconsistent"]
    assert not Candle.objects.exists()


def test_an_empty_side_of_a_book_is_a_book():
    found = records.OrderBook([], [records.Level(ONE, ONE)], Nanoseconds(1))
    quotes.keep_book(symbol="ETHBTC", book=found, now=clock.now())
    assert BookSnapshot.objects.get().ask == []


# Letting go ----------------------------------------------------------------------------------------------------------


def test_what_is_older_than_the_settings_keep_is_removed_in_batches(settings):
    settings.MARKET_TRADES_KEPT_DAYS, settings.MARKET_CANDLES_KEPT = 2, 500
    now = clock.now()
    at = [now - timedelta(hours=hours) for hours in range(100)]
    quotes.keep_trades(symbol="E", trades=[trade(n, at=when) for n, when in enumerate(at)], now=now)
    minutes = [now - timedelta(minutes=n) for n in range(600)]
    for period in ("M1", "H1"):
        quotes.keep_candles(symbol="E", period=period, candles=[candle(when) for when in minutes], now=now)
    assert retention.purge(now=now, batch=7) == 51 + 99
    assert not PublicTrade.objects.filter(timestamp__lt=now - timedelta(days=2)).exists()
    assert PublicTrade.objects.count() == 49
    assert [Candle.objects.filter(period=period).count() for period in ("M1", "H1")] == [501, 600]
    assert retention.purge(now=now) == 0


def test_a_run_has_a_bound_and_the_next_goes_on(settings):
    now = clock.now()
    old = now - timedelta(days=400)
    quotes.keep_trades(symbol="E", trades=[trade(n, at=old + timedelta(seconds=n)) for n in range(50)], now=now)
    assert [retention.purge(now=now, batch=10, most_batches=3) for _ in range(3)] == [30, 20, 0]


def test_old_answers_to_forms_are_removed_and_fresh_ones_stay():
    now = clock.now()
    account = Account.objects.create(name="Main desk", quote_currency="USD")
    for days in (0, 29, 31, 400):
        columns = {"account": account, "currency": "BTC", "requested_at": now - timedelta(days=days)}
        AddressCheck.objects.create(address=f"a{days}", answered_at=columns["requested_at"], **columns)
        FeeEstimate.objects.create(amount=Decimal(days + 1), **columns)
        FeeRates.objects.create(account=account, symbol=f"S{days}", requested_at=columns["requested_at"])
    retention.purge(now=now)
    assert set(AddressCheck.objects.values_list("address", flat=True)) == {"a0", "a29"}
    assert set(FeeEstimate.objects.values_list("amount", flat=True)) == {1, 30}
    assert set(FeeRates.objects.values_list("symbol", flat=True)) == {"S0", "S29"}


def test_what_was_told_long_ago_is_removed_once_it_is_over(settings):
    settings.MESSAGES_KEPT_DAYS, now = 30, clock.now()
    for number, days in enumerate((29, 31, None)):
        columns = {"kind": "k", "reference": f"I-{number}", "title": "T", "url": "/", "created_at": now}
        ended = None if days is None else now - timedelta(days=days)
        row = Notification.objects.create(subject=f"i:{number}", stage="opened", ended_at=ended, **columns)
        Delivery.objects.create(
            notification=row,
            medium="email",
            person=Person.objects.create(username=f"p{number}"),
            state="delivered",
            created_at=now,
            updated_at=now,
        )
    retention.purge(now=now)
    assert list(Delivery.objects.order_by("pk").values_list("notification__subject", flat=True)) == ["i:0", "i:2"]


def test_looks_of_yesterday_are_let_go_but_pinned_ones_stay(settings):
    settings.MARKET_PINNED = ["PINNED"]
    now = clock.now()
    for code, days in (("PINNED", 9), ("OLD", 9), ("NEW", 0)):
        MarketLook.objects.create(symbol=code, period="M30", asked_at=now - timedelta(days=days))
    retention.purge(now=now)
    assert set(MarketLook.objects.values_list("symbol", flat=True)) == {"PINNED", "NEW"}
