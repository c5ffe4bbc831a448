"""The one member of the group per process: what it hears, what it notices, and that it leaves nothing behind."""

import asyncio
import contextlib
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import redis
import redis.asyncio
from django.conf import settings as django_settings

from desk.live import announcements, fanout, frames, group, hub
from desk.live.fanout import Browser, Fanout
from desk.models import Person
from tests import houses, servers
from tests.bounds import stretched
from tests.conftest import LiveDesk
from tests.desk.conftest import Browser as SignedIn
from tests.desk.conftest import Open
from tests.desk.live.test_relay_fanout import Line, until

# One hub, one loop ----------------------------------------------------------------------------------------------------


@contextlib.asynccontextmanager
async def follower(*topics: str) -> AsyncIterator[tuple[Browser, Line]]:
    async with hub.joined() as room:
        line = Line()
        made = Browser(key="k", socket=line)
        room.add(made)
        room.follow(made, topics)
        yield made, line
        room.remove(made)


def batch(number: int, *, kind: str = "hint", sender: str = "s") -> dict[str, Any]:
    text = json.dumps({"topic": "a", kind: {"number": number}})
    return {"type": "relay.batch", "kind": kind, "sender": sender, "number": number, "texts": [("a", text)]}


async def send(message: dict[str, Any]) -> None:
    await publish(msgspec.msgpack.encode(message))


async def publish(text: bytes) -> None:
    async with redis.asyncio.Redis.from_url(django_settings.REDIS_URL) as broker:
        assert await broker.publish("asgi__group__relay", text)


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the server that the embedded start falls back on where there is no other."""
    path = tmp_path_factory.mktemp("stand-in") / "redis.sock"
    process = subprocess.Popen([sys.executable, "-m", "project.supervisor.fake_redis", str(path)])
    deadline = time.monotonic() + stretched(60)
    with redis.Redis(unix_socket_path=str(path), retry=None) as client:
        while True:
            with contextlib.suppress(redis.RedisError):
                client.ping()
                break
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    yield f"unix://{path}"
    process.kill()
    process.wait(10)


@pytest.fixture(params=["stand-in", "redis"])
def either_broker(request: pytest.FixtureRequest, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both kinds of brokers; nobody asks about sessions meanwhile, because these tests have no rows."""
    if request.param == "stand-in":
        settings.REDIS_URL = request.getfixturevalue("stand_in")
    monkeypatch.setattr(hub, "RECHECK_SECONDS", 600.0)


Test = Callable[[], Coroutine[Any, Any, None]]


def run(test: Test) -> None:
    """Run on a loop of its own; at the end neither a hub nor a task of one is left."""

    async def inside() -> None:
        before = asyncio.all_tasks()
        await test()
        # The broker's library closes a connection in a task of its own, which may outlive by a moment who asked for it.
        await until(lambda: not asyncio.all_tasks() - before)
        assert asyncio.get_running_loop() not in hub._hubs

    asyncio.run(inside())


@pytest.mark.usefixtures("either_broker")
def test_all_browsers_of_a_loop_share_one_hub_that_ends_with_the_last() -> None:
    async def test() -> None:
        async with follower("a") as (_, first):
            async with follower("a") as (_, second), follower("b") as (_, third):
                assert len(hub._hubs) == 1
                await send(batch(1))
                await until(lambda: first.written and second.written)
                assert first.written[0] is second.written[0]
                assert not third.written
            await send(batch(2))
            await until(lambda: len(first.written) == 2)
            assert first.code is None

    run(test)


@pytest.mark.usefixtures("either_broker")
@pytest.mark.parametrize("kind", ["hint", "tick"])
def test_a_batch_that_is_missing_sends_everybody_away(kind: str) -> None:
    async def test() -> None:
        async with follower("a") as (_, line), follower("b") as (_, other):
            for number, sender in ((7, "s"), (8, "s"), (100, "t")):
                await send(batch(number, kind=kind, sender=sender))
            await until(lambda: line.written)
            assert line.code is None, "whoever begins to be heard may have any number"
            await send(batch(10, kind=kind))
            await until(lambda: line.code and other.code)
            assert line.code == other.code == fanout.TRY_LATER
            async with follower("a") as (_, again):
                await send(batch(11, kind=kind))
                await until(lambda: again.written)

    run(test)


@pytest.mark.usefixtures("either_broker")
def test_what_is_no_batch_and_beats_of_others_change_nothing() -> None:
    async def test() -> None:
        async with follower("a") as (_, line):
            await send({"type": "relay.hint", "text": "of an older process"})
            await send({"type": "relay.beat", "hub": "another", "number": 900})
            await send({"type": "websocket.disconnect"})
            for odd in ({}, {"type": ["relay.batch"]}, {"type": "relay.beat", "hub": 1}):
                await send(odd)
            for change in ({"sender": None}, {"number": "1"}, {"kind": 7}, {"texts": "ab"}, {"texts": [["a"]]}):
                await send(batch(0) | change)
            await send(batch(1))
            await until(lambda: line.written)
            assert line.code is None

    run(test)


DEEP = (
    msgspec.msgpack.encode({"type": "relay.beat", "hub": "h", "number": 1, "x": 1})[:-1] + b"\x91" * 100_000 + b"\x01"
)


@pytest.mark.parametrize(
    "garbage", [b"garbage", b"\xff", b"\xc1", b"", b"\x93\x01", b"\x81\xa4type\xc0", b"\x81\xa4type\xa1\xff", DEEP]
)
def test_bytes_that_nobody_can_read_are_ignored_and_counted(garbage: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "RECHECK_SECONDS", 600.0)

    def ignored() -> float:
        return sum(each.value for metric in group.IGNORED.collect() for each in metric.samples if each.name[-1] == "l")

    async def test() -> None:
        async with follower("a") as (_, line):
            before = ignored()
            await publish(garbage)
            await until(lambda: ignored() == before + 1)
            await send(batch(1))
            await until(lambda: line.written)
            assert line.code is None

    run(test)


def test_a_hub_that_hears_nothing_any_more_gives_up(
    own_redis: Callable[[], servers.Redis], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test() -> None:
        async with follower("a") as (_, line):
            # Only now: on a busy machine three beats may be late before the hub is open.
            monkeypatch.setattr(hub, "BEAT_SECONDS", 0.05)
            os.kill(own_redis()._process.pid, signal.SIGSTOP)  # connections stand, and nobody answers
            await until(lambda: line.code)
            assert line.code == fanout.TRY_LATER

    run(test)


def test_a_connection_that_was_lost_is_noticed_at_once(
    own_redis: Callable[[], servers.Redis], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "RECHECK_SECONDS", 600.0)
    monkeypatch.setattr(hub, "BEAT_SECONDS", 600.0)  # it takes no beat to find out

    async def test() -> None:
        async with follower("a") as (_, line):
            async with redis.asyncio.Redis.from_url(own_redis().url) as broker:
                assert await broker.client_kill_filter(_type="pubsub") == 1
            await until(lambda: line.code)
            assert line.code == fanout.TRY_LATER
            async with follower("a") as (_, again):
                await send(batch(1))
                await until(lambda: again.written)

    run(test)


def test_a_subscription_that_the_library_made_again_is_noticed(own_redis: Callable[[], servers.Redis]) -> None:
    async def test() -> None:
        address = own_redis().url
        async with group.connection(address, retries=3) as client, client.pubsub() as heard:
            await heard.subscribe(group.CHANNEL)
            membership = group.Membership(client, heard)
            assert await membership.hear() is None
            async with redis.asyncio.Redis.from_url(address) as broker:
                assert await broker.client_kill_filter(_type="pubsub") == 1
            with pytest.raises(group.SubscribedAnew):
                await asyncio.wait_for(membership.hear(), 20)

    run(test)


def test_a_publisher_whose_connection_was_lost_is_heard_all_the_same(own_redis: Callable[[], servers.Redis]) -> None:
    async def test() -> None:
        server = own_redis()
        async with group.connection(server.url, retries=group.PUBLISHER_RETRIES) as client:
            await group.publish(client, group.Beat(hub="h", number=1))
            server.stop()
            own_redis()
            async with group.joined(server.url) as member:
                assert await member.hear() is None
                await group.publish(client, group.Beat(hub="h", number=2))
                assert await member.hear() == group.Beat(hub="h", number=2)

    run(test)


def test_who_comes_while_nothing_can_be_heard_is_refused_and_may_come_again(
    settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "OPEN_SECONDS", 0.5)
    working = settings.REDIS_URL

    async def test() -> None:
        settings.REDIS_URL = "unix:///nowhere/redis.sock"
        knocks = [asyncio.create_task(knock()) for _ in range(5)]
        assert set(await asyncio.gather(*knocks)) == {"refused"}
        settings.REDIS_URL = working
        assert await knock() == "in"

    run(test)


async def knock() -> str:
    try:
        async with hub.joined():
            return "in"
    except hub.BrokerAway:
        return "refused"


# Real sockets ---------------------------------------------------------------------------------------------------------


def the_room() -> Fanout:
    """The fanout of the live desk, which runs in this process."""
    (only,) = hub._hubs.values()
    return only.fanout


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("rooms")
def test_a_flood_of_ticks_to_one_who_does_not_read_stays_small(
    open_socket: Open, operator: Person, treasury: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fanout, "TICK_SECONDS", 0.001)
    slow = open_socket(operator, sockopt=((socket.SOL_SOCKET, socket.SO_RCVBUF, 4096),))
    quick = open_socket(treasury)
    slow.say(follow=["quote:A", "quote:B"])
    quick.say(follow=["quote:A"])
    waiting = 0
    stuck_at = None
    for number in range(400):
        announcements.tick("quote:A", number=number, filling="x" * 15_000)
        announcements.tick("quote:B", number=number, filling="y" * 15_000)
        while quick.hear()["tick"]["number"] < number:
            assert number
        waiting = max(waiting, *(one.socket.untaken() for one in the_room().browsers))
        stuck_at = stuck_at or (number if any(one.stuck for one in the_room().browsers) else None)
        if stuck_at is not None and number > stuck_at + 20:
            break
    assert stuck_at is not None, "nobody was slow, so nothing was shown"
    assert waiting <= frames.FRAME_CHARACTERS + announcements.LONGEST_TICK
    seen = {topic: last_number(slow, topic, number) for topic in ("quote:A", "quote:B")}
    assert seen == {"quote:A": number, "quote:B": number}, "and when it reads, it gets the newest"


def last_number(browser: SignedIn, topic: str, expected: int) -> int:
    """Read on until a topic shows this number; what is heard of others is kept."""
    heard: dict[str, int] = browser.__dict__.setdefault("last", {})
    while heard.get(topic) != expected:
        one = browser.hear()
        assert one["tick"]["number"] >= heard.get(one["topic"], 0), "never an older one after a newer one"
        heard[one["topic"]] = one["tick"]["number"]
    return heard[topic]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("rooms")
def test_pings_without_reading_pile_up_nothing(open_socket: Open, operator: Person) -> None:
    rude = open_socket(operator, sockopt=((socket.SOL_SOCKET, socket.SO_RCVBUF, 4096),))
    rude.say(follow=["quote:A"])
    announcements.tick("quote:A", last="1")
    rude.hear()
    (browser,) = the_room().browsers
    rude.socket.settimeout(0.5)
    with contextlib.suppress(OSError, Exception):
        for _ in range(60_000):
            rude.socket.ping(b"x" * 125)
    assert browser.socket.untaken() <= 2**19, "answers to what came in one piece, and no more"


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("rooms")
def test_what_a_browser_held_is_free_when_it_left(open_socket: Open, operator: Person) -> None:
    stays = open_socket(operator)
    stays.say(follow=["open:1"])
    for number in range(5):
        passing = open_socket(operator)
        passing.say(follow=["open:1", f"open:{number + 2}", "quote:A"])
        passing.socket.close(timeout=1)
    deadline = time.monotonic() + stretched(10)
    while len(the_room().browsers) > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert set(the_room()._followers) == {"open:1"}
    gc.collect()
    alive = [one for one in gc.get_objects() if type(one) is Browser and "open:1" in one.topics]
    assert len(alive) == 1


# Two processes --------------------------------------------------------------------------------------------------------


Second = tuple[LiveDesk, subprocess.Popen[bytes]]


@pytest.fixture
def second_desk(
    child_environment: dict[str, str], tmp_path: Path
) -> Iterator[tuple[LiveDesk, subprocess.Popen[bytes]]]:
    """Another web process of the same desk, as in production."""
    port = houses.free_port()
    environment = {**child_environment, "PORT": str(port)}
    with (tmp_path / "web.log").open("wb") as log:
        child = subprocess.Popen([sys.executable, "-m", "project.serve"], env=environment, stdout=log, stderr=log)
    deadline = time.monotonic() + stretched(60)
    while True:
        with contextlib.suppress(OSError), socket.create_connection(("localhost", port), timeout=1):
            break
        assert child.poll() is None, (tmp_path / "web.log").read_text()
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield LiveDesk(url=f"http://localhost:{port}", ws_url=f"ws://localhost:{port}/ws/"), child
    if child.poll() is None:
        child.kill()
    child.wait(10)


def members() -> int:
    """How many processes listen to the group."""
    with contextlib.closing(redis.Redis.from_url(os.environ["REDIS_URL"])) as broker:
        ((_, count),) = broker.pubsub_numsub("asgi__group__relay")
        return int(count)


@pytest.mark.django_db(transaction=True)
def test_browsers_of_two_processes_hear_the_same_and_each_process_is_one_member(
    open_socket: Open, operator: Person, second_desk: Second
) -> None:
    there, child = second_desk
    near = [open_socket(operator) for _ in range(3)]
    cookie = near[0].client.cookies[django_settings.SESSION_COOKIE_NAME].value  # type: ignore[attr-defined]
    far = [SignedIn(there, cookie) for _ in range(3)]
    for browser in near + far:
        assert browser.say(follow=["withdrawals"]) == {"followed": ["withdrawals"], "refused": []}
    assert members() == 2
    for number in range(50):
        announcements.announce("withdrawals", number=number)
    for browser in near + far:
        assert [browser.hear()["hint"]["number"] for _ in range(50)] == list(range(50))
    child.send_signal(signal.SIGTERM)
    assert [browser.close_code() for browser in far] == [1012] * 3
    assert child.wait(10) in {0, -signal.SIGTERM}
    announcements.announce("withdrawals", number=50)
    assert [browser.hear()["hint"]["number"] for browser in near] == [50] * 3
    for browser in near:
        browser.socket.close(timeout=1)
    deadline = time.monotonic() + stretched(10)
    while members() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert members() == 0
