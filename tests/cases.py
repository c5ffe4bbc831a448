"""Cases that are products of independent factors: all pairs of values in every `make test`, the rest in its turn.

Where the cases share a world that is dear to make, they are a loop in one test, and `in_turn` is what it goes over.
"""

import itertools
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import pytest
from allpairspy import AllPairs

from tests import selection

V = TypeVar("V")

_BEYOND = pytest.mark.thorough(
    "its factors are independent, and each of its pairs of values is in a case that always runs"
)


def crossed(
    factors: Mapping[str, Iterable[Any]],
    *,
    together: int = 2,
    allowed: Callable[..., bool] = lambda **values: True,
    always: Callable[..., bool] = lambda **values: False,
) -> pytest.MarkDecorator:
    """`@crossed({"kind": KINDS, "fault": FAULTS})`: the test with every combination of the factors' values.

    A few of them hold every pair of values of two factors and run always (`together=1`: every single value), and so do
    those that `always` names (what money hangs on); the others are marked `thorough`. `allowed` tells combinations that
    exist from those that don't. Both take the values by the names of the factors.
    """
    names = list(factors)
    columns = [list(values) for values in factors.values()]
    rows = [
        places
        for places in itertools.product(*(range(len(column)) for column in columns))
        if allowed(**_values(names, columns, places))
    ]
    chosen = cover(rows, together)
    return pytest.mark.parametrize(
        ",".join(names),
        [
            pytest.param(
                *_values(names, columns, places).values(),
                marks=() if places in chosen or always(**_values(names, columns, places)) else _BEYOND,
            )
            for places in rows
        ],
    )


def _values(names: Sequence[str], columns: Sequence[Sequence[Any]], places: Sequence[int]) -> dict[str, Any]:
    return {name: column[place] for name, column, place in zip(names, columns, places, strict=True)}


def cover(rows: Sequence[tuple[int, ...]], together: int) -> set[tuple[int, ...]]:
    """Some of the rows, in which every combination of `together` places that stands in any row stands too."""
    possible, width = set(rows), len(rows[0])
    together = min(together, width)
    columns = [sorted({row[place] for row in rows}) for place in range(width)]
    # What may be left out of a row that isn't whole can't be said before it is; such rows are made good below.
    found = AllPairs(columns, filter_func=lambda row: len(row) < width or tuple(row) in possible, n=together)
    chosen = {tuple(row) for row in found}
    missing = {each for row in rows for each in _combined(row, together)}
    missing -= {each for row in chosen for each in _combined(row, together)}
    for row in rows:
        if not missing.isdisjoint(_combined(row, together)):
            chosen.add(row)
            missing.difference_update(_combined(row, together))
    return chosen


def _combined(row: tuple[int, ...], together: int) -> list[tuple[tuple[int, int], ...]]:
    return list(itertools.combinations(enumerate(row), together))


def in_turn(values: Iterable[V], *, always: Callable[[V], bool] = lambda value: False, loop: str = "") -> list[V]:
    """What a loop over these values goes over in this run, in their order.

    In `make test` it is what `always` names and a twenty-fourth of the others, at least one; each comes within two
    dozen commits. Everywhere else it is all of them. `loop` is any text that differs between loops over the same
    values, so that they do not all take the same one.
    """
    values = list(values)
    if not selection.is_usual_depth():
        return values
    others = [place for place, value in enumerate(values) if not always(value)]
    parts = min(selection.TURNS, len(others)) or 1
    part = (selection.turn() + zlib.crc32(loop.encode())) % parts
    due = set(others[part::parts])
    return [value for place, value in enumerate(values) if place in due or always(value)]


def one_of_each(values: Iterable[V], *, by: Callable[[V], Any], loop: str = "") -> list[V]:
    """As `in_turn`, from each group of values that are alike in `by`: one of those who may, and one who may not."""
    values = list(values)
    groups = [by(value) for value in values]
    return [
        value
        for group in dict.fromkeys(groups)
        for value in in_turn([value for value, its in zip(values, groups, strict=True) if its == group], loop=loop)
    ]
