"""Cash accounts: registrations in OP_RETURN outputs, and the number, hash and emoji that follow from their blocks.

Source: supplement 4, with its vectors. Digits of its hash distinguish a name from the same name in the same block.
"""

import re
from collections.abc import Collection
from hashlib import sha256

import msgspec

from chaindata.wire.addresses import Address, Kind, Network
from chaindata.wire.hashing import from_display_hex
from chaindata.wire.scripts import steps
from chaindata.wire.scripts.opcodes import OP_PUSHDATA4, OP_RETURN
from chaindata.wire.transactions import Transaction
from wire import encodings

MARKER = bytes.fromhex("01010101")
HEIGHT_OFFSET = (
    563_620  # of the main chain: an account's number is its block's height less this; test chains have own ones
)
FIRST_NUMBER = 100
HASH_DIGITS = 10
MOST_PAYMENTS = 100
_NAME = re.compile(r"[A-Za-z0-9_]{1,99}", re.ASCII)
_IDENTIFIER = re.compile(r"(?P<name>[A-Za-z0-9_]{1,99})#(?P<number>[0-9]{3,9})(\.(?P<prefix>[0-9]{1,10}))?;?", re.ASCII)
_TOKEN_AWARE = 0x80
_PAYMENT_CODE_VERSION = b"\x47"

KINDS = {1: ("Key Hash", 20), 2: ("Script Hash", 20), 3: ("Payment Code", 80), 4: ("Stealth Keys", 66)}
"""Kinds of payment: their words, and the bytes of each. The token-aware ones are 128 higher."""

EMOJI = tuple(
    map(
        chr,
        (
            *(128123, 128018, 128021, 128008, 128014, 128004, 128022, 128016, 128042, 128024, 128000, 128007, 128063),
            *(129415, 128019, 128039, 129414, 129417, 128034, 128013, 128031, 128025, 128012, 129419, 128029, 128030),
            *(128375, 127803, 127794, 127796, 127797, 127809, 127808, 127815, 127817, 127819, 127820, 127822, 127826),
            *(127827, 129373, 129381, 129365, 127805, 127798, 127812, 129472, 129370, 129408, 127850, 127874, 127853),
            *(127968, 128663, 128690, 9973, 9992, 128641, 128640, 8986, 9728, 11088, 127752, 9730, 127880, 127872),
            *(9917, 9824, 9829, 9830, 9827, 128083, 128081, 127913, 128276, 127925, 127908, 127911, 127928, 127930),
            *(129345, 128269, 128367, 128161, 128214, 9993, 128230, 9999, 128188, 128203, 9986, 128273, 128274),
            *(128296, 128295, 9878, 9775, 128681, 128099, 127838),
        ),
    )
)
"""The hundred emoji, by the number that a registration's hash gives."""


class NotARegistration(ValueError):
    """The script or transaction registers no account; the message says why."""


class NotAnIdentifier(ValueError):
    """The text names no cash account."""


class Payment(msgspec.Struct, frozen=True):
    """One way to pay an account: a kind (128 higher when it takes tokens) and its bytes."""

    kind: int
    content: bytes

    @property
    def words(self) -> str:
        """The name of the kind."""
        return KINDS[self.kind & ~_TOKEN_AWARE][0]

    def text(self, network: Network) -> str:
        """The address or code as it is shown; stealth keys are in hexadecimal, having no other form."""
        takes_tokens, kind = bool(self.kind & _TOKEN_AWARE), self.kind & ~_TOKEN_AWARE
        if kind in (1, 2):
            address = Address(network, Kind.KEY if kind == 1 else Kind.SCRIPT, self.content)
            return address.slp_address if takes_tokens else address.cash_address
        return encodings.base58check_encode(_PAYMENT_CODE_VERSION + self.content) if kind == 3 else self.content.hex()


class Registration(msgspec.Struct, frozen=True):
    """A name, as it was written, and how to pay it."""

    name: str
    payments: tuple[Payment, ...]


class Collision(msgspec.Struct, frozen=True):
    """What distinguishes accounts of one name and number: `length` digits of `hash` do, among `count` others."""

    hash: str
    count: int
    length: int


class Identifier(msgspec.Struct, frozen=True):
    """`name#number` and, where several have that, the first digits of a hash."""

    name: str
    number: int
    prefix: str = ""

    @property
    def text(self) -> str:
        """As it is written: `name#number;` or `name#number.prefix;`."""
        return f"{self.name}#{self.number}" + (f".{self.prefix}" if self.prefix else "") + ";"


# Reading -------------------------------------------------------------------------------------------------------------


def registration_of(transaction: Transaction) -> Registration:
    """The account that a transaction registers. Raises `NotARegistration`, also for two such outputs."""
    scripts = [output.script for output in transaction.outputs if is_claimed(output.script)]
    if len(scripts) != 1:
        raise NotARegistration(f"The transaction has {len(scripts)} outputs that register a name; only one is allowed.")
    return read(scripts[0])


def is_claimed(script: bytes) -> bool:
    """Whether a script begins as registrations do."""
    return script.startswith(bytes([OP_RETURN, len(MARKER)]) + MARKER)


def read(script: bytes) -> Registration:
    """The registration in an output's script. Raises `NotARegistration`."""
    if not is_claimed(script):
        raise NotARegistration("The script does not begin with the cash-account prefix.")
    try:
        script_steps = list(steps.steps(script[1:]))
    except steps.NotAScript as problem:
        raise NotARegistration(str(problem)) from None
    fields = [step.pushed for step in script_steps if step.pushed is not None and step.opcode <= OP_PUSHDATA4]
    if len(fields) != len(script_steps):
        raise NotARegistration("The script contains opcodes other than pushes.")
    if not 3 <= len(fields) <= MOST_PAYMENTS + 2:
        raise NotARegistration("A registration needs a name and at least one payment method.")
    return Registration(_name(fields[1]), tuple(_payment(each) for each in fields[2:]))


def _name(raw: bytes) -> str:
    text = raw.decode("ascii", "replace")
    if not _NAME.fullmatch(text):
        raise NotARegistration("Names must be 1 to 99 letters, digits or underscores.")
    return text


def _payment(raw: bytes) -> Payment:
    kind, content = raw[:1], raw[1:]
    form = KINDS.get(kind[0] & ~_TOKEN_AWARE) if kind else None
    if form is None or len(content) != form[1]:
        raise NotARegistration("A payment method has an unknown type, or the wrong length for its type.")
    return Payment(kind[0], content)


def identifier(text: str) -> Identifier:
    """The parts of `name#number`, with or without digits of a hash. Raises `NotAnIdentifier`."""
    match = _IDENTIFIER.fullmatch(text)
    if match is None or int(match["number"]) < FIRST_NUMBER:
        raise NotAnIdentifier("Enter a cash account as name#number, for example Jonathan#100.")
    return Identifier(match["name"], int(match["number"]), match["prefix"] or "")


# Writing -------------------------------------------------------------------------------------------------------------


def script_of(registration: Registration) -> bytes:
    """The output script that registers an account. Raises `NotARegistration` for what can't be registered."""
    fields = [MARKER, registration.name.encode("ascii", "replace")]
    fields += [bytes([payment.kind]) + payment.content for payment in registration.payments]
    script = steps.returning(fields)
    read(script)
    if len(script) > steps.MOST_RETURN_BYTES:
        raise NotARegistration(f"The script is {len(script)} bytes; nodes relay up to {steps.MOST_RETURN_BYTES}.")
    return script


# What follows from the block -----------------------------------------------------------------------------------------


def number_at(height: int, *, offset: int = HEIGHT_OFFSET) -> int | None:
    """The number of accounts that are registered in the block of that height; None before the first one."""
    number = height - offset
    return number if number >= FIRST_NUMBER else None


def _digest(block_hash: str, txid: str) -> bytes:
    """The hash over both in their printed byte order, the reverse of the computed one."""
    return sha256(from_display_hex(block_hash)[::-1] + from_display_hex(txid)[::-1]).digest()


def collision_hash(block_hash: str, txid: str) -> str:
    """Ten digits that distinguish registrations in one block: the first 32 bits in decimal, reversed, padded with 0."""
    return str(int.from_bytes(_digest(block_hash, txid)[:4], "big"))[::-1].ljust(HASH_DIGITS, "0")


def emoji(block_hash: str, txid: str) -> str:
    """One of the hundred emoji, by the last 32 bits."""
    return EMOJI[int.from_bytes(_digest(block_hash, txid)[-4:], "big") % len(EMOJI)]


def collision(own_hash: str, others: Collection[str]) -> Collision:
    """How many digits distinguish an account from others of its name and block, given their hashes.

    Equal hashes can't be distinguished: the length is then that of the whole hash.
    """
    length = next(
        (size for size in range(HASH_DIGITS) if not any(other.startswith(own_hash[:size]) for other in others)),
        HASH_DIGITS,
    )
    return Collision(own_hash, len(others), length)
