"""The public stream over real sockets: queries, the four subscriptions, order, cadence, faults, many clients."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from sandbox.exchange.tape.candles import PERIODS
from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client
from tests.sandbox.server.sockets.test_sockets import Stream
from tests.sandbox.waiting import wait_until

PUBLIC, COMBINED = "/api/2/ws/public", "/api/2/ws"
UNKNOWN = {
    "code": 2001,
    "message": "Symbol not found",
    "description": "Try get /api/2/public/symbol, to get list of all available symbols.",
}
BUY = {"symbol": "ETHBTC", "side": "buy", "quantity": "0.1", "price": "0.5", "timeInForce": "GTC"}


@pytest.fixture(params=[PUBLIC, COMBINED])
def stream(request: pytest.FixtureRequest, box: InProcessSandbox) -> Iterator[Stream]:
    """A socket with market data behind it."""
    opened = Stream(box.ws_url, request.param)
    yield opened
    opened.close()


def follow(stream: Stream, method: str, **params: object) -> Any:
    """Subscribes; the params of what follows the answer."""
    assert stream.ask(method, params) == {"jsonrpc": "2.0", "result": True, "id": 1}
    return stream.receive()["params"]


def until(stream: Stream, method: str) -> Any:
    """The params of the next notification of that name."""
    while (frame := stream.receive()).get("method") != method:
        assert "error" not in frame
    return frame["params"]


def test_queries_answer_as_over_rest(stream: Stream, client: Client) -> None:
    for method, path in {"getCurrencies": "/public/currency", "getSymbols": "/public/symbol"}.items():
        assert stream.ask(method, None)["result"] == client.call("GET", path).json()
    assert stream.ask("getSymbol", {"symbol": "ethbtc"})["result"]["id"] == "ETHBTC"
    assert stream.ask("getCurrency", {"currency": "BTC"})["result"]["id"] == "BTC"
    found = stream.ask("getTrades", {"symbol": "ETHBTC", "sort": "ASC", "by": "id", "limit": "3"})["result"]
    assert found["symbol"] == "ETHBTC"
    by_rest = client.call("GET", "/public/trades/ETHBTC?sort=ASC&by=id&limit=3").json()
    assert found["data"] == by_rest
    assert len(by_rest) == 3


@pytest.mark.parametrize("channel", ["Ticker", "Orderbook", "Trades", "Candles"])
def test_an_unknown_symbol_is_refused_and_ends_are_never_an_error(stream: Stream, channel: str) -> None:
    assert stream.ask(f"subscribe{channel}", {"symbol": "NOPE"})["error"] == UNKNOWN
    assert "error" in stream.ask(f"subscribe{channel}", None)
    for _ in range(2):
        assert stream.ask(f"unsubscribe{channel}", {"symbol": "ETHBTC"})["result"] is True


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("getTrades", {"limit": 1001}),
        ("getTrades", {"offset": 100_001}),
        ("getTrades", {"sort": "UP"}),
        ("getTrades", {"by": "price"}),
        ("getTrades", {"from": "yesterday"}),
        ("subscribeTrades", {"limit": 0}),
        ("subscribeTrades", {"limit": "many"}),
        ("subscribeCandles", {"period": "M2"}),
        ("subscribeCandles", {"limit": 1001}),
        ("subscribeTicker", {"symbol": ["ETHBTC"]}),
    ],
)
def test_odd_params_are_refused(stream: Stream, method: str, params: dict[str, object]) -> None:
    error = stream.ask(method, {"symbol": "ETHBTC"} | params)["error"]
    assert error["code"] in (10001, 2001)
    assert set(error) == {"code", "message", "description"}
    assert stream.is_quiet()


def test_a_ticker_comes_at_once_in_its_own_order_of_members(stream: Stream) -> None:
    ticker = follow(stream, "subscribeTicker", symbol="ETHBTC")
    members = "ask bid last open low high volume volumeQuote timestamp symbol"
    assert list(ticker) == members.split()


def test_a_ticker_is_told_at_every_minute_though_only_its_time_moved(box: InProcessSandbox, stream: Stream) -> None:
    box.control("clock", {"frozen": True})
    first = follow(stream, "subscribeTicker", symbol="ETHBTC")
    assert stream.is_quiet(0.3)
    box.control("clock", {"advance_ms": 60_000})
    assert stream.receive()["params"]["timestamp"] > first["timestamp"]


def test_a_book_is_told_whole_and_then_by_changes_that_count_up(
    box: InProcessSandbox, stream: Stream, client: Client
) -> None:
    first = follow(stream, "subscribeOrderbook", symbol="ETHBTC")
    assert list(first) == ["ask", "bid", "symbol", "sequence", "timestamp"]
    made = client.call("POST", "/order", data=BUY | {"price": "0.001"}).json()
    frame = until(stream, "updateOrderbook")
    assert (frame["sequence"], frame["ask"], frame["bid"]) == (
        first["sequence"] + 1,
        [],
        [{"price": "0.001000", "size": "0.1000"}],
    )
    client.call("DELETE", f"/order/{made['clientOrderId']}")
    frame = until(stream, "updateOrderbook")
    assert (frame["sequence"], frame["bid"]) == (first["sequence"] + 2, [{"price": "0.001000", "size": "0.0000"}])
    again = until(stream, "snapshotOrderbook")
    assert (again["sequence"], again["ask"], again["bid"]) == (frame["sequence"], first["ask"], first["bid"])


def test_trades_and_candles_hear_of_a_fill_once(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    trades = follow(stream, "subscribeTrades", symbol="ETHBTC", limit="5")["data"]
    assert [trade["id"] for trade in trades] == sorted(trade["id"] for trade in trades)
    assert len(trades) == 5
    for period in PERIODS:
        snapshot = follow(stream, "subscribeCandles", symbol="ETHBTC", period=period, limit=2)
        assert snapshot["period"] == period
        assert len(snapshot["data"]) == 2
        assert snapshot["data"][0]["timestamp"] < snapshot["data"][1]["timestamp"]
    client.call("POST", "/order", data=BUY)
    client.call("POST", "/order", data=BUY | {"side": "sell"})
    frames = [stream.receive() for _ in range(1 + len(PERIODS))]
    new = next(frame["params"]["data"] for frame in frames if frame["method"] == "updateTrades")
    assert [(trade["price"], trade["quantity"]) for trade in new] == [("0.500000", "0.1000")]
    changed = {frame["params"]["period"]: frame["params"] for frame in frames if frame["method"] == "updateCandles"}
    assert set(changed) == set(PERIODS)
    assert {params["data"][-1]["close"] for params in changed.values()} == {"0.500000"}
    assert stream.is_quiet(0.3)


def test_ending_a_subscription_ends_it(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    follow(stream, "subscribeTrades", symbol="ETHBTC")
    assert stream.ask("unsubscribeTrades", {"symbol": "ETHBTC"})["result"] is True
    client.call("POST", "/order", data=BUY)
    client.call("POST", "/order", data=BUY | {"side": "sell"})
    assert stream.is_quiet(0.4)


def test_a_gap_in_a_book_shows_by_its_sequence(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    first = follow(stream, "subscribeOrderbook", symbol="ETHBTC")
    box.control("faults", {"operation": "updateOrderbook", "kind": "gap"})
    client.call("POST", "/order", data=BUY | {"price": "0.001"})
    time.sleep(0.3)
    client.call("POST", "/order", data=BUY | {"price": "0.002"})
    assert until(stream, "updateOrderbook")["sequence"] == first["sequence"] + 2


def test_an_echo_differs(box: InProcessSandbox, stream: Stream) -> None:
    box.control("faults", {"operation": "ticker", "kind": "echo_differs", "field": "ask", "value": "7"})
    assert follow(stream, "subscribeTicker", symbol="ETHBTC")["ask"] == "7"
    assert follow(stream, "subscribeTicker", symbol="ETHBTC")["ask"] != "7"


def test_a_thousand_symbols_for_one_and_fifty_clients_on_one() -> None:
    with InProcessSandbox(seed=1, symbols=1000) as box:
        one = Stream(box.ws_url, PUBLIC)
        symbols = [symbol["id"] for symbol in one.ask("getSymbols")["result"]]
        for symbol in symbols:
            one.send({"method": "subscribeOrderbook", "params": {"symbol": symbol}, "id": symbol})
        answered, sequences = set(), {}
        while len(answered) < len(symbols) or len(sequences) < len(symbols):
            frame = one.receive()
            if "id" in frame:
                answered.add(frame["id"])
                continue
            params = frame["params"]
            before = sequences.get(params["symbol"])
            if before is not None:
                assert params["sequence"] == before + (frame["method"] == "updateOrderbook")
            sequences[params["symbol"]] = params["sequence"]
        many = [Stream(box.ws_url, PUBLIC) for _ in range(50)]
        for each in many:
            follow(each, "subscribeOrderbook", symbol="BTCUSD")
        assert len({until(each, "updateOrderbook")["symbol"] for each in many}) == 1
        assert box.inside(box.followed_topics) == len(symbols)
        for each in (one, *many):
            each.close()
        wait_until(lambda: box.inside(box.followed_topics) == 0)
