"""The arguments of a received call as its row of the catalogue reads them, and what is said of odd ones.

The exchange refuses the first odd parameter, in the words of its catalogue of errors. The chain-data service checks in
its documented order (chain supplement 1.7 to 1.9): is it an array, how many elements; each element is for the handler.
"""

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from chaindata.wire import catalogue, refusals
from chaindata.wire.refusals import Refusal
from sandbox.chain.node.terms import Refused
from sandbox.server.bodies import Pairs
from sandbox.server.chain_bodies import FormText
from wire.operation import Body, Operation, read
from wire.params import LISTS, BadArgument, Kind, Param, Place, Problem, from_text

# With the named parameter all others are ignored, the odd ones too (exchange REST, Trading history).
_OVERRIDING: Final = {"get_order_history": "clientOrderId"}
_IGNORED = frozenset({"get_properties"})  # its documented parameters change nothing, whatever they hold
_AS_THEY_CAME = frozenset({Kind.TEXT, *LISTS})
_MOST_DIGITS = 15
_WHOLE = re.compile(r"-?[0-9]{1,400}")
_NODE_BITS = {"propertyId": 64}  # in which a node reads a number; 32 where nothing else is said
_OUT_OF_BOUNDS = {
    "height": refusals.HEIGHT_OUT_OF_RANGE,
    "index": refusals.TOKEN_HEIGHT_OUT_OF_RANGE,
    "startBlock": refusals.TOKEN_HEIGHT_OUT_OF_RANGE,
    "endBlock": refusals.TOKEN_HEIGHT_OUT_OF_RANGE,
    "propertyId": refusals.PROPERTY_OUT_OF_RANGE,
}


def of_exchange(
    operation: Operation,
    path_values: Mapping[str, str],
    query_pairs: Iterable[tuple[str, str]],
    body_pairs: Iterable[tuple[str, object]],
    *,
    is_observed: bool = False,
) -> dict[str, object]:
    """The arguments, typed, defaults filled in; in the observed dialect also that of an order without a time in force,
    which the specification requires there (exchange supplement 6). Raises `BadArgument`."""
    pairs, members = list(query_pairs), list(body_pairs)
    if is_observed and operation.name == "put_order" and "timeInForce" not in dict([*pairs, *members]):
        members.append(("timeInForce", "GTC"))
    alone = [pair for pair in pairs if pair[0] == _OVERRIDING.get(operation.name) and pair[1]]
    return read(operation, path_values, alone or pairs, members)


def of_chain(
    operation: Operation, path_values: Mapping[str, str], query_pairs: Pairs, body: object, *, most: int
) -> dict[str, object]:
    """The arguments by name: numbers and switches typed, defaults filled in, texts as they came.

    `most` is how many elements an array may have; its elements are texts, an empty or odd one included, so that the
    handler can name it. The members of a payload come untouched: its handler reads them in their documented order.
    Raises `Refused`.
    """
    if operation.group == catalogue.PAYLOADS:
        return dict(body) if isinstance(body, dict) else {}
    values = _by_param(operation, path_values, query_pairs, body, most)
    arguments = {}
    for param in operation.params:
        value = values.get(param.name)
        if value is None or value == "":
            if param.required:
                raise Refused(refusals.EMPTY_MEMBER, name=param.name)
            value = param.default
        if value is not None:
            arguments[param.name] = value if param.kind in _AS_THEY_CAME else _typed(param, value)
    return arguments


def is_empty_bulk(operation: Operation, arguments: Mapping[str, object]) -> bool:
    """Whether a bulk call asks for nothing, which is answered with nothing."""
    bulk = bulk_of(operation)
    return bulk is not None and arguments.get(bulk.name) == []


def bulk_of(operation: Operation) -> Param | None:
    """The parameter that makes an operation a bulk one: its array; None when it has none."""
    return next((param for param in operation.params if param.place is Place.FORM and param.kind in LISTS), None)


def _by_param(
    operation: Operation, path_values: Mapping[str, str], query_pairs: Pairs, body: object, most: int
) -> dict[str, object]:
    """What the path, the query and the body hold for each parameter, what servers pass over left out."""
    values: dict[str, object] = dict(path_values)
    query = dict(query_pairs)
    members = _members(operation, body, most)
    for param in operation.params:
        names = (param.name, *param.other_names)
        if param.place is Place.FORM:
            values[param.name] = _lenient(param, members.get(param.name))
        elif param.place is Place.QUERY or param.name not in values:
            found = next((query[name] for name in names if name in query), None)
            values[param.name] = None if operation.name in _IGNORED else _lenient(param, found)
    return values


def _members(operation: Operation, body: object, most: int) -> dict[str, object]:
    bulk = bulk_of(operation)
    if bulk is None:
        return dict(body) if isinstance(body, dict) else {}
    values = {bulk.name: body} if operation.body is Body.ARRAY else dict(body) if isinstance(body, dict) else {}
    elements = values.get(bulk.name)
    elements = [elements] if isinstance(elements, FormText) else elements
    if not isinstance(elements, list):
        raise Refused(Refusal(400, refusals.NOT_AN_ARRAY.get(operation.name, f"{bulk.name} needs to be an array")))
    if len(elements) > most:
        raise Refused(refusals.ARRAY_TOO_LARGE)
    return values | {bulk.name: [_element(operation, bulk, each) for each in elements]}


def _element(operation: Operation, bulk: Param, value: object) -> object:
    if bulk.kind is Kind.OBJECTS:
        return _pair(bulk, value)
    if bulk.kind is not Kind.INTEGERS:
        return _text(value)
    if value in (0, None, "", False):  # real servers take the number 0 for nothing, the text "0" for a height
        raise Refused(Refusal(400, refusals.EMPTY_ELEMENT[operation.name]))
    text = _text(value)
    if not _WHOLE.fullmatch(text):
        raise Refused(refusals.NOT_AN_INTEGER)
    _must_be_in_range(bulk, text)
    return int(text)


def _pair(bulk: Param, value: object) -> dict[str, str]:
    """The texts of an object; members that are absent are empty, for the handler to name."""
    members = value if isinstance(value, dict) else {}
    return {name: _text(members.get(name)) for name in bulk.choices}


def _text(value: object) -> str:
    """An element as a text that an error can name."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str() | int() | Decimal():
            return str(value)
        case _:
            return "[object Object]"


def _lenient(param: Param, value: object) -> object:
    """A value as servers take it: a switch is on when it says so, a page that is no number is none at all."""
    if value is None or param.kind in LISTS:
        return value
    if param.kind is Kind.BOOLEAN:
        return value is True or (isinstance(value, str) and value.lower() == "true")
    text = _text(value)
    is_whole = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
    return None if param.kind is Kind.INTEGER and param.place is not Place.PATH and not is_whole else text


def _must_be_in_range(param: Param, text: str) -> None:
    """A node refuses a whole number that it can't hold before it looks at what the number is for (chain supplement
    10)."""
    highest = 1 << _NODE_BITS.get(param.name, 32) - 1
    if _WHOLE.fullmatch(text) and not -highest <= int(text) < highest:
        raise Refused(refusals.INTEGER_OUT_OF_RANGE)


def _typed(param: Param, value: object) -> object:
    if param.kind is Kind.INTEGER:
        _must_be_in_range(param, _text(value))
    try:
        return from_text(param, value)
    except BadArgument as problem:
        if problem.problem in (Problem.TOO_LOW, Problem.TOO_HIGH):
            raise Refused(_OUT_OF_BOUNDS.get(param.name, refusals.NOT_AN_INTEGER)) from None
        raise Refused(refusals.NOT_AN_INTEGER) from None
