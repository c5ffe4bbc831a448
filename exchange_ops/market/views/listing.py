"""The table of all symbols: searched, sorted, and reloaded in place."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from desk import clock
from desk.views.rendering import show
from desk.web.requests import DeskRequest
from exchange_ops.market import favourites, interest, queries, reference
from exchange_ops.market.models import Ticker
from exchange_ops.shared import places, rules
from exchange_ops.shared.views import accounts
from exchange_ops.shared.views.access import requires

# Column to its head, and whether its figures stand at the end; a name of `markets.SORTS` or the symbol itself.
COLUMNS = (
    (queries.BY_SYMBOL, "Symbol", False),
    ("last", "Last price", True),
    ("change", "24 h change", True),
    ("high", "High", True),
    ("low", "Low", True),
    ("volume", "Volume", True),
    ("turnover", "Turnover", True),
    ("spread", "Spread", True),
    ("read", "Updated", True),
)
_LONGEST_NUMBER = 6


@dataclass(frozen=True, slots=True)
class Head:
    """The head of one column: what a click on it asks for, and how the table is sorted by it now."""

    label: str
    at_end: bool
    sort: str
    aria: str


@require_safe
@requires(rules.may_see)
def table(request: DeskRequest) -> HttpResponse:
    """Fifty symbols a page. A part that reloads itself names its rows, so that none of them moves."""
    text, sort, falling = request.GET.get("text", "")[: queries.LONGEST_SEARCH], request.GET.get("sort", ""), False
    if sort.startswith("-"):
        sort, falling = sort[1:], True
    marked, only = favourites.codes(request.user), request.GET.get("list") == "favourites"
    page = queries.page(text=text, sort=sort, falling=falling, number=_number(request), only=marked if only else None)
    held, now = _held(request), clock.now()
    lines = queries.lines(codes=held.split(",")) if held else page.lines
    interest.glance(codes=[line.symbol.code for line in lines], now=now)
    context: dict[str, Any] = {
        "now": now,
        "text": text,
        "sort": request.GET.get("sort", ""),
        "favourites": marked,
        "only": only,
        "heads": _heads(sort, falling),
        "page": page,
        "codes": held or page.codes,
        "lines": lines,
        "elsewhere": lambda: places.elsewhere(accounts.in_view(request)),
        "read_at": reference.newest_reading(Ticker),
    }
    return show(request, "exchange_ops/markets.html", context, parts={"rows": "exchange_ops/markets/_rows.html"})


def _heads(sort: str, falling: bool) -> list[Head]:
    """A first click sorts figures in falling and names in rising order; the next one reverses it."""
    sort = sort if sort in queries.SORTS else queries.BY_SYMBOL
    heads = []
    for name, label, at_end in COLUMNS:
        turned = not falling if name == sort else at_end
        aria = ("descending" if falling else "ascending") if name == sort else "none"
        heads.append(Head(label, at_end, f"-{name}" if turned else name, aria))
    return heads


def _number(request: DeskRequest) -> int:
    text = request.GET.get("page", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_NUMBER else 1


def _held(request: DeskRequest) -> str:
    """The rows that the reloading part already shows, in their order; empty when a person opened the page."""
    codes = request.GET.get("rows", "").split(",") if request.htmx else []
    return ",".join(code for code in codes[: queries.PAGE_ROWS] if code and "\0" not in code)
