"""What a call costs on our side, against requests and json: `python -m tools.bench.measure_client`.

A server in another process answers from memory over raw sockets, so that the processor time is the client's alone.
"""

import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from decimal import Decimal

import requests
import urllib3

from exchange_ops.client import ExchangeClient
from tools.bench.rounds import line, spend
from wire.deadline import Deadline
from wire.http_exchange import Line, roundtrip
from wire.sessions import Sending
from wire.transport import Credentials, Transport
from wire.values import Secret

LOGIN, SECRET = "login", "secret"
PRICES = ("ask", "bid", "last", "low", "high", "open", "volume", "volumeQuote")
TICKER = dict.fromkeys(PRICES, "0.0512345678") | {"timestamp": "2026-11-20T10:11:12.345Z", "symbol": "ETHBTC"}
REPLIES = {
    "/api/2/public/ticker/ETHBTC": TICKER,
    "/api/2/public/ticker": [TICKER | {"symbol": f"C{number}BTC"} for number in range(1000)],
    "/api/2/account/crypto/withdraw": {"id": "d2ce578f-647d-4fa0-b1aa-4a27e5ee597b"},
}
WITHDRAWAL = {"currency": "BTC", "amount": "1.5", "address": "1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa"}


# The server ----------------------------------------------------------------------------------------------------------


def serve() -> None:
    """Answer every connection until the process is ended; prints the port first."""
    answers = {path.encode(): _answer(json.dumps(reply).encode()) for path, reply in REPLIES.items()}
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=_serve, args=(sock, answers), daemon=True).start()


def _answer(body: bytes) -> bytes:
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"Date: Fri, 20 Nov 2026 10:11:12 GMT\r\n\r\n" + body


def _serve(sock: socket.socket, answers: dict[bytes, bytes]) -> None:
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with sock, sock.makefile("rb") as lines, suppress(OSError):
        while first := lines.readline():
            length = 0
            while (header := lines.readline()) != b"\r\n":
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
            lines.read(length)
            sock.sendall(answers[first.split(b" ")[1]])


# The clients ---------------------------------------------------------------------------------------------------------


def _times(count: int, call: Callable[[], object]) -> Callable[[], None]:
    def run() -> None:
        for _ in range(count):
            call()

    return run


def _with_decimals(ticker: dict[str, str]) -> dict[str, object]:
    return ticker | {name: Decimal(ticker[name]) for name in PRICES}


def _measure_reads(address: str, transport: Transport) -> None:
    ours, session = ExchangeClient(transport), requests.Session()
    pool = urllib3.PoolManager()
    one, every = (address + path for path in list(REPLIES)[:2])
    times = 100
    ours_ms, session_ms, pool_ms = spend(
        _times(times, lambda: ours.call("get_ticker", symbol="ETHBTC")),
        _times(times, lambda: _with_decimals(session.get(one).json())),
        _times(times, lambda: _with_decimals(json.loads(pool.request("GET", one).data))),
        pieces=times,
    )
    peers = [("requests.Session + json + Decimal", session_ms, 2.5), ("urllib3 + json + Decimal", pool_ms, 0.7)]
    for peer, peer_ms, target in peers:
        print(line(what="read one ticker", ours_ms=ours_ms, peer=peer, peer_ms=peer_ms, target=target), flush=True)
    ours_ms, session_ms = spend(
        _times(5, lambda: ours.call("get_tickers")),
        _times(5, lambda: [_with_decimals(ticker) for ticker in session.get(every).json()]),
        pieces=5,
    )
    peer = "requests.Session + json + Decimal"
    print(line(what="read 1,000 tickers", ours_ms=ours_ms, peer=peer, peer_ms=session_ms, target=1), flush=True)


def _measure_the_way(address: str) -> None:
    """Why reads go straight to the pool of their session."""
    sending = Sending("GET", next(iter(REPLIES)), {"Accept": "application/json"}, b"")
    with Line(address).new_session() as session, Deadline(60 * 10**9) as deadline:
        ours_ms, requests_ms = spend(
            _times(100, lambda: roundtrip(session.ask, sending, deadline)),
            _times(100, lambda: roundtrip(session.act, sending, deadline)),
            pieces=100,
        )
    peer = "the same session through requests"
    print(line(what="the way there", ours_ms=ours_ms, peer=peer, peer_ms=requests_ms, target=1.5), flush=True)


def _measure_money(address: str, transport: Transport) -> None:
    """A connection and a session for each call, both sides."""
    ours, path = ExchangeClient(transport), list(REPLIES)[2]
    form = WITHDRAWAL | {"includeFee": "false", "autoCommit": "false"}
    amount = Decimal(WITHDRAWAL["amount"])
    ours_ms, session_ms = spend(
        _times(50, lambda: ours.create_withdrawal(**(WITHDRAWAL | {"amount": amount}))),  # type: ignore[arg-type]
        _times(50, lambda: requests.post(address + path, data=form, auth=(LOGIN, SECRET), timeout=25).json()["id"]),
        pieces=50,
    )
    peer = "requests.post + json"
    print(line(what="send a withdrawal", ours_ms=ours_ms, peer=peer, peer_ms=session_ms, target=0.8), flush=True)


def main() -> None:
    """Print a line for each peer of a short read, of a long one, of the way there and of a money call."""
    server = subprocess.Popen(
        [sys.executable, "-c", "from tools.bench.measure_client import serve; serve()"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(server.stdout.readline())}"
        transport = Transport(base_url=address, credentials=Credentials(LOGIN, Secret(SECRET)))
        _measure_reads(address, transport)
        _measure_the_way(address)
        _measure_money(address, transport)
        transport.close()
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
