"""Funds and deposit addresses for programs: exact figures, one request for one key, and no more than a day allows."""

import json
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.addresses import machine
from exchange_ops.addresses.models import AddressBook, AddressRequest, DepositAddress
from exchange_ops.ledger.models import Balance
from tests.exchange_ops import rows
from tests.rows import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
PATH = "/api/v1/deposit-addresses/"


def body(**changes):
    members = {"currency": "BCH", "request_key": str(uuid.uuid4())}
    return {name: value for name, value in {**members, **changes}.items() if value is not ...}


def send(client, content):
    return client.post(PATH, json.dumps(content), content_type="application/json")


def test_both_wallets_with_exact_figures_and_their_value(with_token, auditor, operator):
    rows.held(operator, now=clock.now())
    Balance.objects.filter(wallet="bank").update(
        available=Decimal("499.000000000000000000000001"), reserved=Decimal("1.251")
    )
    answer = with_token(auditor).get("/api/v1/funds/").json()
    (one,) = [row for row in answer["items"] if row["currency"] == "BCH"]
    assert (one["bank"], one["bank_reserved"], one["holds"]) == ("499.000000000000000000000001", "1.251", "1.251")
    assert (one["trading"], one["trading_reserved"]) == ("10", "0")
    assert one["total"] == "510.251000000000000000000001"
    assert (one["worth"], answer["total"], answer["quote_currency"]) == ("255125.5", "255125.5", "USD")
    assert one["read_at"].endswith("Z")


def test_a_currency_without_a_price_has_no_worth(with_token, auditor):
    rows.currency("XYZ", now=clock.now())
    rows.balance("XYZ", now=clock.now())
    answer = with_token(auditor).get("/api/v1/funds/").json()
    assert {row["currency"]: row["worth"] for row in answer["items"]} == {"BCH": "255000", "XYZ": None}


def test_the_addresses_come_current_first_with_what_belongs_to_them(with_token, auditor):
    now = clock.now()
    account = rows.account(now=now)
    for number, (place, current) in enumerate([(None, False), (2, False), (1, True)]):
        DepositAddress.objects.create(
            account=account,
            currency="BCH",
            address=f"a-{number}",
            payment_id=str(number),
            place=place,
            is_current=current,
            first_seen_at=now,
            seen_at=now,
        )
    AddressBook.objects.create(account=account, currency="BCH", requested_at=now, answered_at=now, read_at=now)
    answer = with_token(auditor).get(f"{PATH}?currency=bch").json()
    assert [(row["address"], row["payment_id"], row["place"]) for row in answer["items"]] == [
        ("a-2", "2", 1),
        ("a-1", "1", 2),
        ("a-0", "0", None),
    ]
    assert (answer["left_today"], answer["latest_request"], answer["read_at"] is not None) == (5, None, True)


@pytest.mark.parametrize("query", ["", "currency=", "currency=NOSUCH", "currency=" + "x" * 999, "currency=%00"])
def test_an_unknown_currency_is_not_there(with_token, auditor, query):
    response = with_token(auditor).get(f"{PATH}?{query}")
    assert response.status_code == 404
    assert response.json()["status"] == 404


def test_a_new_address_is_asked_for_once(with_token, operator):
    client, request = with_token(operator), body()
    first, second = send(client, request), send(client, request)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    answer = first.json()
    assert (answer["state"], answer["initiated_via"], answer["address"]) == ("asked", "api", None)
    assert answer["sentence"].startswith("No new address has been created yet")
    assert client.get(f"{PATH}?currency=BCH").json()["latest_request"]["id"] == answer["id"]


def test_the_sixth_of_a_day_is_refused_with_the_hour(with_token, operator):
    now = clock.now()
    made = DepositAddress.objects.create(
        account=rows.account(), currency="BCH", address="a", first_seen_at=now, seen_at=now
    )
    with unguarded(machine.GUARDS):
        for number in range(5):
            AddressRequest.objects.create(
                account=rows.account(),
                currency="BCH",
                initiator=operator,
                request_key=f"key-{number}",
                state="made",
                made=made,
                sent_at=now - timedelta(hours=1),
                created_at=now,
                updated_at=now,
            )
    client = with_token(operator)
    response = send(client, body())
    assert response.status_code == 422
    assert response.json()["detail"].startswith("No new address was requested.")
    assert "You can request the next one from" in response.json()["detail"]
    assert client.get(f"{PATH}?currency=BCH").json()["left_today"] == 0
    assert AddressRequest.objects.count() == 5


@pytest.mark.parametrize(
    ("changes", "status", "name"),
    [
        ({"currency": ...}, 400, "currency"),
        ({"currency": 5}, 400, "currency"),
        ({"currency": "x" * 21}, 400, "currency"),
        ({"currency": "\x00"}, 400, "currency"),
        ({"request_key": ...}, 400, "Idempotency-Key"),
        ({"request_key": "short"}, 400, "request_key"),
        ({"request_key": "x" * 81}, 400, "request_key"),
        ({"address": "mine"}, 400, "address"),
        ({"currency": "NOSUCH"}, 422, ""),
    ],
)
def test_a_request_that_is_not_right_is_refused_member_by_member(with_token, operator, changes, status, name):
    response = send(with_token(operator), body(**changes))
    assert response.status_code == status
    assert set(response.json()["errors"]) == ({name} if name else set())
    assert not AddressRequest.objects.exists()


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor"])
def test_only_operators_ask(with_token, make_person, role):
    response = send(with_token(make_person(role, username=f"a-{role}")), body())
    assert response.status_code == 403
    assert "only operators can request one" in response.json()["detail"]
    assert not AddressRequest.objects.exists()
