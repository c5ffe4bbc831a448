"""Replies that are read, set aside or refused."""

import json
import re
from decimal import Decimal
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire import records
from wire.errors import BadReply
from wire.values import Nanoseconds


class Level(records.Record, frozen=True):
    price: Decimal
    full_size: Decimal | None = None


class Book(records.Record, frozen=True):
    ask: list[Level]
    at: records.Instant
    name: records.NonEmpty = "x"
    exact_at: Nanoseconds | None = None
    best: Level | None = None
    tags: list[str] | None = None


class Either(records.Record, frozen=True):
    """A decimal in one of several alternatives."""

    books: list[Book] = []
    either: list[Level] | Book | None = None


class Plain(records.Record, frozen=True):
    name: str


AT = "2020-01-01T00:00:00.000Z"


@pytest.fixture(autouse=True)
def _nothing_aside() -> None:
    records.unknown.clear()


def level(price: str) -> Any:
    return records.decode(b'{"price":' + price.encode() + b"}", Level)


@given(st.integers(-(10**40), 10**40), st.integers(0, 40))
def test_decimals_are_exact_from_texts_and_numbers(digits: int, places: int) -> None:
    number = Decimal(f"{digits}E-{places}")  # `scaleb` would round it to the digits of the context
    plain = format(number, "f")
    for written in (plain, f'"{plain}"'):
        read = level(written).price
        assert read == number
        assert read.as_tuple() == number.as_tuple()


def test_numbers_that_a_binary_float_can_not_hold() -> None:
    assert level("0.1234567890123456789012345678901234").price == Decimal("0.1234567890123456789012345678901234")
    assert str(level('"4.522683200000000000000000"').price) == "4.522683200000000000000000"
    assert level("1e5").price == 100_000


@pytest.mark.parametrize(
    "price",
    [
        '"NaN"',
        '"-nan"',
        '"sNaN"',
        '"Infinity"',
        '"-inf"',
        "NaN",
        "Infinity",
        "1E+999999",
        '"1E+999999"',
        '"1E-999999"',
        '"0E+999999"',
        '"0E-999999"',
        '"1e61"',
        '"1E+99999999999999999999"',
        '"' + "9" * 62 + '"',
        '""',
        '"abc"',
        '"1,5"',
        "true",
        "null",
        "[]",
        "{}",
    ],
)
def test_decimals_that_are_refused(price: str) -> None:
    with pytest.raises(BadReply):
        level(price)


NOT_PLAIN = [
    *("1_000", "_1", "1__0", " 1", "1 ", " 1 ", "\t1", "1\n", "\u00a01", "1\u2003", "\u30001"),
    *("+1", "+0", "+1.5", "\u0661\u0662", "\uff11", "1\u0663", "\U0001d7d9", "1.\u0665"),
    *("1e5", "1E5", "1e-5", "1.5E+1", "0E-8", "1e0", "1e05", "-1e5"),
    *("--1", "1-", "-", "-.", ".", "1.2.3", "1-2", "1,5", "1.5,2", "0x10", "1/2", "", "null", "nan", "inf", "nullnull"),
]
PLAIN = [
    *("0", "-0", "0.000", "-0.5", "007", "1", "100000000", "4.522683200000000000000000", "0.000000000000000000000001"),
    *("9" * 60, "0." + "1" * 58, "-" + "9" * 30 + "." + "9" * 29, "9" * 61, "0." + "1" * 70, "-0." + "0" * 59 + "1"),
]


def shapes(text: str) -> list[tuple[str, Any]]:
    """Bodies that hold a decimal's text, each with its kind: as required and optional member, deep, and in lists."""
    each = json.dumps(text)
    best = f'{{"ask":[],"at":"{AT}","best":{{"price":{each}}}}}'
    every = [
        (f'{{"price":{each}}}', Level),
        (f'{{"price":"1","fullSize":{each}}}', Level),
        (f'{{"price":"1","fullSize":{each},"price":"2"}}', Level),
        (f'{{"price":{each},"unheard":[]}}', Level),
        (f'{{"price":1.5,"fullSize":{each}}}', Level),
        (f'[{{"price":"1"}},{{"price":{each}}},{{"price":"2"}}]', list[Level]),
        (f'{{"a":[{{"price":"1"}}],"b":[{{"price":{each}}}]}}', dict[str, list[Level]]),
        (f'{{"ask":[{{"price":"1"}},{{"price":{each}}}],"at":"{AT}"}}', Book),
        (best, Book),
        (f"[{best}]", list[Book]),
        (f'{{"x":{best}}}', dict[str, Book]),
        (f"[[{best}]]", list[list[Book]]),
        (each, Decimal),
        (f"[{each}]", list[Decimal]),
        (f'{{"books":[{best}]}}', Either),
        (f'{{"either":[{{"price":{each}}}]}}', Either),
        (f'{{"either":{best}}}', Either),
    ]
    # An empty text in place of a figure that may be absent is its absence.
    return [(body, kind) for body, kind in every if text or "fullSize" not in body]


@pytest.mark.parametrize("text", NOT_PLAIN, ids=ascii)
def test_texts_that_are_not_plain_are_no_decimals(text: str) -> None:
    for body, kind in shapes(text):
        with pytest.raises(BadReply):
            records.decode(body.encode(), kind)
    assert records.unknown.counts() == {}


@pytest.mark.parametrize("text", PLAIN)
def test_plain_texts_are_decimals_digit_by_digit(text: str) -> None:
    for body, kind in shapes(text):
        assert str(Decimal(text)) in repr(records.decode(body.encode(), kind))


@given(st.text(st.sampled_from("0123456789.-+_eE \t\u0661\uff11n"), max_size=8) | st.text(max_size=4))
def test_a_text_is_a_decimal_when_it_is_written_plainly(text: str) -> None:
    plain = re.fullmatch(r"-?([0-9]+\.?[0-9]*|\.[0-9]+)", text) is not None
    for body, kind in shapes(text):
        try:
            read = records.decode(body.encode(), kind)
        except BadReply:
            assert not plain
        else:
            assert plain
            assert str(Decimal(text)) in repr(read)


def test_escaped_digits_are_digits() -> None:
    assert level(r'"\u0031\u002e5"').price == Decimal("1.5")
    for text in (r'"\u002b1"', r'"1\u005f0"', r'"\u00201"', r'"1\u0009"', r'"\u0661"'):
        with pytest.raises(BadReply):
            level(text)


def test_of_members_told_twice_the_last_counts() -> None:
    assert records.decode(b'{"price":"+1","price":"1"}', Level).price == 1
    with pytest.raises(BadReply):
        records.decode(b'{"price":"1","price":"+1"}', Level)


@pytest.mark.parametrize("number", ["1e5", "1E+5", "0.1e6", "100000", "1000000e-1"])
def test_json_numbers_may_have_an_exponent(number: str) -> None:
    assert level(number).price == 100_000
    assert records.decode(f'[{{"price":"1","fullSize":{number}}}]'.encode(), list[Level])[0].full_size == 100_000


@pytest.mark.parametrize("number", ["1e61", "-1e61", "1e-61", "9" * 62, "0." + "1" * 81, "1E+99999999999999999999"])
def test_json_numbers_of_no_sensible_size_are_refused(number: str) -> None:
    for body in (f'{{"price":{number}}}', f'{{"price":"1","fullSize":{number}}}', f'{{"price":{number},"x":1}}'):
        with pytest.raises(BadReply):
            records.decode(body.encode(), Level)


@pytest.mark.parametrize("text", ["+1", "NaN", " 1"])
def test_refusal_of_a_decimal_names_the_member(text: str) -> None:
    with pytest.raises(BadReply, match="ask: fullSize: ") as caught:
        records.decode(f'{{"ask":[{{"price":"1","fullSize":"{text}"}}],"at":"{AT}"}}'.encode(), Book)
    assert text not in caught.value.reason


def test_long_digits_outside_of_decimals_are_texts() -> None:
    name = "12.5" * 40
    assert records.decode(f'{{"ask":[{{"price":"1"}}],"at":"{AT}","name":"{name}"}}'.encode(), Book).name == name


@pytest.mark.parametrize("inner", ['"NaN"', '"1E+999999"'])
def test_optional_and_nested_decimals_are_held_to_the_same(inner: str) -> None:
    for body in (
        f'{{"price":"1","fullSize":{inner}}}',
        f'{{"price":"1","extra":0,"fullSize":{inner}}}',
    ):
        with pytest.raises(BadReply):
            records.decode(body.encode(), Level)
    with pytest.raises(BadReply):
        records.decode(f'{{"ask":[{{"price":{inner}}}],"at":"{AT}"}}'.encode(), Book)
    with pytest.raises(BadReply):
        records.decode(f'{{"a":[{{"price":{inner}}}]}}'.encode(), dict[str, list[Level]])


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[]",
        b'"x"',
        b"{}",
        b'{"price":"1"',
        b'{"price":"1"}{}',
        b"\xff\xfe\x00",
        b'{"price":"1","\xff":1}',
        b"<html></html>",
        b"[" * 200_000,
        b'{"extra":' * 100_000,
        b'{"price":"1","extra":' + b"[" * 100_000,
        b'{"Price":"1"}',
        b'{"price":"1","fullSize":1.5e}',
    ],
    ids=lambda body: repr(body[:24]),
)
def test_bodies_that_are_no_record(body: bytes) -> None:
    with pytest.raises(BadReply):
        records.decode(body, Level)


@pytest.mark.parametrize(
    "at", ['"yesterday"', '"2020-01-01T00:00:00"', '"2020-13-01T00:00:00Z"', "1577836800000", "null", '""']
)
def test_instants_need_a_zone(at: str) -> None:
    with pytest.raises(BadReply):
        records.decode(f'{{"ask":[],"at":{at}}}'.encode(), Book)


@pytest.mark.parametrize("text", ['"yesterday"', "7", '"2020-01-01T00:00:00.0000000001Z"', '"1960-01-01T00:00:00Z"'])
def test_nanosecond_instants_that_are_refused(text: str) -> None:
    with pytest.raises(BadReply):
        records.decode(f'{{"ask":[],"at":"{AT}","exactAt":{text}}}'.encode(), Book)


@pytest.mark.parametrize("number", ["1." + "0" * 81, "0." + "1" * 82, "9" * 83, "1" + "0" * 1000, "0" * 82 + "1"])
def test_endless_numbers_are_refused(number: str) -> None:
    for written in (number, f'"{number}"'):
        with pytest.raises(BadReply):
            level(written)
    assert level("0." + "1" * 60).price > 0


def test_what_no_database_keeps_is_refused() -> None:
    at = f'"at":"{AT}","ask":[]'
    for text in ("\\u0000", "a\\u0000b", "\\ud800", "\\udc00x"):
        with pytest.raises(BadReply):
            records.decode(f'{{{at},"name":"{text}"}}'.encode(), Book)
    assert records.decode(f'{{{at},"name":"\\ud83d\\ude00"}}'.encode(), Book).name == "\U0001f600"
    assert records.decode(f'{{{at},"name":"\\\\u0000"}}'.encode(), Book).name == "\\u0000", "an escaped backslash"


def test_bad_replies_do_not_repeat_the_body() -> None:
    with pytest.raises(BadReply) as caught:
        level('"canary-in-a-number"')
    assert "canary" not in str(caught.value)
    assert "price" in caught.value.reason


def test_empty_names_are_missing_names() -> None:
    with pytest.raises(BadReply):
        records.decode(f'{{"ask":[],"at":"{AT}","name":""}}'.encode(), Book)


# Unknown members -----------------------------------------------------------------------------------------------------


def test_unknown_members_are_kept_aside_and_counted_for_each_record() -> None:
    body = (
        f'[{{"ask":[{{"price":"1.10","x":1}},{{"price":2,"x":[1.50]}}],"at":"{AT}","y":{{"z":"deep"}},"name":"a"}},'
        f'{{"ask":[],"at":"{AT}","best":{{"price":"3","w":null}},"exactAt":"2020-01-01T00:00:00.000000001Z"}}]'
    )
    books = records.decode(body.encode(), list[Book])
    assert [entry.price for entry in books[0].ask] == [Decimal("1.10"), Decimal(2)]
    assert books[1].exact_at == 1_577_836_800_000_000_001
    assert records.unknown.counts() == {"Book": {"y": 1}, "Level": {"x": 2, "w": 1}}
    assert records.unknown.example("Level", "x") == "1"
    assert records.unknown.example("Book", "y") == '{"z":"deep"}'
    assert records.unknown.example("Book", "nothing") is None


def test_exactness_survives_unknown_members() -> None:
    read = records.decode(b'{"price":0.12345678901234567890123,"x":1}', Level)
    assert read.price == Decimal("0.12345678901234567890123")


def test_examples_and_names_are_bounded() -> None:
    names = ",".join(f'"n{number}":0' for number in range(500))
    records.decode(f'{{"price":"1","big":"{"b" * 10_000}",{names}}}'.encode(), Level)
    counts = records.unknown.counts()["Level"]
    assert len(counts) == 101
    assert counts["…"] == 401
    assert len(records.unknown.example("Level", "big")) == 200


def test_nothing_is_counted_for_a_reply_that_is_refused() -> None:
    with pytest.raises(BadReply):
        records.decode(b'[{"price":"1","x":1},{"x":1}]', list[Level])
    assert records.unknown.counts() == {}


def test_a_missing_member_is_not_hidden_by_an_unknown_one() -> None:
    with pytest.raises(BadReply, match="price"):
        records.decode(b'{"Price":"1"}', Level)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["ask", "at", "price", "name", "best", "tags", "q"]), inner, max_size=4)
        ),
        max_leaves=15,
    )
)
def test_any_json_is_read_or_a_bad_reply(value: object) -> None:
    for kind in (Book, list[Book], dict[str, Book], bool, list[Level]):
        try:
            records.decode(msgspec.json.encode(value), kind)
        except BadReply:
            continue


# Lists, each element by itself ---------------------------------------------------------------------------------------


def test_one_bad_record_hides_no_other() -> None:
    bad = ['{"price":"+1"}', '{"price":1e99}', "{}", "[]", '{"price":"2","name":"\\u0000"}', '{"price":"3","tags":[']
    good = [f'{{"price":"{number}"}}' for number in range(5)]
    body = "[" + ",".join([good[0], bad[0], good[1], bad[1], bad[2], good[2], bad[3], good[3], bad[4], good[4]]) + "]"
    found, unread = records.decode_each(body.encode(), Level)
    assert [record.price for record in found] == [0, 1, 2, 3, 4]
    assert [each.content.decode() for each in unread] == bad[:5]
    assert "price: " in unread[0].reason
    assert "NUL" in unread[4].reason
    with pytest.raises(BadReply):
        records.decode_each(f"[{good[0]},{bad[5]}]".encode(), Level)


def test_a_list_without_bad_records_is_whole() -> None:
    assert records.decode_each(b"[]", Level) == ([], [])
    found, unread = records.decode_each(b'[{"price":"1","x":1},{"price":2,"y":1}]', Level)
    assert [record.price for record in found] == [1, 2]
    assert unread == []
    assert records.unknown.counts() == {"Level": {"x": 1, "y": 1}}


def test_unknown_members_beside_a_bad_record_are_counted_once() -> None:
    found, unread = records.decode_each(b'[{"price":"1","x":1},{"price":"NaN","x":1},{"price":"2","x":1}]', Level)
    assert (len(found), len(unread)) == (2, 1)
    assert records.unknown.counts() == {"Level": {"x": 2}}


@pytest.mark.parametrize("body", [b"", b"{}", b"null", b'"x"', b"[", b"[1", b"[1]]", b"\xff", b"[" * 100_000, b"[,]"])
def test_what_is_no_list_is_a_bad_reply(body: bytes) -> None:
    with pytest.raises(BadReply):
        records.decode_each(body, Level)


def test_records_without_decimals_are_read_each() -> None:
    found, unread = records.decode_each(b'[{"name":"a"},{"name":1},{"name":"b","x":0}]', Plain)
    assert [record.name for record in found] == ["a", "b"]
    assert [each.content for each in unread] == [b'{"name":1}']


@pytest.mark.parametrize("number", ["1e" + "9" * 30, "1.5e-" + "7" * 90])
def test_an_exponent_beyond_any_number_is_refused_wherever_it_stands(number: str) -> None:
    for body in ('{"price": %s}', '{"price": 1, "nobody": {"named": [%s]}}', '{"name": %s}'):
        for kind in (Level, Plain):
            with pytest.raises(BadReply):
                records.decode((body % number).encode(), kind)
