"""Following with the Python client: against a live desk, and against servers that are none."""

import builtins
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction

from countersign_client import Client, NoAnswer, NotAllowed, NotSignedIn, Unreadable, Update
from desk import clock
from desk.live import announcements, hub
from desk.models import ApiToken
from desk.people import tokens


@pytest.fixture
def operator(make_person) -> Any:
    return make_person("operator")


@pytest.fixture
def desk(live_desk, operator, token_of) -> Iterator[Client]:
    with Client(live_desk.url, token=token_of(operator, scope="read"), attempts=2) as client:
        yield client


def test_each_topic_comes_once_and_then_what_changes(desk):
    feed = desk.follow("withdrawals", "withdrawal:12")
    assert [next(feed), next(feed)] == [Update("withdrawals", {}), Update("withdrawal:12", {})]
    with transaction.atomic():
        announcements.announce("withdrawal:12", state="held")
    assert next(feed) == Update("withdrawal:12", {"state": "held"})
    feed.close()


def test_what_the_token_may_not_follow_is_named(desk):
    with pytest.raises(NotAllowed, match=r"can't be followed with this token: vault\."):
        next(desk.follow("withdrawals", "vault"))


def test_a_token_that_ends_ends_the_feed(desk, monkeypatch):
    monkeypatch.setattr(hub, "RECHECK_SECONDS", 0.2)
    feed = desk.follow("withdrawals")
    next(feed)
    tokens.revoke(token_id=ApiToken.objects.get().pk, now=clock.now())
    with pytest.raises(NotSignedIn, match="invalid, expired or revoked"):
        next(feed)


def test_a_lost_socket_is_opened_anew_and_each_topic_comes_again(desk):
    feed = desk.follow("withdrawals")
    assert next(feed).topic == "withdrawals"
    for open_hub in list(hub._hubs.values()):
        open_hub._loop.call_soon_threadsafe(open_hub._give_up)
    assert next(feed) == Update("withdrawals", {})
    feed.close()


def test_a_wrong_token_is_no_reason_to_try_again(live_desk):
    with Client(live_desk.url, token="csn_wrong") as client, pytest.raises(NotSignedIn):
        next(client.follow("withdrawals"))
    with Client(live_desk.url, token="csn_\nX: y") as client, pytest.raises(ValueError, match="printable"):
        next(client.follow("withdrawals"))


def test_without_the_extra_a_sentence_says_what_to_install(monkeypatch):
    found = builtins.__import__

    def without(name: str, *rest: Any, **options: Any) -> Any:
        if name == "websocket":
            raise ImportError(name)
        return found(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", without)
    with Client("http://localhost:9", token="csn_x") as client, pytest.raises(ImportError, match=r"client\[live\]"):
        next(client.follow("withdrawals"))


# Servers that are no desk ---------------------------------------------------------------------------------------------


class Server:
    """Answers every connection with the same bytes; keeps what it was sent."""

    def __init__(self, answer: bytes) -> None:
        self.heard: list[bytes] = []
        self._answer, self._door = answer, socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._door.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                caller, _ = self._door.accept()
            except OSError:
                return
            with caller:
                self.heard.append(caller.recv(65_536))
                caller.sendall(self._answer)

    def close(self) -> None:
        self._door.close()


@pytest.mark.parametrize("answer", [b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", b"HTTP/1.1 500 Odd\r\n\r\n"])
def test_another_server_is_no_desk(answer):
    server = Server(answer)
    with Client(server.url, token="csn_x") as client, pytest.raises(Unreadable):
        next(client.follow("withdrawals"))
    assert b"Authorization: Bearer csn_x" in server.heard[0]
    assert b"Origin" not in server.heard[0]
    server.close()


def test_no_redirect_is_followed(monkeypatch):
    monkeypatch.setattr(Client, "_pause", staticmethod(lambda attempt, stated: 0.0))
    other = Server(b"HTTP/1.1 200 OK\r\n\r\n")
    server = Server(f"HTTP/1.1 302 Found\r\nlocation: {other.url.replace('http', 'ws')}/ws/\r\n\r\n".encode())
    with Client(server.url, token="csn_x") as client, pytest.raises(NoAnswer):
        next(client.follow("withdrawals"))
    assert not other.heard
    for each in (server, other):
        each.close()


def test_after_every_attempt_no_answer_is_said(monkeypatch):
    monkeypatch.setattr(Client, "_pause", staticmethod(lambda attempt, stated: 0.0))
    server = Server(b"HTTP/1.1 503 Away\r\nretry-after: 1\r\n\r\n")
    with Client(server.url, token="csn_x", attempts=3) as client, pytest.raises(NoAnswer, match="status 503"):
        next(client.follow("withdrawals"))
    assert len(server.heard) == 3
    server.close()
