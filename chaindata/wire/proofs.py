"""Proofs that transactions stand in a block: a header and a partial merkle tree, in the form of nodes.

Source: supplement 5.2 (BIP 37). After the header come the number of transactions in the block, hashes depth-first, and
a bit for each node that is walked through: 1 above a transaction that is proven, and for that itself; 0 where a hash
stands for all that lies below.

What a proof can't show: that its block is in the best chain; and how many transactions the block has, unless the path
runs along the right edge of the tree. Callers that know the number pass it. That an inner node is not taken for a
transaction follows from the transaction's bytes: inner nodes hash 64 bytes, and no transaction in a block is as short.
"""

from collections.abc import Collection, Iterator, Sequence
from hashlib import sha256
from itertools import chain, islice
from struct import error, pack, unpack_from

import msgspec

from chaindata.wire import headers
from chaindata.wire.headers import Header
from chaindata.wire.transactions import NotATransaction, count_at, count_bytes

MOST_TRANSACTIONS = 32_000_000 // 60  # a block of the largest size, of the smallest transactions
MOST_BYTES = 1_000_000
_HASH_BYTES = 32
_BITS = [tuple(byte >> place & 1 for place in range(8)) for byte in range(256)]  # the lowest first


class NotAProof(ValueError):
    """The bytes are no proof, or an invalid one; the message says what is wrong."""


class Proof(msgspec.Struct, frozen=True, gc=False):
    """A proof as it was read; whether its hashes lead to the root is not checked yet."""

    header: Header
    transactions: int
    hashes: tuple[bytes, ...]
    bits: bytes

    @property
    def raw(self) -> bytes:
        """Its bytes."""
        return b"".join(
            (
                self.header.raw,
                pack("<I", self.transactions),
                count_bytes(len(self.hashes)),
                *self.hashes,
                count_bytes(len(self.bits)),
                self.bits,
            )
        )


class Proven(msgspec.Struct, frozen=True, gc=False):
    """A transaction that a proof proves, and its place in the block."""

    txid_bytes: bytes
    position: int

    @property
    def txid(self) -> str:
        """Its id as shown."""
        return self.txid_bytes[::-1].hex()


# Reading -------------------------------------------------------------------------------------------------------------


def read(raw: bytes) -> Proof:
    """The proof that the bytes are, all of them. Raises `NotAProof`."""
    if len(raw) > MOST_BYTES:
        raise NotAProof(f"Proofs can be up to {MOST_BYTES} bytes.")
    try:
        (transactions,) = unpack_from("<I", raw, headers.BYTES)
        count, at = count_at(raw, headers.BYTES + 4)
        end = at + _HASH_BYTES * count
        size, begin = count_at(raw, end)
    except (error, IndexError):
        raise NotAProof(f"The proof is cut short: it has only {len(raw)} bytes.") from None
    except NotATransaction as problem:
        raise NotAProof(str(problem)) from None
    if len(raw) != begin + size:
        raise NotAProof(f"The proof should be {begin + size} bytes but is {len(raw)}.")
    if not 0 < transactions <= MOST_TRANSACTIONS:
        raise NotAProof(f"No block can have {transactions} transactions.")
    if count > transactions or 8 * size < count:
        raise NotAProof(f"A proof of {transactions} transactions can't have {count} hashes and {size} flag bytes.")
    hashes = tuple(raw[place : place + _HASH_BYTES] for place in range(at, end, _HASH_BYTES))
    return Proof(headers.read(raw[: headers.BYTES]), transactions, hashes, raw[begin:])


# Checking ------------------------------------------------------------------------------------------------------------


def proven(proof: Proof, *, transactions: int | None = None) -> list[Proven]:
    """The transactions that it proves to be in the block of its header, in their order; at least one.

    `transactions` is how many the block has, if the caller knows. Raises `NotAProof` if its hashes don't lead to the
    header's root, or if it has more of anything than it needs.
    """
    if transactions not in (None, proof.transactions):
        raise NotAProof(f"The block has {transactions} transactions, but the proof claims {proof.transactions}.")
    matches, root = _walk(proof)
    if root != proof.header.merkle_root_bytes:
        raise NotAProof("The proof's hashes do not lead to the merkle root in its header.")
    if not matches:
        raise NotAProof("The proof contains no transaction.")
    return matches


def check(
    proof: Proof, *, easiest_target: int, transactions: int | None = None, txids_bytes: Collection[bytes] | None = None
) -> list[Proven]:
    """As `proven`, but also check the header's work and, if `txids_bytes` are given, that exactly those are proven.

    A neighbour that is given as a hash may also be marked as proven, rightly, because it is in the block. A caller that
    names the transactions accepts no proof with a changed byte. Raises `NotAProof`.
    """
    try:
        headers.check_work(proof.header, easiest_target=easiest_target)
    except headers.NotAHeader as problem:
        raise NotAProof(str(problem)) from None
    matches = proven(proof, transactions=transactions)
    if txids_bytes is not None and {each.txid_bytes for each in matches} != set(txids_bytes):
        raise NotAProof("The proof is for different transactions from those requested.")
    return matches


def _walk(proof: Proof) -> tuple[list[Proven], bytes]:
    """The proven transactions in the tree, and its root, after all hashes and bits were used."""
    widths = _widths(proof.transactions)
    hashes, bits = iter(proof.hashes), chain.from_iterable(map(_BITS.__getitem__, proof.bits))
    matches: list[Proven] = []

    def node(height: int, position: int) -> bytes:
        bit = next(bits, None)
        if bit is None:
            raise NotAProof("The proof has too few bits.")
        if not bit or not height:
            hash_bytes = next(hashes, None)
            if hash_bytes is None:
                raise NotAProof("The proof has too few hashes.")
            if bit:
                matches.append(Proven(hash_bytes, position))
            return hash_bytes
        left_hash = node(height - 1, 2 * position)
        if 2 * position + 1 >= widths[height - 1]:
            return sha256(sha256(left_hash + left_hash).digest()).digest()
        right_hash = node(height - 1, 2 * position + 1)
        if left_hash == right_hash:
            raise NotAProof("Two adjacent hashes in the proof are identical.")
        return sha256(sha256(left_hash + right_hash).digest()).digest()

    root = node(len(widths) - 1, 0)
    if next(hashes, None) is not None:
        raise NotAProof("The proof has more hashes than it needs.")
    surplus = tuple(islice(bits, 8))
    if len(surplus) == 8 or any(surplus):
        raise NotAProof("The proof has more bits than it needs.")
    return matches, root


def _widths(transactions: int) -> list[int]:
    """The number of nodes on each level of the tree, the lowest first."""
    widths = [transactions]
    while widths[-1] > 1:
        widths.append((widths[-1] + 1) // 2)
    return widths


# Building ------------------------------------------------------------------------------------------------------------


def build(header: Header, txids_bytes: Sequence[bytes], selection: Collection[bytes]) -> Proof:
    """The proof that the selected transactions are in a block of these ones. Raises `NotAProof` if one is not."""
    missing = set(selection) - set(txids_bytes)
    if missing or not selection:
        sentence = f"{len(missing)} of the transactions are not in the block."
        raise NotAProof(sentence if missing else "No transactions requested.")
    is_selected = [[txid_bytes in selection for txid_bytes in txids_bytes]]
    levels = [list(txids_bytes)]
    while len(levels[-1]) > 1:
        below, marks = levels[-1], is_selected[-1]
        pairs = range(0, len(below), 2)
        levels.append([_parent(below, place) for place in pairs])
        is_selected.append([any(marks[place : place + 2]) for place in pairs])
    if levels[-1][0] != header.merkle_root_bytes:
        raise NotAProof("The header does not belong to a block with these transactions.")
    nodes = list(_nodes(levels, is_selected, len(levels) - 1, 0))
    number = sum(bit << place for place, (bit, _) in enumerate(nodes))
    bits = number.to_bytes((len(nodes) + 7) // 8, "little")
    return Proof(header, len(txids_bytes), tuple(node for _, node in nodes if node is not None), bits)


def _parent(level: list[bytes], place: int) -> bytes:
    left_hash, right_hash = level[place], level[min(place + 1, len(level) - 1)]
    return sha256(sha256(left_hash + right_hash).digest()).digest()


def _nodes(
    levels: list[list[bytes]], is_selected: list[list[bool]], height: int, place: int
) -> Iterator[tuple[bool, bytes | None]]:
    """Depth-first from the root: the bit of each node that a reader visits, and its hash if the proof has it."""
    match = is_selected[height][place]
    if height == 0 or not match:
        yield match, levels[height][place]
        return
    yield True, None
    for below in (2 * place, 2 * place + 1):
        if below < len(levels[height - 1]):
            yield from _nodes(levels, is_selected, height - 1, below)
