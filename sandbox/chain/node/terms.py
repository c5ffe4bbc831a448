"""Words that the whole chain of the sandbox speaks: what is refused, and how questions about outputs are answered.

Transactions are named by their id as computed (`txid_bytes`), outputs by that and their index; amounts are satoshis.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import NamedTuple, TypeAlias

from chaindata.wire import refusals
from chaindata.wire.refusals import Refusal
from chaindata.wire.transactions import Output, Transaction
from sandbox.chain.node.blocks import Block

Outpoint: TypeAlias = tuple[bytes, int]


class Refused(Exception):
    """The chain-data service says no: a status and the text under `error` (`chaindata.wire.refusals`).

    `values` fill the placeholders of the text. A refused call has changed nothing.
    """

    def __init__(self, refusal: Refusal, **values: object) -> None:
        super().__init__(refusal, values)
        self.refusal = refusal
        self.values = values

    @property
    def http_status(self) -> int:
        """The status of the answer."""
        return self.refusal.http_status

    @property
    def text(self) -> str:
        """What the answer says under `error`."""
        return self.refusal.text.format(**self.values) if self.values else self.refusal.text

    def __str__(self) -> str:
        return self.text


def rejected(reason: str, code: int) -> Refused:
    """A transaction is not taken: the node's reason, and its number for the kind of reason (supplement 1.9)."""
    return Refused(refusals.REJECTED, reason=reason, code=code)


class Occurrence(NamedTuple):
    """A transaction of the active chain or, without a block, of the mempool. `position` counts within the block."""

    transaction: Transaction
    block: Block | None
    position: int


class Coin(NamedTuple):
    """An output of the active chain that nothing in the chain has spent."""

    output: Output
    height: int
    is_coinbase: bool


class Spend(NamedTuple):
    """Who spent an output: a transaction by id, with its input `n`; no height while that waits in the mempool."""

    txid_bytes: bytes
    n: int
    height: int | None


class Owned(NamedTuple):
    """An unspent output of a script: also unspent in the mempool. No height while its transaction waits there."""

    txid_bytes: bytes
    n: int
    output: Output
    height: int | None
    is_coinbase: bool


class Place(NamedTuple):
    """Where a transaction stands in the active chain."""

    height: int
    position: int
    txid_bytes: bytes


class History:
    """All about one locking script: its transactions in the order of the chain, those in the mempool in the order in
    which they came, and what it holds unspent, in the same order: that is looked up when it is first asked for."""

    def __init__(
        self, confirmed: list[Place], unconfirmed: list[bytes], find_coins: Callable[[], Iterable[Owned]]
    ) -> None:
        self.confirmed = confirmed
        self.unconfirmed = unconfirmed
        self._find_coins = find_coins

    @cached_property
    def coins(self) -> list[Owned]:
        """What it holds unspent, in the chain and in the mempool, as of the first time that this is asked."""
        return list(self._find_coins())


class Tip(NamedTuple):
    """The end of a branch, the active one or another; `branch_length` counts the blocks that are not in the active."""

    block: Block
    branch_length: int
    status: str
