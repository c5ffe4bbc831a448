"""The parts of a request before any operation is asked: path, query, body, and what limits them."""

import pytest

from sandbox.server import answers, requests
from sandbox.server.auth import Limits
from sandbox.server.calls import Calls
from sandbox.server.requests import Routes, Unreadable
from wire.operation import Operation

ROUTES = Routes(
    [
        Operation("get_orders", "GET", "/api/2/order"),
        Operation("get_order", "GET", "/api/2/order/{clientOrderId}"),
        Operation("put_order", "PUT", "/api/2/order/{clientOrderId}"),
        Operation("get_trading_fee", "GET", "/api/2/trading/fee/{symbol}"),
        Operation("get_trading_fees", "GET", "/api/2/trading/fee/all"),
    ]
)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("GET /api/2/order", ("get_orders", {})),
        ("GET /api/2/order/", ("get_orders", {})),
        ("GET /api/2/order/a", ("get_order", {"clientOrderId": "a"})),
        ("GET /api/2/order/a/", ("get_order", {"clientOrderId": "a"})),
        ("GET /api/2/order/a%2Fb%20%C3%A9", ("get_order", {"clientOrderId": "a/b é"})),
        ("GET /api/2/order/%2e%2e", ("get_order", {"clientOrderId": ".."})),
        ("GET /api/2/trading/fee/all", ("get_trading_fees", {})),
        ("GET /api/2/trading/fee/ALL", ("get_trading_fee", {"symbol": "ALL"})),
        ("PUT /api/2/order/", None),
        ("PUT /api/2/order", None),
        ("POST /api/2/order", None),
        ("GET /api/2/order//", None),
        ("GET //api/2/order", None),
        ("GET /api/2/order/%FF", None),
        ("GET /api/2/order/a/b", None),
        ("GET /api/2/", None),
        ("GET /", None),
        ("GET /api/2/order/" + "a" * 5_000, None),
    ],
)
def test_a_path_names_an_operation_or_nothing(call: str, found: tuple[str, dict[str, str]] | None) -> None:
    method, path = call.split(" ")
    route = ROUTES.find(method, path.encode())
    assert (route and (route[0].name, route[1])) == found


@pytest.mark.parametrize(
    ("content_type", "body", "pairs"),
    [
        ("application/x-www-form-urlencoded", b"a=1&b=%C3%A9+x&c=", [("a", "1"), ("b", "é x"), ("c", "")]),
        ("", b"a=1", [("a", "1")]),
        ("application/x-www-form-urlencoded; charset=utf-8", b"a=1&a=2", [("a", "1"), ("a", "2")]),
        ("application/json", b"", []),
        ("application/json", b"  ", []),
        ("multipart/form-data; boundary=x", b"", []),
        ("application/json", b'{"a":"1","b":null,"c":true,"d":false}', [("a", "1"), ("c", True), ("d", False)]),
        ("Application/JSON; charset=UTF-8", b'{"ids":[7001,"7002"]}', [("ids", ["7001", "7002"])]),
        ("application/json", b'{"a":1,"a":2}', [("a", "1"), ("a", "2")]),
        ("application/json", b'{"a":7.98}', [("a", "7.98")]),
        ("application/json", b'{"a":5.077559999999999}', [("a", "5.077559999999999")]),
        ("application/json", b'{"a":0.1000}', [("a", "0.1000")]),
        ("application/json", b'{"a":1e-07}', [("a", "0.0000001")]),
        ("application/json", b'{"a":1.5E3}', [("a", "1500")]),
        ("application/json", b'{"a":12345678901234567890.123456789012}', [("a", "12345678901234567890.123456789012")]),
        ("application/json", b'{"a":1e999999999}', [("a", "1e999999999")]),
        ("application/json", b'{"a":' + b"9" * 5_000 + b"}", [("a", "9" * 5_000)]),
        ("application/json", b'{"a":NaN,"b":-Infinity}', [("a", "NaN"), ("b", "-Infinity")]),
    ],
)  # fmt: skip
def test_a_body_becomes_pairs_and_keeps_every_digit(content_type: str, body: bytes, pairs: list[object]) -> None:
    assert requests.body_pairs(content_type, body) == pairs


@pytest.mark.parametrize(
    ("content_type", "body", "sentence"),
    [
        ("application/json", b"{", "Body is not valid JSON"),
        ("application/json", b"a=1", "Body is not valid JSON"),
        ("application/json", b"[1]", "Body is not a JSON object"),
        ("application/json", b'"a"', "Body is not a JSON object"),
        ("application/json", b"\xff\xfe{}", "Body is not valid JSON"),
        ("application/json", b"[" * 60_000, "Body is not valid JSON"),
        ("application/json", b'{"a":' * 20_000, "Body is not valid JSON"),
        ("application/json", b'{"a":{"b":1}}', "Param 'a' is neither a value nor a list of values"),
        ("application/json", b'{"a":{}}', "Param 'a' is neither a value nor a list of values"),
        ("application/json", b'{"a":[[1]]}', "Param 'a' is neither a value nor a list of values"),
        ("application/json", b'{"a":"\\ud800"}', "Body holds half a character"),
        ("application/json", b'{"\\udfff":"a"}', "Body holds half a character"),
        ("application/x-www-form-urlencoded", b"a=\xff", "Body is not UTF-8"),
        ("application/x-www-form-urlencoded", b"a=%FF", "Body is not UTF-8"),
        ("application/x-www-form-urlencoded", b"a=1&" * 500, "Body has more than 200 parameters"),
        (
            "multipart/form-data; boundary=x",
            b"--x",
            "Body must be application/x-www-form-urlencoded or application/json",
        ),
        ("text/xml", b"<a/>", "Body must be application/x-www-form-urlencoded or application/json"),
    ],
)
def test_a_body_that_can_not_be_read_says_why(content_type: str, body: bytes, sentence: str) -> None:
    with pytest.raises(Unreadable) as problem:
        requests.body_pairs(content_type, body)
    assert str(problem.value) == sentence


def test_a_query_that_is_not_utf8_is_refused() -> None:
    assert requests.query_pairs(b"symbols=ETHBTC%2CBTCUSD&empty") == [("symbols", "ETHBTC,BTCUSD"), ("empty", "")]
    with pytest.raises(Unreadable, match="Query is not UTF-8"):
        requests.query_pairs(b"symbols=%ff")


def test_a_second_slides_and_a_refused_call_is_not_counted() -> None:
    now_ns = 0
    limits = Limits(clock_ns=lambda: now_ns)
    rates = {"other": 2}
    assert [limits.allows("other", "a", rates) for _ in range(3)] == [True, True, False]
    assert limits.allows("other", "b", rates)
    assert limits.allows("market", "a", rates)
    now_ns = 999_999_999
    assert not limits.allows("other", "a", rates)
    now_ns = 1_000_000_000
    assert [limits.allows("other", "a", rates) for _ in range(3)] == [True, True, False]
    assert all(limits.allows("other", "a", None) for _ in range(100))


FORM = [("sKey", "hidden"), ("b", "hidden as well"), ("a", "1"), ("a", "2")]


def test_the_log_keeps_the_latest_calls_and_never_a_secret() -> None:
    calls = Calls(lambda: 1_609_459_200_123, most_kept=2)
    for name in ("one", "two", "three"):
        calls.received(operation=name, method="POST", path="/x", form=FORM, sensitive=frozenset({"b"}))
    listed = calls.listed()
    assert (listed["received"], listed["dropped"]) == (3, 1)
    kept = listed["calls"]
    assert isinstance(kept, list)
    assert [call["operation"] for call in kept] == ["two", "three"]
    assert kept[0]["form"] == {"sKey": "…", "b": "…", "a": ["1", "2"]}
    assert kept[0]["when"] == "2021-01-01T00:00:00.123Z"
    assert "hidden" not in str(listed)


def test_long_calls_are_kept_for_a_shorter_while() -> None:
    calls = Calls(lambda: 0)
    for _ in range(1_000):
        calls.received(operation="login", method="WS", path="/", form=[(f"{n}" * 10, "x" * 5_000) for n in range(12)])
    listed = calls.listed()
    assert listed["received"] == 1_000
    assert 300 < 1_000 - int(str(listed["dropped"])) < 350  # of 16 MiB, 48 KB each
    calls.clear()
    assert calls.listed() == {"calls": [], "received": 0, "dropped": 0}


def test_the_log_is_asked_by_operation_number_and_instant() -> None:
    now_ms = 1_609_459_200_000
    calls = Calls(lambda: now_ms)
    first = calls.received(operation="one", method="GET", path="/")
    now_ms += 1_000
    calls.received(operation="two", method="GET", path="/")

    def names(**filters: str) -> list[str]:
        found = calls.listed(**filters)["calls"]
        assert isinstance(found, list)
        return [call["operation"] for call in found]

    assert names(operation="one") == ["one"]
    assert names(since=str(first.number)) == ["two"]
    assert names(since="2021-01-01T00:00:01Z") == ["two"]
    assert names(since="2021-01-01T00:00:00") == ["one", "two"]
    for odd in ("yesterday", "-1", "9" * 30):
        with pytest.raises(ValueError, match="'since' is"):
            calls.listed(since=odd)


def test_an_error_always_has_a_description_and_dates_are_http_dates() -> None:
    assert answers.of_error(400, 20002, "Order not found").body == (
        b'{"error":{"code":20002,"message":"Order not found","description":""}}'
    )
    lines = dict(answers.header_lines(answers.of_json([]), date_ms=1_609_459_200_999))
    assert lines[b"date"] == b"Fri, 01 Jan 2021 00:00:00 GMT"
    assert lines[b"content-type"] == b"application/json; charset=utf-8"


def test_the_page_for_an_unknown_path_does_not_run_what_the_path_says() -> None:
    body = answers.not_routed("GET", "/api/2/<script>alert(1)</script>").body
    assert b"<pre>Cannot GET /api/2/&lt;script&gt;" in body
    assert b"<script>" not in body
