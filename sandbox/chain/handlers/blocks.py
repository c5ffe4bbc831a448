"""Blocks by hash and by height (chain data, Block; supplement 1.3 and 1.8)."""

from chaindata.wire import decoding, headers, refusals
from chaindata.wire.refusals import Refusal
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import Arguments
from sandbox.chain.handlers.elements import elements, text
from sandbox.chain.node.blocks import MARK, Block, subsidy_sat
from sandbox.chain.node.terms import Refused
from sandbox.chain.state import Chain

HASH_CHARACTERS = 64
POOL_NAME, POOL_URL = "Countersign sandbox", "https://sandbox.countersign.example/"  # of the only miner there is


def get_block_by_hash(node: FullNode, arguments: Arguments) -> object:
    """A block of any branch."""
    return _of_hash(node.chain, text(arguments, "hash"))


def get_blocks_by_hash(node: FullNode, arguments: Arguments) -> object:
    """Several blocks, in the order in which they were asked for."""
    hashes = elements(arguments, "hashes")
    for each in hashes:
        if len(each) != HASH_CHARACTERS:
            raise Refused(Refusal(400, refusals.BAD_ELEMENT["get_blocks_by_hash"]), value=each)
    return [_of_hash(node.chain, each) for each in hashes]


def get_block_by_height(node: FullNode, arguments: Arguments) -> object:
    """A block of the active chain."""
    return _of_height(node.chain, arguments["height"])


def get_blocks_by_height(node: FullNode, arguments: Arguments) -> object:
    """Several blocks of the active chain, in the order in which they were asked for."""
    heights = arguments["heights"]
    return [_of_height(node.chain, each) for each in (heights if isinstance(heights, list) else ())]


def _of_hash(chain: Chain, block_hash: str) -> dict[str, object]:
    block = chain.block(block_hash)
    if block is None or not block.has_body:
        raise Refused(refusals.INDEX_HAS_NOT)
    return details(chain, block)


def _of_height(chain: Chain, height: object) -> dict[str, object]:
    block = chain.at(height) if isinstance(height, int) else None
    if block is None:
        raise Refused(refusals.HEIGHT_OUT_OF_RANGE)
    return details(chain, block)


def details(chain: Chain, block: Block) -> dict[str, object]:
    """The members of a block; off the active chain it has -1 confirmations and no next one."""
    members: dict[str, object] = {
        "hash": block.hash,
        "size": block.size,
        "height": block.height,
        "version": block.header.version,
        "merkleroot": block.header.merkle_root,
        "tx": [txid_bytes[::-1].hex() for txid_bytes in block.txids_bytes],
        "time": block.header.time,
        "nonce": block.header.nonce,
        "bits": f"{block.header.bits:08x}",
        "difficulty": headers.difficulty_of(block.header.bits),
        "chainwork": headers.chainwork_text(block.chainwork),
        "confirmations": chain.confirmations(block),
    }
    members |= neighbours(chain, block)
    members |= {
        "reward": decoding.coins(subsidy_sat(block.height)),
        "isMainChain": chain.is_active(block),
        "poolInfo": pool(block),
    }
    return members


def pool(block: Block) -> dict[str, object]:
    """Who found a block, when its coinbase says so; nothing else (supplement 10)."""
    first = block.transactions[0].inputs[0].script if block.has_body else b""
    return {"poolName": POOL_NAME, "url": POOL_URL} if first.endswith(MARK) else {}


def neighbours(chain: Chain, block: Block) -> dict[str, object]:
    """The hashes of the blocks before and after; absent where there is none."""
    members: dict[str, object] = {}
    if block.height:
        members["previousblockhash"] = block.header.previous_hash
    after = chain.next(block)
    if after is not None:
        members["nextblockhash"] = after.hash
    return members


HANDLERS = {
    function.__name__: function
    for function in (get_block_by_hash, get_blocks_by_hash, get_block_by_height, get_blocks_by_height)
}
