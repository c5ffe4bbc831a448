"""The contract of the public socket, written from the specification alone, in literal frames.

`--target URL` asks another server the same, as `test_contract_account` says. It needs a lively ETHBTC.
"""

import re
from collections.abc import Iterator

import pytest

from tests.sandbox.exchange.accounts.test_contract_account import DECIMAL, INSTANT, Target, target
from tests.sandbox.server.sockets.test_trading_socket_contract import Talk

__all__ = ["target"]  # the fixture


@pytest.fixture(params=["/api/2/ws/public", "/api/2/ws"])
def talk(request: pytest.FixtureRequest, target: Target) -> Iterator[Talk]:
    """A socket that nobody logged in on."""
    opened = Talk(target, request.param)
    yield opened
    opened.close()


def params_of(talk: Talk, method: str) -> dict[str, object]:
    """The params of the next notification of that name."""
    while (heard := talk.next()).get("method") != method:
        continue
    params: dict[str, object] = heard["params"]
    return params


def test_queries(talk: Talk) -> None:
    talk.say('{"method":"getSymbol","params":{"symbol":"ETHBTC"},"id":"a"}')
    answer = talk.next()
    assert (answer["id"], answer["result"]["id"], answer["result"]["baseCurrency"]) == ("a", "ETHBTC", "ETH")
    talk.say('{"method":"getCurrencies","params":null}')
    answer = talk.next()
    assert answer["id"] is None
    assert "BTC" in {currency["id"] for currency in answer["result"]}
    talk.say('{"method":"getTrades","params":{"symbol":"ETHBTC","sort":"ASC","by":"id","limit":2},"id":2}')
    found = talk.next()["result"]
    assert found["symbol"] == "ETHBTC"
    assert [set(trade) for trade in found["data"]] == [{"id", "price", "quantity", "side", "timestamp"}] * 2


def test_an_unknown_symbol(talk: Talk) -> None:
    talk.say('{"method":"subscribeTicker","params":{"symbol":"NOSUCH"},"id":3}')
    description = "Try get /api/2/public/symbol, to get list of all available symbols."
    error = {"code": 2001, "message": "Symbol not found", "description": description}
    assert talk.next() == {"error": error, "id": 3}


def test_a_ticker_follows_its_answer(talk: Talk) -> None:
    talk.say('{"method":"subscribeTicker","params":{"symbol":"ETHBTC"},"id":4}')
    assert talk.next() == {"result": True, "id": 4}
    ticker = params_of(talk, "ticker")
    assert " ".join(ticker) == "ask bid last open low high volume volumeQuote timestamp symbol"
    assert re.fullmatch(DECIMAL, str(ticker["last"]))
    assert re.fullmatch(INSTANT, str(ticker["timestamp"]))


def test_a_book_counts_up_from_its_snapshot(talk: Talk) -> None:
    talk.say('{"method":"subscribeOrderbook","params":{"symbol":"ETHBTC"},"id":5}')
    assert talk.next() == {"result": True, "id": 5}
    whole = params_of(talk, "snapshotOrderbook")
    assert set(whole) == {"ask", "bid", "sequence", "timestamp", "symbol"}
    later = talk.next()  # a market that stands still shows the same book again
    grown = later["method"] == "updateOrderbook"
    assert later["params"]["sequence"] == int(str(whole["sequence"])) + grown


@pytest.mark.parametrize("period", ["M1", "M3", "M5", "M15", "M30", "H1", "H4", "D1", "D7", "1M"])
def test_candles_of_every_period(talk: Talk, period: str) -> None:
    talk.say(f'{{"method":"subscribeCandles","params":{{"symbol":"ETHBTC","period":"{period}","limit":2}},"id":6}}')
    assert talk.next() == {"result": True, "id": 6}
    snapshot = params_of(talk, "snapshotCandles")
    assert (snapshot["symbol"], snapshot["period"]) == ("ETHBTC", period)
    talk.say(f'{{"method":"unsubscribeCandles","params":{{"symbol":"ETHBTC","period":"{period}"}},"id":7}}')
    while "id" not in (heard := talk.next()):
        continue
    assert heard == {"result": True, "id": 7}


def test_trades_begin_with_the_latest_oldest_first(talk: Talk) -> None:
    talk.say('{"method":"subscribeTrades","params":{"symbol":"ETHBTC","limit":5},"id":8}')
    assert talk.next() == {"result": True, "id": 8}
    trades = params_of(talk, "snapshotTrades")["data"]
    assert isinstance(trades, list)
    assert len(trades) == 5
    assert trades == sorted(trades, key=lambda trade: trade["id"])
