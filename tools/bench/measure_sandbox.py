"""What a request costs the sandbox, against uvicorn alone and a Django view: `python -m tools.bench.measure_sandbox`.

Three servers run in processes of their own and are asked in turns over one kept connection each. What counts is the
processor time of the server, so neither the asking nor a busy machine disturbs it; requests a second are what one core
does at that price. uvicorn alone answers the same bytes from memory: it is the bound. The last figure is the world
itself, without HTTP around it.
"""

import base64
import json
import socket
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tools.bench.rounds import line

ROUNDS = 7
REQUESTS = 200
_KEY = base64.b64encode(b"demo-full:demo-full-secret").decode()
ORDERS = "an order or a cancel"
SALE = b"symbol=ETHBTC&side=sell&quantity=0.01&price=0.9"
READS = {
    "a currency": "/api/2/public/currency/BTC",
    "a ticker": "/api/2/public/ticker/ETHBTC",
    "a book of 100 levels": "/api/2/public/orderbook/ETHBTC",
    "all balances, signed in": "/api/2/account/balance",
}


# The servers ---------------------------------------------------------------------------------------------------------


def serve_sandbox() -> None:
    """The sandbox as it is, its market still."""
    from sandbox.serving import serve

    serve(port=0, still=True)


def serve_bytes() -> None:
    """uvicorn, configured as the sandbox has it, with an application that gives back the body it was given last."""
    import uvicorn

    last_body = [b"{}"]

    async def application(scope: dict, receive: Callable, send: Callable) -> None:  # type: ignore[type-arg]
        body = b""
        while (message := await receive())["type"] == "http.request":
            body += message["body"]
            if not message["more_body"]:
                break
        if scope["method"] == "PUT":
            last_body[0] = body
        head = [(b"content-type", b"application/json"), (b"content-length", str(len(last_body[0])).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": last_body[0]})

    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"ready at http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
        config = uvicorn.Config(application, lifespan="off", log_config=None, access_log=False, server_header=False)
        uvicorn.Server(config).run(sockets=[listening])


def serve_django() -> None:
    """An asynchronous Django view under uvicorn that gives back a small JSON object."""
    import django
    import uvicorn
    from django.conf import settings
    from django.core.asgi import get_asgi_application
    from django.http import HttpRequest, JsonResponse
    from django.urls import re_path

    async def view(request: HttpRequest) -> JsonResponse:
        answer = JsonResponse({"id": "1", "given": len(request.POST)})
        answer["Content-Length"] = str(len(answer.content))
        return answer

    settings.configure(ROOT_URLCONF=(re_path("", view),), ALLOWED_HOSTS=["*"], SECRET_KEY="bench", MIDDLEWARE=[])
    django.setup()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        print(f"ready at http://127.0.0.1:{listening.getsockname()[1]}/", flush=True)
        config = uvicorn.Config(get_asgi_application(), lifespan="off", log_config=None, access_log=False)
        uvicorn.Server(config).run(sockets=[listening])


# Asking --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """A server in a process of its own, and one connection with it."""

    process: subprocess.Popen[str]
    connection: socket.socket

    def ask(self, request: bytes) -> bytes:
        """The body of the answer, which must say 200."""
        self.connection.sendall(request)
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += self.connection.recv(2**20)
        head, _, body = answer.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200 "):
            raise SystemExit(f"{answer[:300]!r}; nothing was measured.")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self.connection.recv(2**20)
        return body

    def spent_ms(self) -> float:
        """Milliseconds of processor time that the server has used since it began."""
        threads = Path(f"/proc/{self.process.pid}/task").glob("*/schedstat")
        return sum(int(thread.read_text().split()[0]) for thread in threads) / 1_000_000


@contextmanager
def _started(name: str) -> Iterator[Target]:
    command = [sys.executable, "-c", f"from tools.bench.measure_sandbox import {name}; {name}()"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        port = int(process.stdout.readline().split("127.0.0.1:")[1].split("/")[0])
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            yield Target(process, connection)
    finally:
        process.kill()
        process.wait()


def _request(method: str, path: str, body: bytes = b"") -> bytes:
    head = f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic {_KEY}\r\n"
    form = "Content-Type: application/x-www-form-urlencoded\r\n" if body else ""
    return f"{head}{form}Content-Length: {len(body)}\r\n\r\n".encode() + body


Work = Callable[[], int]  # some requests; how many


def _each_ms(works: list[tuple[Target, Work]]) -> list[float]:
    """Processor time of the server for one request, each way: medians over the rounds, the first not counted."""
    spent: list[list[float]] = [[] for _ in works]
    for number in range(ROUNDS + 1):
        for place, (server, work) in enumerate(works):
            began = server.spent_ms()
            requests = work()
            if number:
                spent[place].append((server.spent_ms() - began) / requests)
    return [statistics.median(times) for times in spent]


def _again(server: Target, request: bytes) -> Work:
    def run() -> int:
        for _ in range(REQUESTS):
            server.ask(request)
        return REQUESTS

    return run


def _orders(server: Target) -> Work:
    """Each order is put in far from the market and cancelled."""

    def run() -> int:
        for _ in range(REQUESTS // 2):
            placed = json.loads(server.ask(_request("POST", "/api/2/order", SALE)))
            server.ask(_request("DELETE", f"/api/2/order/{placed['clientOrderId']}"))
        return REQUESTS // 2 * 2

    return run


# The world alone -----------------------------------------------------------------------------------------------------


def _world_alone_ms() -> float:
    """Milliseconds for one of the same orders or cancels, without HTTP."""
    from sandbox.engine.clock import wall_ms
    from sandbox.world.world import Caller, World

    world, desk = World.open(None, still=True, now_ms=wall_ms), Caller("demo-full", "desk@demo.test")
    arguments = dict(pair.split("=") for pair in SALE.decode().split("&"))
    spent = []
    for _ in range(ROUNDS):
        began = time.process_time()
        for _ in range(REQUESTS // 2):
            placed = world.perform("create_order", desk, arguments)
            assert isinstance(placed, dict)
            world.perform("cancel_order", desk, {"clientOrderId": placed["clientOrderId"]})
        spent.append((time.process_time() - began) * 1_000 / (REQUESTS // 2 * 2))
    world.close()
    return statistics.median(spent)


def _report(what: str, ours_ms: float, bare_ms: float, django_ms: float) -> None:
    rate = f"{what} ({1_000 / ours_ms:,.0f} a second, {bare_ms / ours_ms:.2f} of what uvicorn alone does)"
    peer = "an async Django view that does nothing"
    print(line(what=rate, ours_ms=ours_ms, peer=peer, peer_ms=django_ms, target=1), flush=True)


def main() -> None:
    """Print a line for each kind of read and one for orders, against both peers, and the world's own share of it."""
    with ExitStack() as stack:
        servers = [stack.enter_context(_started(name)) for name in ("serve_sandbox", "serve_bytes", "serve_django")]
        ours, bare, django = servers
        order = _request("POST", "/api/2/order", SALE)
        requests = {what: _request("GET", path) for what, path in READS.items()} | {ORDERS: order}
        for what, request in requests.items():
            bare.ask(_request("PUT", "/", ours.ask(request)))
            works = [_orders(ours) if what == ORDERS else _again(ours, request)]
            works += [_again(bare, request), _again(django, request)]
            _report(what, *_each_ms(list(zip(servers, works, strict=True))))
    print(f"{ORDERS} in the world itself: {_world_alone_ms():.3f} ms, the rest is HTTP", flush=True)


if __name__ == "__main__":
    main()
