"""Raw transactions: bytes to records and back, ids, sizes, and the rules that need no knowledge of the chain.

Source: the chain's serialisation (supplement 5.4 and 1.6). All integers are little-endian. Reading takes what a
node's decoder takes: no inputs, odd values and unknown versions too. `check` says what a node would not relay or mine.
"""

from collections.abc import Sequence
from hashlib import sha256
from struct import Struct, error, pack

import msgspec

from chaindata.wire.hashing import display_hex, double_sha256

MOST_BYTES = 1_000_000
MOST_SAT = 21_000_000 * 100_000_000
LEAST_BYTES = 100  # of a transaction in a block since the upgrade of November 2018
FINAL_SEQUENCE = 0xFFFFFFFF
LOCKTIME_IS_HEIGHT_BELOW = 500_000_000
COINBASE_INDEX = 0xFFFFFFFF
NULL_TXID_BYTES = bytes(32)

_BYTES_OF_LEAST_INPUT, _BYTES_OF_LEAST_OUTPUT = 41, 9
_version = Struct("<i").unpack_from
_u32 = Struct("<I").unpack_from
_outpoint = Struct("<32sIB").unpack_from  # with the first byte of the script's length
_value = Struct("<qB").unpack_from
_LONG_COUNTS = {
    0xFD: (Struct("<H").unpack_from, 2),
    0xFE: (Struct("<I").unpack_from, 4),
    0xFF: (Struct("<Q").unpack_from, 8),
}
_COUNT_LIMITS = {0xFD: 0xFD, 0xFE: 0x10000, 0xFF: 0x100000000}


class NotATransaction(ValueError):
    """The bytes are no transaction; the message says what is wrong and where."""


class InvalidTransaction(ValueError):
    """A transaction that no node takes. `reason` is the node's word for it (supplement 1.9)."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Input(msgspec.Struct, frozen=True, gc=False):
    """What an input spends: an output by transaction and index, with the script that unlocks it."""

    txid_bytes: bytes
    index: int
    script: bytes
    sequence: int = FINAL_SEQUENCE

    @property
    def txid(self) -> str:
        """The transaction that made the output, as shown."""
        return display_hex(self.txid_bytes)

    @property
    def is_coinbase(self) -> bool:
        """Whether it spends nothing, as only the first input of a block does."""
        return self.index == COINBASE_INDEX and self.txid_bytes == NULL_TXID_BYTES


class Output(msgspec.Struct, frozen=True, gc=False):
    """An amount in satoshis and the script that locks it. Read from bytes the amount may be negative or too large."""

    value_sat: int
    script: bytes


class Transaction(msgspec.Struct, frozen=True, gc=False):
    """A transaction and its bytes. Made by `read` or `build`, which keep the two in step."""

    version: int
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    locktime: int
    raw: bytes

    @property
    def txid_bytes(self) -> bytes:
        """Its id as computed."""
        return double_sha256(self.raw)

    @property
    def txid(self) -> str:
        """Its id as shown."""
        return sha256(sha256(self.raw).digest()).digest()[::-1].hex()

    @property
    def size(self) -> int:
        """Bytes."""
        return len(self.raw)

    @property
    def is_coinbase(self) -> bool:
        """Whether it is the one that pays the miner."""
        return len(self.inputs) == 1 and self.inputs[0].is_coinbase

    @property
    def value_out_sat(self) -> int:
        """The sum of its outputs."""
        return sum(output.value_sat for output in self.outputs)


# Reading -------------------------------------------------------------------------------------------------------------


def read(raw: bytes) -> Transaction:
    """The transaction in these bytes, which it has to fill. Raises `NotATransaction`."""
    transaction, end = read_at(raw, 0)
    if end != len(raw):
        raise NotATransaction(f"{len(raw) - end} bytes follow the end of the transaction.")
    return transaction


def read_at(raw: bytes, start: int) -> tuple[Transaction, int]:
    """The transaction that begins at `start`, and where it ends. Raises `NotATransaction`."""
    try:
        (version,) = _version(raw, start)
        inputs, at = _inputs_at(raw, start + 4)
        outputs, at = _outputs_at(raw, at)
        (locktime,) = _u32(raw, at)
    except (error, IndexError, OverflowError):  # the last for lengths that no machine could hold
        raise NotATransaction(f"The transaction is cut short: it has only {len(raw) - start} bytes.") from None
    end = at + 4
    if end - start > MOST_BYTES:
        raise NotATransaction(f"The transaction exceeds {MOST_BYTES} bytes.")
    return Transaction(version, inputs, outputs, locktime, raw[start:end]), end


def _inputs_at(raw: bytes, at: int) -> tuple[tuple[Input, ...], int]:
    count, at = (raw[at], at + 1) if raw[at] < 0xFD else count_at(raw, at)
    if count * _BYTES_OF_LEAST_INPUT > len(raw) - at:
        raise NotATransaction(f"{count} inputs do not fit in the rest of the transaction.")
    inputs = []
    for _ in range(count):
        txid_bytes, index, length = _outpoint(raw, at)
        at += 37
        if length >= 0xFD:
            length, at = count_at(raw, at - 1)
        end = at + length
        inputs.append(Input(txid_bytes, index, raw[at:end], _u32(raw, end)[0]))
        at = end + 4
    return tuple(inputs), at


def _outputs_at(raw: bytes, at: int) -> tuple[tuple[Output, ...], int]:
    count, at = (raw[at], at + 1) if raw[at] < 0xFD else count_at(raw, at)
    size = len(raw)
    if count * _BYTES_OF_LEAST_OUTPUT > size - at:
        raise NotATransaction(f"{count} outputs do not fit in the rest of the transaction.")
    outputs = []
    for _ in range(count):
        value_sat, length = _value(raw, at)
        at += 9
        if length >= 0xFD:
            length, at = count_at(raw, at - 1)
        end = at + length
        if end > size:
            raise NotATransaction(f"A script of {length} bytes does not fit in the rest of the transaction.")
        outputs.append(Output(value_sat, raw[at:end]))
        at = end
    return tuple(outputs), at


def count_at(raw: bytes, at: int) -> tuple[int, int]:
    """A count of variable length, and where it ends. Raises `NotATransaction` for one that could be shorter.

    What does not end within `raw` raises IndexError or struct.error, for callers that know what was being read.
    """
    first = raw[at]
    if first < 0xFD:
        return first, at + 1
    unpack, size = _LONG_COUNTS[first]
    (count,) = unpack(raw, at + 1)
    if count < _COUNT_LIMITS[first]:
        raise NotATransaction(f"The number {count} is not minimally encoded.")
    return count, at + 1 + size


# Writing -------------------------------------------------------------------------------------------------------------


def build(*, inputs: Sequence[Input], outputs: Sequence[Output], version: int = 2, locktime: int = 0) -> Transaction:
    """A transaction of these parts. Bounds: 32-bit version, index, sequence and locktime, 64-bit signed values.

    Raises `NotATransaction` for parts that have no bytes.
    """
    try:
        parts = [pack("<i", version), count_bytes(len(inputs))]
        for each in inputs:
            parts += (pack("<32sI", each.txid_bytes, each.index), sized(each.script), pack("<I", each.sequence))
            if len(each.txid_bytes) != len(NULL_TXID_BYTES):
                raise NotATransaction("Transaction IDs must be 32 bytes.")
        parts.append(count_bytes(len(outputs)))
        for output in outputs:
            parts += (pack("<q", output.value_sat), sized(output.script))
        raw = b"".join((*parts, pack("<I", locktime)))
    except error as problem:
        raise NotATransaction(f"A number is out of range for a transaction: {problem}.") from None
    return Transaction(version, tuple(inputs), tuple(outputs), locktime, raw)


def count_bytes(count: int) -> bytes:
    """A count in as few bytes as it needs."""
    if count < 0xFD:
        return pack("<B", count)
    if count < 0x10000:
        return pack("<BH", 0xFD, count)
    return pack("<BI", 0xFE, count) if count < 0x100000000 else pack("<BQ", 0xFF, count)


def sized(raw: bytes) -> bytes:
    """Bytes with their count in front, as scripts are serialised."""
    return count_bytes(len(raw)) + raw


# Rules ---------------------------------------------------------------------------------------------------------------


def check(transaction: Transaction) -> None:
    """Raises `InvalidTransaction` for what breaks the rules of the chain whatever its outputs spend."""
    if not transaction.inputs:
        raise InvalidTransaction("bad-txns-vin-empty")
    if not transaction.outputs:
        raise InvalidTransaction("bad-txns-vout-empty")
    if not LEAST_BYTES <= transaction.size <= MOST_BYTES:
        raise InvalidTransaction("bad-txns-undersize" if transaction.size < LEAST_BYTES else "bad-txns-oversize")
    _check_values(transaction.outputs)
    outpoints = {(each.txid_bytes, each.index) for each in transaction.inputs}
    if len(outpoints) != len(transaction.inputs):
        raise InvalidTransaction("bad-txns-inputs-duplicate")
    if transaction.is_coinbase:
        if not 2 <= len(transaction.inputs[0].script) <= 100:
            raise InvalidTransaction("bad-cb-length")
    elif any(each.is_coinbase for each in transaction.inputs):
        raise InvalidTransaction("bad-txns-prevout-null")


def _check_values(outputs: Sequence[Output]) -> None:
    total_sat = 0
    for output in outputs:
        if output.value_sat < 0:
            raise InvalidTransaction("bad-txns-vout-negative")
        if output.value_sat > MOST_SAT:
            raise InvalidTransaction("bad-txns-vout-toolarge")
        total_sat += output.value_sat
        if total_sat > MOST_SAT:
            raise InvalidTransaction("bad-txns-txouttotal-toolarge")


def is_final(transaction: Transaction, *, height: int, median_time: int) -> bool:
    """Whether it may stand in the block of that height after blocks of that median time, in seconds (BIP 113)."""
    if transaction.locktime == 0:
        return True
    limit = height if transaction.locktime < LOCKTIME_IS_HEIGHT_BELOW else median_time
    return transaction.locktime < limit or all(each.sequence == FINAL_SEQUENCE for each in transaction.inputs)
