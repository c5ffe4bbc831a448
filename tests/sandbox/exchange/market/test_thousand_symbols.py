"""A thousand symbols are as usable as fifteen: what is asked about all of them is whole, and others come in between.

What it costs is measured in `tools/bench/measure_symbols.py`.
"""

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import pytest
import requests

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.handlers.market import LISTINGS
from sandbox.exchange.tape import tape_lively
from sandbox.in_process import InProcessSandbox
from sandbox.server.rest import exchange
from sandbox.world.world import World
from tests.sandbox.conftest import TIMEOUT_SECONDS
from tests.sandbox.worlds import HOUR_MS, Ticking, call, opened

pytestmark = pytest.mark.thorough("the same with more symbols; what is asked of a few always runs")
QUESTIONS: tuple[tuple[str, dict[str, object]], ...] = (
    ("get_tickers", {}),
    ("get_trades", {}),
    ("get_orderbooks", {}),
    *(("get_candles", {"period": period}) for period in ("M1", "M30", "D1", "1M")),
)


@pytest.fixture(scope="module")
def many() -> World:
    return opened(symbols=1000, clock=Ticking())


def answer(world: World, operation: str, arguments: dict[str, object]) -> str:
    """The answer about all symbols, as text."""
    listing = LISTINGS[operation](world.exchange, arguments)
    return listing.join(map(listing.part, listing.symbols))


@pytest.mark.parametrize(("operation", "arguments"), QUESTIONS)
def test_an_answer_about_all_is_whole_and_the_same_again(
    many: World, operation: str, arguments: dict[str, object]
) -> None:
    text = answer(many, operation, arguments)
    assert answer(many, operation, arguments) == text
    assert text.count('"timestamp"') >= 1000


def test_books_of_a_thousand_symbols_are_made_when_somebody_looks() -> None:
    world = opened(symbols=1000)
    assert len(call(world, "get_symbols", None)) == 1000
    assert not world.exchange.pairs


def test_what_is_kept_does_not_grow_with_every_question() -> None:
    clock = Ticking()
    world = opened(clock=clock, symbols=30)
    for number in range(6):
        call(world, "get_candles", None, period="D1", limit=number + 1)
        call(world, "get_trades", None, limit=number + 1)
        clock.at_ms += HOUR_MS
    assert len(world.exchange.texts._texts) <= 4
    for _ in range(2):
        clock.at_ms += 40 * DAY_MS
        call(world, "get_candles", None, period="M30", limit=1000, sort="DESC")
    tape = world.exchange.tape
    assert 0 < len(tape_lively._bars) <= 60_000
    assert len(tape._reported_bars) <= 60_000
    assert tape._simulated_count <= 101_000


# Over HTTP -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def running() -> Iterator[InProcessSandbox]:
    with InProcessSandbox(seed=1, symbols=1000) as sandbox:
        yield sandbox


@pytest.mark.parametrize("path", ["candles?period=D1", "trades", "orderbook"])
def test_others_are_answered_meanwhile(running: InProcessSandbox, path: str) -> None:
    asking = threading.Thread(target=lambda: answers.append(ask(f"/public/{path}")))
    answers: list[Any] = []
    session, meanwhile = requests.Session(), 0

    def ask(address: str) -> Any:
        return requests.get(f"{running.url}/api/2{address}", timeout=TIMEOUT_SECONDS * 6)

    asking.start()
    while asking.is_alive():
        answer = session.get(f"{running.url}/api/2/public/symbol/ETHBTC", timeout=TIMEOUT_SECONDS)
        assert answer.json()["id"] == "ETHBTC"
        meanwhile += 1
    asking.join()
    assert answers[0].status_code == 200
    assert len(answers[0].json()) == 1000
    assert meanwhile >= 5


def test_an_order_that_comes_in_between_is_matched_and_journaled() -> None:
    clock = Ticking()
    world = opened(clock=clock, symbols=200)
    listing = world.listing("get_orderbooks", {"limit": "1"})

    async def both() -> tuple[bytes, Any]:
        writing = asyncio.create_task(exchange.written(world, listing))
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
        writing = asyncio.create_task(exchange.written(world, listing))
        await asyncio.sleep(0)
        world.control("reset", {"seed": 2})
        return await writing

    whole = asyncio.run(both())
    assert whole.count(b'":[') == 200
