"""Sockets in bad times: a reset, a restart, readers that don't read, clients that are gone, and hostile messages."""

import contextlib
import json
import os
import select
import signal
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import websocket

from sandbox.serving import InProcessSandbox
from tests.sandbox.conftest import Client
from tests.sandbox.server.sockets.test_sockets import Stream
from tests.sandbox.test_command import Running
from tests.sandbox.trading_sockets import ORDER, Trader
from tests.sandbox.waiting import wait_until
from tests.sandbox.worlds import dismiss_traders

PUBLIC, TRADING, COMBINED, ACCOUNT = (f"/api/2/ws{end}" for end in ("/public", "/trading", "", "/account"))
PATHS = (PUBLIC, TRADING, COMBINED, ACCOUNT)
CLOSED = (websocket.WebSocketConnectionClosedException, ConnectionError)
LOGIN = {"algo": "BASIC", "pKey": "demo-full", "sKey": "demo-full-secret"}
TRANSFER = {"currency": "USD", "amount": "10", "type": "bankToExchange"}
CHANNELS = ("Ticker", "Orderbook", "Trades", "Candles")


@pytest.fixture
def opened() -> Iterator[Callable[..., Any]]:
    """Takes in what is to be closed in the end."""
    with contextlib.ExitStack() as stack:

        def keep(one: Any) -> Any:
            stack.callback(one.close)
            return one

        yield keep


def logged_in(url: str, path: str) -> Stream:
    stream = Stream(url, path)
    if path != PUBLIC:
        assert stream.ask("login", LOGIN)["result"] is True
    return stream


def everything(stream: Stream, path: str) -> None:
    """Subscribes to all that the address has, and reads on until the last answer."""
    wanted = {ACCOUNT: ["subscribeTransactions", "subscribeBalance"], PUBLIC: []}.get(
        path, ["subscribeReports", "marginSubscribe"]
    )
    if path in (PUBLIC, COMBINED):
        wanted += [f"subscribe{channel}" for channel in CHANNELS]
    for method in wanted:
        stream.send({"method": method, "params": {"symbol": "ETHBTC"}, "id": method})
    while stream.receive().get("id") != wanted[-1]:
        continue


def reads_to_the_end(stream: Stream) -> list[dict[str, Any]]:
    """What arrives until the connection ends."""
    frames: list[dict[str, Any]] = []
    with contextlib.suppress(*CLOSED):
        while text := stream.socket.recv():
            frames.append(json.loads(text))
    return frames


# A fresh world -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_a_reset_ends_every_socket(box: InProcessSandbox, opened: Callable[..., Any], path: str) -> None:
    stream = opened(logged_in(box.ws_url, path))
    everything(stream, path)
    box.control("reset", {"seed": 2})
    assert box.inside(box.open_sockets) == box.inside(box.followed_topics) == 0
    with contextlib.suppress(*CLOSED):
        stream.send({"method": "newOrder", "params": ORDER | {"clientOrderId": "late"}, "id": "late"})
    assert "late" not in [frame.get("id") for frame in reads_to_the_end(stream)]
    again = opened(Stream(box.ws_url, COMBINED))
    assert again.ask("getOrders")["error"]["code"] == 1001
    assert again.ask("login", LOGIN)["result"] is True
    assert again.ask("getOrders")["result"] == []


def test_what_was_asked_of_the_old_world_is_not_done_to_the_new_one(
    box: InProcessSandbox, opened: Callable[..., Any]
) -> None:
    stream = opened(logged_in(box.ws_url, COMBINED))
    box.control("faults", {"operation": "getSymbol", "kind": "slow", "ms": 60_000})
    order = {"method": "newOrder", "params": ORDER | {"clientOrderId": "late"}}
    requests = [*({"method": "getSymbol", "params": {"symbol": "ETHBTC"}} for _ in range(200)), order]
    frames = [websocket.ABNF.create_frame(json.dumps(each), websocket.ABNF.OPCODE_TEXT).format() for each in requests]
    stream.socket.sock.sendall(b"".join(frames))  # so that the server has read all of it
    wait_until(lambda: box.control("calls?since=999999")["received"] > 100)
    box.control("reset", {"seed": 1})
    wait_until(lambda: box.inside(lambda: sockets_served(box)) == 0)
    assert box.control("calls")["calls"] == []
    assert opened(logged_in(box.ws_url, COMBINED)).ask("getOrders")["result"] == []


def sockets_served(box: InProcessSandbox) -> int:
    return len([each for each in box._server.server_state.connections if hasattr(each, "queue")])


def test_after_a_reset_market_data_begins_like_on_a_fresh_sandbox(
    box: InProcessSandbox, opened: Callable[..., Any]
) -> None:
    def begun(url: str) -> list[Any]:
        stream, snapshots = opened(Stream(url, PUBLIC)), []
        for channel in CHANNELS[1:]:
            assert stream.ask(f"subscribe{channel}", {"symbol": "ETHBTC", "limit": 3, "period": "D1"})["result"] is True
            snapshots.append(stream.receive()["params"])
        return [snapshots[0]["sequence"], len(snapshots[1]["data"]), len(snapshots[2]["data"])]

    client = Client(box.url)
    old = opened(Stream(box.ws_url, PUBLIC))
    old.ask("subscribeOrderbook", {"symbol": "ETHBTC"})
    before = old.receive()["params"]["sequence"]
    client.call("POST", "/order", data=ORDER)
    while old.receive()["method"] != "updateOrderbook":
        continue
    box.control("reset", {"seed": 1})
    assert begun(box.ws_url) == [before, 3, 3]


def test_what_comes_to_pass_after_a_reset_is_told_of_the_new_world_alone(
    box: InProcessSandbox, opened: Callable[..., Any]
) -> None:
    client = Client(box.url)
    client.call("POST", "/order", data=ORDER | {"clientOrderId": "old"})
    box.control("reset", {"seed": 1})
    box.inside(lambda: dismiss_traders(box.world))
    trader = opened(Trader(box.ws_url, path=COMBINED))
    trader.good("subscribeReports")
    assert trader.hear() == [("activeOrders", [])]
    trades = trader.say("subscribeTrades", {"symbol": "ETHBTC", "limit": 1})
    assert trades["result"] is True
    for side in ("buy", "sell"):
        client.call("POST", "/order", data=ORDER | {"side": side, "price": "0.5", "timeInForce": "GTC"})
    frames = trader.hear(1)
    while "updateTrades" not in [name for name, _ in frames]:
        frames += trader.hear(1)
    (new,) = [params["data"] for name, params in frames if name == "updateTrades"]
    assert [trade["price"] for trade in new] == ["0.500000"]


# A restart -----------------------------------------------------------------------------------------------------------


def seen(url: str, opened: Callable[..., Any]) -> list[Any]:
    """What a client sees of the world that a restart must not change."""
    trader, account = opened(logged_in(url, TRADING)), opened(logged_in(url, ACCOUNT))
    questions = ("getOrders", "marginOrdersGet", "getTradingBalance")
    results = [trader.ask(question)["result"] for question in questions]
    return [*results, account.ask("getBalance")["result"], account.ask("loadTransactions", {"limit": 1000})["result"]]


def test_clients_come_back_to_the_same_world_at_the_same_address(tmp_path: Path, opened: Callable[..., Any]) -> None:
    with InProcessSandbox(still=True, data_dir=tmp_path) as first:
        streams = [opened(logged_in(first.ws_url, path)) for path in PATHS]
        for stream, path in zip(streams, PATHS, strict=True):
            everything(stream, path)
        trader = opened(Trader(first.ws_url))
        trader.good("newOrder", **ORDER, clientOrderId="spot")
        trader.good("marginAccountSet", symbol="ETHBTC", marginBalance="0.5")
        trader.good("marginOrderNew", **ORDER, clientOrderId="margin")
        assert Client(first.url).call("POST", "/account/transfer", data=TRANSFER).status_code == 200
        before = seen(first.ws_url, opened)
        assert [len(each) for each in before[:2]] == [1, 1]
    for stream in streams:
        reads_to_the_end(stream)
    with InProcessSandbox(still=True, data_dir=tmp_path, port=first.port) as second:
        assert second.ws_url == first.ws_url
        assert second.world.warnings == []
        assert seen(second.ws_url, opened) == before
        back = opened(logged_in(second.ws_url, ACCOUNT))
        everything(back, ACCOUNT)
        made = Client(second.url).call("POST", "/account/transfer", data=TRANSFER).json()["id"]
        frames = [back.receive() for _ in range(3)]
        (transaction,) = [frame["params"] for frame in frames if frame["method"] == "updateTransaction"]
        assert transaction["id"] == made
        assert transaction["index"] > before[4][-1]["index"]


def test_a_killed_sandbox_has_kept_what_it_answered_on_sockets(tmp_path: Path, opened: Callable[..., Any]) -> None:
    started = [Running("--data-dir", str(tmp_path))]
    try:
        url = started[0].url.replace("http", "ws")
        stream = opened(logged_in(url, COMBINED))
        everything(stream, COMBINED)
        for number in range(20):
            order = ORDER | {"clientOrderId": f"order-{number}", "price": "0.0001"}
            stream.send({"method": "newOrder", "params": order, "id": number})
        while stream.receive().get("id") != 9:
            continue
        started[0].process.send_signal(signal.SIGKILL)
        frames = reads_to_the_end(stream)
        answered = 9 + len([frame for frame in frames if isinstance(frame.get("id"), int)])
        started[0].process.communicate()
        started.append(Running("--data-dir", str(tmp_path)))
        back = opened(logged_in(started[1].url.replace("http", "ws"), TRADING))
        kept = [each["clientOrderId"] for each in back.ask("getOrders")["result"]]
        assert kept == [f"order-{number}" for number in range(len(kept))]
        assert len(kept) > answered
        assert requests.get(f"{started[1].url}/_sandbox/ledger", timeout=10).json()["balanced"] is True
    finally:
        for each in started:
            each.process.kill()
            each.process.communicate()


def test_a_full_disk_is_told_on_every_socket_and_warned_of_once(
    tmp_path: Path, opened: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    with InProcessSandbox(still=True, data_dir=tmp_path) as box:
        streams = {path: opened(Trader(box.ws_url, "" if path == PUBLIC else "demo-full", path)) for path in PATHS}
        streams[PUBLIC].good("subscribeTicker", symbol="ETHBTC")
        full = os.open("/dev/full", os.O_WRONLY)
        box.inside(lambda: os.dup2(full, box.world.journal._descriptor))
        os.close(full)
        for path, method in (
            (TRADING, "newOrder"),
            (PUBLIC, "subscribeOrderbook"),
            (COMBINED, "cancelOrder"),
            (ACCOUNT, "getBalance"),
        ):
            code, _, description = streams[path].bad(method, **ORDER, clientOrderId="unkept")
            assert (code, description[:30]) == (503, "The journal can't be written (")
        wait_until(lambda: "the public stream waits" in caplog.text)
        box.control("state")
    assert caplog.text.count("the public stream waits") == 1


# Readers that don't read ---------------------------------------------------------------------------------------------


class Deaf:
    """A client that reads nothing unless it is told to, with little room on the way for what is sent to it."""

    def __init__(self, box: InProcessSandbox, path: str, room: int = 4_096) -> None:
        small = ((socket.SOL_SOCKET, socket.SO_RCVBUF, room),)
        self.socket = websocket.create_connection(box.ws_url + path, timeout=20, sockopt=small)
        self._box = box
        (self._connection,) = (each for each in box._server.server_state.connections if hasattr(each, "queue"))
        raw = self._connection.transport.get_extra_info("socket")
        box.inside(lambda: raw.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, room))

    def send(self, method: str, number: object) -> None:
        self.socket.send(json.dumps({"method": method, "id": number}))

    def waiting(self) -> tuple[int, int]:
        """How many messages wait to leave, and how many characters they have."""
        (session,) = self._box._server.sandbox.sockets._listening
        waiting = tuple(session.outgoing._waiting)
        return len(waiting), sum(len(each) for each in waiting if isinstance(each, str))

    def unsent(self) -> int:
        """Bytes that were sent and have not left."""
        return int(self._box.inside(self._connection.transport.get_write_buffer_size))

    def close(self) -> None:
        self.socket.shutdown()


def test_who_asks_and_does_not_read_is_not_answered_meanwhile(opened: Callable[..., Any]) -> None:
    count = 80
    with InProcessSandbox(still=True, symbols=300) as box:
        deaf = opened(Deaf(box, PUBLIC, 65_536))
        for number in range(count):
            deaf.send("getSymbols", number)
        wait_until(lambda: box.inside(deaf.waiting)[1] > 2**20)
        for _ in range(20):
            received = box.control("calls?since=999999")["received"]
        assert received < count - 20
        assert box.inside(deaf.waiting)[1] < 2**20 + 200_000
        answers = [json.loads(deaf.socket.recv()) for _ in range(count)]
        assert [answer["id"] for answer in answers] == list(range(count))
        assert box.control("calls?since=999999")["received"] == count


def test_small_answers_wait_a_hundred_at_most(opened: Callable[..., Any]) -> None:
    with InProcessSandbox(still=True) as box:
        box.control("faults", {"operation": "getSymbol", "kind": "slow", "ms": 500})
        deaf = opened(Deaf(box, PUBLIC))
        for number in range(300):
            deaf.send("getSymbol", number)
        wait_until(lambda: box.control("calls?since=999999")["received"] >= 100)
        assert box.inside(deaf.waiting)[0] <= 102
        assert [json.loads(deaf.socket.recv())["id"] for _ in range(300)] == list(range(300))


def test_pings_of_who_does_not_read_cost_no_memory(opened: Callable[..., Any]) -> None:
    with InProcessSandbox(still=True) as box:
        deaf = opened(Deaf(box, PUBLIC))
        ping = websocket.ABNF.create_frame("x" * 125, websocket.ABNF.OPCODE_PING).format()
        for _ in range(160):
            deaf.socket.sock.sendall(ping * 100)
        deaf.socket.ping("the last")
        deaf.send("getNothing", "behind")
        wait_until(lambda: box.control("calls?since=9999")["received"] == 1)
        assert deaf.unsent() < 700_000  # of two million
        heard = set()
        while not {b"the last", "behind"} <= heard:  # the answer may overtake the pong that is owed
            opcode, frame = deaf.socket.recv_data_frame(True)
            heard.add(json.loads(frame.data)["id"] if opcode == websocket.ABNF.OPCODE_TEXT else frame.data)


# Clients that are gone -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_who_answers_no_ping_is_let_go(opened: Callable[..., Any], path: str) -> None:
    with InProcessSandbox(still=True, ping_ms=50) as box:
        deaf = opened(Deaf(box, path))
        wait_until(lambda: box.inside(box.open_sockets) == 0)
        heard = b"".join(iter(lambda: deaf.socket.sock.recv(4_096), b""))
        assert heard[:2] == b"\x89\x04"  # a ping
        assert struct.pack("!H", 1011) in heard[6:]  # and the end
        assert box.control("ledger")["balanced"] is True


def test_who_is_gone_with_much_unread_is_let_go(opened: Callable[..., Any]) -> None:
    with InProcessSandbox(still=True, symbols=300, ping_ms=200) as box:
        deaf = opened(Deaf(box, PUBLIC))
        for number in range(50):
            deaf.send("getSymbols", number)
        wait_until(lambda: box.inside(box.open_sockets) == 0)
        assert deaf.unsent() == 0


@pytest.mark.parametrize("path", PATHS)
def test_half_an_end_is_an_end(box: InProcessSandbox, opened: Callable[..., Any], path: str) -> None:
    stream = opened(logged_in(box.ws_url, path))
    everything(stream, path)
    stream.socket.sock.shutdown(socket.SHUT_WR)
    wait_until(lambda: box.inside(box.open_sockets) == 0)
    assert box.inside(box.followed_topics) == 0


@pytest.mark.parametrize("linger", [False, True])
def test_who_vanishes_with_subscriptions_is_forgotten(box: InProcessSandbox, linger: bool) -> None:
    for path in PATHS:
        stream = logged_in(box.ws_url, path)
        everything(stream, path)
        if linger:  # a reset instead of an end
            stream.socket.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        stream.socket.sock.close()
    wait_until(lambda: box.inside(box.open_sockets) == 0)
    assert box.inside(box.followed_topics) == 0


# Hostile messages ----------------------------------------------------------------------------------------------------

HOSTILE = (
    "",
    "{",
    "null",
    "7",
    '"login"',
    "[]",
    '[{"method":"getSymbols","id":1},{"method":"getSymbols","id":2}]',
    '{"method":null,"id":1}',
    '{"method":["getSymbols"],"id":1}',
    '{"method":"getSymbols","params":[1],"id":1}',
    '{"method":"getSymbols","params":7,"id":1}',
    '{"method":"getSymbols","params":true,"id":1}',
    '{"method":"getSymbols","id":[1]}',
    '{"method":"getSymbols","id":1.5}',
    '{"method":"getSymbols","id":1,"result":true}',
    '{"result":true,"id":1}',
    '{"error":{"code":1},"id":1}',
    '{"id":1}',
    '{"method":"getSymbols","params":{"a":Infinity},"id":1}',
    '{"method":"getSymbols","params":' + "[" * 20_000,
)


@pytest.mark.parametrize("path", PATHS)
def test_what_is_no_request_is_an_error_and_the_socket_goes_on(
    box: InProcessSandbox, opened: Callable[..., Any], path: str
) -> None:
    stream = opened(Stream(box.ws_url, path))
    for message in HOSTILE:
        stream.send(message)
        answer = stream.receive()
        assert list(answer) == ["jsonrpc", "error", "id"], message[:60]
        assert (answer["error"]["code"], answer["error"]["message"]) == (-32600, "Invalid Request")
        assert answer["id"] in (1, None)
    stream.send({"method": "noSuchMethod", "id": "goes on"})
    assert stream.receive()["error"]["code"] == -32601
    assert "getSymbols" not in [call["operation"] for call in box.control("calls")["calls"]]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("method", ["", "x" * 60_000, "login\x00", "__class__", "newOrder ", "NEWORDER", "é"])
def test_an_unknown_method_is_named_in_short(
    box: InProcessSandbox, opened: Callable[..., Any], path: str, method: str
) -> None:
    stream = opened(logged_in(box.ws_url, path))
    error = stream.ask(method, {"symbol": "ETHBTC"}, "odd")["error"]
    assert (error["code"], error["message"]) == (-32601, "Method not found")
    assert error["description"].startswith(f"There is no {method[:100]} here; there are ")
    assert len(error["description"]) < 1_500


@pytest.mark.parametrize("path", PATHS)
def test_a_message_in_pieces_is_one_message_and_too_long_a_one_ends_the_socket(
    box: InProcessSandbox, opened: Callable[..., Any], path: str
) -> None:
    stream = opened(Stream(box.ws_url, path))
    text, frame = json.dumps({"method": "noSuchMethod", "id": "pieces"}), websocket.ABNF.create_frame
    for number, piece in enumerate(text):
        opcode = websocket.ABNF.OPCODE_CONT if number else websocket.ABNF.OPCODE_TEXT
        stream.socket.send_frame(frame(piece, opcode, fin=int(number == len(text) - 1)))
    assert stream.receive()["id"] == "pieces"
    with contextlib.suppress(ConnectionError):  # the end may come while it is still being sent
        for number in range(20):
            opcode = websocket.ABNF.OPCODE_CONT if number else websocket.ABNF.OPCODE_TEXT
            stream.socket.send_frame(frame("x" * 10_000, opcode, fin=0))
    with contextlib.suppress(ConnectionError):
        assert select.select([stream.socket.sock], [], [], 5)[0]
        opcode, end = stream.socket.recv_data_frame(True)
        assert (opcode, struct.unpack("!H", end.data[:2])) == (websocket.ABNF.OPCODE_CLOSE, (1009,))
    wait_until(lambda: box.inside(box.open_sockets) == 0)


def test_broken_frames_end_their_own_socket_alone(box: InProcessSandbox, opened: Callable[..., Any]) -> None:
    sound = opened(logged_in(box.ws_url, ACCOUNT))
    for odd in (
        b"\x81\x05hello",  # not masked
        b"\x8f\x80mask",  # an opcode there is not
        b"\xf1\x80mask",  # bits of extensions that nobody agreed on
        struct.pack("!BBQ", 0x81, 0x80 | 127, 2**62) + b"mask",  # longer than anything
        b"\x81\x82mask" + bytes(a ^ b for a, b in zip(b"\xff\xfe", b"ma", strict=True)),  # not UTF-8
        b"\x80\x80mask",  # goes on with nothing
    ):
        broken = opened(Stream(box.ws_url, PUBLIC))
        broken.socket.sock.sendall(odd)
        wait_until(lambda: box.inside(box.open_sockets) == 1)
    assert sound.ask("getBalance")["result"]


def test_a_thousand_subscriptions_and_their_ends_on_one_socket(
    box: InProcessSandbox, opened: Callable[..., Any]
) -> None:
    stream = opened(Stream(box.ws_url, PUBLIC))
    symbols = [symbol["id"] for symbol in stream.ask("getSymbols")["result"]]
    wanted = [(channel, {"symbol": symbol}) for symbol in symbols for channel in ("Ticker", "Orderbook")]
    wanted += [("Candles", {"symbol": s, "period": p, "limit": 1}) for s in symbols for p in ("M1", "H1", "D1")]
    sent = 0
    while sent < 1_000:
        for channel, params in wanted[: 1_000 - sent]:
            stream.send({"method": f"subscribe{channel}", "params": params, "id": sent})
            sent += 1
    answers = 0
    while answers < 1_000:
        frame = stream.receive()
        if "id" in frame:
            assert (frame["id"], frame["result"]) == (answers, True)
            answers += 1
    assert box.inside(box.followed_topics) == len(wanted)
    for channel, params in wanted * 2:
        stream.send({"method": f"unsubscribe{channel}", "params": params, "id": "end"})
    ended = 0
    while ended < 2 * len(wanted):
        frame = stream.receive()
        assert "error" not in frame
        ended += "id" in frame
    assert box.inside(box.followed_topics) == 0
