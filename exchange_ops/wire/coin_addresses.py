"""Addresses of the coins that the desk pays out: read, judged by their own checksum, and written in one normal form.

Pure functions on text. Bitcoin Cash is not here: its three forms are the chain's (`chaindata.wire.addresses`).
A currency code says which rule holds; codes of one coin on other networks carry a suffix (supplement 2.10:
"T20" for Ethereum, "TTRX" for Tron).
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from Crypto.Hash import keccak

from wire import encodings
from wire.encodings import NotEncoded

MAIN, TEST, REGTEST = "main", "test", "regtest"


class NotAnAddress(ValueError):
    """The text is no address of this coin; the message is a sentence for the person who entered it."""


@dataclass(frozen=True, slots=True)
class CoinAddress:
    """An address in its normal form, the networks it can belong to, and how much its own checksum proves."""

    text: str
    networks: tuple[str, ...]
    checked: bool = True  # False: the form is right, but nothing in it shows a mistyped character


@dataclass(frozen=True, slots=True)
class BitcoinLike:
    """Version bytes and bech32 prefixes of a coin of Bitcoin's family, by network."""

    versions: dict[int, tuple[str, ...]]
    prefixes: dict[str, str]


BITCOIN = BitcoinLike(
    versions={0: (MAIN,), 5: (MAIN,), 111: (TEST, REGTEST), 196: (TEST, REGTEST)},
    prefixes={"bc": MAIN, "tb": TEST, "bcrt": REGTEST},
)
LITECOIN = BitcoinLike(
    versions={48: (MAIN,), 50: (MAIN,), 5: (MAIN,), 111: (TEST, REGTEST), 58: (TEST, REGTEST), 196: (TEST, REGTEST)},
    prefixes={"ltc": MAIN, "tltc": TEST, "rltc": REGTEST},
)
DOGECOIN = BitcoinLike(
    versions={30: (MAIN,), 22: (MAIN,), 113: (TEST,), 111: (REGTEST,), 196: (TEST, REGTEST)}, prefixes={}
)

SCRIPT = "Script address: a multisig wallet or a contract"
SYSTEM = "System account of the chain: a contract"
BURN = "Burn address: nobody holds its key, so funds sent there are lost"
_SCRIPT_VERSIONS = {"BTC": {5, 196}, "LTC": {5, 50, 58, 196}, "DOGE": {22, 196}}
_BURNED = {0, 0xDEAD}
_EVERY_NETWORK = (MAIN, TEST, REGTEST)
_ETHEREUM = re.compile(r"0[xX][0-9a-fA-F]{40}", re.ASCII)
_EOS_ACCOUNT = re.compile(r"[a-z1-5.]{0,11}[a-z1-5]|[a-z1-5.]{12}[a-j1-5]", re.ASCII)
_SHAPE = re.compile(r"[0-9A-Za-z][0-9A-Za-z:._-]{3,126}[0-9A-Za-z]", re.ASCII)
_WHOLE_NUMBER = re.compile(r"0|[1-9][0-9]*", re.ASCII)
_HIGHEST_DESTINATION_TAG = 2**32 - 1


def read(code: str, text: str) -> CoinAddress:
    """`text` as an address of the currency `code`; raises `NotAnAddress` with the reason."""
    try:
        return _rule_of(code)(text)
    except NotEncoded as problem:
        raise NotAnAddress(str(problem)) from None


def payment_id_problem(code: str, payment_id: str) -> str:
    """Why `payment_id` can't be one of the currency `code`, or an empty text. Coins with a known rule have theirs."""
    if len(payment_id) > 255:
        return "Enter a payment ID of up to 255 characters."
    if code == "XRP" and not (_WHOLE_NUMBER.fullmatch(payment_id) and int(payment_id) <= _HIGHEST_DESTINATION_TAG):
        return f"A destination tag must be a whole number from 0 to {_HIGHEST_DESTINATION_TAG}, without leading zeros."
    return ""


def kind(code: str, text: str) -> str:
    """What the form of an address says of it beyond its network; empty where it says nothing, or is no address.

    Sources: BIP 13 and BIP 141 (script hashes), the documentation of EOSIO (accounts of the system).
    """
    if _ETHEREUM.fullmatch(text):
        return BURN if int(text, 16) in _BURNED else ""
    if code == "EOS":
        return SYSTEM if text == "eosio" or text.startswith("eosio.") else ""
    if code not in {"BTC", "LTC", "DOGE"}:
        return ""
    try:
        if text.rpartition("1")[0].lower() in {*BITCOIN.prefixes, *LITECOIN.prefixes}:
            _, version, program = encodings.witness_program(text)
            return SCRIPT if version == 0 and len(program) == 32 else ""
        return SCRIPT if encodings.base58check_decode(text)[0] in _SCRIPT_VERSIONS[code] else ""
    except NotEncoded:
        return ""


def is_ethereum(code: str) -> bool:
    """Whether the currency lives on Ethereum: the coin itself and the codes with the suffix of its tokens."""
    return code in {"ETH", "ETC"} or code.endswith("T20")


def checksummed(address: str) -> str:
    """The address with the capital letters of ERC-55, which make mistyped letters visible."""
    digits = address[2:].lower()
    digest = keccak.new(digest_bits=256, data=digits.encode("ascii")).hexdigest()
    return "0x" + "".join(
        letter.upper() if int(nibble, 16) > 7 else letter for letter, nibble in zip(digits, digest, strict=False)
    )


def _rule_of(code: str) -> Callable[[str], CoinAddress]:
    if is_ethereum(code):
        return _read_ethereum
    if code == "TRX" or code.endswith("TTRX"):
        return _read_tron
    return _RULES.get(code, _read_shape)


def _read_bitcoin(text: str) -> CoinAddress:
    return _read_bitcoin_like(BITCOIN, text)


def _read_litecoin(text: str) -> CoinAddress:
    return _read_bitcoin_like(LITECOIN, text)


def _read_dogecoin(text: str) -> CoinAddress:
    return _read_bitcoin_like(DOGECOIN, text)


def _read_bitcoin_like(coin: BitcoinLike, text: str) -> CoinAddress:
    prefix = text.rpartition("1")[0].lower()
    if prefix in coin.prefixes or (prefix and prefix in {"bc", "tb", "bcrt", "ltc", "tltc", "rltc"}):
        return _read_witness(coin, text)
    payload = encodings.base58check_decode(text)
    networks = coin.versions.get(payload[0])
    if networks is None or len(payload) != 21:
        raise NotAnAddress("This address is for a different coin: wrong version byte.")
    return CoinAddress(text, networks)


def _read_witness(coin: BitcoinLike, text: str) -> CoinAddress:
    prefix, version, _ = encodings.witness_program(text)
    if prefix not in coin.prefixes:
        raise NotAnAddress(f"This address is for a different coin: it starts with {prefix!r}.")
    if version > 1:
        raise NotAnAddress("The address has a witness version not in use yet; funds sent to it could be stolen.")
    return CoinAddress(text.lower(), (coin.prefixes[prefix],))


def _read_ethereum(text: str) -> CoinAddress:
    if not _ETHEREUM.fullmatch(text):
        raise NotAnAddress("An Ethereum address must be 0x followed by 40 hexadecimal digits.")
    digits, proper = text[2:], checksummed(text)
    if text.startswith("0X") or (digits != digits.lower() and text != proper):
        raise NotAnAddress(
            "Checksum failed: a character is wrong, or upper and lower case were changed. Copy the address again."
        )
    return CoinAddress(proper, _EVERY_NETWORK, checked=digits != digits.lower())


def _read_ripple(text: str) -> CoinAddress:
    if text[:1] in {"X", "T"} and len(text) > 40:
        raise NotAnAddress(
            "This is an X-address. Enter the classic address, which starts with r, and the destination tag separately."
        )
    payload = encodings.base58check_decode(text, alphabet=encodings.RIPPLE_ALPHABET)
    if payload[0] != 0 or len(payload) != 21:
        raise NotAnAddress("Not a valid Ripple address.")
    return CoinAddress(text, _EVERY_NETWORK)


def _read_tron(text: str) -> CoinAddress:
    return _read_version(text, 0x41, "Tron")


def _read_ontology(text: str) -> CoinAddress:
    return _read_version(text, 0x17, "Ontology")


def _read_version(text: str, version: int, name: str) -> CoinAddress:
    payload = encodings.base58check_decode(text)
    if payload[0] != version or len(payload) != 21:
        raise NotAnAddress(f"Not a valid {name} address.")
    return CoinAddress(text, _EVERY_NETWORK)


def _read_eos(text: str) -> CoinAddress:
    if not _EOS_ACCOUNT.fullmatch(text):
        raise NotAnAddress(
            "An EOS account name has up to 12 characters: lower-case letters, digits 1 to 5 and dots. It can't "
            "end with a dot."
        )
    return CoinAddress(text, _EVERY_NETWORK, checked=False)


def _read_shape(text: str) -> CoinAddress:
    if _ETHEREUM.fullmatch(text):
        return _read_ethereum(text)
    if not _SHAPE.fullmatch(text):
        raise NotAnAddress("An address must be 5 to 128 characters long: letters, digits and : . _ - only.")
    return CoinAddress(text, _EVERY_NETWORK, checked=False)


_RULES: dict[str, Callable[[str], CoinAddress]] = {
    "BTC": _read_bitcoin,
    "LTC": _read_litecoin,
    "DOGE": _read_dogecoin,
    "XRP": _read_ripple,
    "EOS": _read_eos,
    "ONT": _read_ontology,
}
