"""How a list is declared: its columns, what it can be sorted by, its filters, totals and files.

A room declares each of its lists once, where its views are; `LISTS` knows them by name, for what people keep of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from desk.lists.filters import FilterForm

SIZES: Final = (25, 50, 100, 200)
LISTS: Final[dict[str, "List"]] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. `order` names the fields that it is sorted by, none of them nullable; an index has to carry them.

    `css` is its place in the card of a telephone, `on_phone` the word before its value there. The first column heads
    its row and always stays. A column `is_time` has the zone of the page in its head.
    """

    name: str
    head: str
    css: str = ""
    order: tuple[str, ...] = ()
    is_shown: bool = True
    is_end: bool = False
    is_mono: bool = False
    is_time: bool = False
    on_phone: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What is added up: exact sums of `sums` for each value of `by`.

    `units` names for each sum the field of `by` that is its unit; where these don't tell the lines apart, `is_named`
    has the values of `by` stand before them.
    """

    by: tuple[str, ...]
    sums: Mapping[str, str]
    units: Mapping[str, str]
    is_named: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """One list. `route` and `export_route` are names of addresses; `order` is that of a page nobody sorted, reversed.

    `is_unique` says that `order` alone tells rows apart, else the key comes last. `exported` are the head and the
    attribute of each column of its files; `reads` names for each of these that a model works out the attributes that it
    reads, so that a file is read without an object for each row. `cells` is the template of a row, `selection` that of
    more to do with rows, `actions` that of what a person who may act can do with one row, in a last cell that always
    stays.
    """

    name: str
    one: str
    many: str
    route: str
    export_route: str
    cells: str
    columns: tuple[Column, ...]
    exported: tuple[tuple[str, str], ...]
    filters: type[FilterForm]
    reads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    order: tuple[str, ...] = ("pk",)
    is_unique: bool = True
    totals: Totals | None = None
    selection: str = ""
    actions: str = ""
    css: str = ""

    def __post_init__(self) -> None:
        LISTS[self.name] = self

    @property
    def names(self) -> list[str]:
        """The names of all columns, in their order."""
        return [column.name for column in self.columns]

    def chosen_columns(self, names: list[str]) -> list[Column]:
        """The columns of these names in the order of the list, the first always; without names those shown at first."""
        first, *others = self.columns
        return [first, *(one for one in others if (one.name in names if names else one.is_shown))]
