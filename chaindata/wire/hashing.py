"""The chain's hashes, and the two ways to write one: as computed, and reversed in hexadecimal as people see it.

Names follow: `txid` and `hash` are what is shown, `txid_bytes` and `hash_bytes` what is computed and travels in blocks.
"""

import re
from hashlib import sha256

from Crypto.Hash import RIPEMD160

_DISPLAY_HEX = re.compile(r"[0-9a-fA-F]{64}")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2})*")


class NotHexadecimal(ValueError):
    """The text is no hexadecimal text of the size that is wanted here."""


def double_sha256(raw: bytes) -> bytes:
    """The hash of transactions, headers and merkle nodes, in the order it is computed."""
    return sha256(sha256(raw).digest()).digest()


def hash160(raw: bytes) -> bytes:
    """The hash of keys and scripts inside addresses, 20 bytes."""
    return RIPEMD160.new(sha256(raw).digest()).digest()


def display_hex(hash_bytes: bytes) -> str:
    """A hash as people see it: reversed, in hexadecimal."""
    return hash_bytes[::-1].hex()


def from_display_hex(text: str) -> bytes:
    """The inverse of `display_hex`, in either case of letters. Raises `NotHexadecimal` unless it has 64 digits."""
    if not _DISPLAY_HEX.fullmatch(text):
        raise NotHexadecimal("IDs must be 64 hexadecimal digits.")
    return bytes.fromhex(text)[::-1]


def is_display_hex(text: str) -> bool:
    """Whether the text is a hash as people see it, in either case of letters."""
    return _DISPLAY_HEX.fullmatch(text) is not None


def from_hex(text: str, *, most_bytes: int) -> bytes:
    """The bytes of a hexadecimal text without spaces. Raises `NotHexadecimal`, for more than `most_bytes` too."""
    if len(text) > 2 * most_bytes:
        raise NotHexadecimal(f"The data is longer than {most_bytes} bytes.")
    if not _HEX.fullmatch(text):
        raise NotHexadecimal("Not hexadecimal: use only 0 to 9 and a to f, in pairs.")
    return bytes.fromhex(text)
