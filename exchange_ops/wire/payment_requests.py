"""Payment requests: texts that hold more than an address. URIs of coins, and addresses with their tag in one.

Pure functions on text. Sources: BIP 21 (`bitcoin:`, taken over by Litecoin and Dogecoin), the specification of cash
addresses (`bitcoincash:`), EIP-681 (`ethereum:`), SEP-7 (`web+stellar:pay`), XLS-5d (X-addresses of Ripple), and the
forms in which exchanges show a tag: `address:tag`, `address?dt=tag`, `address?memo=text`.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final
from urllib.parse import parse_qsl, unquote

from exchange_ops.wire import coin_addresses
from wire import encodings
from wire.encodings import NotEncoded

LONGEST_LABEL: Final = 200
_COINS: Final = {
    "bitcoin": "BTC",
    "litecoin": "LTC",
    "dogecoin": "DOGE",
    "bitcoincash": "BCH",
    "bchtest": "BCH",
    "bchreg": "BCH",
    "ethereum": "ETH",
    "ripple": "XRP",
    "xrpl": "XRP",
    "web+stellar": "XLM",
}
_CASH: Final = {"bitcoincash", "bchtest", "bchreg"}  # prefixes that belong to the address itself
_TAGS: Final = {"dt", "tag", "destinationtag", "memo", "memoid", "memo_id", "paymentid", "payment_id"}
_TAGGED: Final = {"XRP", "EOS", "XLM"}  # coins whose addresses have no colon inside
_SCHEME: Final = re.compile(r"([a-z][a-z0-9+]*):(?://)?(.*)", re.ASCII | re.IGNORECASE | re.DOTALL)
_AMOUNT: Final = re.compile(r"[0-9]{1,30}(?:\.[0-9]{1,30})?", re.ASCII)
_WEI: Final = re.compile(r"([0-9]{1,40}(?:\.[0-9]{1,40})?)(?:[eE]([0-9]{1,2}))?", re.ASCII)
_ETHEREUM: Final = re.compile(r"(?:pay-)?([^@/]*)(?:@([0-9]{1,10}))?(/.*)?", re.ASCII | re.DOTALL)
_CHAINS: Final = {"ETC": "61"}
_X_MAIN, _X_TEST = b"\x05\x44", b"\x04\x93"


class CannotRead(ValueError):
    """It is a payment request that can't be followed; the message is a sentence for the person who entered it."""


@dataclass(frozen=True, slots=True)
class PaymentRequest:
    """What a payment request asks for. `code` is its coin, `amount` in whole coins, `label` what its writer says of it.

    What it does not hold is empty. Nothing is checked here but its form: the address is checked as a typed one is.
    """

    code: str
    address: str
    payment_id: str = ""
    amount: Decimal | None = None
    label: str = ""


def read(code: str, text: str) -> PaymentRequest | None:
    """The payment request that `text` holds, for the currency `code` or, with an empty code, for the coin it names.

    None for a plain address. Raises `CannotRead` for a request that is for another coin, or that can't be followed.
    """
    text = text.strip()
    scheme, rest = _scheme_of(text)
    if scheme:
        coin = _COINS[scheme]
        if code and code != coin and not (coin == "ETH" and coin_addresses.is_ethereum(code)):
            raise CannotRead(
                f"This payment request is for {coin}, but {code} is selected. Select {coin} or check the request."
            )
        reader = {"ethereum": _ethereum, "web+stellar": _stellar}.get(scheme, _coin)
        return reader(code or coin, f"{scheme}:{rest}" if scheme in _CASH else rest)
    if "?" in text:
        return _coin(code, text)
    if code in _TAGGED and ":" in text:
        address, _, tag = text.partition(":")
        return PaymentRequest(code, address, tag)
    return _x_address(text) if code == "XRP" and text[:1] in {"X", "T"} else None


def _scheme_of(text: str) -> tuple[str, str]:
    """The scheme in small letters and what follows it; empty where it is no payment request of a coin."""
    match = _SCHEME.fullmatch(text)
    scheme = match[1].lower() if match else ""
    if match is None or scheme not in _COINS or (scheme in _CASH and "?" not in text):
        return "", text
    return scheme, match[2]


def _coin(code: str, text: str) -> PaymentRequest:
    """BIP 21 and its relatives: an address, then parameters; those that begin with req- must be understood."""
    address, _, query = text.partition("?")
    parameters = _parameters(query)
    unknown = [name for name in parameters if name.startswith("req-")]
    if unknown:
        raise CannotRead(f"This payment request uses an unsupported option: {unknown[0]}.")
    label = " ".join(parameters[name] for name in ("label", "message", "msg") if parameters.get(name))
    return PaymentRequest(code, _address(address), _tag(parameters), _amount(parameters), label[:LONGEST_LABEL])


def _stellar(code: str, text: str) -> PaymentRequest:
    operation, _, query = text.partition("?")
    if operation != "pay":
        raise CannotRead("This is a signing request, not a payment request.")
    parameters = _parameters(query)
    if parameters.get("asset_code"):
        raise CannotRead(f"This payment request is for the token {parameters['asset_code']}, not for {code}.")
    return _coin(code, f"{parameters.get('destination', '')}?{query}")


def _ethereum(code: str, text: str) -> PaymentRequest:
    """EIP-681, as far as it pays the coin itself: a call of a contract is nothing that an exchange can carry out."""
    target, _, query = text.partition("?")
    match = _ETHEREUM.fullmatch(target)
    address, chain, call = match.groups() if match else ("", None, None)
    if call:
        raise CannotRead("This payment request calls a contract. Enter recipient and amount manually.")
    if not address.startswith("0x"):
        raise CannotRead("This payment request has a name instead of an address. Enter the address.")
    if chain and chain != _CHAINS.get(code, "1"):
        raise CannotRead(f"This payment request is for chain {chain}, not for the {code} chain.")
    parameters = _parameters(query)
    amount = _wei(parameters["value"]) if parameters.get("value") else None
    if amount is not None and code not in {"ETH", "ETC"}:
        raise CannotRead(f"This payment request is for ETH, but {code} is selected. Select ETH or check the request.")
    label = parameters.get("label") or parameters.get("message") or ""
    return PaymentRequest(code, address, "", amount, label[:LONGEST_LABEL])


def _x_address(text: str) -> PaymentRequest | None:
    """XLS-5d: two bytes of prefix, 20 of the account, a flag, and 8 of the tag with the lowest byte first."""
    try:
        payload = encodings.base58check_decode(text, alphabet=encodings.RIPPLE_ALPHABET)
    except NotEncoded:
        return None
    if len(payload) != 31 or payload[:2] not in {_X_MAIN, _X_TEST} or payload[22] > 1:
        return None
    if payload[:2] == _X_TEST:
        raise CannotRead("This is a Ripple testnet address.")
    tag = int.from_bytes(payload[23:27], "little")
    address = encodings.base58check_encode(b"\x00" + payload[2:22], alphabet=encodings.RIPPLE_ALPHABET)
    return PaymentRequest("XRP", address, str(tag) if payload[22] else "")


def _parameters(query: str) -> dict[str, str]:
    """The parameters by their names in small letters. Raises `CannotRead` when one is there twice and differs."""
    parameters: dict[str, str] = {}
    for name, value in parse_qsl(query.replace("+", "%2B"), keep_blank_values=True, max_num_fields=None):
        if parameters.setdefault(name.lower(), value) != value:
            raise CannotRead(f"This payment request has two values for {name}.")
    return parameters


def _address(text: str) -> str:
    address = unquote(text)
    if not address:
        raise CannotRead("This payment request has no address.")
    return address


def _tag(parameters: dict[str, str]) -> str:
    tags = {value for name, value in parameters.items() if name in _TAGS and value}
    if len(tags) > 1:
        raise CannotRead("This payment request has two different payment IDs.")
    return next(iter(tags), "")


def _amount(parameters: dict[str, str]) -> Decimal | None:
    text = parameters.get("amount", "")
    if text and not (_AMOUNT.fullmatch(text) and Decimal(text) > 0):
        raise CannotRead("The amount in this payment request is not valid.")
    return Decimal(text) if text else None


def _wei(text: str) -> Decimal:
    match = _WEI.fullmatch(text)
    wei = Decimal(match[1]).scaleb(int(match[2] or 0)) if match else Decimal(0)
    if wei <= 0 or wei != wei.to_integral_value():
        raise CannotRead("The amount in this payment request is not valid.")
    return wei.scaleb(-18)
