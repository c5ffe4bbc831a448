"""The contract of the exchange's account management, written from the specification alone.

No catalogue, no client of ours, no control plane: literal addresses and literal members, so that a mistake that our
client and our sandbox share would show here. `--target URL` (with `--target-key LOGIN:SECRET`) asks another server the
same; it needs one BTC and ten USD on the bank account, and every hold that is made is rolled back.
"""

import hashlib
import hmac
import json
import re
import uuid
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
import requests
import websocket

from sandbox.serving import InProcessSandbox

DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?")
INSTANT = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
ADDRESS = "1BoatSLRHtKNngkdXEeobR76b53LETtpyT"


class Target:
    """The server under contract, asked by literal addresses."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url.rstrip("/")
        self.login, _, self.secret = key.partition(":")

    def ask(self, method: str, path: str, *, anonymous: bool = False, **form: object) -> requests.Response:
        """One call; `form` is its body."""
        auth = None if anonymous else (self.login, self.secret)
        return requests.request(
            method, self.url + path, data=form or None, auth=auth, timeout=30, allow_redirects=False
        )

    def stream(self) -> websocket.WebSocket:
        return websocket.create_connection(self.url.replace("http", "ws", 1) + "/api/2/ws/account", timeout=30)


@pytest.fixture(scope="module")
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    """The server at --target, or a sandbox in process."""
    url = request.config.getoption("--target", default=None)
    if url:
        yield Target(url, request.config.getoption("--target-key"))
        return
    with InProcessSandbox(seed=1, still=True) as sandbox:
        yield Target(sandbox.url, "demo-full:demo-full-secret")


def good(answer: requests.Response) -> Any:
    """The JSON of an answer that says yes."""
    assert answer.status_code == 200, answer.text
    assert answer.headers["Content-Type"].startswith("application/json")
    return answer.json()


def error(answer: requests.Response) -> tuple[int, int]:
    """HTTP status and code of an answer that says no."""
    body = answer.json()
    assert set(body) == {"error"}
    assert isinstance(body["error"]["message"], str)
    return answer.status_code, body["error"]["code"]


def is_transaction(record: dict[str, Any]) -> bool:
    """Whether the record has what every transaction has, each with its documented type."""
    return (
        isinstance(record["id"], str)
        and isinstance(record["index"], int)
        and record["status"] in {"created", "pending", "failed", "success"}
        and record["type"] in {"payout", "payin", "deposit", "withdraw", "bankToExchange", "exchangeToBank"}
        and isinstance(record["currency"], str)
        and DECIMAL.fullmatch(record["amount"]) is not None
        and INSTANT.fullmatch(record["createdAt"]) is not None
        and INSTANT.fullmatch(record["updatedAt"]) is not None
    )


@pytest.fixture
def held(target: Target) -> Iterator[str]:
    """The id of a withdrawal of one BTC that waits for its commit; it is rolled back after the test."""
    made = target.ask(
        "POST", "/api/2/account/crypto/withdraw", currency="BTC", amount="1", address=ADDRESS, autoCommit="false"
    )
    found: str = good(made)["id"]
    yield found
    target.ask("DELETE", f"/api/2/account/crypto/withdraw/{found}")


# Public --------------------------------------------------------------------------------------------------------------


def test_currencies(target: Target) -> None:
    every = good(target.ask("GET", "/api/2/public/currency", anonymous=True))
    one = good(target.ask("GET", "/api/2/public/currency/BTC", anonymous=True))
    some = good(target.ask("GET", "/api/2/public/currency?currencies=BTC,ETH", anonymous=True))
    assert one in every
    assert sorted(row["id"] for row in some) == ["BTC", "ETH"]
    assert isinstance(one["fullName"], str)
    switches = (
        "crypto",
        "payinEnabled",
        "payinPaymentId",
        "payoutEnabled",
        "payoutIsPaymentId",
        "transferEnabled",
        "delisted",
    )
    assert all(isinstance(one[name], bool) for name in switches)
    assert isinstance(one["payinConfirmations"], int)
    assert isinstance(one["precisionPayout"], int)
    assert isinstance(one["precisionTransfer"], int)
    assert DECIMAL.fullmatch(one["payoutFee"])
    assert DECIMAL.fullmatch(one["payoutMinimalAmount"])
    assert error(target.ask("GET", "/api/2/public/currency/NOSUCH", anonymous=True)) == (400, 2002)


def test_symbols_and_tickers(target: Target) -> None:
    symbol = good(target.ask("GET", "/api/2/public/symbol/ETHBTC", anonymous=True))
    assert (symbol["id"], symbol["baseCurrency"], symbol["quoteCurrency"]) == ("ETHBTC", "ETH", "BTC")
    for name in ("quantityIncrement", "tickSize", "takeLiquidityRate", "provideLiquidityRate"):
        assert DECIMAL.fullmatch(symbol[name])
    ticker = good(target.ask("GET", "/api/2/public/ticker/ETHBTC", anonymous=True))
    assert set(ticker) >= {"ask", "bid", "last", "open", "low", "high", "volume", "volumeQuote", "timestamp", "symbol"}
    assert INSTANT.fullmatch(ticker["timestamp"])
    assert [
        row["symbol"] for row in good(target.ask("GET", "/api/2/public/ticker?symbols=ETHBTC", anonymous=True))
    ] == ["ETHBTC"]
    assert error(target.ask("GET", "/api/2/public/symbol/NOSUCH", anonymous=True)) == (400, 2001)
    assert error(target.ask("GET", "/api/2/public/ticker/NOSUCH", anonymous=True)) == (400, 2001)


# Balance and addresses -----------------------------------------------------------------------------------------------


def test_balance(target: Target) -> None:
    balances = good(target.ask("GET", "/api/2/account/balance"))
    for row in balances:
        assert set(row) == {"currency", "available", "reserved"}
        assert DECIMAL.fullmatch(row["available"])
        assert DECIMAL.fullmatch(row["reserved"])
    assert error(target.ask("GET", "/api/2/account/balance", anonymous=True)) == (401, 1001)


def test_deposit_addresses(target: Target) -> None:
    made = good(target.ask("POST", "/api/2/account/crypto/address/BTC"))
    assert isinstance(made["address"], str)
    assert good(target.ask("GET", "/api/2/account/crypto/address/BTC")) == made
    listed = good(target.ask("GET", "/api/2/account/crypto/addresses/BTC"))
    assert made in listed
    assert len(listed) <= 10
    assert good(target.ask("GET", f"/api/2/account/crypto/is-mine/{made['address']}")) == {"result": True}
    assert good(target.ask("GET", f"/api/2/account/crypto/is-mine/{ADDRESS}")) == {"result": False}
    assert error(target.ask("GET", "/api/2/account/crypto/address/NOSUCH")) == (400, 2002)


def test_used_addresses(target: Target, held: str) -> None:
    listed = good(target.ask("GET", "/api/2/account/crypto/used-addresses/BTC"))
    assert len(listed) <= 10
    assert all(isinstance(row["address"], str) for row in listed)


# Withdrawals ---------------------------------------------------------------------------------------------------------


def test_a_hold_is_listed_and_reserves_its_amount_and_fee(target: Target) -> None:
    def of_btc() -> dict[str, Decimal]:
        rows = good(target.ask("GET", "/api/2/account/balance"))
        row = next(row for row in rows if row["currency"] == "BTC")
        return {name: Decimal(row[name]) for name in ("available", "reserved")}

    before = of_btc()
    answer = target.ask(
        "POST", "/api/2/account/crypto/withdraw", currency="BTC", amount="1", address=ADDRESS, autoCommit="false"
    )
    made = good(answer)
    assert set(made) == {"id"}
    record = good(target.ask("GET", f"/api/2/account/transactions/{made['id']}"))
    assert is_transaction(record)
    assert (record["type"], record["status"], record["currency"], record["address"]) == (
        "payout",
        "created",
        "BTC",
        ADDRESS,
    )
    spent = Decimal(record["amount"]) + Decimal(record["fee"])
    after = of_btc()
    assert before["available"] - after["available"] == spent
    assert after["reserved"] - before["reserved"] == spent
    assert good(target.ask("DELETE", f"/api/2/account/crypto/withdraw/{made['id']}")) == {"result": True}
    assert of_btc() == before


def test_a_rollback_is_idempotent_and_can_not_be_committed(target: Target, held: str) -> None:
    for _ in range(2):
        assert good(target.ask("DELETE", f"/api/2/account/crypto/withdraw/{held}")) == {"result": True}
    assert error(target.ask("PUT", f"/api/2/account/crypto/withdraw/{held}")) == (400, 20007)
    assert good(target.ask("GET", f"/api/2/account/transactions/{held}"))["status"] == "failed"


def test_a_fee_that_is_included_comes_out_of_the_amount(target: Target) -> None:
    form = {"currency": "BTC", "amount": "1", "address": ADDRESS, "autoCommit": "false", "includeFee": "true"}
    made = good(target.ask("POST", "/api/2/account/crypto/withdraw", **form))["id"]
    record = good(target.ask("GET", f"/api/2/account/transactions/{made}"))
    assert Decimal(record["amount"]) + Decimal(record["fee"]) == 1
    target.ask("DELETE", f"/api/2/account/crypto/withdraw/{made}")


def test_the_fee_is_estimated(target: Target) -> None:
    estimate = good(target.ask("GET", "/api/2/account/crypto/estimate-withdraw?currency=BTC&amount=1"))
    assert set(estimate) == {"fee"}
    assert DECIMAL.fullmatch(estimate["fee"])


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({}, 10001),
        ({"currency": "BTC", "amount": "1"}, 10001),
        ({"currency": "BTC", "address": ADDRESS}, 10001),
        ({"amount": "1", "address": ADDRESS}, 10001),
        ({"currency": "BTC", "amount": "-1", "address": ADDRESS}, 10001),
        ({"currency": "BTC", "amount": "0", "address": ADDRESS}, 10001),
        ({"currency": "BTC", "amount": "one", "address": ADDRESS}, 10001),
        ({"currency": "NOSUCH", "amount": "1", "address": ADDRESS}, 2002),
        ({"currency": "BTC", "amount": "99999999", "address": ADDRESS}, 20001),
        ({"currency": "BTC", "amount": "1", "address": ADDRESS, "publicComment": "x" * 256}, 10001),
    ],
)
def test_what_is_no_withdrawal_is_refused(target: Target, form: dict[str, str], code: int) -> None:
    answer = target.ask("POST", "/api/2/account/crypto/withdraw", autoCommit="false", **form)
    assert error(answer) == (400, code)


def test_unknown_payouts_and_transactions(target: Target) -> None:
    unknown = uuid.uuid4()
    assert error(target.ask("PUT", f"/api/2/account/crypto/withdraw/{unknown}")) == (400, 20005)
    assert error(target.ask("DELETE", f"/api/2/account/crypto/withdraw/{unknown}")) == (400, 20005)
    assert error(target.ask("GET", f"/api/2/account/transactions/{unknown}")) == (400, 20004)


# Transfers -----------------------------------------------------------------------------------------------------------


def test_money_goes_to_the_trading_account_and_back(target: Target) -> None:
    for kind in ("bankToExchange", "exchangeToBank"):
        made = good(target.ask("POST", "/api/2/account/transfer", currency="USD", amount="10", type=kind))
        assert set(made) == {"id"}
        record = good(target.ask("GET", f"/api/2/account/transactions/{made['id']}"))
        assert is_transaction(record)
        assert (record["type"], record["status"], Decimal(record["amount"])) == (kind, "success", 10)


def test_what_is_no_transfer_is_refused(target: Target) -> None:
    path = "/api/2/account/transfer"
    assert error(target.ask("POST", path, currency="USD", amount="10", type="sideways")) == (400, 10001)
    assert error(target.ask("POST", path, currency="USD", amount="10")) == (400, 10001)
    assert error(target.ask("POST", path, currency="NOSUCH", amount="10", type="bankToExchange")) == (400, 2002)
    far = error(target.ask("POST", path, currency="USD", amount="999999999999", type="bankToExchange"))
    assert far == (400, 20001)


# Transactions --------------------------------------------------------------------------------------------------------


def test_transactions_are_listed_sorted_and_paged(target: Target, held: str) -> None:
    newest = good(target.ask("GET", "/api/2/account/transactions"))
    assert len(newest) <= 100
    assert all(is_transaction(record) for record in newest)
    assert [record["createdAt"] for record in newest] == sorted((r["createdAt"] for r in newest), reverse=True)
    assert held in [record["id"] for record in newest]
    of_btc = good(target.ask("GET", "/api/2/account/transactions?currency=BTC&limit=5"))
    assert {record["currency"] for record in of_btc} == {"BTC"}
    by_index = good(target.ask("GET", "/api/2/account/transactions?by=index&sort=ASC&limit=1000"))
    indexes = [record["index"] for record in by_index]
    assert indexes == sorted(set(indexes))
    rest = good(target.ask("GET", f"/api/2/account/transactions?by=index&sort=ASC&from={indexes[0] + 1}&limit=1000"))
    assert [record["index"] for record in rest] == indexes[1:]
    second = good(target.ask("GET", "/api/2/account/transactions?by=index&sort=ASC&limit=1&offset=1"))
    assert [record["index"] for record in second] == indexes[1:2]


def test_an_index_grows_with_every_change(target: Target, held: str) -> None:
    before = good(target.ask("GET", f"/api/2/account/transactions/{held}"))
    target.ask("DELETE", f"/api/2/account/crypto/withdraw/{held}")
    after = good(target.ask("GET", f"/api/2/account/transactions/{held}"))
    assert after["index"] > before["index"]
    assert after["createdAt"] == before["createdAt"]


def test_bounds_of_paging(target: Target) -> None:
    for query in ("limit=1001", "offset=100001", "sort=UP", "by=colour", "from=yesterday"):
        assert error(target.ask("GET", f"/api/2/account/transactions?{query}")) == (400, 10001), query


# Errors --------------------------------------------------------------------------------------------------------------


def test_wrong_credentials_methods_and_paths(target: Target) -> None:
    url = target.url + "/api/2/account/balance"
    assert error(requests.get(url, auth=(target.login, "wrong"), timeout=30)) == (401, 1002)
    assert error(requests.get(url, headers={"Authorization": "Bearer x"}, timeout=30)) == (401, 1004)
    for answer in (target.ask("GET", "/api/2/no/such/path"), target.ask("PATCH", "/api/2/account/balance")):
        assert answer.status_code == 404
        assert answer.headers["Content-Type"].startswith("text/html")


# The account stream --------------------------------------------------------------------------------------------------


def said(stream: websocket.WebSocket, message: dict[str, object]) -> dict[str, Any]:
    """The answer to a message, whatever is told in between."""
    stream.send(json.dumps(message))
    while True:
        answer: dict[str, Any] = json.loads(stream.recv())
        if "id" in answer:
            return answer


def test_the_account_stream(target: Target) -> None:
    stream = target.stream()
    assert said(stream, {"method": "getBalance", "params": {}, "id": 1})["error"]["code"] == 1001
    bad = {"algo": "BASIC", "pKey": target.login, "sKey": "wrong"}
    assert said(stream, {"method": "login", "params": bad, "id": 2})["error"]["code"] == 1002
    nonce = uuid.uuid4().hex[:20]
    signature = hmac.new(target.secret.encode(), nonce.encode(), hashlib.sha256).hexdigest()
    proof = {"algo": "HS256", "pKey": target.login, "nonce": nonce, "signature": signature}
    assert said(stream, {"method": "login", "params": proof, "id": 3}) == {"jsonrpc": "2.0", "result": True, "id": 3}
    assert said(stream, {"method": "subscribeTransactions", "params": {}, "id": 4})["result"] is True
    made = good(target.ask("POST", "/api/2/account/transfer", currency="USD", amount="1", type="bankToExchange"))["id"]
    while (frame := json.loads(stream.recv())).get("params", {}).get("id") != made:
        continue
    assert frame["method"] == "updateTransaction"
    assert is_transaction(frame["params"])
    index = frame["params"]["index"]
    loaded = said(stream, {"method": "loadTransactions", "params": {"from": index, "till": index + 1}, "id": 5})
    assert [record["id"] for record in loaded["result"]] == [made]
    found = said(stream, {"method": "findTransactions", "params": {"limit": 1}, "id": 6})["result"]
    assert len(found) == 1
    assert is_transaction(found[0])
    assert said(stream, {"method": "subscribeBalance", "params": {}, "id": 7})["result"] is True
    balances = json.loads(stream.recv())
    assert balances["method"] == "balance"
    assert all(Decimal(row["available"]) or Decimal(row["reserved"]) for row in balances["params"])
    assert said(stream, {"method": "noSuchMethod", "params": {}, "id": "x"})["id"] == "x"
    stream.close()
    target.ask("POST", "/api/2/account/transfer", currency="USD", amount="1", type="exchangeToBank")
