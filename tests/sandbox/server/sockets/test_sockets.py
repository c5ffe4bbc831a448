"""The account stream over real sockets: frames, login, order, subscriptions, queries, hostile clients, faults."""

import contextlib
import email.utils
import hashlib
import hmac
import json
import select
import socket
import struct
import time
from collections.abc import Iterator
from typing import Any

import pytest
import websocket

from sandbox.serving import InProcessSandbox
from tests.bounds import stretched
from tests.sandbox.conftest import Client

LOGIN = {"method": "login", "params": {"algo": "BASIC", "pKey": "demo-full", "sKey": "demo-full-secret"}, "id": "in"}
TRANSFER = {"currency": "USD", "amount": "10", "type": "bankToExchange"}
HOLD = {"currency": "BTC", "amount": "1", "address": "1BoatSLRHtKNngkdXEeobR76b53LETtpyT", "autoCommit": "false"}


class Stream:
    """A client of one socket."""

    def __init__(self, url: str, path: str = "/api/2/ws/account") -> None:
        self.socket = websocket.create_connection(url + path, timeout=5)
        self._connection = self.socket.sock

    def send(self, message: object) -> None:
        self.socket.send(message if isinstance(message, str) else json.dumps(message))

    def receive(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.socket.recv())
        return found

    def ask(self, method: str, params: object = None, request_id: object = 1) -> dict[str, Any]:
        self.send({"method": method, "params": params, "id": request_id})
        return self.receive()

    def is_quiet(self, seconds: float = 0.15) -> bool:
        """Whether nothing arrives for a while."""
        self.socket.settimeout(seconds)
        try:
            self.socket.recv()
        except websocket.WebSocketTimeoutException:
            return True
        finally:
            self.socket.settimeout(5)
        return False

    def hears_nothing(self, seconds: float = 0.15) -> bool:
        """Whether not even a pong arrives for a while."""
        return select.select([self.socket.sock], [], [], seconds)[0] == []

    def close(self) -> None:
        self.socket.close()
        self._connection.close()  # the library forgets to, after an error


@pytest.fixture
def stream(box: InProcessSandbox) -> Iterator[Stream]:
    """A socket that has logged in with every right."""
    opened = Stream(box.ws_url)
    assert opened.ask("login", LOGIN["params"])["result"] is True
    yield opened
    opened.close()


@pytest.fixture
def anonymous(box: InProcessSandbox) -> Iterator[Stream]:
    """A socket that has not logged in."""
    opened = Stream(box.ws_url)
    yield opened
    opened.close()


# Frames --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("request_id", [1, 0, -5, 2**63, "a", "", "é", None])
def test_the_id_comes_back_as_it_went(anonymous: Stream, request_id: object) -> None:
    answer = anonymous.ask("login", LOGIN["params"], request_id)
    assert answer == {"jsonrpc": "2.0", "result": True, "id": request_id}
    assert type(answer["id"]) is type(request_id)


def test_a_request_without_id_is_answered_with_null(anonymous: Stream) -> None:
    anonymous.send({"method": "login", "params": LOGIN["params"]})
    assert anonymous.receive() == {"jsonrpc": "2.0", "result": True, "id": None}


def test_params_may_be_empty_absent_or_null(stream: Stream) -> None:
    stream.send({"jsonrpc": "2.0", "method": "getBalance", "params": {}, "id": 1})
    stream.send({"method": "getBalance", "params": None, "id": 2})
    stream.send({"method": "getBalance", "id": 3})
    answers = [stream.receive() for _ in range(3)]
    assert [answer["id"] for answer in answers] == [1, 2, 3]
    assert answers[0]["result"] == answers[1]["result"] == answers[2]["result"] != []


@pytest.mark.parametrize(
    ("message", "request_id", "description"),
    [
        ("", None, "the message is not a JSON-RPC object"),
        ("{", None, "the message is not a JSON-RPC object"),
        ("[" * 30_000, None, "the message is not a JSON-RPC object"),
        ('{"method":"login","params":' + '{"a":' * 10_000, None, "the message is not a JSON-RPC object"),
        ('{"method":"login","id":NaN}', None, "the message is not a JSON-RPC object"),
        ("[]", None, "the message is not a JSON-RPC object"),
        ('"login"', None, "the message is not a JSON-RPC object"),
        ("{}", None, "the message must have exactly one of method, result and error"),
        ('{"result":true,"id":1}', None, "the message is an answer, not a request"),
        ('{"method":7}', None, "the message is not a JSON-RPC object"),
        ('{"method":"login","params":[],"id":1}', 1, "params is not an object"),
        ('{"method":"login","params":"x","id":"a"}', "a", "params is not an object"),
        ('{"method":"login","params":[]}', None, "params is not an object"),
        ('{"method":"login","id":{}}', None, "the message is not a JSON-RPC object"),
        ('{"method":"login","id":true}', None, "the message is not a JSON-RPC object"),
        ('{"method":"login","id":"\\ud800"}', None, "the message is not a JSON-RPC object"),
    ],
)
def test_what_is_no_request_gets_an_error_and_the_socket_stays(
    anonymous: Stream, message: str, request_id: object, description: str
) -> None:
    anonymous.send(message)
    error = {"code": -32600, "message": "Invalid Request", "description": description}
    assert anonymous.receive() == {"jsonrpc": "2.0", "error": error, "id": request_id}
    assert anonymous.ask("login", LOGIN["params"])["result"] is True


def test_binary_messages_are_no_requests(anonymous: Stream) -> None:
    anonymous.socket.send_binary(json.dumps(LOGIN).encode())
    assert anonymous.receive()["error"]["code"] == -32600


def test_a_message_that_is_too_long_ends_the_socket(anonymous: Stream) -> None:
    # What the server did not read may turn its goodbye (1009) into a reset.
    with contextlib.suppress(ConnectionError):
        anonymous.send({"method": "login", "params": {"algo": "x" * 70_000}})
        opcode, frame = anonymous.socket.recv_data_frame(True)
        assert opcode == websocket.ABNF.OPCODE_CLOSE
        assert struct.unpack("!H", frame.data[:2]) == (1009,)
    with pytest.raises((websocket.WebSocketConnectionClosedException, ConnectionError)):
        anonymous.ask("getBalance")


def test_the_handshake_carries_the_sandbox_date_and_unknown_addresses_are_404(box: InProcessSandbox) -> None:
    box.control("clock", {"frozen": True})
    box.control("clock", {"advance_ms": 10**10})
    opened = Stream(box.ws_url)
    stated = email.utils.parsedate_to_datetime(opened.socket.headers["date"])
    assert stated.timestamp() == box.world.clock.now_ms() // 1000
    opened.close()
    with pytest.raises(websocket.WebSocketBadStatusException) as refused:
        Stream(box.ws_url, "/api/2/ws/nothing")
    assert refused.value.status_code == 404


@pytest.mark.parametrize("path", ["/api/2/ws/public", "/api/2/ws/trading", "/api/2/ws", "/api/2/ws/account"])
def test_every_address_answers_a_method_it_does_not_have_with_an_error(box: InProcessSandbox, path: str) -> None:
    opened = Stream(box.ws_url, path)
    answer = opened.ask("getNothing", None, "c")
    assert (answer["id"], answer["error"]["code"], answer["error"]["message"]) == ("c", -32601, "Method not found")
    assert answer["error"]["description"].startswith("There is no getNothing here; there are ")
    opened.close()


# Login ---------------------------------------------------------------------------------------------------------------


METHODS = (
    "getBalance",
    "findTransactions",
    "loadTransactions",
    "subscribeTransactions",
    "unsubscribeTransactions",
    "subscribeBalance",
    "unsubscribeBalance",
)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_answered_before_a_login(anonymous: Stream, method: str) -> None:
    assert anonymous.ask(method)["error"] == {"code": 1001, "message": "Authorization required", "description": ""}


def test_a_login_with_a_signed_nonce(anonymous: Stream) -> None:
    nonce = "N1g287gL8YOwDZr"
    signature = hmac.new(b"demo-read-secret", nonce.encode(), hashlib.sha256).hexdigest()
    params = {"algo": "HS256", "pKey": "demo-read", "nonce": nonce, "signature": signature}
    assert anonymous.ask("login", params)["result"] is True
    assert anonymous.ask("getBalance")["result"]


def test_a_failed_login_says_why_and_the_next_one_may_succeed(anonymous: Stream) -> None:
    error = anonymous.ask("login", {"algo": "HS256", "pKey": "demo-full", "nonce": "n", "signature": "x"})["error"]
    assert (error["code"], error["description"]) == (1002, "invalid signature format")
    assert anonymous.ask("login", {"algo": "BASIC", "pKey": "demo-full", "sKey": "no"})["error"]["code"] == 1002
    assert anonymous.ask("getBalance")["error"]["code"] == 1001
    assert anonymous.ask("login", LOGIN["params"])["result"] is True
    assert anonymous.ask("login", {"algo": "BASIC", "pKey": "demo-full", "sKey": "no"})["error"]["code"] == 1002
    assert anonymous.ask("getBalance")["result"]


def test_a_key_without_the_right_is_refused(anonymous: Stream) -> None:
    anonymous.ask("login", {"algo": "BASIC", "pKey": "demo-trade", "sKey": "demo-trade-secret"})
    assert anonymous.ask("getBalance")["error"]["code"] == 1003
    assert anonymous.ask("subscribeTransactions")["error"]["code"] == 1003


def test_the_log_of_calls_shows_a_login_without_its_secrets(box: InProcessSandbox, stream: Stream) -> None:
    signature = hmac.new(b"demo-full-secret", b"nonce", hashlib.sha256).hexdigest()
    stream.ask("login", {"algo": "HS256", "pKey": "demo-full", "nonce": "nonce", "signature": signature})
    calls = box.control("calls?operation=login")["calls"]
    assert [call["key"] for call in calls] == ["demo-full", "demo-full"]
    assert (calls[0]["path"], calls[0]["executed"]) == ("/api/2/ws/account", True)
    assert calls[0]["form"] == {"algo": "BASIC", "pKey": "demo-full", "sKey": "…"}
    assert "demo-full-secret" not in str(calls)
    assert signature not in str(calls)


# Order ---------------------------------------------------------------------------------------------------------------


def test_requests_are_answered_in_their_order_without_waiting(anonymous: Stream) -> None:
    anonymous.send(LOGIN)
    for number in range(50):
        anonymous.send({"method": METHODS[number % 3], "params": None, "id": number})
    answers = [anonymous.receive() for _ in range(51)]
    assert [answer["id"] for answer in answers] == ["in", *range(50)]
    assert all("result" in answer for answer in answers)


def test_equal_ids_get_as_many_answers(stream: Stream) -> None:
    for _ in range(5):
        stream.send({"method": "getBalance", "id": "same"})
    assert [stream.receive()["id"] for _ in range(5)] == ["same"] * 5


def test_the_answer_to_a_subscription_comes_before_what_it_brings(stream: Stream) -> None:
    for number in (1, 2):
        assert stream.ask("subscribeBalance", {}, number) == {"jsonrpc": "2.0", "result": True, "id": number}
        balances = stream.receive()
        assert list(balances) == ["jsonrpc", "method", "params"]
        assert balances["method"] == "balance"
        assert balances["params"] == stream.ask("getBalance")["result"]


# Notifications -------------------------------------------------------------------------------------------------------


def test_a_transfer_over_rest_is_told_with_its_balances(stream: Stream, client: Client) -> None:
    stream.ask("subscribeTransactions")
    stream.ask("subscribeBalance")
    stream.receive()
    made = client.call("POST", "/account/transfer", data=TRANSFER).json()["id"]
    params = {message["method"]: message["params"] for message in (stream.receive(), stream.receive())}
    assert params["updateTransaction"] == client.call("GET", f"/account/transactions/{made}").json()
    assert (params["updateTransaction"]["type"], params["updateTransaction"]["status"]) == ("bankToExchange", "success")
    assert not {"fee", "hash", "address"} & set(params["updateTransaction"])
    assert params["balance"] == stream.ask("getBalance")["result"]


def test_balances_on_the_stream_are_those_that_are_not_zero(stream: Stream, client: Client) -> None:
    on_rest = {row["currency"]: row for row in client.call("GET", "/account/balance").json()}
    on_stream = stream.ask("getBalance")["result"]
    assert all(on_rest[row["currency"]] == row for row in on_stream)
    zeros = set(on_rest) - {row["currency"] for row in on_stream}
    assert zeros
    assert all(float(on_rest[code]["available"]) == float(on_rest[code]["reserved"]) == 0 for code in zeros)


def test_a_payout_is_told_at_every_step(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    box.control("config", {"payout_seconds": 0.05})
    stream.ask("subscribeTransactions")
    held = client.call("POST", "/account/crypto/withdraw", data=HOLD).json()["id"]
    first = stream.receive()["params"]
    assert (first["id"], first["status"]) == (held, "created")
    client.call("PUT", f"/account/crypto/withdraw/{held}")
    messages = [first]
    while messages[-1]["status"] != "success":
        messages.append(stream.receive()["params"])
    assert {record["id"] for record in messages} == {held}
    indexes = [record["index"] for record in messages]
    assert indexes == sorted(set(indexes))
    assert "pending" in [record["status"] for record in messages]
    assert messages[-1]["hash"]


def test_a_hold_that_lapses_is_told(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    held = client.call("POST", "/account/crypto/withdraw", data=HOLD).json()["id"]
    stream.ask("subscribeTransactions")
    box.control("clock", {"advance_ms": 3_600_001})
    params = stream.receive()["params"]
    assert (params["id"], params["status"]) == (held, "failed")


def test_unsubscribing_ends_it_and_doing_it_twice_is_no_error(stream: Stream, client: Client) -> None:
    for method in ("subscribeTransactions", "subscribeTransactions", "unsubscribeBalance", "unsubscribeBalance"):
        assert stream.ask(method)["result"] is True
    client.call("POST", "/account/transfer", data=TRANSFER)
    assert stream.receive()["method"] == "updateTransaction"
    assert stream.is_quiet()
    stream.ask("unsubscribeTransactions")
    client.call("POST", "/account/transfer", data=TRANSFER)
    assert stream.is_quiet()


def test_other_accounts_hear_nothing(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    other = Stream(box.ws_url)
    other.ask("login", {"algo": "BASIC", "pKey": "other-full", "sKey": "other-full-secret"})
    other.ask("subscribeTransactions")
    client.call("POST", "/account/transfer", data=TRANSFER)
    assert other.is_quiet()
    other.close()


def test_a_change_made_from_another_thread_is_told_too(box: InProcessSandbox, stream: Stream) -> None:
    stream.ask("subscribeTransactions")
    box.world.control("deposit", {"currency": "USD", "amount": "3"})
    assert stream.receive()["params"]["currency"] == "USD"


# Queries -------------------------------------------------------------------------------------------------------------


def test_transactions_are_found_by_time_and_loaded_by_index(stream: Stream, client: Client) -> None:
    ids = [client.call("POST", "/account/transfer", data=TRANSFER).json()["id"] for _ in range(4)]
    found = stream.ask("findTransactions", {"limit": 4})["result"]
    assert [record["id"] for record in found] == ids[::-1]
    indexes = {record["id"]: record["index"] for record in found}
    since = {"from": indexes[ids[1]], "till": indexes[ids[3]]}
    assert [record["id"] for record in stream.ask("loadTransactions", since)["result"]] == ids[1:3]
    backwards = stream.ask("loadTransactions", {**since, "order": "DESC"})["result"]
    assert [record["id"] for record in backwards] == ids[1:3][::-1]


@pytest.mark.parametrize("order", ["sort", "order"])
def test_sort_and_order_mean_the_same_and_numbers_may_be_text(stream: Stream, client: Client, order: str) -> None:
    ids = [client.call("POST", "/account/transfer", data=TRANSFER).json()["id"] for _ in range(3)]
    params = {"limit": "2", "offset": "1", "currency": "usd", "showSenders": False, "startTime": 1}
    descending = stream.ask("findTransactions", {order: "DESC", **params})["result"]
    assert [record["id"] for record in descending] == [ids[1], ids[0]]
    ascending = stream.ask("loadTransactions", {order: "ASC", **params, "from": descending[1]["index"]})["result"]
    assert [record["id"] for record in ascending] == [ids[1], ids[2]]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("loadTransactions", {"from": "yesterday"}, 10001),
        ("loadTransactions", {"from": -1}, 10001),
        ("loadTransactions", {"limit": 1001}, 10001),
        ("loadTransactions", {"limit": {}}, 10001),
        ("loadTransactions", {"limit": 1.5}, 10001),
        ("findTransactions", {"from": "yesterday"}, 10001),
        ("findTransactions", {"order": "UP"}, 10001),
        ("findTransactions", {"offset": 100_001}, 10001),
        ("findTransactions", {"showSenders": "maybe"}, 10001),
        ("findTransactions", {"currency": "NOPE"}, 2002),
        ("findTransactions", {"currency": ["BTC"]}, 10001),
        ("findTransactions", {"currency": "A\0"}, 10001),
        ("findTransactions", {"from": 10**30}, 10001),
        ("withdraw", {}, -32601),
        ("x" * 500, {}, -32601),
    ],
)
def test_odd_params_get_the_error_of_the_catalogue(
    stream: Stream, method: str, params: dict[str, object], code: int
) -> None:
    answer = stream.ask(method, params)
    assert answer["error"]["code"] == code
    assert set(answer["error"]) == {"code", "message", "description"}
    assert stream.ask("getBalance")["result"]


@pytest.mark.usefixtures("one_second")
def test_rate_limits_reach_the_sockets(box: InProcessSandbox, stream: Stream) -> None:
    box.control("config", {"rate_limits": {"other": 2}})
    codes = [stream.ask("getBalance").get("error", {}).get("code") for _ in range(4)]
    assert codes == [None, None, 429, 429]


# Life and death ------------------------------------------------------------------------------------------------------


def test_a_ping_is_answered(stream: Stream) -> None:
    stream.socket.ping("are you there")
    opcode, frame = stream.socket.recv_data_frame(True)
    assert (opcode, frame.data) == (websocket.ABNF.OPCODE_PONG, b"are you there")


def test_a_closed_socket_is_forgotten(box: InProcessSandbox, client: Client) -> None:
    for _ in range(5):
        opened = Stream(box.ws_url)
        opened.ask("login", LOGIN["params"])
        opened.ask("subscribeTransactions")
        opened.close()
    deadline = time.monotonic() + stretched(3)
    while box.inside(box.open_sockets):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert client.call("POST", "/account/transfer", data=TRANSFER).status_code == 200


def test_a_reader_that_does_not_read_is_closed_and_the_world_goes_on() -> None:
    with InProcessSandbox(still=True, most_waiting=50) as box:
        lazy = Stream(box.ws_url)
        lazy.socket.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        lazy.ask("login", LOGIN["params"])
        lazy.ask("subscribeBalance")

        def some_deposits() -> None:
            for _ in range(15):
                box.world.control("deposit", {"currency": "USD", "amount": "1"})

        deadline = time.monotonic() + stretched(60)
        while box.inside(box.open_sockets):
            assert time.monotonic() < deadline
            box.inside(some_deposits)
        with pytest.raises((websocket.WebSocketConnectionClosedException, ConnectionError)):
            list(iter(lazy.socket.recv, None))
        lazy.close()
        assert box.control("ledger")["balanced"] is True


def test_a_client_that_vanishes_in_the_middle_of_a_frame_harms_nobody(box: InProcessSandbox, stream: Stream) -> None:
    for _ in range(3):
        opened = Stream(box.ws_url)
        opened.socket.sock.sendall(struct.pack("!BB", 0x81, 0x80 | 125) + b"mask" + b"half")
        opened.socket.sock.close()
    assert stream.ask("getBalance")["result"]


def test_the_server_ends_while_sockets_are_open() -> None:
    box = InProcessSandbox(still=True)
    opened = Stream(box.ws_url)
    opened.ask("login", LOGIN["params"])
    began = time.monotonic()
    box.stop()
    assert time.monotonic() - began < stretched(10)
    with contextlib.suppress(websocket.WebSocketException, ConnectionError):
        assert opened.socket.recv() == ""
    opened.close()


# Faults --------------------------------------------------------------------------------------------------------------


def placed_and_reported(stream: Stream, client: Client) -> str:
    """Makes a transfer; its id."""
    found: str = client.call("POST", "/account/transfer", data=TRANSFER).json()["id"]
    return found


def arm(box: InProcessSandbox, kind: str, operation: str = "updateTransaction", **members: object) -> None:
    box.control("faults", {"operation": operation, "kind": kind, **members})


def test_drop_breaks_the_socket_instead_of_telling(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    stream.ask("subscribeTransactions")
    arm(box, "drop", operation="*")
    made = placed_and_reported(stream, client)
    with pytest.raises((websocket.WebSocketConnectionClosedException, ConnectionError)):
        stream.socket.recv()
    again = Stream(box.ws_url)
    again.ask("login", LOGIN["params"])
    assert again.ask("loadTransactions", {"limit": 1000})["result"][-1]["id"] == made
    again.close()


def test_gap_loses_one_message(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    stream.ask("subscribeTransactions")
    arm(box, "gap")
    placed_and_reported(stream, client)
    second = placed_and_reported(stream, client)
    assert stream.receive()["params"]["id"] == second


def test_duplicate_tells_twice(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    stream.ask("subscribeTransactions")
    arm(box, "duplicate")
    first, second = placed_and_reported(stream, client), placed_and_reported(stream, client)
    assert [stream.receive()["params"]["id"] for _ in range(3)] == [first, first, second]


def test_reorder_tells_the_next_one_first(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    stream.ask("subscribeTransactions")
    arm(box, "reorder")
    first = placed_and_reported(stream, client)
    assert stream.is_quiet()
    assert stream.ask("getBalance")["result"]
    second = placed_and_reported(stream, client)
    assert [stream.receive()["params"]["id"] for _ in range(2)] == [second, first]


def test_slow_holds_everything_behind_it(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    stream.ask("subscribeTransactions")
    arm(box, "slow", ms=300)
    began = time.monotonic()
    made = placed_and_reported(stream, client)
    stream.send({"method": "getBalance", "id": 9})
    assert stream.receive()["params"]["id"] == made
    assert time.monotonic() - began >= 0.3
    assert stream.receive()["id"] == 9


def test_silence_loses_everything_and_keeps_the_socket_open(
    box: InProcessSandbox, stream: Stream, client: Client
) -> None:
    stream.ask("subscribeTransactions")
    arm(box, "silence", ms=2_000)
    placed_and_reported(stream, client)
    placed_and_reported(stream, client)
    stream.send({"method": "getBalance", "id": 9})
    stream.socket.ping("x")
    assert stream.hears_nothing(0.2)
    later = []
    while not later or stream.hears_nothing(0.2):
        later.append(placed_and_reported(stream, client))
    heard = [stream.receive()["params"]["id"]]
    while heard[-1] != later[-1]:
        heard.append(stream.receive()["params"]["id"])
    assert heard == later[-len(heard) :], "what was told in the silence is lost, and nothing after it"
    stream.socket.ping("y")
    assert stream.socket.recv_data_frame(True)[1].data == b"y"


def test_silence_may_leave_the_pings(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    stream.ask("subscribeTransactions")
    arm(box, "silence", pings=True)
    placed_and_reported(stream, client)
    stream.socket.ping("x")
    assert stream.socket.recv_data_frame(True)[1].data == b"x"


def test_a_method_may_be_refused_or_lose_its_answer(box: InProcessSandbox, stream: Stream) -> None:
    arm(box, "refuse", operation="loadTransactions", code=500)
    arm(box, "gap", operation="getBalance")
    assert stream.ask("loadTransactions")["error"]["code"] == 500
    assert stream.ask("loadTransactions", {"limit": 1})["result"] is not None
    stream.send({"method": "getBalance", "id": "lost"})
    assert stream.ask("getBalance", None, "found")["id"] == "found"


def test_an_echo_differs_on_the_stream(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    stream.ask("subscribeTransactions")
    arm(box, "echo_differs", operation="updateTransaction", field="status", value="exploded")
    placed_and_reported(stream, client)
    assert stream.receive()["params"]["status"] == "exploded"
    arm(box, "echo_differs", operation="loadTransactions", field="index", absent=True)
    assert all("index" not in record for record in stream.ask("loadTransactions")["result"])


def test_a_fault_of_one_key_leaves_other_sockets_alone(box: InProcessSandbox, stream: Stream, client: Client) -> None:
    reader = Stream(box.ws_url)
    reader.ask("login", {"algo": "BASIC", "pKey": "demo-read", "sKey": "demo-read-secret"})
    reader.ask("subscribeTransactions")
    stream.ask("subscribeTransactions")
    arm(box, "gap", key="demo-read")
    made = placed_and_reported(stream, client)
    assert stream.receive()["params"]["id"] == made
    assert reader.is_quiet()
    reader.close()
