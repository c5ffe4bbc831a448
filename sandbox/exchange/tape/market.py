"""The prices of the sandbox as a pure function of seed, symbol and time: they wander but never contradict.

Every currency has a dollar price that wanders around its listed one; a symbol's price is the quotient of two of them,
so cross rates agree by construction. All of it is whole-number arithmetic: a price is counted in `UNIT`s of a dollar
or, for a symbol, in its ticks; a deviation in millionths. Nothing here is remembered but what could be computed again.

Two forms of the same wandering exist: `quotes`, which move every second and are what the simulated traders offer
around, and `path`, without the two fastest waves, which is what their trades of a quarter of an hour follow.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256, shake_128
from itertools import pairwise
from typing import Final

from sandbox.engine.clock import DAY_MS
from sandbox.exchange.listing.currencies import LISTED, Currency
from sandbox.exchange.listing.symbols import Symbol

STEP_MS: Final = 1_000  # quotes hold for one second
MARK_MS: Final = 300_000  # the path is a straight line from one mark to the next
MARKS_A_DAY: Final = DAY_MS // MARK_MS
UNIT: Final = 10**18
LEAST_TICKS: Final = 10  # of a price on the path: trades happen a few ticks beside it
_MILLION: Final = 10**6
_MASK: Final = 2**64 - 1
_GOLDEN: Final = 0x9E3779B97F4A7C15  # 2^64 divided by the golden ratio, odd: its multiples lie evenly among all numbers
# Waves of the wandering: the period of the longest in days, of the others in marks; how high they go, in millionths;
# and where among the random numbers of a day they have theirs.
_LONGEST, _LONGEST_HEIGHT = 3, 30_000
_LONG, _LONG_HEIGHT, _FIRST_LONG = MARKS_A_DAY // 4, 12_000, MARKS_A_DAY
_SHORT, _SHORT_HEIGHT, _FIRST_SHORT = 6, 4_000, MARKS_A_DAY + 5
_A_DRIFT: Final = MARKS_A_DAY * _MILLION // _LONGEST_HEIGHT
_QUICK: Final = 1_500  # height of the wave that turns at every mark
_FAST: Final = ((30_000, 500), (5_000, 150))  # waves that turn between the marks: period in ms, height
_KNOTS: Final = _FIRST_SHORT + MARKS_A_DAY // _SHORT + 1
_HALF_SPREAD: Final = 100  # millionths of the price
_CALM: Final = 60  # currencies of account wander sixty times less
_MOST_DAYS: Final = 1_000
_DOLLARS: Final = [UNIT] * MARKS_A_DAY
_LISTED_CODES: Final = frozenset(currency.code for currency in LISTED)


@dataclass(frozen=True, slots=True)
class _Course:
    """What tells one listed currency's course from another's."""

    base: int  # units
    key: int
    calm: bool  # currencies of account hardly move


class _Drift:
    """The course of a made-up currency: straight from midnight to midnight, and a little off it at every mark.

    There are so many of them that it must be cheap at any single mark.
    """

    __slots__ = ("_day", "_end", "_start", "base", "calm", "key")

    def __init__(self, base: int, key: int) -> None:
        self.base, self.key, self.calm = base, key, False
        self._day, self._start, self._end = -1, 0, 0

    def at(self, mark: int) -> int:
        """The dollar price at a mark, in units."""
        day, place = divmod(mark, MARKS_A_DAY)
        if day != self._day:
            self._day, self._start, self._end = day, _turn(self.key, day), _turn(self.key, day + 1)
        slow = (self._start * (MARKS_A_DAY - place) + self._end * place) // _A_DRIFT
        quick = ((self.key ^ mark) * _GOLDEN & _MASK) % (2 * _QUICK + 1) - _QUICK
        return self.base * (_MILLION + slow + quick) // _MILLION


class Market:
    """The prices of one world. With `still_at_ms` they stand still from that instant on."""

    def __init__(self, seed: int, currencies: Mapping[str, Currency], still_at_ms: int | None = None) -> None:
        self.seed = seed
        self.still_at_ms = still_at_ms
        self._courses: dict[str, _Course] = {}
        self._drifts: dict[str, _Drift] = {}
        for code, currency in currencies.items():
            base, key = int(currency.usd * UNIT), key_of(seed, code)
            if code in _LISTED_CODES:
                self._courses[code] = _Course(base, key, currency.calm)
            else:
                self._drifts[code] = _Drift(base, key)
        self._ticks: dict[str, int] = {}
        self._paths: dict[tuple[str, int], tuple[int, ...]] = {}
        self._days: dict[tuple[str, int], Sequence[int]] = {}
        self._steps: dict[str, int] = {}
        self._step_ms = -1

    def reached_ms(self, at_ms: int) -> int:
        """How far the simulated market has come at an instant."""
        return at_ms if self.still_at_ms is None else min(at_ms, self.still_at_ms)

    def is_listed(self, symbol: Symbol) -> bool:
        """Whether both its currencies have a course of their own: those of the sandbox's list."""
        return symbol.base in self._courses and symbol.quote in self._courses

    def listed_price(self, code: str) -> int:
        """The dollar price around which a currency wanders, in units."""
        return self._course(code).base

    def price(self, code: str, at_ms: int) -> int:
        """The dollar price of a currency at an instant, in units."""
        return self._price(code, self.reached_ms(at_ms) // STEP_MS * STEP_MS)

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

    def path_of_day(self, symbol: Symbol, day: int) -> Sequence[int]:
        """The path of a symbol of listed currencies at all marks of a day, and at the first of the next one."""
        path = self._paths.get((symbol.id, day))
        if path is None:
            if len(self._paths) >= _MOST_DAYS:
                self._paths.clear()
            path = _path_of_day(self._listed(symbol.base), self._listed(symbol.quote), self._tick(symbol), day)
            self._paths[symbol.id, day] = path
        return path

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
        course = self._course(code)
        mark, passed_ms = divmod(step_ms, MARK_MS)
        price = self._on_mark(code, mark)
        if passed_ms:
            price += (self._on_mark(code, mark + 1) - price) * passed_ms // MARK_MS
        fast = sum(_fast(course.key, step_ms, *wave) for wave in _FAST)
        return price * (_MILLION + (fast // _CALM if course.calm else fast)) // _MILLION

    def _course(self, code: str) -> "_Course | _Drift":
        return self._drifts.get(code) or self._courses[code]

    def _on_mark(self, code: str, mark: int) -> int:
        """The dollar price of a currency at a mark."""
        drift = self._drifts.get(code)
        if drift is not None:
            return drift.at(mark)
        day, place = divmod(mark, MARKS_A_DAY)
        return self._whole_day(code, day)[place]

    def _whole_day(self, code: str, day: int) -> Sequence[int]:
        """The dollar prices of a listed currency at all marks of a day."""
        prices = self._days.get((code, day))
        if prices is None:
            if len(self._days) >= _MOST_DAYS:
                self._days.clear()
            prices = self._days[code, day] = _day(self._listed(code), day)
        return prices

    def _listed(self, code: str) -> _Course | None:
        return None if code == "USD" else self._courses[code]


# What follows is kept for all worlds of a process: one that begins anew from the same seed has the same days.


@lru_cache(maxsize=_MOST_DAYS)
def _path_of_day(base: _Course | None, quote: _Course | None, tick: int, day: int) -> tuple[int, ...]:
    """The path of a symbol at all marks of a day, and at the first of the next one; no course is the dollar's."""
    above, below = (*_day(base, day), _day(base, day + 1)[0]), (*_day(quote, day), _day(quote, day + 1)[0])
    ratios = tuple(over * UNIT // under // tick for over, under in zip(above, below, strict=True))
    return ratios if min(ratios) >= LEAST_TICKS else tuple(max(ratio, LEAST_TICKS) for ratio in ratios)


@lru_cache(maxsize=_MOST_DAYS)
def _day(course: _Course | None, day: int) -> Sequence[int]:
    """The prices of a listed currency, or of the dollar, at all marks of a day.

    The slow waves are straight lines between random heights at the ends of their periods, so that together they are
    straight, too, within a period of the shortest.
    """
    if course is None:
        return _DOLLARS
    knots = [_height(number) for number in _knots(course.key, day)]
    ends = _ends(course.key, day, knots)
    slow: list[int] = []
    for here, there in pairwise(ends):
        step = (there - here) // _SHORT
        slow += [here + step * passed for passed in range(_SHORT)]
    quick = _QUICK
    if course.calm:
        slow, quick = [deviation // _CALM for deviation in slow], _QUICK // _CALM
    base, scale = course.base, _MILLION * _MILLION
    return [
        base * (scale + _MILLION * deviation + quick * height) // scale
        for deviation, height in zip(slow, knots, strict=False)
    ]


def _ends(key: int, day: int, knots: Sequence[int]) -> list[int]:
    """The deviation by the slow waves, in millionths, at the beginnings of all periods of the shortest in a day, and of
    the first one of the next day."""
    stretches, in_long = MARKS_A_DAY // _SHORT, _LONG // _SHORT
    first, last = _longest(key, day), _longest(key, day + 1)
    ends = []
    for stretch in range(stretches + 1):
        turn, passed = divmod(stretch, in_long)
        start, end = knots[_FIRST_LONG + turn], knots[_FIRST_LONG + turn + (passed > 0)]
        long = _LONG_HEIGHT * (start * (in_long - passed) + end * passed) // (in_long * _MILLION)
        short = _SHORT_HEIGHT * knots[_FIRST_SHORT + stretch] // _MILLION
        ends.append((first * (stretches - stretch) + last * stretch) // stretches + long + short)
    return ends


def _longest(key: int, day: int) -> int:
    """The deviation by the longest wave at the beginning of a day, in millionths."""
    turn, passed = divmod(day, _LONGEST)
    return (
        _LONGEST_HEIGHT
        * (_turn(key, turn) * (_LONGEST - passed) + _turn(key, turn + 1) * passed)
        // (_LONGEST * _MILLION)
    )


@lru_cache(maxsize=10_000)
def _turn(key: int, turn: int) -> int:
    return _height(mixed(key ^ turn << 20))


def _knots(key: int, day: int) -> memoryview:
    """Random numbers for the heights of a currency's waves on a day, each slow wave with the first one of the next."""
    drawn = bytearray(shake_128(b"%d|%d" % (key, day)).digest(4 * _KNOTS))
    knots = memoryview(drawn).cast("I")
    for period, first in ((_LONG, _FIRST_LONG), (_SHORT, _FIRST_SHORT)):
        knots[first] = mixed(key ^ day << 8 ^ period) >> 32
        knots[first + MARKS_A_DAY // period] = mixed(key ^ (day + 1) << 8 ^ period) >> 32
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
    """A well-spread 64-bit number, another one for every number of 64 bits: a step of splitmix64.

    Shifts and multipliers are that generator's own (Steele, Lea and Flood 2014, with Stafford's thirteenth mix); the
    number is its state, so that 0 gives the first number of its seed 0, E220A8397B1DCDAF. Each step can be undone, so
    different numbers never give the same one; who draws for two purposes from one key shifts what he counts by (days
    by 20 bits, say) until the two can't meet.
    """
    number = (number + _GOLDEN) & _MASK
    number = ((number ^ number >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    number = ((number ^ number >> 27) * 0x94D049BB133111EB) & _MASK
    return number ^ number >> 31


def key_of(seed: int, name: str) -> int:
    """A 64-bit number for a name, another one for every seed."""
    return int.from_bytes(sha256(f"{seed}|{name}".encode()).digest()[:8], "big")
