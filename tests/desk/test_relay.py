"""The socket of a browser: who gets in, what it hears, and when it is closed. Real server, real Redis, real frames."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pytest
import websocket
from django.conf import settings as django_settings
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client

from desk import consumers, live, presence, topics
from desk.models import Person
from tests import servers

pytestmark = pytest.mark.django_db(transaction=True)
CLOSED = 4401


@pytest.fixture(autouse=True)
def rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three kinds of topics: everybody's, treasury's, and one whose rule is broken."""
    monkeypatch.setattr(topics, "_registered", {})
    monkeypatch.setattr(topics, "_ticking", set())
    topics.register("open", lambda person, key: True)
    topics.register("vault", lambda person, key: person.has_role("treasury"))
    topics.register("mine", lambda person, key: key == str(person.pk))
    topics.register("broken", lambda person, key: bool(1 // 0))
    topics.register("quote", lambda person, key: True, ticks=True)


class Browser:
    """One signed-in browser with its socket."""

    def __init__(self, desk: Any, cookie: str, *, origin: str | None = None, **options: Any) -> None:
        self.socket = websocket.create_connection(
            desk.ws_url,
            origin=desk.url if origin is None else origin,
            cookie=f"{django_settings.SESSION_COOKIE_NAME}={cookie}" if cookie else None,
            timeout=10,
            **options,
        )

    def say(self, **message: list[str]) -> dict[str, Any]:
        self.socket.send(json.dumps(message))
        return self.hear()

    def hear(self, seconds: float = 10) -> dict[str, Any]:
        self.socket.settimeout(seconds)
        heard: dict[str, Any] = json.loads(self.socket.recv())
        return heard

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
    live.settle()


def test_a_hint_reaches_the_followers_of_its_topic_alone(open_socket: Open, operator: Person, treasury: Person) -> None:
    first, second = open_socket(operator), open_socket(treasury)
    assert first.say(follow=["open:1", "open"]) == {"followed": ["open", "open:1"], "refused": []}
    assert second.say(follow=["open:2"]) == {"followed": ["open:2"], "refused": []}
    live.announce("open:1", state="HELD", version=3)
    assert first.hear() == {"topic": "open:1", "hint": {"state": "HELD", "version": 3}}
    assert second.hears_nothing()


def test_topics_are_admitted_one_by_one(open_socket: Open, operator: Person, treasury: Person) -> None:
    asked = [
        "vault",
        f"mine:{operator.pk}",
        f"mine:{treasury.pk}",
        "unknown:1",
        "broken",
        "open",
        "OPEN",
        "../open",
        "open:" + "x" * 90,
        "",
    ]
    answer = open_socket(operator).say(follow=asked)
    assert answer["followed"] == sorted([f"mine:{operator.pk}", "open"])
    assert answer["refused"] == [topic for topic in asked if topic not in answer["followed"]]
    assert open_socket(treasury).say(follow=["vault"])["followed"] == ["vault"]


def test_what_is_unfollowed_is_not_heard(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1", "open:2"])
    assert browser.say(unfollow=["open:1", "never:followed"]) == {"followed": ["open:2"], "refused": []}
    live.announce("open:1")
    live.announce("open:2")
    assert browser.hear()["topic"] == "open:2"
    assert browser.hears_nothing()


def test_hints_leave_after_commit_and_not_after_rollback(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1"])
    with transaction.atomic():
        live.announce("open:1", from_="rolled back")
        transaction.set_rollback(True)
    with transaction.atomic():
        live.announce("open:1", from_="committed")
        assert browser.hears_nothing(0.3)
    assert browser.hear()["hint"] == {"from_": "committed"}


@pytest.mark.parametrize("origin", ["https://evil.example", "http://localhost.evil.example", "null", ""])
def test_foreign_origins_are_refused(open_socket: Open, operator: Person, origin: str) -> None:
    with pytest.raises(websocket.WebSocketBadStatusException) as refusal:
        open_socket(operator, origin=origin or "http://")
    assert refusal.value.status_code == 403


def test_without_a_session_nobody_gets_in(open_socket: Open, live_desk: Any, operator: Person) -> None:
    client = Client()
    client.force_login(operator)
    cookie = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    Session.objects.all().delete()
    for stale in ("", "garbage", "x" * 5_000, cookie):
        with pytest.raises((websocket.WebSocketBadStatusException, websocket.WebSocketConnectionClosedException)):
            Browser(live_desk, stale)


@pytest.mark.parametrize("event", ["sign-out", "role", "switched off", "idle", "erased"])
def test_the_socket_is_closed_within_five_seconds_of(
    open_socket: Open, operator: Person, monkeypatch: pytest.MonkeyPatch, event: str
) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1"])
    if event == "sign-out":
        browser.client.post("/sign-out/")  # type: ignore[attr-defined]
    elif event == "role":
        operator.groups.add(Group.objects.get(name="auditor"))
    elif event == "switched off":
        Person.objects.filter(pk=operator.pk).update(is_active=False)
    elif event == "idle":
        monkeypatch.setattr(django_settings, "SESSION_IDLE_SECONDS", -1)
    else:
        Person.objects.filter(pk=operator.pk).delete()
    started = time.monotonic()
    assert browser.close_code() == CLOSED
    assert time.monotonic() - started < 5


def test_a_topic_that_is_no_longer_allowed_is_taken_away(
    open_socket: Open, operator: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "RECHECK_SECONDS", 0.3)
    allowed = {"open"}
    topics.register("fickle", lambda person, key: "fickle" in allowed)
    allowed.add("fickle")
    browser = open_socket(operator)
    browser.say(follow=["open", "fickle:1"])
    allowed.discard("fickle")
    assert browser.hear() == {"followed": ["open"], "refused": ["fickle:1"]}
    live.announce("fickle:1")
    assert browser.hears_nothing()


def test_following_after_the_session_ended_closes_at_once(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    Session.objects.all().delete()
    browser.socket.send('{"follow": ["open"]}')
    assert browser.close_code() == CLOSED


@pytest.mark.parametrize(
    "message",
    [
        "",
        "hello",
        "{",
        "[]",
        "7",
        "null",
        "{}",
        '{"follow": "open"}',
        '{"follow": [1]}',
        '{"follow": [null]}',
        '{"announce": ["open"]}',
        '{"follow": ["open"], "type": "relay.hint"}',
        '{"type": "websocket.disconnect"}',
        "[" * 7_000,
        '{"follow": {"a": 1}}',
    ],
)
def test_what_is_not_the_protocol_closes(open_socket: Open, operator: Person, message: str) -> None:
    browser = open_socket(operator)
    browser.socket.send(message)
    assert browser.close_code() == consumers.NOT_UNDERSTOOD


def test_bytes_and_long_messages_close(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.socket.send_binary(b'{"follow": ["open"]}')
    assert browser.close_code() == consumers.NOT_UNDERSTOOD
    browser = open_socket(operator)
    browser.socket.send(json.dumps({"follow": ["x" * 9_000]}))
    assert browser.close_code() == consumers.TOO_LONG


def test_too_many_messages_close(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    with suppress(OSError):
        for _ in range(consumers.MOST_MESSAGES + 1):
            browser.socket.send('{"unfollow": ["open"]}')
    assert browser.close_code() == consumers.TOO_MANY


def test_too_many_topics_are_refused(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    answer = browser.say(follow=[f"open:{number}" for number in range(consumers.MOST_TOPICS + 5)])
    assert len(answer["followed"]) == consumers.MOST_TOPICS
    assert answer["refused"] == [f"open:{number}" for number in range(consumers.MOST_TOPICS, consumers.MOST_TOPICS + 5)]
    browser.say(unfollow=["open:0"])
    assert browser.say(follow=["open:104"])["refused"] == []


@pytest.fixture(params=[{"SLOW_SECONDS": 1.0, "MOST_WAITING": 100_000}, {"SLOW_SECONDS": 600.0, "MOST_WAITING": 100}])
def one_bound(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Either bound is enough by itself: the time one frame may take, and the number of frames in line."""
    for name, value in request.param.items():
        monkeypatch.setattr(consumers, name, value)


@pytest.mark.usefixtures("one_bound")
def test_a_browser_that_does_not_read_is_let_go_and_others_go_on(
    open_socket: Open, operator: Person, treasury: Person
) -> None:
    slow = open_socket(operator, sockopt=((socket.SOL_SOCKET, socket.SO_RCVBUF, 4096),))
    attentive = open_socket(treasury)
    slow.say(follow=["open:flood"])
    attentive.say(follow=["open:calm"])
    for number in range(5_000):
        live.announce("open:flood", number=number, filling="x" * 1_900)
        if number % 200 == 0:
            live.settle()
            live.announce("open:calm", number=number)
            assert attentive.hear()["hint"] == {"number": number}
    numbers = []
    with suppress(websocket.WebSocketConnectionClosedException, ConnectionError, json.JSONDecodeError):
        while len(numbers) < 5_000:
            numbers.append(slow.hear(5)["hint"]["number"])
    assert numbers == list(range(len(numbers))), "what it did get was in order and whole"
    assert len(numbers) < 4_900, "the rest was not kept for it"
    slow = open_socket(operator)
    assert slow.say(follow=["open:flood"])["followed"] == ["open:flood"], "it may come again"


# Announcing -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", ["", "Open", "open:", "open:a b", "open:1:2", "open\n", "x" * 60, "open:ü"])
def test_a_malformed_topic_is_a_mistake(topic: str) -> None:
    with pytest.raises(ValueError, match="not a topic"):
        live.announce(topic)


def test_a_hint_is_small_and_plain() -> None:
    with pytest.raises(ValueError, match="2000 characters"):
        live.announce("open", text="x" * 2_000)
    with pytest.raises(TypeError):
        live.announce("open", amount=object())


def test_a_tick_reaches_the_followers_of_its_topic(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.say(follow=["quote:ETHBTC"])
    with transaction.atomic():
        live.tick("quote:ETHBTC", last="0.1")
        transaction.set_rollback(True)
    live.tick("quote:ETHBTC", last="0.050000000000000001", bids=[["0.05", "1"]], open=None)
    expected = {"last": "0.050000000000000001", "bids": [["0.05", "1"]], "open": None}
    assert browser.hear() == {"topic": "quote:ETHBTC", "tick": expected}


@pytest.mark.parametrize("topic", ["open", "open:1", "vault", "unknown:1", "quote:", "QUOTE:1", "", "quote:a b"])
def test_a_tick_for_a_topic_without_ticks_is_a_mistake(topic: str) -> None:
    with pytest.raises(ValueError, match="not a topic that takes ticks"):
        live.tick(topic, last="1")


def test_a_tick_is_bounded_and_exact() -> None:
    with pytest.raises(ValueError, match="16000 characters"):
        live.tick("quote:A", bids="x" * 16_000)
    for inexact in (0.1, [{"price": 1e5}], float("nan"), object()):
        with pytest.raises((TypeError, ValueError)):
            live.tick("quote:A", last=inexact)
    topics.register("quote", lambda person, key: True)
    with pytest.raises(ValueError, match="takes ticks"):
        live.tick("quote:A", last="1")


@pytest.mark.parametrize("address", ["unix:///nowhere/redis.sock", "redis://127.0.0.1:9", "redis://10.255.255.1:6379"])
def test_a_dead_broker_costs_no_time_and_raises_nothing(settings: Any, address: str) -> None:
    layers = {"default": {**settings.CHANNEL_LAYERS["default"], "CONFIG": {"hosts": [address]}}}
    settings.CHANNEL_LAYERS = layers
    before = live.HINTS.labels("lost")._value.get()
    started = time.monotonic()
    for number in range(20):
        live.announce("open", number=number)
    assert time.monotonic() - started < 0.5
    assert live.settle(8)
    assert live.HINTS.labels("lost")._value.get() == before + 20


def test_presence_needs_a_session_key(db: None) -> None:
    assert presence.admitted("", ["open"], now=presence_now()) is None


def presence_now() -> Any:
    from desk import clock

    return clock.now()


# A broker that comes and goes -----------------------------------------------------------------------------------------


@pytest.fixture
def own_redis(settings: Any, tmp_path: Any) -> Iterator[Callable[[], servers.Redis]]:
    """A Redis of this test alone, that it may stop and start again; the desk uses it from the start."""
    started: list[servers.Redis] = []

    def start() -> servers.Redis:
        started.append(servers.Redis(tmp_path))
        return started[-1]

    address = start().url
    settings.CHANNEL_LAYERS = {"default": {**settings.CHANNEL_LAYERS["default"], "CONFIG": {"hosts": [address]}}}
    yield lambda: started[-1] if started[-1]._process.poll() is None else start()
    started[-1].stop()


def test_the_same_socket_goes_on_after_the_broker_was_away(
    own_redis: Callable[[], servers.Redis], open_socket: Open, operator: Person
) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1"])
    own_redis().stop()
    live.announce("open:1", number=1)
    assert browser.hears_nothing(1)
    own_redis()
    for number in range(2, 40):
        live.announce("open:1", number=number)
        with suppress(websocket.WebSocketTimeoutException):
            assert browser.hear(0.5)["hint"]["number"] > 1
            break
    else:
        pytest.fail("no hint came through again")


def test_while_the_broker_is_away_a_browser_is_told_to_come_again(
    own_redis: Callable[[], servers.Redis], open_socket: Open, operator: Person
) -> None:
    browser = open_socket(operator)
    own_redis().stop()
    started = time.monotonic()
    browser.socket.send('{"follow": ["open:1"]}')
    assert browser.close_code(20) == consumers.TRY_LATER
    assert time.monotonic() - started < 15
