"""Reading arguments as the front hands them over: texts, and the elements of an array, each a text that may be odd."""

from collections.abc import Mapping

from chaindata.wire import refusals
from chaindata.wire.hashing import NotHexadecimal, from_hex
from chaindata.wire.refusals import Refusal
from sandbox.chain.terms import Refused

ID_CHARACTERS = 64


def text(arguments: Mapping[str, object], name: str) -> str:
    """A text."""
    return str(arguments[name])


def elements(arguments: Mapping[str, object], name: str) -> list[str]:
    """The elements of an array."""
    found = arguments[name]
    return [str(each) for each in found] if isinstance(found, list) else []


def number(arguments: Mapping[str, object], name: str) -> int:
    """A whole number; 0 when it is absent."""
    found = arguments.get(name, 0)
    return found if isinstance(found, int) else 0


def id_bytes(
    written: str,
    name: str,
    *,
    not_hexadecimal: Refusal = refusals.NOT_HEXADECIMAL,
    wrong_length: Refusal = refusals.WRONG_LENGTH,
) -> bytes:
    """The bytes of an id as it is shown, as a node reads it: digits first, then their number (supplement 10).

    Raises `Refused`, with the node's `name` of what it was given.
    """
    try:
        from_hex(written + "0" * (len(written) % 2))
    except NotHexadecimal:
        raise Refused(not_hexadecimal, name=name, value=written) from None
    if len(written) != ID_CHARACTERS:
        raise Refused(wrong_length, name=name, length=len(written))
    return bytes.fromhex(written)[::-1]
