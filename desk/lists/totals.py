"""What the rows that a filter lets through add up to, exactly, as long as they are not too many to add up at once."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import groupby
from typing import Any, Final

from django.db.models import Count, QuerySet

from desk.fields import ExactSum
from desk.lists.declared import Totals

AT_ONCE: Final = 10_000  # rows that are added up while the page waits
MOST: Final = 100_000  # rows that are added up unasked


@dataclass(frozen=True, slots=True)
class Sums:
    """One line of totals: what it is of, how many rows, and the figures with their units."""

    of: tuple[str, ...]
    count: int
    figures: list[tuple[str, Decimal, str]]


@dataclass(frozen=True, slots=True)
class Summary:
    """How many rows there are, and their sums; `is_late` while they are still to be asked for.

    With more than `MOST` rows the count is that bound and nothing is added up before somebody asks for it.
    """

    count: int
    lines: list[Sums] = field(default_factory=list)
    is_late: bool = False
    is_bounded: bool = False


def summary(rows: QuerySet[Any], totals: Totals | None, *, most: int | None) -> Summary:
    """The totals of rows; with `most`, only when there are no more than that."""
    bare = rows.order_by()
    if most is None:
        count = bare.count()
    else:
        count = bare.values("pk")[: most + 1].count()
        if count > most:
            return Summary(most, is_late=most < MOST, is_bounded=True)
    if totals is None or not count:
        return Summary(count)
    sums = {f"sum_{name}": ExactSum(name) for name in totals.sums}
    apart = (*totals.by, *totals.apart)
    groups = bare.values(*apart).annotate(rows=Count("pk"), **sums).order_by(*apart)
    by_line = groupby(groups, key=lambda group: tuple(group[name] for name in totals.by))
    return Summary(count, [_line(list(of_line), totals) for _, of_line in by_line])


def combined(groups: Iterable[tuple[Any, Mapping[str, Decimal]]], totals: Totals) -> Mapping[str, Decimal]:
    """The figures of one line by name, from its sums by the values of `totals.apart`."""
    if totals.combine is not None:
        return totals.combine(groups)
    return {name: sum((sums[name] for _, sums in groups), Decimal(0)) for name in totals.sums}


def _line(groups: list[dict[str, Any]], totals: Totals) -> Sums:
    first = groups[0]
    sums = [
        (
            tuple(group[name] for name in totals.apart),
            {name: group[f"sum_{name}"] or Decimal(0) for name in totals.sums},
        )
        for group in groups
    ]
    figures = [
        (totals.sums.get(name, name), value, first.get(totals.units.get(name, ""), ""))
        for name, value in combined(sums, totals).items()
        if value
    ]
    return Sums(tuple(str(first[name]) for name in totals.by), sum(group["rows"] for group in groups), figures)
