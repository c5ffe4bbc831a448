"""What an amount is worth in the quote currency, by the last prices read, with the age of the oldest one used.

A price is taken directly, inversely, or through one cross: BTC, then ETH. Prices older than five minutes don't count:
the value is then unknown, which the rules treat as the highest. A currency of another network carries a suffix and
counts at par with the coin it converts to (supplement 2.10: USDT20 is USD on Ethereum).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TypeVar

from django.db.models import Q

from desk import clock
from exchange_ops.market.models import Symbol, Ticker

K = TypeVar("K")

STALE_AFTER = timedelta(minutes=5)
CROSSES = ("BTC", "ETH")
PLACES = Decimal("0.00000001")
MOST_DIGITS = 30  # before the point; a value with more is a mistake in a price
VARIANT_SUFFIXES = ("T20", "TTRX")


@dataclass(frozen=True, slots=True)
class Value:
    """`amount` in `currency`, None when it is unknown; `as_of` is when the oldest price used was read.

    `via` names the symbols used, `rate` is the price of one, and `reason` says why the value is unknown.
    """

    currency: str
    amount: Decimal | None = None
    as_of: datetime | None = None
    via: tuple[str, ...] = ()
    reason: str = ""
    rate: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """How much of the quote currency one unit is worth, by which symbols, read when."""

    rate: Decimal
    as_of: datetime
    via: tuple[str, ...]


class Prices:
    """The prices at `now`, read as they are asked for: a pair that was read is the same at each further question."""

    def __init__(self, *, now: datetime) -> None:
        self.now = now
        self._codes: set[str] = set()
        self._prices: dict[tuple[str, str], Price] = {}

    def value_of(self, *, amount: Decimal, currency: str, quote: str) -> Value:
        """The value of `amount` of `currency` in `quote`."""
        return self.values_of(amounts={currency: amount}, quote=quote)[currency]

    def values_of(self, *, amounts: Mapping[str, Decimal], quote: str) -> dict[str, Value]:
        """The value of each amount (by currency code) in `quote`, from two queries at most."""
        codes = {plain_code(code) for code in (*amounts, quote)}
        if not codes <= self._codes:
            self._codes |= codes
            # What was read stays, so that nothing is judged by two prices.
            self._prices = _prices(codes=self._codes, now=self.now) | self._prices
        return {
            code: _value(amount, plain_code(code), quote, self._prices, self.now) for code, amount in amounts.items()
        }


def value_of(*, amount: Decimal, currency: str, quote: str, now: datetime) -> Value:
    """The value of `amount` of `currency` in `quote`."""
    return Prices(now=now).value_of(amount=amount, currency=currency, quote=quote)


def values_of(*, amounts: Mapping[str, Decimal], quote: str, now: datetime) -> dict[str, Value]:
    """The value of each amount (by currency code) in `quote`, from two queries however many there are."""
    return Prices(now=now).values_of(amounts=amounts, quote=quote)


def values_of_groups(
    *, groups: Mapping[K, Mapping[str, Decimal]], quote: str, now: datetime
) -> dict[K, dict[str, Value]]:
    """The same for several sets of amounts at the same prices, from two queries as well."""
    prices = Prices(now=now)
    # All of them are read at once, so that the groups need no queries of their own.
    prices.values_of(amounts={code: Decimal(0) for amounts in groups.values() for code in amounts}, quote=quote)
    return {key: prices.values_of(amounts=amounts, quote=quote) for key, amounts in groups.items()}


def plain_code(code: str) -> str:
    """The code of the coin itself: without the suffix that names another network."""
    for suffix in VARIANT_SUFFIXES:
        if code.endswith(suffix) and len(code) > len(suffix) + 1:
            return code.removesuffix(suffix)
    return code


def quotes() -> set[str]:
    """The currencies that prices are quoted in: what figures can be valued in."""
    return set(Symbol.objects.order_by().values_list("quote_currency", flat=True).distinct())


def _value(amount: Decimal, code: str, quote: str, prices: Mapping[tuple[str, str], Price], now: datetime) -> Value:
    if code == plain_code(quote):
        return Value(quote, amount, now, rate=Decimal(1))
    routes = _routes(code, plain_code(quote), prices, now)
    if not routes:
        return Value(quote, reason=f"No price for {code} in {quote}.")
    price = next((price for price in routes if _is_fresh(price.as_of, now)), None)
    if price is None:
        newest = max(price.as_of for price in routes)
        if clock.is_future(newest, now):
            return Value(
                quote,
                as_of=newest,
                reason="The last price has a timestamp in the future; the server clock may have been set back.",
            )
        return Value(quote, as_of=newest, reason="The last price is older than five minutes.")
    worth = amount * price.rate
    if worth.adjusted() >= MOST_DIGITS:
        return Value(quote, as_of=price.as_of, via=price.via, reason="The value is too large to show.")
    return Value(quote, worth.quantize(PLACES, rounding=ROUND_HALF_EVEN), price.as_of, price.via, rate=price.rate)


def _routes(code: str, quote: str, prices: Mapping[tuple[str, str], Price], now: datetime) -> list[Price]:
    """Every route from one currency to the other, the best one first."""
    routes = [prices[code, quote]] if (code, quote) in prices else []
    for cross in CROSSES:
        first, second = prices.get((code, cross)), prices.get((cross, quote))
        if first and second:
            older, newer = sorted((first.as_of, second.as_of))
            as_of = newer if clock.is_future(newer, now) else older  # one from before the clock fell back is the older
            routes.append(Price(first.rate * second.rate, as_of, first.via + second.via))
    return routes


def _prices(*, codes: Iterable[str], now: datetime) -> dict[tuple[str, str], Price]:
    """Prices in both directions between the codes and the crosses; of two symbols for one pair the fresher counts."""
    endpoints = {*codes, *CROSSES}
    symbols = {
        symbol.code: symbol
        for symbol in Symbol.objects.filter(Q(base_currency__in=endpoints) & Q(quote_currency__in=endpoints))
    }
    prices: dict[tuple[str, str], Price] = {}
    tickers = list(Ticker.objects.filter(symbol__in=symbols).order_by("read_at", "symbol"))
    for ticker in sorted(
        tickers, key=lambda row: clock.is_fresh(row.read_at, now, within=STALE_AFTER)
    ):  # what is fresh counts last
        rate = _rate(ticker)
        if rate is None:
            continue
        symbol = symbols[ticker.symbol]
        base, quote = symbol.base_currency, symbol.quote_currency
        prices[base, quote] = Price(rate, ticker.read_at, (ticker.symbol,))
        prices[quote, base] = Price(1 / rate, ticker.read_at, (ticker.symbol,))
    return prices


def _is_fresh(read_at: datetime, now: datetime) -> bool:
    return clock.is_fresh(read_at, now, within=STALE_AFTER)


def _rate(ticker: Ticker) -> Decimal | None:
    """The last trade price, else the middle of bid and ask; nothing when there is neither or it is not above zero."""
    last, bid, ask = ticker.last, ticker.bid, ticker.ask
    middle = (bid + ask) / 2 if bid is not None and ask is not None and bid > 0 and ask > 0 else None
    rate: Decimal | None = last if last is not None and last > 0 else middle
    return rate
