"""Scripts: their steps, their text as nodes print it, their kinds and addresses, and the scripts that we build.

Source: supplement 1.5 (decodeScript) and 1.6 (asm), 5.4. Nothing is executed here.
"""

from collections.abc import Iterator, Sequence
from enum import StrEnum

import msgspec

from chaindata.wire.addresses import Address, Network
from chaindata.wire.addresses import Kind as AddressKind
from chaindata.wire.hashing import hash160
from chaindata.wire.scripts import signature_form
from chaindata.wire.scripts.opcodes import (
    NAMES,
    OP_0,
    OP_1,
    OP_1NEGATE,
    OP_16,
    OP_CHECKMULTISIG,
    OP_CHECKSIG,
    OP_DUP,
    OP_EQUAL,
    OP_EQUALVERIFY,
    OP_HASH160,
    OP_PUSHDATA1,
    OP_PUSHDATA2,
    OP_PUSHDATA4,
    OP_RETURN,
    UNKNOWN,
)

MOST_BYTES = 10_000  # of a script that can be executed
MOST_RETURN_BYTES = 223  # of a whole OP_RETURN script that is relayed
MOST_ELEMENT_BYTES = 520  # of one value on the stack, and so of a script that is hashed
_HASH_BYTES = 20
_KEY_BYTES = (33, 65)
_LENGTH_BYTES = {OP_PUSHDATA1: 1, OP_PUSHDATA2: 2, OP_PUSHDATA4: 4}
_CUT_SHORT = "[error]"


class NotAScript(ValueError):
    """The bytes end within a push; or a script can't be built of what was given."""


class Kind(StrEnum):
    """What a locking script asks for, by the words of nodes."""

    NONSTANDARD = "nonstandard"
    KEY = "pubkey"
    KEY_HASH = "pubkeyhash"
    SCRIPT_HASH = "scripthash"
    MULTISIG = "multisig"
    RETURN = "nulldata"


class Step(msgspec.Struct, frozen=True, gc=False):
    """An opcode, and what it pushes: None when it pushes nothing or a number of its own (OP_1 to OP_16, OP_1NEGATE)."""

    opcode: int
    pushed: bytes | None


# Reading -------------------------------------------------------------------------------------------------------------


def steps(script: bytes) -> Iterator[Step]:
    """Each step in order. Raises `NotAScript` when it comes to a push that is longer than what is left."""
    at, end = 0, len(script)
    while at < end:
        opcode = script[at]
        at += 1
        if opcode > OP_PUSHDATA4:
            yield Step(opcode, None)
            continue
        length, at = (opcode, at) if opcode < OP_PUSHDATA1 else _length_at(script, opcode, at)
        if at + length > end:
            raise NotAScript(f"The script ends in the middle of a {length}-byte push that begins at byte {at}.")
        yield Step(opcode, script[at : at + length])
        at += length


def asm(script: bytes, *, unlocks: bool = False) -> str:
    """The text of a script, words apart by spaces; where it is cut short, `[error]` ends it.

    With `unlocks`, of a script of an input, the type of hash is told after each signature: `30…[ALL|FORKID]`.
    """
    words = []
    names_types = unlocks and not is_unspendable(script)
    at, end = 0, len(script)
    while at < end:
        opcode = script[at]
        at += 1
        if opcode > OP_PUSHDATA4:
            words.append(NAMES.get(opcode, UNKNOWN))
            continue
        length, at = (opcode, at) if opcode < OP_PUSHDATA1 else _length_at(script, opcode, at)
        pushed = script[at : at + length]
        at += length
        if at > end:
            words.append(_CUT_SHORT)
            break
        words.append(_word(pushed, names_types))
    return " ".join(words)


def _length_at(script: bytes, opcode: int, at: int) -> tuple[int, int]:
    """The length that follows one of the three long pushes, and its end; beyond the script's when that is cut short."""
    end = at + _LENGTH_BYTES[opcode]
    return int.from_bytes(script[at:end], "little"), end


def _word(pushed: bytes, names_types: bool) -> str:
    if len(pushed) <= 4:
        return str(number(pushed))
    if names_types and (words := signature_form.hash_type_words(pushed)):
        return pushed[:-1].hex() + words
    return pushed.hex()


def number(pushed: bytes) -> int:
    """The number that a value of the stack stands for: little-endian, its highest bit the sign."""
    magnitude = int.from_bytes(pushed, "little")
    sign = 1 << (8 * len(pushed) - 1) if pushed else 0
    return -(magnitude ^ sign) if magnitude & sign else magnitude


def is_unspendable(script: bytes) -> bool:
    """Whether nobody can ever spend an output that it locks."""
    return script[:1] == bytes([OP_RETURN]) or len(script) > MOST_BYTES


def is_push_only(script: bytes) -> bool:
    """Whether it does nothing but push, as an unlocking script must."""
    try:
        return all(step.opcode <= OP_16 for step in steps(script))
    except NotAScript:
        return False


def kind_of(script: bytes) -> Kind:
    """What a locking script asks for."""
    length = len(script)
    if length == 25 and script[:3] == _KEY_HASH_HEAD and script[23:] == _KEY_HASH_TAIL:
        return Kind.KEY_HASH
    if length == 23 and script[0] == OP_HASH160 and script[1] == _HASH_BYTES and script[22] == OP_EQUAL:
        return Kind.SCRIPT_HASH
    if script[:1] == bytes([OP_RETURN]) and is_push_only(script[1:]):
        return Kind.RETURN
    if length - 2 in _KEY_BYTES and script[0] == length - 2 and script[-1] == OP_CHECKSIG:
        return Kind.KEY
    return Kind.MULTISIG if multisig_of(script) else Kind.NONSTANDARD


_KEY_HASH_HEAD = bytes([OP_DUP, OP_HASH160, _HASH_BYTES])
_KEY_HASH_TAIL = bytes([OP_EQUALVERIFY, OP_CHECKSIG])


def multisig_of(script: bytes) -> tuple[int, list[bytes]] | None:
    """How many signatures, and of which public keys, a multisig script asks for; None when it is another kind."""
    if script[-1:] != bytes([OP_CHECKMULTISIG]) or not OP_1 <= script[0] <= OP_16:
        return None
    try:
        script_steps = list(steps(script))
    except NotAScript:
        return None
    if len(script_steps) < 4 or script_steps[-1].opcode != OP_CHECKMULTISIG:
        return None
    required, *middle, total, _ = script_steps
    keys = [step.pushed for step in middle if step.pushed is not None and len(step.pushed) in _KEY_BYTES]
    signatures = required.opcode - OP_1 + 1
    if len(keys) != len(middle) or total.opcode - OP_1 + 1 != len(keys) or signatures > len(keys):
        return None
    return signatures, keys


def addresses_of(script: bytes, network: Network) -> list[Address]:
    """Whom a locking script pays: one address, each key of a multisig, or nobody that an address could name."""
    return meaning_of(script, network).addresses


class Meaning(msgspec.Struct, frozen=True, gc=False):
    """What a locking script asks for: its kind, how many signatures as nodes tell (None: they tell none), and whose."""

    kind: Kind
    signatures: int | None
    addresses: list[Address]


def meaning_of(script: bytes, network: Network) -> Meaning:
    """Kind, signatures and addresses of a locking script at once."""
    match kind_of(script):
        case Kind.KEY_HASH:
            return Meaning(Kind.KEY_HASH, 1, [Address(network, AddressKind.KEY, script[3:23])])
        case Kind.SCRIPT_HASH:
            return Meaning(Kind.SCRIPT_HASH, 1, [Address(network, AddressKind.SCRIPT, script[2:22])])
        case Kind.KEY:
            return Meaning(Kind.KEY, 1, [Address(network, AddressKind.KEY, hash160(script[1:-1]))])
        case Kind.MULTISIG:
            signatures, keys = multisig_of(script) or (0, [])
            addresses = [Address(network, AddressKind.KEY, hash160(key)) for key in keys]
            return Meaning(Kind.MULTISIG, signatures, addresses)
        case kind:
            return Meaning(kind, None, [])


def script_hash_address(script: bytes, network: Network) -> Address:
    """The address that pays to the hash of a script."""
    return Address(network, AddressKind.SCRIPT, hash160(script))


# Building ------------------------------------------------------------------------------------------------------------


def locking(address: Address) -> bytes:
    """The script that pays an address. Raises `NotAScript` for hashes that are not of 20 bytes."""
    if len(address.hash) != _HASH_BYTES:
        raise NotAScript(f"No standard script pays to a hash of {len(address.hash)} bytes.")
    if address.kind is AddressKind.KEY:
        return _KEY_HASH_HEAD + address.hash + _KEY_HASH_TAIL
    return bytes([OP_HASH160, _HASH_BYTES]) + address.hash + bytes([OP_EQUAL])


def key_locking(public_key: bytes) -> bytes:
    """The script that pays a public key itself."""
    return push(_public_key(public_key)) + bytes([OP_CHECKSIG])


def multisig(signatures: int, public_keys: Sequence[bytes]) -> bytes:
    """The script that asks for so many signatures of these keys, in their order. Bounds: 1 to 16 keys."""
    if not 1 <= signatures <= len(public_keys) <= 16:
        raise NotAScript(f"Can't require {signatures} signatures from {len(public_keys)} keys.")
    keys = b"".join(push(_public_key(key)) for key in public_keys)
    return bytes([OP_1 - 1 + signatures]) + keys + bytes([OP_1 - 1 + len(public_keys), OP_CHECKMULTISIG])


def returning(pushes: Sequence[bytes]) -> bytes:
    """An OP_RETURN script with these pushes. Token layers read pushes: none becomes an opcode, an empty one is 4c00."""
    return bytes([OP_RETURN]) + b"".join(push(each) if each else bytes([OP_PUSHDATA1, 0]) for each in pushes)


def push(content: bytes) -> bytes:
    """A push of bytes by the shortest of the push opcodes, numbers not being made of them. An empty one is OP_0."""
    length = len(content)
    if length < OP_PUSHDATA1:
        return bytes([length]) + content
    for opcode, size in _LENGTH_BYTES.items():
        if length < 1 << 8 * size:
            return bytes([opcode]) + length.to_bytes(size, "little") + content
    raise NotAScript("The data is too long to be pushed.")


def push_number(value: int) -> bytes:
    """The shortest push of a number, as the height in a coinbase is written."""
    if value == 0 or -1 <= value <= 16:
        return bytes([OP_0 if value == 0 else OP_1NEGATE if value < 0 else OP_1 - 1 + value])
    magnitude = abs(value)
    size = magnitude.bit_length() // 8 + 1  # with room for the sign
    return push((magnitude | (1 << 8 * size - 1 if value < 0 else 0)).to_bytes(size, "little"))


def _public_key(raw: bytes) -> bytes:
    if len(raw) not in _KEY_BYTES or raw[0] not in ((2, 3) if len(raw) == 33 else (4,)):
        raise NotAScript("Invalid public key: wrong length or first byte.")
    return raw
