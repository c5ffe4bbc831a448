"""The property-token layer of a chain: which of its transactions it saw, what became of them, what it knows at the tip.

Nothing is computed until somebody asks; each question first follows the active chain. When the chain has left the
blocks that were folded in, the layer goes back to the last copy before the fork, and from there over the new ones.
"""

from collections.abc import Iterator

from sandbox.chain.node.active_chain import ActiveChain
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.terms import Occurrence
from sandbox.chain.tokens import properties_reading
from sandbox.chain.tokens.properties_rules import PlacedMessage, fold
from sandbox.chain.tokens.properties_state import State
from sandbox.chain.tokens.properties_terms import FIRST_HEIGHT, Carried, Moment, Record

COPIED_EVERY = 50  # blocks
MOST_COPIES = 20


class PropertyLedger:
    """Property tokens and collectibles of one chain."""

    def __init__(self, chain: ActiveChain) -> None:
        self._chain = chain
        self._begin()

    def _begin(self) -> None:
        self._state = State()
        self._walked: list[bytes] = []  # the hash of each block folded in, by height
        self._at: dict[int, list[Record]] = {}
        self._records: dict[str, Record] = {}
        self._copies: list[tuple[int, State]] = []

    # Questions; each catches up first --------------------------------------------------------------------------------

    @property
    def state(self) -> State:
        """What the layer knows at the tip. Only for looking at."""
        self._catch_up()
        return self._state

    def record(self, txid: str) -> Record | None:
        """What became of a transaction of the active chain; None when the layer did not see it."""
        self._catch_up()
        return self._records.get(txid)

    def records_at(self, height: int) -> list[Record]:
        """The transactions that the layer saw in a block, in their order."""
        self._catch_up()
        return self._at.get(height, [])

    def records(self) -> Iterator[Record]:
        """All of them, in the order of the chain."""
        self._catch_up()
        return iter(self._records.values())

    def heights(self, first: int, last: int) -> list[int]:
        """The heights of the blocks with transactions that the layer saw, both ends included."""
        self._catch_up()
        return [height for height in self._at if first <= height <= last]

    def count(self) -> int:
        """How many transactions the layer saw."""
        self._catch_up()
        return len(self._records)

    def carried(self, occurrence: Occurrence) -> Carried | None:
        """What any transaction says to the layer, whether it waits, is valid, or came too early."""
        return properties_reading.read(occurrence.transaction, self._chain.output)

    def pending(self) -> Iterator[Carried]:
        """What waits in the mempool and is going to be seen, in the order in which it came."""
        for entry in self._chain.mempool:
            if properties_reading.carries(entry.transaction):
                carried = properties_reading.read(entry.transaction, self._chain.output)
                if carried is not None and carried.payload is not None:
                    yield carried

    # Following the chain ---------------------------------------------------------------------------------------------

    def _catch_up(self) -> None:
        if self._walked and not self._stands(len(self._walked) - 1):
            self._go_back()
        while (block := self._chain.at(len(self._walked))) is not None:
            self._fold(block)

    def _stands(self, height: int) -> bool:
        block = self._chain.at(height)
        return block is not None and block.hash_bytes == self._walked[height]

    def _go_back(self) -> None:
        """To the last copy whose block is still in the active chain, or to the beginning."""
        while self._copies and not self._stands(self._copies[-1][0]):
            self._copies.pop()
        if not self._copies:
            self._begin()
            return
        height, state = self._copies[-1]
        self._state = state.copy()
        del self._walked[height + 1 :]
        for later in [each for each in self._at if each > height]:
            for record in self._at.pop(later):
                del self._records[record.carried.txid]

    def _fold(self, block: Block) -> None:
        moment = Moment(block.height, block.header.time)
        messages = self._messages(block) if block.height >= FIRST_HEIGHT else ()
        records = fold(self._state, moment, messages)
        self._walked.append(block.hash_bytes)
        if records:
            self._at[block.height] = records
            self._records.update((record.carried.txid, record) for record in records)
        if block.height % COPIED_EVERY == 0:
            self._copies.append((block.height, self._state.copy()))
            del self._copies[:-MOST_COPIES]

    def _messages(self, block: Block) -> Iterator[PlacedMessage]:
        for position, transaction in enumerate(block.transactions):
            if properties_reading.carries(transaction):
                carried = properties_reading.read(transaction, self._chain.output)
                if carried is not None:
                    yield PlacedMessage(position, carried)
