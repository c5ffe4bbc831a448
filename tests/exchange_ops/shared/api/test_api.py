"""The interface for programs: exact figures out, drafts in, one shape for every refusal, and no way to approve."""

import json
import uuid
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import get_resolver
from drf_spectacular.generators import SchemaGenerator

from desk import clock
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
PATH = "/api/v1/withdrawals/"


def body(**changes):
    members = {
        "currency": "BCH",
        "amount": "1.250000000000000000",
        "address": rows.ADDRESS,
        "reason": "Invoice 2041",
        "request_key": str(uuid.uuid4()),
    }
    return {name: value for name, value in {**members, **changes}.items() if value is not ...}


def send(client, content, **headers):
    return client.post(PATH, json.dumps(content), content_type="application/json", **headers)


def test_a_draft_is_recorded_once_and_nothing_is_lost_of_its_amount(with_token, operator):
    client, request = with_token(operator), body(amount="1.00000001")
    first, second = send(client, request), send(client, request)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    assert Withdrawal.objects.count() == 1
    answer = first.json()
    assert (answer["amount"], answer["state"], answer["initiated_via"]) == ("1.00000001", "draft", "api")
    assert answer["sentence"].startswith("Nothing has been sent.")
    assert answer["fee"] is None


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"amount": 1.25}, "amount", "Send the amount as a string"),
        ({"amount": 1}, "amount", "Send the amount as a string"),
        ({"amount": None}, "amount", "null"),
        ({"amount": "1e3"}, "amount", "digits"),
        ({"amount": "-1"}, "amount", "greater than zero"),
        ({"amount": "٣"}, "amount", "digits 0 to 9"),
        ({"amount": ["1"]}, "amount", "Send the amount as a string"),
        ({"amount": ...}, "amount", "required"),
        ({"currency": ...}, "currency", "required"),
        ({"currency": 5}, "currency", "Must be a string."),
        ({"address": ...}, "address", "required"),
        ({"address": {"a": 1}}, "address", "Must be a string."),
        ({"reason": ""}, "reason", "blank"),
        ({"reason": "x" * 501}, "reason", "500"),
        ({"request_key": ...}, "Idempotency-Key", "Send a key"),
        ({"request_key": "short"}, "request_key", "8"),
        ({"include_fee": "true"}, "include_fee", "true or false"),
        ({"include_fee": 1}, "include_fee", "true or false"),
        ({"includeFee": True}, "includeFee", "Unknown field"),
        ({"autoCommit": True}, "autoCommit", "Unknown field"),
        ({"state": "committing"}, "state", "Unknown field"),
    ],
)
def test_a_malformed_draft_is_refused_member_by_member(with_token, operator, changes, name, words):
    response = send(with_token(operator), body(**changes))
    assert response.status_code == 400
    error = response.json()
    assert words in error["errors"][name]
    assert error["detail"].startswith("Nothing was recorded")
    assert not Withdrawal.objects.exists()


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"currency": "NOPE"}, "currency", "not listed on the exchange"),
        ({"amount": "1.123456789"}, "amount", "at most 8 decimals"),
        ({"amount": "100000"}, "amount", "were available"),
        ({"address": "nowhere"}, "address", ""),
        ({"payment_id": "1"}, "payment_id", "does not use payment IDs"),
    ],
)
def test_what_the_domain_refuses_keeps_the_same_shape(with_token, operator, changes, name, words):
    response = send(with_token(operator), body(**changes))
    assert response.status_code == 422
    error = response.json()
    assert words in error["errors"][name]
    assert error["status"] == 422
    assert "Nothing was recorded or sent" in error["detail"]


@pytest.mark.parametrize("text", ["", "[]", "null", "1", '"x"', "{", '{"amount": NaN}', "\0", "[" * 5000])
def test_a_body_that_is_no_object_is_refused(with_token, operator, text):
    response = with_token(operator).post(PATH, text, content_type="application/json")
    assert response.status_code == 400
    assert response.json()["status"] == 400
    assert not Withdrawal.objects.exists()


def test_a_used_key_with_other_content_is_refused(with_token, operator):
    client, request = with_token(operator), body()
    send(client, request)
    response = send(client, {**request, "amount": "2"})
    assert response.status_code == 422
    assert "already submitted with different content" in response.json()["detail"]
    assert Withdrawal.objects.count() == 1


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor"])
def test_only_operators_draft(with_token, make_person, role):
    response = send(with_token(make_person(role)), body())
    assert response.status_code == 403
    assert response.json()["detail"] == "Payout not requested: only operators can request payouts."


def test_a_bad_token_and_none_read_alike(client):
    for headers in ({}, {"HTTP_AUTHORIZATION": "Bearer nothing"}, {"HTTP_AUTHORIZATION": "Bearer " + "x" * 5000}):
        response = client.get(PATH, **headers)
        assert response.status_code == 401
        assert set(response.json()) == {"type", "title", "status", "detail", "errors"}


def test_nothing_of_this_interface_approves(with_token, treasury, operator):
    row, client = rows.held(operator, now=clock.now()), with_token(treasury)
    names = {pattern.name for pattern in get_resolver("exchange_ops.api_urls").url_patterns}
    assert {name for name in names if "withdrawal" in name} == {"api-withdrawals", "api-withdrawal"}
    for method in ("put", "patch", "delete", "post"):
        assert getattr(client, method)(f"{PATH}{row.pk}/").status_code == 405
    # A token opens no page and gives no challenge: those take a session.
    page = client.post(f"/withdrawals/{row.pk}/approve/", {"digest": row.digest, "code": "123456"})
    assert page.status_code == 302
    assert page["Location"].startswith("/sign-in/")
    assert client.post("/step-up/challenge").status_code == 302


def test_figures_leave_as_exact_text(with_token, auditor, operator):
    rows.held(operator, now=clock.now(), amount=Decimal("0.000000010000000000000001"), include_fee=False)
    rows.entry(9, now=clock.now(), amount=Decimal("4.5226832"), fee=None)
    client = with_token(auditor)
    one = client.get(PATH).json()["items"][0]
    assert one["amount"] == one["arrives"] == "0.000000010000000000000001"
    assert client.get("/api/v1/ledger/").json()["items"][0]["amount"] == "4.5226832"
    assert {item["wallet"]: item["available"] for item in client.get("/api/v1/balances/").json()["items"]} == {
        "bank": "500",
        "trading": "10",
    }
    rows.currency("OLD", delisted=True)
    answer = {item["code"]: item["payout_problem"] for item in client.get("/api/v1/currencies/").json()["items"]}
    assert answer["BCH"] == ""
    assert "delisted" in answer["OLD"]


def test_pages_follow_each_other(with_token, auditor, operator):
    made = {rows.requested(operator, now=clock.now()).pk for _ in range(60)}
    client, address, seen = with_token(auditor), f"{PATH}?state=draft", []
    while address:
        page = client.get(address).json()
        seen += [item["id"] for item in page["items"]]
        address = page["older"]
    assert len(seen) == 60
    assert set(seen) == made


def test_rows_that_come_while_a_program_pages_are_neither_lost_nor_seen_twice(with_token, auditor, operator):
    made = [rows.requested(operator, now=clock.now()).pk for _ in range(120)]
    client, address, seen = with_token(auditor), f"{PATH}?state=draft&text=", []
    while address:
        page = client.get(address).json()
        seen += [item["id"] for item in page["items"]]
        address = page["older"]
        assert address is None or address.startswith(f"{PATH}?state=draft&text=&before=")
        rows.requested(operator, now=clock.now())
    assert seen == sorted(made, reverse=True)


@pytest.mark.parametrize("path", ["/api/v1/ledger/", "/api/v1/trades/"])
def test_equal_numbers_of_another_account_neither_repeat_nor_lose_a_row(with_token, auditor, path):
    elsewhere = Account.objects.create(name="Another desk")
    for number in range(1, 121):
        rows.entry(number, now=clock.now())
        rows.trade(number, now=clock.now())
    for number in range(41, 101):
        rows.entry(number, now=clock.now(), account=elsewhere)
        rows.trade(number, now=clock.now(), account=elsewhere)
    client, address, seen = with_token(auditor), f"/accounts/{rows.account().pk}{path}", []
    while address:
        page = client.get(address).json()
        seen += [item["exchange_id"] for item in page["items"]]
        address = page["older"]
    assert len(seen) == len(set(seen)) == 120


@pytest.mark.parametrize("place", ["", "-1", "1.5", "9223372036854775808", "1" * 5000, "b3Bhcw==", "\0", "१"])
def test_a_place_that_is_none_is_refused(with_token, auditor, place):
    response = with_token(auditor).get(PATH, {"before": place})
    assert response.status_code == 400
    assert response.json()["errors"] == {"before": "Must be a whole number from 0 to 2^63 - 1."}


def test_a_place_beyond_every_row_is_an_empty_page(with_token, auditor, operator):
    rows.requested(operator, now=clock.now())
    assert with_token(auditor).get(PATH, {"before": "0"}).json() == {"items": [], "older": None}
    assert len(with_token(auditor).get(PATH, {"before": str(2**63 - 1)}).json()["items"]) == 1


@pytest.mark.parametrize(
    "path", [PATH, "/api/v1/ledger/", "/api/v1/balances/", "/api/v1/currencies/", "/api/v1/trades/"]
)
def test_three_rows_take_as_many_queries_as_one(with_token, auditor, operator, path):
    client, counts = with_token(auditor), []
    for number in (1, 2, 3):
        rows.entry(number, now=clock.now(), withdrawal=rows.held(operator, now=clock.now()))
        rows.trade(number, now=clock.now())
        rows.currency(f"C{number}")
        rows.balance(f"C{number}")
        client.get(path)
        with CaptureQueriesContext(connection) as seen:
            assert client.get(path).status_code == 200
        counts.append(len(seen))
    assert counts[0] == counts[2]


def test_an_address_that_is_not_there_keeps_the_shape(with_token, auditor):
    for path in ("/api/v1/withdrawals/999/", "/api/v1/nothing/", f"/api/v1/withdrawals/{10**30}/"):
        response = with_token(auditor).get(path)
        assert response.status_code == 404
        assert set(response.json()) == {"type", "title", "status", "detail", "errors"}


def test_the_schema_is_complete_and_describes_no_approval(with_token, auditor, tmp_path):
    call_command("spectacular", "--validate", "--fail-on-warn", "--file", str(tmp_path / "schema.yml"))
    text = (tmp_path / "schema.yml").read_text()
    assert "/api/v1/withdrawals/" in text
    assert "approve/" not in text
    served = with_token(auditor).get("/api/v1/schema/?format=json")
    assert served.status_code == 200
    assert "paths" in json.loads(served.content)


# What answers about the exchange account have as a number: rows of the desk, which are few, and what is counted.
# Heights and satoshi of the chain are below 2^53.
ROWS = {
    *("AddressRequestOut.id", "BracketOrderOut.order_id", "BracketOut.id", "KeyOut.id", "KeyOut.replaces"),
    *("LedgerEntryOut.transfer", "LedgerEntryOut.withdrawal", "MarginActionOut.id", "OrderOut.id"),
    *("SubAccountActionOut.id", "TransferOut.id", "WithdrawalOut.id", "MovementReviewIn.movement"),
}
COUNTS = {
    *("CurrencyOut.precision_payout", "DepositAddressList.left_today", "DepositAddressOut.place", "Problem.status"),
    *("LedgerEntryOut.confirmations", "MovementsReviewedOut.reviewed", "MovementsReviewedOut.waiting"),
    *("GroupNeedOut.approvals", "SubAccountActionOut.attempts", "TransferOut.quorum_required", "TransferOut.reissues"),
    *("WithdrawalOut.confirmations", "WithdrawalOut.quorum_required"),
}
OF_THE_CHAIN = ("Chain", "Token", "Watched", "Cash", "Slp")


def test_no_id_of_the_exchange_is_a_number_in_an_answer():
    """Beyond 2^53 many readers of JSON round it: whatever is a number is named here."""
    schemas = SchemaGenerator().get_schema(request=None, public=True)["components"]["schemas"]
    numbers = {
        f"{shape}.{name}"
        for shape, schema in schemas.items()
        for name, member in schema.get("properties", {}).items()
        if {"integer", "number"} & {member.get("type"), *(one.get("type") for one in member.get("oneOf", ()))}
        and not shape.startswith(OF_THE_CHAIN)
    }
    assert numbers == ROWS | COUNTS


def test_the_page_of_the_interface_uses_local_scripts_only(client, auditor):
    client.force_login(auditor)
    response = client.get("/api/v1/docs/")
    page = response.content.decode()
    assert "swagger-ui-bundle" in page
    assert "http://" not in page.split("<main")[0]
    assert "https://" not in page
    assert "unsafe" not in response["Content-Security-Policy"]


def test_each_operation_says_in_a_line_what_it_does():
    """And no two say the same: whoever reads down the list can tell them apart."""
    paths = SchemaGenerator().get_schema(request=None, public=True)["paths"]
    lines = [operation["summary"] for operations in paths.values() for operation in operations.values()]
    assert len(lines) > 40
    assert len(set(lines)) == len(lines)
