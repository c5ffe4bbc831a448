"""Payments that a test signs with keys of its own."""

from chaindata.wire import keys, transactions
from chaindata.wire.addresses import Network
from chaindata.wire.keys import PrivateKey
from chaindata.wire.scripts import sighash, steps
from chaindata.wire.transactions import Input, Output, Transaction


def key(number: int) -> PrivateKey:
    """A key of the test network."""
    return keys.of_number(number, Network.REGTEST)


def signed(owner: PrivateKey, spent: Transaction, n: int, outputs: list[tuple[int, bytes]]) -> Transaction:
    """A transaction that spends output `n` of `spent`, which pays the owner's key hash, signed by the owner."""
    paid = [Output(value, script) for value, script in outputs]
    bare = Input(spent.txid_bytes, n, b"")
    digests = sighash.Digests(transactions.build(inputs=[bare], outputs=paid))
    locked = spent.outputs[n]
    digest = digests.digest(0, script_code=locked.script, value_sat=locked.value_sat)
    signature = owner.sign(digest) + bytes([sighash.ALL_FORKID])
    unlocking = steps.push(signature) + steps.push(owner.public_key)
    return transactions.build(inputs=[Input(spent.txid_bytes, n, unlocking)], outputs=paid)


def funding(owner: PrivateKey, value_sat: int, *, mark: int = 7) -> Transaction:
    """A transaction of somebody else that pays the owner in output 1; what it spends is nowhere."""
    spent = Input(mark.to_bytes(32, "big"), 0, b"\x00" * 60)
    locked = Output(value_sat, steps.locking(owner.address))
    return transactions.build(inputs=[spent], outputs=[Output(1_000, b"\x51"), locked])
