"""The socket of a browser: who gets in, what it hears, and when it is closed. Real server, real Redis, real frames."""

import json
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
import websocket
from django.conf import settings as django_settings
from django.contrib.auth.models import Group
from django.contrib.sessions.models import Session
from django.db import transaction
from django.test import Client

from desk import clock
from desk.live import announcements, consumers, fanout, hub
from desk.models import Person
from desk.people import presence
from tests.bounds import stretched
from tests.desk.conftest import Browser, Open

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("rooms")]
CLOSED = 4401


def test_a_hint_reaches_the_followers_of_its_topic_alone(open_socket: Open, operator: Person, treasury: Person) -> None:
    first, second = open_socket(operator), open_socket(treasury)
    assert first.say(follow=["open:1", "open"]) == {"followed": ["open", "open:1"], "refused": []}
    assert second.say(follow=["open:2"]) == {"followed": ["open:2"], "refused": []}
    announcements.announce("open:1", state="HELD", version=3)
    assert first.hear() == {"topic": "open:1", "hint": {"state": "HELD", "version": 3}}
    assert second.hears_nothing()


def test_topics_are_admitted_one_by_one(open_socket: Open, operator: Person, treasury: Person) -> None:
    wanted = [
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
    answer = open_socket(operator).say(follow=wanted)
    assert answer["followed"] == sorted([f"mine:{operator.pk}", "open"])
    assert answer["refused"] == [topic for topic in wanted if topic not in answer["followed"]]
    assert open_socket(treasury).say(follow=["vault"])["followed"] == ["vault"]


def test_what_is_unfollowed_is_not_heard(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1", "open:2"])
    assert browser.say(unfollow=["open:1", "never:followed"]) == {"followed": ["open:2"], "refused": []}
    announcements.announce("open:1")
    announcements.announce("open:2")
    assert browser.hear()["topic"] == "open:2"
    assert browser.hears_nothing()


def test_hints_leave_after_commit_and_not_after_rollback(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1"])
    with transaction.atomic():
        announcements.announce("open:1", from_="rolled back")
        transaction.set_rollback(True)
    with transaction.atomic():
        announcements.announce("open:1", from_="committed")
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
    assert time.monotonic() - started < stretched(5)


def test_a_topic_that_is_no_longer_allowed_is_taken_away(
    open_socket: Open, operator: Person, monkeypatch: pytest.MonkeyPatch, another_room: Callable[..., None]
) -> None:
    monkeypatch.setattr(hub, "RECHECK_SECONDS", 0.3)
    allowed = {"open"}
    another_room(topics={"fickle": lambda person, key: "fickle" in allowed})
    allowed.add("fickle")
    browser = open_socket(operator)
    browser.say(follow=["open", "fickle:1"])
    allowed.discard("fickle")
    assert browser.hear() == {"followed": ["open"], "refused": ["fickle:1"]}
    announcements.announce("fickle:1")
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
        monkeypatch.setattr(fanout, name, value)


def let_go() -> float:
    """How many browsers of this process were sent away to come again."""
    count: float = fanout.LET_GO.labels(str(fanout.TRY_LATER))._value.get()
    return count


def until(came: Callable[[], bool], seconds: float = 20) -> None:
    """Wait for something to become true."""
    deadline = time.monotonic() + stretched(seconds)
    while not came():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


@pytest.mark.usefixtures("one_bound")
def test_a_browser_that_does_not_read_is_let_go_and_others_go_on(
    open_socket: Open, operator: Person, treasury: Person
) -> None:
    slow = open_socket(operator, sockopt=((socket.SOL_SOCKET, socket.SO_RCVBUF, 4096),))
    attentive = open_socket(treasury)
    slow.say(follow=["open:flood"])
    attentive.say(follow=["open:calm"])
    before = let_go()
    for number in range(5_000):
        announcements.announce("open:flood", number=number, filling="x" * 1_900)
        if number % 200 == 0:
            announcements.settle()
            announcements.announce("open:calm", number=number)
            assert attentive.hear()["hint"] == {"number": number}
    until(lambda: let_go() > before)
    announcements.announce("open:calm", number=5_000)
    assert attentive.hear()["hint"] == {"number": 5_000}
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
        announcements.announce(topic)


def test_a_hint_is_small_and_plain() -> None:
    with pytest.raises(ValueError, match="2000 characters"):
        announcements.announce("open", text="x" * 2_000)
    with pytest.raises(TypeError):
        announcements.announce("open", amount=object())


def test_a_tick_reaches_the_followers_of_its_topic(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.say(follow=["quote:ETHBTC"])
    with transaction.atomic():
        announcements.tick("quote:ETHBTC", last="0.1")
        transaction.set_rollback(True)
    announcements.tick("quote:ETHBTC", last="0.050000000000000001", bids=[["0.05", "1"]], open=None)
    expected = {"last": "0.050000000000000001", "bids": [["0.05", "1"]], "open": None}
    assert browser.hear() == {"topic": "quote:ETHBTC", "tick": expected}


@pytest.mark.parametrize("topic", ["open", "open:1", "vault", "unknown:1", "quote:", "QUOTE:1", "", "quote:a b"])
def test_a_tick_for_a_topic_without_ticks_is_a_mistake(topic: str) -> None:
    with pytest.raises(ValueError, match="does not accept ticks"):
        announcements.tick(topic, last="1")


def test_a_tick_is_bounded_and_exact(another_room: Callable[..., None]) -> None:
    with pytest.raises(ValueError, match="16000 characters"):
        announcements.tick("quote:A", bids="x" * 16_000)
    for inexact in (0.1, [{"price": 1e5}], float("nan"), object()):
        with pytest.raises((TypeError, ValueError)):
            announcements.tick("quote:A", last=inexact)
    another_room(topics={"quote": lambda person, key: True})
    with pytest.raises(ValueError, match="does not accept ticks"):
        announcements.tick("quote:A", last="1")


@pytest.mark.parametrize("address", ["unix:///nowhere/redis.sock", "redis://127.0.0.1:9", "redis://10.255.255.1:6379"])
def test_a_dead_broker_costs_no_time_and_raises_nothing(use_broker: Callable[[str], None], address: str) -> None:
    use_broker(address)
    before = announcements.HINTS.labels("lost")._value.get()
    started = time.monotonic()
    for number in range(20):
        announcements.announce("open", number=number)
    assert time.monotonic() - started < stretched(4)
    assert announcements.settle(8)
    assert announcements.HINTS.labels("lost")._value.get() == before + 20


def test_presence_needs_a_session_key(db: None) -> None:
    assert presence.admitted("", ["open"], now=clock.now()) is None


# A session that goes on under a new key, and people who may no longer ----------------------------------------------


def renewed(browser: Browser, person: Person) -> str:
    """A second factor was given in this browser: the key that its session has now."""
    from desk.people import session_keys

    session = browser.client.session  # type: ignore[attr-defined]
    session_keys.renew(session, person=person, now=clock.now())
    session.save()
    return str(session.session_key)


@pytest.mark.parametrize("how", ["at the next look", "while it follows more"])
def test_a_socket_of_the_old_key_is_sent_to_come_again_with_the_new_one(
    open_socket: Open, live_desk: Any, operator: Person, how: str
) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1"])
    old = browser.client.session.session_key  # type: ignore[attr-defined]
    key = renewed(browser, operator)
    if how == "while it follows more":
        browser.socket.send(json.dumps({"follow": ["open:2"]}))
    assert browser.close_code(5) == fanout.TRY_LATER
    again = Browser(live_desk, key)
    assert again.say(follow=["open:1"])["followed"] == ["open:1"]
    again.socket.close()
    with pytest.raises(websocket.WebSocketBadStatusException):
        Browser(live_desk, old)


def test_the_socket_of_somebody_switched_off_closes_within_five_seconds(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1"])
    operator.is_active = False
    operator.save(update_fields=["is_active"])
    assert browser.close_code(5) == CLOSED


def test_the_socket_of_an_older_password_closes_within_five_seconds(open_socket: Open, operator: Person) -> None:
    browser = open_socket(operator)
    browser.say(follow=["open:1"])
    operator.set_password("an entirely different sentence")
    operator.save(update_fields=["password"])
    assert browser.close_code(5) == CLOSED
