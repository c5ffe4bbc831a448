"""The values that travel: secrets, exact decimals, instants. No binary floating point passes here."""

import hmac
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import NoReturn, Self, SupportsIndex

MOST_DIGITS = 80  # of one number, before and after the point together
_STRICT = re.compile(r"-?[0-9]+(\.[0-9]+)?")
_LENIENT = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)")
_DIGITS = re.compile(r"[0-9]{1,18}")
_INSTANT = re.compile(
    r"(?P<date>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"([T ](?P<time>[0-9]{2}:[0-9]{2})(:(?P<seconds>[0-9]{2})([.,](?P<fraction>[0-9]{1,9}))?)?"
    r"(?P<zone>Z|z|[+-][0-9]{2}:?[0-9]{2})?)?"
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS = 253_402_300_799_999  # the last millisecond of the year 9999
_LAST_NS = _LAST_MS * 1_000_000 + 999_999


class CannotRead(ValueError):
    """A value is not what its place takes. The sentence never repeats the value: it may be a secret."""


class Secret:
    """A text that shows itself only to the caller of `reveal`: not in repr, str, format, JSON or pickle."""

    __slots__ = ("_text",)
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, text: str) -> None:
        if not isinstance(text, str) or not text:
            raise CannotRead("a secret must be a non-empty string")
        self._text = text

    def reveal(self) -> str:
        """The text itself. Keep it in the expression that needs it."""
        return self._text

    def __eq__(self, other: object) -> bool:
        """Equal texts, compared in constant time; never equal to a plain text."""
        if not isinstance(other, Secret):
            return NotImplemented
        return hmac.compare_digest(self._text.encode(), other._text.encode())

    def __repr__(self) -> str:
        return "Secret(…)"

    __str__ = __repr__

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        raise TypeError("secrets can't be serialised")


def decimal_text(value: Decimal) -> str:
    """The number as plain digits, never with an exponent, its zeros kept; a negative zero loses its sign.

    Raises `CannotRead` for what is not a Decimal, not finite or longer than 80 digits.
    """
    if not isinstance(value, Decimal):
        raise CannotRead(f"a decimal is required, not {type(value).__name__}")
    _bounded(value)
    return format(abs(value) if value.is_zero() else value, "f")


def grouped_text(value: Decimal) -> str:
    """The number for people: its digits in groups of three before the point, no zeros behind it that say nothing.

    Raises as `decimal_text` does.
    """
    integer, point, fraction = decimal_text(value).partition(".")
    fraction = fraction.rstrip("0")
    sign = "-" if integer.startswith("-") else ""
    grouped = f"{sign}{int(integer.lstrip('-')):,}"
    return f"{grouped}.{fraction}" if point and fraction else grouped


def decimal_from(value: str | int | Decimal, *, lenient: bool = False) -> Decimal:
    """The exact decimal of a text or whole number, at most 80 digits when written out.

    Strict texts are a sign, digits and an optional fraction. `lenient` also reads what a server has to: `.5`, `5.`, a
    plus sign. Raises `CannotRead` for anything else, binary floats and texts with an exponent included; a JSON number
    may have one, and comes as a Decimal.
    """
    if isinstance(value, Decimal):
        return _bounded(value)
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise CannotRead(f"a decimal can't be read from {type(value).__name__}")
    if isinstance(value, int):
        if value.bit_length() > 300:
            raise CannotRead(f"the number has more than {MOST_DIGITS} digits")
        return _bounded(Decimal(value))
    if len(value) > MOST_DIGITS + 10 or not (_LENIENT if lenient else _STRICT).fullmatch(value):
        raise CannotRead("not a decimal number")
    return _bounded(Decimal(value))


def _bounded(value: Decimal) -> Decimal:
    _, digits, exponent = value.as_tuple()
    if isinstance(exponent, str):
        raise CannotRead("the number is not finite")
    if max(len(digits) + max(exponent, 0), 1 - exponent) > MOST_DIGITS:
        raise CannotRead(f"the number has more than {MOST_DIGITS} digits")
    return value


def instant_from(value: str | int) -> datetime:
    """The instant, in UTC, of an ISO 8601 text or of milliseconds since 1970 (as a number or as digits).

    Seconds and zone may be missing (no zone means UTC); digits past the microsecond are cut. Raises `CannotRead`.
    Source: exchange REST, Conventions 1 and 3; exchange supplement 2.6.
    """
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise CannotRead(f"a time can't be read from {type(value).__name__}")
    if isinstance(value, int) or _DIGITS.fullmatch(value):
        milliseconds = int(value)
        if not 0 <= milliseconds <= _LAST_MS:
            raise CannotRead("the timestamp is outside the years 1970 to 9999")
        return _EPOCH + timedelta(milliseconds=milliseconds)
    instant, fraction = _parsed(value)
    return instant + timedelta(microseconds=int(fraction[:6].ljust(6, "0")))


def _parsed(text: str) -> tuple[datetime, str]:
    """The whole second in UTC and the digits of its fraction."""
    match = _INSTANT.fullmatch(text)
    if match is None:
        raise CannotRead("not an ISO 8601 date and time")
    zone = (match["zone"] or "Z").upper()
    with _out_of_range_is_unreadable():
        iso = f"{match['date']}T{match['time'] or '00:00'}:{match['seconds'] or '00'}{zone}"
        return datetime.fromisoformat(iso).astimezone(UTC), match["fraction"] or "0"


@contextmanager
def _out_of_range_is_unreadable() -> Iterator[None]:
    try:
        yield
    except (ValueError, OverflowError):
        raise CannotRead("no such date and time") from None


def instant_text(value: datetime) -> str:
    """The instant as `YYYY-MM-DDThh:mm:ss.sssZ`; what is finer than a millisecond is cut. Refuses a naive datetime."""
    if not isinstance(value, datetime) or value.utcoffset() is None:
        raise CannotRead("a time with a time zone is required")
    with _out_of_range_is_unreadable():
        utc = value.astimezone(UTC)
    return f"{utc:%Y-%m-%dT%H:%M:%S}.{utc.microsecond // 1000:03d}Z".rjust(24, "0")


class Nanoseconds(int):
    """An instant as whole nanoseconds since 1970; order books tell nine fractional digits (REST convention 1)."""

    __slots__ = ()

    @classmethod
    def from_text(cls, text: str) -> Self:
        """Reads an ISO 8601 text with up to nine fractional digits. Raises `CannotRead`."""
        if not isinstance(text, str):
            raise CannotRead(f"a time can't be read from {type(text).__name__}")
        instant, fraction = _parsed(text)
        seconds = (instant - _EPOCH) // timedelta(seconds=1)
        nanoseconds = seconds * 1_000_000_000 + int(fraction.ljust(9, "0"))
        if not 0 <= nanoseconds <= _LAST_NS:
            raise CannotRead("the time is outside the years 1970 to 9999")
        return cls(nanoseconds)

    @property
    def instant(self) -> datetime:
        """The same instant in UTC, cut to the microsecond."""
        return _EPOCH + timedelta(microseconds=self // 1000)

    @property
    def text(self) -> str:
        """`YYYY-MM-DDThh:mm:ss.nnnnnnnnnZ`."""
        seconds, nanoseconds = divmod(int(self), 1_000_000_000)
        return f"{_EPOCH + timedelta(seconds=seconds):%Y-%m-%dT%H:%M:%S}.{nanoseconds:09d}Z"
