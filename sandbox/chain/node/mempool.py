"""The transactions that wait for a block: in the order in which they came, with what depends on what.

Parents always come before their children, so any beginning of the pool can stand in a block without the rest.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field

from chaindata.wire.transactions import Transaction
from sandbox.chain.node.terms import Outpoint, Spend

MOST_BYTES = 20_000_000  # of all transactions; a node drops the cheapest ones, here those that come later are refused
FULL = 66  # the node's number for it


@dataclass(slots=True)
class Entry:
    """A waiting transaction. `height` is the tip's when it came; `parents` and `children` are those in the pool."""

    transaction: Transaction
    txid_bytes: bytes
    fee_sat: int
    entered_ms: int
    height: int
    scripts: frozenset[bytes] = frozenset()
    parents: dict[bytes, None] = field(default_factory=dict)
    children: dict[bytes, None] = field(default_factory=dict)

    @property
    def txid(self) -> str:
        """Its id as shown."""
        return self.txid_bytes[::-1].hex()

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.transaction.raw)


@dataclass(frozen=True, slots=True)
class Family:
    """How many transactions a transaction depends on, or depend on it, itself counted; their bytes and fees."""

    count: int
    size: int
    fees_sat: int


class Mempool:
    """The waiting transactions of one chain. Whether one may wait is judged before it is added."""

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._entries: dict[bytes, Entry] = {}
        self._spends: dict[Outpoint, Spend] = {}
        self._touching: dict[bytes, dict[bytes, None]] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def __contains__(self, txid_bytes: object) -> bool:
        return txid_bytes in self._entries

    def get(self, txid_bytes: bytes) -> Entry | None:
        """The waiting transaction of an id."""
        return self._entries.get(txid_bytes)

    def spender(self, txid_bytes: bytes, n: int) -> Spend | None:
        """Which waiting transaction spends an output."""
        return self._spends.get((txid_bytes, n))

    def touching(self, script: bytes) -> list[bytes]:
        """The ids of those that spend from a locking script or pay to it, in the order in which they came."""
        return list(self._touching.get(script, ()))

    def add(
        self,
        transaction: Transaction,
        *,
        fee_sat: int,
        entered_ms: int,
        height: int,
        scripts: Iterable[bytes],
    ) -> Entry:
        """Lets a transaction wait; `scripts` are all that it spends from or pays to."""
        entry = Entry(transaction, transaction.txid_bytes, fee_sat, entered_ms, height, frozenset(scripts))
        self._entries[entry.txid_bytes] = entry
        self.bytes += entry.size
        for n, spent in enumerate(transaction.inputs):
            self._spends[spent.txid_bytes, spent.index] = Spend(entry.txid_bytes, n, None)
            parent = self._entries.get(spent.txid_bytes)
            if parent is not None:
                entry.parents[parent.txid_bytes] = None
                parent.children[entry.txid_bytes] = None
        for script in sorted(entry.scripts):
            self._touching.setdefault(script, {})[entry.txid_bytes] = None
        return entry

    def remove(self, txid_bytes: bytes) -> Entry | None:
        """Takes one out, and leaves what depends on it; its inputs are free again."""
        entry = self._entries.pop(txid_bytes, None)
        if entry is None:
            return None
        self.bytes -= entry.size
        for spent in entry.transaction.inputs:
            del self._spends[spent.txid_bytes, spent.index]
        for child in entry.children:
            self._entries[child].parents.pop(txid_bytes, None)
        for parent in entry.parents:
            self._entries[parent].children.pop(txid_bytes, None)
        for script in entry.scripts:
            touching = self._touching[script]
            del touching[txid_bytes]
            if not touching:
                del self._touching[script]
        return entry

    def remove_all_of(self, txid_bytes: bytes) -> None:
        """Takes one out with everything that depends on it."""
        for each in (*self.descendants(txid_bytes), txid_bytes):
            self.remove(each)

    def settle(self, transactions: Iterable[Transaction], txids_bytes: Collection[bytes]) -> None:
        """Takes out what stands in a block, and what can't any more because the block spends the same outputs."""
        for txid_bytes in txids_bytes:
            self.remove(txid_bytes)
        if not self._entries:
            return
        for transaction in transactions:
            for spent in transaction.inputs:
                rival = self._spends.get((spent.txid_bytes, spent.index))
                if rival is not None:
                    self.remove_all_of(rival.txid_bytes)

    def take_all(self) -> list[Entry]:
        """Empties the pool; what was in it, parents first."""
        entries = list(self._entries.values())
        self._begin()
        return entries

    def first(self, most_bytes: int) -> list[Entry]:
        """As many of those that came first as there is room for."""
        chosen, room = [], most_bytes
        for entry in self._entries.values():
            room -= entry.size
            if room < 0:
                break
            chosen.append(entry)
        return chosen

    def ancestors(self, txid_bytes: bytes) -> set[bytes]:
        """All waiting transactions that one depends on, without itself."""
        return self._reached(self._entries[txid_bytes].parents, lambda entry: entry.parents)

    def descendants(self, txid_bytes: bytes) -> set[bytes]:
        """All that depend on one, without itself."""
        entry = self._entries.get(txid_bytes)
        return self._reached(entry.children, lambda each: each.children) if entry is not None else set()

    def ancestry(self, entry: Entry) -> Family:
        """The figures of a transaction and all that it depends on."""
        return self._figures(entry, self.ancestors(entry.txid_bytes))

    def descent(self, entry: Entry) -> Family:
        """The figures of a transaction and all that depend on it."""
        return self._figures(entry, self.descendants(entry.txid_bytes))

    def _reached(self, begin: Iterable[bytes], neighbours: Callable[[Entry], Iterable[bytes]]) -> set[bytes]:
        reached, waiting = set(begin), list(begin)
        while waiting:
            for each in neighbours(self._entries[waiting.pop()]):
                if each not in reached:
                    reached.add(each)
                    waiting.append(each)
        return reached

    def _figures(self, entry: Entry, others: Collection[bytes]) -> Family:
        family = [entry, *(self._entries[each] for each in others)]
        return Family(len(family), sum(each.size for each in family), sum(each.fee_sat for each in family))
