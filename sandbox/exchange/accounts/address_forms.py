"""The forms of addresses: making new ones from the seed, judging those to pay to, and finding equal spellings.

Bitcoin Cash lives on the regtest chain of the sandbox, where deposit addresses belong to keys (`addresses`). What is
made here has the real form of its coin, and nobody owns it, because it is made from hashes.
"""

import re
from collections.abc import Callable
from hashlib import sha256

from chaindata.wire import addresses
from chaindata.wire.scripts import steps
from exchange_ops.wire import coin_addresses
from wire import encodings

CASH_NETWORKS = (addresses.Network.REGTEST, addresses.Network.TEST)
SHARED = {
    "ripple": "shared deposit account",
    "eos": "shared deposit account",
}  # one address for all; the payment id tells whose

_ETHEREUM = re.compile(r"0x[0-9a-f]{40}", re.ASCII | re.IGNORECASE)
_EOS_LETTERS = "abcdefghijklmnopqrstuvwxyz12345"
_NXT_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"


def for_deposit(kind: str, entropy: str) -> str:
    """A new deposit address of this kind; where the kind tells depositors by payment id, always the shared one."""
    return make(kind, SHARED.get(kind, entropy))


def make(kind: str, entropy: str) -> str:
    """A new address of this kind; the same entropy gives the same address."""
    return _MAKERS[kind](_digest(entropy))


def payment_id(entropy: str) -> str:
    """A payment id that is also a valid destination tag: digits below 2^32."""
    return str(100_000_000 + int.from_bytes(_digest(entropy)[:4], "big") % 4_000_000_000)


def public_key(entropy: str) -> str:
    """A public key of 64 hexadecimal digits."""
    return _digest(entropy).hex()


def is_payable(code: str, kind: str, address: str) -> bool:
    """Whether the network of this currency would take a payment to the address."""
    try:
        if kind == "cash":
            steps.locking(addresses.read(address, networks=CASH_NETWORKS))
        else:
            coin_addresses.read(code, address)
    except (addresses.NotAnAddress, steps.NotAScript, coin_addresses.NotAnAddress):
        return False
    return True


def spelled_alike(address: str) -> str:
    """One spelling for all spellings of the same address: Ethereum in small letters, Bitcoin Cash in its cash form."""
    if _ETHEREUM.fullmatch(address):
        return address.lower()
    try:
        cash_address = addresses.read(address, networks=CASH_NETWORKS)
    except addresses.NotAnAddress:
        return address
    return addresses.cash_encode("bchreg", cash_address.kind, cash_address.hash)


def _digest(entropy: str) -> bytes:
    return sha256(entropy.encode()).digest()


def _cash(digest: bytes) -> str:
    return addresses.cash_encode("bchreg", addresses.Kind.KEY, digest[:20])


def _versioned(version: int, alphabet: str = encodings.BITCOIN_ALPHABET) -> Callable[[bytes], str]:
    return lambda digest: encodings.base58check_encode(bytes([version]) + digest[:20], alphabet=alphabet)


def _ethereum(digest: bytes) -> str:
    return coin_addresses.checksummed("0x" + digest[:20].hex())


def _eos(digest: bytes) -> str:
    return "".join(_EOS_LETTERS[byte % len(_EOS_LETTERS)] for byte in digest[:12])


def _nxt(digest: bytes) -> str:
    letters = "".join(_NXT_LETTERS[byte % 32] for byte in digest[:17])
    return f"NXT-{letters[:4]}-{letters[4:8]}-{letters[8:12]}-{letters[12:]}"


def _plain(digest: bytes) -> str:
    return "Ddz" + encodings.base58_encode(digest + sha256(digest).digest())[:56]


def _monero(digest: bytes) -> str:
    return "4" + encodings.base58_encode(b"".join(sha256(digest + bytes([turn])).digest() for turn in range(3)))[:94]


_MAKERS: dict[str, Callable[[bytes], str]] = {
    "bitcoin": _versioned(0),
    "cash": _cash,
    "litecoin": _versioned(48),
    "dogecoin": _versioned(30),
    "ripple": _versioned(0, encodings.RIPPLE_ALPHABET),
    "ontology": _versioned(0x17),
    "tron": _versioned(0x41),
    "ethereum": _ethereum,
    "eos": _eos,
    "monero": _monero,
    "nxt": _nxt,
    "plain": _plain,
}
