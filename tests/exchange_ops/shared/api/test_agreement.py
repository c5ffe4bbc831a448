"""The description of the interface and what it does agree: what breaks it gets 400, what keeps it is looked at."""

import json
import random
import re
import uuid

import jsonschema
import pytest

from desk import clock
from exchange_ops.withdrawals.models import Withdrawal
from tests.cases import in_turn
from tests.chaindata.views import rows as chain_rows
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]

SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
BODIES = {
    "/api/v1/withdrawals/": {
        "currency": "BCH",
        "amount": "1.25",
        "address": rows.ADDRESS,
        "reason": "Invoice 2041",
        "request_key": "key-of-the-test",
    },
    "/api/v1/transfers/": {
        "kind": "bank_to_trading",
        "currency": "BCH",
        "amount": "1.25",
        "reason": "Margin",
        "request_key": "key-of-the-test",
    },
    "/api/v1/orders/": {
        "symbol": "BCHUSD",
        "side": "buy",
        "quantity": "1",
        "price": "2",
        "request_key": "key-of-the-test",
    },
    "/api/v1/margin/actions/": {
        "action": "open",
        "symbol": "BCHUSD",
        "amount": "1",
        "request_key": "key-of-the-test",
    },
    "/api/v1/deposit-addresses/": {"currency": "BCH", "request_key": "key-of-the-test"},
    "/api/v1/chain/watched/": {"address": rows.ADDRESS, "title": "Vault", "purpose": "reserve", "note": "Floor 2"},
}
VALUES = [
    *(None, True, False, 0, 1, -1, 7.0, 1.5, 10**30, [], ["1"], {}, {"a": 1}),
    *("", " ", "\t\n", "\u00a0", "\u0085", "\ufeff", "\0", "a\0b", "é", "٣", "x" * 8, "x" * 81, "x" * 401, "x" * 501),
    *("BCH", " BCH", "BCH ", "bch", " " * 20 + "BCH", "short", "        ", "a" + " " * 9, "1.25 ", " 1", "\n1", "1\n"),
    *("0", "0.0", "00", "01", "1", "1.", ".5", "+1", "-1", "1e3", "1,5", "1_0", "NaN", "1" * 36, "1" * 37),
    *(
        "1." + "1" * 24,
        "1." + "1" * 25,
        "0." + "0" * 23 + "1",
        "buy",
        "BUY",
        "to_user",
        "limit",
        "GTC",
        "email",
        "true",
    ),
    *("2026-11-30T18:00:00Z", "2026-11-30 18:00", "2026-11-30", "2026-13-30T18:00:00Z", "2026-11-30T24:00:00Z"),
    *("2026-11-30T18:00:00+00:00", "2026-11-30T18:00:00.5Z", "20261130T180000Z"),
]
# One of each type and of each way to be empty, tried in every run on every member; the others have their turn.
ALWAYS = {repr(value) for value in (None, True, 0, -1, 1.5, [], {}, "", " ", "\0", "1", "0", "x" * 501)}


def is_tried_always(value):
    return repr(value) in ALWAYS


def checker(description, path):
    shape = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    whole = {**_plain(shape), "components": _plain(description["components"])}
    return jsonschema.Draft202012Validator(whole, format_checker=None)


def _plain(shape):
    """OpenAPI 3.0 says nullable where JSON Schema lists null, and has enumerations beside it."""
    if isinstance(shape, list):
        return [_plain(each) for each in shape]
    if not isinstance(shape, dict):
        return shape
    made = {name: _plain(value) for name, value in shape.items() if name not in {"nullable", "example", "default"}}
    if isinstance(
        made.get("pattern"), str
    ):  # a dollar is the very end there, and may stand before a last line's end here
        made["pattern"] = re.sub(r"\$$", r"\\Z", made["pattern"])
    return {"anyOf": [made, {"type": "null"}]} if shape.get("nullable") is True else made


def send(client, path, content):
    """With a key in the header where the body has none."""
    is_keyed = not isinstance(content, dict) or "request_key" in content
    headers = {} if is_keyed else {"HTTP_IDEMPOTENCY_KEY": str(uuid.uuid4())}
    return client.post(path, json.dumps(content), content_type="application/json", **headers)


def differences(description, client, path, bodies):
    keeps, found = checker(description, path), []
    for body in bodies:
        answer = send(client, path, body)
        assert answer.status_code < 500, (body, answer.content)
        if keeps.is_valid(body) != (answer.status_code != 400):
            odd = {n: v for n, v in body.items() if BODIES[path].get(n) != v} if isinstance(body, dict) else body
            found.append((odd, answer.status_code, answer.json().get("errors")))
    return found


def members_of(description, path):
    shape = description["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
    return description["components"]["schemas"][shape["$ref"].rpartition("/")[2]]["properties"]


@pytest.fixture
def whoever_may(described, with_token, treasury):
    """`whoever_may(path)`: a client of somebody who may send what this address takes."""
    chain_rows.tip(20, at=clock.now())
    keeper = with_token(treasury)
    return lambda path: keeper if "/chain/" in path else described[1]


@pytest.mark.every(3, "every member with every kind of value")
@pytest.mark.parametrize("path", BODIES)
def test_each_value_of_each_member_is_taken_or_refused_as_described(described, whoever_may, path):
    description, client = described[0], whoever_may(path)
    bodies = [
        {**BODIES[path], name: value}
        for name in members_of(description, path)
        for value in in_turn(VALUES, always=is_tried_always, loop=f"{path} {name}")
    ]
    found = differences(description, client, path, bodies)
    assert not found, "\n".join(map(repr, found))


@pytest.mark.parametrize("path", BODIES)
def test_members_that_are_missing_or_not_known(described, whoever_may, path):
    description, client = described[0], whoever_may(path)
    whole = BODIES[path]
    bodies = [{name: value for name, value in whole.items() if name != left} for left in whole]
    bodies += [{**whole, name: 1} for name in ("autoCommit", "state", "", "id", "\0")]
    bodies += [[], None, 1, "text", [whole], {}]
    found = differences(description, client, path, bodies)
    assert not found, "\n".join(map(repr, found))
    refused = send(client, path, {**whole, "autoCommit": True})
    assert refused.json()["errors"] == {"autoCommit": "Unknown field."}


@pytest.mark.parametrize("path", BODIES)
def test_many_members_at_once(described, whoever_may, path):
    description, client = described[0], whoever_may(path)
    dice = random.Random(11)
    names = list(members_of(description, path))
    bodies = []
    for _ in range(150):
        changed = {name: dice.choice(VALUES) for name in dice.sample(names, dice.randint(1, min(3, len(names))))}
        key = {"request_key": str(uuid.UUID(int=dice.getrandbits(128)))} if "request_key" in names else {}
        bodies.append({**BODIES[path], **key, **changed})
    found = differences(description, client, path, in_turn(bodies, loop=path))
    assert not found, "\n".join(map(repr, found))


def test_why_a_transfer_is_taken_back_has_one_member(described, operator):

    _, client = described
    row = rows.transfer(operator, kind="to_user", now=clock.now())
    path = f"/api/v1/transfers/{row.pk}/cancel/"
    for body in ({"reason": "x", "force": True}, {"reason": " "}, {"reason": "a\0"}, {"reason": 7}, {}, []):
        assert send(client, path, body).status_code == 400, body


QUERIES = ["", "abc", "0", "1", "-1", "1.5", "9223372036854775807", "9223372036854775808", "1" * 30, "٣", " 1", "+1"]
QUERIES += [
    "open",
    "ended",
    "all",
    "buy",
    "BUY",
    "BCH",
    "x" * 500,
    "a\0b",
    "true",
    "D1",
    "M1",
    "null",
    "2026-11-30T18:00:00Z",
]


def unread(path):
    """What nobody has read of the chain yet has no shape but null."""
    return "/chain/" in path and "/watched/" not in path


def keeps_query(shape, text):
    if shape["type"] == "integer":
        inside = re.fullmatch("[0-9]+|-[0-9]+", text) is not None
        return inside and shape.get("minimum", int(text)) <= int(text) <= shape.get("maximum", int(text))
    if shape.get("format") == "date-time":
        return None
    return jsonschema.Draft202012Validator(shape).is_valid(text)


def test_each_value_of_each_query_parameter_is_taken_or_refused_as_described(described):
    description, client = described
    found, seen = [], set()
    for path, methods in description["paths"].items():
        if "get" not in methods or "{" in path or unread(path) or "schema" in path:
            continue
        for parameter in methods["get"].get("parameters", []):
            if parameter["in"] != "query":
                continue
            seen.add((path, parameter["name"]))
            for text in in_turn(QUERIES, always={"", "abc", "1", "-1"}.__contains__, loop=str(len(seen))):
                answer = client.get(path, {parameter["name"]: text})
                assert answer.status_code < 500, (path, parameter["name"], text)
                keeps = keeps_query(parameter["schema"], text)
                empty = text == "" and parameter["schema"]["type"] == "integer" and answer.status_code == 200
                if keeps is not None and keeps != (answer.status_code != 400) and not empty:
                    found.append((path, parameter["name"], text, answer.status_code))
    assert not found, "\n".join(map(repr, found))
    assert len(seen) > 40


def test_every_answer_has_the_shape_that_is_described(described, one_of_everything):
    """Each list and each row, in states with members that are empty, absent or set."""
    description, client = described
    described_names, numbers = set(), dict(one_of_everything)
    for path, facts in description["paths"].items():
        if "get" not in facts or set(re.findall(r"{(\w+)}", path)) - numbers.keys() or unread(path):
            continue
        paths = [path.format(**numbers)]
        if path.endswith("/{withdrawal_id}/"):
            paths = [path.format(withdrawal_id=pk) for pk in Withdrawal.objects.values_list("pk", flat=True)]
        for place in paths:
            answer = client.get(place)
            assert str(answer.status_code) in facts["get"]["responses"], (place, answer.status_code)
            if answer.status_code == 200:
                keeps(description, facts["get"]["responses"]["200"], answer.json(), place)
                described_names.add(path)
    assert len(described_names) > 15, described_names


def keeps(description, response, content, place):
    whole = {
        **_plain(response["content"]["application/json"]["schema"]),
        "components": _plain(description["components"]),
    }
    problems = [(each.json_path, each.message) for each in jsonschema.Draft202012Validator(whole).iter_errors(content)]
    assert not problems, (place, problems)


def test_a_place_in_any_list_is_taken_or_refused_as_described(described, one_of_everything):
    """Those too whose address names a row, which the test of the filters leaves out."""
    description, client = described
    lists = [
        path.format(**one_of_everything)
        for path, facts in description["paths"].items()
        for parameter in facts.get("get", {}).get("parameters", ())
        if parameter["name"] == "before" and parameter["schema"]["type"] == "integer"
    ]
    assert "/api/v1/subaccounts/7001/actions/" in lists
    for path in lists:
        taken = [client.get(path, {"before": text}).status_code for text in ("0", "1", str(2**63 - 1))]
        refused = [client.get(path, {"before": text}).status_code for text in ("-1", "1.5", "abc", str(2**63))]
        assert (taken, refused) == ([200] * 3, [400] * 4), path


def test_every_word_that_a_filter_is_described_to_take_is_taken(described):
    description, client = described
    words = [
        (path, parameter["name"], word)
        for path, facts in description["paths"].items()
        for parameter in facts.get("get", {}).get("parameters", ())
        for word in parameter["schema"].get("enum", ())
        if parameter["in"] == "query" and "{" not in path
    ]
    assert ("/api/v1/withdrawals/", "state", "rejected") in words, "how it ended is a group of the form, no word itself"
    assert not [case for case in words if client.get(case[0], {case[1]: case[2]}).status_code != 200]


def test_other_kinds_of_content_are_refused(described):
    _, client = described
    for kind in (
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/xml",
        "multipart/form-data; boundary=x",
    ):
        answer = client.post("/api/v1/withdrawals/", json.dumps(BODIES["/api/v1/withdrawals/"]), content_type=kind)
        assert answer.status_code == 415, kind
    for text in ("", "{", "NaN", '{"amount": Infinity}', '{"reason": "\\ud800"}', "[" * 2_000):
        answer = client.post("/api/v1/withdrawals/", text, content_type="application/json")
        assert answer.status_code == 400, text


@pytest.mark.parametrize("number", ["0", "-1", "1.0", "abc", "9" * 40, "1%00", "%2e%2e", "1/../2"])
def test_a_number_in_a_path_that_is_none_of_ours(described, number):
    _, client = described
    for kind in ("withdrawals", "transfers", "orders"):
        assert client.get(f"/api/v1/{kind}/{number}/").status_code == 404
