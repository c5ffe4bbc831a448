"""A thousand symbols are as usable as fifteen: what is asked about all of them takes a moment, and nobody else waits.

Limits of time are of the processor's, and several times what is usual, so that a busy machine does not fail them.
"""

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from sandbox import slices
from sandbox.clock import DAY_MS
from sandbox.handlers.market import LISTINGS
from sandbox.in_process import InProcessSandbox
from sandbox.world import World
from tests.sandbox.conftest import TIMEOUT_SECONDS
from tests.sandbox.worlds import HOUR_MS, Ticking, call, opened

FIRST_SECONDS = 6.0
AGAIN_SECONDS = 1.0
QUESTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("get_tickers", {}),
    ("get_trades", {}),
    ("get_orderbooks", {}),
    *(("get_candles", {"period": period}) for period in ("M1", "M30", "D1", "1M")),
)


@pytest.fixture(scope="module")
def many() -> World:
    return opened(symbols=1000, clock=Ticking())


def seconds(world: World, operation: str, arguments: dict[str, object]) -> tuple[float, str]:
    """How much of the processor an answer about all symbols takes, and the answer."""
    began = time.process_time()
    listing = LISTINGS[operation](world, arguments)
    text = listing.whole(map(listing.part, listing.symbols))
    return time.process_time() - began, text


@pytest.mark.parametrize(("operation", "arguments"), QUESTIONS)
def test_an_answer_about_all_takes_a_moment(many: World, operation: str, arguments: dict[str, object]) -> None:
    first, text = seconds(many, operation, arguments)
    again, same = seconds(many, operation, arguments)
    assert text == same
    assert text.count('"timestamp"') >= 1000
    assert first < FIRST_SECONDS
    assert again < AGAIN_SECONDS


def test_a_world_of_a_thousand_symbols_begins_at_once_and_small() -> None:
    began = time.process_time()
    world = opened(symbols=1000)
    assert len(call(world, "get_symbols", None)) == 1000
    assert time.process_time() - began < 1
    assert not world.exchange.pairs  # books are made when somebody looks


def test_what_is_kept_does_not_grow_with_every_question() -> None:
    clock = Ticking()
    world = opened(clock=clock, symbols=30)
    for number in range(6):
        call(world, "get_candles", None, period="D1", limit=number + 1)
        call(world, "get_trades", None, limit=number + 1)
        clock.at_ms += HOUR_MS
    assert len(world.exchange.texts._kept) <= 4
    for _ in range(2):
        clock.at_ms += 40 * DAY_MS
        call(world, "get_candles", None, period="M30", limit=1000, sort="DESC")
    tape = world.exchange.tape
    assert len(tape._bars) <= 60_000
    assert tape._made_trades <= 101_000


# Over HTTP -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def running() -> Iterator[InProcessSandbox]:
    with InProcessSandbox(seed=1, symbols=1000) as sandbox:
        yield sandbox


@pytest.mark.parametrize("path", ["candles?period=D1", "trades", "orderbook"])
def test_others_are_answered_meanwhile(running: InProcessSandbox, path: str) -> None:
    asked = threading.Thread(target=lambda: answers.append(ask(f"/public/{path}")))
    answers: list[Any] = []
    session, waited = requests.Session(), []

    def ask(address: str) -> Any:
        return requests.get(f"{running.url}/api/2{address}", timeout=TIMEOUT_SECONDS * 6)

    asked.start()
    while asked.is_alive():
        began = time.perf_counter()
        answer = session.get(f"{running.url}/api/2/public/symbol/ETHBTC", timeout=TIMEOUT_SECONDS)
        assert answer.json()["id"] == "ETHBTC"
        waited.append(time.perf_counter() - began)
    asked.join()
    assert answers[0].status_code == 200
    assert len(answers[0].json()) == 1000
    assert len(waited) >= 5
    assert sorted(waited)[len(waited) // 2] < 0.3


def test_an_order_that_comes_in_between_is_matched_and_journaled() -> None:
    clock = Ticking()
    world = opened(clock=clock, symbols=200)
    listing = world.listing("get_orderbooks", {"limit": "1"})

    async def both() -> tuple[bytes, Any]:
        writing = asyncio.create_task(slices.written(world, listing))
        await asyncio.sleep(0)
        made = call(world, "create_order", symbol="BTCUSD", side="buy", quantity="0.1", type="market")
        return await writing, made

    body, made = asyncio.run(both())
    assert made["status"] == "filled"
    assert body.startswith(b'{"ETHBTC":{"symbol":"ETHBTC"')
    assert body.count(b'"batchingTime"') == 200


def test_a_world_that_is_begun_again_does_not_disturb_an_answer() -> None:
    world = opened(symbols=200)
    listing = world.listing("get_candles", {})

    async def both() -> bytes:
        writing = asyncio.create_task(slices.written(world, listing))
        await asyncio.sleep(0)
        world.control("reset", {"seed": 2})
        return await writing

    whole = asyncio.run(both())
    assert whole.count(b'":[') == 200
