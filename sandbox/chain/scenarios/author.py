"""Who builds the beginning of a chain: pays between purses and mines blocks on a chain of its own."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from chaindata.wire.transactions import Output, Transaction
from sandbox.chain import wallet
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.terms import Outpoint
from sandbox.chain.state import Chain
from sandbox.chain.wallet import Purse, Vault

SPACING_S = 600  # between the blocks before the world begins
MINER = "miner"
_BUILT_AT_MS = 1_500_000_000_000  # of the first blocks, before they are set to a world's time


class Branch(NamedTuple):
    """Blocks beside the active chain, empty or known by their headers only, to be made in each world."""

    fork_height: int
    length: int
    has_bodies: bool


class Author:
    """Builds a scenario: pays between purses and mines blocks on a chain of its own."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._purses: dict[str, Purse] = {}
        self.miner = self.purse(MINER)
        self.chain = Chain(self.miner.script)
        self.branches: list[Branch] = []

    def purse(self, name: str) -> Purse:
        """The purse of a name, made when it is first asked for."""
        if name not in self._purses:
            self._purses[name] = Purse(self.seed, name)
        return self._purses[name]

    def fund(self, name: str, sat: int) -> Transaction:
        """Lets a purse have coins of the miner's, in one output; they wait in the mempool until a block is mined."""
        return self.send(wallet.pay(self.chain, self.miner, [Output(sat, self.purse(name).script)]))

    def pay(
        self,
        payer: str | Purse | Vault,
        outputs: Sequence[Output],
        *,
        spending: Sequence[Outpoint] = (),
        change: bool = True,
        change_at: int | None = None,
        fee_rate: int = 1,
    ) -> Transaction:
        """Sends what a purse pays; see `wallet.pay`."""
        purse = self.purse(payer) if isinstance(payer, str) else payer
        transaction = wallet.pay(
            self.chain,
            purse,
            outputs,
            spending=spending,
            change=change,
            change_at=change_at,
            fee_rate=fee_rate,
        )
        return self.send(transaction)

    def send(self, transaction: Transaction) -> Transaction:
        """Takes a transaction into the mempool, with full validation."""
        return self.chain.accept(transaction.raw, at_ms=self._next_ms)

    def mine(self, blocks: int = 1) -> Block:
        """So many blocks, the first with all that waits; the last of them."""
        for _ in range(blocks):
            self.chain.mine(at_ms=self._next_ms)
        return self.chain.tip

    def branch_off(self, depth: int, length: int, *, has_bodies: bool = True) -> None:
        """Lets there be another branch, which left the active one `depth` blocks before its present tip."""
        self.branches.append(Branch(self.chain.tip.height - depth, length, has_bodies))

    @property
    def _next_ms(self) -> int:
        return _BUILT_AT_MS + 1000 * SPACING_S * (self.chain.tip.height + 1)


Part: TypeAlias = Callable[[Author], None]
