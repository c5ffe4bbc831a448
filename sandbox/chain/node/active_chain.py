"""The active chain and its mempool as those see them who read them: ledgers, wallets, and the rules of acceptance."""

from typing import Protocol

from chaindata.wire.addresses import Network
from chaindata.wire.transactions import Output
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.mempool import Mempool
from sandbox.chain.node.terms import Coin, History, Occurrence, Spend


class ActiveChain(Protocol):
    """What can be asked of a chain; `sandbox.chain.state.Chain` says what each answer is."""

    NETWORK: Network
    mempool: Mempool

    @property
    def tip(self) -> Block:
        """The last block of the active chain."""
        ...

    def at(self, height: int) -> Block | None:
        """The block of the active chain at a height."""
        ...

    def median_time_s(self, block: Block) -> int:
        """The median time of the eleven blocks up to this one."""
        ...

    def find(self, txid_bytes: bytes) -> Occurrence | None:
        """A transaction of the active chain or of the mempool."""
        ...

    def output(self, txid_bytes: bytes, n: int) -> Output | None:
        """An output of the active chain or of the mempool, spent or not."""
        ...

    def coin(self, txid_bytes: bytes, n: int) -> Coin | None:
        """An output that is unspent in the chain."""
        ...

    def spender(self, txid_bytes: bytes, n: int) -> Spend | None:
        """Who spent an output: in the chain, or in the mempool."""
        ...

    def history(self, script: bytes) -> History:
        """All about a locking script."""
        ...
