"""The encoding of cash addresses: a prefix, and a version byte with a hash under a checksum of 40 bits.

Source: supplement 5.1. The checksum is linear: each byte of the payload adds what stands in a table for its place, so
that writing a usual address takes one look-up a byte. Which prefix and version mean what is for `addresses`.
"""

from functools import lru_cache, reduce
from operator import getitem, xor

from wire import encodings
from wire.encodings import NotEncoded

HASH_SIZES = (20, 24, 28, 32, 40, 48, 56, 64)  # bytes, by the lowest three bits of the version byte
MOST_SYMBOLS = 112
_USUAL_SIZE = 20  # bytes: the hashes of nearly every address, for which there are tables
_CHECKSUM_SYMBOLS = 8
_GENERATORS = (0x98F2BC8E61, 0x79B76D99E2, 0xF33E5FB3C4, 0xAE2EABE2A8, 0x1E4F43E470)
_LOW_35 = (1 << 35) - 1
_PAIRS = [one + two for one in encodings.BECH32_CHARSET for two in encodings.BECH32_CHARSET]  # by ten bits
_SHIFTS = tuple(range(200, -10, -10))


def _feedback(top: int) -> int:
    """What the five highest bits, when they leave the register, put back into it."""
    residue = 0
    for bit, generator in enumerate(_GENERATORS):
        residue ^= generator if top >> bit & 1 else 0
    return residue


_FEEDBACK = tuple(map(_feedback, range(32)))


def encode(prefix: str, version: int, hash_bytes: bytes) -> str:
    """Prefix, colon and payload with checksum. Bounds: `hash_bytes` has one of the eight sizes of the format."""
    payload = (version | HASH_SIZES.index(len(hash_bytes))).to_bytes(1, "big") + hash_bytes
    if len(hash_bytes) == _USUAL_SIZE:
        return f"{prefix}:{_usual(prefix, payload)}"
    values = encodings.regroup(payload, 8, 5, pad=True)
    values += encodings.regroup(_checksum(prefix, payload).to_bytes(5, "big"), 8, 5, pad=False)
    return f"{prefix}:{''.join(encodings.BECH32_CHARSET[value] for value in values)}"


def decode(prefixes: list[str], payload: str) -> tuple[str, bytes]:
    """Which of the prefixes the checksum fits, and the bytes of the payload in small letters. Raises `NotEncoded`."""
    if len(payload) > MOST_SYMBOLS:
        raise NotEncoded("This is too long for an address on this chain.")
    values = encodings.base32_values(payload)
    for prefix in prefixes:
        if _polymod([*_spread(prefix), 0, *values]) == 0:
            return prefix, bytes(encodings.regroup(values[:-_CHECKSUM_SYMBOLS], 5, 8, pad=False))
    raise NotEncoded("Invalid checksum: a character is wrong, missing or extra.")


def _usual(prefix: str, payload: bytes) -> str:
    """The symbols of a payload of the usual size: 168 bits, two zeros to fill the last symbol, 40 bits of checksum."""
    residue, tables = _tables(prefix)
    number = int.from_bytes(payload, "big") << 42 | reduce(xor, map(getitem, tables, payload), residue)
    return "".join([_PAIRS[number >> shift & 1023] for shift in _SHIFTS])


@lru_cache(maxsize=16)
def _tables(prefix: str) -> tuple[int, list[list[int]]]:
    """The checksum of a payload of zeros, and for each place what each byte there changes of it."""
    size = 1 + _USUAL_SIZE
    zero = _checksum(prefix, bytes(size))
    tables = []
    for place in range(size):
        table = [0]
        for bit in range(8):
            one = bytes(place) + bytes([1 << bit]) + bytes(size - place - 1)
            change = _checksum(prefix, one) ^ zero
            table += [each ^ change for each in table]
        tables.append(table)
    return zero, tables


def _checksum(prefix: str, payload: bytes) -> int:
    values = encodings.regroup(payload, 8, 5, pad=True)
    return _polymod([*_spread(prefix), 0, *values, *([0] * _CHECKSUM_SYMBOLS)])


def _spread(prefix: str) -> list[int]:
    return [ord(letter) & 31 for letter in prefix]


def _polymod(values: list[int]) -> int:
    residue = 1
    for value in values:
        residue = ((residue & _LOW_35) << 5) ^ value ^ _FEEDBACK[residue >> 35]
    return residue ^ 1
