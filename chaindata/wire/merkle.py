"""Merkle trees of a block's transactions: the root, and the branch from one transaction up to it.

Nodes are hashes as computed. If a level has an odd number of nodes the last one is paired with itself. Two equal nodes
side by side would give the same root for other transactions (CVE-2012-2459), so they are refused.
"""

from collections.abc import Sequence
from hashlib import sha256

from chaindata.wire.hashing import double_sha256


class NotATree(ValueError):
    """No block has these transactions in this form."""


def root(leaves: Sequence[bytes]) -> bytes:
    """The root over the ids of a block's transactions, in their order. Raises `NotATree`."""
    if not leaves:
        raise NotATree("A block must have at least one transaction.")
    level = list(leaves)
    while len(level) > 1:
        level = _above(level)
    return level[0]


def branch(leaves: Sequence[bytes], index: int) -> list[bytes]:
    """The neighbours on the way from leaf `index` to the root, lowest first."""
    if not 0 <= index < len(leaves):
        raise NotATree(f"The block has {len(leaves)} transactions, but none at position {index}.")
    level, neighbours = list(leaves), []
    while len(level) > 1:
        neighbours.append(level[min(index ^ 1, len(level) - 1)])
        level, index = _above(level), index >> 1
    return neighbours


def root_of_branch(leaf: bytes, index: int, neighbours: Sequence[bytes]) -> bytes:
    """The root that a branch leads to. Raises `NotATree` when the index does not fit in a tree of that height."""
    if index < 0 or index >> len(neighbours):
        raise NotATree("The transaction's position is outside the tree.")
    node = leaf
    for neighbour in neighbours:
        node = double_sha256(neighbour + node if index & 1 else node + neighbour)
        index >>= 1
    return node


def _above(level: list[bytes]) -> list[bytes]:
    """The next higher level. Raises `NotATree` for two equal nodes side by side."""
    odd = len(level) & 1
    for place in range(0, len(level) - 1, 2):
        if level[place] == level[place + 1]:
            raise NotATree("Two adjacent transactions are identical.")
    nodes = [*level, level[-1]] if odd else level
    return [sha256(sha256(nodes[place] + nodes[place + 1]).digest()).digest() for place in range(0, len(nodes), 2)]
