"""What may wait for the reader of one socket: so many messages, so many characters, and nothing behind its end."""

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

import pytest

from sandbox.server.answers import Connection
from sandbox.server.asgi import every_fault
from sandbox.server.faults.fault_kinds import Scope
from sandbox.server.sockets.outgoing import LITTLE, MOST_CHARACTERS, MOST_WAITING, Outgoing

MIB = 2**20


@asynccontextmanager
async def opened(**fault: object) -> AsyncIterator[tuple[Outgoing, asyncio.Transport]]:
    """A socket that nobody reads, with its way out."""
    ours, theirs = socket.socketpair()
    transport, _ = await asyncio.get_running_loop().create_connection(asyncio.Protocol, sock=ours)
    faults = every_fault()
    if fault:
        faults.arm(fault)
    try:
        yield Outgoing(faults, Connection(transport)), transport
    finally:
        transport.abort()
        theirs.close()


def run(test: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    def wrapped() -> None:
        asyncio.run(test())

    return wrapped


def tell(outgoing: Outgoing, text: str, name: str = "ticker") -> None:
    outgoing.put(name, text, Scope.NOTIFICATION)


async def sent(outgoing: Outgoing, count: int) -> list[str]:
    """The next messages that leave, so many."""
    texts: list[str] = []
    enough = asyncio.Event()

    async def send(text: str) -> None:
        texts.append(text)
        await asyncio.sleep(0)
        if len(texts) == count:
            enough.set()

    writer = asyncio.create_task(outgoing.write(send))
    await asyncio.wait_for(enough.wait(), 10)
    await asyncio.sleep(0)
    writer.cancel()
    return texts


@pytest.mark.parametrize("fault", [{}, {"operation": "*", "kind": "reorder", "times": 1_000_000}])
def test_too_many_messages_are_the_end(fault: dict[str, object]) -> None:
    @run
    async def test() -> None:
        async with opened(**fault) as (outgoing, transport):
            for _ in range(MOST_WAITING):
                tell(outgoing, "x")
            assert not outgoing.is_over
            assert not transport.is_closing()
            tell(outgoing, "x")
            assert outgoing.is_over
            assert transport.is_closing()
            assert not outgoing._waiting
            assert not outgoing._kept_back
            tell(outgoing, "later")
            assert not outgoing._waiting

    test()


@pytest.mark.parametrize("fault", [{}, {"operation": "*", "kind": "reorder", "times": 1_000_000}])
def test_too_many_characters_are_the_end(fault: dict[str, object]) -> None:
    @run
    async def test() -> None:
        async with opened(**fault) as (outgoing, transport):
            for _ in range(MOST_CHARACTERS // MIB):
                tell(outgoing, "x" * MIB)
            assert not outgoing.is_over
            tell(outgoing, "x")
            assert outgoing.is_over
            assert transport.is_closing()

    test()


def test_one_message_may_be_of_any_length_and_what_left_counts_no_more() -> None:
    @run
    async def test() -> None:
        async with opened() as (outgoing, _):
            tell(outgoing, "x" * (MOST_CHARACTERS + 1))
            assert not outgoing.is_over
            assert [len(text) for text in await sent(outgoing, 1)] == [MOST_CHARACTERS + 1]
            for _ in range(3):
                for _ in range(MOST_CHARACTERS // MIB):
                    tell(outgoing, "x" * MIB)
                assert len(await sent(outgoing, MOST_CHARACTERS // MIB)) == MOST_CHARACTERS // MIB
            assert not outgoing.is_over

    test()


def test_what_was_kept_back_counts_once_when_it_leaves() -> None:
    @run
    async def test() -> None:
        async with opened(operation="ticker", kind="reorder", times=2) as (outgoing, _):
            for text in ("a", "b", "c", "d"):
                tell(outgoing, text * (MOST_CHARACTERS // 4))
            assert [text[0] for text in await sent(outgoing, 4)] == ["c", "a", "b", "d"]
            assert outgoing._characters == 0
            assert not outgoing.is_over

    test()


@pytest.mark.parametrize("texts", [["x"] * (LITTLE + 1), ["x" * MIB, "x"]])
def test_there_is_room_again_when_little_waits(texts: list[str]) -> None:
    @run
    async def test() -> None:
        async with opened() as (outgoing, _):
            for text in texts[1:]:
                tell(outgoing, text)
            await outgoing.has_room()
            tell(outgoing, texts[0])
            waiting = asyncio.create_task(outgoing.has_room())
            for _ in range(10):
                await asyncio.sleep(0)
            assert not waiting.done()
            await sent(outgoing, len(texts))
            await asyncio.wait_for(waiting, 5)

    test()


def test_nobody_waits_for_room_on_a_socket_that_is_over() -> None:
    @run
    async def test() -> None:
        async with opened() as (outgoing, transport):
            for _ in range(LITTLE + 1):
                tell(outgoing, "x")
            waiting = asyncio.create_task(outgoing.has_room())
            await asyncio.sleep(0)
            outgoing.hang_up()
            await asyncio.wait_for(waiting, 5)
            assert transport.is_closing()
            await asyncio.wait_for(outgoing.has_room(), 5)

    test()


def test_a_pause_of_a_fault_holds_what_is_behind_it_and_no_more() -> None:
    @run
    async def test() -> None:
        async with opened(operation="ticker", kind="slow", ms=1) as (outgoing, _):
            tell(outgoing, "first", "balance")
            tell(outgoing, "held")
            tell(outgoing, "behind", "balance")
            assert await sent(outgoing, 3) == ["first", "held", "behind"]

    test()
