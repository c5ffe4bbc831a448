"""Transfers for programs: asked for, read and taken back, in exact figures, and never approved."""

import json
import uuid

import pytest
from django.urls import get_resolver

from desk import clock
from exchange_ops.market.models import Currency
from exchange_ops.transfers.models import Transfer
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
PATH = "/api/v1/transfers/"


@pytest.fixture(autouse=True)
def movable(payable):
    Currency.objects.update(transfer_enabled=True)


def body(**changes):
    fields = {
        "kind": "bank_to_trading",
        "currency": "BCH",
        "amount": "1.250000000000000000",
        "reason": "Margin for the week",
        "request_key": str(uuid.uuid4()),
    }
    return {name: value for name, value in {**fields, **changes}.items() if value is not ...}


def to_user(**changes):
    return body(kind="to_user", by="username", identifier="other", **changes)


def send(client, content, path=PATH):
    return client.post(path, json.dumps(content), content_type="application/json")


def test_a_transfer_is_recorded_once_and_nothing_is_lost_of_its_amount(with_token, operator):
    client, fields = with_token(operator), body(amount="1.00000001")
    first, second = send(client, fields), send(client, fields)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert Transfer.objects.count() == 1
    answer = first.json()
    assert (answer["amount"], answer["state"], answer["initiated_via"]) == ("1.00000001", "approved", "api")
    assert (answer["turn"], answer["exchange_id"], answer["reissues"]) == ("worker", None, None)
    assert answer["sentence"].startswith("Nothing has been sent yet.")


def test_what_leaves_for_others_waits_for_people(with_token, operator):
    answer = send(with_token(operator), to_user()).json()
    assert (answer["state"], answer["turn"], answer["quorum_required"]) == ("review", "person", 1)
    assert (answer["by"], answer["identifier"]) == ("username", "other")


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"kind": ...}, "kind", "required"),
        ({"kind": "elsewhere"}, "kind", "not a valid choice"),
        ({"kind": None}, "kind", "null"),
        ({"amount": 1.25}, "amount", "Send the amount as a string"),
        ({"amount": "1e3"}, "amount", "digits"),
        ({"amount": "0"}, "amount", "greater than zero"),
        ({"amount": "-1"}, "amount", "greater than zero"),
        ({"amount": ...}, "amount", "required"),
        ({"currency": 5}, "currency", "Must be a string."),
        ({"currency": "x" * 21}, "currency", "20"),
        ({"reason": ""}, "reason", "blank"),
        ({"reason": "x" * 501}, "reason", "500"),
        ({"request_key": "short"}, "request_key", "8"),
        *(
            ({"subaccount_id": odd}, "subaccount_id", "as a string of digits")
            for odd in (7001, True, "0", "-1", "\u0667", "7001 ", "7001\n", str(2**63))
        ),
        ({"by": "phone"}, "by", "not a valid choice"),
        ({"identifier": ["other"]}, "identifier", "Must be a string."),
        ({"state": "approved"}, "state", "Unknown field"),
        ({"toCurrency": "USD"}, "toCurrency", "Unknown field"),
    ],
)
def test_a_malformed_one_is_refused_member_by_member(with_token, operator, changes, name, words):
    response = send(with_token(operator), body(**changes))
    assert response.status_code == 400
    error = response.json()
    assert words in error["errors"][name]
    assert error["detail"].startswith("Nothing was recorded")
    assert not Transfer.objects.exists()


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"currency": "NOPE"}, "currency", "not listed"),
        ({"amount": "100000"}, "amount", "were available"),
        ({"kind": "to_user"}, "by", "e-mail address or username"),
        ({"kind": "to_user", "by": "email", "identifier": "nobody"}, "identifier", "valid e-mail"),
        ({"kind": "convert"}, "to_currency", "Choose"),
        ({"kind": "to_subaccount"}, "subaccount_id", "Choose"),
        ({"kind": "to_subaccount", "subaccount_id": "7001"}, "subaccount_id", "no sub-account 7001"),
    ],
)
def test_what_the_domain_refuses_keeps_the_same_shape(with_token, operator, changes, name, words):
    response = send(with_token(operator), body(**changes))
    assert response.status_code == 422
    error = response.json()
    assert words in error["errors"][name]
    assert "Nothing was recorded or sent" in error["detail"]
    assert not Transfer.objects.exists()


@pytest.mark.parametrize("text", ["", "[]", "null", "1", '"x"', "{", '{"amount": NaN}', "\0", "[" * 5000])
def test_a_body_that_is_no_object_is_refused(with_token, operator, text):
    response = with_token(operator).post(PATH, text, content_type="application/json")
    assert response.status_code == 400
    assert not Transfer.objects.exists()


def test_a_used_key_with_other_content_is_refused(with_token, operator):
    client, fields = with_token(operator), body()
    send(client, fields)
    response = send(client, {**fields, "amount": "2"})
    assert response.status_code == 422
    assert "already submitted with different content" in response.json()["detail"]
    assert Transfer.objects.count() == 1


def test_it_is_taken_back_by_whoever_asked_and_only_before_it_is_sent(with_token, operator, make_person):
    client = with_token(operator)
    number = send(client, to_user()).json()["id"]
    cancel = f"{PATH}{number}/cancel/"
    assert send(client, {}, cancel).status_code == 400
    other = with_token(make_person("operator", username="operator2"))
    refused = send(other, {"reason": "Mine"}, cancel)
    assert refused.status_code == 422
    assert refused.json()["detail"].startswith("No changes made.")
    assert send(client, {"reason": "Twice"}, cancel).json()["state"] == "cancelled"
    again = send(client, {"reason": "Twice"}, cancel)
    assert again.status_code == 422
    assert "can no longer be withdrawn" in again.json()["detail"]
    assert send(client, {"reason": "None"}, f"{PATH}0/cancel/").status_code == 404


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor"])
def test_everybody_reads_and_only_operators_ask(with_token, operator, make_person, role):
    number = send(with_token(operator), body()).json()["id"]
    client = with_token(make_person(role))
    assert client.get(f"{PATH}{number}/").json()["reference"] == f"T-{number}"
    assert [item["id"] for item in client.get(PATH).json()["items"]] == [number]
    for path, content in ((PATH, body()), (f"{PATH}{number}/cancel/", {"reason": "No"})):
        response = send(client, content, path)
        assert response.status_code == 403
        assert response.json()["detail"] == "Transfer not requested: only operators can request transfers."
    assert Transfer.objects.get().state == "approved"


def test_the_list_is_narrowed_and_goes_page_by_page(with_token, operator, django_assert_max_num_queries):
    client = with_token(operator)
    for number in range(52):
        send(client, body(amount=f"0.{number + 1:03}"))
    send(client, to_user())
    page = client.get(PATH).json()
    assert len(page["items"]) == 50
    older = client.get(page["older"]).json()
    assert (len(older["items"]), older["older"]) == (3, None)
    assert [item["kind"] for item in client.get(f"{PATH}?kind=to_user").json()["items"]] == ["to_user"]
    assert client.get(f"{PATH}?currency=NOPE").json()["items"] == []
    with django_assert_max_num_queries(12):
        client.get(PATH)


def test_nothing_here_approves_and_none_reads_without_signing_in(client, with_token, treasury, operator):
    number = send(with_token(operator), to_user()).json()["id"]
    names = {pattern.name for pattern in get_resolver("exchange_ops.api_urls").url_patterns}
    assert {name for name in names if "transfer" in name} == {"api-transfers", "api-transfer", "api-transfer-cancel"}
    for method in ("put", "patch", "delete", "post"):
        assert getattr(with_token(treasury), method)(f"{PATH}{number}/").status_code == 405
    assert client.get(PATH).status_code == 401
    assert Transfer.objects.get().state == "review"


def test_the_ledger_says_which_transfer_a_line_belongs_to(with_token, operator):
    row = Transfer.objects.get(pk=send(with_token(operator), body()).json()["id"])
    rows.entry(5, now=clock.now(), transfer=row)
    line = with_token(operator).get("/api/v1/ledger/").json()["items"][0]
    assert (line["transfer"], line["withdrawal"]) == (row.pk, None)
