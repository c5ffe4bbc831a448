"""What a currency was worth on a day: by the close of that day's candle, or of one at most a week older.

A price is taken directly, inversely, or through one cross, as the present one is (`market.valuation`). A day without
trades has no candle and keeps the last price; after a week without candles there is no price. Nothing is interpolated.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Final

from django.db.models import Max, Q

from desk import clock
from exchange_ops.client import ExchangeClient
from exchange_ops.market import quotes
from exchange_ops.market.models import Candle, Symbol
from exchange_ops.market.valuation import CROSSES, plain_code
from wire.errors import CallFailed, Unreachable

DAILY: Final = "D1"
STANDS_FOR: Final = timedelta(days=7)
Currencies = Callable[[], Iterable[str]]
READ_EVERY, TRIED_AGAIN_AFTER = timedelta(hours=6), timedelta(minutes=10)
ONE: Final = Decimal(1)


_more: list[Currencies] = []


def register(currencies: Currencies) -> None:
    """Read the daily prices of these currencies as well; a room registers them once, at start-up."""
    _more.append(currencies)


def additional() -> set[str]:
    """The currencies whose prices rooms use besides those that the accounts hold."""
    return {code for currencies in _more for code in currencies()}


@dataclass(frozen=True, slots=True)
class DayPrice:
    """The price of one unit in the quote currency, from the closes of the symbols in `via`, the oldest of `day`."""

    rate: Decimal
    day: date
    via: tuple[str, ...] = ()


@dataclass(slots=True)
class _Closes:
    days: list[date] = field(default_factory=list)
    closes: list[Decimal] = field(default_factory=list)

    def on(self, day: date) -> tuple[date, Decimal] | None:
        place = bisect_right(self.days, day) - 1
        if place < 0 or day - self.days[place] > STANDS_FOR:
            return None
        return self.days[place], self.closes[place]


class DayPrices:
    """Daily closes between these currencies and the quote currency since a day, from two queries."""

    def __init__(self, *, codes: Iterable[str], quote: str, since: date) -> None:
        self._quote = plain_code(quote)
        self._prices: dict[tuple[str, date], DayPrice | None] = {}
        self._pairs: defaultdict[tuple[str, str], list[tuple[str, _Closes, bool]]] = defaultdict(list)
        symbols = _between(codes, self._quote)
        closes: defaultdict[str, _Closes] = defaultdict(_Closes)
        first = datetime.combine(since - STANDS_FOR, datetime.min.time(), tzinfo=UTC)
        rows = Candle.objects.filter(symbol__in=[row.code for row in symbols], period=DAILY, timestamp__gte=first)
        for code, at, close in rows.order_by("timestamp").values_list("symbol", "timestamp", "close"):
            closes[code].days.append(at.date())
            closes[code].closes.append(close)
        for row in symbols:
            if row.code in closes:
                self._pairs[row.base_currency, row.quote_currency].append((row.code, closes[row.code], False))
                self._pairs[row.quote_currency, row.base_currency].append((row.code, closes[row.code], True))

    def on(self, code: str, day: date) -> DayPrice | None:
        """The close of that day in UTC, today's being the last price read; None where there is none."""
        coin = plain_code(code)
        if (coin, day) not in self._prices:
            self._prices[coin, day] = self._find(coin, day)
        return self._prices[coin, day]

    def value(self, code: str, amount: Decimal, day: date) -> Decimal | None:
        """The value of an amount on that day."""
        price = self.on(code, day)
        return None if price is None else amount * price.rate

    def _find(self, coin: str, day: date) -> DayPrice | None:
        if coin == self._quote:
            return DayPrice(ONE, day)
        routes = [self._pair(coin, self._quote, day)]
        for cross in CROSSES:
            first, second = self._pair(coin, cross, day), self._pair(cross, self._quote, day)
            if first and second:
                routes.append(DayPrice(first.rate * second.rate, min(first.day, second.day), first.via + second.via))
        return max((route for route in routes if route), key=lambda route: (route.day, -len(route.via)), default=None)

    def _pair(self, base: str, quote: str, day: date) -> DayPrice | None:
        candidates = [
            DayPrice(ONE / close[1] if is_inverse else close[1], close[0], (code,))
            for code, closes, is_inverse in self._pairs.get((base, quote), ())
            if (close := closes.on(day)) is not None and close[1] > 0
        ]
        return max(candidates, key=lambda price: price.day, default=None)


def read(*, codes: Iterable[str], quote: str, now: datetime, open_client: Callable[[], ExchangeClient]) -> str:
    """Read the daily candles that value these currencies; a sentence about what could not be read, or nothing."""
    problem, client = "", open_client()
    try:
        for row in _between(codes, plain_code(quote)):
            try:
                problem = quotes.read_candles(client=client, symbol=row.code, period=DAILY, now=now) or problem
            except Unreachable as failure:
                return f"Daily prices not available: {failure}."
            except CallFailed as failure:
                problem = f"Daily prices for {row.code} not available: {failure}."
    finally:
        client.close()
    return problem


def is_due(
    *, tried_at: datetime | None, read_at: datetime | None, codes: Iterable[str], quote: str, now: datetime
) -> bool:
    """Whether candles are to be read: a new day began, a currency is new, or they are six hours old."""
    if tried_at is not None and not clock.has_passed(TRIED_AGAIN_AFTER, since=tried_at, now=now):
        return False
    if read_at is None or clock.has_passed(READ_EVERY, since=read_at, now=now) or read_at.date() != now.date():
        return True
    symbols = {row.code for row in _between(codes, plain_code(quote))}
    priced_symbols = (
        Candle.objects.filter(symbol__in=symbols, period=DAILY).values("symbol").annotate(newest=Max("timestamp"))
    )
    return len(priced_symbols) < len(symbols)


def _between(codes: Iterable[str], quote: str) -> list[Symbol]:
    """The symbols by whose prices these currencies can be valued, sorted by code."""
    coins = {plain_code(code) for code in codes} - {quote}
    if not coins:
        return []
    pairs = Q(base_currency__in=coins, quote_currency=quote) | Q(base_currency=quote, quote_currency__in=coins)
    crosses = {cross for cross in CROSSES if cross != quote}
    pairs |= Q(base_currency__in=coins, quote_currency__in=crosses) | Q(
        base_currency__in=crosses, quote_currency__in=coins
    )
    pairs |= Q(base_currency__in=crosses, quote_currency=quote)
    return list(Symbol.objects.filter(pairs).order_by("code"))
