"""Simple-ledger messages of token type 1: reading the OP_RETURN strictly, and writing it.

Source: supplement 3. A message is the whole script of output 0: OP_RETURN and pushes of bytes, none of a number made by
an opcode. Numbers are big-endian; quantities count base units, of which 10^decimals make a token. A quantity says what
is claimed: whether the inputs cover it is for `slp_rules`.
"""

from collections.abc import Callable
from enum import IntEnum

import msgspec

from chaindata.wire.scripts import steps
from chaindata.wire.scripts.opcodes import OP_PUSHDATA4, OP_RETURN

LOKAD = b"SLP\0"
TOKEN_TYPE = 1
MOST_QUANTITY = 2**64 - 1
MOST_DECIMALS = 9
MOST_OUTPUTS = 19
FIRST_BATON_VOUT = 2
_ID_BYTES, _QUANTITY_BYTES = 32, 8
_GENESIS_PUSHES, _MINT_PUSHES = 10, 6


class Problem(IntEnum):
    """Why a script is no message, by the numbers of the public test vectors."""

    CUT_SHORT = 1
    FORBIDDEN_OPCODE = 2
    OTHER_PROTOCOL = 3
    SIZE = 10
    VALUE = 11
    COUNT = 12
    TOO_MANY_OUTPUTS = 21
    UNKNOWN_TYPE = 255


class NotAMessage(ValueError):
    """The script is no simple-ledger message of type 1. `problem` says in which way."""

    def __init__(self, problem: Problem, sentence: str) -> None:
        super().__init__(sentence)
        self.problem = problem


class CannotWrite(ValueError):
    """These values make no valid message."""


class Genesis(msgspec.Struct, frozen=True):
    """A new token. Its texts may be any bytes; `document_hash` has 32 or none; `baton_vout` None: never more of it."""

    ticker: bytes
    name: bytes
    document_uri: bytes
    document_hash: bytes
    decimals: int
    baton_vout: int | None
    quantity: int


class Mint(msgspec.Struct, frozen=True):
    """More of a token, by whoever spends its baton. `token_id` as shown; `baton_vout` None: the last time."""

    token_id: str
    baton_vout: int | None
    quantity: int


class Send(msgspec.Struct, frozen=True):
    """Tokens for the outputs from 1 on, in their order."""

    token_id: str
    quantities: tuple[int, ...]


class Commit(msgspec.Struct, frozen=True):
    """A checkpoint of a token, which nobody reads; what was pushed after its name."""

    fields: tuple[bytes, ...]


Message = Genesis | Mint | Send | Commit


# Reading -------------------------------------------------------------------------------------------------------------


def read(script: bytes) -> Message:
    """The message in the script of output 0. Raises `NotAMessage`."""
    fields = _pushes(script)
    _check_type(fields)
    if len(fields) < 3:
        raise _wrong_count("The script ends after the token type.")
    reader = _READERS.get(fields[2])
    if reader is None:
        raise NotAMessage(Problem.VALUE, "The message is not GENESIS, MINT, SEND or COMMIT.")
    return reader(fields)


def _pushes(script: bytes) -> list[bytes]:
    """What the script pushes, if it is of this protocol; a script of another protocol is not read to its end."""
    pushes: list[bytes] = []
    try:
        for step in steps.steps(script[1:]) if script[:1] == bytes([OP_RETURN]) else ():
            if not pushes and step.pushed != LOKAD:
                break
            if step.pushed is None or step.opcode == 0 or step.opcode > OP_PUSHDATA4:
                sentence = f"The opcode {step.opcode:#04x} is not a push that this protocol allows."
                raise NotAMessage(Problem.FORBIDDEN_OPCODE, sentence)
            pushes.append(step.pushed)
    except steps.NotAScript as problem:
        if pushes:
            raise NotAMessage(Problem.CUT_SHORT, str(problem)) from None
    if not pushes:
        raise NotAMessage(Problem.OTHER_PROTOCOL, "The script does not begin with the SLP prefix.")
    return pushes


def _check_type(fields: list[bytes]) -> None:
    if len(fields) < 2:
        raise _wrong_count("The script ends after the protocol prefix.")
    if not 1 <= len(fields[1]) <= 2:
        raise _wrong_size("token type", fields[1], "1 or 2")
    if int.from_bytes(fields[1], "big") != TOKEN_TYPE:
        raise NotAMessage(Problem.UNKNOWN_TYPE, "The token type is not 1, the only one supported.")


def _read_genesis(fields: list[bytes]) -> Genesis:
    if len(fields) != _GENESIS_PUSHES:
        raise _wrong_count(f"GENESIS must have {_GENESIS_PUSHES} pushes, not {len(fields)}.")
    ticker, name, document_uri, document_hash, decimals, baton, quantity = fields[3:]
    if len(document_hash) not in (0, _ID_BYTES):
        raise _wrong_size("document hash", document_hash, "0 or 32")
    if len(decimals) != 1:
        raise _wrong_size("number of decimals", decimals, "1")
    if decimals[0] > MOST_DECIMALS:
        raise NotAMessage(Problem.VALUE, f"Decimals can be up to {MOST_DECIMALS}, not {decimals[0]}.")
    return Genesis(ticker, name, document_uri, document_hash, decimals[0], _baton(baton), _quantity(quantity))


def _read_mint(fields: list[bytes]) -> Mint:
    if len(fields) != _MINT_PUSHES:
        raise _wrong_count(f"MINT must have {_MINT_PUSHES} pushes, not {len(fields)}.")
    return Mint(_token_id(fields[3]), _baton(fields[4]), _quantity(fields[5]))


def _read_send(fields: list[bytes]) -> Send:
    if len(fields) < 5:
        raise _wrong_count("SEND must have a token and at least one amount.")
    token_id = _token_id(fields[3])
    quantities = tuple(_quantity(each) for each in fields[4 : 4 + MOST_OUTPUTS + 1])
    if len(quantities) > MOST_OUTPUTS:
        raise NotAMessage(Problem.TOO_MANY_OUTPUTS, f"SEND can have up to {MOST_OUTPUTS} amounts.")
    return Send(token_id, quantities)


def _read_commit(fields: list[bytes]) -> Commit:
    return Commit(tuple(fields[3:]))


_READERS: dict[bytes, Callable[[list[bytes]], Message]] = {
    b"GENESIS": _read_genesis,
    b"MINT": _read_mint,
    b"SEND": _read_send,
    b"COMMIT": _read_commit,
}


def _token_id(raw: bytes) -> str:
    if len(raw) != _ID_BYTES:
        raise _wrong_size("token ID", raw, str(_ID_BYTES))
    return raw.hex()


def _baton(raw: bytes) -> int | None:
    if len(raw) > 1:
        raise _wrong_size("output of the baton", raw, "0 or 1")
    if raw and raw[0] < FIRST_BATON_VOUT:
        raise NotAMessage(Problem.VALUE, f"The baton can't be in output {raw[0]}.")
    return raw[0] if raw else None


def _quantity(raw: bytes) -> int:
    if len(raw) != _QUANTITY_BYTES:
        raise _wrong_size("quantity", raw, str(_QUANTITY_BYTES))
    return int.from_bytes(raw, "big")


def _wrong_size(what: str, raw: bytes, sizes: str) -> NotAMessage:
    return NotAMessage(Problem.SIZE, f"The {what} is {len(raw)} bytes instead of {sizes}.")


def _wrong_count(sentence: str) -> NotAMessage:
    return NotAMessage(Problem.COUNT, sentence)


# Writing -------------------------------------------------------------------------------------------------------------


def script_of(message: Message) -> bytes:
    """The script of output 0 that is this message. Raises `CannotWrite`: for one too long to be relayed, too."""
    head = [LOKAD, bytes([TOKEN_TYPE])]
    match message:
        case Genesis():
            fields = [b"GENESIS", message.ticker, message.name, message.document_uri, message.document_hash]
            fields += [bytes([_decimals_written(message.decimals)]), _baton_written(message.baton_vout)]
            fields.append(_quantity_written(message.quantity))
        case Mint():
            fields = [b"MINT", _token_id_written(message.token_id), _baton_written(message.baton_vout)]
            fields.append(_quantity_written(message.quantity))
        case Send():
            fields = [b"SEND", _token_id_written(message.token_id), *map(_quantity_written, message.quantities)]
        case Commit():
            fields = [b"COMMIT", *message.fields]
    script = steps.returning([*head, *fields])
    if len(script) > steps.MOST_RETURN_BYTES:
        raise CannotWrite(f"The message is {len(script)} bytes; nodes relay up to {steps.MOST_RETURN_BYTES}.")
    try:
        read(script)
    except NotAMessage as problem:
        raise CannotWrite(str(problem)) from None
    return script


def _decimals_written(decimals: int) -> int:
    if not 0 <= decimals <= MOST_DECIMALS:
        raise CannotWrite(f"Decimals must be between 0 and {MOST_DECIMALS}.")
    return decimals


def _baton_written(vout: int | None) -> bytes:
    if vout is None:
        return b""
    if not FIRST_BATON_VOUT <= vout <= 255:
        raise CannotWrite(f"The baton must be in output {FIRST_BATON_VOUT} to 255.")
    return bytes([vout])


def _quantity_written(quantity: int) -> bytes:
    if not 0 <= quantity <= MOST_QUANTITY:
        raise CannotWrite(f"Quantities must be between 0 and {MOST_QUANTITY} base units.")
    return quantity.to_bytes(_QUANTITY_BYTES, "big")


def _token_id_written(token_id: str) -> bytes:
    try:
        return bytes.fromhex(token_id)
    except ValueError:
        raise CannotWrite("Token IDs must be 64 hexadecimal digits.") from None


def text_of(raw: bytes) -> str:
    """A ticker, name or document URI as text; bytes that are not UTF-8 are replaced by a mark."""
    return raw.decode("utf-8", "replace")
