"""Exact decimals, instants and secrets."""

import copy
import json
import pickle
from dataclasses import asdict
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.transport import Credentials
from wire.values import CannotRead, Nanoseconds, Secret, decimal_from, decimal_text, instant_from, instant_text

DECIMALS = st.builds(
    lambda digits, exponent: Decimal(digits).scaleb(exponent), st.integers(-(10**27), 10**27), st.integers(-50, 40)
)
INSTANTS = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 31, 23, 59), timezones=st.just(UTC))  # noqa: DTZ001


@given(DECIMALS)
def test_decimal_text_is_exact_and_plain(number: Decimal) -> None:
    text = decimal_text(number)
    assert set(text) <= set("-0123456789.")
    assert decimal_from(text) == number


@given(st.text() | st.from_regex(r"[-+]?\d*\.?\d*([eE][-+]?\d+)?", fullmatch=True))
def test_any_text_is_read_exactly_or_refused(text: str) -> None:
    for lenient in (False, True):
        try:
            number = decimal_from(text, lenient=lenient)
        except CannotRead:
            continue
        assert number == Decimal(text)
        assert len(decimal_text(number)) <= 83


@pytest.mark.parametrize(
    "text", ["1e5", "NaN", "-Infinity", "0x1", "1_0", " 1", "1 ", "1\n", "١", "1.", ".1", "+1", "", "-", "1,0", "--1"]
)
def test_strict_decimals_are_digits_only(text: str) -> None:
    with pytest.raises(CannotRead):
        decimal_from(text)


@pytest.mark.parametrize("value", [1.5, True, None, b"1", [1], Decimal("NaN"), Decimal("Infinity"), 10**81])
def test_what_is_no_exact_number_is_refused(value: object) -> None:
    with pytest.raises(CannotRead):
        decimal_from(value)


@pytest.mark.parametrize("value", [Decimal("NaN"), Decimal("sNaN"), Decimal("-Infinity"), 1, 1.5, "1", None])
def test_only_finite_decimals_become_texts(value: object) -> None:
    with pytest.raises(CannotRead):
        decimal_text(value)


@pytest.mark.parametrize("text", ["1E+999999", "1E-999999", "0E+999999", "0E-999999", "1" * 81])
def test_numbers_that_would_explode_are_refused_quickly(text: str) -> None:
    for refused in (lambda: decimal_text(Decimal(text)), lambda: decimal_from(text, lenient=True)):
        with pytest.raises(CannotRead):
            refused()


def test_long_texts_are_refused_without_being_read() -> None:
    for text in ("9" * 10_000_000, "0." + "0" * 10_000_000, "1e" + "9" * 10_000_000):
        with pytest.raises(CannotRead):
            decimal_from(text, lenient=True)
    with pytest.raises(CannotRead):
        decimal_from(1 << 10_000_000)


@given(INSTANTS)
def test_instants_keep_their_milliseconds(instant: datetime) -> None:
    text = instant_text(instant)
    assert len(text) == 24
    assert instant_from(text) == instant.replace(microsecond=instant.microsecond // 1000 * 1000)
    milliseconds = (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    assert instant_from(milliseconds) == instant_from(str(milliseconds)) == instant_from(text)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2018-01-30T17:05Z", "2018-01-30T17:05:00+00:00"),
        ("2018-01-30T17:05:06.7", "2018-01-30T17:05:06.700000+00:00"),
        ("2018-01-30 17:05:06,123456789", "2018-01-30T17:05:06.123456+00:00"),
        ("2018-01-30T17:05:06+02:00", "2018-01-30T15:05:06+00:00"),
        ("2018-01-30T17:05:06-0130", "2018-01-30T18:35:06+00:00"),
        ("2018-01-30", "2018-01-30T00:00:00+00:00"),
        ("0", "1970-01-01T00:00:00+00:00"),
    ],
)
def test_forms_of_instants(text: str, iso: str) -> None:
    assert instant_from(text).isoformat() == iso


@pytest.mark.parametrize(
    "value",
    [
        "yesterday",
        "",
        "2018-02-30",
        "2018-01-30T24:01Z",
        "2018-01-30T17:05:06.Z",
        "2018-01-30T17:05:06.1234567890Z",
        "2018-01-30T17:05:06Zjunk",
        "٢018-01-30",
        "0000-01-01",
        "0001-01-01T00:00:00+23:00",
        "2018-01-30T17:05:06+99:00",
        -1,
        253_402_300_800_000,
        "9" * 18,
        "9" * 5000,
        1.5,
        True,
        None,
        b"2018-01-30",
    ],
)
def test_what_is_no_instant_is_refused(value: object) -> None:
    with pytest.raises(CannotRead):
        instant_from(value)


def test_instants_without_zone_do_not_leave() -> None:
    with pytest.raises(CannotRead):
        instant_text(datetime(2020, 1, 1))  # noqa: DTZ001 - a naive one is the subject
    with pytest.raises(CannotRead):
        instant_text("2020-01-01T00:00:00.000Z")
    assert instant_text(datetime(2020, 1, 1, 1, tzinfo=timezone(timedelta(hours=2)))) == "2019-12-31T23:00:00.000Z"


@given(st.integers(0, 253_402_300_799_999_999_999))
def test_nanoseconds_are_kept(nanoseconds: int) -> None:
    value = Nanoseconds(nanoseconds)
    assert Nanoseconds.from_text(value.text) == value
    assert len(value.text) == 30
    assert instant_text(value.instant) == instant_text(instant_from(value.text))


@pytest.mark.parametrize("value", ["", "yesterday", "1969-12-31T23:59:59Z", "2018-01-30T17:05:06.1234567890Z", 7, None])
def test_what_is_no_nanosecond_instant_is_refused(value: object) -> None:
    with pytest.raises(CannotRead):
        Nanoseconds.from_text(value)


# Secrets -------------------------------------------------------------------------------------------------------------

SECRET = Secret("canary")


def test_secret_shows_itself_to_nobody() -> None:
    holder = Credentials("login", SECRET)
    texts = [
        str(SECRET),
        repr(SECRET),
        f"{SECRET}",
        f"{SECRET!r:>30}",
        repr([SECRET]),
        repr(holder),
        str(asdict(holder)),
    ]
    texts.append("%s %r" % (SECRET, SECRET))  # noqa: UP031 - old formats are part of the subject
    assert all("canary" not in text for text in texts)
    assert all("…" in text for text in texts)
    assert SECRET.reveal() == "canary"


@pytest.mark.parametrize("write", [json.dumps, pickle.dumps, msgspec.json.encode, msgspec.to_builtins, hash, len, iter])
def test_secret_is_not_written_anywhere(write: object) -> None:
    with pytest.raises(TypeError) as caught:
        write(SECRET)
    assert "canary" not in str(caught.value)


def test_secret_has_no_members_to_look_into() -> None:
    with pytest.raises(TypeError):
        vars(SECRET)
    assert copy.deepcopy(SECRET) is SECRET
    assert copy.copy(SECRET) is SECRET


def test_secrets_are_compared_by_their_texts_only_with_secrets() -> None:
    assert Secret("canary") == SECRET
    assert Secret("other") != SECRET
    assert SECRET != "canary"


@pytest.mark.parametrize("text", ["", None, b"canary", 7])
def test_secret_is_a_text(text: object) -> None:
    with pytest.raises(CannotRead) as caught:
        Secret(text)
    assert "canary" not in str(caught.value)
