"""Blocks: their rewards, their coinbase, and the search for a header whose work is done.

Source: supplement 5.3 and 5.4. The parameters are those of the regression-test network: the easiest target there is,
never changed, so a header takes two tries on average; 50 coins a block, half as many after each 150 blocks.
"""

from collections.abc import Iterable, Sequence
from struct import pack

from chaindata.wire import headers, merkle, transactions
from chaindata.wire.hashing import double_sha256
from chaindata.wire.headers import Header
from chaindata.wire.scripts import steps
from chaindata.wire.transactions import Input, Output, Transaction

SUBSIDY_SAT = 50 * 100_000_000
HALVED_EVERY = 150
COINBASE_MATURITY = 100
VERSION = 0x20000000
MOST_BYTES = 2_000_000  # of the transactions in one block here
EASIEST_TARGET = headers.EASIEST_TARGET["regtest"]

_GENESIS_TIME_S = 1_296_688_602
_GENESIS_SAYING = b"The Times 03/Jan/2009 Chancellor on brink of second bailout for banks"
_GENESIS_KEY = bytes.fromhex(
    "04678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d57"
    "8a4c702b6bf11d5f"
)
MARK = b"/countersign/"  # what the miner writes; also brings a coinbase to the least size of a transaction


class Block:
    """A block of any branch. Without transactions only its header is known.

    `height` 0 is the genesis; `chainwork` is the work of all headers up to this one; `received_ms` when it was made.
    """

    __slots__ = ("_size", "chainwork", "hash_bytes", "header", "height", "received_ms", "transactions", "txids_bytes")

    def __init__(
        self,
        header: Header,
        height: int,
        transactions: tuple[Transaction, ...],
        txids_bytes: tuple[bytes, ...],
        *,
        chainwork: int,
        received_ms: int,
    ) -> None:
        self.header = header
        self.height = height
        self.transactions = transactions
        self.txids_bytes = txids_bytes
        self.chainwork = chainwork
        self.received_ms = received_ms
        self.hash_bytes = header.hash_bytes
        self._size = 0

    def under(self, header: Header, *, received_ms: int) -> "Block":
        """The block of the same transactions and place under another header."""
        return Block(
            header, self.height, self.transactions, self.txids_bytes, chainwork=self.chainwork, received_ms=received_ms
        )

    @property
    def hash(self) -> str:
        """Its hash as shown."""
        return self.hash_bytes[::-1].hex()

    @property
    def has_body(self) -> bool:
        """Whether its transactions are known, not only its header."""
        return bool(self.transactions)

    @property
    def size(self) -> int:
        """Bytes of header, count and transactions."""
        if not self._size:
            counted = len(transactions.count_bytes(len(self.transactions)))
            self._size = headers.BYTES + counted + sum(len(each.raw) for each in self.transactions)
        return self._size

    @property
    def raw(self) -> bytes:
        """Its bytes as nodes exchange them."""
        count = transactions.count_bytes(len(self.transactions))
        return b"".join((self.header.raw, count, *(each.raw for each in self.transactions)))


def subsidy_sat(height: int) -> int:
    """The new coins in the block at a height, in satoshis; 50 coins at first, none after 33 halvings."""
    return SUBSIDY_SAT >> min(height // HALVED_EVERY, 63)


def coinbase(height: int, *, reward_sat: int, script: bytes, extra: int = 0) -> Transaction:
    """The first transaction of a block: its height (BIP 34), the miner's mark, and the reward to `script`.

    `extra` tells apart blocks of one height on different branches.
    """
    unlocking = steps.push_number(height) + steps.push(pack("<Q", extra)) + steps.push(MARK)
    coinbase_input = Input(transactions.NULL_TXID_BYTES, transactions.COINBASE_INDEX, unlocking)
    return transactions.build(inputs=(coinbase_input,), outputs=(Output(reward_sat, script),), version=1)


def in_order(chosen: Iterable[Transaction]) -> list[tuple[bytes, Transaction]]:
    """The canonical order: ids ascending as they are shown. The coinbase stands before them all."""
    return sorted(((each.txid_bytes, each) for each in chosen), key=lambda pair: pair[0][::-1])


def mined(previous: Block, body: Sequence[Transaction], time_s: int, *, received_ms: int) -> Block:
    """The block with these transactions, coinbase first, after `previous`; orders the rest canonically."""
    ordered = in_order(body[1:])
    txids_bytes = (body[0].txid_bytes, *(txid_bytes for txid_bytes, _ in ordered))
    canonical_body = (body[0], *(each for _, each in ordered))
    return headed(previous, canonical_body, txids_bytes, merkle.root(txids_bytes), time_s, received_ms=received_ms)


def headed(
    previous: Block,
    body: tuple[Transaction, ...],
    txids_bytes: tuple[bytes, ...],
    merkle_root_bytes: bytes,
    time_s: int,
    *,
    received_ms: int,
) -> Block:
    """The block of a body that is in order, under a header whose work is done."""
    header = worked(previous.hash_bytes, merkle_root_bytes, time_s)
    return Block(
        header,
        previous.height + 1,
        body,
        txids_bytes,
        chainwork=previous.chainwork + _WORK,
        received_ms=received_ms,
    )


def worked(previous_bytes: bytes, merkle_root_bytes: bytes, time_s: int) -> Header:
    """A header with the first nonce whose hash is within the target."""
    head = pack("<i32s32sII", VERSION, previous_bytes, merkle_root_bytes, time_s, headers.REGTEST_BITS)
    nonce = 0
    while int.from_bytes(double_sha256(head + pack("<I", nonce)), "little") > EASIEST_TARGET:
        nonce += 1
    return Header(VERSION, previous_bytes, merkle_root_bytes, time_s, headers.REGTEST_BITS, nonce)


_WORK = headers.work_of(headers.REGTEST_BITS)


def genesis() -> Block:
    """The first block of every such chain (supplement 5.4); its coins can't be spent."""
    unlocking = steps.push(pack("<I", 0x1D00FFFF)) + steps.push(b"\x04") + steps.push(_GENESIS_SAYING)
    coinbase_input = Input(transactions.NULL_TXID_BYTES, transactions.COINBASE_INDEX, unlocking)
    output = Output(SUBSIDY_SAT, steps.key_locking(_GENESIS_KEY))
    first = transactions.build(inputs=(coinbase_input,), outputs=(output,), version=1)
    header = headers.build(
        version=1,
        previous_bytes=bytes(32),
        merkle_root_bytes=first.txid_bytes,
        time=_GENESIS_TIME_S,
        bits=headers.REGTEST_BITS,
        nonce=2,
    )
    return Block(header, 0, (first,), (first.txid_bytes,), chainwork=_WORK, received_ms=_GENESIS_TIME_S * 1000)
