"""Frames: what the exchange's sockets send, and what a hostile one may."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire import jsonrpc
from wire.jsonrpc import Call, Failure, NotAFrame, Notification, Result, decode, encode

IDS = st.none() | st.text(max_size=20) | st.integers(-(2**53), 2**53)
NAMES = st.text(min_size=1, max_size=12)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=10,
)


@given(NAMES, st.dictionaries(NAMES, VALUES, max_size=4), IDS)
def test_calls_are_read_as_they_were_written(method: str, params: dict[str, object], id: jsonrpc.Id) -> None:
    assert decode(encode(Call(method, params, id))) == Call(method, params, id)


@given(NAMES, VALUES.filter(lambda value: value is not None), IDS)
def test_notifications_and_results_are_read_as_they_were_written(method: str, value: object, id: jsonrpc.Id) -> None:
    notification, result = jsonrpc.notification(method, value), jsonrpc.result(id, value)
    assert decode(encode(notification)) == notification
    assert decode(encode(result)) == result


@given(IDS, st.integers(-(2**31), 2**31), st.text(max_size=9), st.text(max_size=9))
def test_failures_are_read_as_they_were_written(id: jsonrpc.Id, code: int, message: str, description: str) -> None:
    assert decode(encode(Failure(id, code, message, description))) == Failure(id, code, message, description)


def test_members_come_in_the_order_of_the_exchange() -> None:
    assert encode(jsonrpc.notification("ticker", {"ask": Decimal("1E-7")})) == (
        '{"jsonrpc":"2.0","method":"ticker","params":{"ask":"0.0000001"}}'
    )
    assert encode(jsonrpc.result("a", True)) == '{"jsonrpc":"2.0","result":true,"id":"a"}'
    assert encode(Failure(None, 429, "Too many requests")) == (
        '{"jsonrpc":"2.0","error":{"code":429,"message":"Too many requests","description":""},"id":null}'
    )
    assert encode(Call("login", {"algo": "BASIC"}, 1)) == (
        '{"jsonrpc":"2.0","method":"login","params":{"algo":"BASIC"},"id":1}'
    )
    at = datetime(2020, 1, 2, 3, 4, 5, 678_900, tzinfo=UTC)
    assert jsonrpc.plain([at, (Decimal("-0"),)]) == ["2020-01-02T03:04:05.678Z", ["0"]]


@pytest.mark.parametrize("value", [1.5, [float("nan")], {"a": 0.1}, b"x", {1, 2}, object(), Decimal("NaN")])
def test_what_is_not_exact_does_not_leave(value: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        jsonrpc.plain(value)


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ('{"method":"getBalance","id":7}', Call("getBalance", {}, 7)),
        ('{"method":"getBalance","params":null,"id":"7"}', Call("getBalance", {}, "7")),
        ('{"method":"getBalance","params":{},"id":null}', Call("getBalance", {}, None)),
        ('{"method":"x","params":{"a":5.077559999999999},"id":1}', Call("x", {"a": Decimal("5.077559999999999")}, 1)),
        ('{"method":"login","params":{"algo":"BASIC"}}', Notification("login", b'{"algo":"BASIC"}')),
        ('{"method":"x","params":null}', Notification("x", b"{}")),
        ('{"method":"activeOrders","params":[]}', Notification("activeOrders", b"[]")),
        ('{"jsonrpc":"2.0","result":null,"id":1}', Result(1, b"null")),
        ('{"jsonrpc":"2.0","result":true,"id":1,"error":null}', Result(1, b"true")),
        ('{"result":[1.10],"id":null,"more":[{}]}', Result(None, b"[1.10]")),
        ('{"error":{"code":1002},"id":null}', Failure(None, 1002, "", "")),
        ('{"error":{"code":1002,"message":"a","description":null,"x":1},"id":3}', Failure(3, 1002, "a", "")),
    ],
)
def test_frames_as_they_come(text: str, frame: jsonrpc.Frame) -> None:
    assert decode(text) == frame
    assert decode(text.encode()) == frame


def test_request_without_an_id_is_a_call_to_a_server() -> None:
    frame = decode('{"method":"login","params":{"algo":"BASIC","n":1.10}}')
    assert isinstance(frame, Notification)
    assert frame.call == Call("login", {"algo": "BASIC", "n": Decimal("1.10")}, None)
    with pytest.raises(NotAFrame):
        _ = Notification("login", b"[]").call


@pytest.mark.parametrize(
    ("text", "id"),
    [
        ("", None),
        ("null", None),
        ("[]", None),
        ('[{"method":"x","id":1}]', None),
        ("{}", None),
        ('{"id":1}', 1),
        ('{"method":"x","result":1,"id":1}', 1),
        ('{"error":{"code":1},"result":1,"id":1}', 1),
        ('{"method":7,"id":1}', None),
        ('{"method":"x","id":1.5}', None),
        ('{"method":"x","id":true}', None),
        ('{"method":"x","id":{}}', None),
        ('{"method":"x","params":[],"id":"q"}', "q"),
        ('{"method":"x","params":"a","id":"q"}', "q"),
        ('{"error":{"code":"1"},"id":1}', None),
        ('{"error":"no","id":1}', None),
        ('{"method":"x","id":1}junk', None),
        ('{"method":"x","params":NaN,"id":1}', None),
        ('{"method":"x","params":' + "[" * 100_000, None),
        ('{"method":"x","id":1,"params":{"a":' + "[" * 100_000 + "]" * 100_000 + "}}", None),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_is_no_frame(text: str, id: jsonrpc.Id) -> None:
    with pytest.raises(NotAFrame) as caught:
        decode(text)
    assert caught.value.id == id
    with pytest.raises(NotAFrame):
        decode(text.encode())


def test_bytes_that_are_no_text_and_endless_frames() -> None:
    for message in (b"\xff\xfe", b'{"method":"\xff","id":1}', "\ud800", " " * (jsonrpc.MOST_CHARACTERS + 1)):
        with pytest.raises(NotAFrame) as caught:
            decode(message)
        assert "\ufffd" not in str(caught.value)


@given(st.text(max_size=60) | st.binary(max_size=60))
def test_any_message_is_a_frame_or_refused(message: str | bytes) -> None:
    try:
        frame = decode(message)
    except NotAFrame:
        return
    assert isinstance(frame, Call | Notification | Result | Failure)


def test_bytes_that_are_no_text_within_params_are_refused() -> None:
    for params in (b'{"\xff": 1}', b'{"symbol": "\x8f"}', b'["\xc3"]'):
        with pytest.raises(NotAFrame):
            decode(b'{"method": "subscribeTicker", "params": ' + params + b', "id": 1}')


def test_an_exponent_beyond_any_number_is_refused() -> None:
    with pytest.raises(NotAFrame, match="params can't be read"):
        decode('{"method": "subscribeTicker", "params": {"symbol": 1e%s}, "id": 1}' % ("9" * 60))
