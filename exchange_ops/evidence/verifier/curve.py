"""Signatures of the curve P-256 (ES256), by own arithmetic. Source: FIPS 186-5, section 6; SEC 1, section 4.1."""

import hashlib

_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)

Point = tuple[int, int] | None  # None is the point at infinity


def is_on_curve(x: int, y: int) -> bool:
    """Whether these coordinates are a point of the curve, and so can be a public key: its order is prime."""
    return 0 <= x < _P and 0 <= y < _P and (y * y - (x * x * x - 3 * x + _B)) % _P == 0


def is_signed(key: tuple[int, int], content: bytes, signature: bytes) -> bool:
    """Whether `signature`, two numbers in DER, is that of the key over SHA-256 of `content`."""
    numbers = _der_numbers(signature)
    if numbers is None or not is_on_curve(*key):
        return False
    r, s = numbers
    if not (0 < r < _N and 0 < s < _N):
        return False
    digest = int.from_bytes(hashlib.sha256(content).digest(), "big")
    inverse = pow(s, -1, _N)
    point = _add(_times(digest * inverse % _N, _G), _times(r * inverse % _N, key))
    return point is not None and point[0] % _N == r


def _add(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return other if one is None else one
    (x, y), (u, v) = one, other
    if x == u and (y + v) % _P == 0:
        return None
    slope = (3 * x * x - 3) * pow(2 * y, -1, _P) if one == other else (v - y) * pow(u - x, -1, _P)
    third = (slope * slope - x - u) % _P
    return third, (slope * (x - third) - y) % _P


def _times(factor: int, point: Point) -> Point:
    total: Point = None
    while factor:
        if factor & 1:
            total = _add(total, point)
        point, factor = _add(point, point), factor >> 1
    return total


def _der_numbers(signature: bytes) -> tuple[int, int] | None:
    """The two numbers of a signature in DER, which writes each number in one way; None for anything else."""
    if len(signature) < 8 or signature[0] != 0x30 or signature[1] != len(signature) - 2:
        return None
    numbers, at = [], 2
    for _ in range(2):
        if at + 2 > len(signature) or signature[at] != 0x02:
            return None
        end = at + 2 + signature[at + 1]
        digits = signature[at + 2 : end]
        is_padded = len(digits) > 1 and digits[0] == 0 and digits[1] < 0x80
        if end > len(signature) or not digits or digits[0] >= 0x80 or is_padded:
            return None
        numbers.append(int.from_bytes(digits, "big"))
        at = end
    return (numbers[0], numbers[1]) if at == len(signature) else None
