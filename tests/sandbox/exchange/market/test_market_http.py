"""Market data over HTTP: every parameter with its default, its bounds and its loose forms (Public market data)."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import requests

from exchange_ops.wire import catalogue
from sandbox.in_process import InProcessSandbox
from tests.sandbox.conftest import TIMEOUT_SECONDS
from tests.sandbox.worlds import dismiss_traders
from wire.records import decode

SYMBOLS = 30
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
NINE_DIGITS = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z")
DECIMAL = re.compile(r"\d+(\.\d+)?")
START_MS = 1_795_000_000_000
ODD_WHOLE = ("", "x", "1.5", "1e2", "٣", "0x10", "-1", "NaN", "null", "1;DROP TABLE x", "9" * 40)


@pytest.fixture(scope="module")
def market() -> Iterator[InProcessSandbox]:
    """A market with traders and made-up symbols whose clock stands still."""
    with InProcessSandbox(seed=1, symbols=SYMBOLS, now_ms=lambda: START_MS) as running:
        yield running


@pytest.fixture
def get(market: InProcessSandbox) -> Any:
    """The answer to a public GET, with its exact query."""
    session = requests.Session()

    def ask(path: str, status: int = 200) -> Any:
        answer = session.get(f"{market.url}/api/2/public/{path}", timeout=TIMEOUT_SECONDS)
        assert answer.status_code == status, (path, answer.text[:300])
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
        return answer.json()

    return ask


def code(answer: dict[str, Any]) -> int:
    assert set(answer) == {"error"}
    return int(answer["error"]["code"])


def numbers(answer: list[dict[str, Any]]) -> list[int]:
    return [trade["id"] for trade in answer]


# Lists ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["currency", "symbol", "ticker", "trades", "orderbook", "candles"])
def test_a_list_has_everything_when_nothing_is_named(get: Any, path: str) -> None:
    name = "currencies" if path == "currency" else "symbols"
    every = get(path)
    assert len(every) > SYMBOLS / 2
    for same in (f"{path}/", f"{path}?{name}=", f"{path}?asset=BTC&{name}="):
        assert get(same) == every


def test_named_symbols_come_in_their_order_in_any_case_and_once(get: Any) -> None:
    for path in ("trades", "orderbook", "candles"):
        assert list(get(f"{path}?symbols=btcusd,ETHBTC,%20EosEth%20,BTCUSD")) == ["BTCUSD", "ETHBTC", "EOSETH"]
    assert [each["symbol"] for each in get("ticker?symbols=eoseth,ETHBTC")] == ["EOSETH", "ETHBTC"]
    assert [each["id"] for each in get("symbol?symbols=eoseth,ETHBTC")] == ["EOSETH", "ETHBTC"]
    assert [each["id"] for each in get("currency?currencies=usd,BTC")] == ["USD", "BTC"]


@pytest.mark.parametrize("path", ["symbol", "ticker", "trades", "orderbook", "candles"])
def test_unknown_symbols_are_refused(get: Any, path: str) -> None:
    for odd in ("NOPE", "ETHBTC'--", "%F0%9F%92%B0", "A" * 300):
        assert code(get(f"{path}/{odd}", 400)) in {2001, 10001}
        assert code(get(f"{path}?symbols=ETHBTC,{odd}", 400)) in {2001, 10001}
    answer = get(f"{path}/NOPE", 400)
    assert answer["error"]["code"] == 2001
    assert answer["error"]["description"] == "Try get /api/2/public/symbol, to get list of all available symbols."
    assert code(get("currency/NOPE", 400)) == code(get("currency?currencies=NOPE", 400)) == 2002


def test_credentials_are_not_looked_at(market: InProcessSandbox) -> None:
    for headers in ({"Authorization": "Basic nonsense"}, {"Authorization": "Bearer x"}, {}):
        for path in ("ticker/ETHBTC", "candles?symbols=ETHBTC&limit=1", "orderbook"):
            answer = requests.get(f"{market.url}/api/2/public/{path}", headers=headers, timeout=TIMEOUT_SECONDS)
            assert answer.status_code == 200


def test_several_symbols_and_one_are_told_the_same(get: Any) -> None:
    for query in ("", "?limit=7", "?sort=ASC&limit=3", "?sort=DESC&offset=5&limit=2"):
        for path in ("trades", "candles"):
            every = get(path + query)
            for symbol in ("ETHBTC", "SHIBUSD", "QAAABTC"):
                assert every[symbol] == get(f"{path}/{symbol}{query}")
    tickers = {each["symbol"]: each for each in get("ticker")}
    books = get("orderbook?limit=5")
    for symbol in ("ETHBTC", "SHIBUSD", "QAAABTC"):
        assert tickers[symbol] == get(f"ticker/{symbol}")
        assert books[symbol] == get(f"orderbook/{symbol}?limit=5")


def test_what_is_written_at_once_is_what_the_handler_says(market: InProcessSandbox, get: Any) -> None:
    for path, operation in (
        ("ticker", "get_tickers"),
        ("trades", "get_trades"),
        ("orderbook", "get_orderbooks"),
        ("candles", "get_candles"),
    ):
        said = market.inside(lambda operation=operation: market.world.perform(operation, None, {}))
        assert get(path) == json.loads(json.dumps(said))
        result: Any = catalogue.by_name[operation].result
        assert decode(json.dumps(said).encode(), result)


# Tickers -------------------------------------------------------------------------------------------------------------


def test_a_ticker_has_its_documented_members(get: Any) -> None:
    ticker = get("ticker/BTCUSD")
    members = ["ask", "bid", "last", "open", "low", "high", "volume", "volumeQuote", "timestamp", "symbol"]
    assert list(ticker) == members
    assert all(DECIMAL.fullmatch(ticker[name]) for name in members[:8])
    assert INSTANT.fullmatch(ticker["timestamp"])


# Trades --------------------------------------------------------------------------------------------------------------


def test_trades_default_to_the_newest_hundred(get: Any) -> None:
    trades = get("trades/BTCUSD")
    assert len(trades) == 100
    assert numbers(trades) == sorted(numbers(trades), reverse=True)
    assert get("trades/BTCUSD?sort=DESC&by=timestamp&limit=100&offset=0") == trades
    assert list(trades[0]) == ["id", "price", "quantity", "side", "timestamp"]
    assert {trade["side"] for trade in trades} == {"buy", "sell"}
    assert all(INSTANT.fullmatch(trade["timestamp"]) for trade in trades)


def test_trades_by_time_in_every_form(get: Any) -> None:
    wanted = get("trades/BTCUSD?from=2026-11-18T10:05:00.000Z&till=2026-11-18T10:10:00.000Z&sort=ASC&limit=1000")
    assert len(wanted) > 10
    assert wanted[0]["timestamp"] >= "2026-11-18T10:05"
    assert wanted[-1]["timestamp"] <= "2026-11-18T10:10:00.000Z"
    for first, last in (
        ("2026-11-18T10:05Z", "2026-11-18T10:10Z"),
        ("2026-11-18T10:05", "2026-11-18T10:10"),
        ("2026-11-18T10:05:00", "2026-11-18T10:10:00Z"),
        ("2026-11-18T11:05%2B01:00", "2026-11-18T09:10:00-01:00"),
        ("1794996300000", "1794996600000"),
        ("2026-11-18T10:05:00.0Z", "1794996600000"),
    ):
        assert get(f"trades/BTCUSD?from={first}&till={last}&sort=ASC&limit=1000") == wanted, first
        assert get(f"trades?symbols=BTCUSD&from={first}&till={last}&sort=ASC&limit=1000")["BTCUSD"] == wanted
    assert get("trades/BTCUSD?from=&till=&sort=&limit=&offset=&by=") == get("trades/BTCUSD")


def test_trades_by_number_include_both_ends(get: Any) -> None:
    trades = get("trades/BTCUSD?limit=50")
    newest, oldest = trades[5]["id"], trades[45]["id"]
    assert get(f"trades/BTCUSD?by=id&from={oldest}&till={newest}") == trades[5:46]
    assert get(f"trades/BTCUSD?by=id&from={oldest}&till={newest}&sort=ASC") == trades[5:46][::-1]
    assert get(f"trades/BTCUSD?sort=ASC&by=id&from={oldest + 1}&limit=1000")[0] == trades[44]
    for odd in ("2026-11-18T10:05Z", "-1", "1.5", "x"):
        assert code(get(f"trades/BTCUSD?by=id&from={odd}", 400)) == 10001


@pytest.mark.parametrize("path", ["trades", "trades/BTCUSD", "candles", "candles/BTCUSD"])
def test_limit_offset_and_sort_keep_to_their_bounds(get: Any, path: str) -> None:
    def many(query: str) -> int:
        answer = get(f"{path}?{query}")
        return len(answer["BTCUSD"] if isinstance(answer, dict) else answer)

    assert (many("limit=1"), many("limit=1000"), many("limit=37")) == (1, 1000, 37)
    assert many("offset=100000&limit=1") == (1 if "trades" in path else 0)
    assert many("limit=0") == many("limit=0&offset=2") == 0
    for odd in (*ODD_WHOLE[1:], "1001", "1000000"):
        assert code(get(f"{path}?limit={odd}", 400)) == 10001, odd
    for odd in (*ODD_WHOLE[1:], "100001"):
        assert code(get(f"{path}?offset={odd}", 400)) == 10001, odd
    for odd in ("asc", "UP", "1", "DESC%20"):
        assert code(get(f"{path}?sort={odd}", 400)) == 10001, odd
    for name in ("from", "till"):
        for odd in ("yesterday", "2026-13-01", "2026-11-18T25:00Z", "NaN", "1e12", "-1", "%00"):
            assert code(get(f"{path}?{name}={odd}", 400)) == 10001, odd


def test_by_has_two_choices_and_only_for_one_symbol(get: Any) -> None:
    assert code(get("trades/BTCUSD?by=index", 400)) == 10001
    assert get("trades?symbols=BTCUSD&by=index")["BTCUSD"] == get("trades/BTCUSD")  # no parameter of that one


# Order books ---------------------------------------------------------------------------------------------------------


def test_a_book_has_its_documented_members(get: Any) -> None:
    book = get("orderbook/BTCUSD")
    assert set(book) == {"symbol", "timestamp", "batchingTime", "ask", "bid"}
    assert book["timestamp"] == "2026-11-18T11:06:40.000000000Z"
    assert NINE_DIGITS.fullmatch(book["timestamp"])
    assert INSTANT.fullmatch(book["batchingTime"])
    assert all(set(level) == {"price", "size"} for side in ("ask", "bid") for level in book[side])
    asks, bids = ([Decimal(level["price"]) for level in book[side]] for side in ("ask", "bid"))
    assert asks == sorted(asks)
    assert bids == sorted(bids, reverse=True)
    assert bids[0] < asks[0]
    assert all(NINE_DIGITS.fullmatch(each["timestamp"]) for each in get("orderbook").values())


def test_the_limit_of_a_book_is_its_depth_and_zero_is_all_of_it(market: InProcessSandbox, get: Any) -> None:
    whole = get("orderbook/BTCUSD?limit=0")
    for depth in (1, 3, 20):
        book = get(f"orderbook/BTCUSD?limit={depth}")
        assert (book["ask"], book["bid"]) == (whole["ask"][:depth], whole["bid"][:depth])
        assert get(f"orderbook?symbols=BTCUSD&limit={depth}")["BTCUSD"] == book
    assert get("orderbook/BTCUSD?limit=1000000") == whole
    # 100 is the default of both forms: a deeper book shows it.
    form = {"symbol": "BTCUSD", "side": "sell", "quantity": "0.00001"}
    auth = ("demo-full", "demo-full-secret")
    top = Decimal(whole["ask"][-1]["price"])
    for step in range(1, 80):
        answer = requests.post(
            f"{market.url}/api/2/order",
            data=form | {"price": str(top + step)},
            auth=auth,
            timeout=TIMEOUT_SECONDS,
        )
        assert answer.status_code == 200
    deep = get("orderbook/BTCUSD?limit=0")
    assert len(deep["ask"]) == len(whole["ask"]) + 79
    assert get("orderbook/BTCUSD") == deep | {"ask": deep["ask"][:100]}
    assert get("orderbook")["BTCUSD"] == deep | {"ask": deep["ask"][:100]}
    requests.delete(f"{market.url}/api/2/order", auth=auth, timeout=TIMEOUT_SECONDS)
    assert get("orderbook/BTCUSD?limit=0") == whole
    for odd in ODD_WHOLE[1:]:
        assert code(get(f"orderbook/BTCUSD?limit={odd}", 400)) == 10001
        assert code(get(f"orderbook?limit={odd}", 400)) == 10001


@pytest.mark.parametrize("volume", ["0.00001", "0.5", "1", "2.000001", "100000"])
def test_volume_gives_just_so_many_levels_and_their_average(get: Any, volume: str) -> None:
    whole = get("orderbook/BTCUSD?limit=0")
    found = get(f"orderbook/BTCUSD?volume={volume}")
    assert get(f"orderbook/BTCUSD?volume={volume}&limit=1") == found  # the limit is ignored
    for side in ("ask", "bid"):
        levels = [(Decimal(level["price"]), Decimal(level["size"])) for level in found[side]]
        assert found[side] == whole[side][: len(levels)]
        reached = sum(size for _, size in levels)
        assert reached >= Decimal(volume) or len(levels) == len(whole[side])
        assert reached - levels[-1][1] < Decimal(volume)
        average = sum(price * size for price, size in levels) / reached
        facts = Decimal(found[f"{side}AveragePrice"])
        assert facts == facts.quantize(Decimal("0.01"))
        assert abs(facts - average) <= Decimal("0.005")


def test_odd_volumes_are_refused(get: Any) -> None:
    for odd in ("0", "-1", "x", "NaN", "1e3", "Infinity", "1" * 60):
        assert code(get(f"orderbook/BTCUSD?volume={odd}", 400)) in {10001}, odd
    assert get("orderbook/BTCUSD?volume=") == get("orderbook/BTCUSD")
    assert "askAveragePrice" not in get("orderbook/BTCUSD")
    assert "askAveragePrice" not in get("orderbook?volume=1")["BTCUSD"]  # a parameter of one book only


def test_a_side_without_orders_has_no_average() -> None:
    with InProcessSandbox(seed=1, still=True) as running:
        running.inside(lambda: dismiss_traders(running.world))
        url = f"{running.url}/api/2/public/orderbook"
        empty = requests.get(f"{url}/ETHBTC?volume=1", timeout=TIMEOUT_SECONDS).json()
        assert (empty["ask"], empty["bid"]) == ([], [])
        assert (empty["askAveragePrice"], empty["bidAveragePrice"]) == (None, None)
        every = requests.get(url, timeout=TIMEOUT_SECONDS).json()
        assert all(each["ask"] == each["bid"] == [] for each in every.values())


# Candles -------------------------------------------------------------------------------------------------------------


def test_candles_default_to_half_hours_ascending(get: Any) -> None:
    found = get("candles/BTCUSD")
    assert get("candles/BTCUSD?period=M30&sort=ASC&limit=100&offset=0") == found
    assert get("candles/BTCUSD?period=&sort=&limit=") == found
    assert len(found) == 100
    assert [each["timestamp"] for each in found] == sorted(each["timestamp"] for each in found)
    assert list(found[0]) == ["timestamp", "open", "close", "min", "max", "volume", "volumeQuote"]
    assert get("candles")["BTCUSD"] == found


@pytest.mark.parametrize("period", ["M1", "M3", "M5", "M15", "M30", "H1", "H4", "D1", "D7", "1M"])
def test_every_period_is_served(get: Any, period: str) -> None:
    found = get(f"candles/ETHBTC?period={period}&sort=DESC&limit=3")
    assert len(found) == 3
    assert all(INSTANT.fullmatch(each["timestamp"]) for each in found)
    assert get(f"candles?period={period}&sort=DESC&limit=3")["ETHBTC"] == found


def test_odd_periods_are_refused(get: Any) -> None:
    for odd in ("M2", "m30", "1m", "D30", "30", "M30%20", "x" * 99):
        assert code(get(f"candles/BTCUSD?period={odd}", 400)) == 10001
        assert code(get(f"candles?period={odd}", 400)) == 10001


def test_candles_by_time_in_every_form(get: Any) -> None:
    wanted = get("candles/BTCUSD?period=H1&from=2026-11-18T08:00:00.000Z&till=2026-11-18T10:00:00.000Z")
    assert [each["timestamp"][11:13] for each in wanted] == ["08", "09", "10"]
    for first, last in (("2026-11-18T08:00Z", "2026-11-18T10:59"), ("1794988800000", "1794996000000")):
        assert get(f"candles/BTCUSD?period=H1&from={first}&till={last}") == wanted
