"""Every answer says once what its page may use and who may embed it, whoever makes the answer: Django or the server."""

import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

_HANDSHAKE = (
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: {version}\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
)


def _answer(address: str, head: str) -> str:
    """The head of the first answer to these bytes, in lower case."""
    port = urlsplit(address).port
    assert port is not None
    with socket.create_connection(("127.0.0.1", port), timeout=20) as peer:
        peer.sendall(head.replace("HOST", f"localhost:{port}").encode("latin-1"))
        content = b""
        while b"\r\n\r\n" not in content and (part := peer.recv(65_536)):
            content += part
    return content.partition(b"\r\n\r\n")[0].decode("latin-1").lower()


@pytest.mark.parametrize(
    ("head", "status"),
    [
        pytest.param("GET /healthz HTTP/1.1\r\nHost: HOST\r\n\r\n", 200, id="a page"),
        pytest.param("GET /static/js/passkey.js HTTP/1.1\r\nHost: HOST\r\n\r\n", 200, id="a static file"),
        pytest.param("GET /nowhere/ HTTP/1.1\r\nHost: HOST\r\n\r\n", 404, id="no such page"),
        pytest.param("GET / HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n", 400, id="another host"),
        pytest.param("POST / HTTP/1.1\r\nHost: HOST\r\nContent-Length: 99999999\r\n\r\n", 413, id="too long"),
        pytest.param("GET /?a=\xff HTTP/1.1\r\nHost: HOST\r\n\r\n", 400, id="no address"),
        pytest.param("NONSENSE\r\n\r\n", 400, id="no request"),
        pytest.param(f"GET / HTTP/1.1\r\nA: {'a' * 70_000}\r\n", 400, id="a head without an end"),
        pytest.param(
            f"GET /ws/ HTTP/1.1\r\nHost: HOST\r\n{_HANDSHAKE.format(version=13)}\r\n", 403, id="a socket of nobody"
        ),
        pytest.param(
            f"GET /ws/ HTTP/1.1\r\nHost: HOST\r\n{_HANDSHAKE.format(version=7)}\r\n", 400, id="no socket we know"
        ),
        pytest.param(
            f"GET /ws/ HTTP/1.1\r\nHost: HOST\r\nAuthorization: Bearer csn_x\r\n{_HANDSHAKE.format(version=13)}\r\n",
            401,
            id="a socket with a wrong token",
        ),
    ],
)
def test_every_answer_says_what_its_page_may_use_and_who_may_embed_it(live_desk: Any, head: str, status: int) -> None:
    answer = _answer(live_desk.url, head)
    assert answer.startswith(f"http/1.1 {status} ")
    assert answer.count("cross-origin-resource-policy: same-origin\r\n") == 1
    assert answer.count("\r\npermissions-policy: ") == 1
    assert "camera=()" in answer


def test_a_server_at_its_limit_says_it_too(live_desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("project.request_limits.BoundedHead.on_message_begin", _at_its_limit())
    answer = _answer(live_desk.url, "GET /healthz HTTP/1.1\r\nHost: HOST\r\n\r\n")
    assert answer.startswith("http/1.1 503 ")
    assert answer.count("cross-origin-resource-policy: same-origin\r\n") == 1


def _at_its_limit() -> Any:
    from project.request_limits import BoundedHead

    before = BoundedHead.on_message_begin

    def begin(self: Any) -> None:
        before(self)
        self.limit_concurrency = 0

    return begin
