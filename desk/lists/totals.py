"""What the rows that a filter lets through add up to, exactly, as long as they are not too many to add up at once."""

from dataclasses import dataclass, field
from decimal import Decimal
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
    groups = bare.values(*totals.by).annotate(rows=Count("pk"), **sums).order_by(*totals.by)
    return Summary(count, [_line(group, totals) for group in groups])


def _line(group: dict[str, Any], totals: Totals) -> Sums:
    figures = [
        (label, group[f"sum_{name}"], group.get(totals.units.get(name, ""), ""))
        for name, label in totals.sums.items()
        if group[f"sum_{name}"]
    ]
    return Sums(tuple(str(group[name]) for name in totals.by), group["rows"], figures)
