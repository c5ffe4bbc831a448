"""One chain address in its three forms: cash, legacy and SLP address (specification 3, "Base"; supplement 5.1).

The chain has three networks. Cash and SLP forms name theirs by prefix; a legacy address of the test networks names
both, so reading takes the networks that are wanted, in order of preference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from wire import encodings
from wire.encodings import NotEncoded


class Network(StrEnum):
    """Which chain an address belongs to; coins sent to an address of another chain are lost."""

    MAIN = "main"
    TEST = "test"
    REGTEST = "regtest"


class Kind(StrEnum):
    """What the hash inside is of: a public key, or a script."""

    KEY = "key"
    SCRIPT = "script"


CASH_PREFIX = {Network.MAIN: "bitcoincash", Network.TEST: "bchtest", Network.REGTEST: "bchreg"}
SLP_PREFIX = {Network.MAIN: "simpleledger", Network.TEST: "slptest", Network.REGTEST: "slpreg"}
LEGACY_VERSION = {
    (Network.MAIN, Kind.KEY): 0,
    (Network.MAIN, Kind.SCRIPT): 5,
    (Network.TEST, Kind.KEY): 111,
    (Network.TEST, Kind.SCRIPT): 196,
    (Network.REGTEST, Kind.KEY): 111,
    (Network.REGTEST, Kind.SCRIPT): 196,
}
ALL_NETWORKS = (Network.MAIN, Network.TEST, Network.REGTEST)

_HASH_SIZES = (20, 24, 28, 32, 40, 48, 56, 64)  # bytes, by the lowest three bits of the version byte
_KIND_BITS = {0: Kind.KEY, 1: Kind.SCRIPT}
_GENERATORS = (0x98F2BC8E61, 0x79B76D99E2, 0xF33E5FB3C4, 0xAE2EABE2A8, 0x1E4F43E470)
_CHECKSUM_SYMBOLS = 8


class NotAnAddress(ValueError):
    """The text is no address of the chain; the message is a sentence for the person who entered it."""


class OtherNetwork(NotAnAddress):
    """The text is a sound address, of a network that is not wanted here."""


@dataclass(frozen=True, slots=True)
class Address:
    """A hash on a network, printable in every form."""

    network: Network
    kind: Kind
    hash: bytes

    @property
    def cash_address(self) -> str:
        """With its prefix, small letters: "bitcoincash:q..."."""
        return cash_encode(CASH_PREFIX[self.network], self.kind, self.hash)

    @property
    def slp_address(self) -> str:
        """The same hash for simple-ledger tokens: "simpleledger:q..."."""
        return cash_encode(SLP_PREFIX[self.network], self.kind, self.hash)

    @property
    def legacy_address(self) -> str:
        """Base58Check; only hashes of 20 bytes have this form, others give an empty text."""
        if len(self.hash) != 20:
            return ""
        return encodings.base58check_encode(bytes([LEGACY_VERSION[self.network, self.kind]]) + self.hash)


def read(text: str, *, networks: Sequence[Network] = ALL_NETWORKS) -> Address:
    """The address that `text` spells in any of its forms, prefix optional, on one of `networks`.

    Raises `OtherNetwork` for a sound address of another network and `NotAnAddress` for everything else.
    """
    found = _readings(text)
    for network in networks:
        for address in found:
            if address.network is network:
                return address
    raise OtherNetwork(
        f"This is an address of the {_spoken(found)} network; here the {' or '.join(networks)} network is used."
    )


def cash_encode(prefix: str, kind: Kind, hash_bytes: bytes) -> str:
    """Prefix, colon and payload with checksum. Bounds: `hash_bytes` has one of the eight sizes of the format."""
    kind_bits = 0 if kind is Kind.KEY else 1
    version = kind_bits << 3 | _HASH_SIZES.index(len(hash_bytes))
    values = encodings.regroup([version, *hash_bytes], 8, 5, pad=True)
    residue = _polymod([*_spread(prefix), 0, *values, *([0] * _CHECKSUM_SYMBOLS)])
    checksum = [residue >> 5 * (7 - place) & 31 for place in range(_CHECKSUM_SYMBOLS)]
    return prefix + ":" + "".join(encodings.BECH32_CHARSET[value] for value in [*values, *checksum])


def _readings(text: str) -> list[Address]:
    """Every way to read the text: a legacy address of the test networks has two."""
    prefix, colon, payload = text.rpartition(":")
    if colon or (text and text[0] in "qpQP" and len(text) >= 42):
        return _read_cash(prefix, payload)
    return _read_legacy(text)


def _read_cash(prefix: str, payload: str) -> list[Address]:
    spelled = prefix + payload
    if spelled not in (spelled.lower(), spelled.upper()):
        raise NotAnAddress("Capital and small letters are mixed; a cash address has one case only.")
    prefix, payload = prefix.lower(), payload.lower()
    forms = {name: network for table in (CASH_PREFIX, SLP_PREFIX) for network, name in table.items()}
    if prefix and prefix not in forms:
        raise NotAnAddress(f"The prefix {prefix!r} is not one of this chain: {', '.join(forms)}.")
    if len(payload) > 112:
        raise NotAnAddress("This is longer than any address of this chain.")
    try:
        values = encodings.base32_values(payload)
        for name in [prefix] if prefix else forms:
            if _polymod([*_spread(name), 0, *values]) == 0:
                return [_unpack(forms[name], values[:-_CHECKSUM_SYMBOLS])]
    except NotEncoded as problem:
        raise NotAnAddress(str(problem)) from None
    raise NotAnAddress("The checksum does not fit: a character is wrong, missing or too many.")


def _unpack(network: Network, values: list[int]) -> Address:
    raw = bytes(encodings.regroup(values, 5, 8, pad=False))
    kind = _KIND_BITS.get(raw[0] >> 3) if raw else None
    if kind is None:
        raise NotAnAddress("This kind of address is unknown.")
    if len(raw) - 1 != _HASH_SIZES[raw[0] & 7]:
        raise NotAnAddress("The length of this address does not fit what it says about itself.")
    return Address(network, kind, raw[1:])


def _read_legacy(text: str) -> list[Address]:
    try:
        payload = encodings.base58check_decode(text)
    except NotEncoded as problem:
        raise NotAnAddress(str(problem)) from None
    found = [
        Address(network, kind, payload[1:])
        for (network, kind), version in LEGACY_VERSION.items()
        if payload[0] == version and len(payload) == 21
    ]
    if not found:
        raise NotAnAddress("This is an address of another coin: its version is not one of this chain.")
    return found


def _spoken(found: list[Address]) -> str:
    return " or ".join(address.network for address in found)


def _spread(prefix: str) -> list[int]:
    return [ord(letter) & 31 for letter in prefix]


def _polymod(values: list[int]) -> int:
    residue = 1
    for value in values:
        top, residue = residue >> 35, ((residue & 0x07FFFFFFFF) << 5) ^ value
        for bit, generator in enumerate(_GENERATORS):
            if top >> bit & 1:
                residue ^= generator
    return residue ^ 1
