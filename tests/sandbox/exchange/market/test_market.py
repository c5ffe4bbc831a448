"""Currencies, symbols and tickers: the published figures, prices that move, agree with each other and repeat."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.world.world import World
from tests.sandbox.worlds import HOUR_MS, START_MS, Ticking, call, opened, refused

SYMBOL_HINT = "Try get /api/2/public/symbol, to get list of all available symbols."


@pytest.fixture
def world() -> World:
    return opened()


def price(ticker: dict[str, Any], name: str = "last") -> Decimal:
    return Decimal(ticker[name])


def test_symbols_carry_the_published_figures(world: World) -> None:
    assert call(world, "get_symbol", None, symbol="ethbtc") == {
        "id": "ETHBTC",
        "baseCurrency": "ETH",
        "quoteCurrency": "BTC",
        "quantityIncrement": "0.0001",
        "tickSize": "0.000001",
        "takeLiquidityRate": "0.0025",
        "provideLiquidityRate": "0.001",
        "feeCurrency": "BTC",
        "marginTrading": True,
        "maxInitialLeverage": "10.00",
    }
    doge = call(world, "get_symbol", None, symbol="DOGEBTC")
    assert (doge["quantityIncrement"], doge["tickSize"]) == ("10", "0.00000000001")
    usdt = call(world, "get_symbol", None, symbol="XRPUSDT")
    assert (usdt["baseCurrency"], usdt["quoteCurrency"], usdt["feeCurrency"]) == ("XRP", "USD", "USD")
    assert "marginTrading" not in call(world, "get_symbol", None, symbol="ETHEUR")
    listed = {each["id"] for each in call(world, "get_symbols", None)}
    assert listed >= {"ETHBTC", "BTCUSD", "ETHUSD", "ETHEUR", "EOSETH", "EOSBTC", "BCHUSD"}
    assert listed >= {"BCHBTC", "LTCBTC", "LTCUSD", "XRPBTC", "XRPUSDT", "DOGEBTC"}


def test_every_symbol_is_of_listed_currencies_and_every_purpose_has_its_currency(world: World) -> None:
    currencies = {each["id"]: each for each in call(world, "get_currencies", None)}
    for symbol in call(world, "get_symbols", None):
        assert {symbol["baseCurrency"], symbol["quoteCurrency"]} <= set(currencies)
    assert currencies["DDF"]["delisted"] is True
    assert not {"payoutMinimalAmount", "precisionPayout", "lowProcessingTime"} & set(currencies["DDF"])
    assert (currencies["NXT"]["payoutEnabled"], currencies["NXT"]["delisted"]) == (False, False)
    assert (currencies["XRP"]["payinPaymentId"], currencies["XRP"]["payoutIsPaymentId"]) == (True, True)
    assert (currencies["USD"]["crypto"], currencies["BTC"]["crypto"]) == (False, True)
    assert currencies["ETH"]["payoutMinimalAmount"] == "0.00958"
    assert currencies["BTC"]["precisionPayout"] == 10


def test_lists_take_some_codes_in_any_case_and_refuse_unknown_ones(world: World) -> None:
    some = call(world, "get_currencies", None, currencies=["eth", "BTC", "eth"])
    assert [each["id"] for each in some] == ["ETH", "BTC"]
    assert [each["id"] for each in call(world, "get_symbols", None, symbols="btcusd,ETHBTC")] == ["BTCUSD", "ETHBTC"]
    assert [each["symbol"] for each in call(world, "get_tickers", None, symbols=["EOSETH"])] == ["EOSETH"]
    assert len(call(world, "get_currencies", None, currencies="")) == len(world.exchange.currencies)
    assert refused(world, "get_symbols", 2001, None, symbols=["ETHBTC", "NOPE"]).description == SYMBOL_HINT
    refused(world, "get_ticker", 2001, None, symbol="NOPE")
    refused(world, "get_tickers", 2001, None, symbols="NOPE")
    refused(world, "get_currencies", 2002, None, currencies=["BTC", "NOPE"])
    refused(world, "get_symbol", 10001, None)
    refused(world, "get_symbols", 10001, None, symbols=[1])


def test_prices_are_plausible_and_cross_rates_agree(world: World) -> None:
    tickers = {each["symbol"]: each for each in call(world, "get_tickers", None)}
    for symbol, about in (("BTCUSD", 93_000), ("ETHUSD", 3_100), ("BCHUSD", 520), ("LTCUSD", 95), ("XRPUSDT", "2.2")):
        assert abs(price(tickers[symbol]) / Decimal(about) - 1) < Decimal("0.06"), symbol
    crosses = (("ETHBTC", "ETHUSD", "BTCUSD"), ("LTCBTC", "LTCUSD", "BTCUSD"), ("EOSETH", "EOSUSD", "ETHUSD"))
    for cross, one, other in crosses:
        through_dollars = price(tickers[one]) / price(tickers[other])
        assert abs(price(tickers[cross]) / through_dollars - 1) < Decimal("0.002"), cross


def check_ticker(ticker: dict[str, Any], symbol: dict[str, Any]) -> None:
    """What holds for every ticker at every instant."""
    tick, increment = Decimal(symbol["tickSize"]), Decimal(symbol["quantityIncrement"])
    low, high = price(ticker, "low"), price(ticker, "high")
    for name in ("ask", "bid", "last", "open", "low", "high"):
        assert price(ticker, name) > 0, name
        assert price(ticker, name) % tick == 0, name
        assert "E" not in ticker[name]
    assert price(ticker, "bid") < price(ticker, "ask")
    assert low <= price(ticker, "last") <= high
    assert low <= price(ticker, "open") <= high
    assert abs(price(ticker) / price(ticker, "bid") - 1) < Decimal("0.1")
    assert price(ticker, "volume") % increment == 0
    if price(ticker, "volume"):
        assert low <= price(ticker, "volumeQuote") / price(ticker, "volume") <= high


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 400 * 24 * HOUR_MS), st.integers(0, 2**63 - 1))
def test_a_ticker_is_sound_at_any_time_and_seed(later_ms: int, seed: int) -> None:
    world = opened(clock=Ticking(START_MS + later_ms), seed=seed)
    symbols = {each["id"]: each for each in call(world, "get_symbols", None)}
    for ticker in call(world, "get_tickers", None):
        check_ticker(ticker, symbols[ticker["symbol"]])
        assert price(ticker, "volume") > 0
        assert abs(price(ticker) / price(ticker, "bid") - 1) < Decimal("0.05")  # the coarsest price has 129 ticks


def test_the_market_moves_and_its_past_does_not_change(world: World) -> None:
    seen = []
    for _ in range(60):
        seen.append(call(world, "get_ticker", None, symbol="BTCUSD"))
        world.clock.advance(1_000)
    assert len({each["bid"] for each in seen}) > 30
    assert len({each["last"] for each in seen}) > 3
    for name in ("last", "bid"):
        steps = [abs(price(later, name) / price(earlier, name) - 1) for earlier, later in pairwise(seen)]
        assert max(steps) < Decimal("0.005")
    assert [each["timestamp"] for each in seen[:2]] == ["2026-11-18T11:06:40.000Z", "2026-11-18T11:06:41.000Z"]
    world.clock.advance(24 * HOUR_MS - 60_000)
    assert call(world, "get_ticker", None, symbol="BTCUSD")["open"] == seen[0]["last"]


def test_the_high_of_a_day_does_not_fall_while_the_day_is_young(world: World) -> None:
    before = call(world, "get_ticker", None, symbol="ETHBTC")
    for _ in range(20):
        world.clock.advance(500)
        now = call(world, "get_ticker", None, symbol="ETHBTC")
        assert price(now, "high") >= price(before, "high")
        before = now


def test_the_same_seed_gives_the_same_market_and_another_one_another() -> None:
    first, same, other = opened(seed=7), opened(seed=7), opened(seed=8)
    assert call(first, "get_tickers", None) == call(same, "get_tickers", None)
    assert call(first, "get_tickers", None) != call(other, "get_tickers", None)


def test_a_still_market_stands_and_only_its_24_hours_move_on() -> None:
    clock = Ticking()
    world = opened(clock=clock, still=True, traders=True)
    before = call(world, "get_ticker", None, symbol="BTCUSD")
    clock.at_ms += 5 * HOUR_MS
    later = call(world, "get_ticker", None, symbol="BTCUSD")
    for name in ("ask", "bid", "last"):
        assert later[name] == before[name]
    assert 0 < price(later, "volume") < price(before, "volume")
    clock.at_ms += 20 * HOUR_MS
    for ticker in call(world, "get_tickers", None):
        assert (ticker["volume"], ticker["volumeQuote"]) == ("0", "0")
        assert ticker["last"] == ticker["open"] == ticker["low"] == ticker["high"]
        assert price(ticker, "bid") < price(ticker, "ask")


@pytest.mark.parametrize(("wanted", "got"), [(1, 13), (13, 13), (20, 20), (24, 24), (25, 25), (1000, 1000)])
def test_as_many_symbols_as_wanted_but_never_fewer_than_thirteen(wanted: int, got: int) -> None:
    world = opened(symbols=wanted)
    symbols = call(world, "get_symbols", None)
    assert len({each["id"] for each in symbols}) == got
    currencies = {each["id"] for each in call(world, "get_currencies", None)}
    assert len(currencies) == len(world.exchange.currencies)
    by_id = {each["id"]: each for each in symbols}
    for ticker in call(world, "get_tickers", None)[-50:]:
        check_ticker(ticker, by_id[ticker["symbol"]])
