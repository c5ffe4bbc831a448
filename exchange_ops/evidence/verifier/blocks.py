"""Transactions, block headers and proofs that a transaction is in a block, from their bytes.

Source: chain supplement 5.2 (BIP 37), 5.3 and 5.4.
"""

import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

HEADER_BYTES = 80
EASIEST_TARGETS = {"main": 0xFFFF << 208, "test": 0xFFFF << 208, "regtest": 0x7FFFFF << 232}


class NotValid(Exception):
    """The bytes are not what they should be; the message is a sentence."""


def double_sha256(content: bytes) -> bytes:
    """SHA-256 of SHA-256."""
    return hashlib.sha256(hashlib.sha256(content).digest()).digest()


def display_hex(hash_bytes: bytes) -> str:
    """A hash as people write it: the last byte first."""
    return hash_bytes[::-1].hex()


def outputs_of(raw: bytes) -> list[tuple[int, bytes]]:
    """The outputs of a transaction, each with satoshis and script. Raises NotValid."""
    try:
        at = 4
        count, at = _count(raw, at)
        for _ in range(count):
            size, at = _count(raw, at + 36)
            at += size + 4
        count, at = _count(raw, at)
        outputs = []
        for _ in range(count):
            (value,) = struct.unpack_from("<q", raw, at)
            size, at = _count(raw, at + 8)
            outputs.append((value, raw[at : at + size]))
            at += size
    except (struct.error, IndexError):
        raise NotValid("The transaction is cut short.") from None
    if at + 4 != len(raw):
        raise NotValid("The transaction has bytes left over, or too few.")
    return outputs


def check_header(raw: bytes, network: str) -> int:
    """The target of a header that has its work. Raises NotValid."""
    if len(raw) != HEADER_BYTES:
        raise NotValid(f"A block header has {HEADER_BYTES} bytes.")
    bits: int
    (bits,) = struct.unpack_from("<I", raw, 72)
    exponent, digits = bits >> 24, bits & 0x007FFFFF
    target = digits >> 8 * (3 - exponent) if exponent <= 3 else digits << 8 * (exponent - 3)
    if bits & 0x00800000 or not 0 < target <= EASIEST_TARGETS[network]:
        raise NotValid("The target of the block header is easier than the network allows.")
    if int.from_bytes(double_sha256(raw), "little") > target:
        raise NotValid("The block header has no valid proof of work: its hash is above its target.")
    return target


def proven_in(proof: bytes) -> tuple[bytes, list[bytes]]:
    """The header of a proof and the transactions that it proves to be in that block. Raises NotValid."""
    header = proof[:HEADER_BYTES]
    try:
        (transactions,) = struct.unpack_from("<I", proof, HEADER_BYTES)
        count, at = _count(proof, HEADER_BYTES + 4)
        end = at + 32 * count
        size, begin = _count(proof, end)
    except (struct.error, IndexError):
        raise NotValid("The proof is cut short.") from None
    if len(proof) != begin + size or not 0 < transactions <= 1_000_000 or 8 * size < count:
        raise NotValid("The proof has bytes left over, or too few.")
    hashes = iter([proof[place : place + 32] for place in range(at, end, 32)])
    bits = iter([byte >> place & 1 for byte in proof[begin:] for place in range(8)])
    tree = _Tree(transactions, hashes, bits)
    root = tree.root()
    rest = list(bits)
    if next(hashes, None) is not None or len(rest) >= 8 or any(rest):
        raise NotValid("The proof has more hashes or bits than it needs.")
    if root != header[36:68]:
        raise NotValid("The hashes of the proof do not lead to the Merkle root in the block header.")
    return header, tree.matches


@dataclass
class _Tree:
    """A partial tree as it is walked, depth first; `width` is the number of transactions in the block."""

    width: int
    hashes: Iterator[bytes]
    bits: Iterator[int]
    matches: list[bytes] = field(default_factory=list)

    def root(self) -> bytes:
        return self._node((self.width - 1).bit_length(), 0)

    def _node(self, height: int, place: int) -> bytes:
        bit = next(self.bits, None)
        if bit is None:
            raise NotValid("The proof has too few bits.")
        if not bit or not height:
            own = next(self.hashes, None)
            if own is None:
                raise NotValid("The proof has too few hashes.")
            if bit:
                self.matches.append(own)
            return own
        left_hash = self._node(height - 1, 2 * place)
        if 2 * place + 1 > (self.width - 1) >> height - 1:
            return double_sha256(left_hash + left_hash)
        right_hash = self._node(height - 1, 2 * place + 1)
        if left_hash == right_hash:
            raise NotValid("Two neighbours in the proof are equal.")
        return double_sha256(left_hash + right_hash)


def _count(raw: bytes, at: int) -> tuple[int, int]:
    """A count in its form of one to nine bytes, and the byte behind it."""
    first = raw[at]
    if first < 0xFD:
        return first, at + 1
    form = {0xFD: "<H", 0xFE: "<I", 0xFF: "<Q"}[first]
    (number,) = struct.unpack_from(form, raw, at + 1)
    return number, at + 1 + struct.calcsize(form)
