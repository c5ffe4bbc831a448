"""Checking Schnorr signatures of the chain: 64 bytes, the place of a point and a number, over secp256k1.

The chain takes them beside the older form since May 2019. Plain whole numbers do: nothing secret is computed here.
"""

from hashlib import sha256

PRIME = 2**256 - 2**32 - 977
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
SIGNATURE_BYTES = 64
_BASE = (
    0x79BE667EF9DCBBAC55A06295CE870B07029BFCDB2DCE28D959F2815B16F81798,
    0x483ADA7726A3C4655DA4FBFC0E1108A8FD17B448A68554199C47D08FFB10D4B8,
)
_SEVEN = 7

Point = tuple[int, int] | None  # None: the point at infinity


def is_signed(digest: bytes, *, signature: bytes, public_key: bytes) -> bool:
    """Whether the signature of 32 bytes is that of a public key, in either of its two sound forms."""
    key = _point_of(public_key)
    r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
    if key is None or len(signature) != SIGNATURE_BYTES or r >= PRIME or s >= ORDER:
        return False
    compressed = bytes([2 + (key[1] & 1)]) + key[0].to_bytes(32, "big")
    challenge = int.from_bytes(sha256(signature[:32] + compressed + digest).digest(), "big") % ORDER
    point = _sum(_times(s, _BASE), _times(ORDER - challenge, key))
    return point is not None and point[0] == r and _is_square(point[1])


def _point_of(public_key: bytes) -> Point:
    x = int.from_bytes(public_key[1:33], "big")
    if x >= PRIME or len(public_key) not in (33, 65):
        return None
    y = pow(x**3 + _SEVEN, (PRIME + 1) // 4, PRIME)
    if (y * y - x**3 - _SEVEN) % PRIME:
        return None
    if len(public_key) == 65:
        claimed = int.from_bytes(public_key[33:], "big")
        return (x, claimed) if claimed in (y, PRIME - y) else None
    return x, y if y & 1 == public_key[0] & 1 else PRIME - y


def _is_square(y: int) -> bool:
    return pow(y, (PRIME - 1) // 2, PRIME) == 1


def _sum(one: Point, two: Point) -> Point:
    if one is None or two is None:
        return two if one is None else one
    if one[0] == two[0]:
        if (one[1] + two[1]) % PRIME == 0:
            return None
        slope = 3 * one[0] * one[0] * pow(2 * one[1], -1, PRIME)
    else:
        slope = (two[1] - one[1]) * pow(two[0] - one[0], -1, PRIME)
    x = (slope * slope - one[0] - two[0]) % PRIME
    return x, (slope * (one[0] - x) - one[1]) % PRIME


def _times(count: int, point: Point) -> Point:
    total: Point = None
    while count:
        if count & 1:
            total = _sum(total, point)
        point = _sum(point, point)
        count >>= 1
    return total
