"""A small chain with coins to spend, for tests that ask what it takes in."""

from collections.abc import Sequence

import pytest

from chaindata.wire import transactions
from chaindata.wire.addresses import Network
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.sighash import Digests
from chaindata.wire.transactions import FINAL_SEQUENCE, Input, Output, Transaction
from sandbox.chain.node.terms import Outpoint, Refused
from sandbox.chain.scenarios.author import Author
from sandbox.chain.state import Chain
from sandbox.chain.wallet import Purse

COIN_SAT = 100_000_000
AT_MS = 1_600_000_000_000
FEE_SAT = 1_000


class SmallChain:
    """112 blocks; `coins` are ten outputs of ten coins each that `owner` holds in one transaction of the last block."""

    def __init__(self) -> None:
        self.author = Author(3)
        self.chain: Chain = self.author.chain
        self.owner: Purse = self.author.purse("owner")
        self.other: Purse = self.author.purse("other")
        self.author.mine(110)
        self.author.pay(self.author.miner, [Output(50 * COIN_SAT - 1_000, self.author.miner.script)])
        made = self.author.pay(self.author.miner, [Output(10 * COIN_SAT, self.owner.script) for _ in range(10)])
        self.author.mine(2)
        self.coins: list[Outpoint] = [(made.txid_bytes, n) for n in range(10)]

    def accept(self, transaction: Transaction) -> Transaction:
        return self.chain.accept(transaction.raw, at_ms=AT_MS)

    def refusal(self, transaction: Transaction) -> str:
        """Why it is refused; the pool stays as it was."""
        before = [entry.txid_bytes for entry in self.chain.mempool]
        with pytest.raises(Refused) as caught:
            self.accept(transaction)
        assert [entry.txid_bytes for entry in self.chain.mempool] == before
        return caught.value.text

    def mine(self, blocks: int = 1) -> None:
        for _ in range(blocks):
            self.chain.mine(at_ms=AT_MS + 600_000 * self.chain.tip.height)

    def pay(self, *outputs: Output, **more) -> Transaction:
        """Spends the first coin of the owner, or `coins`, signed."""
        return self.spend(outputs or [Output(10 * COIN_SAT - FEE_SAT, self.other.script)], **more)

    def spend(
        self,
        outputs: Sequence[Output],
        *,
        coins: Sequence[Outpoint] | None = None,
        by: Purse | None = None,
        sequence: int = FINAL_SEQUENCE,
        locktime: int = 0,
        version: int = 2,
    ) -> Transaction:
        spent = [Input(txid_bytes, n, b"", sequence) for txid_bytes, n in coins or self.coins[:1]]
        bare = transactions.build(inputs=spent, outputs=outputs, version=version, locktime=locktime)
        digests = Digests(bare)
        unlocked = []
        for index, each in enumerate(spent):
            source = self.chain.output(each.txid_bytes, each.index) or Output(COIN_SAT, self.owner.script)
            unlocking = (by or self.owner).unlocking(digests, index, source)
            unlocked.append(Input(each.txid_bytes, each.index, unlocking, sequence))
        return transactions.build(inputs=unlocked, outputs=outputs, version=version, locktime=locktime)

    def locked(self, inner: bytes, value_sat: int = COIN_SAT) -> Outpoint:
        """An output of the chain that the hash of a script locks."""
        locking = steps.locking(steps.script_hash_address(inner, Network.REGTEST))
        made = self.author.pay(self.owner, [Output(value_sat, locking)])
        self.mine()
        return made.txid_bytes, 0

    def unlock(self, coin: Outpoint, unlocking: bytes, **more) -> Transaction:
        """Spends an output with that script."""
        sequence = more.pop("sequence", FINAL_SEQUENCE)
        outputs = [Output(COIN_SAT - FEE_SAT, self.other.script), Output(0, steps.returning([bytes(20)]))]
        return transactions.build(inputs=[Input(*coin, unlocking, sequence)], outputs=outputs, **more)


@pytest.fixture
def small() -> SmallChain:
    return SmallChain()
