"""Random arguments for described operations, and a request taken apart as a server receives it."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from urllib.parse import parse_qsl, unquote

from hypothesis import strategies as st

from wire.operation import Kind, Operation, Param, Place, Request

_PRINTABLE = st.characters(exclude_categories=("Cc", "Cs"))
_INSTANTS = st.integers(0, 4_102_444_800_000).map(
    lambda ms: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=ms)
)
_CODES = (
    st.text(_PRINTABLE, min_size=1, max_size=12)
    .map(lambda text: "".join(character for character in text.upper() if character not in ", ") or "BTC")
    .filter(lambda code: code == code.upper() and code.isprintable() and code.strip(".") and len(code) < 100)
)
_DECIMALS = st.builds(
    lambda digits, places: Decimal(digits).scaleb(-places), st.integers(-(10**30), 10**30), st.integers(0, 30)
)


def value_for(param: Param) -> st.SearchStrategy[object]:
    """Values that the parameter takes, in the form that `read` gives them."""
    lowest = -(2**63) if param.lowest is None else param.lowest
    highest = 2**63 - 1 if param.highest is None else param.highest
    if param.choices:
        return st.sampled_from(param.choices)
    match param.kind:
        case Kind.TEXT:
            texts = st.text(_PRINTABLE, min_size=1, max_size=min(param.max_length or 60, 60))
            return texts.filter(lambda text: param.place is not Place.PATH or text.strip("."))
        case Kind.CODE:
            return _CODES
        case Kind.CODES:
            return st.lists(_CODES, min_size=1, max_size=4)
        case Kind.INTEGER:
            return st.integers(lowest, highest)
        case Kind.INTEGERS:
            return st.lists(st.integers(lowest, highest), min_size=1, max_size=4)
        case Kind.DECIMAL:
            return _DECIMALS.filter(lambda number: param.lowest is None or number >= param.lowest)
        case Kind.BOOLEAN:
            return st.booleans()
        case Kind.INSTANT:
            return _INSTANTS
        case Kind.INSTANT_OR_INDEX:
            return _INSTANTS | st.integers(0, 2**63 - 1)


def arguments_for(operation: Operation) -> st.SearchStrategy[dict[str, object]]:
    """The required parameters and any of the others."""
    return st.fixed_dictionaries(
        {param.name: value_for(param) for param in operation.params if param.required},
        optional={param.name: value_for(param) for param in operation.params if not param.required},
    )


def received(request: Request) -> tuple[Mapping[str, str], list[tuple[str, str]], list[tuple[str, str]]]:
    """Path values, query pairs and form pairs out of the bytes that were sent."""
    path, _, query = request.target.partition("?")
    template = re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(request.operation.path))
    match = re.fullmatch(template, path)
    assert match is not None, f"{path} does not fit {request.operation.path}"
    values = {name: unquote(text, errors="strict") for name, text in match.groupdict().items()}
    return values, parse_qsl(query, strict_parsing=bool(query)), parse_qsl(request.body.decode())
