"""The chain as its node knows it: tip, headers, tips, mempool, unspent outputs, proofs (chain data, Blockchain;
supplement 1.3 to 1.5 and 1.8).

Where the specification and real servers differ in the bulk forms of proofs, `chain_proofs_as_specified` decides.
"""

from chaindata.wire import decoding, hashing, headers, proofs, refusals
from chaindata.wire.proofs import NotAProof
from chaindata.wire.refusals import Refusal
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import Arguments
from sandbox.chain.handlers.blocks import HASH_CHARACTERS, neighbours
from sandbox.chain.handlers.elements import elements, id_bytes, text
from sandbox.chain.handlers.naming import PRINTED
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.mempool import MOST_BYTES, Entry
from sandbox.chain.node.terms import Coin, Refused
from sandbox.chain.state import Chain

MEMORY_OF_A_BYTE = 3  # of a waiting transaction, all that a node keeps about it included
LEAST_FEE_SAT = 1_000  # for a thousand bytes
CUT_SHORT = Refusal(400, "CDataStream::read(): end of data: iostream error", -1)
_SOFTFORKS = (("bip34", 2), ("bip66", 3), ("bip65", 4))


# The tip -------------------------------------------------------------------------------------------------------------


def get_best_block_hash(node: FullNode, arguments: Arguments) -> object:
    """The hash of the tip."""
    return node.chain.tip.hash


def get_block_count(node: FullNode, arguments: Arguments) -> object:
    """The height of the tip."""
    return node.chain.tip.height


def get_difficulty(node: FullNode, arguments: Arguments) -> object:
    """How hard the tip's target is, the easiest of the main chain being 1."""
    return headers.difficulty_of(node.chain.tip.header.bits)


def get_blockchain_info(node: FullNode, arguments: Arguments) -> object:
    """What the node knows of its chain."""
    chain = node.chain
    tip = chain.tip
    return {
        "chain": chain.NETWORK.value,
        "blocks": tip.height,
        "headers": max(each.block.height for each in chain.tips()),
        "bestblockhash": tip.hash,
        "difficulty": headers.difficulty_of(tip.header.bits),
        "mediantime": chain.median_time_s(tip),
        "verificationprogress": 1,
        "chainwork": headers.chainwork_text(tip.chainwork),
        "pruned": False,
        "softforks": [{"id": id_, "version": version, "reject": {"status": True}} for id_, version in _SOFTFORKS],
    }


def get_chain_tips(node: FullNode, arguments: Arguments) -> object:
    """The ends of all branches, the highest first."""
    return [
        {"height": tip.block.height, "hash": tip.block.hash, "branchlen": tip.branch_length, "status": tip.status}
        for tip in node.chain.tips()
    ]


# Headers -------------------------------------------------------------------------------------------------------------


def get_block_header(node: FullNode, arguments: Arguments) -> object:
    """A header of any branch, in hexadecimal or in words."""
    return _header(node.chain, text(arguments, "hash"), arguments.get("verbose") is True)


def get_block_headers(node: FullNode, arguments: Arguments) -> object:
    """Several headers, in the order in which they were asked for."""
    hashes = _hashes(arguments, "hashes", refusals.BAD_ELEMENT["get_block_headers"])
    return [_header(node.chain, each, arguments.get("verbose") is True) for each in hashes]


def _header(chain: Chain, block_hash: str, verbose: bool) -> object:
    block = chain.block(block_hash)
    if block is None:
        raise Refused(refusals.BLOCK_NOT_FOUND)
    return _in_words(chain, block) if verbose else block.header.raw.hex()


def _in_words(chain: Chain, block: Block) -> dict[str, object]:
    header = block.header
    return {
        "hash": block.hash,
        "confirmations": chain.confirmations(block),
        "height": block.height,
        "version": header.version,
        "versionHex": f"{header.version & 0xFFFFFFFF:08x}",
        "merkleroot": header.merkle_root,
        "time": header.time,
        "mediantime": chain.median_time_s(block),
        "nonce": header.nonce,
        "bits": f"{header.bits:08x}",
        "difficulty": headers.difficulty_of(header.bits),
        "chainwork": headers.chainwork_text(block.chainwork),
        **neighbours(chain, block),
    }


# The mempool ---------------------------------------------------------------------------------------------------------


def get_mempool_entry(node: FullNode, arguments: Arguments) -> object:
    """A transaction that waits."""
    return _entry(node.chain, id_bytes(text(arguments, "txid"), "parameter 1"))


def get_mempool_entries(node: FullNode, arguments: Arguments) -> object:
    """Several of them, in the order in which they were asked for."""
    txids = _hashes(arguments, "txids", refusals.BAD_ELEMENT["get_mempool_entries"])
    return [_entry(node.chain, id_bytes(each, "parameter 1")) for each in txids]


def get_mempool_info(node: FullNode, arguments: Arguments) -> object:
    """The mempool as a whole. Its use of memory is estimated."""
    mempool = node.chain.mempool
    return {
        "size": len(mempool),
        "bytes": mempool.bytes,
        "usage": MEMORY_OF_A_BYTE * mempool.bytes,
        "maxmempool": MEMORY_OF_A_BYTE * MOST_BYTES,
        "mempoolminfee": decoding.coins(LEAST_FEE_SAT),
    }


def get_raw_mempool(node: FullNode, arguments: Arguments) -> object:
    """The ids of all that waits, or each with its entry."""
    chain = node.chain
    if arguments.get("verbose") is True:
        return {entry.txid: _entry_members(chain, entry) for entry in chain.mempool}
    return [entry.txid for entry in chain.mempool]


def _entry(chain: Chain, txid_bytes: bytes) -> dict[str, object]:
    entry = chain.mempool.get(txid_bytes)
    if entry is None:
        raise Refused(refusals.NOT_IN_MEMPOOL)
    return _entry_members(chain, entry)


def _entry_members(chain: Chain, entry: Entry) -> dict[str, object]:
    ancestry, descent = chain.mempool.ancestry(entry), chain.mempool.descent(entry)
    fee = decoding.coins(entry.fee_sat)
    return {
        "fees": {
            "base": fee,
            "modified": fee,
            "ancestor": decoding.coins(ancestry.fees_sat),
            "descendant": decoding.coins(descent.fees_sat),
        },
        "size": entry.size,
        "fee": fee,
        "modifiedfee": fee,
        "time": entry.entered_ms // 1000,
        "height": entry.height,
        "startingpriority": 0,
        "currentpriority": 0,
        "descendantcount": descent.count,
        "descendantsize": descent.size,
        "descendantfees": descent.fees_sat,
        "ancestorcount": ancestry.count,
        "ancestorsize": ancestry.size,
        "ancestorfees": ancestry.fees_sat,
        "depends": [hashing.display_hex(each) for each in entry.parents],
        "spentby": [hashing.display_hex(each) for each in entry.children],
    }


# Unspent outputs -----------------------------------------------------------------------------------------------------


def get_tx_out(node: FullNode, arguments: Arguments) -> object:
    """An unspent output; None for one that is spent, also in the mempool when that is asked about, or unknown."""
    chain = node.chain
    txid_bytes, n = id_bytes(text(arguments, "txid"), "txid"), arguments["n"]
    if not isinstance(n, int):
        raise Refused(refusals.NOT_AN_INTEGER)
    coin = chain.coin(txid_bytes, n)
    if arguments.get("mempool", True) is True:
        coin = coin or _waiting(chain, txid_bytes, n)
        if chain.mempool.spender(txid_bytes, n) is not None:
            coin = None
    if coin is None:
        return None
    return {
        "bestblock": chain.tip.hash,
        "confirmations": max(0, chain.tip.height - coin.height + 1),
        "value": decoding.coins(coin.output.value_sat),
        "scriptPubKey": decoding.locking_script(coin.output.script, PRINTED),
        "coinbase": coin.is_coinbase,
    }


def _waiting(chain: Chain, txid_bytes: bytes, n: int) -> Coin | None:
    """An output of the mempool, as it will stand in the next block."""
    entry = chain.mempool.get(txid_bytes)
    if entry is None or n >= len(entry.transaction.outputs):
        return None
    return Coin(entry.transaction.outputs[n], chain.tip.height + 1, False)


# Proofs --------------------------------------------------------------------------------------------------------------


def get_tx_out_proof(node: FullNode, arguments: Arguments) -> object:
    """The proof that a transaction stands in its block."""
    return _proof(node.chain, id_bytes(text(arguments, "txid"), "txid"))


def get_tx_out_proofs(node: FullNode, arguments: Arguments) -> object:
    """Several proofs, in the order in which they were asked for."""
    txids = _hashes(arguments, "txids", refusals.BAD_ELEMENT["get_tx_out_proofs"])
    proof_texts = [_proof(node.chain, id_bytes(each, "txid")) for each in txids]
    if node.config.chain_proofs_as_specified:
        return [{txid: proof} for txid, proof in zip(txids, proof_texts, strict=True)]
    return proof_texts


def verify_tx_out_proof(node: FullNode, arguments: Arguments) -> object:
    """The transactions that a proof shows."""
    return _proven(node.chain, text(arguments, "proof"))


def verify_tx_out_proofs(node: FullNode, arguments: Arguments) -> object:
    """Of each proof the first transaction it shows, None when it does not check out; or all, as specified."""
    proof_texts = elements(arguments, "proofs")
    if not all(proof_texts):
        raise Refused(Refusal(400, refusals.EMPTY_ELEMENT["verify_tx_out_proofs"]), value="")
    proven = [_proven(node.chain, each) for each in proof_texts]
    if node.config.chain_proofs_as_specified:
        return [{proof: txids} for proof, txids in zip(proof_texts, proven, strict=True)]
    return [txids[0] if txids else None for txids in proven]


def _proof(chain: Chain, txid_bytes: bytes) -> str:
    occurrence = chain.find(txid_bytes)
    if occurrence is None or occurrence.block is None:
        raise Refused(refusals.NOT_YET_IN_BLOCK)
    return proofs.build(occurrence.block.header, occurrence.block.txids_bytes, {txid_bytes}).raw.hex()


def _proven(chain: Chain, written: str) -> list[str]:
    try:
        proof = proofs.read(hashing.from_hex(written, most_bytes=proofs.MOST_BYTES))
    except hashing.NotHexadecimal:
        raise Refused(refusals.NOT_HEXADECIMAL, name="proof", value=written[:200]) from None
    except NotAProof:
        raise Refused(CUT_SHORT) from None
    try:
        proven = proofs.proven(proof)
    except NotAProof:
        return []
    block = chain.block(proof.header.hash)
    if block is None or not chain.is_active(block):
        raise Refused(refusals.BLOCK_NOT_IN_CHAIN)
    return [each.txid for each in proven] if proof.transactions == len(block.transactions) else []


# Arguments -----------------------------------------------------------------------------------------------------------


def _hashes(arguments: Arguments, name: str, problem: str) -> list[str]:
    """The elements of a bulk call; the first that has not the length of a hash fails it as a whole."""
    hashes = elements(arguments, name)
    for each in hashes:
        if len(each) != HASH_CHARACTERS:
            raise Refused(Refusal(400, problem), value=each)
    return hashes


HANDLERS = {
    function.__name__: function
    for function in (
        get_best_block_hash,
        get_blockchain_info,
        get_block_count,
        get_block_header,
        get_block_headers,
        get_chain_tips,
        get_difficulty,
        get_mempool_entry,
        get_mempool_entries,
        get_mempool_info,
        get_raw_mempool,
        get_tx_out,
        get_tx_out_proof,
        get_tx_out_proofs,
        verify_tx_out_proof,
        verify_tx_out_proofs,
    )
}
