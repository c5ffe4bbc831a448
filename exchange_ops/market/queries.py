"""The table of all symbols: searched, sorted and cut into pages without reading more than one page in full.

Sorting reads only the columns that it needs of every symbol; the rows of one page are read in full. So a page costs
the same few queries whether there are fifteen symbols or thousands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any

from django.db.models import Q, QuerySet

from exchange_ops.market.models import Symbol, Ticker

PAGE_ROWS = 50
LONGEST_SEARCH = 40
CHANGE_DIGITS, SPREAD_DIGITS = 2, 3  # after the point of a percentage
Figure = Decimal | datetime | None


@dataclass(frozen=True, slots=True)
class Line:
    """One symbol with its last 24 hours; without a ticker every figure is empty."""

    symbol: Symbol
    ticker: Ticker | None

    @property
    def change(self) -> Decimal | None:
        """How much the price moved within 24 hours, as a fraction of what it was."""
        return None if self.ticker is None else change_of(self.ticker.last, self.ticker.open)

    @property
    def spread(self) -> Decimal | None:
        """How far ask and bid are from each other, as a fraction of the middle."""
        return None if self.ticker is None else spread_of(self.ticker.bid, self.ticker.ask)


@dataclass(frozen=True, slots=True)
class Page:
    """Some lines of the table: `first` is the place of the first one, counted from 1, among `total` matches."""

    lines: list[Line]
    number: int
    pages: int
    first: int
    total: int

    @property
    def last(self) -> int:
        """The place of the last line."""
        return self.first + len(self.lines) - 1

    @property
    def codes(self) -> str:
        """The symbols in the order of the lines, with which the same page can be read again."""
        return ",".join(line.symbol.code for line in self.lines)


def change_of(last: Decimal | None, opened: Decimal | None) -> Decimal | None:
    """The change from the first price to the last, as a fraction of the first; None where there is none."""
    return (last - opened) / opened if last is not None and opened is not None and opened > 0 else None


def spread_of(bid: Decimal | None, ask: Decimal | None) -> Decimal | None:
    """The distance of ask and bid, as a fraction of their middle; None where a side is missing."""
    return (ask - bid) * 2 / (ask + bid) if bid is not None and ask is not None and ask + bid > 0 else None


def _itself(value: Any) -> Any:
    return value


def percent_of(fraction: Decimal | None, *, digits: int) -> Decimal | None:
    """A fraction in percent, rounded half to even to so many digits after the point; what a page and a tick show."""
    if fraction is None:
        return None
    return (fraction * 100).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_EVEN)


# Name of a column to the ticker's columns that it is sorted by, and the function that gives the sorted figure.
SORTS: dict[str, tuple[tuple[str, ...], Callable[..., Figure]]] = {
    "last": (("last",), _itself),
    "change": (("last", "open"), change_of),
    "high": (("high",), _itself),
    "low": (("low",), _itself),
    "volume": (("volume",), _itself),
    "turnover": (("volume_quote",), _itself),
    "spread": (("bid", "ask"), spread_of),
    "read": (("read_at",), _itself),
}
BY_SYMBOL = "symbol"


def page(
    *,
    text: str = "",
    sort: str = BY_SYMBOL,
    falling: bool = False,
    number: int = 1,
    only: Sequence[str] | None = None,
) -> Page:
    """One page of the symbols whose code or currencies contain `text`. Symbols without a figure always come last.

    `only` restricts it to these codes.
    """
    symbols = Symbol.objects.filter(_matching(text.replace("\0", "").strip()[:LONGEST_SEARCH]))
    codes = _sorted(symbols if only is None else symbols.filter(code__in=only), sort, falling)
    pages = max(1, -(-len(codes) // PAGE_ROWS))
    number = min(max(number, 1), pages)
    start = (number - 1) * PAGE_ROWS
    return Page(lines(codes=codes[start : start + PAGE_ROWS]), number, pages, start + 1, len(codes))


def search(*, text: str, most: int) -> list[Line]:
    """The symbols that match what somebody has typed so far, "btcusd" or "BTC / USD", the closest first."""
    typed = "".join(letter for letter in text[:LONGEST_SEARCH].upper() if letter.isalnum())
    if not typed:
        return []
    codes = Symbol.objects.filter(_matching(typed)).values_list("code", flat=True)
    return lines(codes=sorted(codes, key=lambda code: (code != typed, not code.startswith(typed), code))[:most])


def lines(*, codes: Sequence[str]) -> list[Line]:
    """The lines of these symbols in this order, without those that are no longer listed."""
    symbols = Symbol.objects.in_bulk(codes)
    tickers = Ticker.objects.in_bulk(codes)
    return [Line(symbols[code], tickers.get(code)) for code in codes if code in symbols]


def _matching(text: str) -> Q:
    if not text:
        return Q()
    return Q(code__icontains=text) | Q(base_currency__icontains=text) | Q(quote_currency__icontains=text)


def _sorted(symbols: QuerySet[Symbol], sort: str, falling: bool) -> list[str]:
    codes = list(symbols.order_by("code").values_list("code", flat=True))
    if sort not in SORTS:
        return codes[::-1] if falling else codes
    names, figure_of = SORTS[sort]
    read = Ticker.objects.values_list("symbol", *names)
    figures = {code: figure_of(*values) for code, *values in read}
    ranked = [code for code in codes if figures.get(code) is not None]
    ranked.sort(key=lambda code: figures[code], reverse=falling)  # type: ignore[arg-type,return-value]  # none is None
    return ranked + [code for code in codes if figures.get(code) is None]


def places_of(step: Decimal | None) -> int:
    """Digits after the point of a tick size or increment."""
    exponent = step.normalize().as_tuple().exponent if step else 0
    return -exponent if isinstance(exponent, int) and exponent < 0 else 0
