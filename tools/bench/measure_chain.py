"""Transactions, addresses and proofs of the chain, against other libraries: `python -m tools.bench.measure_chain`.

Transactions: python-bitcoinlib, the fastest to read them in Python. Addresses: bitcash. Of proofs in the node's form no
other library is known; their peer is the hashing that a check can't do without.
"""

import hashlib
import random

import bitcoin.core
from bitcash.cashaddress import Address as TheirAddress

from chaindata.wire import addresses, decoding, headers, merkle, proofs, transactions
from chaindata.wire.addresses import Address, Kind, Network
from chaindata.wire.headers import Header
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Input, Output
from tools.bench.rounds import line, spend

_dice = random.Random(1)
TRANSACTIONS, ADDRESSES, LEAVES, PROOFS = 500, 500, 2_000, 200


def _payment() -> bytes:
    """One input with a signature and a key, two outputs to addresses, as most transactions have."""
    unlocking = steps.push(b"\x30" + _dice.randbytes(71)) + steps.push(b"\x02" + _dice.randbytes(32))
    outputs = [
        Output(_dice.randrange(10**9), steps.locking(Address(Network.MAIN, Kind.KEY, _dice.randbytes(20))))
        for _ in range(2)
    ]
    return transactions.build(inputs=[Input(_dice.randbytes(32), 0, unlocking)], outputs=outputs).raw


def measure_transactions() -> None:
    """Reading with the id, and everything that a decoded transaction shows."""
    every = [_payment() for _ in range(TRANSACTIONS)]

    def read() -> None:
        for raw in every:
            _ = transactions.read(raw).txid

    def decode() -> None:
        for raw in every:
            decoding.transaction(transactions.read(raw), Network.MAIN)

    def theirs() -> None:
        for raw in every:
            bitcoin.core.CTransaction.deserialize(raw).GetTxid()

    ours_ms, decoded_ms, peer_ms = spend(read, decode, theirs, pieces=1)
    print(
        line(
            what=f"{TRANSACTIONS} transactions read, with their ids",
            ours_ms=ours_ms,
            peer="python-bitcoinlib",
            peer_ms=peer_ms,
            target=6.5,
        )
    )
    print(
        line(
            what=f"{TRANSACTIONS} transactions decoded whole",
            ours_ms=decoded_ms,
            peer="python-bitcoinlib to read, with ids",
            peer_ms=peer_ms,
            target=0.5,
        )
    )


def measure_addresses() -> None:
    """Writing a cash address."""
    hashes = [_dice.randbytes(20) for _ in range(ADDRESSES)]

    def ours() -> None:
        for each in hashes:
            addresses.cash_encode("bitcoincash", Kind.KEY, each)

    def theirs() -> None:
        for each in hashes:
            TheirAddress("P2PKH", list(each)).cash_address()

    ours_ms, peer_ms = spend(ours, theirs, pieces=1)
    print(
        line(what=f"{ADDRESSES} cash addresses written", ours_ms=ours_ms, peer="bitcash", peer_ms=peer_ms, target=5.5)
    )


def measure_proofs() -> None:
    """Checking a proof of one transaction among two thousand, read from its bytes."""
    ids = [_dice.randbytes(32) for _ in range(LEAVES)]
    header = Header(1, bytes(32), merkle.root(ids), 0, headers.REGTEST_BITS, 0)
    raws = [proofs.build(header, ids, {ids[place]}).raw for place in _dice.sample(range(LEAVES), PROOFS)]
    branch = merkle.branch(ids, 7)

    def ours() -> None:
        for raw in raws:
            proofs.proven(proofs.read(raw))

    def hashing() -> None:
        for _ in raws:
            node = ids[7]
            for neighbour in branch:
                node = hashlib.sha256(hashlib.sha256(node + neighbour).digest()).digest()

    ours_ms, least_ms = spend(ours, hashing, pieces=1)
    print(line(what=f"{PROOFS} proofs checked", ours_ms=ours_ms, peer="hashing alone", peer_ms=least_ms, target=0.4))


if __name__ == "__main__":
    measure_transactions()
    measure_addresses()
    measure_proofs()
