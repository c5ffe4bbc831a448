"""What is found about the active chain: where each transaction stands, who spent each output, what each script did.

Everything follows from the blocks that are connected, and disconnecting the last one leaves no trace of it: the
blocks themselves hold all that is needed to undo them.
"""

from chaindata.wire.scripts.steps import is_unspendable
from chaindata.wire.transactions import Input, Output, Transaction
from sandbox.chain.node.blocks import Block
from sandbox.chain.node.terms import Coin, Outpoint, Place, Spend


class Account:
    """What happened to one locking script: its transactions in the order of the chain, and what it holds unspent."""

    __slots__ = ("coins", "places")

    def __init__(self, places: list[Place] | None = None, coins: dict[Outpoint, None] | None = None) -> None:
        self.places = [] if places is None else places
        self.coins = {} if coins is None else coins

    def copy(self) -> "Account":
        """Another one that goes its own way."""
        return Account(self.places.copy(), self.coins.copy())


_NOTHING = Account()


class Index:
    """The active chain from the genesis up, and what is found about it."""

    def __init__(self, genesis: Block) -> None:
        self.active: list[Block] = [genesis]
        self._places: dict[bytes, Place] = {}
        self._spends: dict[Outpoint, Spend] = {}
        self._accounts: dict[bytes, Account] = {}

    def copy(self, active: list[Block]) -> "Index":
        """The same findings over blocks that differ in their headers only."""
        other = Index(active[0])
        other.active = active
        other._places, other._spends = self._places.copy(), self._spends.copy()
        other._accounts = {script: account.copy() for script, account in self._accounts.items()}
        return other

    # Questions -------------------------------------------------------------------------------------------------------

    def place(self, txid_bytes: bytes) -> Place | None:
        """Where a transaction stands. The genesis' can't be found, as with nodes."""
        return self._places.get(txid_bytes)

    def transaction(self, place: Place) -> Transaction:
        """The transaction at a place."""
        return self.active[place.height].transactions[place.position]

    def output(self, txid_bytes: bytes, n: int) -> Output | None:
        """An output of the chain, spent or not."""
        place = self._places.get(txid_bytes)
        if place is None:
            return None
        outputs = self.active[place.height].transactions[place.position].outputs
        return outputs[n] if 0 <= n < len(outputs) else None

    def coin(self, txid_bytes: bytes, n: int) -> Coin | None:
        """An output that nothing in the chain has spent, and that somebody could."""
        place = self._places.get(txid_bytes)
        if place is None or (txid_bytes, n) in self._spends:
            return None
        output = self.output(txid_bytes, n)
        if output is None or is_unspendable(output.script):
            return None
        return Coin(output, place.height, place.position == 0)

    def spender(self, txid_bytes: bytes, n: int) -> Spend | None:
        """Who spent an output in the chain."""
        return self._spends.get((txid_bytes, n))

    def account(self, script: bytes) -> Account:
        """What happened to a script; its parts are the index's own and must not be changed."""
        return self._accounts.get(script, _NOTHING)

    # Blocks ----------------------------------------------------------------------------------------------------------

    def connect(self, block: Block) -> None:
        """Adds the next block. In canonical order a transaction may spend what a later one makes."""
        height = block.height
        self.active.append(block)
        places = [Place(height, position, txid_bytes) for position, txid_bytes in enumerate(block.txids_bytes)]
        self._places.update(zip(block.txids_bytes, places, strict=True))
        touched: list[dict[bytes, None]] = []
        for place, transaction in zip(places, block.transactions, strict=True):
            touched.append(self._make(place, transaction))
        for place, transaction, scripts in zip(places[1:], block.transactions[1:], touched[1:], strict=True):
            self._spend(place, transaction, scripts)
        for place, scripts in zip(places, touched, strict=True):
            for script in scripts:
                self._accounts[script].places.append(place)

    def disconnect(self) -> Block:
        """Takes the last block away again."""
        block = self.active[-1]
        touched = [self._give_back(each) for each in block.transactions]
        for txid_bytes, transaction, scripts in zip(block.txids_bytes, block.transactions, touched, strict=True):
            self._unmake(txid_bytes, transaction, scripts)
        for scripts in touched:
            for script in scripts:
                account = self._accounts[script]
                account.places.pop()
                if not account.places:
                    del self._accounts[script]
        for txid_bytes in block.txids_bytes:
            del self._places[txid_bytes]
        return self.active.pop()

    def _make(self, place: Place, transaction: Transaction) -> dict[bytes, None]:
        """The outputs of a transaction become coins; the scripts they pay."""
        scripts: dict[bytes, None] = {}
        for n, output in enumerate(transaction.outputs):
            script = output.script
            if is_unspendable(script):
                continue
            account = self._accounts.get(script)
            if account is None:
                account = self._accounts[script] = Account()
            account.coins[place.txid_bytes, n] = None
            scripts[script] = None
        return scripts

    def _spend(self, place: Place, transaction: Transaction, scripts: dict[bytes, None]) -> None:
        """The inputs take coins away; their scripts are added to `scripts`."""
        for n, spent in enumerate(transaction.inputs):
            outpoint = (spent.txid_bytes, spent.index)
            script = self._spent(spent).script
            self._spends[outpoint] = Spend(place.txid_bytes, n, place.height)
            del self._accounts[script].coins[outpoint]
            scripts[script] = None

    def _give_back(self, transaction: Transaction) -> dict[bytes, None]:
        """What its inputs took away are coins again; their scripts."""
        scripts: dict[bytes, None] = {}
        for spent in () if transaction.is_coinbase else transaction.inputs:
            outpoint, script = (spent.txid_bytes, spent.index), self._spent(spent).script
            del self._spends[outpoint]
            self._accounts[script].coins[outpoint] = None
            scripts[script] = None
        return scripts

    def _unmake(self, txid_bytes: bytes, transaction: Transaction, scripts: dict[bytes, None]) -> None:
        """Its outputs never were; their scripts are added to `scripts`."""
        for n, output in enumerate(transaction.outputs):
            if not is_unspendable(output.script):
                self._accounts[output.script].coins.pop((txid_bytes, n), None)
                scripts[output.script] = None

    def _spent(self, spent: Input) -> Output:
        output = self.output(spent.txid_bytes, spent.index)
        if output is None:
            raise LookupError(f"nothing in the chain made the output that {spent.txid}:{spent.index} names")
        return output
