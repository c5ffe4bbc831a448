"""The market of the sandbox as a pure function of seed, symbol and time: prices that wander but never contradict.

Every currency has a dollar price that wanders around its listed one; a symbol's price is the quotient of two of them,
so cross rates agree by construction. All of it is whole-number arithmetic: a price is counted in `UNIT`s of a dollar,
a deviation in millionths. Nothing here is remembered but what could be computed again.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from hashlib import sha256
from typing import TypeVar

from sandbox.clock import DAY_MS
from sandbox.exchange.amounts import ZERO, text_of
from sandbox.exchange.currencies import Currency
from sandbox.exchange.symbols import Symbol
from sandbox.exchange.transactions import instant_text

STEP_MS = 1_000  # a price holds for one second
MARK_MS = 900_000  # highs, lows and volumes are summed up by quarters of an hour
UNIT = 10**18
_MILLION = 10**6
_MASK = 2**64 - 1
# Waves of the wandering: period in ms, amplitude in millionths. The slow ones turn only at marks.
_SLOW = ((3 * DAY_MS, 30_000), (6 * 3_600_000, 12_000), (1_800_000, 4_000))
_FAST = ((300_000, 1_500), (30_000, 500), (5_000, 150))
_FAST_BOUND = sum(amplitude for _, amplitude in _FAST)
_HALF_SPREAD = 100  # millionths of the price
_CALM = 60  # currencies of account wander sixty times less
_MOST_REMEMBERED = 200_000
_WIDE = Context(prec=60)
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True)
class _Course:
    """What tells one currency's course from another's."""

    base: int  # units
    key: int
    calm: bool


@dataclass(frozen=True, slots=True)
class _Day:
    """Extremes (price times UNIT, without the fast waves) and volumes of the quarters that are over."""

    low: int
    high: int
    volume: Decimal
    volume_quote: Decimal


class Market:
    """The market of one world. With `still_at_ms` it stands still at that instant."""

    def __init__(self, seed: int, currencies: Mapping[str, Currency], still_at_ms: int | None = None) -> None:
        self._still_at_ms = still_at_ms
        self._courses = {
            code: _Course(int(currency.usd * UNIT), _key(seed, code), currency.calm)
            for code, currency in currencies.items()
        }
        self._slow: dict[tuple[str, int], int] = {}
        self._days: dict[tuple[str, int], _Day] = {}

    def ticker(self, symbol: Symbol, at_ms: int) -> dict[str, object]:
        """The Ticker record of the symbol at an instant, in the member order of the streams."""
        at_ms = self._still_at_ms if self._still_at_ms is not None else at_ms
        step_ms = at_ms - at_ms % STEP_MS
        bid, ask = self._quotes(symbol, step_ms)
        last = self._last(symbol, step_ms)
        before = self._last(symbol, step_ms - DAY_MS)
        low, high, volume, volume_quote = self._around(symbol, step_ms)
        return {
            "ask": text_of(ask),
            "bid": text_of(bid),
            "last": text_of(last),
            "open": text_of(before),
            "low": text_of(min(low, last, before)),
            "high": text_of(max(high, last, before)),
            "volume": text_of(volume),
            "volumeQuote": text_of(volume_quote),
            "timestamp": instant_text(step_ms),
            "symbol": symbol.id,
        }

    def _quotes(self, symbol: Symbol, step_ms: int) -> tuple[Decimal, Decimal]:
        middle = self._ratio(symbol, step_ms)
        bid = _to_tick(middle * (_MILLION - _HALF_SPREAD) // _MILLION, symbol.tick, ROUND_FLOOR)
        bid = max(bid, symbol.tick)
        ask = _to_tick(middle * (_MILLION + _HALF_SPREAD) // _MILLION, symbol.tick, ROUND_CEILING)
        return bid, max(ask, bid + symbol.tick)

    def _last(self, symbol: Symbol, step_ms: int) -> Decimal:
        bid, ask = self._quotes(symbol, step_ms)
        return ask if _mixed(self._courses[symbol.base].key ^ (step_ms // STEP_MS)) & 1 else bid

    def _around(self, symbol: Symbol, step_ms: int) -> tuple[Decimal, Decimal, Decimal, Decimal]:
        """Low, high, volume and quote volume of the 24 hours up to the step."""
        mark = step_ms // MARK_MS
        day = self._day(symbol, mark)
        now = self._slow_ratio(symbol, step_ms)
        bound = self._bound(symbol)
        low = _to_tick(min(day.low, now) * (_MILLION - bound) // _MILLION, symbol.tick, ROUND_FLOOR)
        high = _to_tick(max(day.high, now) * (_MILLION + bound) // _MILLION, symbol.tick, ROUND_CEILING)
        entering, leaving = self._traded(symbol, mark), self._traded(symbol, mark - DAY_MS // MARK_MS)
        part = Decimal(step_ms % MARK_MS) / MARK_MS
        volume = day.volume + _to_tick_decimal((entering[0] - leaving[0]) * part, symbol.increment)
        quote = day.volume_quote + _to_tick_decimal((entering[1] - leaving[1]) * part, symbol.increment * symbol.tick)
        return max(low, symbol.tick), high, volume, quote

    def _day(self, symbol: Symbol, mark: int) -> _Day:
        found = self._days.get((symbol.id, mark))
        if found is None:
            marks = range(mark - DAY_MS // MARK_MS, mark + 1)
            ratios = [self._slow_ratio(symbol, number * MARK_MS) for number in marks]
            traded = [self._traded(symbol, number) for number in marks[:-1]]
            volume, quote = (sum((row[column] for row in traded), start=ZERO) for column in (0, 1))
            found = _Day(min(ratios), max(ratios), volume, quote)
            _remember(self._days, (symbol.id, mark), found)
        return found

    def _traded(self, symbol: Symbol, mark: int) -> tuple[Decimal, Decimal]:
        """Quantity and quote amount traded in a quarter of an hour: thousands of dollars, more in some symbols."""
        liveliness = 1 + _mixed(self._courses[symbol.base].key) % 40
        dollars = liveliness * (500 + _mixed(_key(mark, symbol.id)) % 4_500)
        quantity = Decimal(dollars * UNIT) / self._courses[symbol.base].base
        rounded = max(_to_tick_decimal(quantity, symbol.increment), symbol.increment)
        price = _to_tick(self._slow_ratio(symbol, mark * MARK_MS), symbol.tick, ROUND_HALF_EVEN)
        return rounded, rounded * max(price, symbol.tick)

    def _bound(self, symbol: Symbol) -> int:
        parts = (_FAST_BOUND // (_CALM if self._courses[code].calm else 1) for code in (symbol.base, symbol.quote))
        return sum(parts) + 2 * _HALF_SPREAD

    def _ratio(self, symbol: Symbol, at_ms: int) -> int:
        return self._price(symbol.base, at_ms) * UNIT // self._price(symbol.quote, at_ms)

    def _slow_ratio(self, symbol: Symbol, at_ms: int) -> int:
        return self._slow_price(symbol.base, at_ms) * UNIT // self._slow_price(symbol.quote, at_ms)

    def _price(self, code: str, at_ms: int) -> int:
        course = self._courses[code]
        return self._slow_price(code, at_ms) * (_MILLION + _wander(course, at_ms, _FAST)) // _MILLION

    def _slow_price(self, code: str, at_ms: int) -> int:
        if code == "USD":
            return UNIT
        on_mark = at_ms % MARK_MS == 0
        price = self._slow.get((code, at_ms)) if on_mark else None
        if price is None:
            course = self._courses[code]
            price = course.base * (_MILLION + _wander(course, at_ms, _SLOW)) // _MILLION
            if on_mark:
                _remember(self._slow, (code, at_ms), price)
        return price


def _wander(course: _Course, at_ms: int, waves: tuple[tuple[int, int], ...]) -> int:
    """The deviation in millionths: straight lines between random heights at multiples of each period."""
    total = 0
    for period_ms, amplitude in waves:
        place, passed_ms = divmod(at_ms, period_ms)
        start, end = _height(course.key, period_ms, place), _height(course.key, period_ms, place + 1)
        total += amplitude * (start * (period_ms - passed_ms) + end * passed_ms) // (period_ms * _MILLION)
    return total // _CALM if course.calm else total


def _height(key: int, period_ms: int, place: int) -> int:
    return _mixed(key ^ (period_ms << 32) ^ place) % (2 * _MILLION + 1) - _MILLION


def _mixed(number: int) -> int:
    """A well-spread 64-bit number (the finalizer of splitmix64)."""
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) & _MASK
    return number ^ number >> 31


def _key(seed: int, name: str) -> int:
    return int.from_bytes(sha256(f"{seed}|{name}".encode()).digest()[:8], "big")


def _to_tick(ratio: int, tick: Decimal, rounding: str) -> Decimal:
    return _to_tick_decimal(_WIDE.divide(Decimal(ratio), Decimal(UNIT)), tick, rounding)


def _to_tick_decimal(value: Decimal, tick: Decimal, rounding: str = ROUND_HALF_EVEN) -> Decimal:
    return _WIDE.divide(value, tick).to_integral_value(rounding=rounding, context=_WIDE) * tick


def _remember(memory: dict[_Key, _Value], key: _Key, value: _Value) -> None:
    if len(memory) >= _MOST_REMEMBERED:
        memory.clear()
    memory[key] = value
