"""The chain of one world: every block that was ever made, which branch is the active one, and what waits in the pool.

All is synchronous and knows no clock: whoever changes something says when. The branch with the most work is active, of
equals the one that came first; what a reorganisation takes out of blocks waits again, unless it can't stand any more.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial

from chaindata.wire import refusals, transactions
from chaindata.wire.addresses import Network
from chaindata.wire.headers import MEDIAN_OF
from chaindata.wire.transactions import NotATransaction, Output, Transaction
from sandbox.chain.cash_accounts import CashAccountLedger
from sandbox.chain.node import acceptance, blocks, mempool
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.index import Index
from sandbox.chain.node.mempool import Entry, Mempool
from sandbox.chain.node.terms import Coin, History, Occurrence, Owned, Place, Refused, Spend, Tip, rejected
from sandbox.chain.simple_ledger.simple_ledger import SimpleLedger
from sandbox.chain.tokens.properties import PropertyLedger

HASH_CHARACTERS = 64
LATEST_TIME_S = 0xFFFFFFFF  # that a header can tell


class Chain:
    """One chain. `miner_script` is paid for its blocks. `listeners` are called after each change, without arguments."""

    NETWORK = Network.REGTEST

    def __init__(self, miner_script: bytes) -> None:
        self.genesis = blocks.genesis()
        self.miner_script = miner_script
        self.mempool = Mempool()
        self.listeners: list[Callable[[], None]] = []
        self.properties = PropertyLedger(self)
        self._index = Index(self.genesis)
        self._blocks: dict[bytes, Block] = {self.genesis.hash_bytes: self.genesis}
        self._ends: dict[bytes, Block] = dict(self._blocks)
        self._rivals: dict[int, int] = {}  # how many blocks of a height there are, on all branches
        self.simple_ledger = SimpleLedger(self)
        self.cash_accounts = CashAccountLedger(self)

    # Blocks ----------------------------------------------------------------------------------------------------------

    @property
    def tip(self) -> Block:
        """The last block of the active chain."""
        return self._index.active[-1]

    def at(self, height: int) -> Block | None:
        """The block of the active chain at a height."""
        active = self._index.active
        return active[height] if 0 <= height < len(active) else None

    def block(self, hash_hex: str) -> Block | None:
        """The block of a hash as shown, of whichever branch; None for what is no hash, too."""
        try:
            return self._blocks.get(bytes.fromhex(hash_hex)[::-1]) if len(hash_hex) == HASH_CHARACTERS else None
        except ValueError:
            return None

    def previous(self, block: Block) -> Block | None:
        """The block before; None before the genesis."""
        return self._blocks.get(block.header.previous_bytes)

    def next(self, block: Block) -> Block | None:
        """The block after one of the active chain; None after the tip, and for other branches."""
        return self.at(block.height + 1) if self.is_active(block) else None

    def is_active(self, block: Block) -> bool:
        """Whether a block is in the active chain."""
        return self.at(block.height) is block

    def confirmations(self, block: Block) -> int:
        """How deep a block is buried: 1 for the tip, -1 outside of the active chain."""
        return self.tip.height - block.height + 1 if self.is_active(block) else -1

    def median_time_s(self, block: Block) -> int:
        """The median time of the eleven blocks up to this one, on its own branch."""
        times: list[int] = []
        earlier: Block | None = block
        while earlier is not None and len(times) < MEDIAN_OF:
            times.append(earlier.header.time)
            earlier = self.previous(earlier)
        return sorted(times)[len(times) // 2]

    def tips(self) -> list[Tip]:
        """The ends of all branches, the highest first."""
        ends = sorted(self._ends.values(), key=lambda block: (-block.height, block.hash))
        return [self._tip_of(block) for block in ends]

    def _tip_of(self, block: Block) -> Tip:
        if block is self.tip:
            return Tip(block, 0, "active")
        fork = self._fork(block)
        return Tip(block, block.height - fork.height, "valid-fork" if block.has_body else "headers-only")

    def _fork(self, block: Block) -> Block:
        """The last block of the active chain on the way to this one."""
        while not self.is_active(block):
            block = self._blocks[block.header.previous_bytes]
        return block

    # Transactions and outputs ----------------------------------------------------------------------------------------

    def find(self, txid_bytes: bytes) -> Occurrence | None:
        """A transaction of the active chain or of the mempool."""
        place = self._index.place(txid_bytes)
        if place is not None:
            return Occurrence(self._index.transaction(place), self._index.active[place.height], place.position)
        entry = self.mempool.get(txid_bytes)
        return Occurrence(entry.transaction, None, -1) if entry is not None else None

    def output(self, txid_bytes: bytes, n: int) -> Output | None:
        """An output of the active chain or of the mempool, spent or not."""
        output = self._index.output(txid_bytes, n)
        if output is not None:
            return output
        entry = self.mempool.get(txid_bytes)
        if entry is None or not 0 <= n < len(entry.transaction.outputs):
            return None
        return entry.transaction.outputs[n]

    def coin(self, txid_bytes: bytes, n: int) -> Coin | None:
        """An output that is unspent in the chain, whatever waits in the mempool; None for one nobody can spend."""
        return self._index.coin(txid_bytes, n)

    def spender(self, txid_bytes: bytes, n: int) -> Spend | None:
        """Who spent an output: in the chain, or in the mempool."""
        return self._index.spender(txid_bytes, n) or self.mempool.spender(txid_bytes, n)

    def history(self, script: bytes) -> History:
        """All about a locking script; `confirmed` is the chain's own list and must not be changed."""
        account = self._index.account(script)
        return History(account.places, self.mempool.touching(script), partial(self._coins_of, script))

    def _coins_of(self, script: bytes) -> list[Owned]:
        coins = [
            Owned(txid_bytes, n, coin.output, coin.height, coin.is_coinbase)
            for txid_bytes, n in self._index.account(script).coins
            if self.mempool.spender(txid_bytes, n) is None and (coin := self.coin(txid_bytes, n)) is not None
        ]
        coins.sort(key=self._order_of)
        for txid_bytes in self.mempool.touching(script):
            coins += self._waiting_coins(txid_bytes, script)
        return coins

    def _order_of(self, owned: Owned) -> tuple[int, int, int]:
        place = self._index.place(owned.txid_bytes) or Place(0, 0, b"")
        return place.height, place.position, owned.n

    def _waiting_coins(self, txid_bytes: bytes, script: bytes) -> Iterable[Owned]:
        entry = self.mempool.get(txid_bytes)
        for n, output in enumerate(entry.transaction.outputs if entry is not None else ()):
            if output.script == script and self.mempool.spender(txid_bytes, n) is None:
                yield Owned(txid_bytes, n, output, None, False)

    # Changes ---------------------------------------------------------------------------------------------------------

    def accept(self, raw: bytes, *, at_ms: int, runs_scripts: bool = True) -> Transaction:
        """Takes a transaction into the mempool after full validation; one that waits already is told again.

        Its scripts need not be run again when they are known to be sound (`runs_scripts`). Raises `Refused` with the
        node's words.
        """
        try:
            transaction = transactions.read(raw)
        except NotATransaction:
            raise Refused(refusals.DECODE_FAILED) from None
        if transaction.txid_bytes not in self.mempool:
            self._admit(transaction, at_ms, runs_scripts=runs_scripts)
            self._notify_listeners()
        return transaction

    def mine(self, *, at_ms: int) -> Block:
        """The next block of the active chain, with what waits."""
        block = self._next_block(
            self.tip, [entry.transaction for entry in self.mempool.first(blocks.MOST_BYTES)], at_ms
        )
        self._keep(block)
        self._connect(block)
        self._notify_listeners()
        return block

    def reorganise(self, depth: int, *, at_ms: int) -> Block:
        """Another branch takes over: the last `depth` blocks are replaced by one more, all empty; its tip.

        Raises ValueError when the chain is not longer than that.
        """
        if not 0 < depth <= self.tip.height:
            raise ValueError(f"The chain has {self.tip.height} blocks after its first one; {depth} can't be replaced.")
        new_blocks = self.branch(self._index.active[-1 - depth], depth + 1, at_ms=at_ms)
        return new_blocks[-1]

    def branch(self, fork: Block, length: int, *, at_ms: int, has_bodies: bool = True) -> list[Block]:
        """Empty blocks after any block; they become the active chain when they have more work than it."""
        branch_blocks: list[Block] = []
        for _ in range(length):
            block = self._next_block(branch_blocks[-1] if branch_blocks else fork, [], at_ms)
            branch_blocks.append(block if has_bodies else _headed_only(block))
            self._keep(branch_blocks[-1])
        if has_bodies and branch_blocks[-1].chainwork > self.tip.chainwork:
            self._activate(branch_blocks[-1], at_ms)
            self._notify_listeners()
        return branch_blocks

    def _next_block(self, previous: Block, chosen: Sequence[Transaction], at_ms: int) -> Block:
        """A block with transactions of the mempool on top of `previous`, unlike any other of its height."""
        height = previous.height + 1
        entries = (self.mempool.get(each.txid_bytes) for each in chosen)
        fees_sat = sum(entry.fee_sat for entry in entries if entry is not None)
        first = blocks.coinbase(
            height,
            reward_sat=blocks.subsidy_sat(height) + fees_sat,
            script=self.miner_script,
            extra=self._rivals.get(height, 0),
        )
        time_s = min(max(at_ms // 1000, self.median_time_s(previous) + 1), LATEST_TIME_S)
        return blocks.mined(previous, (first, *chosen), time_s, received_ms=at_ms)

    def _keep(self, block: Block) -> None:
        self._blocks[block.hash_bytes] = block
        self._ends.pop(block.header.previous_bytes, None)
        self._ends[block.hash_bytes] = block
        self._rivals[block.height] = self._rivals.get(block.height, 0) + 1

    def _connect(self, block: Block) -> None:
        self._index.connect(block)
        self.mempool.settle(block.transactions, block.txids_bytes)

    def _activate(self, tip: Block, at_ms: int) -> None:
        """Makes the branch up to `tip` the active one."""
        fork, coming = self._fork(tip), []
        while tip is not fork:
            coming.append(tip)
            tip = self._blocks[tip.header.previous_bytes]
        waiting = self.mempool.take_all()
        disconnected: list[Block] = []
        while self.tip is not fork:
            disconnected.append(self._index.disconnect())
        for block in reversed(coming):
            self._connect(block)
        self._return(disconnected, waiting, at_ms)

    def _return(self, disconnected: list[Block], waiting: list[Entry], at_ms: int) -> None:
        """What stood in blocks and what waited waits (again), if it still can."""
        for block in reversed(disconnected):
            for transaction in _parents_first(block.transactions[1:]):
                self._admit_again(transaction, at_ms)
        for entry in waiting:
            self._admit_again(entry.transaction, entry.entered_ms)

    def _admit_again(self, transaction: Transaction, at_ms: int) -> None:
        try:
            self._admit(transaction, at_ms)
        except Refused:
            return  # it spent a coinbase that vanished, or followed one that did

    def _admit(self, transaction: Transaction, at_ms: int, *, runs_scripts: bool = True) -> None:
        fee_sat = acceptance.check(self, transaction, runs_scripts=runs_scripts)
        if self.mempool.bytes + transaction.size > mempool.MOST_BYTES:
            raise rejected("mempool full", mempool.FULL)
        spent = (self.output(each.txid_bytes, each.index) for each in transaction.inputs)
        touched = {output.script for output in (*spent, *transaction.outputs) if output is not None}
        self.mempool.add(transaction, fee_sat=fee_sat, entered_ms=at_ms, height=self.tip.height, scripts=touched)

    def _notify_listeners(self) -> None:
        for listener in tuple(self.listeners):
            listener()

    # A copy at another time ------------------------------------------------------------------------------------------

    def redated(self, times_s: Sequence[int], *, entered_ms: int) -> "Chain":
        """The same active chain and mempool with blocks of other times, of heights 1 and up; other branches are left
        behind. What a transaction says depends on no time, so only headers are made anew."""
        other = Chain(self.miner_script)
        active = [other.genesis]
        for block, time_s in zip(self._index.active[1:], times_s, strict=True):
            header = blocks.worked(active[-1].hash_bytes, block.header.merkle_root_bytes, time_s)
            active.append(block.under(header, received_ms=time_s * 1000))
        other._index = self._index.copy(active)
        other._blocks = {block.hash_bytes: block for block in active}
        other._ends = {active[-1].hash_bytes: active[-1]}
        other._rivals = dict.fromkeys(range(1, len(active)), 1)
        for entry in self.mempool:
            other.mempool.add(
                entry.transaction,
                fee_sat=entry.fee_sat,
                entered_ms=entered_ms,
                height=other.tip.height,
                scripts=entry.scripts,
            )
        return other


def _headed_only(block: Block) -> Block:
    return Block(block.header, block.height, (), (), chainwork=block.chainwork, received_ms=block.received_ms)


def _parents_first(chosen: Sequence[Transaction]) -> list[Transaction]:
    """Transactions of one block so that none comes before what it spends."""
    missing = {each.txid_bytes: each for each in chosen}
    ordered: list[Transaction] = []

    def place_after_parents(transaction: Transaction) -> None:
        waiting = [transaction]
        while waiting:
            each = waiting[-1]
            parents = [missing[spent.txid_bytes] for spent in each.inputs if spent.txid_bytes in missing]
            parents = [parent for parent in parents if parent is not each]
            if parents:
                waiting += parents
                continue
            waiting.pop()
            if missing.pop(each.txid_bytes, None) is not None:
                ordered.append(each)

    for transaction in chosen:
        place_after_parents(transaction)
    return ordered
