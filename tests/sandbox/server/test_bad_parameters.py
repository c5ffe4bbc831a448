"""Every parameter of every operation given wrong: the documented error in its envelope, nothing changed, never a 500.

What is wrong comes from the catalogue's rows (`bad_values`), so a new row is covered by itself; what is right comes
from there too, but for a few values that must exist. `--hypothesis-profile=thorough` asks much more.
"""

import json
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exchange_ops.wire import catalogue
from exchange_ops.wire.refusals import CATALOGUE, SUBACCOUNT_UNKNOWN
from sandbox.serving import InProcessSandbox
from tests.sandbox import bad_values
from tests.sandbox.prepared import JSON, Answered, Prepared
from wire.operation import Operation
from wire.params import BadArgument, Kind, Param, Place, from_text

OPERATIONS = pytest.mark.parametrize("operation", catalogue.OPERATIONS, ids=lambda operation: operation.name)
ORDER_CODES = frozenset({2010, 2011, 2012, 2020, 2021, 2022})
NO_FUNDS = frozenset({20001, 20003})


@pytest.fixture(scope="module")
def prepared() -> Iterator[Prepared]:
    """One sandbox for all tests of the module."""
    with InProcessSandbox(seed=1, still=True, payout_seconds=0) as box:
        made = Prepared(box)
        yield made
        made.close()


def must_be_refused(answer: Answered, param: Param, what: object) -> None:
    """The documented refusal of a parameter: 400, the envelope, a code of the catalogue that fits, the name of it."""
    assert answer.status == 400, (param.name, what, answer)
    error = answer.error
    code = error["code"]
    assert CATALOGUE[code].http_status == 400, (param.name, what, answer)
    if code == 10001:
        assert error["message"] == "Validation error", (param.name, what, answer)
        assert param.name in error["description"], (param.name, what, answer)
    else:
        assert code in fitting(param), (param.name, what, answer)


def fitting(param: Param) -> frozenset[int]:
    """The codes beside 10001 that say that a parameter is wrong."""
    if param.kind in (Kind.CODE, Kind.CODES):
        return frozenset({2001, 2002})
    return ORDER_CODES | NO_FUNDS if param.kind is Kind.DECIMAL else frozenset()


def must_be_documented(answer: Answered, operation: Operation, what: object) -> None:
    """Either the reply, or an error of the catalogue with the status that it has there."""
    if answer.status == 200:
        json.loads(answer.body)
        return
    if answer.status == 404:  # the page of a path that has no such address
        assert answer.content_type.startswith("text/html"), (what, answer)
        return
    error = answer.error
    assert CATALOGUE[error["code"]].http_status == answer.status, (what, answer)
    if answer.status >= 500:
        number = error["description"].rsplit(" ", 1)[-1]
        assert operation.group == catalogue.SUBACCOUNTS, (what, answer)
        assert error["description"] == SUBACCOUNT_UNKNOWN.format(id=number), (what, answer)


# Every parameter -----------------------------------------------------------------------------------------------------


@OPERATIONS
def test_what_a_row_rules_out_is_refused_and_changes_nothing(prepared: Prepared, operation: Operation) -> None:
    for param in operation.params:
        good = prepared.good(operation, param.name)
        for text in bad_values.refused(param):
            must_be_refused(prepared.ask(operation, good | {param.name: text}), param, text)
    prepared.must_be_unchanged()
    assert prepared.ask(operation, prepared.good(operation)).status == 200, "what was wrong was not what it seemed"
    if operation.method != "GET":
        prepared.renew()


@OPERATIONS
def test_what_is_required_must_be_there(prepared: Prepared, operation: Operation) -> None:
    for param in operation.params:
        good = prepared.good(operation)
        if param.required and param.place is not Place.PATH:
            missing = {name: text for name, text in good.items() if name != param.name}
            for arguments in (missing, good | {param.name: ""}):
                must_be_refused(prepared.ask(operation, arguments), param, arguments)
        elif param.place is Place.PATH and not is_documented_without(operation, param):
            answer = prepared.ask(operation, good | {param.name: ""})
            assert answer.status == 404, (param.name, answer)
            assert answer.content_type.startswith("text/html"), (param.name, answer)
    prepared.must_be_unchanged()


def is_documented_without(operation: Operation, param: Param) -> bool:
    """Whether the path, ended before this parameter, is another operation's: a slash at the end makes no difference."""
    shorter = operation.path.split("/{" + param.name)[0]
    return any((each.method, each.path) == (operation.method, shorter) for each in catalogue.OPERATIONS)


@pytest.mark.parametrize(
    "operation",
    [each for each in catalogue.OPERATIONS if each.method in ("PUT", "PATCH", "DELETE")],
    ids=lambda operation: operation.name,
)
def test_a_query_is_as_strict_as_a_form(prepared: Prepared, operation: Operation) -> None:
    for param in operation.params:
        good = prepared.good(operation, param.name)
        for text in () if param.place is Place.PATH else bad_values.refused(param):
            must_be_refused(prepared.ask(operation, good | {param.name: text}, in_query=True), param, text)
    prepared.must_be_unchanged()


@pytest.mark.parametrize(
    "operation",
    [each for each in catalogue.OPERATIONS if any(param.place is Place.FORM for param in each.params)],
    ids=lambda operation: operation.name,
)
def test_json_of_a_wrong_type_is_refused(prepared: Prepared, operation: Operation) -> None:
    in_form = [param for param in operation.params if param.place is Place.FORM]
    for param in in_form:
        good = prepared.good(operation, param.name)
        path = operation.path
        for each in operation.params:
            path = path.replace("{" + each.name + "}", good.get(each.name, ""))
        others = [f"{json.dumps(each.name)}:{json.dumps(good[each.name])}" for each in in_form if each.name in good]
        for written in bad_values.wrong_json(param):
            # The last of equal names counts, so that the wrong one is what is read.
            body = "{" + ",".join([*others, f"{json.dumps(param.name)}:{written}"]) + "}"
            must_be_refused(prepared.send(operation.method, path, body.encode(), JSON), param, written)
        for body in ("{", "[]", '"x"', "1", "null", "[" * 5_000, '{"a":"\\ud800"}', "\x00"):
            answer = prepared.send(operation.method, path, body.encode(), JSON)
            assert (answer.status, answer.error["code"]) == (400, 10001), (body[:20], answer)
    prepared.must_be_unchanged()


@OPERATIONS
def test_what_is_not_utf_8_is_refused(prepared: Prepared, operation: Operation) -> None:
    path = operation.path
    for param in operation.params:
        path = path.replace("{" + param.name + "}", prepared.value(operation, param))
    answer = prepared.send(operation.method, path + "?x=%FF")
    assert (answer.status, answer.error["code"]) == (400, 10001), answer
    if "{" in operation.path:
        assert prepared.send(operation.method, operation.path.split("{")[0] + "%C3%28").status == 404
    prepared.must_be_unchanged()


@OPERATIONS
def test_a_hostile_text_does_no_harm(prepared: Prepared, operation: Operation) -> None:
    """Where any text is welcome, odd ones are kept as they are or refused; they break nothing and say nothing."""
    for param in operation.params:
        good = prepared.good(operation, param.name)
        for text in bad_values.hostile(param):
            answer = prepared.ask(operation, good | {param.name: text})
            must_be_documented(answer, operation, (param.name, text))
            if answer.status == 200 and operation.method != "GET":
                assert prepared.box.control("ledger")["balanced"] is True
                prepared.renew()
    prepared.must_be_unchanged()


# Whatever comes ------------------------------------------------------------------------------------------------------

numbers = st.one_of(
    st.decimals().map(str),
    st.floats().map(repr),
    st.integers().map(str),
    st.from_regex(r"[-+]?[0-9]{0,30}(\.[0-9]{0,30})?([eE][-+]?[0-9]{1,4})?", fullmatch=True),
)
instants = st.one_of(st.datetimes().map(lambda at: at.isoformat()), st.dates().map(str), st.integers().map(str))
words = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.from_regex(r"[A-Za-z0-9._,/-]{1,40}", fullmatch=True),
    st.sampled_from(["BTC", "ethbtc", "ETHBTC,BTCUSD", "true", "False", "7001", "7001,7002", "spot", "margin"]),
)
PAIRS = [(operation, param) for operation in catalogue.OPERATIONS for param in operation.params]


@pytest.mark.timeout(3_600)
@given(
    pair=st.sampled_from(PAIRS),
    text=st.one_of(numbers, instants, words),
    in_query=st.booleans(),
)
@settings(
    max_examples=6 * settings.default.max_examples,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_whatever_comes_is_answered_as_documented(
    prepared: Prepared, pair: tuple[Operation, Param], text: str, in_query: bool
) -> None:
    operation, param = pair
    in_query = in_query and operation.method in ("PUT", "PATCH", "DELETE")
    answer = prepared.ask(operation, prepared.good(operation, param.name) | {param.name: text}, in_query=in_query)
    must_be_documented(answer, operation, (operation.name, param.name, text))
    if text and is_ruled_out(param, text):
        assert answer.status == 400, (operation.name, param.name, text, answer)
    if answer.status == 200 and operation.method != "GET":
        assert prepared.box.control("ledger")["balanced"] is True
        prepared.renew()
    else:
        assert prepared.box.control("state") == prepared.before[1]
    if answer.status == 400:
        assert prepared.box.control("ledger") == prepared.before[0]


def is_ruled_out(param: Param, text: str) -> bool:
    """Whether the row does not take the text."""
    try:
        from_text(param, text)
    except BadArgument:
        return True
    return False


def test_after_all_of_it_the_sandbox_is_as_it_was(prepared: Prepared) -> None:
    prepared.must_be_unchanged()
