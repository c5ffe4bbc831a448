"""Reading arguments as the front hands them over: texts, and the elements of an array, each a text that may be odd."""

import re
from collections.abc import Mapping

from chaindata.wire import refusals
from chaindata.wire.refusals import Refusal
from sandbox.chain.node.terms import Refused

ID_CHARACTERS = 64
_DIGITS = re.compile("[0-9a-fA-F]*")


def text(arguments: Mapping[str, object], name: str) -> str:
    """A text."""
    return str(arguments[name])


def elements(arguments: Mapping[str, object], name: str) -> list[str]:
    """The elements of an array."""
    array = arguments[name]
    return [str(each) for each in array] if isinstance(array, list) else []


def number(arguments: Mapping[str, object], name: str) -> int:
    """A whole number; 0 when it is absent."""
    integer = arguments.get(name, 0)
    return integer if isinstance(integer, int) else 0


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
    if not _DIGITS.fullmatch(written):
        raise Refused(not_hexadecimal, name=name, value=written)
    if len(written) != ID_CHARACTERS:
        raise Refused(wrong_length, name=name, length=len(written))
    return bytes.fromhex(written)[::-1]
