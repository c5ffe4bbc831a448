"""Block headers: 80 bytes, their work, and what makes one follow another.

Source: supplement 5.3 and 5.4. The target is written in four bytes, three of them digits; the work of a header is how
many hashes it takes to meet its target, on average.
"""

from collections.abc import Sequence
from decimal import Context, Decimal
from struct import Struct, error

import msgspec

from chaindata.wire.hashing import display_hex, double_sha256

BYTES = 80
REGTEST_BITS = 0x207FFFFF
EASIEST_TARGET = {
    "main": 0xFFFF << 208,
    "test": 0xFFFF << 208,
    "regtest": 0x7FFFFF << 232,
}
"""The easiest target of each network."""
MEDIAN_OF = 11  # blocks

_FORM = Struct("<i32s32sIII")
_DIFFICULTY_ONE = 0xFFFF << 208
_NUMBER = Context(prec=17)  # as many digits as nodes print


class NotAHeader(ValueError):
    """The bytes are no block header, or the header does not keep its promise of work."""


class Header(msgspec.Struct, frozen=True, gc=False):
    """The header of a block. `time` in seconds since 1970; hashes as computed."""

    version: int
    previous_bytes: bytes
    merkle_root_bytes: bytes
    time: int
    bits: int
    nonce: int

    @property
    def raw(self) -> bytes:
        """Its 80 bytes."""
        return _FORM.pack(self.version, self.previous_bytes, self.merkle_root_bytes, self.time, self.bits, self.nonce)

    @property
    def hash_bytes(self) -> bytes:
        """Its hash as computed."""
        return double_sha256(self.raw)

    @property
    def hash(self) -> str:
        """Its hash as shown."""
        return display_hex(self.hash_bytes)

    @property
    def previous_hash(self) -> str:
        """The hash of the block before, as shown."""
        return display_hex(self.previous_bytes)

    @property
    def merkle_root(self) -> str:
        """The root of its transactions, as shown."""
        return display_hex(self.merkle_root_bytes)

    @property
    def target(self) -> int:
        """The highest hash that it may have. Raises `NotAHeader` for bits that are no target."""
        return target_of(self.bits)

    @property
    def work(self) -> int:
        """The hashes it takes to meet its target, on average."""
        return work_of(self.bits)

    @property
    def meets_target(self) -> bool:
        """Whether its hash, read as a number, is within its target."""
        return int.from_bytes(self.hash_bytes, "little") <= self.target


def read(raw: bytes) -> Header:
    """The header that the 80 bytes are. Any 80 bytes have its form; what they promise is for `check_work`."""
    if len(raw) != BYTES:
        raise NotAHeader(f"Block headers must be {BYTES} bytes; this one is {len(raw)}.")
    return Header(*_FORM.unpack(raw))


def build(*, version: int, previous_bytes: bytes, merkle_root_bytes: bytes, time: int, bits: int, nonce: int) -> Header:
    """A header of these parts. Raises `NotAHeader` for parts that have no bytes."""
    header = Header(version, previous_bytes, merkle_root_bytes, time, bits, nonce)
    if len(previous_bytes) != 32 or len(merkle_root_bytes) != 32:
        raise NotAHeader("Header hashes must be 32 bytes.")
    try:
        _FORM.pack(version, previous_bytes, merkle_root_bytes, time, bits, nonce)
    except error as problem:
        raise NotAHeader(f"A number is out of range for a header: {problem}.") from None
    return header


def check_work(header: Header, *, easiest_target: int) -> None:
    """Raises `NotAHeader` unless the hash is within the header's target, and that within the network's easiest."""
    if header.target > easiest_target:
        raise NotAHeader("The header's target is easier than its network allows.")
    if not header.meets_target:
        raise NotAHeader("The header's hash is above its target: invalid proof of work.")


def check_chain(headers: Sequence[Header], *, easiest_target: int) -> None:
    """Raises `NotAHeader` unless each header has its work and follows the one before it."""
    for place, header in enumerate(headers):
        check_work(header, easiest_target=easiest_target)
        if place and header.previous_bytes != headers[place - 1].hash_bytes:
            raise NotAHeader(f"Header {place} does not follow header {place - 1}.")


# Targets -------------------------------------------------------------------------------------------------------------


def target_of(bits: int) -> int:
    """The target that four bytes stand for. Raises `NotAHeader` when it is negative, zero or over 256 bits."""
    exponent, mantissa = bits >> 24, bits & 0x007FFFFF
    target = mantissa >> 8 * (3 - exponent) if exponent <= 3 else mantissa << 8 * (exponent - 3)
    if not 0 <= bits < 1 << 32 or bits & 0x00800000 or not 0 < target < 1 << 256:
        raise NotAHeader(f"The bits {bits:#010x} do not encode a valid target.")
    return target


def bits_of(target: int) -> int:
    """The four bytes of a target, cut to its three highest digits. Bounds: 1 to 2^256 - 1."""
    if not 0 < target < 1 << 256:
        raise NotAHeader("Targets must be 1 to 256 bits.")
    size = (target.bit_length() + 7) // 8
    mantissa = target << 8 * (3 - size) if size <= 3 else target >> 8 * (size - 3)
    if mantissa & 0x00800000:  # the highest bit is a sign
        mantissa, size = mantissa >> 8, size + 1
    return size << 24 | mantissa


def work_of(bits: int) -> int:
    """The hashes it takes to meet the target of these bits, on average: 2 for the easiest of a test chain."""
    return (1 << 256) // (target_of(bits) + 1)


def chainwork_text(work: int) -> str:
    """The work of a whole chain as it is shown: 64 hexadecimal digits."""
    return f"{work:064x}"


def difficulty_of(bits: int) -> Decimal:
    """How many times harder the target is than the easiest of the main chain, to 17 digits."""
    return _NUMBER.divide(Decimal(_DIFFICULTY_ONE), Decimal(target_of(bits))).normalize(_NUMBER)


def median_time(times: Sequence[int]) -> int:
    """The median of the times of the last eleven blocks, or of as many as there are, in seconds."""
    last = sorted(times[-MEDIAN_OF:])
    if not last:
        raise NotAHeader("No block times were given.")
    return last[len(last) // 2]
