"""Candles: every period against the trades that are in it, gaps, weeks, months, pages, and trades of the engine."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import cache
from itertools import groupby, pairwise
from typing import Any

import pytest

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.tape.candles import PERIODS
from sandbox.world.world import World
from tests.sandbox.trading import order
from tests.sandbox.worlds import HOUR_MS, MINUTE_MS, START_MS, Ticking, call, opened, refused

MINUTES = {"M1": 1, "M3": 3, "M5": 5, "M15": 15, "M30": 30, "H1": 60, "H4": 240, "D1": 1440, "D7": 7 * 1440}
TICK, INCREMENT = Decimal("0.01"), Decimal("0.00001")  # of BTCUSD
FORM = "%Y-%m-%dT%H:%M:%S.%fZ"
QUIET = "QAABUSD"


def candles(world: World, symbol: str = "BTCUSD", period: str = "M30", **arguments: object) -> list[dict[str, Any]]:
    """The candles of a symbol."""
    found: list[dict[str, Any]] = call(world, "get_symbol_candles", None, symbol=symbol, period=period, **arguments)
    return found


def every_trade(world: World, symbol: str, first_ms: int, last_ms: int) -> list[dict[str, Any]]:
    """All public trades between two instants, oldest first, by pages of their numbers."""
    found: list[dict[str, Any]] = []
    while True:
        start = found[-1]["id"] + 1 if found else max(first_ms * 1000 - 1000, 0)
        arguments = {"symbol": symbol, "sort": "ASC", "by": "id", "from": start, "till": last_ms * 1000, "limit": 1000}
        page = call(world, "get_symbol_trades", None, **arguments)
        found += page
        if len(page) < 1000:
            return found


@cache
def instant(text: str) -> datetime:
    return datetime.strptime(text, FORM).replace(tzinfo=UTC)


@cache
def text_of(moment: datetime) -> str:
    return moment.strftime(FORM)[:-4] + "Z"


def start_of(period: str, moment: datetime) -> datetime:
    """The start of the period that a moment is in, by the calendar alone."""
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if period == "1M":
        return midnight.replace(day=1)
    if period == "D7":
        return midnight - timedelta(days=moment.weekday())
    minutes = (moment.hour * 60 + moment.minute) // MINUTES[period] * MINUTES[period]
    return midnight + timedelta(minutes=minutes)


def summed(period: str, trades: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """What the candles of these trades must be, as numbers."""
    wanted = []
    for start, group in groupby(trades, key=lambda trade: start_of(period, instant(trade["timestamp"]))):
        made = list(group)
        prices = [Decimal(trade["price"]) for trade in made]
        quantities = [Decimal(trade["quantity"]) for trade in made]
        wanted.append(
            {
                "timestamp": text_of(start),
                "open": prices[0],
                "close": prices[-1],
                "min": min(prices),
                "max": max(prices),
                "volume": sum(quantities),
                "volumeQuote": sum(price * quantity for price, quantity in zip(prices, quantities, strict=True)),
            }
        )
    return wanted


def as_numbers(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: each[name] if name == "timestamp" else Decimal(each[name]) for name in each} for each in found]


# Built from the trades -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", ["M1", "M3", "M5", "M15", "M30", "H1", "H4", "D1"])
def test_a_candle_is_what_the_trades_in_it_come_to(period: str) -> None:
    world, last_ms = opened(), START_MS // DAY_MS * DAY_MS - 1
    length_ms = MINUTES[period] * MINUTE_MS
    first_ms = last_ms + 1 - max(length_ms, 2 * HOUR_MS)
    found = candles(world, period=period, from_=first_ms, till=last_ms, limit=1000)
    assert as_numbers(found) == summed(period, every_trade(world, "BTCUSD", first_ms, last_ms))
    assert len(found) == (last_ms + 1 - first_ms) // length_ms


@pytest.mark.parametrize("period", PERIODS)
def test_candles_of_a_symbol_with_gaps_are_those_of_its_whole_tape(period: str) -> None:
    world = opened(symbols=40)
    trades = every_trade(world, QUIET, 0, START_MS)
    assert 40 < len(trades) < 400
    wanted = summed(period, trades)
    found = [each for skip in range(0, len(wanted) + 100, 100) for each in candles(world, QUIET, period, offset=skip)]
    assert as_numbers(found) == wanted
    steps = {instant(later["timestamp"]) - instant(earlier["timestamp"]) for earlier, later in pairwise(found)}
    if MINUTES.get(period, 10**9) < 240:
        assert len(steps) > 10  # where nobody traded there is no candle
    assert candles(world, QUIET, period, sort="DESC", limit=1000) == candles(world, QUIET, period, limit=1000)[::-1]


@pytest.mark.parametrize("period", ["D7", "1M"])
def test_weeks_begin_on_monday_and_months_on_their_first(period: str) -> None:
    world = opened()
    found = candles(world, "EOSETH", period)
    starts = [instant(each["timestamp"]) for each in found]
    assert all(start == start_of(period, start) for start in starts)
    assert [each["timestamp"] for each in found][:2] == (
        ["2026-08-10T00:00:00.000Z", "2026-08-17T00:00:00.000Z"]
        if period == "D7"
        else ["2026-08-01T00:00:00.000Z", "2026-09-01T00:00:00.000Z"]
    )
    days = candles(world, "EOSETH", "D1", limit=1000)
    assert [text_of(start) for start in starts] == list(
        dict.fromkeys(text_of(start_of(period, instant(day["timestamp"]))) for day in days)
    )
    for candle, start in zip(found, starts, strict=True):
        inside = [day for day in days if start_of(period, instant(day["timestamp"])) == start]
        assert (candle["open"], candle["close"]) == (inside[0]["open"], inside[-1]["close"])
        assert Decimal(candle["max"]) == max(Decimal(day["max"]) for day in inside)
        assert Decimal(candle["min"]) == min(Decimal(day["min"]) for day in inside)
        assert Decimal(candle["volume"]) == sum(Decimal(day["volume"]) for day in inside)
        assert Decimal(candle["volumeQuote"]) == sum(Decimal(day["volumeQuote"]) for day in inside)


def test_the_shorter_periods_add_up_to_the_longer_ones() -> None:
    world, first_ms = opened(), START_MS // DAY_MS * DAY_MS - DAY_MS
    volumes = {
        period: sum(
            Decimal(each["volumeQuote"])
            for each in candles(world, "ETHEUR", period, from_=first_ms, till=first_ms + DAY_MS - 1, limit=1000)
        )
        for period in ("M3", "M5", "M15", "M30", "H1", "H4", "D1")
    }
    assert len(set(volumes.values())) == 1
    assert volumes["D1"] > 0


def test_figures_have_the_digits_of_tick_increment_and_both() -> None:
    (first,) = candles(opened(), limit=1)
    assert list(first) == ["timestamp", "open", "close", "min", "max", "volume", "volumeQuote"]
    digits = {name: len(first[name].partition(".")[2]) for name in first if name != "timestamp"}
    assert digits == {"open": 2, "close": 2, "min": 2, "max": 2, "volume": 5, "volumeQuote": 7}


# The present period --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("period", PERIODS)
def test_the_present_candle_has_what_was_traded_so_far(period: str) -> None:
    world = opened()
    for _ in range(3):
        (now,) = candles(world, period=period, sort="DESC", limit=1)
        moment = instant("2026-11-18T11:06:40.000Z") + timedelta(milliseconds=world.exchange.moment_ms - START_MS)
        assert instant(now["timestamp"]) == start_of(period, moment)
        newest = call(world, "get_symbol_trades", None, symbol="BTCUSD", limit=1)[0]
        assert now["close"] == newest["price"]
        world.clock.advance(65_000)


def test_a_trade_of_the_engine_is_in_its_candles_at_once_and_for_good() -> None:
    clock = Ticking()
    world = opened(clock=clock, still=True, traders=True)
    before = {period: candles(world, "ETHBTC", period, sort="DESC", limit=1) for period in PERIODS}
    every = call(world, "get_candles", None, sort="DESC", limit=1)
    clock.at_ms += 3 * MINUTE_MS
    made = order(world, "buy", "3.5", type="market")["tradesReport"]
    for period in PERIODS:
        (after,) = candles(world, "ETHBTC", period, sort="DESC", limit=1)
        assert after["close"] == made[-1]["price"]
        if after["timestamp"] == before[period][0]["timestamp"]:
            assert Decimal(after["volume"]) == Decimal(before[period][0]["volume"]) + Decimal("3.5")
            assert after["open"] == before[period][0]["open"]
        else:
            assert Decimal(after["volume"]) == Decimal("3.5")
    assert call(world, "get_candles", None, sort="DESC", limit=1) == every | {
        "ETHBTC": candles(world, "ETHBTC", sort="DESC", limit=1)
    }
    kept = {period: candles(world, "ETHBTC", period, sort="DESC", limit=1) for period in PERIODS}
    clock.at_ms += 40 * DAY_MS
    assert {period: candles(world, "ETHBTC", period, sort="DESC", limit=1) for period in PERIODS} == kept
    day = candles(world, "ETHBTC", "D1", from_=START_MS // DAY_MS * DAY_MS, limit=1)
    assert day == kept["D1"]


@pytest.mark.parametrize("arguments", [{"sort": "DESC", "limit": 20}, {"period": "M1", "sort": "DESC", "limit": 5}])
def test_candles_of_many_symbols_never_lag_behind_those_of_one(arguments: dict[str, object]) -> None:
    clock = Ticking()
    world = opened(clock=clock, symbols=60)
    for step_ms in (0, 1, 999, 5_000, MINUTE_MS, *[47 * MINUTE_MS] * 30, DAY_MS, 31 * DAY_MS):
        clock.at_ms += step_ms
        every = call(world, "get_candles", None, **arguments)
        assert list(every) == list(world.exchange.symbols)
        for symbol in ("BTCUSD", "SHIBUSD", *list(every)[24:]):
            assert every[symbol] == call(world, "get_symbol_candles", None, symbol=symbol, **arguments)


def test_trades_of_many_symbols_never_lag_behind_those_of_one() -> None:
    clock = Ticking()
    world = opened(clock=clock, symbols=60)
    for step_ms in (0, 1, 999, *[1_300] * 20, MINUTE_MS, *[47 * MINUTE_MS] * 30, DAY_MS):
        clock.at_ms += step_ms
        every = call(world, "get_trades", None, limit=7)
        for symbol in ("BTCUSD", "SHIBUSD", *list(every)[24:]):
            assert every[symbol] == call(world, "get_symbol_trades", None, symbol=symbol, limit=7)


def test_a_trade_of_the_engine_is_told_among_many_symbols_at_once() -> None:
    world = opened()
    call(world, "get_candles", None, sort="DESC")
    call(world, "get_trades", None)
    made = order(world, "buy", "0.1", type="market")["tradesReport"]
    assert call(world, "get_trades", None)["ETHBTC"][0]["id"] == made[-1]["id"]
    assert call(world, "get_candles", None, sort="DESC")["ETHBTC"][0]["close"] == made[-1]["price"]
    assert call(world, "get_candles", None, sort="DESC")["ETHBTC"] == candles(world, "ETHBTC", sort="DESC")


# Pages and intervals -------------------------------------------------------------------------------------------------


def test_the_default_is_a_hundred_half_hours_from_the_oldest_on() -> None:
    world = opened()
    found = candles(world)
    assert call(world, "get_symbol_candles", None, symbol="BTCUSD") == found
    assert len(found) == 100
    assert found[0]["timestamp"] == "2026-08-10T00:00:00.000Z"
    assert all(
        instant(later["timestamp"]) - instant(earlier["timestamp"]) == timedelta(minutes=30)
        for earlier, later in pairwise(found)
    )
    assert candles(world, sort="DESC")[0]["timestamp"] == "2026-11-18T11:00:00.000Z"


def test_both_ends_of_an_interval_are_included_and_name_starts() -> None:
    world = opened()
    hours = candles(world, period="H1", from_="2026-11-17T10:00Z", till="2026-11-17T15:00Z")
    assert [each["timestamp"][11:13] for each in hours] == ["10", "11", "12", "13", "14", "15"]
    assert candles(world, period="H1", from_="2026-11-17T10:00:00.001Z", till="2026-11-17T14:59Z") == hours[1:-1]
    assert candles(world, period="H1", from_="2026-11-17T10:00Z", till="2026-11-17T15:00Z", sort="DESC") == hours[::-1]
    assert candles(world, period="H1", from_="2026-11-17T10:00Z", limit=6) == hours
    assert candles(world, period="H1", from_="2026-11-17T15:00Z", till="2026-11-17T10:00Z") == []
    assert candles(world, period="H1", from_="2026-12-24") == candles(world, period="H1", till="2020-01-01") == []


def test_pages_by_offset_are_the_list() -> None:
    world = opened()
    for period in ("M5", "H4", "D1"):
        for sort in ("ASC", "DESC"):
            whole = candles(world, period=period, sort=sort, limit=90)
            pages = [candles(world, period=period, sort=sort, limit=30, offset=skip) for skip in (0, 30, 60)]
            assert [each for page in pages for each in page] == whole
    assert candles(world, period="1M", offset=100_000) == []


def test_what_is_odd_is_refused() -> None:
    world = opened()
    for name, values in {
        "period": ("M2", "m30", "1m", "D30", 30, "M30 "),
        "limit": (1001, -1, "1.5", "x" * 50),
        "offset": (-1, 100_001, "x"),
        "sort": ("asc", "up"),
        "from": ("yesterday", "2026-02-30", True, -5),
        "till": ("NaN", "1e9", [1]),
    }.items():
        for value in values:
            refused(world, "get_symbol_candles", 10001, None, symbol="ETHBTC", **{name: value})
            refused(world, "get_candles", 10001, None, **{name: value})
    refused(world, "get_symbol_candles", 2001, None, symbol="NOPE")
    refused(world, "get_candles", 2001, None, symbols="ETHBTC,NOPE")
