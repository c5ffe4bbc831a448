"""Reading the members of a payload as real servers do (supplement 1.8 and 2).

First the server asks in the documented order whether each member is there, by a test that takes the number 0 for
nothing; then numbers are read as far as they go, and the node judges what is left. Members are any JSON.
"""

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from chaindata.wire import addresses, refusals
from chaindata.wire.refusals import Refusal
from chaindata.wire.tokens import amounts
from chaindata.wire.tokens.payload_fields import CannotWrite
from chaindata.wire.tokens.payloads import FIRST_PROPERTY, Payload
from sandbox.chain.node.terms import Refused
from sandbox.chain.tokens.properties_state import State
from sandbox.chain.tokens.properties_terms import TAKEN

HIGHEST_PROPERTY = 2**32 - 1
NOT_A_TEXT = Refusal(400, "JSON value is not a string as expected", -1)
_WHOLE_NUMBER = re.compile(
    r"\s*(?P<sign>[+-]?)(?:0[xX](?P<hexadecimal>[0-9a-fA-F]{1,20})|(?P<decimal>[0-9]{1,20}))(?![0-9])"
)
_MOST_DIGITS = 40
_ECOSYSTEMS = (1, 2)

Members = Mapping[str, object]


def require(members: Members, names: Sequence[str], *, zero_for: Sequence[str] = ()) -> None:
    """Raises `Refused` for the first member that is not there; the number 0 is only there in `zero_for`."""
    for name in names:
        value = members.get(name)
        if _is_nothing(value) and not (name in zero_for and value == 0 and value is not False):
            raise Refused(refusals.EMPTY_MEMBER, name=name)


def _is_nothing(value: object) -> bool:
    """What real servers take for nothing; an empty list or object is something."""
    return value is None or value == "" or (isinstance(value, int | Decimal) and value == 0)


def whole_number(members: Members, name: str) -> int:
    """A number, or what a text begins with; what follows the digits is cut off. Raises `Refused`."""
    value = members.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() < _MOST_DIGITS:
        return int(value)
    match = _WHOLE_NUMBER.match(value) if isinstance(value, str) else None
    if match is None:
        raise Refused(refusals.NOT_AN_INTEGER)
    size = int(match["hexadecimal"], 16) if match["hexadecimal"] else int(match["decimal"])
    return -size if match["sign"] == "-" else size


def text(members: Members, name: str) -> str:
    """A text; empty when it is absent. Raises `Refused`."""
    value = members.get(name)
    if _is_nothing(value):
        return ""
    if not isinstance(value, str):
        raise Refused(NOT_A_TEXT)
    return value


def units(members: Members, name: str, precision: int) -> int:
    """The base units of an amount, which may be written as a number. Raises `Refused`."""
    value = members.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        raise Refused(NOT_A_TEXT)
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > _MOST_DIGITS:
            raise Refused(refusals.INVALID_AMOUNT)
        value = format(value, "f")
    elif isinstance(value, int) and abs(value) >= 10**_MOST_DIGITS:
        raise Refused(refusals.INVALID_AMOUNT)
    try:
        return amounts.units_of(str(value), precision)
    except CannotWrite as problem:
        raise Refused(problem.refusal) from None


def property_id(members: Members, name: str = "propertyId") -> int:
    """The number of a property, which need not exist. Raises `Refused`."""
    number = whole_number(members, name)
    if not -(2**63) <= number < 2**63:
        raise Refused(refusals.INTEGER_OUT_OF_RANGE)
    if not FIRST_PROPERTY <= number <= HIGHEST_PROPERTY:
        raise Refused(refusals.PROPERTY_OUT_OF_RANGE)
    return number


def precision(state: State, number: int) -> int:
    """The places of a property, which the chain knows. Raises `Refused`."""
    token_property = state.properties.get(number)
    if token_property is None:
        raise Refused(refusals.PROPERTY_UNKNOWN)
    return token_property.precision


def ecosystem(members: Members) -> int:
    """The ecosystem; of the two that there are, the payload takes one. Raises `Refused`."""
    number = whole_number(members, "ecosystem")
    if number not in _ECOSYSTEMS:
        raise Refused(refusals.INVALID_ECOSYSTEM)
    return number


def checked_address(members: Members, name: str) -> str:
    """An address, with the prefix it was given with; the service checks it before the node does (supplement 10).

    Raises `Refused`.
    """
    written = text(members, name)
    try:
        return addresses.read(written, networks=TAKEN).cash_address
    except addresses.OtherNetwork:
        raise Refused(refusals.INVALID_NETWORK) from None
    except addresses.NotAnAddress:
        raise Refused(refusals.INVALID_ADDRESS, value=written) from None


def written(payload: Payload) -> str:
    """The bytes of a payload in hexadecimal. Raises `Refused` with what a node says of its values."""
    try:
        return payload.raw.hex()
    except CannotWrite as problem:
        raise Refused(problem.refusal) from None
