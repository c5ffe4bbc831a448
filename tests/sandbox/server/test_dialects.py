"""Where the specification and live servers differ (exchange supplement 6), in literal requests: both dialects, and what
is the same in both."""

import base64
import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import requests
import websocket

from sandbox.engine.journal import Journal, read_lines
from sandbox.server import connections
from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client
from tests.sandbox.worlds import Ticking, call, held, opened, row

BOTH = pytest.mark.parametrize("dialect", ["documented", "observed"])
ORDER = {"symbol": "ETHBTC", "side": "buy", "quantity": "0.063", "price": "0.046016"}
KEY = b"Authorization: Basic " + base64.b64encode(b"demo-full:demo-full-secret") + b"\r\n"


@pytest.fixture
def speak(box: InProcessSandbox, dialect: str) -> Iterator[str]:
    """The sandbox speaks the dialect of the test."""
    box.control("config", {"dialect": dialect})
    yield dialect
    box.control("config", {"dialect": "documented"})


def answered(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """One answer off the connection: status, headers, body."""
    raw = b""
    while b"\r\n\r\n" not in raw:
        piece = connection.recv(65_536)
        assert piece, raw
        raw += piece
    head, _, body = raw.partition(b"\r\n\r\n")
    first, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        body += connection.recv(65_536)
    return int(first.split()[1]), headers, body


def connected(box: InProcessSandbox) -> socket.socket:
    return socket.create_connection(("127.0.0.1", box.port), timeout=10)


# Which dialect it is --------------------------------------------------------------------------------------------------


def test_the_dialect_is_told_changed_and_kept_by_a_reset(box: InProcessSandbox) -> None:
    assert box.control("state")["dialect"] == "documented"
    assert box.control("config", {"dialect": "observed"})["dialect"] == "observed"
    assert box.control("reset", {"seed": 1})["dialect"] == "observed"
    assert "speaks the <b>observed</b> dialect" in requests.get(box.url, timeout=5).text
    assert box.world.journal.header.dialect == "observed"
    with pytest.raises(ValueError, match="it takes one of documented, observed"):
        box.control("config", {"dialect": "frisian"})
    box.control("config", {"dialect": "documented"})
    box.control("reset", {"seed": 1})


# What differs ---------------------------------------------------------------------------------------------------------


@BOTH
def test_an_order_by_put_without_a_time_in_force(client: Client, speak: str) -> None:
    answer = client.call("PUT", "/order/dialect-1", data=ORDER)
    if speak == "documented":
        assert answer.status_code == 400
        assert answer.json()["error"] == {
            "code": 10001,
            "message": "Validation error",
            "description": "Param 'timeInForce' required",
        }
        return
    assert answer.status_code == 200, answer.text
    assert (answer.json()["timeInForce"], answer.json()["clientOrderId"]) == ("GTC", "dialect-1")
    by_query = client.call("PUT", "/order/dialect-2?symbol=ETHBTC&side=sell&quantity=0.063&price=0.9&timeInForce=Day")
    assert by_query.json()["timeInForce"] == "Day"


@BOTH
def test_the_letter_case_of_a_path(client: Client, box: InProcessSandbox, speak: str) -> None:
    status = 200 if speak == "observed" else 404
    for path in ("/api/2/PUBLIC/Currency/btc", "/API/2/public/symbol/ETHBTC", "/api/2/Account/balance"):
        assert requests.get(box.url + path, auth=client.auth, timeout=5).status_code == status, path
    made = client.call("POST", "/order", data=ORDER | {"clientOrderId": "KeepsItsCase"})
    assert made.status_code == 200
    found = requests.get(f"{box.url}/api/2/ORDER/KeepsItsCase", auth=client.auth, timeout=5)
    assert found.status_code == status
    if speak == "observed":
        assert found.json()["clientOrderId"] == "KeepsItsCase"
        websocket.create_connection(box.ws_url + "/api/2/WS/Public", timeout=5).close()
    else:
        with pytest.raises(websocket.WebSocketBadStatusException):
            websocket.create_connection(box.ws_url + "/api/2/WS/Public", timeout=5)


@BOTH
def test_an_order_of_either_dialect_is_lived_again_in_the_other(dialect: str, tmp_path: Path) -> None:
    other = {"documented": "observed", "observed": "documented"}[dialect]
    with InProcessSandbox(still=True, dialect=dialect, data_dir=tmp_path) as box:
        force = {} if dialect == "observed" else {"timeInForce": "GTC"}
        made = Client(box.url).call("PUT", "/order/lived", data=ORDER | {"price": "0.001"} | force)
        assert made.status_code == 200, made.text
    with InProcessSandbox(still=True, dialect=other, data_dir=tmp_path) as box:
        assert Client(box.url).call("GET", "/order/lived").json() == {
            name: value for name, value in made.json().items() if name != "tradesReport"
        }
        assert box.control("state")["warnings"] == [
            f"the saved world used the {dialect} dialect until now; from now on it uses the {other} one"
        ]


def test_a_kept_world_goes_on_in_its_dialect(tmp_path: Path) -> None:
    for wanted, said in (("observed", []), ("", ["observed"]), ("", ["observed"]), ("documented", ["observed"])):
        world = opened(tmp_path, dialect=wanted)
        assert world.config.dialect == (wanted or "observed")
        assert len(world.warnings) == len(said)
        assert all(word in warning for word, warning in zip(said, world.warnings, strict=True))
        world.close()
    world = opened(tmp_path)
    assert (world.config.dialect, world.warnings) == ("documented", [])
    world.close()


def test_an_older_journal_calls_a_part_of_the_dialect_otherwise(tmp_path: Path) -> None:
    world = opened(tmp_path)
    world.control("config", {"dialect": "observed", "payout_seconds": 2})
    world.close()
    path = tmp_path / "journal.jsonl"
    entries = [
        replace(entry, arguments={"chain_sends_bare": True, "payout_seconds": 2})
        for entry in read_lines(path.read_bytes()).entries
    ]
    old = Journal.begin(world.journal.header, path)
    for entry in entries:
        old.append(entry)
    old.close()
    again = opened(tmp_path)
    assert (again.config.dialect, again.config.payout_ms) == ("observed", 2_000)
    again.close()


# What is the same in both ---------------------------------------------------------------------------------------------


LISTS = (
    ("/public/trades/ETHBTC", []),
    ("/public/candles/ETHBTC", []),
    ("/public/trades?symbols=ETHBTC,BTCUSD", {"ETHBTC": [], "BTCUSD": []}),
    ("/public/candles?symbols=ETHBTC", {"ETHBTC": []}),
    ("/history/order", []),
    ("/history/trades", []),
    ("/account/transactions", []),
)


@BOTH
@pytest.mark.parametrize(("path", "nothing"), LISTS)
def test_a_limit_of_zero_lists_nothing(client: Client, speak: str, path: str, nothing: object) -> None:
    joined = "&" if "?" in path else "?"
    answer = client.call("GET", f"{path}{joined}limit=0")
    assert (answer.status_code, answer.json()) == (200, nothing)
    assert client.call("GET", f"{path}{joined}limit=0&offset=3&sort=ASC").json() == nothing
    assert client.call("GET", f"{path}{joined}limit=1001").status_code == 400
    assert client.call("GET", f"{path}{joined}limit=-1").status_code == 400


@BOTH
def test_http_1_0_keeps_a_connection_that_asks_for_it(box: InProcessSandbox, speak: str) -> None:
    with connected(box) as connection:
        for path in (b"/api/2/public/currency/BTC", b"/v2/blockchain/getBlockCount", b"/nowhere"):
            connection.sendall(b"GET " + path + b" HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
            _, headers, body = answered(connection)
            assert headers["connection"] == "keep-alive"
            assert len(body) == int(headers["content-length"])
        connection.sendall(b"GET /api/2/public/currency/BTC HTTP/1.0\r\n\r\n")
        assert answered(connection)[1]["connection"] == "close"
        assert connection.recv(1) == b""


@BOTH
@pytest.mark.parametrize(
    "path",
    ["/api/2/public/currency/BTC", "/api/2/account/balance", "/", "/_sandbox/state", "/v2/blockchain/getBlockCount"],
)
def test_head_is_get_without_a_body(box: InProcessSandbox, client: Client, speak: str, path: str) -> None:
    box.control("clock", {"frozen": True})
    read = requests.get(box.url + path, auth=client.auth, timeout=5)
    head = requests.head(box.url + path, auth=client.auth, timeout=5)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["Content-Type"] == read.headers["Content-Type"]
    assert int(head.headers["Content-Length"]) == len(read.content) > 0
    assert requests.head(box.url + "/api/2/nowhere", timeout=5).status_code == 404


def test_head_changes_nothing_and_needs_what_get_needs(box: InProcessSandbox, client: Client) -> None:
    before = box.control("ledger")
    assert requests.head(box.url + "/api/2/account/transfer", auth=client.auth, timeout=5).status_code == 404
    assert requests.head(box.url + "/api/2/account/balance", timeout=5).status_code == 401
    assert box.control("ledger") == before


@BOTH
@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/api/2/public/currency", "GET, HEAD, OPTIONS"),
        ("/api/2/order", "GET, HEAD, POST, DELETE, OPTIONS"),
        ("/api/2/order/abc", "GET, HEAD, PUT, PATCH, DELETE, OPTIONS"),
        ("/api/2/account/crypto/withdraw/1", "PUT, DELETE, OPTIONS"),
    ],
)
def test_options_tell_what_a_path_takes(box: InProcessSandbox, speak: str, path: str, allowed: str) -> None:
    answer = requests.options(box.url + path, timeout=5)
    assert (answer.status_code, answer.content, answer.headers["Allow"]) == (204, b"", allowed)
    assert requests.options(box.url + "/api/2/nowhere", timeout=5).status_code == 404


@BOTH
@pytest.mark.parametrize(
    ("path", "most"), [(b"/api/2/account/transfer", 64 * 1024), (b"/v2/rawtransactions/sendRawTransaction", 1024**2)]
)
def test_the_answer_to_a_body_that_is_too_long_can_be_read(
    box: InProcessSandbox, speak: str, path: bytes, most: int
) -> None:
    """Also by who sends all of it first, of which the server reads only the beginning."""
    with connected(box) as connection:
        connection.sendall(b"POST " + path + b" HTTP/1.1\r\nHost: x\r\n" + KEY + b"Content-Length: 40000000\r\n\r\n")
        for _ in range(0, most + 6_000_000, 65_536):
            connection.sendall(b"x" * 65_536)
        status, headers, body = answered(connection)
        assert (status, headers["connection"]) == (413, "close")
        assert json.loads(body)
        assert connection.recv(1) == b""
    assert box.control("calls")["calls"] == []


@BOTH
@pytest.mark.parametrize(
    "begun",
    [
        b"GET /api/2/public/currency/BTC HTTP/1.1\r\nHost: x\r\n",
        b"POST /api/2/account/transfer HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\ncurrency=USD",
        b"G",
    ],
)
def test_a_request_that_never_finishes_is_ended(begun: bytes, dialect: str) -> None:
    with InProcessSandbox(still=True, request_ms=20, dialect=dialect) as box, connected(box) as connection:
        connection.sendall(begun)
        with suppress(ConnectionResetError):
            assert connection.recv(1) == b""


def test_a_socket_is_no_request_that_never_finishes() -> None:
    with InProcessSandbox(still=True, request_ms=20) as box:
        stream = websocket.create_connection(box.ws_url + "/api/2/ws/public", timeout=10)
        time.sleep(0.1)
        stream.send('{"method": "getCurrency", "params": {"currency": "BTC"}, "id": 1}')
        assert json.loads(stream.recv())["result"]["id"] == "BTC"
        stream.close()


def test_a_request_has_a_minute() -> None:
    assert connections.REQUEST_MS == 60_000


@BOTH
@pytest.mark.parametrize(
    "head", [b"X: " + b"x" * 33_000 + b"\r\n\r\n", b"X: y\r\n" * 6_000 + b"\r\n", b"X: " + b"x" * 33_000]
)
def test_too_many_headers(box: InProcessSandbox, speak: str, head: bytes) -> None:  # fmt: skip
    with connected(box) as connection:
        connection.sendall(b"GET /api/2/public/currency/BTC HTTP/1.1\r\nHost: x\r\n" + head)
        status, headers, _ = answered(connection)
        assert (status, headers["connection"]) == (431, "close")
        assert connection.recv(1) == b""


@BOTH
def test_headers_that_just_fit(box: InProcessSandbox, speak: str) -> None:
    answer = requests.get(box.url + "/api/2/public/currency/BTC", headers={"X": "x" * 32_000}, timeout=5)
    assert answer.status_code == 200


@BOTH
def test_http_1_1_needs_a_host(box: InProcessSandbox, speak: str) -> None:
    with connected(box) as connection:
        connection.sendall(b"GET /api/2/public/currency/BTC HTTP/1.1\r\nAccept: */*\r\n\r\n")
        assert answered(connection)[0] == 400
    with connected(box) as connection:
        connection.sendall(b"GET /api/2/public/currency/BTC HTTP/1.0\r\n\r\n")
        assert answered(connection)[0] == 200


# Confirmations go on --------------------------------------------------------------------------------------------------


def test_the_confirmations_of_a_payout_go_on_with_its_network() -> None:
    clock = Ticking()
    world = opened(clock=clock, still=True)
    paid = held(world)
    call(world, "commit_withdrawal", id=paid)
    clock.at_ms += 3 * 4_000  # the hash, and the two confirmations that end it
    ended = row(world, paid)
    assert (ended["status"], ended["confirmations"]) == ("success", 2)
    clock.at_ms += 3_999
    assert row(world, paid) == ended
    clock.at_ms += 1
    assert row(world, paid) == ended | {"confirmations": 3}
    clock.at_ms += 60 * 4_000
    assert call(world, "get_transactions", limit=1, by="index")[0] == ended | {"confirmations": 63}


def test_the_confirmations_of_a_payout_on_the_chain_are_its_blocks(box: InProcessSandbox, client: Client) -> None:
    box.control("config", {"block_seconds": 86_400, "payout_seconds": 0})
    form = {"currency": "BCH", "amount": "1", "address": "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"}
    paid = client.call("POST", "/account/crypto/withdraw", data=form).json()["id"]

    def info() -> dict[str, Any]:
        found: dict[str, Any] = client.call("GET", f"/account/transactions/{paid}").json()
        return found

    box.control("chain/mine", {"blocks": 5})
    assert (info()["status"], info()["confirmations"]) == ("success", 5)
    box.control("chain/mine", {"blocks": 120})
    assert info()["confirmations"] == 125
    detail = requests.get(f"{box.url}/v2/transaction/details/{info()['hash']}", timeout=5).json()
    assert detail["confirmations"] == 125
    box.control("chain/reorg", {"depth": 2})
    assert (info()["status"], info()["confirmations"]) == ("success", 126)
