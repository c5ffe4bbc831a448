"""Reading headers from the service: those up to its best block, and those below the lowest stored one.

Headers are requested by their hashes and must hash to them, so the service can leave headers out but can't invent any.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chaindata.client import ChainClient
from chaindata.headers.chain import CannotFollow, OtherChain
from chaindata.headers.models import ChainHeader
from chaindata.wire import headers
from chaindata.wire.headers import Header
from chaindata.wire.records.chain import Block
from wire import records
from wire.errors import BadReply

WINDOW = 288  # headers that a new desk starts with: two days at ten minutes a block
MOST_AT_ONCE = 100  # headers that one round reads; the next round reads more
MOST_WALKED = 500  # headers from a new tip down to a stored one
_FIRST_STEP_DOWN = 4
_STEP_DOWN = 20


@dataclass(frozen=True, slots=True)
class Path:
    """Headers, the lowest first, and the height of the first. `first_work` is given if no header below is stored."""

    headers: list[Header]
    first_height: int
    first_work: int | None = None


def up_to(client: ChainClient, *, height: int, best_hash: str, tip: ChainHeader | None) -> Path:
    """The headers above a stored one up to the best one; the last `WINDOW` of them if none is stored yet.

    Raises `CannotFollow` if the service's answers do not fit together, because its chain moved meanwhile or worse, and
    `OtherChain` if no common header was found within `MOST_WALKED`.
    """
    first = height if tip is None else min(tip.height + 1, height)
    first = max(first, 1)
    if tip is None:
        first = max(height - WINDOW + 1, 1)
    last = min(height, first + MOST_AT_ONCE - 1)
    path = _between(client, first, last, best_hash if last == height else None)
    if tip is None:
        return _beginning(client, path, first)
    step = _FIRST_STEP_DOWN
    while not ChainHeader.objects.filter(hash=path[0].previous_hash).exists():
        if first <= 1 or len(path) > MOST_WALKED:
            raise OtherChain("The service's chain shares no block with the chain tracked here.")
        lower = max(first - step, 1)
        path, first, step = [*_below(client, path[0], first, lower), *path], lower, _STEP_DOWN
    return Path(path, first)


def below(client: ChainClient, *, above: ChainHeader, height: int) -> list[Header]:
    """The headers from `height` up to the parent of a stored header."""
    header = headers.read(bytes.fromhex(above.raw))
    return _below(client, header, above.height, height)


def _beginning(client: ChainClient, path: list[Header], first: int) -> Path:
    """The headers that a new desk starts with: from the genesis block if it is near, else with the service's work."""
    if first == 1:
        genesis = _by_hash(client, [path[0].previous_hash])[0]
        return Path([genesis, *path], 0, genesis.work)
    answer = client.call("get_block_header", hash=path[0].hash, verbose=True)
    try:
        return Path(path, first, int(answer.chainwork, 16))
    except (AttributeError, ValueError):
        raise CannotFollow("The chain-data service does not report its chain's total work.") from None


def _between(client: ChainClient, first: int, last: int, best_hash: str | None) -> list[Header]:
    """The headers of these heights; the last one is the best one if its hash is given."""
    if best_hash is not None and first >= last:
        return _by_hash(client, [best_hash])
    path = _by_hash(client, _hashes(client, range(first, last + 1)))
    if best_hash is not None and path[-1].hash != best_hash:
        raise CannotFollow("The chain changed while its headers were loading.")
    return path


def _below(client: ChainClient, above: Header, height: int, lower: int) -> list[Header]:
    """The headers from `lower` up to the parent of `above`, whose height is given; a genesis has height 0."""
    hashes = [above.previous_hash]
    if height - 1 > lower:
        hashes = [*_hashes(client, range(max(lower, 1), height - 1)), above.previous_hash]
    path = _by_hash(client, hashes)
    if lower == 0 and height > 1:
        path = [*_by_hash(client, [path[0].previous_hash]), *path]
    if path[-1].hash != above.previous_hash:
        raise CannotFollow("The chain changed while its headers were loading.")
    return path


def _hashes(client: ChainClient, heights: Sequence[int]) -> list[str]:
    """The hashes of the blocks of these heights in the service's best chain."""
    parts = client.parts("get_blocks_by_height", list(heights))
    if len(parts) != len(heights):
        raise CannotFollow("The chain-data service did not return a block for every requested height.")
    blocks: list[Block] = [records.decode(parts[height], Block) for height in heights]
    return [block.hash for block in blocks]


def _by_hash(client: ChainClient, hashes: Sequence[str]) -> list[Header]:
    parts = client.parts("get_block_headers", list(hashes))
    try:
        return [headers.read(bytes.fromhex(records.decode(parts[name], str))) for name in hashes]
    except KeyError:
        raise CannotFollow("The chain-data service did not return every requested header of its own chain.") from None
    except ValueError as problem:
        raise BadReply(f"a header is unreadable: {problem}"[:200]) from None
