"""The script that an address stands for: cash addresses and legacy ones. Source: chain supplement 5.1."""

import hashlib

_SYMBOLS = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_GENERATORS = (0x98F2BC8E61, 0x79B76D99E2, 0xF33E5FB3C4, 0xAE2EABE2A8, 0x1E4F43E470)
_CASH_PREFIXES = {
    "main": ("bitcoincash", "simpleledger"),
    "test": ("bchtest", "slptest"),
    "regtest": ("bchreg", "slpreg", "bchtest", "slptest"),
}
_LEGACY_KINDS = {"main": {0: 0, 5: 1}, "test": {111: 0, 196: 1}, "regtest": {111: 0, 196: 1}}


def script_of(address: str, network: str) -> bytes | None:
    """The locking script of the address on this network; None if it is no address of it."""
    hashed = _read_cash(address, network) or _read_legacy(address, network)
    if hashed is None or len(hashed[1]) != 20:
        return None
    kind, key = hashed
    return b"\x76\xa9\x14" + key + b"\x88\xac" if kind == 0 else b"\xa9\x14" + key + b"\x87"


def _read_cash(address: str, network: str) -> tuple[int, bytes] | None:
    if address not in (address.lower(), address.upper()):
        return None
    prefix, _, payload = address.lower().rpartition(":")
    values = [_SYMBOLS.find(symbol) for symbol in payload]
    if len(values) < 9 or len(values) > 112 or min(values) < 0:
        return None
    for name in _CASH_PREFIXES[network] if not prefix else (prefix,):
        if name in _CASH_PREFIXES[network] and _residue([*(ord(letter) & 31 for letter in name), 0, *values]) == 0:
            raw = _grouped_bytes(values[:-8])
            return (raw[0] >> 3, raw[1:]) if raw[0] >> 3 in (0, 1) and raw[0] & 7 == 0 else None
    return None


def _residue(values: list[int]) -> int:
    residue = 1
    for value in values:
        top = residue >> 35
        residue = (residue & 0x07FFFFFFFF) << 5 ^ value
        for bit, generator in enumerate(_GENERATORS):
            residue ^= generator if top >> bit & 1 else 0
    return residue ^ 1


def _grouped_bytes(values: list[int]) -> bytes:
    number, bits = 0, 5 * len(values)
    for value in values:
        number = number << 5 | value
    return (number >> bits % 8).to_bytes(bits // 8, "big")


def _read_legacy(address: str, network: str) -> tuple[int, bytes] | None:
    number = 0
    for symbol in address:
        place = _BASE58.find(symbol)
        if place < 0 or len(address) > 50:
            return None
        number = number * 58 + place
    raw = number.to_bytes(25, "big") if number < 1 << 200 else b""
    checksum = hashlib.sha256(hashlib.sha256(raw[:-4]).digest()).digest()[:4]
    kind = _LEGACY_KINDS[network].get(raw[0]) if raw else None
    return (kind, raw[1:-4]) if kind is not None and raw[-4:] == checksum else None
