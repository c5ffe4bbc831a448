"""Raw transactions and scripts: decoding, fetching, sending (chain data, Raw transactions; supplement 1.5 to 1.9)."""

from collections.abc import Callable, Mapping

from chaindata.wire import decoding, refusals, transactions
from chaindata.wire.hashing import NotHexadecimal, from_hex
from chaindata.wire.refusals import Refusal
from chaindata.wire.transactions import NotATransaction, Transaction
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers.elements import elements, id_bytes, text
from sandbox.chain.handlers.naming import PRINTED
from sandbox.chain.node.terms import Refused

Members = dict[str, object]
_FIRST = "parameter 1"  # the node's name of what it is asked for


# Decoding ------------------------------------------------------------------------------------------------------------


def decode_transaction(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A raw transaction in words, whether the chain has it or not."""
    return _decoded(text(arguments, "hex"))


def decode_transactions(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Several, in their order."""
    return _each("decode_transactions", elements(arguments, "hexes"), _decoded)


def decode_script(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A script in words."""
    return _script(text(arguments, "hex"))


def decode_scripts(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Several, in their order."""
    return _each("decode_scripts", elements(arguments, "hexes"), _script)


def _decoded(written: str) -> Members:
    return decoding.transaction(_read(written), PRINTED)


def _read(written: str) -> Transaction:
    try:
        return transactions.read(from_hex(written, most_bytes=transactions.MOST_BYTES))
    except (NotHexadecimal, NotATransaction):
        raise Refused(refusals.DECODE_FAILED) from None


def _script(written: str) -> Members:
    try:
        return decoding.script(from_hex(written, most_bytes=transactions.MOST_BYTES), PRINTED)
    except NotHexadecimal:
        raise Refused(refusals.NOT_HEXADECIMAL, name="argument", value=written) from None


def _each(operation: str, values: list[str], answer: Callable[[str], object]) -> list[object]:
    """The answer for each element; an empty one fails the call before anything is asked."""
    if "" in values:
        raise Refused(Refusal(400, refusals.EMPTY_ELEMENT[operation]))
    return [answer(each) for each in values]


# Fetching ------------------------------------------------------------------------------------------------------------


def get_raw_transaction(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A transaction of the chain or the mempool: its bytes, or with `verbose` in words."""
    return _fetched(node, text(arguments, "txid"), bool(arguments.get("verbose")))


def get_raw_transactions(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Several, in their order."""
    is_verbose = bool(arguments.get("verbose"))
    return _each("get_raw_transactions", elements(arguments, "txids"), lambda txid: _fetched(node, txid, is_verbose))


def _fetched(node: FullNode, txid: str, is_verbose: bool) -> str | Members:
    txid_bytes, chain = id_bytes(txid, _FIRST), node.chain
    if txid_bytes == chain.genesis.header.merkle_root_bytes:
        raise Refused(refusals.GENESIS_COINBASE)
    occurrence = chain.find(txid_bytes)
    if occurrence is None:
        raise Refused(refusals.NO_SUCH_TRANSACTION)
    raw = occurrence.transaction.raw.hex()
    if not is_verbose:
        return raw
    members: Members = {**decoding.transaction(occurrence.transaction, PRINTED), "hex": raw}
    if occurrence.block is not None:
        members |= {
            "blockhash": occurrence.block.hash,
            "confirmations": chain.confirmations(occurrence.block),
            "time": occurrence.block.header.time,
            "blocktime": occurrence.block.header.time,
        }
    return members


# Sending -------------------------------------------------------------------------------------------------------------


def send_raw_transaction(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Takes a transaction into the mempool after full validation; its id, documented as an array of one."""
    txid = _sent(node, text(arguments, "hex"))
    return txid if node.config.is_observed else [txid]


def send_raw_transactions(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Takes several, one after another; the first refusal ends the call, and what went before it stays sent."""
    return _each("send_raw_transactions", elements(arguments, "hexes"), lambda written: _sent(node, written))


def _sent(node: FullNode, written: str) -> str:
    return node.broadcast(_read(written).raw)


HANDLERS = {
    each.__name__: each
    for each in (
        decode_transaction,
        decode_transactions,
        decode_script,
        decode_scripts,
        get_raw_transaction,
        get_raw_transactions,
        send_raw_transaction,
        send_raw_transactions,
    )
}
