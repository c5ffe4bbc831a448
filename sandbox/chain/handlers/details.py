"""A transaction in the words of the service's index: what it spends, what became of its outputs, what it paid.

Source: chain data, Transaction details; supplement 1.1 and 1.2. Inputs are valued in satoshis, as numbers; outputs in
coins, as texts; that is the wire's own way.
"""

from collections.abc import Callable, Mapping

from chaindata.wire.decoding import coins
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.steps import Kind
from chaindata.wire.transactions import Input, Output, Transaction
from sandbox.chain.handlers.naming import PRINTED
from sandbox.chain.node.terms import Occurrence
from sandbox.chain.state import Chain

Members = dict[str, object]
_UNCONFIRMED = -1


def details(chain: Chain, occurrence: Occurrence) -> Members:
    """The members of a transaction of the chain or the mempool."""
    return _members(chain, occurrence, _input)


def listed(chain: Chain, occurrence: Occurrence) -> Members:
    """The same as lists of an address have it: inputs as rows of the index, valued in coins."""
    return _members(chain, occurrence, _row)


def _members(chain: Chain, occurrence: Occurrence, written: Callable[[Input, int, Output | None], Members]) -> Members:
    transaction = occurrence.transaction
    spent = _spent(chain, transaction)
    return {
        "txid": transaction.txid,
        "version": transaction.version,
        "locktime": transaction.locktime,
        "vin": [written(each, n, spent[n]) for n, each in enumerate(transaction.inputs)],
        "vout": [_output(chain, occurrence, n) for n in range(len(transaction.outputs))],
        **_place(chain, occurrence),
        **_totals(transaction, spent),
        "size": transaction.size,
    }


def _spent(chain: Chain, transaction: Transaction) -> list[Output | None]:
    """What each input spends; nothing for that of a coinbase."""
    return [None if each.is_coinbase else chain.output(each.txid_bytes, each.index) for each in transaction.inputs]


def _input(spending: Input, n: int, spent: Output | None) -> Members:
    if spent is None:
        return {"coinbase": spending.script.hex(), "sequence": spending.sequence, "n": n}
    return {
        "txid": spending.txid,
        "vout": spending.index,
        "sequence": spending.sequence,
        "n": n,
        "scriptSig": {"hex": spending.script.hex(), "asm": steps.asm(spending.script, unlocks=True)},
        "value": spent.value_sat,
        **_owner(spent),
    }


def _owner(spent: Output) -> Members:
    meaning = steps.meaning_of(spent.script, PRINTED)
    if meaning.kind is Kind.MULTISIG or not meaning.addresses:
        return {}
    (address,) = meaning.addresses
    return {"legacyAddress": address.legacy_address, "cashAddress": address.cash_address}


def _row(spending: Input, n: int, spent: Output | None) -> Members:
    """An input as a row of the index, which has more and values it otherwise."""
    members = _input(spending, n, spent)
    if spent is None:
        return members
    return members | {
        "addr": members.get("legacyAddress"),
        "valueSat": spent.value_sat,
        "value": coins(spent.value_sat),
        "doubleSpentTxID": None,
    }


def _output(chain: Chain, occurrence: Occurrence, n: int) -> Members:
    output = occurrence.transaction.outputs[n]
    spend = chain.spender(occurrence.transaction.txid_bytes, n)
    height = _UNCONFIRMED if spend is not None and spend.height is None else spend and spend.height
    return {
        "value": f"{coins(output.value_sat):f}",
        "n": n,
        "scriptPubKey": locking(output.script),
        "spentTxId": spend and spend.txid_bytes[::-1].hex(),
        "spentIndex": spend and spend.n,
        "spentHeight": height,
    }


def locking(script: bytes) -> Members:
    """A locking script; the index knows two types only, and none without a single address."""
    members: Members = {"hex": script.hex(), "asm": steps.asm(script)}
    meaning = steps.meaning_of(script, PRINTED)
    if meaning.kind is Kind.MULTISIG or not meaning.addresses:
        return members
    (address,) = meaning.addresses
    kind = Kind.SCRIPT_HASH if meaning.kind is Kind.SCRIPT_HASH else Kind.KEY_HASH
    return members | {
        "addresses": [address.legacy_address],
        "type": kind.value,
        "cashAddrs": [address.cash_address],
    }


def _place(chain: Chain, occurrence: Occurrence) -> Mapping[str, object]:
    block = occurrence.block
    if block is None:
        entry = chain.mempool.get(occurrence.transaction.txid_bytes)
        entered_ms = entry.entered_ms if entry is not None else 0
        return {"blockheight": _UNCONFIRMED, "confirmations": 0, "time": entered_ms // 1000}
    return {
        "blockhash": block.hash,
        "blockheight": block.height,
        "confirmations": chain.confirmations(block),
        "time": block.header.time,
        "blocktime": block.header.time,
    }


def _totals(transaction: Transaction, spent: list[Output | None]) -> Mapping[str, object]:
    value_out_sat = transaction.value_out_sat
    if transaction.is_coinbase:
        return {"isCoinBase": True, "valueOut": coins(value_out_sat)}
    value_in_sat = sum(each.value_sat for each in spent if each is not None)
    return {
        "valueOut": coins(value_out_sat),
        "valueIn": coins(value_in_sat),
        "fees": coins(value_in_sat - value_out_sat),
    }
