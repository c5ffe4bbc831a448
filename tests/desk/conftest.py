"""Browsers as the relay sees them: one signed-in socket each, and topics of the tests alone."""

import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import websocket
from django.conf import settings as django_settings
from django.test import Client

from desk import rooms as declared_rooms
from desk.live import announcements
from desk.models import Person
from tests import servers


@pytest.fixture
def one_room(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`one_room(checks=...)`: until the test ends this alone is declared, and the guards, which the database has."""
    guards = declared_rooms.guards()

    def declare(**parts: Any) -> None:
        monkeypatch.setattr(declared_rooms, "_declared", [declared_rooms.Room(guards=guards, **parts)])

    return declare


@pytest.fixture
def another_room(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """`another_room(checks=...)`: declared beside the others until the test ends."""

    def declare(**parts: Any) -> None:
        rooms = [*declared_rooms._declared, declared_rooms.Room(**parts)]
        monkeypatch.setattr(declared_rooms, "_declared", rooms)

    return declare


@pytest.fixture
def rooms(one_room: Callable[..., None]) -> None:
    """Topics of several kinds: everybody's, treasury's, one person's, one whose rule is broken, one with ticks."""
    one_room(
        topics={
            "open": lambda person, key: True,
            "vault": lambda person, key: person.has_role("treasury"),
            "mine": lambda person, key: key == str(person.pk),
            "broken": lambda person, key: bool(1 // 0),
            "quote": lambda person, key: True,
        },
        ticking=("quote",),
    )


class Browser:
    """One signed-in browser with its socket."""

    def __init__(self, desk: Any, cookie: str, *, origin: str | None = None, **options: Any) -> None:
        url = desk.ws_url + options.pop("query", "")
        self.socket = websocket.create_connection(
            url,
            origin=desk.url if origin is None else origin,
            cookie=f"{django_settings.SESSION_COOKIE_NAME}={cookie}" if cookie else None,
            timeout=10,
            **options,
        )
        self.unheard: list[dict[str, Any]] = []

    def say(self, **message: list[str]) -> dict[str, Any]:
        self.socket.send(json.dumps(message))
        return self.hear()

    def hear(self, seconds: float = 10) -> dict[str, Any]:
        """The next object, whether it came by itself or in an array."""
        if not self.unheard:
            self.unheard = self.hear_frame(seconds)
        return self.unheard.pop(0)

    def hear_frame(self, seconds: float = 10) -> list[dict[str, Any]]:
        """All objects of the next frame."""
        self.socket.settimeout(seconds)
        heard = json.loads(self.socket.recv())
        return heard if isinstance(heard, list) else [heard]

    def hears_nothing(self, seconds: float = 0.5) -> bool:
        with suppress(websocket.WebSocketTimeoutException):
            self.hear(seconds)
            return False
        return True

    def close_code(self, seconds: float = 10) -> int:
        """Read on until the server closes; the code it gives."""
        self.socket.settimeout(seconds)
        while True:
            opcode, content = self.socket.recv_data()
            if opcode == websocket.ABNF.OPCODE_CLOSE:
                return int.from_bytes(content[:2], "big")


Open = Callable[..., Browser]


@pytest.fixture
def open_socket(live_desk: Any) -> Iterator[Open]:
    opened: list[Browser] = []

    def open_for(person: Person | None, **options: Any) -> Browser:
        client = Client()
        if person is not None:
            client.force_login(person)
        cookie = client.cookies.get(django_settings.SESSION_COOKIE_NAME)
        opened.append(Browser(live_desk, cookie.value if cookie else "", **options))
        opened[-1].client = client  # type: ignore[attr-defined]
        return opened[-1]

    yield open_for
    for browser in opened:
        browser.socket.close(timeout=1)
    announcements.settle()


_senders: list[Any] = []


@pytest.fixture
def use_broker(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """`use_broker(address)`: what the desk sends and hears goes there for the rest of the test."""

    def use(address: str) -> None:
        settings.REDIS_URL = address
        monkeypatch.setattr(announcements, "_current", announcements._Sender())
        _senders.append(announcements._current)  # its thread goes on, so its connections do

    return use


@pytest.fixture
def own_redis(use_broker: Callable[[str], None], tmp_path: Any) -> Iterator[Callable[[], servers.Redis]]:
    """A Redis of this test alone, that it may stop and start again; the desk uses it from the start."""
    started: list[servers.Redis] = []

    def start() -> servers.Redis:
        started.append(servers.Redis(tmp_path))
        return started[-1]

    use_broker(start().url)
    yield lambda: started[-1] if started[-1]._process.poll() is None else start()
    started[-1].stop()
