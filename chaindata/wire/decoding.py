"""A raw transaction and a script in the words of the node: what `decodeRawTransaction` and `decodeScript` answer.

Source: chain data, Decoded raw transaction; supplement 1.2, 1.5, 1.6. Members keep the names and the order of the wire;
amounts are coins with eight places, which the wire writes as numbers.
"""

from decimal import Decimal
from typing import Any

from chaindata.wire.addresses import Network
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.steps import Meaning
from chaindata.wire.transactions import Input, Output, Transaction

SAT_PER_COIN = 100_000_000
_PLACES = 8


def coins(value_sat: int) -> Decimal:
    """An amount of satoshis in coins, exact, with eight places."""
    return Decimal(value_sat).scaleb(-_PLACES)


def transaction(decoded: Transaction, network: Network) -> dict[str, Any]:
    """The members of a decoded transaction."""
    txid = decoded.txid
    return {
        "txid": txid,
        "hash": txid,
        "size": decoded.size,
        "version": decoded.version,
        "locktime": decoded.locktime,
        "vin": [input_members(each) for each in decoded.inputs],
        "vout": [output_members(each, n, network) for n, each in enumerate(decoded.outputs)],
    }


def input_members(spent: Input) -> dict[str, Any]:
    """The members of one input."""
    if spent.is_coinbase:
        return {"coinbase": spent.script.hex(), "sequence": spent.sequence}
    return {
        "txid": spent.txid,
        "vout": spent.index,
        "scriptSig": {"asm": steps.asm(spent.script, unlocks=True), "hex": spent.script.hex()},
        "sequence": spent.sequence,
    }


def output_members(output: Output, n: int, network: Network) -> dict[str, Any]:
    """The members of the output with the number `n`."""
    return {"value": coins(output.value_sat), "n": n, "scriptPubKey": locking_script(output.script, network)}


def locking_script(raw: bytes, network: Network) -> dict[str, Any]:
    """The members of a script that locks an output."""
    return {"asm": steps.asm(raw), "hex": raw.hex(), **_members(steps.meaning_of(raw, network))}


def script(raw: bytes, network: Network) -> dict[str, Any]:
    """The members of a decoded script, its own address among them unless it pays to a script hash already."""
    meaning = steps.meaning_of(raw, network)
    members: dict[str, Any] = {"asm": steps.asm(raw), **_members(meaning)}
    if meaning.kind is not steps.Kind.SCRIPT_HASH:
        members["p2sh"] = steps.script_hash_address(raw, network).cash_address
    return members


def _members(meaning: Meaning) -> dict[str, Any]:
    if not meaning.addresses:
        return {"type": meaning.kind.value}
    return {
        "reqSigs": meaning.signatures,
        "type": meaning.kind.value,
        "addresses": [address.cash_address for address in meaning.addresses],
    }
