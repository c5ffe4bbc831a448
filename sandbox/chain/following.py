"""What a ledger read from each block of the active chain, kept in step with it: wherever the chain goes, it follows.

A ledger is asked seldom and needs no listener: at each question it goes back to the fork and forward to the tip.
"""

from collections.abc import Callable
from typing import Generic, TypeVar

from sandbox.chain.node.active_chain import ActiveChain
from sandbox.chain.node.blocks import Block

Reading = TypeVar("Reading")


class Following(Generic[Reading]):
    """The readings of the blocks of the active chain, from the genesis on.

    `read_block` reads a block that became active; `undo_block` takes back the reading of the last one when it is not
    active any more.
    """

    def __init__(
        self,
        chain: ActiveChain,
        read_block: Callable[[Block], Reading],
        undo_block: Callable[[Reading], None] = lambda _: None,
    ) -> None:
        self._chain = chain
        self._read_block = read_block
        self._undo_block = undo_block
        self._walked: list[tuple[bytes, Reading]] = []

    def catch_up(self) -> None:
        """Follows the chain to its tip."""
        while self._walked and not self._stands():
            _, reading = self._walked.pop()
            self._undo_block(reading)
        while (block := self._chain.at(len(self._walked))) is not None:
            self._walked.append((block.hash_bytes, self._read_block(block)))

    def at(self, height: int) -> Reading | None:
        """The reading of the active block of that height, as of the last time it caught up."""
        return self._walked[height][1] if 0 <= height < len(self._walked) else None

    def readings(self) -> list[Reading]:
        """Those of all active blocks, the genesis first."""
        return [reading for _, reading in self._walked]

    def _stands(self) -> bool:
        """Whether the last block that was read is in the active chain."""
        block = self._chain.at(len(self._walked) - 1)
        return block is not None and block.hash_bytes == self._walked[-1][0]
