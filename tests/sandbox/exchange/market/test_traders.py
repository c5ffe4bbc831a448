"""The simulated traders: two-sided books around the market, never crossed, repeatable, and off when it is still."""

from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.orders.matching import BUY, SELL
from sandbox.exchange.traders.traders_ladder import LEVELS
from sandbox.world.world import World
from tests.sandbox.trading import order
from tests.sandbox.worlds import HOUR_MS, START_MS, Ticking, call, opened, picture


def book(world: World, symbol: str = "ETHBTC", **arguments: object) -> dict[str, Any]:
    """The order book of a symbol."""
    found: dict[str, Any] = call(world, "get_orderbook", None, symbol=symbol, **({"limit": 0} | arguments))
    return found


def prices(levels: list[dict[str, str]]) -> list[Decimal]:
    return [Decimal(level["price"]) for level in levels]


def check_book(found: dict[str, Any], symbol: dict[str, Any]) -> None:
    """What holds for every book that nobody but the traders is in."""
    asks, bids = prices(found["ask"]), prices(found["bid"])
    assert asks
    assert bids
    assert bids[0] < asks[0]
    assert asks == sorted(set(asks))
    assert bids == sorted(set(bids), reverse=True)
    assert all(price > 0 and price % Decimal(symbol["tickSize"]) == 0 for price in asks + bids)
    sizes = [Decimal(level["size"]) for level in found["ask"] + found["bid"]]
    assert all(size > 0 and size % Decimal(symbol["quantityIncrement"]) == 0 for size in sizes)


# Books ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("still", [False, True])
def test_every_symbol_has_a_two_sided_book_from_the_start(still: bool) -> None:
    world = opened(symbols=60, still=still, traders=True)
    symbols = {each["id"]: each for each in call(world, "get_symbols", None)}
    books = call(world, "get_orderbooks", None, limit=0)
    assert list(books) == list(symbols)
    for symbol, found in books.items():
        check_book(found, symbols[symbol])
        assert len(found["ask"]) == LEVELS
    assert len(books["BTCUSD"]["bid"]) == LEVELS


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 300 * DAY_MS), st.integers(0, 2**63 - 1), st.lists(st.integers(1, 3 * HOUR_MS), max_size=6))
def test_a_book_is_sound_at_any_time_and_seed(later_ms: int, seed: int, steps: list[int]) -> None:
    clock = Ticking(START_MS + later_ms)
    world = opened(clock=clock, seed=seed)
    symbols = {each["id"]: each for each in call(world, "get_symbols", None)}
    for step_ms in [0, *steps]:
        clock.at_ms += step_ms
        for symbol in ("ETHBTC", "DOGEBTC", "BTCUSD"):
            check_book(book(world, symbol), symbols[symbol])
            ticker = call(world, "get_ticker", None, symbol=symbol)
            offers = book(world, symbol)
            assert (ticker["bid"], ticker["ask"]) == (offers["bid"][0]["price"], offers["ask"][0]["price"])
            last = Decimal(ticker["last"])
            assert Decimal(ticker["bid"]) * Decimal("0.95") < last < Decimal(ticker["ask"]) * Decimal("1.05")


def test_equal_seeds_have_equal_books_whoever_looked_before() -> None:
    clock = Ticking()
    often, late, other = opened(clock=clock), opened(clock=clock), opened(clock=clock, seed=2)
    for _ in range(20):
        book(often)
        book(often, "BTCUSD")
        clock.at_ms += 777
    assert book(often) == book(late)
    assert book(often) != book(other)


def test_a_book_moves_and_most_of_it_stays() -> None:
    clock = Ticking()
    world, seen = opened(clock=clock), []
    for _ in range(30):
        found = book(world)
        seen.append(found)
        assert book(world) == found  # within the second nothing changes
        clock.at_ms += 1_000
    assert len({found["bid"][0]["price"] for found in seen}) > 5
    for earlier, later in pairwise(seen):
        before = {(level["price"], level["size"]) for level in earlier["bid"]}
        after = {(level["price"], level["size"]) for level in later["bid"]}
        assert len(before & after) > LEVELS // 2


def test_what_was_taken_comes_back() -> None:
    clock = Ticking()
    world = opened(clock=clock)
    best = book(world)["ask"][0]
    order(world, "buy", best["size"], best["price"])
    assert book(world)["ask"][0]["price"] > best["price"]
    clock.at_ms += 1_000
    check_book(book(world), call(world, "get_symbol", None, symbol="ETHBTC"))
    assert len(book(world)["ask"]) == LEVELS


def test_traders_keep_to_either_side_of_a_customer_in_the_way() -> None:
    clock = Ticking()
    world = opened(clock=clock)
    bid, ask = (Decimal(book(world)[side][0]["price"]) for side in ("bid", "ask"))
    tick = Decimal("0.000001")
    assert ask - bid > 2 * tick
    made = order(world, "buy", "0.001", bid + tick)
    assert made["status"] == "new"
    assert prices(book(world)["bid"])[0] == bid + tick
    for _ in range(120):
        clock.at_ms += 1_000
        offers = book(world)
        assert prices(offers["bid"])[0] < prices(offers["ask"])[0]


# Without --------------------------------------------------------------------------------------------------------------


def test_a_still_market_is_made_once_and_never_again() -> None:
    clock = Ticking()
    world = opened(clock=clock, still=True, traders=True)
    before = book(world)
    clock.at_ms += 3 * DAY_MS
    assert book(world) | {"timestamp": "", "batchingTime": ""} == before | {"timestamp": "", "batchingTime": ""}
    assert world.due() == world.exchange.pace.due_ms  # the chain's next block alone
    best = before["ask"][0]
    order(world, "buy", best["size"], best["price"])
    clock.at_ms += DAY_MS
    assert book(world)["ask"][0]["price"] == before["ask"][1]["price"]  # what is taken is gone
    resting = order(world, "sell", "1", best["price"])
    clock.at_ms += 40 * DAY_MS
    assert call(world, "get_orders")[0]["id"] == resting["id"]


def test_books_that_nobody_looks_at_cost_nothing() -> None:
    clock = Ticking()
    world = opened(clock=clock, symbols=200)
    call(world, "get_tickers", None)
    call(world, "get_candles", None, limit=1)
    assert len(world.exchange.pairs) == 0
    next_block_ms = world.exchange.pace.due_ms
    assert world.due() == next_block_ms
    call(world, "get_orderbooks", None)
    assert (world.due() or 0) < next_block_ms
    clock.at_ms += 2_000
    world.run_due()
    assert world.due() == next_block_ms  # nobody waits in any of them


def test_traders_leave_no_trace_in_the_journal_and_the_ledger(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    before = world.journal.length, picture(world)[:2]
    for _ in range(50):
        book(world)
        book(world, "BTCUSD")
        clock.at_ms += 10_000
        world.run_due()
    assert (world.journal.length, picture(world)[:2]) == before
    offers = book(world)
    world.close()
    again = opened(tmp_path, clock)
    assert book(again) == offers  # they begin anew from the clock
    again.close()


def test_a_book_has_no_more_orders_than_levels() -> None:
    clock = Ticking()
    world = opened(clock=clock)
    for _ in range(300):
        book(world)
        clock.at_ms += 1_000
    kept = world.exchange.pair("ETHBTC").book
    assert len(kept) == 2 * LEVELS
    assert len(kept.levels(BUY)) == len(kept.levels(SELL)) == LEVELS
