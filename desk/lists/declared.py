"""How a list is declared: its rows, its columns, its filters, order and totals, and where it is found.

A room declares each of its lists once and names it beside its addresses. The page, the files, the entry of the
navigation and the list for programs are made from that. `LISTS` knows them by name, for what people keep of them.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final

from desk.lists.filters import FilterForm
from desk.models import Person
from desk.web.requests import DeskRequest

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from rest_framework.serializers import Serializer

    from desk.web.context import Entry

SIZES: Final = (25, 50, 100, 200)
LISTS: Final[dict[str, "List"]] = {}


@dataclass(frozen=True, slots=True)
class Value:
    """A column of the files: its head, and the attribute that stands in it, which is the head where none is named.

    `reads` are the attributes from which a model works it out, so that a file is read without an object for each row.
    A number `is_id` names something at the exchange: it is text in JSON.
    """

    head: str
    path: str = ""
    reads: tuple[str, ...] = ()
    is_id: bool = False

    @property
    def attribute(self) -> str:
        """The path to what stands in it."""
        return self.path or self.head.replace(" ", "_")


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the page. `order` names the fields that it is sorted by, none of them nullable, all in one index.

    `value` is the same in the files, `css` its place in the card of a telephone, `on_phone` the word before its value
    there. The first column heads its row and always stays. A column `is_time` has the zone of the page in its head.
    """

    name: str
    head: str
    value: Value | None = None
    _: KW_ONLY
    css: str = ""
    order: tuple[str, ...] = ()
    is_shown: bool = True
    is_end: bool = False
    is_mono: bool = False
    is_time: bool = False
    on_phone: str = ""


# From the sums of a line, by the values that keep them apart, to its figures by name.
Combine = Callable[[Iterable[tuple[Any, Mapping[str, Decimal]]]], Mapping[str, Decimal]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What is added up: exact sums of `sums` for each value of `by`.

    `units` names for each sum the field of `by` that is its unit; where these don't tell the lines apart, `is_named`
    has the values of `by` stand before them. Where rows don't simply add up (some came in, others went out), the sums
    are kept apart by the fields `apart` first, and `combine` makes the figures of a line from them, by name.
    """

    by: tuple[str, ...]
    sums: Mapping[str, str]
    units: Mapping[str, str]
    is_named: bool = False
    apart: tuple[str, ...] = ()
    combine: Combine | None = None


@dataclass(frozen=True, slots=True)
class Rows:
    """What a list is for one request: the rows that the reader may see, and what else depends on who reads.

    The page follows `topics`; without any it stays as it was drawn. `order` overrules that of the declaration where the
    page is about several accounts: then only it has an index. `suggested` are values offered while a filter is typed,
    by its name. `may_act` says whether the reader can do something with a row. `context` is what the page's own
    template needs besides, and is read for pages only.
    """

    rows: "QuerySet[Any]"
    _: KW_ONLY
    topics: str | None = None
    order: tuple[str, ...] | None = None
    suggested: Mapping[str, Sequence[str]] = field(default_factory=dict)
    may_act: bool = False
    context: Callable[[Any], Mapping[str, Any]] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Interface:
    """The same list for programs, at the address of its `name`.

    `shape` describes a row, `sentence` the list. `resource` is the kind of resource that it becomes: it says who may
    read, and takes from `rows` those of one account. `key` is the whole number by which its pages are turned.
    """

    name: str
    sentence: str
    shape: "type[Serializer[Any]]"
    resource: type
    rows: "QuerySet[Any]"
    key: str = "pk"


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """One list. `path` is where its page is, `order` that of a page nobody sorted, reversed.

    `is_unique` says that `order` alone tells rows apart, else the key comes last. `columns` stand in the order of the
    files, those that are no `Column` in files alone; `page` names those of the page, with blanks between, where they
    stand in another order there. `prepare` gives rows what else their cells or values show. `template` extends
    `desk/lists/page.html` and has the cells; `parts` are the parts of its own that htmx asks for. Its addresses are
    called after the list, or `route`.
    """

    name: str
    title: str
    one: str
    many: str
    path: str
    template: str
    rows: Callable[[DeskRequest], Rows]
    may_see: Callable[[Person], bool]
    columns: tuple[Column | Value, ...]
    filters: type[FilterForm]
    page: str = ""
    prepare: Callable[[list[Any]], None] | None = None
    refusal: str = "Your roles don't allow this."
    order: tuple[str, ...] = ("pk",)
    is_unique: bool = True
    totals: Totals | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    css: str = ""
    route: str = ""
    entry: "Entry | None" = None
    interface: Interface | None = None

    def __post_init__(self) -> None:
        if not self.route:
            object.__setattr__(self, "route", self.name)
        if len(self.page_columns) != len([one for one in self.columns if isinstance(one, Column)]):
            raise ValueError(f"The page of {self.name} must show every column exactly once.")
        LISTS[self.name] = self

    @property
    def export_route(self) -> str:
        """The name of the address of its files."""
        return f"{self.route}-export"

    @property
    def page_columns(self) -> list[Column]:
        """The columns of the page in their order, those that are not shown at first as well."""
        by_name = {one.name: one for one in self.columns if isinstance(one, Column)}
        return [by_name[name] for name in self.page.split() or by_name]

    @property
    def names(self) -> list[str]:
        """The names of these columns."""
        return [column.name for column in self.page_columns]

    @property
    def values(self) -> list[Value]:
        """The columns of the files in their order."""
        values = [one.value if isinstance(one, Column) else one for one in self.columns]
        return [value for value in values if value]

    @property
    def exported(self) -> tuple[tuple[str, str], ...]:
        """The head and the attribute of each column of the files."""
        return tuple((value.head, value.attribute) for value in self.values)

    @property
    def reads(self) -> dict[str, tuple[str, ...]]:
        """For each value that a model works out the attributes that it reads."""
        return {value.attribute: value.reads for value in self.values if value.reads}

    @property
    def ids(self) -> frozenset[str]:
        """The attributes that are ids of the exchange."""
        return frozenset(value.attribute for value in self.values if value.is_id)

    def chosen_columns(self, names: list[str]) -> list[Column]:
        """The columns of these names in the order of the page, the first always; without names those shown at first."""
        first, *others = self.page_columns
        return [first, *(one for one in others if (one.name in names if names else one.is_shown))]
