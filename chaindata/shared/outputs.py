"""The outputs of a transaction: their scripts, and those that pay an address exactly, counted in its own bytes."""

from chaindata.client import ChainClient
from chaindata.wire import addresses, hashing, transactions
from chaindata.wire.hashing import NotHexadecimal
from chaindata.wire.records.chain import Output
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import NotATransaction


def count_paying(*, txid: str, address: str, amount_sat: int, client: ChainClient) -> int:
    """How many of them there are; 0 when the bytes that the service gives are not those of the transaction.

    Raises `CallFailed` when nobody answers, and `NotAnAddress`.
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
    """The script of an output as the service gives it; none for what is no hexadecimal text."""
    try:
        return hashing.from_hex(output.script_pub_key.hex, most_bytes=steps.MOST_BYTES)
    except NotHexadecimal:
        return b""
