"""Outputs of a transaction: their scripts, and how many of them pay an address exactly, by the transaction's bytes."""

from chaindata.client import ChainClient
from chaindata.wire import addresses, hashing, transactions
from chaindata.wire.hashing import NotHexadecimal
from chaindata.wire.records.chain import Output
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import NotATransaction


def count_paying(*, txid: str, address: str, amount_sat: int, client: ChainClient) -> int:
    """How many outputs pay the address exactly this amount; 0 if the service's bytes are not those of the transaction.

    Raises `CallFailed` if the service does not answer, and `NotAnAddress`.
    """
    script = steps.locking(addresses.read(address))
    raw = client.call("get_raw_transaction", txid=txid.lower())
    try:
        transaction = transactions.read(hashing.from_hex(raw, most_bytes=transactions.MOST_BYTES))
    except (NotHexadecimal, NotATransaction, TypeError):
        return 0
    if transaction.txid != txid.lower():
        return 0
    return sum(output.script == script and output.value_sat == amount_sat for output in transaction.outputs)


def script_of(output: Output) -> bytes:
    """The script of an output in an answer; empty if it is no hexadecimal text."""
    try:
        return hashing.from_hex(output.script_pub_key.hex, most_bytes=steps.MOST_BYTES)
    except NotHexadecimal:
        return b""
