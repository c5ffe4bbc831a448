"""One chain address in its three forms: cash, legacy and SLP address (chain data, Resources; supplement 5.1).

The chain has three networks. Cash and SLP forms name theirs by prefix; a legacy address of the test networks is the
same on both, so `read` takes the networks that may be meant, in order of preference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from chaindata.wire import cashaddr
from wire import encodings
from wire.encodings import NotEncoded


class Network(StrEnum):
    """Which chain an address belongs to; coins sent to an address of another chain are lost."""

    MAIN = "main"
    TEST = "test"
    REGTEST = "regtest"


class Kind(StrEnum):
    """What was hashed: a public key, or a script."""

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

_KIND_OF_BITS = {0: Kind.KEY, 1: Kind.SCRIPT}
_VERSION = {Kind.KEY: 0, Kind.SCRIPT: 1 << 3}


class NotAnAddress(ValueError):
    """The text is no address of the chain; the message is a sentence for the person who entered it."""


class OtherNetwork(NotAnAddress):
    """The text is a valid address of a network that is not used here."""


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

    Raises `OtherNetwork` for a valid address of another network and `NotAnAddress` for everything else.
    """
    readings = _readings(text)
    for network in networks:
        for address in readings:
            if address.network is network:
                return address
    names = " or ".join(address.network for address in readings)
    raise OtherNetwork(f"This address is for the {names} network; this desk uses the {' or '.join(networks)} network.")


def cash_encode(prefix: str, kind: Kind, hash_bytes: bytes) -> str:
    """Prefix, colon and payload with checksum. Bounds: `hash_bytes` has one of the eight sizes of the format."""
    return cashaddr.encode(prefix, _VERSION[kind], hash_bytes)


def _readings(text: str) -> list[Address]:
    """Every way to read the text: a legacy address of the test networks has two."""
    prefix, colon, payload = text.rpartition(":")
    if colon or (text and text[0] in "qpQP" and len(text) >= 42):
        return _read_cash(prefix, payload)
    return _read_legacy(text)


def _read_cash(prefix: str, payload: str) -> list[Address]:
    spelled = prefix + payload
    if spelled not in (spelled.lower(), spelled.upper()):
        raise NotAnAddress("Upper and lower case are mixed; a cash address uses only one case.")
    prefix, payload = prefix.lower(), payload.lower()
    forms = {name: network for table in (CASH_PREFIX, SLP_PREFIX) for network, name in table.items()}
    if prefix and prefix not in forms:
        raise NotAnAddress(f"Unknown prefix {prefix!r}; this chain uses {', '.join(forms)}.")
    try:
        name, raw = cashaddr.decode([prefix] if prefix else list(forms), payload)
    except NotEncoded as problem:
        raise NotAnAddress(str(problem)) from None
    return [_unpack(forms[name], raw)]


def _unpack(network: Network, raw: bytes) -> Address:
    kind = _KIND_OF_BITS.get(raw[0] >> 3) if raw else None
    if kind is None:
        raise NotAnAddress("Unknown address type.")
    if len(raw) - 1 != cashaddr.HASH_SIZES[raw[0] & 7]:
        raise NotAnAddress("The length of this address does not match its type.")
    return Address(network, kind, raw[1:])


def _read_legacy(text: str) -> list[Address]:
    try:
        payload = encodings.base58check_decode(text)
    except NotEncoded as problem:
        raise NotAnAddress(str(problem)) from None
    readings = [
        Address(network, kind, payload[1:])
        for (network, kind), version in LEGACY_VERSION.items()
        if payload[0] == version and len(payload) == 21
    ]
    if not readings:
        raise NotAnAddress("This address is for a different coin: its version byte is not used on this chain.")
    return readings
