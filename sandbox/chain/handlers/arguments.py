"""The arguments of questions about simple-ledger tokens and cash accounts, which come as texts and arrays of texts."""

from collections.abc import Mapping
from typing import TypeAlias

from chaindata.wire import refusals
from sandbox.chain.node.terms import Refused

Arguments: TypeAlias = Mapping[str, object]


def text(arguments: Arguments, name: str) -> str:
    """A text that is not empty. Raises `Refused`."""
    value = arguments.get(name)
    if value is None or not str(value).strip():
        raise Refused(refusals.EMPTY_MEMBER, name=name)
    return str(value)


def texts(arguments: Arguments, name: str) -> list[str]:
    """An array of texts, of which some may be empty."""
    value = arguments.get(name)
    return [str(each) for each in value] if isinstance(value, list) else []


def pairs(arguments: Arguments, *names: str) -> list[tuple[str, str]]:
    """An array of objects with two members, both of them there. Raises `Refused`."""
    value = arguments.get("pairs")
    each_given = value if isinstance(value, list) else []
    first, second = names
    return [(text(each, first), text(each, second)) for each in each_given]
