"""The prices of the sandbox as a pure function of seed, symbol and time: they wander but never contradict.

Every currency has a dollar price that wanders around its listed one; a symbol's price is the quotient of two of them,
so cross rates agree by construction. All of it is whole-number arithmetic: a price is counted in `UNIT`s of a dollar
or, for a symbol, in its ticks; a deviation in millionths. Nothing here is remembered but what could be computed again.

Two forms of the same wandering exist: `quotes`, which move every second and are what the simulated traders offer
around, and `path`, without the two fastest waves, which is what their trades of a quarter of an hour follow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256, shake_128
from typing import Final

from sandbox.clock import DAY_MS
from sandbox.exchange.currencies import LISTED, Currency
from sandbox.exchange.symbols import Symbol

STEP_MS: Final = 1_000  # quotes hold for one second
MARK_MS: Final = 300_000  # the path is a straight line from one mark to the next
MARKS_A_DAY: Final = DAY_MS // MARK_MS
UNIT: Final = 10**18
LEAST_TICKS: Final = 10  # of a price on the path: trades happen a few ticks beside it
_MILLION: Final = 10**6
_MASK: Final = 2**64 - 1
# Waves of the wandering: period in marks, amplitude in millionths, and where among the knots of a day it has its own.
_LONGEST: Final = 3 * MARKS_A_DAY, 30_000
_SLOW: Final = ((MARKS_A_DAY // 4, 12_000, MARKS_A_DAY), (6, 4_000, MARKS_A_DAY + 5))
_QUICK: Final = 1_500  # amplitude of the wave that turns at every mark
_FAST: Final = ((30_000, 500), (5_000, 150))  # and of those that turn between them: period in ms, amplitude
_KNOTS: Final = MARKS_A_DAY + 5 + 49
_HALF_SPREAD: Final = 100  # millionths of the price
_CALM: Final = 60  # currencies of account wander sixty times less
_MOST_MARKS, _MOST_DAYS = 100_000, 400
_KNOWN: Final = frozenset(currency.code for currency in LISTED)


@dataclass(frozen=True, slots=True)
class _Course:
    """What tells one currency's course from another's."""

    base: int  # units
    key: int
    calm: bool


class Market:
    """The prices of one world. With `still_at_ms` they stand still from that instant on."""

    def __init__(self, seed: int, currencies: Mapping[str, Currency], still_at_ms: int | None = None) -> None:
        self.seed = seed
        self.still_at_ms = still_at_ms
        self._courses = {
            code: _Course(int(currency.usd * UNIT), key_of(seed, code), currency.calm)
            for code, currency in currencies.items()
        }
        self._ticks: dict[str, int] = {}
        self._marks: dict[tuple[str, int], int] = {}
        self._days: dict[tuple[str, int], list[int]] = {}
        self._steps: dict[str, int] = {}
        self._step_ms = -1

    def reached_ms(self, at_ms: int) -> int:
        """How far the simulated market has come at an instant."""
        return at_ms if self.still_at_ms is None else min(at_ms, self.still_at_ms)

    def listed_price(self, code: str) -> int:
        """The dollar price around which a currency wanders, in units."""
        return self._courses[code].base

    def listed_ticks(self, symbol: Symbol) -> int:
        """The price around which a symbol wanders, in ticks, at least one."""
        return max(self.listed_price(symbol.base) * UNIT // self.listed_price(symbol.quote) // self._tick(symbol), 1)

    def quotes(self, symbol: Symbol, at_ms: int) -> tuple[int, int]:
        """What the simulated traders bid and ask at an instant, in ticks; never equal."""
        step_ms = self.reached_ms(at_ms) // STEP_MS * STEP_MS
        middle = self._price(symbol.base, step_ms) * UNIT // self._price(symbol.quote, step_ms)
        part = _MILLION * self._tick(symbol)
        bid = max(middle * (_MILLION - _HALF_SPREAD) // part, 1)
        return bid, max(-(-middle * (_MILLION + _HALF_SPREAD) // part), bid + 1)

    def path(self, symbol: Symbol, mark: int) -> int:
        """The middle price in ticks at a mark (of so many times `MARK_MS`), at least `LEAST_TICKS`."""
        ratio = self._on_mark(symbol.base, mark) * UNIT // self._on_mark(symbol.quote, mark)
        return max(ratio // self._tick(symbol), LEAST_TICKS)

    def _tick(self, symbol: Symbol) -> int:
        """The tick in units."""
        units = self._ticks.get(symbol.id)
        if units is None:
            units = self._ticks[symbol.id] = int(symbol.tick * UNIT)
        return units

    def _price(self, code: str, step_ms: int) -> int:
        """The dollar price of a currency at a step; that of the latest step is remembered for all symbols."""
        if step_ms != self._step_ms:
            self._step_ms, self._steps = step_ms, {}
        price = self._steps.get(code)
        if price is None:
            price = self._steps[code] = self._wandered(code, step_ms)
        return price

    def _wandered(self, code: str, step_ms: int) -> int:
        if code == "USD":
            return UNIT
        course = self._courses[code]
        mark, passed_ms = divmod(step_ms, MARK_MS)
        price = self._on_mark(code, mark)
        if passed_ms:
            price += (self._on_mark(code, mark + 1) - price) * passed_ms // MARK_MS
        fast = sum(_fast(course.key, step_ms, *wave) for wave in _FAST)
        return price * (_MILLION + (fast // _CALM if course.calm else fast)) // _MILLION

    def _on_mark(self, code: str, mark: int) -> int:
        """The dollar price of a currency at a mark: of the known ones whole days are kept, they are asked for often."""
        if code == "USD":
            return UNIT
        if code in _KNOWN:
            day, place = divmod(mark, MARKS_A_DAY)
            prices = self._days.get((code, day))
            if prices is None:
                if len(self._days) >= _MOST_DAYS:
                    self._days.clear()
                prices = self._days[code, day] = _day(self._courses[code], day)
            return prices[place]
        price = self._marks.get((code, mark))
        if price is None:
            if len(self._marks) >= _MOST_MARKS:
                self._marks.clear()
            price = self._marks[code, mark] = _marked(self._courses[code], mark)
        return price


def _marked(course: _Course, mark: int) -> int:
    """The price at a mark: straight lines between random heights at the ends of each period."""
    day, place = divmod(mark, MARKS_A_DAY)
    knots = _knots(course.key, day)
    slow = _longest(course.key, mark)
    for period, amplitude, begin in _SLOW:
        turn, passed = divmod(place, period)
        start, end = _height(knots[begin + turn]), _height(knots[begin + turn + 1])
        slow += amplitude * (start * (period - passed) + end * passed) // (period * _MILLION)
    return _priced(course, slow, _height(knots[place]))


def _day(course: _Course, day: int) -> list[int]:
    """The prices at all marks of a day, as `_marked` gives them one by one."""
    first = day * MARKS_A_DAY
    knots = [_height(number) for number in _knots(course.key, day)]
    slow = [_longest(course.key, mark) for mark in range(first, first + MARKS_A_DAY)]
    for period, amplitude, begin in _SLOW:
        for turn in range(MARKS_A_DAY // period):
            start, end = knots[begin + turn], knots[begin + turn + 1]
            for passed in range(period):
                line = amplitude * (start * (period - passed) + end * passed) // (period * _MILLION)
                slow[turn * period + passed] += line
    return [_priced(course, deviation, quick) for deviation, quick in zip(slow, knots[:MARKS_A_DAY], strict=True)]


def _priced(course: _Course, slow: int, height: int) -> int:
    quick = _QUICK * height // _MILLION
    if course.calm:
        slow, quick = slow // _CALM, quick // _CALM
    return course.base * (_MILLION + slow) * (_MILLION + quick) // _MILLION**2


def _longest(key: int, mark: int) -> int:
    period, amplitude = _LONGEST
    turn, passed = divmod(mark, period)
    start, end = _turn(key, turn), _turn(key, turn + 1)
    return amplitude * (start * (period - passed) + end * passed) // (period * _MILLION)


@lru_cache(maxsize=10_000)
def _turn(key: int, turn: int) -> int:
    return _height(mixed(key ^ turn << 20))


@lru_cache(maxsize=4_000)
def _knots(key: int, day: int) -> memoryview:
    """Random numbers for the heights of a currency's waves on a day, each slow wave with the first one of the next."""
    drawn = bytearray(shake_128(b"%d|%d" % (key, day)).digest(4 * _KNOTS))
    knots = memoryview(drawn).cast("I")
    for period, _, begin in _SLOW:
        knots[begin] = mixed(key ^ day << 8 ^ period) >> 32
        knots[begin + MARKS_A_DAY // period] = mixed(key ^ (day + 1) << 8 ^ period) >> 32
    return knots


def _height(number: int) -> int:
    """A height in millionths from -1 to 1."""
    return number % (2 * _MILLION + 1) - _MILLION


def _fast(key: int, at_ms: int, period_ms: int, amplitude: int) -> int:
    """The deviation by a wave whose heights are drawn one by one."""
    turn, passed_ms = divmod(at_ms, period_ms)
    start, end = (_height(mixed(key ^ (period_ms << 32) ^ place)) for place in (turn, turn + 1))
    return amplitude * (start * (period_ms - passed_ms) + end * passed_ms) // (period_ms * _MILLION)


def mixed(number: int) -> int:
    """A well-spread 64-bit number (the finalizer of splitmix64)."""
    number = (number + 0x9E3779B97F4A7C15) & _MASK
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) & _MASK
    return number ^ number >> 31


def key_of(seed: int, name: str) -> int:
    """A 64-bit number for a name, another one for every seed."""
    return int.from_bytes(sha256(f"{seed}|{name}".encode()).digest()[:8], "big")
