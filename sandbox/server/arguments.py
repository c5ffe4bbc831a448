"""The arguments of a received call, as its row reads them, and what one parameter may do to the others."""

from collections.abc import Iterable, Mapping
from typing import Final

from wire.operation import Operation, read

# With the named parameter all others are ignored, the odd ones too (REST "Trading history").
_OVERRIDING: Final = {"get_order_history": "clientOrderId"}


def arguments_of(
    operation: Operation,
    path_values: Mapping[str, str],
    query_pairs: Iterable[tuple[str, str]],
    body_pairs: Iterable[tuple[str, object]],
    *,
    is_observed: bool = False,
) -> dict[str, object]:
    """The arguments, typed, defaults filled in; in the observed dialect also that of an order without a time in force,
    which the specification requires there (supplement 6). Raises `BadArgument`."""
    pairs, given = list(query_pairs), list(body_pairs)
    if is_observed and operation.name == "put_order" and "timeInForce" not in dict([*pairs, *given]):
        given.append(("timeInForce", "GTC"))
    alone = [pair for pair in pairs if pair[0] == _OVERRIDING.get(operation.name) and pair[1]]
    return read(operation, path_values, alone or pairs, given)
