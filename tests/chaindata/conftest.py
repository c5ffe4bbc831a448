"""A tiny chain-data service for what the sandbox never does, and workers that are run by hand."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def unhurried() -> Any:
    """Time for a whole chain on any machine: what a worker does not get to within its time is not the subject."""
    from chaindata.cache.service import TimeBudget  # tests of the wire are run where there is no Django

    return TimeBudget(seconds=3600)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece: two would wait for each other

    def _serve(self) -> None:
        service: Service = self.server.service  # type: ignore[attr-defined]
        length = int(self.headers.get("Content-Length") or 0)
        service.raw = self.rfile.read(length)
        service.target = f"{self.command} {self.path}"
        body = json.loads(service.raw) if length else None
        path = self.path.removeprefix("/v2")
        service.calls.append(f"{self.command} {path}")
        service.bodies.append(body)
        status, content = service.respond(path, body)
        self.send_response(status)
        for name, value in {**service.headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _serve  # noqa: N815

    def log_message(self, *_: object) -> None:
        """A test server says nothing."""


class Service:
    """Answers each path with what a test puts there: a value, a (status, value) pair, or a function of the body."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = {}
        self.headers: dict[str, str] = {}
        self.calls: list[str] = []
        self.bodies: list[Any] = []
        self.target, self.raw = "", b""  # of the last call
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.service = self  # type: ignore[attr-defined]
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def respond(self, path: str, body: Any) -> tuple[int, bytes]:
        found = self.answers.get(path, (404, {"error": "Not found"}))
        if callable(found):
            found = found(body)
        status, value = found if isinstance(found, tuple) else (200, found)
        return status, value if isinstance(value, bytes) else json.dumps(value).encode()


@pytest.fixture
def service(settings: Any) -> Iterator[Service]:
    """The service that the settings name for the length of the test."""
    running = Service()
    settings.CHAINDATA_URL = running.url
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def run_worker() -> Callable[..., int]:
    """What a worker would do: ask for everything that is due and looked at."""
    from chaindata.cache import fetching
    from chaindata.cache import service as ways

    def run(now: datetime = NOW) -> int:
        return fetching.fetch_due(now=now, open_client=ways.open_client)

    return run
