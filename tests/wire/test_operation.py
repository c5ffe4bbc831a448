"""Arguments become a request and a request its arguments: what is refused, what is forgiven, what is hidden."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from wire.operation import BadArgument, Kind, Operation, Param, Place, Problem, bind, read

PAY = Operation(
    "pay",
    "POST",
    "/pay/{currency}/{tag}",
    (
        Param("currency", Kind.CODE, Place.PATH, required=True),
        Param("tag", Kind.TEXT, Place.PATH, required=True, max_length=10),
        Param("amount", Kind.DECIMAL, Place.FORM, required=True, lowest=0, highest=1000),
        Param("count", Kind.INTEGER, Place.FORM, lowest=1, highest=1000, default=100),
        Param("side", Kind.TEXT, Place.FORM, choices=("buy", "sell")),
        Param("now", Kind.BOOLEAN, Place.FORM, default=False),
        Param("till", Kind.INSTANT, Place.FORM),
        Param("from", Kind.INSTANT_OR_INDEX, Place.FORM),
        Param("ids", Kind.INTEGERS, Place.FORM),
        Param("codes", Kind.CODES, Place.FORM),
        Param("password", Kind.TEXT, Place.FORM, sensitive=True, max_length=20),
    ),
)
PAYMENT = {"currency": "BTC", "tag": "a", "amount": Decimal("1.50")}
HIDDEN_PATH = Operation(
    "sign", "GET", "/sign/{key}", (Param("key", Kind.TEXT, Place.PATH, required=True, sensitive=True),)
)


def refusal(**arguments: object) -> BadArgument:
    """What `bind` says about the arguments."""
    with pytest.raises(BadArgument) as caught:
        bind(PAY, {**PAYMENT, **arguments})
    return caught.value


def refusal_of_read(method: str = "POST", **body: object) -> BadArgument:
    """What `read` says about the members of a body."""
    with pytest.raises(BadArgument) as caught:
        read(PAY, {"currency": "BTC", "tag": "a"}, [], {"amount": "1", **body}.items())
    return caught.value


@pytest.mark.parametrize(
    ("name", "value", "problem"),
    [
        ("nonsense", 1, Problem.UNKNOWN),
        ("currency", None, Problem.MISSING),
        ("amount", None, Problem.MISSING),
        ("amount", 1.5, Problem.MALFORMED),
        ("amount", True, Problem.MALFORMED),
        ("amount", Decimal("NaN"), Problem.MALFORMED),
        ("amount", Decimal("Infinity"), Problem.MALFORMED),
        ("amount", Decimal("1E+999999"), Problem.MALFORMED),
        ("amount", "1e3", Problem.MALFORMED),
        ("amount", "+1", Problem.MALFORMED),
        ("amount", " 1", Problem.MALFORMED),
        ("amount", "1\n", Problem.MALFORMED),
        ("amount", "١", Problem.MALFORMED),
        ("amount", "1,5", Problem.MALFORMED),
        ("amount", "", Problem.MALFORMED),
        ("amount", Decimal("-0.01"), Problem.TOO_LOW),
        ("amount", Decimal("1000.01"), Problem.TOO_HIGH),
        ("count", 0, Problem.TOO_LOW),
        ("count", 1001, Problem.TOO_HIGH),
        ("count", "5", Problem.MALFORMED),
        ("count", True, Problem.MALFORMED),
        ("count", 5.0, Problem.MALFORMED),
        ("side", "hold", Problem.NOT_A_CHOICE),
        ("side", "BUY", Problem.NOT_A_CHOICE),
        ("side", "", Problem.EMPTY),
        ("now", "false", Problem.MALFORMED),
        ("now", 0, Problem.MALFORMED),
        ("till", datetime(2020, 1, 1), Problem.MALFORMED),  # noqa: DTZ001 - a naive one is the subject
        ("till", "2020-01-01", Problem.MALFORMED),
        ("from", True, Problem.MALFORMED),
        ("from", "7", Problem.MALFORMED),
        ("from", 2**63, Problem.TOO_HIGH),
        ("ids", [], Problem.EMPTY),
        ("ids", [1, "2"], Problem.MALFORMED),
        ("ids", "1,2", Problem.MALFORMED),
        ("ids", 7, Problem.MALFORMED),
        ("codes", ["A,B"], Problem.MALFORMED),
        ("codes", ["A B"], Problem.MALFORMED),
        ("codes", [""], Problem.EMPTY),
        ("codes", "AB", Problem.MALFORMED),
        ("tag", "x" * 11, Problem.TOO_LONG),
        ("tag", ".", Problem.MALFORMED),
        ("tag", "..", Problem.MALFORMED),
        ("tag", "a\r\nb", Problem.MALFORMED),
        ("tag", "\x00", Problem.MALFORMED),
        ("tag", "\ud800", Problem.MALFORMED),
        ("tag", b"a", Problem.MALFORMED),
        ("currency", "..", Problem.MALFORMED),
        ("currency", 7, Problem.MALFORMED),
    ],
)
def test_bind_refuses(name: str, value: object, problem: Problem) -> None:
    bad = refusal(**{name: value})
    assert (bad.param, bad.problem) == (name, problem)
    assert str(bad).startswith(f"{name} {problem}")


def test_segments_can_not_leave_their_place_in_the_path() -> None:
    request = bind(PAY, {**PAYMENT, "currency": "../{tag}?x#y", "tag": "ä/%2e"})
    assert request.path == "/pay/..%2F%7Btag%7D%3Fx%23y/%C3%A4%2F%252e"


def test_nothing_is_sent_that_was_not_given() -> None:
    request = bind(PAY, {**PAYMENT, "count": None})
    assert request.form == (("amount", "1.50"),)
    assert request.query == ()


def test_form_is_in_the_order_of_the_description() -> None:
    request = bind(PAY, {"now": True, "side": "buy", **PAYMENT})
    assert request.body == b"amount=1.50&side=buy&now=true"


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (Decimal("1E+3"), "1000"),
        (Decimal("1E-18"), "0.000000000000000001"),
        (Decimal("-0.00"), "0.00"),
        ("007.10", "7.10"),
        (12, "12"),
    ],
)
def test_amounts_are_sent_as_plain_digits(amount: object, text: str) -> None:
    assert bind(PAY, {**PAYMENT, "amount": amount}).form == (("amount", text),)


# The server's side ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "sent", "value"),
    [
        ("amount", Decimal("1E-7"), Decimal("0.0000001")),
        ("amount", ".5", Decimal("0.5")),
        ("amount", "5.", Decimal(5)),
        ("amount", "+5", Decimal(5)),
        ("amount", 7, Decimal(7)),
        ("amount", Decimal("7.98"), Decimal("7.98")),
        ("now", "True", True),
        ("now", "FALSE", False),
        ("now", True, True),
        ("count", "7", 7),
        ("count", 7, 7),
        ("till", "2018-01-30T17:05Z", datetime(2018, 1, 30, 17, 5, tzinfo=UTC)),
        ("till", "2018-01-30T17:05:06", datetime(2018, 1, 30, 17, 5, 6, tzinfo=UTC)),
        ("till", "1517331900000", datetime(2018, 1, 30, 17, 5, tzinfo=UTC)),
        ("till", 1517331900000, datetime(2018, 1, 30, 17, 5, tzinfo=UTC)),
        ("from", "1517331900000", 1517331900000),
        ("from", "2018-01-30", datetime(2018, 1, 30, tzinfo=UTC)),
        ("ids", "1, 2,3", [1, 2, 3]),
        ("ids", [1, "2"], [1, 2]),
        ("ids", 5, [5]),
        ("codes", "ethbtc,BTCUSD", ["ETHBTC", "BTCUSD"]),
        ("side", "sell", "sell"),
        ("password", 12345, "12345"),
    ],
)
def test_read_forgives_what_callers_rely_on(name: str, sent: object, value: object) -> None:
    body = {"amount": "1", name: sent, "asset": "unknown", "networkFee": "0"}
    values = read(PAY, {"currency": "btc", "tag": "a"}, [], body.items(), defaults=False)
    assert values[name] == value
    assert type(values[name]) is type(value)
    assert values["currency"] == "BTC"
    assert not {"asset", "networkFee"} & set(values)


@pytest.mark.parametrize(
    ("name", "sent", "problem"),
    [
        ("amount", 7.98, Problem.MALFORMED),
        ("amount", "NaN", Problem.MALFORMED),
        ("amount", "Infinity", Problem.MALFORMED),
        ("amount", "1e999999", Problem.MALFORMED),
        ("amount", "1e999", Problem.MALFORMED),
        ("amount", "1_000", Problem.MALFORMED),
        ("amount", "9" * 200, Problem.MALFORMED),
        ("amount", 10**90, Problem.MALFORMED),
        ("amount", True, Problem.MALFORMED),
        ("amount", {"a": 1}, Problem.MALFORMED),
        ("amount", [1], Problem.MALFORMED),
        ("amount", "", Problem.MISSING),
        ("amount", None, Problem.MISSING),
        ("amount", [], Problem.MISSING),
        ("amount", "-1", Problem.TOO_LOW),
        ("count", "1.0", Problem.MALFORMED),
        ("count", "９", Problem.MALFORMED),
        ("count", "9" * 5000, Problem.MALFORMED),
        ("count", 10**30, Problem.TOO_HIGH),
        ("now", "yes", Problem.MALFORMED),
        ("now", 1, Problem.MALFORMED),
        ("till", "yesterday", Problem.MALFORMED),
        ("till", "2018-13-01", Problem.MALFORMED),
        ("till", "2018-01-30T25:00Z", Problem.MALFORMED),
        ("till", "9" * 18, Problem.MALFORMED),
        ("till", -1, Problem.MALFORMED),
        ("till", [1], Problem.MALFORMED),
        ("from", "yesterday", Problem.MALFORMED),
        ("from", {"a": 1}, Problem.MALFORMED),
        ("ids", "1,,2", Problem.MALFORMED),
        ("ids", "1,x", Problem.MALFORMED),
        ("ids", {"a": 1}, Problem.MALFORMED),
        ("codes", ",", Problem.EMPTY),
        ("side", "Sell", Problem.NOT_A_CHOICE),
        ("side", {"a": 1}, Problem.MALFORMED),
        ("side", True, Problem.MALFORMED),
    ],
)
def test_read_refuses(name: str, sent: object, problem: Problem) -> None:
    bad = refusal_of_read(**{name: sent})
    assert (bad.param, bad.problem) == (name, problem)


def test_defaults_are_filled_in_where_nothing_was_given() -> None:
    values = read(PAY, {"currency": "BTC", "tag": "a"}, [], [("amount", "1"), ("count", "")])
    assert values == {"currency": "BTC", "tag": "a", "amount": Decimal(1), "count": 100, "now": False}


@pytest.mark.parametrize(("method", "taken"), [("PUT", True), ("DELETE", True), ("PATCH", True), ("POST", False)])
def test_forms_in_the_query(method: str, taken: bool) -> None:
    operation = Operation("x", method, "/x", (Param("price", Kind.DECIMAL, Place.FORM),))
    assert ("price" in read(operation, {}, [("price", "5")])) is taken


def test_body_of_a_read_is_ignored_and_the_path_wins() -> None:
    operation = Operation(
        "x", "GET", "/x/{id}", (Param("id", Kind.TEXT, Place.PATH), Param("by", Kind.TEXT, Place.QUERY))
    )
    assert read(operation, {"id": "a"}, [("id", "b")], [("by", "c")]) == {"id": "a"}


# What is hidden ------------------------------------------------------------------------------------------------------


def test_sensitive_values_are_masked_wherever_a_request_is_shown() -> None:
    request = bind(PAY, {**PAYMENT, "password": "hunter two"})
    assert "hunter" not in repr(request)
    assert "('password', '…')" in repr(request)
    assert "1.50" in repr(request)
    assert b"password=hunter+two" in request.body
    hidden = bind(HIDDEN_PATH, {"key": "L1 secret"})
    assert "secret" not in repr(hidden)
    assert hidden.path == "/sign/L1%20secret"
    assert set(hidden.hidden) == {"L1 secret", "L1%20secret"}


def test_sensitive_values_are_not_kept_in_refusals() -> None:
    for bad in (refusal(password="hunter" * 5), refusal_of_read(password="hunter" * 5)):
        assert bad.problem is Problem.TOO_LONG
        assert "hunter" not in f"{bad} {bad!r} {vars(bad)}"
    assert refusal(side="hold").value == "hold"
