"""A long chain in the sandbox's world: `python -m tools.bench.measure_chain_world`.

10,000 blocks come by the clock, into a journal that holds no block. Measured are the start from that journal, block
details, and the pages of the address that all of them paid. Peers, in the same run: python-bitcoinlib reading the same
blocks from their bytes; and an index of the same transactions in SQLite, from which a page is one query.
"""

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import bitcoin.core

from sandbox.chain.scenarios.author import MINER
from sandbox.chain.wallet import Purse
from sandbox.world.world import World
from tools.bench.rounds import line, spend

BLOCKS, AT_ONCE = 10_000, 500
START_MS = 1_795_000_000_000
QUESTIONS, PAGES = 2_000, 20
SLOWEST_MS = 5  # of block details, the 99th hundredth


def opened(folder: Path) -> World:
    """The world of this folder, on a standing clock and without traders."""
    return World.open(folder, seed=1, still=True, now_ms=lambda: START_MS)


def write(folder: Path) -> None:
    """Lets the blocks come."""
    world = opened(folder)
    for _ in range(BLOCKS // AT_ONCE):
        world.control("clock", {"advance_ms": AT_ONCE * 30_000})
    world.close()


def measure_start(folder: Path) -> World:
    """From the journal, against reading the same blocks from bytes."""
    began = time.process_time()
    world = opened(folder)
    world.run_due()
    ours_ms = (time.process_time() - began) * 1000
    raw = [block.raw for block in map(world.chain.at, range(1, world.chain.tip.height + 1)) if block is not None]
    began = time.process_time()
    for each in raw:
        read = bitcoin.core.CBlock.deserialize(each)
        read.GetHash()
        read.calc_merkle_root()
    peer_ms = (time.process_time() - began) * 1000
    what = f"start with a journal of {world.journal.length} entries and {world.chain.tip.height:,} blocks"
    print(line(what=what, ours_ms=ours_ms, peer="python-bitcoinlib, reading", peer_ms=peer_ms, target=0.5))
    return world


def measure_blocks(world: World) -> None:
    """Details by height, of blocks all over the chain."""
    step = world.chain.tip.height // QUESTIONS
    spent = [
        _once(lambda at=at: world.ask_chain("get_block_by_height", {"height": at * step})) for at in range(QUESTIONS)
    ]  # type: ignore[misc]
    hundredths = statistics.quantiles(spent, n=100)
    verdict = "holds" if hundredths[98] <= SLOWEST_MS else "MISSED"
    line = f"median {hundredths[49]:.3f} ms, p99 {hundredths[98]:.3f} ms"
    print(f"block details: {line} (p99 at most {SLOWEST_MS} ms: {verdict})")


def measure_address(world: World) -> None:
    """The pages of the miner's address, against one query for each in SQLite."""
    script = Purse(1, MINER).script
    address = Purse(1, MINER).address.cash_address
    index = sqlite3.connect(":memory:")
    index.execute("CREATE TABLE touched (script BLOB, height INTEGER, position INTEGER, txid TEXT)")
    history = world.chain.history(script)
    rows = ((script, place.height, place.position, place.txid_bytes[::-1].hex()) for place in history.confirmed)
    index.executemany("INSERT INTO touched VALUES (?, ?, ?, ?)", rows)
    index.execute("CREATE INDEX by_script ON touched (script, height DESC, position DESC)")

    def pages() -> None:
        for page in range(PAGES):
            world.ask_chain("get_address_transactions", {"address": address, "page": page * 50})

    def details() -> None:
        world.ask_chain("get_address_details", {"address": address, "page": 3})

    def queries() -> None:
        for page in range(PAGES):
            index.execute(
                "SELECT txid FROM touched WHERE script = ? ORDER BY height DESC, position DESC LIMIT 10 OFFSET ?",
                (script, page * 500),
            ).fetchall()

    ours_ms, peer_ms = spend(pages, queries, pieces=PAGES)
    what = f"a page of an address with {len(history.confirmed):,} transactions, ten of them whole"
    print(line(what=what, ours_ms=ours_ms, peer="SQLite, their ids alone", peer_ms=peer_ms, target=0.25))
    (details_ms,) = spend(details, pieces=1)
    print(f"its details, a page of 1,000 ids: {details_ms:.3f} ms")


def _once(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    """Write, start, ask."""
    with tempfile.TemporaryDirectory() as place:
        write(Path(place))
        world = measure_start(Path(place))
        measure_blocks(world)
        measure_address(world)
        world.close()


if __name__ == "__main__":
    main()
