"""Bodies of JSON, optional last parts of a path, and the spellings that only a server takes."""

from decimal import Decimal

import pytest

from wire.operation import BadArgument, Body, Kind, Operation, Param, Place, Problem, bind, read


def listing(**more):
    return Operation(
        "get_blocks",
        "POST",
        "/v2/block/detailsByHash",
        (Param("hashes", Kind.TEXTS, Place.FORM, required=True, most=3), *more.pop("params", ())),
        body=Body.OBJECT,
        is_read=True,
        **more,
    )


def test_members_are_written_in_json_by_their_kinds():
    operation = listing(
        params=(
            Param("verbose", Kind.BOOLEAN, Place.FORM),
            Param("heights", Kind.INTEGERS, Place.FORM),
            Param("amount", Kind.DECIMAL, Place.FORM),
            Param("page", Kind.INTEGER, Place.FORM),
        )
    )
    arguments = {"hashes": ["aa", "bb"], "verbose": True, "heights": [0, 7], "amount": Decimal("100.50"), "page": 2}
    request = bind(operation, arguments)
    assert request.body == b'{"hashes":["aa","bb"],"verbose":true,"heights":[0,7],"amount":"100.50","page":2}'
    assert request.content_type == "application/json"
    assert operation.reads
    assert read(operation, {}, (), dict(request.members).items()) == arguments


def test_an_array_may_be_the_whole_body():
    operation = Operation(
        "get_balances",
        "POST",
        "/v2/slp/balance",
        (Param("pairs", Kind.OBJECTS, Place.FORM, required=True, choices=("tokenId", "address")),),
        body=Body.ARRAY,
    )
    request = bind(operation, {"pairs": [{"address": "simpleledger:q", "tokenId": "ab"}]})
    assert request.body == b'[{"tokenId":"ab","address":"simpleledger:q"}]'
    assert read(operation, {}, (), request.members) == {"pairs": [{"tokenId": "ab", "address": "simpleledger:q"}]}
    for pairs in ([{"tokenId": "ab"}], ["ab"], [{"tokenId": "ab", "address": 1, "more": 2}], [{"a": 1, "b": 2}]):
        with pytest.raises(BadArgument):
            bind(operation, {"pairs": pairs})


def test_an_empty_array_is_an_array():
    assert bind(listing(), {"hashes": []}).body == b'{"hashes":[]}'
    assert read(listing(), {}, (), [("hashes", [])]) == {"hashes": []}


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("aa", Problem.MALFORMED),  # what `hashes=aa` of a form becomes
        ({"0": "aa"}, Problem.MALFORMED),
        (["aa", None], Problem.MALFORMED),
        (["aa", ""], Problem.EMPTY),
        (["aa", ["bb"]], Problem.MALFORMED),
        (["aa\x00"], Problem.MALFORMED),
        (["a"] * 4, Problem.TOO_MANY),
        (["a" * 1001], Problem.TOO_LONG),
        (None, Problem.MISSING),
    ],
)
def test_what_is_no_array_of_texts_is_refused(value, problem):
    with pytest.raises(BadArgument) as refused:
        read(listing(), {}, (), [("hashes", value)])
    assert refused.value.problem is problem
    if value is not None and not isinstance(value, dict):
        with pytest.raises(BadArgument):
            bind(listing(), {"hashes": value})


def test_the_optional_last_part_of_a_path_is_left_out():
    params = (Param("account", Kind.TEXT, Place.PATH, required=True), Param("collision", Kind.TEXT, Place.PATH))
    operation = Operation("look_up", "GET", "/v2/lookup/{account}/{collision}", params, other_paths=("/v2/Lookup",))
    assert bind(operation, {"account": "Jonathan"}).path == "/v2/lookup/Jonathan"
    assert bind(operation, {"account": "Jonathan", "collision": "58"}).path == "/v2/lookup/Jonathan/58"
    assert operation.every_path == ("/v2/lookup/{account}/{collision}", "/v2/lookup/{account}", "/v2/Lookup")
    assert read(operation, {"account": "Jonathan"}) == {"account": "Jonathan"}


def test_other_names_are_read_and_never_sent():
    mempool = Param("mempool", Kind.BOOLEAN, Place.QUERY, default=True, other_names=("include_mempool",))
    operation = Operation("get_tx_out", "GET", "/v2/x", (mempool,))
    assert bind(operation, {"mempool": False}).query == (("mempool", "false"),)
    assert read(operation, {}, [("include_mempool", "false")]) == {"mempool": False}
    assert read(operation, {}, []) == {"mempool": True}
    with pytest.raises(BadArgument):
        bind(operation, {"include_mempool": False})


def test_a_sensitive_member_is_not_shown():
    secret = Param("wif", Kind.TEXT, Place.FORM, sensitive=True)
    request = bind(listing(params=(secret,)), {"hashes": ["aa"], "wif": "KxSecret"})
    assert "KxSecret" not in repr(request)
    assert "aa" in repr(request)
    assert request.hidden == ("KxSecret",)
