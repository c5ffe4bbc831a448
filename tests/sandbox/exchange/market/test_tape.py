"""The tape: a past that is a function of seed, symbol and time, joined with what the matching engine trades."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.listing.currencies import LISTED
from sandbox.exchange.listing.symbols import TABLE, Symbol, listed
from sandbox.exchange.tape.market import MARK_MS, MARKS_A_DAY, Market, mixed
from sandbox.exchange.tape.tape import Simulation
from sandbox.exchange.tape.tape_records import Track, bar_of, joined
from sandbox.exchange.tape.tape_sketches import LEAF_MS, sketches
from sandbox.exchange.tape.tape_texts import Texts
from sandbox.world.world import World
from tests.sandbox.trading import order
from tests.sandbox.worlds import DESK, HOUR_MS, START_MS, Ticking, call, opened, refused

MANY = listed(60)
MARKET = Market(1, {currency.code: currency for currency in MANY[0]})
TRACKS = [Track(symbol, place, MARKET, START_MS) for place, symbol in enumerate(MANY[1])]
SIMULATION = Simulation(MARKET)


def trades(world: World, symbol: str = "BTCUSD", **arguments: object) -> list[dict[str, Any]]:
    """The public trades of a symbol."""
    found: list[dict[str, Any]] = call(world, "get_symbol_trades", None, symbol=symbol, **arguments)
    return found


# The simulation ------------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TRACKS), st.integers(-30 * 96, 4000 * 96))
def test_a_bar_is_what_its_trades_come_to(track: Track, passed: int) -> None:
    leaf = START_MS // LEAF_MS + passed
    if not SIMULATION.has(track, leaf):
        return
    made = SIMULATION.trades(track, leaf)
    assert SIMULATION.bar(track, leaf) == bar_of(made)
    assert SIMULATION.count(track, leaf) == len(made)
    assert leaf * LEAF_MS <= made[0].at_ms
    assert made[-1].at_ms < (leaf + 1) * LEAF_MS
    assert all(one.at_ms < other.at_ms and one.id < other.id for one, other in pairwise(made))
    assert all(trade.price > 0 and trade.quantity > 0 for trade in made)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(TRACKS), st.integers(-30, 4000))
def test_the_bar_of_a_day_is_what_its_leaves_come_to(track: Track, passed: int) -> None:
    day = START_MS // DAY_MS + passed
    leaves = SIMULATION.leaves(track, day)
    assert leaves
    assert list(leaves) == sorted(set(leaves))
    assert SIMULATION.day(track, day) == joined([SIMULATION.bar(track, leaf) for leaf in leaves])


@settings(max_examples=25, deadline=None)
@given(st.sampled_from(TABLE), st.integers(0, 40_000), st.integers(0, 2**63))
def test_whole_days_and_single_marks_of_the_path_agree(symbol: Symbol, day: int, seed: int) -> None:
    market, alone = (Market(seed, {currency.code: currency for currency in LISTED}) for _ in range(2))
    marks = range(day * MARKS_A_DAY, (day + 1) * MARKS_A_DAY + 1)
    path = market.path_of_day(symbol, day)
    assert list(path) == [alone.path(symbol, mark) for mark in marks]
    assert all(abs(later - earlier) * 100 <= earlier + 200 for earlier, later in pairwise(path))
    assert path[-1] == market.path_of_day(symbol, day + 1)[0]


def test_a_made_up_currency_moves_in_small_steps_too() -> None:
    track = TRACKS[-1]
    marks = range(START_MS // MARK_MS, START_MS // MARK_MS + 3 * MARKS_A_DAY)
    path = [MARKET.path(track.symbol, mark) for mark in marks]
    assert max(abs(later / earlier - 1) for earlier, later in pairwise(path)) < 0.01
    assert len(set(path)) > 500


def test_trades_happen_where_the_market_is() -> None:
    for track in TRACKS[:24:3]:
        coarse = 4 * 1_000_000 // MARKET.listed_ticks(track.symbol)
        for leaf in range(START_MS // LEAF_MS - 20, START_MS // LEAF_MS):
            for trade in SIMULATION.trades(track, leaf)[::7]:
                bid, ask = MARKET.quotes(track.symbol, trade.at_ms)
                assert bid * (993_000 - coarse) <= trade.price * 1_000_000 <= ask * (1_007_000 + coarse)


def test_numbers_are_not_shared_between_symbols() -> None:
    leaf = START_MS // LEAF_MS - 1
    numbers = [trade.id for track in TRACKS if SIMULATION.has(track, leaf) for trade in SIMULATION.trades(track, leaf)]
    assert len(numbers) > 1_000
    assert len(set(numbers)) == len(numbers)


def test_sketches_are_the_same_in_every_world() -> None:
    sketches.cache_clear()
    first = sketches(7)
    sketches.cache_clear()
    assert sketches(7) == first
    assert joined([bar for track in TRACKS[:1] for bar in [SIMULATION.bar(track, START_MS // LEAF_MS)]]).trades > 0


# What is listed ------------------------------------------------------------------------------------------------------


def test_numbers_are_mixed_as_the_published_generator_mixes_them() -> None:
    """The first three numbers of splitmix64 from the seed 1234567, as its author's reference program gives them."""
    golden = 0x9E3779B97F4A7C15
    numbers = [mixed(1_234_567 + turn * golden & 2**64 - 1) for turn in range(3)]
    assert numbers == [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]


def test_the_newest_hundred_come_first() -> None:
    found = trades(opened())
    assert len(found) == 100
    assert list(found[0]) == ["id", "price", "quantity", "side", "timestamp"]
    assert isinstance(found[0]["id"], int)
    assert all(one["id"] > other["id"] and one["timestamp"] >= other["timestamp"] for one, other in pairwise(found))
    assert {trade["side"] for trade in found} == {"buy", "sell"}
    assert found[0]["timestamp"] <= "2026-11-18T11:06:40.000Z"
    assert len(found[0]["price"].partition(".")[2]) == 2
    assert len(found[0]["quantity"].partition(".")[2]) == 5


def test_without_a_start_the_oldest_come_first_and_reach_back_a_month() -> None:
    world = opened(symbols=30)
    assert trades(world, sort="ASC", limit=1)[0]["timestamp"].startswith("2026-08-10T00:0")
    for symbol in ("BTCUSD", "QAABBTC"):
        assert trades(world, symbol, sort="ASC", limit=1)[0]["timestamp"] < "2026-10-19"


def test_time_adds_trades_and_changes_none() -> None:
    world = opened()
    before = trades(world, limit=1000)
    world.clock.advance(10_000)
    after = trades(world, limit=1000)
    seen = {trade["id"] for trade in before}
    new = [trade for trade in after if trade["id"] > before[0]["id"]]
    assert after[: len(new)] == new
    assert after[len(new) :] == before[: 1000 - len(new)]
    assert all(trade["timestamp"] > "2026-11-18T11:06:40.000Z" for trade in new)
    world.clock.advance(60_000)
    assert len([trade for trade in trades(world, limit=1000) if trade["id"] not in seen]) > 3


def test_both_ends_of_an_interval_are_included() -> None:
    world = opened()
    found = trades(world, limit=50)
    newest, oldest = found[10], found[40]
    by_time = {"from_": oldest["timestamp"], "till": newest["timestamp"]}
    assert trades(world, **by_time) == found[10:41]
    assert trades(world, **by_time, sort="ASC") == found[10:41][::-1]
    by_id = {"by": "id", "from_": oldest["id"], "till": newest["id"]}
    assert trades(world, **by_id) == found[10:41]
    assert trades(world, by="id", from_=oldest["id"] + 1, till=newest["id"] - 1) == found[11:40]
    at_ms = -(-newest["id"] // 1000)
    assert trades(world, from_=at_ms, till=str(at_ms)) == [newest]
    assert trades(world, from_=at_ms + 1, limit=100) == found[:10]
    assert trades(world, from_=newest["timestamp"], till=oldest["timestamp"]) == []
    assert trades(world, by="id", from_=2**62) == trades(world, by="id", till=0) == []


@pytest.mark.parametrize(
    "text",
    ["2026-11-18T10:05Z", "2026-11-18T10:05", "2026-11-18T10:05:00.000Z", "2026-11-18T11:05+01:00", 1794996300000],
)
def test_an_instant_may_be_written_loosely(text: object) -> None:
    found = trades(opened(), from_=text, sort="ASC", limit=1)
    assert "2026-11-18T10:05:00.000Z" <= found[0]["timestamp"] < "2026-11-18T10:06"


def test_pages_by_offset_and_by_number_are_the_same_trades() -> None:
    world = opened(symbols=40)
    for symbol, limit in (("BTCUSD", 1000), ("QAAABTC", 37)):
        whole = trades(world, symbol, limit=1000, sort="ASC") + trades(
            world, symbol, limit=1000, sort="ASC", offset=1000
        )
        paged: list[dict[str, Any]] = []
        while len(paged) < len(whole):
            start = paged[-1]["id"] + 1 if paged else 0
            page = trades(world, symbol, sort="ASC", by="id", from_=start, limit=limit)
            if not page:
                break
            paged += page
        assert paged[: len(whole)] == whole
        newest = trades(world, symbol, limit=200)
        assert [trade for skip in range(0, 200, 40) for trade in trades(world, symbol, limit=40, offset=skip)] == newest
    assert trades(world, "QAAABTC", offset=100_000) == []
    far = trades(world, offset=100_000, limit=1)
    assert len(trades(world, by="id", from_=far[0]["id"], limit=1, sort="ASC", offset=99_999)) == 1
    assert trades(world, by="id", from_=far[0]["id"], sort="ASC", limit=1, offset=100_000) == trades(world, limit=1)


def test_several_and_all_symbols_are_keyed_by_symbol() -> None:
    world = opened()
    some = call(world, "get_trades", None, symbols="ethbtc,BTCUSD,ethbtc", limit=3)
    assert list(some) == ["ETHBTC", "BTCUSD"]
    assert some["BTCUSD"] == trades(world, limit=3)
    every = call(world, "get_trades", None, limit=1)
    assert list(every) == [symbol.id for symbol in TABLE]
    assert all(len(found) == 1 for found in every.values())
    nothing = call(world, "get_trades", None, till="2020-01-01")
    assert list(nothing) == list(every)
    assert not any(nothing.values())


def test_what_is_odd_is_refused() -> None:
    world = opened()
    refused(world, "get_symbol_trades", 2001, None, symbol="NOPE")
    refused(world, "get_trades", 2001, None, symbols=["ETHBTC", "NOPE"])
    refused(world, "get_symbol_trades", 10001, None)
    for name, values in {
        "limit": (1001, -1, "many", True),
        "offset": (-1, 100_001, "x"),
        "sort": ("asc", "UP", 1),
        "by": ("time", "index"),
        "from": ("yesterday", -1, True, [1]),
        "till": ("2026-13-01", "NaN", "1e3"),
    }.items():
        for value in values:
            refused(world, "get_symbol_trades", 10001, None, symbol="ETHBTC", **{name: value})
    refused(world, "get_symbol_trades", 10001, None, symbol="ETHBTC", by="id", from_="2026-11-18T10:05Z")
    refused(world, "get_trades", 10001, None, limit=1_001)


def test_what_was_asked_for_lately_is_kept() -> None:
    tape = opened().exchange.tape
    texts, track, written = Texts(tape), tape.track("BTCUSD"), list[str]()

    def ask(question: str) -> None:
        texts.text(question, track, START_MS, lambda: (written.append(question), question)[1])

    for question in "abcda":
        ask(question)
    assert written == list("abcd")
    ask("e")  # more than are kept: b was not asked for longest
    for question in "acde":
        ask(question)
    assert written == list("abcde")
    ask("b")
    assert written == list("abcdeb")


# The same past everywhere --------------------------------------------------------------------------------------------


def test_a_second_world_and_a_restart_show_the_same_past(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    clock.at_ms += 3 * HOUR_MS
    seen = trades(world, limit=1000), trades(world, "EOSETH", sort="ASC"), call(world, "get_tickers", None)
    world.close()
    again = opened(tmp_path, clock)
    assert (trades(again, limit=1000), trades(again, "EOSETH", sort="ASC"), call(again, "get_tickers", None)) == seen
    other = opened(clock=Ticking(START_MS))
    other.clock.advance(3 * HOUR_MS)
    assert trades(other, limit=1000) == seen[0]
    assert trades(opened(clock=Ticking(clock.at_ms), seed=2)) != seen[0][:100]
    again.close()


def test_a_trade_of_the_matching_engine_is_on_the_tape_for_good(tmp_path: Path) -> None:
    clock = Ticking()
    world = opened(tmp_path, clock)
    volume = call(world, "get_ticker", None, symbol="ETHBTC")["volume"]
    made = order(world, "buy", "2.5", type="market")
    facts = made["tradesReport"]
    clock.at_ms += 1
    found = trades(world, "ETHBTC", limit=len(facts))[::-1]
    assert [(each["id"], each["price"], each["quantity"]) for each in found] == [
        (each["id"], each["price"], each["quantity"]) for each in facts
    ]
    assert {each["side"] for each in found} == {"buy"}
    assert found[0]["timestamp"] == facts[0]["timestamp"]
    ticker = call(world, "get_ticker", None, symbol="ETHBTC")
    assert ticker["last"] == facts[-1]["price"]
    assert float(ticker["volume"]) == pytest.approx(float(volume) + 2.5, abs=0.5)
    clock.at_ms += HOUR_MS
    listed = trades(world, "ETHBTC", by="id", from_=facts[0]["id"], limit=20, sort="ASC")
    assert [each["id"] for each in listed[: len(facts)]] == [each["id"] for each in facts]
    assert [each["id"] for each in call(world, "get_trade_history", DESK, sort="ASC")] == [each["id"] for each in facts]
    world.close()
    again = opened(tmp_path, clock)
    assert trades(again, "ETHBTC", by="id", from_=facts[0]["id"], limit=20, sort="ASC") == listed
    assert all(one["id"] < other["id"] for one, other in pairwise(listed))
    again.close()


def test_a_still_market_adds_no_trades_but_those_of_customers() -> None:
    clock = Ticking()
    world = opened(clock=clock, still=True, traders=True)
    before = trades(world)
    clock.at_ms += 40 * DAY_MS
    assert trades(world) == before
    made = order(world, "sell", "1", type="market")["tradesReport"]
    assert [each["id"] for each in trades(world, "ETHBTC", limit=len(made))][::-1] == [each["id"] for each in made]
    assert trades(world) == before
