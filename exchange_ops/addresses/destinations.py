"""Whether an address and a payment id can be paid to in a currency, in which normal form, and what to warn of.

Nothing here asks the exchange: it is the rule of the form, of the new-withdrawal command and of the echo comparison.
Text from outside is trimmed of blanks around it, which is said; anything invisible or not plain ASCII is refused,
because it can make one address look like another. A blank inside a payment id stays: memos are free text on some coins.
"""

import re
import unicodedata
from dataclasses import dataclass

from chaindata.shared import addresses
from chaindata.wire import addresses as wire_addresses
from chaindata.wire.addresses import Kind, Network
from exchange_ops.market.models import Currency
from exchange_ops.wire import coin_addresses, payment_requests
from exchange_ops.wire.coin_addresses import CoinAddress
from wire import encodings

CHAIN_CODE = "BCH"  # the coin of the chain-data service, whose addresses have three forms
LONGEST_ADDRESS = 256
LONGEST_PAYMENT_ID = 255
_LITECOIN_SCRIPTS = {50: "main", 58: "test"}  # the others, 5 and 196, are shared with Bitcoin
_CASELESS = re.compile(r"0[xX][0-9a-fA-F]+|(?i:bc|tb|bcrt|ltc|tltc|rltc)1[02-9ac-hj-np-zA-Z]+", re.ASCII)


class CannotUseDestination(Exception):
    """Nothing can be sent there; `problems` names the field, `address` or `payment_id`, and says why."""

    def __init__(self, problems: dict[str, str]) -> None:
        super().__init__(" ".join(problems.values()))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Destination:
    """An address in its normal form.

    `groups` is the same text cut into fours, `other_forms` pairs of a name and the same address spelled otherwise.
    `remarks` say what was changed in the text that was entered, `warnings` what a person should think about.
    """

    address: str
    payment_id: str
    network: str
    groups: tuple[str, ...]
    other_forms: tuple[tuple[str, str], ...] = ()
    remarks: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def check(*, currency: Currency, address: str, payment_id: str = "") -> Destination:
    """The destination entered for `currency`; raises `CannotUseDestination` with a sentence for each field."""
    problems: dict[str, str] = {}
    remarks: list[str] = []
    text = _cleaned("address", address, LONGEST_ADDRESS, problems, remarks)
    tag = _cleaned("payment_id", payment_id, LONGEST_PAYMENT_ID, problems, remarks)
    destination: Destination | None = None
    if "address" not in problems and (sentence := _payment_request_problem(currency.code, text)):
        problems["address"] = sentence
    if "address" not in problems:
        try:
            destination = _read(currency.code, text)
        except (addresses.NotAnAddress, coin_addresses.NotAnAddress) as problem:
            problems["address"] = str(problem)
    if tag and "payment_id" not in problems and (sentence := _payment_id_problem(currency, tag)):
        problems["payment_id"] = sentence
    if problems or destination is None:
        raise CannotUseDestination(problems)
    return Destination(
        address=destination.address,
        payment_id=tag,
        network=destination.network,
        groups=groups_of(destination.address),
        other_forms=destination.other_forms,
        remarks=tuple(remarks),
        warnings=destination.warnings + _payment_id_warnings(currency, tag),
    )


def same_address(*, code: str, one: str, other: str) -> bool:
    """Whether two texts are one destination of the currency `code`; texts that can't be parsed only when equal."""
    if one == other:
        return True
    if code == CHAIN_CODE:
        return addresses.same(one, other)
    try:
        return coin_addresses.read(code, one).text == coin_addresses.read(code, other).text
    except coin_addresses.NotAnAddress:
        return False


def identity(address: str) -> str:
    """One text for every spelling of an address, whatever the currency it is paid in.

    A Bitcoin Cash address is the same in cash, legacy and SLP form, and so is the legacy address of another chain with
    the same hash, since whoever has the key of one has that of the other. Litecoin has two version bytes for one
    script. Hexadecimal and bech32 addresses don't depend on capital letters; any other text is only itself.
    """
    text = address.strip()
    try:
        read = wire_addresses.read(text)
    except addresses.NotAnAddress:
        return _script_of_litecoin(text) or (text.lower() if _CASELESS.fullmatch(text) else text)
    return _identity("main" if read.network is Network.MAIN else "test", read.kind, read.hash)


def kind(*, code: str, address: str) -> str:
    """What the form of an address in normal form says of it beyond its network; empty for an ordinary account."""
    if code != CHAIN_CODE:
        return coin_addresses.kind(code, address)
    try:
        return coin_addresses.SCRIPT if addresses.forms(address).kind == Kind.SCRIPT else ""
    except addresses.NotAnAddress:
        return ""


def groups_of(address: str) -> tuple[str, ...]:
    """The address cut for reading: its prefix, then groups of four characters."""
    prefix, colon, payload = address.rpartition(":")
    start = (prefix + colon,) if colon else ()
    return start + tuple(payload[place : place + 4] for place in range(0, len(payload), 4))


def _identity(world: str, kind: str, hash_bytes: bytes) -> str:
    return f"{world}:{kind}:{hash_bytes.hex()}"


def _script_of_litecoin(text: str) -> str:
    """The identity of a script address with Litecoin's own version byte, or an empty text."""
    try:
        payload = encodings.base58check_decode(text)
    except encodings.NotEncoded:
        return ""
    world = _LITECOIN_SCRIPTS.get(payload[0]) if len(payload) == 21 else None
    return _identity(world, Kind.SCRIPT, payload[1:]) if world else ""


def _read(code: str, text: str) -> Destination:
    if code == CHAIN_CODE:
        forms = addresses.forms(text)
        other = (("legacy address", forms.legacy_address),) if forms.legacy_address else ()
        return Destination(forms.cash_address, "", forms.network, (), (*other, ("SLP address", forms.slp_address)))
    coin_address = coin_addresses.read(code, text)
    return Destination(coin_address.text, "", _network(coin_address), (), (), (), _checksum_warnings(coin_address))


def _network(address: CoinAddress) -> str:
    """The network of another coin's address: only the main one, unless the desk works with test networks as well."""
    networks = (coin_addresses.MAIN, *(str(network) for network in addresses.allowed_networks()))
    for network in networks:
        if network in address.networks:
            return network
    raise coin_addresses.NotAnAddress(f"This address belongs to the {' or '.join(address.networks)} network.")


def _checksum_warnings(address: CoinAddress) -> tuple[str, ...]:
    if address.checked:
        return ()
    return (
        "This address has no checksum, so typing errors can't be detected. Compare every character with the source.",
    )


def _payment_request_problem(code: str, text: str) -> str:
    try:
        request = payment_requests.read(code, text)
    except payment_requests.CannotRead as problem:
        return str(problem)
    return (
        "This field contains more than an address. Enter the address, payment ID and amount in separate fields."
        if request
        else ""
    )


def _payment_id_problem(currency: Currency, payment_id: str) -> str:
    if not currency.payout_is_payment_id:
        return f"{currency.code} does not use payment IDs. Leave this blank."
    return coin_addresses.payment_id_problem(currency.code, payment_id)


def _payment_id_warnings(currency: Currency, payment_id: str) -> tuple[str, ...]:
    if payment_id or not currency.payout_is_payment_id:
        return ()
    return (f"{currency.code} supports payment IDs. If the recipient requires one, the money may be lost without it.",)


def _cleaned(name: str, text: str, longest: int, problems: dict[str, str], remarks: list[str]) -> str:
    """The text without blanks around it; what is wrong with it goes into `problems`."""
    spoken = "address" if name == "address" else "payment ID"
    trimmed = text.strip()
    if trimmed != text:
        remarks.append(f"Spaces around the {spoken} were removed.")
    if name == "payment_id" and (count := trimmed.count(" ")):
        remarks.append(
            f"The payment ID contains {count} space{'' if count == 1 else 's'}. It is sent exactly as entered."
        )
    if name == "address" and not trimmed:
        problems[name] = "Enter the recipient's address."
    elif len(trimmed) > longest:
        problems[name] = f"The {spoken} can be up to {longest} characters; this one is {len(trimmed)}."
    else:
        for place, letter in enumerate(trimmed, start=1):
            if letter == " " and name == "payment_id":
                continue  # memos are free text on some coins; those with a rule of their own refuse it by that
            if not "!" <= letter <= "~":
                problems[name] = _odd_character(spoken, place, letter)
                break
    return trimmed


def _odd_character(spoken: str, place: int, letter: str) -> str:
    if letter.isspace():
        what = "a space" if letter == " " else "a tab, line break or other blank"
        return f"The {spoken} contains {what} at position {place}. Remove this character."
    name = unicodedata.name(letter, f"U+{ord(letter):04X}").lower()
    return (
        f"Character {place} of the {spoken} is {name}, not a plain letter or digit. Copy the {spoken} "
        "again from the source."
    )
