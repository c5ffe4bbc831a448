"""The contract of public market data, written from the specification alone: literal addresses and members.

`--target URL` asks another server the same; no key is needed. It wants ETHBTC and BTCUSD with books and trades.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

import pytest

from sandbox.serving import InProcessSandbox
from tests.sandbox.exchange.accounts.test_contract_account import DECIMAL, INSTANT, Target, error, good

NINE_DIGITS = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9}Z")
LISTS = ("/api/2/public/trades", "/api/2/public/candles", "/api/2/public/trades/ETHBTC", "/api/2/public/candles/ETHBTC")


@pytest.fixture(scope="module")
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The server at --target, or a sandbox in process."""
    url = request.config.getoption("--target", default=None)
    if url:
        yield Target(url, request.config.getoption("--target-key"))
        return
    with InProcessSandbox(seed=1) as sandbox:
        yield Target(sandbox.url, "demo-full:demo-full-secret")


def ask(target: Target, path: str) -> Any:
    """The JSON of a public address."""
    return good(target.ask("GET", path, anonymous=True))


def refused(target: Target, path: str) -> tuple[int, int]:
    """HTTP status and code of a public address that is refused."""
    return error(target.ask("GET", path, anonymous=True))


def is_symbol(record: dict[str, Any]) -> bool:
    decimals = ("quantityIncrement", "tickSize", "takeLiquidityRate", "provideLiquidityRate")
    texts = ("id", "baseCurrency", "quoteCurrency", "feeCurrency")
    return (
        all(isinstance(record[name], str) for name in texts)
        and all(DECIMAL.fullmatch(record[name]) is not None for name in decimals)
        and isinstance(record.get("marginTrading", True), bool)
        and DECIMAL.fullmatch(record.get("maxInitialLeverage", "1")) is not None
    )


def is_ticker(record: dict[str, Any]) -> bool:
    return (
        all(record[name] is None or DECIMAL.fullmatch(record[name]) for name in ("ask", "bid", "last", "open"))
        and all(DECIMAL.fullmatch(record[name]) for name in ("low", "high", "volume", "volumeQuote"))
        and INSTANT.fullmatch(record["timestamp"]) is not None
        and isinstance(record["symbol"], str)
    )


def is_trade(record: dict[str, Any]) -> bool:
    return (
        isinstance(record["id"], int)
        and all(DECIMAL.fullmatch(record[name]) for name in ("price", "quantity"))
        and record["side"] in {"sell", "buy"}
        and INSTANT.fullmatch(record["timestamp"]) is not None
    )


def is_book(record: dict[str, Any]) -> bool:
    levels = [*record["ask"], *record["bid"]]
    return NINE_DIGITS.fullmatch(record["timestamp"]) is not None and all(
        DECIMAL.fullmatch(level["price"]) and DECIMAL.fullmatch(level["size"]) for level in levels
    )


def is_candle(record: dict[str, Any]) -> bool:
    decimals = [Decimal(record[name]) for name in ("min", "open", "close", "max")]
    return (
        INSTANT.fullmatch(record["timestamp"]) is not None
        and all(DECIMAL.fullmatch(record[name]) for name in ("open", "close", "min", "max", "volume", "volumeQuote"))
        and min(decimals) == decimals[0]
        and max(decimals) == decimals[-1]
    )


# Symbols and tickers -------------------------------------------------------------------------------------------------


def test_symbols(target: Target) -> None:
    every = ask(target, "/api/2/public/symbol")
    assert all(is_symbol(each) for each in every)
    one = ask(target, "/api/2/public/symbol/ETHBTC")
    assert one in every
    assert (one["id"], one["baseCurrency"], one["quoteCurrency"]) == ("ETHBTC", "ETH", "BTC")
    some = ask(target, "/api/2/public/symbol?symbols=ETHBTC,BTCUSD")
    assert {each["id"] for each in some} == {"ETHBTC", "BTCUSD"}
    assert ask(target, "/api/2/public/symbol/ethbtc") == one
    assert ask(target, "/api/2/public/symbol/") == every
    assert refused(target, "/api/2/public/symbol/NOSUCH") == (400, 2001)
    assert refused(target, "/api/2/public/symbol?symbols=ETHBTC,NOSUCH") == (400, 2001)


def test_tickers(target: Target) -> None:
    every = ask(target, "/api/2/public/ticker")
    assert all(is_ticker(each) for each in every)
    symbols = [each["id"] for each in ask(target, "/api/2/public/symbol")]
    assert sorted(each["symbol"] for each in every) == sorted(symbols)
    one = ask(target, "/api/2/public/ticker/ETHBTC")
    assert is_ticker(one)
    assert one["symbol"] == "ETHBTC"
    assert Decimal(one["bid"]) < Decimal(one["ask"])
    assert Decimal(one["low"]) <= Decimal(one["last"]) <= Decimal(one["high"])
    some = ask(target, "/api/2/public/ticker?symbols=ethbtc,BTCUSD")
    assert {each["symbol"] for each in some} == {"ETHBTC", "BTCUSD"}
    assert refused(target, "/api/2/public/ticker/NOSUCH") == (400, 2001)


# Trades --------------------------------------------------------------------------------------------------------------


def test_trades_of_one_symbol(target: Target) -> None:
    newest = ask(target, "/api/2/public/trades/ETHBTC")
    assert len(newest) == 100
    assert all(is_trade(each) for each in newest)
    assert all(one["timestamp"] >= other["timestamp"] for one, other in pairwise(newest))
    oldest, middle = newest[-1], newest[50]
    page = ask(target, f"/api/2/public/trades/ETHBTC?sort=ASC&by=id&from={oldest['id']}&limit=10")
    assert page[0] == oldest
    assert [each["id"] for each in page] == sorted(each["id"] for each in page)
    after = ask(target, f"/api/2/public/trades/ETHBTC?sort=ASC&by=id&from={oldest['id'] + 1}&limit=1000")
    assert oldest not in after
    assert middle in after
    until = ask(target, f"/api/2/public/trades/ETHBTC?by=id&till={middle['id']}&limit=3")
    assert until[0] == middle
    window = f"from={oldest['timestamp']}&till={middle['timestamp']}"
    inside = ask(target, f"/api/2/public/trades/ETHBTC?{window}&limit=1000")
    assert inside
    assert all(oldest["timestamp"] <= each["timestamp"] <= middle["timestamp"] for each in inside)
    assert ask(target, f"/api/2/public/trades/ETHBTC?{window}&limit=5&offset=2") == inside[2:7]


def test_trades_of_all_symbols(target: Target) -> None:
    every = ask(target, "/api/2/public/trades?limit=2")
    assert set(every) == {each["id"] for each in ask(target, "/api/2/public/symbol")}
    assert all(is_trade(each) for trades in every.values() for each in trades)
    assert all(len(trades) <= 2 for trades in every.values())
    some = ask(target, "/api/2/public/trades?symbols=ETHBTC,BTCUSD&limit=1&sort=ASC")
    assert set(some) == {"ETHBTC", "BTCUSD"}
    assert refused(target, "/api/2/public/trades?symbols=NOSUCH") == (400, 2001)
    assert refused(target, "/api/2/public/trades/NOSUCH") == (400, 2001)


# Order books ---------------------------------------------------------------------------------------------------------


def test_one_book(target: Target) -> None:
    book = ask(target, "/api/2/public/orderbook/ETHBTC")
    assert is_book(book)
    asks, bids = ([Decimal(level["price"]) for level in book[side]] for side in ("ask", "bid"))
    assert 0 < len(asks) <= 100
    assert asks == sorted(asks)
    assert bids == sorted(bids, reverse=True)
    assert bids[0] < asks[0]
    short = ask(target, "/api/2/public/orderbook/ETHBTC?limit=2")
    assert (len(short["ask"]), len(short["bid"])) == (2, 2)
    whole = ask(target, "/api/2/public/orderbook/ETHBTC?limit=0")
    assert len(whole["ask"]) >= len(asks) - 10  # it may have moved meanwhile
    assert refused(target, "/api/2/public/orderbook/NOSUCH") == (400, 2001)


def test_a_book_for_a_volume(target: Target) -> None:
    book = ask(target, "/api/2/public/orderbook/ETHBTC?volume=2&limit=1")
    tick = Decimal(ask(target, "/api/2/public/symbol/ETHBTC")["tickSize"])
    for side in ("ask", "bid"):
        levels = [(Decimal(level["price"]), Decimal(level["size"])) for level in book[side]]
        volume = sum(size for _, size in levels)
        assert volume - levels[-1][1] < 2 <= volume
        average = sum(price * size for price, size in levels) / volume
        assert abs(Decimal(book[f"{side}AveragePrice"]) - average) <= tick
    assert "askAveragePrice" not in ask(target, "/api/2/public/orderbook/ETHBTC")


def test_all_books(target: Target) -> None:
    every = ask(target, "/api/2/public/orderbook?limit=3")
    assert set(every) == {each["id"] for each in ask(target, "/api/2/public/symbol")}
    assert all(is_book(each) and each["symbol"] == symbol for symbol, each in every.items())
    assert all(len(each["ask"]) <= 3 for each in every.values())
    assert set(ask(target, "/api/2/public/orderbook?symbols=btcusd")) == {"BTCUSD"}


# Candles -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("period", "minutes"),
    [
        ("M1", 1), ("M3", 3), ("M5", 5), ("M15", 15), ("M30", 30),
        ("H1", 60), ("H4", 240), ("D1", 1440), ("D7", 10080), ("1M", None),
    ],
)  # fmt: skip
def test_candles_of_one_symbol(target: Target, period: str, minutes: int | None) -> None:
    found = ask(target, f"/api/2/public/candles/ETHBTC?period={period}&sort=DESC&limit=4")
    assert 0 < len(found) <= 4
    assert all(is_candle(each) for each in found)
    starts = [datetime.fromisoformat(each["timestamp"]) for each in found]
    assert starts == sorted(starts, reverse=True)
    assert all(start.second == start.microsecond == 0 for start in starts)
    if minutes is None:
        assert all((start.day, start.hour, start.minute) == (1, 0, 0) for start in starts)
    elif minutes <= 1440:
        epoch = datetime(1970, 1, 1, tzinfo=UTC)
        assert all((start - epoch) % timedelta(minutes=minutes) == timedelta(0) for start in starts)
    else:
        assert all(one - other == timedelta(days=7) for one, other in pairwise(starts))


def test_candles_default_to_ascending_half_hours(target: Target) -> None:
    found = ask(target, "/api/2/public/candles/ETHBTC")
    assert 0 < len(found) <= 100
    assert [each["timestamp"] for each in found] == sorted(each["timestamp"] for each in found)
    assert ask(target, "/api/2/public/candles/ETHBTC?period=M30&sort=ASC&limit=100&offset=0") == found
    fifth = found[4]["timestamp"]
    assert ask(target, f"/api/2/public/candles/ETHBTC?from={fifth}&limit=1")[0] == found[4]
    in_ms = int(datetime.fromisoformat(fifth).timestamp() * 1000)
    assert ask(target, f"/api/2/public/candles/ETHBTC?from={in_ms}&limit=1")[0] == found[4]
    assert ask(target, "/api/2/public/candles/ETHBTC?limit=2&offset=4") == found[4:6]


def test_a_candle_is_made_of_its_trades(target: Target) -> None:
    candle = ask(target, "/api/2/public/candles/ETHBTC?period=M1&sort=DESC&limit=2")[1]
    start = datetime.fromisoformat(candle["timestamp"])
    end = (start + timedelta(milliseconds=59_999)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"
    window = f"from={candle['timestamp']}&till={end}"
    trades = ask(target, f"/api/2/public/trades/ETHBTC?{window}&sort=ASC&limit=1000")
    assert (candle["open"], candle["close"]) == (trades[0]["price"], trades[-1]["price"])
    prices = [Decimal(each["price"]) for each in trades]
    assert (Decimal(candle["min"]), Decimal(candle["max"])) == (min(prices), max(prices))
    assert Decimal(candle["volume"]) == sum(Decimal(each["quantity"]) for each in trades)


def test_candles_of_all_symbols(target: Target) -> None:
    every = ask(target, "/api/2/public/candles?period=H1&limit=2")
    assert set(every) == {each["id"] for each in ask(target, "/api/2/public/symbol")}
    assert all(is_candle(each) for found in every.values() for each in found)
    some = ask(target, "/api/2/public/candles?symbols=ETHBTC,BTCUSD&period=H1&limit=2")
    assert some == {symbol: every[symbol] for symbol in ("ETHBTC", "BTCUSD")}
    assert refused(target, "/api/2/public/candles?symbols=NOSUCH") == (400, 2001)
    assert refused(target, "/api/2/public/candles/NOSUCH") == (400, 2001)


# What is odd ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    "odd",
    ["limit=1001", "limit=-1", "limit=x", "offset=100001", "offset=-1", "sort=UP", "from=yesterday", "till=yesterday"],
)
def test_odd_parameters(target: Target, path: str, odd: str) -> None:
    assert refused(target, f"{path}?{odd}")[0] == 400


def test_odd_periods_filters_and_depths(target: Target) -> None:
    assert refused(target, "/api/2/public/candles/ETHBTC?period=M2")[0] == 400
    assert refused(target, "/api/2/public/trades/ETHBTC?by=price")[0] == 400
    assert refused(target, "/api/2/public/orderbook/ETHBTC?limit=x")[0] == 400
    assert refused(target, "/api/2/public/orderbook/ETHBTC?volume=x")[0] == 400
    assert ask(target, "/api/2/public/ticker/ETHBTC?unknown=1&asset=x")["symbol"] == "ETHBTC"


def test_unknown_paths_are_a_page(target: Target) -> None:
    answer = target.ask("GET", "/api/2/public/nosuch", anonymous=True)
    assert answer.status_code == 404
    assert answer.headers["Content-Type"].startswith("text/html")
    assert target.ask("POST", "/api/2/public/ticker", anonymous=True).status_code == 404
