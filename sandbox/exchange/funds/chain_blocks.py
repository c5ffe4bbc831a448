"""The sandbox's chain as time passes: a block every `block_seconds`, and transactions as they come.

Blocks that time alone makes are not in the journal: a world that is opened again makes them again at the same instants.
After a long gap only the first 500 of them are made, and the instant of the next one leaps to the present, which is
journaled; marks in the journal after each 100 blocks keep whatever was told of the chain within these 500.
"""

from collections.abc import Mapping

from chaindata.wire.transactions import Transaction
from sandbox.chain.node.blocks import Block
from sandbox.exchange.state import Exchange

BLOCK = "chain_block"  # the timer
BROADCAST, LEAP, MARK = "chain-broadcast", "chain-leap", "chain-mark"  # in the journal
MOST_CAUGHT_UP = 500
MARK_EVERY = 100


# Time ----------------------------------------------------------------------------------------------------------------


def begin(exchange: Exchange) -> None:
    """From now on a block comes every `block_seconds`."""
    exchange.pace.last_ms = exchange.moment_ms
    _await(exchange, exchange.moment_ms + exchange.config.block_ms)


def come(exchange: Exchange, turn: int) -> None:
    """A block's time has come, unless its instant was moved meanwhile."""
    if turn != exchange.pace.turn:
        return
    exchange.pace.last_ms = exchange.moment_ms
    _await(exchange, exchange.moment_ms + exchange.config.block_ms)
    mine(exchange)
    if exchange.chain.tip.height % MARK_EVERY == 0 and not exchange.recorded_fills.replaying:
        exchange.happen(MARK, mark, height=exchange.chain.tip.height)


def pace_changed(exchange: Exchange) -> None:
    """`block_seconds` is another one: the next block comes so long after the last one, now at the earliest."""
    _await(exchange, max(exchange.moment_ms, exchange.pace.last_ms + exchange.config.block_ms))


def gap_before(exchange: Exchange, now_ms: int) -> int | None:
    """The instant of the last block to be caught up with when too many are due by now; None when all can be."""
    last_ms = exchange.pace.due_ms + (MOST_CAUGHT_UP - 1) * exchange.config.block_ms
    return last_ms if last_ms + exchange.config.block_ms <= now_ms else None


def leap_to(exchange: Exchange, due_ms: int) -> None:
    """Lets the next block come at `due_ms`, and tells the journal."""
    exchange.happen(LEAP, leap, due_ms=due_ms)


def leap(exchange: Exchange, arguments: Mapping[str, object]) -> None:
    """The next block comes at `due_ms`."""
    due_ms = arguments["due_ms"]
    if not isinstance(due_ms, int) or due_ms < exchange.moment_ms:
        raise ValueError("no instant for a block")
    _await(exchange, due_ms)


def mark(exchange: Exchange, arguments: Mapping[str, object]) -> None:
    """Nothing happens: the journal only tells that the world lived up to here."""


def leap_when_replaying(exchange: Exchange, until_ms: int) -> None:
    """Skips the gap before an entry that no journal of a world with a chain has: it was begun before there was one."""
    if exchange.pace.due_ms + 2 * MOST_CAUGHT_UP * exchange.config.block_ms <= until_ms:
        _await(exchange, until_ms)


def _await(exchange: Exchange, due_ms: int) -> None:
    exchange.pace.turn += 1
    exchange.pace.due_ms = due_ms
    exchange.timers.set(due_ms, BLOCK, "", exchange.pace.turn)


# Changes -------------------------------------------------------------------------------------------------------------


def mine(exchange: Exchange) -> Block:
    """The next block, now."""
    return exchange.chain.mine(at_ms=exchange.moment_ms)


def broadcast(exchange: Exchange, raw: bytes) -> Transaction:
    """Takes a transaction into the mempool; raises `sandbox.chain.node.terms.Refused`."""
    return exchange.chain.accept(raw, at_ms=exchange.moment_ms)


def live_broadcast(exchange: Exchange, arguments: Mapping[str, object]) -> None:
    """A broadcast lived again. Its scripts were run when it came, by the rules of then, and nobody changed it since."""
    exchange.chain.accept(bytes.fromhex(str(arguments["hex"])), at_ms=exchange.moment_ms, runs_scripts=False)
