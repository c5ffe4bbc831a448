"""The contract of the trading socket, written from the specification alone: literal frames, spot orders and margin.

`--target URL` (with `--target-key LOGIN:SECRET`) asks another server the same, as `test_contract_account` says. It
needs a hundredth of a BTC free on the trading account, no other order, and no margin account of ETHBTC. The orders are
far from the market, and cancelled in the end.
"""

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
import websocket

from tests.sandbox.exchange.accounts.test_contract_account import DECIMAL, INSTANT, Target, good, target

__all__ = ["target"]  # the fixture

ADDRESSES = ("/api/2/ws/trading", "/api/2/ws")
STATUSES = {"new", "suspended", "partiallyFilled", "filled", "canceled", "expired"}
REPORTS = {"status", "new", "canceled", "expired", "suspended", "trade", "replaced"}
FAR = '"symbol":"ETHBTC","side":"buy","quantity":"0.1","price":"0.0001"'


class Talk:
    """One socket; frames go out as they are written, and come in one by one."""

    def __init__(self, target: Target, path: str) -> None:
        self._socket = websocket.create_connection(target.url.replace("http", "ws", 1) + path, timeout=30)

    def say(self, frame: str) -> None:
        self._socket.send(frame)

    def next(self) -> dict[str, Any]:
        frame: dict[str, Any] = json.loads(self._socket.recv())
        assert frame.pop("jsonrpc") == "2.0"
        return frame

    def answer(self, frame: str) -> dict[str, Any]:
        """The answer to a frame; notifications before it are let go."""
        self.say(frame)
        while "id" not in (heard := self.next()):
            assert set(heard) == {"method", "params"}
        return heard

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=ADDRESSES)
def anonymous(request: pytest.FixtureRequest, target: Target) -> Iterator[Talk]:
    """A socket that has not logged in."""
    talk = Talk(target, request.param)
    yield talk
    talk.close()


@pytest.fixture
def talk(anonymous: Talk, target: Target) -> Talk:
    """A socket that has logged in."""
    login = f'{{"method":"login","params":{{"algo":"BASIC","pKey":"{target.login}","sKey":"{target.secret}"}}}}'
    assert anonymous.answer(login) == {"result": True, "id": None}
    return anonymous


@pytest.fixture
def funded(talk: Talk) -> Iterator[Talk]:
    """The same with a margin account of ETHBTC."""
    frame = '{"method":"marginAccountSet","params":{"symbol":"ETHBTC","marginBalance":%s},"id":0}'
    assert is_account(talk.answer(frame % '"0.005"')["result"])
    yield talk
    assert talk.answer(frame % "0")["result"]["reportType"] == "closed"


def fresh() -> str:
    return uuid.uuid4().hex


def is_report(record: dict[str, Any], *, margin: bool = False) -> bool:
    """Whether the record is an order report, each member with its documented type."""
    return (
        type(record["id"]) is (int if margin else str)
        and all(isinstance(record[name], str) for name in ("clientOrderId", "symbol"))
        and record["side"] in ("buy", "sell")
        and record["status"] in STATUSES
        and record["type"] in ("limit", "market", "stopLimit", "stopMarket")
        and record["timeInForce"] in ("GTC", "IOC", "FOK", "Day", "GTD")
        and all(DECIMAL.fullmatch(record[name]) for name in ("quantity", "price", "cumQuantity"))
        and isinstance(record["postOnly"], bool)
        and all(INSTANT.fullmatch(record[name]) for name in ("createdAt", "updatedAt"))
        and record["reportType"] in REPORTS
    )


def is_account(record: dict[str, Any]) -> bool:
    """Whether the record is a margin account as a report."""
    numbers = ("leverage", "marginBalance", "marginBalanceOrders", "marginBalanceRequired")
    return (
        record["symbol"] == "ETHBTC"
        and all(DECIMAL.fullmatch(record[name]) for name in numbers)
        and all(INSTANT.fullmatch(record[name]) for name in ("createdAt", "updatedAt"))
        and record["reportType"] in ("status", "created", "updated", "closed")
        and isinstance(record["reportReason"], str)
    )


def error(answer: dict[str, Any]) -> int:
    """The code of an answer that says no, in the documented form."""
    assert set(answer) == {"error", "id"}
    assert set(answer["error"]) == {"code", "message", "description"}
    assert all(isinstance(answer["error"][name], str) for name in ("message", "description"))
    code: int = answer["error"]["code"]
    return code


def test_a_signed_login(anonymous: Talk, target: Target) -> None:
    nonce = "N1g287gL8YOwDZr"
    signature = hmac.new(target.secret.encode(), nonce.encode(), hashlib.sha256).hexdigest()
    frame = '{"method":"login","params":{"algo":"HS256","pKey":"%s","nonce":"%s","signature":"%s"},"id":"a"}'
    wrong = anonymous.answer(frame % (target.login, nonce, "0" * 64))
    assert (error(wrong), wrong["id"]) == (1002, "a")
    assert error(anonymous.answer(frame % (target.login, nonce, "no"))) == 1002
    assert error(anonymous.answer('{"method":"getOrders","params":null,"id":2}')) == 1001
    assert anonymous.answer(frame % (target.login, nonce, signature)) == {"result": True, "id": "a"}


def test_the_life_of_an_order(talk: Talk) -> None:
    one, two = fresh(), fresh()
    assert talk.answer('{"method":"subscribeReports","params":{},"id":1}') == {"result": True, "id": 1}
    active = talk.next()
    assert active["method"] == "activeOrders"
    assert all(is_report(each) and each["reportType"] == "status" for each in active["params"])

    talk.say(f'{{"method":"newOrder","params":{{"clientOrderId":"{one}",{FAR}}},"id":"new"}}')
    report, answer = talk.next(), talk.next()
    assert report == {"method": "report", "params": answer["result"]}
    assert answer["id"] == "new"
    assert is_report(answer["result"])
    assert (answer["result"]["status"], answer["result"]["reportType"]) == ("new", "new")

    orders = talk.answer('{"method":"getOrders","params":null,"id":3}')["result"]
    assert one in [each["clientOrderId"] for each in orders]
    assert all(is_report(each) for each in orders)

    params = '{"clientOrderId":"%s","requestClientId":"%s","quantity":0.2,"price":0.0001}'
    frame = '{"method":"cancelReplaceOrder","params":' + params + ',"id":4}'
    talk.say(frame % (one, two))
    report, answer = talk.next(), talk.next()
    assert report == {"method": "report", "params": answer["result"]}
    replaced = answer["result"]
    assert is_report(replaced)
    assert (replaced["reportType"], replaced["originalRequestClientOrderId"]) == ("replaced", one)
    assert replaced["clientOrderId"] == two
    assert error(talk.answer(frame % (two, fresh()))) == 20009
    assert error(talk.answer(frame % (one, fresh()))) == 20002

    talk.say(f'{{"method":"cancelOrder","params":{{"clientOrderId":"{two}"}},"id":5}}')
    report, answer = talk.next(), talk.next()
    assert report == {"method": "report", "params": answer["result"]}
    assert (answer["result"]["status"], answer["result"]["reportType"]) == ("canceled", "canceled")
    assert error(talk.answer(f'{{"method":"cancelOrder","params":{{"clientOrderId":"{two}"}},"id":6}}')) == 20002


def test_an_order_by_rest_is_told(talk: Talk, target: Target) -> None:
    client_id = fresh()
    talk.answer('{"method":"subscribeReports","params":{}}')
    assert talk.next()["method"] == "activeOrders"
    order = {"symbol": "ETHBTC", "side": "buy", "quantity": "0.1", "price": "0.0001", "clientOrderId": client_id}
    good(target.ask("POST", "/api/2/order", **order))
    placed = talk.next()
    assert (placed["method"], placed["params"]["clientOrderId"]) == ("report", client_id)
    assert is_report(placed["params"])
    good(target.ask("DELETE", f"/api/2/order/{client_id}"))
    assert talk.next()["params"]["status"] == "canceled"


def test_the_trading_balance(talk: Talk) -> None:
    balances = talk.answer('{"method":"getTradingBalance","params":{},"id":1}')["result"]
    assert all(set(each) == {"currency", "available", "reserved"} for each in balances)
    assert all(DECIMAL.fullmatch(each[name]) for each in balances for name in ("available", "reserved"))
    assert [each for each in balances if float(each["available"]) == float(each["reserved"]) == 0]


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ('{"symbol":"ETHBTC","side":"buy","quantity":"0.1","price":"0.0001"}', 10001),
        ('{"clientOrderId":"%s","symbol":"NOSUCH","side":"buy","quantity":"0.1","price":"0.0001"}', 2001),
        ('{"clientOrderId":"%s","symbol":"ETHBTC","side":"buy","price":"0.0001"}', 2010),
        ('{"clientOrderId":"%s","symbol":"ETHBTC","side":"buy","quantity":"0.00001","price":"0.0001"}', 2011),
        ('{"clientOrderId":"%s","symbol":"ETHBTC","side":"buy","quantity":"0.1"}', 2020),
        ('{"clientOrderId":"%s","symbol":"ETHBTC","side":"buy","quantity":"100000000","price":"0.0001"}', 20001),
    ],
)
def test_odd_orders(talk: Talk, params: str, code: int) -> None:
    filled = params.replace("%s", fresh())
    assert error(talk.answer(f'{{"method":"newOrder","params":{filled},"id":1}}')) == code


def test_margin(funded: Talk) -> None:
    one, two = fresh(), fresh()
    assert funded.answer('{"method":"marginSubscribe","params":{},"id":1}') == {"result": True, "id": 1}
    orders, accounts = funded.next(), funded.next()
    assert orders == {"method": "marginOrders", "params": []}
    assert accounts["method"] == "marginAccounts"
    assert all(is_account(each) and each["reportType"] == "status" for each in accounts["params"])

    funded.say(f'{{"method":"marginOrderNew","params":{{"clientOrderId":"{one}",{FAR}}},"id":2}}')
    report, answer, account = funded.next(), funded.next(), funded.next()
    assert report == {"method": "marginOrderReport", "params": answer["result"]}
    assert is_report(answer["result"], margin=True)
    assert account["method"] == "marginAccountReport"
    assert is_account(account["params"])
    assert (account["params"]["reportType"], account["params"]["reportReason"]) == ("updated", "updated")
    assert float(account["params"]["marginBalanceOrders"]) > 0

    replace = f'"clientOrderId":"{one}","requestClientId":"{two}","quantity":"0.2","price":"0.0001"'
    funded.say(f'{{"method":"marginOrderCancelReplace","params":{{{replace}}},"id":3}}')
    report, answer, account = funded.next(), funded.next(), funded.next()
    assert report == {"method": "marginOrderReport", "params": answer["result"]}
    assert (answer["result"]["reportType"], answer["result"]["originalRequestClientOrderId"]) == ("replaced", one)
    assert account["method"] == "marginAccountReport"

    (active,) = funded.answer('{"method":"marginOrdersGet","params":{},"id":4}')["result"]
    assert is_report(active, margin=True)
    assert active["clientOrderId"] == two
    assert (
        error(funded.answer(f'{{"method":"marginOrderCancel","params":{{"clientOrderId":"{one}"}},"id":5}}')) == 20002
    )

    funded.say('{"method":"marginOrdersCancel","params":{},"id":6}')
    report, answer, account = funded.next(), funded.next(), funded.next()
    assert [report["params"]] == answer["result"]
    assert answer["result"][0]["status"] == "canceled"
    assert float(account["params"]["marginBalanceOrders"]) == 0

    (record,) = funded.answer('{"method":"marginAccountsGet","params":{},"id":7}')["result"]
    assert is_account(record)
    assert error(funded.answer('{"method":"marginPositionClose","params":{"symbol":"ETHBTC"},"id":8}')) == 20032
    same = '{"method":"marginAccountSet","params":{"symbol":"ETHBTC","marginBalance":"0.005"},"id":9}'
    assert error(funded.answer(same)) == 20033


def test_margin_needs_an_account(talk: Talk) -> None:
    frame = f'{{"method":"marginOrderNew","params":{{"clientOrderId":"{fresh()}",{FAR}}},"id":1}}'
    assert error(talk.answer(frame)) == 20032
