"""Text forms of binary addresses: Base58Check, bech32 and bech32m, and the regrouping of bits they share.

Pure functions on text and bytes; which version byte or prefix belongs to which coin is the business of the callers.
"""

from collections.abc import Iterable
from hashlib import sha256

BITCOIN_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
RIPPLE_ALPHABET = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"
BECH32_CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
LONGEST = 128  # characters: no address is longer, and the arithmetic below is quadratic

_BECH32_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_BECH32_RESIDUES = {1: "bech32", 0x2BC830A3: "bech32m"}
_CHECKSUM_SYMBOLS = 6


class NotEncoded(ValueError):
    """The text is not in this encoding; its message is a sentence that a person can act on."""


def base58_decode(text: str, *, alphabet: str = BITCOIN_ALPHABET) -> bytes:
    """The bytes of a Base58 text: leading zero digits stand for leading zero bytes."""
    if not text or len(text) > LONGEST:
        raise NotEncoded(f"Addresses of this type must be 1 to {LONGEST} characters long.")
    number = 0
    for place, character in enumerate(text, start=1):
        digit = alphabet.find(character)
        if digit < 0:
            raise NotEncoded(f"Character {place} ({character!r}) is not used in addresses of this type.")
        number = number * 58 + digit
    zeros = len(text) - len(text.lstrip(alphabet[0]))
    return bytes(zeros) + number.to_bytes((number.bit_length() + 7) // 8, "big")


def base58_encode(raw: bytes, *, alphabet: str = BITCOIN_ALPHABET) -> str:
    """Base58 text of `raw`; the inverse of `base58_decode`."""
    number, digits = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        digits = alphabet[digit] + digits
    return alphabet[0] * (len(raw) - len(raw.lstrip(b"\0"))) + digits


def base58check_decode(text: str, *, alphabet: str = BITCOIN_ALPHABET) -> bytes:
    """Version and payload of a Base58Check text; raises `NotEncoded` when its four checksum bytes don't fit."""
    raw = base58_decode(text, alphabet=alphabet)
    if len(raw) < 5 or _double_sha256(raw[:-4])[:4] != raw[-4:]:
        raise NotEncoded("Invalid checksum: a character is wrong, missing or extra.")
    return raw[:-4]


def base58check_encode(payload: bytes, *, alphabet: str = BITCOIN_ALPHABET) -> str:
    """Base58Check text of version and payload."""
    return base58_encode(payload + _double_sha256(payload)[:4], alphabet=alphabet)


def bech32_decode(text: str) -> tuple[str, list[int], str]:
    """Prefix, five-bit values without checksum, and which checksum fits: "bech32" or "bech32m" (BIP 173, BIP 350)."""
    if text != text.lower() and text != text.upper():
        raise NotEncoded("Upper and lower case are mixed. An address of this type uses only one.")
    lowered = text.lower()
    prefix, separator, symbols = lowered.rpartition("1")
    if not separator or not prefix or len(symbols) < _CHECKSUM_SYMBOLS or len(text) > 90:
        raise NotEncoded("Too short or too long for an address of this type, or its prefix is missing.")
    values = base32_values(symbols, first_place=len(prefix) + 2)
    spread = [ord(letter) >> 5 for letter in prefix] + [0] + [ord(letter) & 31 for letter in prefix]
    variant = _BECH32_RESIDUES.get(_bech32_polymod(spread + values))
    if variant is None:
        raise NotEncoded("Invalid checksum: a character is wrong, missing or extra.")
    return prefix, values[:-_CHECKSUM_SYMBOLS], variant


def witness_program(text: str) -> tuple[str, int, bytes]:
    """Prefix, witness version and program of a segregated-witness address."""
    prefix, values, variant = bech32_decode(text)
    if not values or values[0] > 16:
        raise NotEncoded("This address has an unknown witness version.")
    version, program = values[0], regroup(values[1:], 5, 8, pad=False)
    if variant != ("bech32" if version == 0 else "bech32m"):
        raise NotEncoded("Wrong checksum type for this witness version.")
    if not 2 <= len(program) <= 40 or (version == 0 and len(program) not in (20, 32)):
        raise NotEncoded("The length of this address does not match its witness version.")
    return prefix, version, bytes(program)


def base32_values(symbols: str, *, first_place: int = 1) -> list[int]:
    """The five-bit values of symbols of the bech32 character set; `first_place` numbers the first one in a refusal."""
    values = [BECH32_CHARSET.find(symbol) for symbol in symbols]
    for place, value in enumerate(values, start=first_place):
        if value < 0:
            raise NotEncoded(
                f"Character {place} ({symbols[place - first_place]!r}) is not used in addresses of this type."
            )
    return values


def regroup(values: Iterable[int], from_bits: int, to_bits: int, *, pad: bool) -> list[int]:
    """Groups of `from_bits` bits turned into groups of `to_bits`; left-over bits must be few and zero unless padded."""
    bits, width, groups = 0, 0, []
    for value in values:
        bits = (bits << from_bits) | value
        width += from_bits
        while width >= to_bits:
            width -= to_bits
            groups.append((bits >> width) & ((1 << to_bits) - 1))
        bits &= (1 << width) - 1
    if pad and width:
        groups.append(bits << (to_bits - width))
    elif not pad and (width >= from_bits or bits):
        raise NotEncoded("Invalid padding: the last characters are wrong.")
    return groups


def _double_sha256(raw: bytes) -> bytes:
    return sha256(sha256(raw).digest()).digest()


def _bech32_polymod(values: Iterable[int]) -> int:
    residue = 1
    for value in values:
        top, residue = residue >> 25, ((residue & 0x1FFFFFF) << 5) ^ value
        for bit, generator in enumerate(_BECH32_GENERATORS):
            if top >> bit & 1:
                residue ^= generator
    return residue
