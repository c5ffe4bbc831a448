"""The contract of payload creation, written from the documents alone: literal addresses, members, bytes and texts.

`--target URL` asks another server; properties are looked up on its chain by how many places they have.
"""

from typing import Any

import pytest

from tests.sandbox.chain.conftest import ChainService

BASE = "/v2/payloadCreation/"
TEXTS = {
    "category": "company",
    "subcategory": "compute",
    "name": "luzhiyao",
    "url": "www.ludete.com",
    "data": "hello world",
}
STRINGS = "636f6d70616e7900636f6d70757465006c757a686979616f007777772e6c75646574652e636f6d0068656c6c6f20776f726c6400"
HEAD = {"ecosystem": "1", "propertyPrecision": 3, "previousId": 0, **TEXTS}
SALE = {
    "propertyIdDesired": 1,
    "tokensPerUnit": "1002",
    "deadline": 1536565622,
    "earlyBonus": 1,
    "totalNumber": "21231242131",
}
FIXED = HEAD | {"amount": "10082936279.232"}
FROZEN = "bchtest:qr46wzv0cuma6gskh6swxlpvqdcdrjnzjggqt4exvp"
FROZEN_HEX = FROZEN.encode().hex() + "00"
LONG = "x" * 256


@pytest.fixture(scope="module")
def of_places(service: ChainService) -> dict[int, int]:
    """A property of the chain by the number of its places."""
    listed = service.good("/v2/dataRetrieval/properties")
    return {each["precision"]: each["propertyid"] for each in reversed(listed)}


@pytest.fixture
def three(of_places: dict[int, int], service: ChainService) -> int:
    """A property with three places."""
    if 3 not in of_places and service.box is None:
        pytest.skip("the chain has no property with three places")
    return of_places[3]


# The worked examples -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "body", "expected"),
    [
        ("simpleSend", {"propertyId": 1, "amount": "10"}, "0000000000000001000000003b9aca00"),
        ("sendAll", {"ecosystem": 1}, "0000000401"),
        ("participateCrowdSale", {"amount": "100"}, "000000010000000100000002540be400"),
        ("changeIssuer", {"propertyId": 115}, "0000004600000073"),
        ("closeCrowdSale", {"propertyId": 11}, "000000350000000b"),
        ("managed", HEAD, f"0000003601000300000000{STRINGS}"),
        ("fixed", FIXED, f"0000003201000300000000{STRINGS}0000092b9dd5d0c0"),
        (
            "crowdsale",
            HEAD | SALE,
            f"0000003301000300000000{STRINGS}00000001000000175462aa00000000005b96217601000000134f48a53638",
        ),
    ],
)
def test_the_worked_examples(service: ChainService, name: str, body: dict[str, Any], expected: str) -> None:
    assert service.good(BASE + name, body) == expected
    form = service.ask("POST", BASE + name, data=body)
    assert (form.status_code, form.json()) == (200, expected)


def test_a_burn_says_nothing(service: ChainService) -> None:
    assert service.good(BASE + "burnBCH") == "00000044"


def test_amounts_have_the_places_of_their_property_on_the_chain(service: ChainService, three: int) -> None:
    property_id = f"{three:08x}"
    for name, body, expected in (
        ("simpleSend", {"amount": "100"}, f"00000000{property_id}00000000000186a0"),
        ("STO", {"amount": "1000", "distributionProperty": 1}, f"00000003{property_id}00000000000f424000000001"),
        ("grant", {"amount": "1242"}, f"00000037{property_id}000000000012f39000"),
        ("revoke", {"amount": "100"}, f"00000038{property_id}00000000000186a000"),
        (
            "grant",
            {"amount": "1", "memo": "First Milestone Reached!"},
            f"00000037{property_id}00000000000003e84669727374204d696c6573746f6e6520526561636865642100",
        ),
        ("freeze", {"toAddress": FROZEN}, f"000000b9{property_id}00000000000186a0{FROZEN_HEX}"),
        ("unfreeze", {"toAddress": FROZEN}, f"000000ba{property_id}00000000000186a0{FROZEN_HEX}"),
        ("freeze", {"toAddress": FROZEN.partition(":")[2]}, f"000000b9{property_id}00000000000186a0{FROZEN_HEX}"),
    ):
        assert service.good(BASE + name, {"propertyId": three, **body}) == expected


def test_a_property_of_no_places_cuts_at_the_point(service: ChainService, of_places: dict[int, int]) -> None:
    if 0 not in of_places and service.box is None:
        pytest.skip("the chain has no property without places")
    property_id = of_places[0]
    for amount in ("7", "7.9", "7.", "007"):
        made = service.good(BASE + "simpleSend", {"propertyId": property_id, "amount": amount})
        assert made == f"00000000{property_id:08x}0000000000000007"


def test_an_address_keeps_the_prefix_it_came_with(service: ChainService, three: int) -> None:
    spelled = "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78"
    made = service.good(BASE + "freeze", {"toAddress": spelled, "propertyId": three})
    assert bytes.fromhex(made)[16:] == spelled.encode() + b"\x00"


# The server's checks -------------------------------------------------------------------------------------------------

WHOLE = {
    "changeIssuer": {"propertyId": 1},
    "closeCrowdSale": {"propertyId": 1},
    "grant": {"propertyId": 1, "amount": "1"},
    "crowdsale": HEAD | SALE,
    "fixed": FIXED,
    "managed": HEAD,
    "participateCrowdSale": {"amount": "1"},
    "revoke": {"propertyId": 1, "amount": "1"},
    "sendAll": {"ecosystem": 1},
    "simpleSend": {"propertyId": 1, "amount": "1"},
    "STO": {"propertyId": 1, "amount": "1", "distributionProperty": 1},
    "freeze": {"toAddress": FROZEN, "propertyId": 1},
    "unfreeze": {"toAddress": FROZEN, "propertyId": 1},
}


@pytest.mark.parametrize("name", WHOLE)
def test_members_are_asked_for_in_their_documented_order(service: ChainService, name: str) -> None:
    whole = WHOLE[name]
    payload: dict[str, Any] = {}
    for member, value in whole.items():
        assert service.refused(BASE + name, payload) == (400, f"{member} can not be empty")
        for nothing in ("", None, False):
            assert service.refused(BASE + name, payload | {member: nothing}) == (400, f"{member} can not be empty")
        payload[member] = value
    assert isinstance(service.good(BASE + name, payload), str)
    # All at once, wrong in every member: the missing one is named before any value is judged.
    last = list(whole)[-1]
    odd = dict.fromkeys(whole, "-") | {last: ""}
    assert service.refused(BASE + name, odd) == (400, f"{last} can not be empty")


@pytest.mark.parametrize("name", WHOLE)
def test_the_number_nought_is_nothing_but_where_it_must_be_something(service: ChainService, name: str) -> None:
    for member in WHOLE[name]:
        answer = service.post(BASE + name, WHOLE[name] | {member: 0})
        if member == "previousId" or (member, name) == ("propertyPrecision", "crowdsale"):
            assert answer.status_code == 200
        else:
            assert (answer.status_code, answer.json()) == (400, {"error": f"{member} can not be empty"})


def test_nought_as_a_text_is_something(service: ChainService) -> None:
    made = service.good(BASE + "managed", HEAD | {"propertyPrecision": "0"})
    assert made == f"0000003601000000000000{STRINGS}"
    assert service.good(BASE + "crowdsale", HEAD | SALE | {"propertyPrecision": 0, "earlyBonus": "0"}).startswith(
        "000000330100000000000063"
    )
    assert service.refused(BASE + "simpleSend", {"propertyId": 1, "amount": "0"}) == (400, "Invalid amount")


def test_numbers_are_read_as_far_as_they_go(service: ChainService) -> None:
    for number in (11, "11", " 11 ", "11abc", "11.9", 11.9, "0xb", "+11"):
        assert service.good(BASE + "closeCrowdSale", {"propertyId": number}) == "000000350000000b"
    for number in ("abc", "-", ".5", True, [], {}, [11], {"a": 1}):
        refused = service.refused(BASE + "closeCrowdSale", {"propertyId": number})
        assert refused == (400, "JSON value is not an integer as expected")


# The node's refusals -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "changed", "said"),
    [
        ("fixed", {"ecosystem": "3"}, "Invalid ecosystem (1 = main, 2 = test only)"),
        ("managed", {"ecosystem": -1}, "Invalid ecosystem (1 = main, 2 = test only)"),
        ("fixed", {"ecosystem": "2"}, "property ecosystem must be 1"),
        ("crowdsale", {"ecosystem": 2}, "property ecosystem must be 1"),
        ("sendAll", {"ecosystem": 2}, "property ecosystem must be 1"),
        ("sendAll", {"ecosystem": 9}, "Invalid ecosystem (1 = main, 2 = test only)"),
        ("fixed", {"propertyPrecision": 9}, "Invalid property type, type range must be [0, 8]"),
        ("managed", {"propertyPrecision": -1}, "Invalid property type, type range must be [0, 8]"),
        ("crowdsale", {"propertyPrecision": "70000"}, "Invalid property type, type range must be [0, 8]"),
        ("managed", {"previousId": -1}, "Property identifier is out of range"),
        ("managed", {"previousId": 2**32}, "Property identifier is out of range"),
        ("fixed", {"category": LONG}, "Text must not be longer than 255 characters"),
        ("managed", {"subcategory": LONG}, "Text must not be longer than 255 characters"),
        ("crowdsale", {"name": LONG}, "Text must not be longer than 255 characters"),
        ("fixed", {"url": LONG}, "Text must not be longer than 255 characters"),
        ("fixed", {"data": "é" * 128}, "Text must not be longer than 255 characters"),
        ("fixed", {"data": "a\x00b"}, "Text must not be longer than 255 characters"),
        ("fixed", {"amount": "1.2345"}, "Invalid amount"),
        ("fixed", {"amount": "1.2.3"}, "Invalid amount"),
        ("fixed", {"amount": "-1"}, "Invalid amount"),
        ("fixed", {"amount": "1-"}, "Invalid amount"),
        ("fixed", {"amount": "1e3"}, "Invalid amount"),
        ("fixed", {"amount": "0"}, "Invalid amount"),
        ("fixed", {"amount": "0.000"}, "Invalid amount"),
        ("fixed", {"amount": "9223372036854775.808"}, "Invalid amount"),
        ("fixed", {"amount": "9" * 5_000}, "Invalid amount"),
        ("crowdsale", {"propertyIdDesired": 3}, "Property ID only support WHC"),
        ("crowdsale", {"tokensPerUnit": "100000000.00000001"}, "token price must be [1 * 10^-8, 1* 10^8]"),
        ("crowdsale", {"tokensPerUnit": "x"}, "Invalid amount"),
        ("crowdsale", {"earlyBonus": 256}, "Early bird bonus must be in the range of 0-255 percent per week"),
        ("crowdsale", {"earlyBonus": -1}, "Early bird bonus must be in the range of 0-255 percent per week"),
        ("crowdsale", {"deadline": -1}, "Deadline must be positive"),
        ("crowdsale", {"deadline": "0"}, "Deadline must be positive"),
        ("crowdsale", {"totalNumber": "0.0001"}, "Invalid amount"),
        ("grant", {"memo": LONG}, "Text must not be longer than 255 characters"),
        ("revoke", {"memo": LONG}, "Text must not be longer than 255 characters"),
        ("simpleSend", {"propertyId": 2}, "Property identifier does not exist"),
        ("STO", {"propertyId": 4294967295}, "Property identifier does not exist"),
        ("grant", {"propertyId": 2}, "Property identifier does not exist"),
        ("freeze", {"propertyId": 2}, "Property identifier does not exist"),
        ("STO", {"distributionProperty": 2**32}, "Property identifier is out of range"),
        ("changeIssuer", {"propertyId": -1}, "Property identifier is out of range"),
        ("changeIssuer", {"propertyId": 10**30}, "JSON integer out of range"),
        ("changeIssuer", {"propertyId": 2**63}, "JSON integer out of range"),
        ("changeIssuer", {"propertyId": 2**63 - 1}, "Property identifier is out of range"),
        ("simpleSend", {"propertyId": "0"}, "Property identifier is out of range"),
        ("freeze", {"toAddress": "nobody"}, "Invalid BCH address. Double check your address is valid: nobody"),
        (
            "unfreeze",
            {"toAddress": FROZEN[:-1] + "q"},
            f"Invalid BCH address. Double check your address is valid: {FROZEN[:-1]}q",
        ),
        (
            "freeze",
            {"toAddress": "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"},
            "Invalid network. Trying to use a testnet address on mainnet, or vice versa.",
        ),
    ],
)
def test_what_a_node_does_not_take(service: ChainService, name: str, changed: dict[str, Any], said: str) -> None:
    assert service.refused(BASE + name, WHOLE[name] | changed) == (400, said)


@pytest.mark.parametrize("name", WHOLE)
def test_members_of_odd_types_are_refused(service: ChainService, name: str) -> None:
    for member in WHOLE[name]:
        for odd in ([], [1], {}, {"a": "b"}, True, [[[]]]):
            status, said = service.refused(BASE + name, WHOLE[name] | {member: odd})
            assert (status, bool(said)) == (400, True)


def test_bodies_that_are_no_object_have_no_members(service: ChainService) -> None:
    for body in ([], [{"propertyId": 1}], ["propertyId"]):
        assert service.refused(BASE + "changeIssuer", body) == (400, "propertyId can not be empty")
    bare = service.ask("POST", BASE + "changeIssuer")
    assert (bare.status_code, bare.json()) == (400, {"error": "propertyId can not be empty"})
    huge = service.ask(
        "POST", BASE + "changeIssuer", data=b'{"propertyId": 1e999999999}', headers={"Content-Type": "application/json"}
    )
    assert huge.status_code == 400


def test_amounts_may_be_numbers(service: ChainService) -> None:
    for amount in (10, 10.0, 1e1):
        assert service.good(BASE + "simpleSend", {"propertyId": 1, "amount": amount}) == (
            "0000000000000001000000003b9aca00"
        )


def test_the_longest_texts_fit(service: ChainService) -> None:
    made = bytes.fromhex(service.good(BASE + "managed", HEAD | {"data": "x" * 255}))
    assert made.endswith(b"x" * 255 + b"\x00")


def test_the_wrong_method_is_not_found(service: ChainService) -> None:
    assert service.get(BASE + "changeIssuer").status_code == 404
    assert service.post(BASE + "burnBCH", {}).status_code == 404
