"""A list as a page shows it: what its address asks for, and what the template draws."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, tzinfo
from functools import cached_property
from typing import Any

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.urls import reverse

from desk.lists import dates, exports, kept, places, totals
from desk.lists.declared import SIZES, Column, List
from desk.lists.filters import DatedForm
from desk.lists.models import LONGEST_NAME, ListChoice, SavedFilter
from desk.lists.places import Order, Page
from desk.personal import formats
from desk.web.requests import DeskRequest


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column: where it leads, and which way the rows are sorted by it now."""

    column: Column
    url: str = ""
    direction: str = ""


@dataclass(frozen=True, slots=True)
class Chip:
    """A filter that narrows the list, and the address without it."""

    label: str
    value: str
    url: str


class Listing:
    """One list for one request. None of its rows is read before it is drawn."""

    def __init__(self, request: DeskRequest, declared: List, *, now: datetime) -> None:
        self.request, self.declared, self.now = request, declared, now
        self.of_reader = declared.rows(request)
        self._fixed_order = self.of_reader.order
        self.prepare = declared.prepare
        self.filters = declared.filters(request.GET)
        self.filters.for_people(formats.current().zone)
        self.longest_name, self.sizes = LONGEST_NAME, SIZES

    # What is asked for ------------------------------------------------------------------------------------------------

    @cached_property
    def choice(self) -> ListChoice:
        """The person's own columns and page size."""
        return kept.choice(self.request.user, self.declared)

    @cached_property
    def zone_name(self) -> str:
        """The zone whose days are filtered by and in which moments are shown."""
        return self.filters.chosen().get("zone", "") or self.filters.usual_zone

    @property
    def zone_label(self) -> str:
        """The same as people read it in a head: "UTC", or "Berlin time"."""
        return formats.Formats(self.zone_name).column()

    @property
    def zone(self) -> tzinfo:
        """The same as a zone."""
        return dates.zone_named(self.zone_name) or UTC

    @cached_property
    def zones(self) -> list[str]:
        """UTC, the person's own zone, and the one that the address names."""
        return list(dict.fromkeys(("UTC", self.filters.usual_zone, self.zone_name)))

    @cached_property
    def order(self) -> Order:
        """What the rows are sorted by."""
        column, descending = self._sorted_by()
        fields = column.order if column else (self._fixed_order or self.declared.order)
        is_unique = fields[-1] == "pk" or (self.declared.is_unique and fields == self.declared.order)
        return Order(fields if is_unique else (*fields, "pk"), descending)

    def _sorted_by(self) -> tuple[Column | None, bool]:
        sort = self.request.GET.get("sort", "")
        column = next((one for one in self._sortable() if one.name == sort.removeprefix("-")), None)
        return column, sort.startswith("-") if column else True

    def _sortable(self) -> list[Column]:
        return [] if self._fixed_order else [one for one in self.declared.page_columns if one.order]

    @cached_property
    def problems(self) -> list[str]:
        """What of the address was left out, a sentence each."""
        sentences = list(self.filters.problems())
        if self.request.GET.get("sort") and not self._sorted_by()[0]:
            what = "when it covers several accounts" if self._fixed_order else "by that column"
            sentences.append(f"This list can't be sorted {what}; newest rows are shown first.")
        if self._lost_place:
            sentences.append(self._lost_place)
        return sentences

    # Rows -------------------------------------------------------------------------------------------------------------

    @cached_property
    def narrowed(self) -> QuerySet[Any]:
        """The rows that the filters let through, in no order."""
        return self.filters.narrowed(self.of_reader.rows, self.now)

    @cached_property
    def _page_or_problem(self) -> tuple[Page, str]:
        where = {name: self.request.GET.get(name, "") for name in ("before", "after")}
        try:
            return places.page(self.narrowed, self.order, size=self.choice.size, **where), ""
        except places.NoPlace as problem:
            return places.page(self.narrowed, self.order, size=self.choice.size), str(problem)

    @property
    def page(self) -> Page:
        """The rows of the page."""
        return self._page_or_problem[0]

    @property
    def _lost_place(self) -> str:
        return self._page_or_problem[1]

    @cached_property
    def rows(self) -> list[Any]:
        """The same with all that their cells show."""
        if self.prepare:
            self.prepare(self.page.rows)
        return self.page.rows

    @cached_property
    def totals(self) -> totals.Summary:
        """How many rows there are and what they add up to: at once when they are few, else when they are asked for."""
        if self.request.GET.get("totals") == "all":
            most = None
        else:
            most = totals.MOST if self._is_for("totals") else totals.AT_ONCE
        return totals.summary(self.narrowed, self.declared.totals, most=most)

    def _is_for(self, part: str) -> bool:
        return self.request.headers.get("HX-Target") == part or "totals" in self.request.GET

    # What is drawn ----------------------------------------------------------------------------------------------------

    @cached_property
    def columns(self) -> list[Column]:
        """The columns that the person sees."""
        return self.declared.chosen_columns(self.choice.columns)

    @cached_property
    def column_names(self) -> frozenset[str]:
        """Their names."""
        return frozenset(one.name for one in self.columns)

    @property
    def heads(self) -> Iterator[Head]:
        """The heads of the columns; one that can be sorted by turns round what it is sorted by already."""
        by, descending = self._sorted_by()
        if by is None and not self._fixed_order:
            by = next((one for one in self.declared.page_columns if one.order == self.declared.order), None)
        sortable = self._sortable()
        for column in self.columns:
            if column not in sortable:
                yield Head(column)
                continue
            is_by = column is by
            turned = column.name if is_by and descending else f"-{column.name}"
            direction = ("descending" if descending else "ascending") if is_by else ""
            yield Head(column, self._url(sort=turned), direction)

    @cached_property
    def chips(self) -> list[Chip]:
        """The filters that narrow the list, as people read them."""
        chips = [Chip(label, value, self._url(**{name: None})) for name, label, value in self.filters.in_words()]
        if days := self._days_in_words():
            chips.append(Chip("Dates", days, self._url(range=None, since=None, until=None, zone=None)))
        return chips

    @property
    def is_narrowed(self) -> bool:
        """Whether fewer rows are looked at than there may be."""
        return bool(self.chips) or not self.page.is_first

    def _days_in_words(self) -> str:
        if not isinstance(self.filters, DatedForm):
            return ""
        first, last = self.filters.days(self.now)
        if not (first or last):
            return "" if self.zone_name == self.filters.usual_zone else f"shown in {self.zone_name}"
        preset = dates.PRESETS.get(self.filters.chosen().get("range", ""), "")
        return f"{preset + ', ' if preset else ''}{_span(first, last)}, {self.zone_name}"

    @cached_property
    def saved(self) -> list[SavedFilter]:
        """The person's saved filters for this list."""
        return kept.saved(self.request.user, self.declared)

    @cached_property
    def query(self) -> str:
        """Filters and order as they stand in the address, without the place."""
        return kept.bare_query(self.request.GET.urlencode())

    @property
    def url(self) -> str:
        """The list without any filter, also where another one is the default."""
        return self.action + ("?saved=none" if self.has_default else "")

    @property
    def has_default(self) -> bool:
        """Whether the list opens with a saved filter."""
        return any(row.is_default for row in self.saved)

    @property
    def action(self) -> str:
        """Where the form of filters leads."""
        return reverse(self.declared.route)

    @property
    def here(self) -> str:
        """The list as this page shows it, its place included, also where a form was answered at another address."""
        query = self.request.GET.urlencode()
        return f"{self.action}?{query}" if query else self.action

    @property
    def first_url(self) -> str:
        """The first page with the same filters."""
        return self._url()

    @property
    def newer(self) -> str:
        """The page before this one, as a query; empty on the first."""
        return self._url(after=self.page.before) if self.page.before else ""

    @property
    def older(self) -> str:
        """The page behind this one, as a query; empty on the last."""
        return self._url(before=self.page.behind) if self.page.behind else ""

    @property
    def is_sorted(self) -> bool:
        """Whether the rows stand in another order than the usual one."""
        return self._sorted_by()[0] is not None

    @property
    def sort(self) -> str:
        """The order as the address names it."""
        return self.request.GET.get("sort", "") if self.is_sorted else ""

    @property
    def all_totals_url(self) -> str:
        """The same page with its totals however many rows there are."""
        return self._url(totals="all")

    @property
    def totals_url(self) -> str:
        """The same page with its totals, for a browser without scripts."""
        return self._url(totals="on")

    def _url(self, **changes: str | None) -> str:
        query = self.request.GET.copy()
        for name in ("before", "after", "totals", "saved"):
            query.pop(name, None)
        for name, value in changes.items():
            query.pop(name, None)
            if value:
                query[name] = value
        return f"?{query.urlencode()}" if query else self.url

    @property
    def fields(self) -> list[tuple[Any, Sequence[str]]]:
        """The fields of the filter menu with what is suggested for each."""
        return [(bound, self.of_reader.suggested.get(bound.name, ())) for bound in self.filters.offered]

    @property
    def search(self) -> Any:
        """The search, where the list has one."""
        return self.filters["text"] if "text" in self.filters.fields else None

    @property
    def has_dates(self) -> bool:
        """Whether the list can be narrowed to days."""
        return isinstance(self.filters, DatedForm)

    @property
    def menu_count(self) -> int:
        """How many filters the menu holds that are set; the search stands beside it."""
        return len([chip for chip in self.chips if chip.label != self._search_label])

    @property
    def _search_label(self) -> str:
        return str(self.filters.fields["text"].label) if "text" in self.filters.fields else ""

    def file_url(self, kind: str) -> str:
        """Where the file of this kind is."""
        query = f"?{self.query}" if self.query else ""
        return reverse(self.declared.export_route, args=[kind]) + query

    @property
    def csv_url(self) -> str:
        """The filtered rows as CSV."""
        return self.file_url("csv")

    @property
    def json_url(self) -> str:
        """The filtered rows as JSON."""
        return self.file_url("json")


def _span(first: date | None, last: date | None) -> str:
    if first is None:
        return f"until {last}"
    if last is None:
        return f"from {first}"
    return str(first) if first == last else f"{first} to {last}"


class CannotExport(ValueError):
    """The file would not be what the address asks for; the sentence says why."""


def export(listing: Listing, *, kind: str, chosen: Sequence[str] | None = None) -> StreamingHttpResponse:
    """The filtered rows as a file, or of these the chosen ones. Raises CannotExport rather than leave a filter out."""
    if problems := list(listing.filters.problems()):
        raise CannotExport(" ".join(problems))
    rows, filters = listing.narrowed, {name: str(value) for name, value in listing.filters.chosen().items()}
    if chosen is not None:
        keys = [int(key) for key in chosen if key.isascii() and key.isdigit() and len(key) <= 18]
        if not keys or len(keys) > SIZES[-1]:
            raise CannotExport("Select the rows to export first.")
        rows, filters = rows.filter(pk__in=keys), filters | {"rows": ", ".join(str(key) for key in keys)}
    order = listing.order
    return exports.answer(
        listing.request,
        exports.Export(
            name=listing.declared.name,
            rows=rows.order_by(*order.names),
            columns=listing.declared.exported,
            reads=listing.declared.reads,
            ids=listing.declared.ids,
            zone=listing.zone,
            zone_name=listing.zone_name,
            filters=filters,
            order=", ".join(order.names),
            now=listing.now,
            totals=listing.declared.totals,
            prepare=listing.prepare,
        ),
        kind=kind,
    )
