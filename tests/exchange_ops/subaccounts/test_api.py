"""Sub-accounts for programs: everything observed and asked for can be read, nothing can be done."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.people import totp
from exchange_ops.subaccounts import account_status, workflow
from exchange_ops.subaccounts.models import SubAccountBalance
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = pytest.mark.django_db
PATH = "/api/v1/subaccounts/"
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


@pytest.fixture
def sub():
    made = rows.subaccount(7001, now=clock.now(), wanted="active")
    SubAccountBalance.objects.create(
        sub_account=made,
        wallet="trading",
        currency="ETH",
        available=Decimal("0.100000000000000001"),
        reserved=Decimal(0),
    )
    return made


@pytest.fixture
def freeze_request(sub, admin):
    totp.enrol(admin, SECRET)
    now = clock.now()
    return workflow.ask_status(
        kind="freeze",
        account=sub.account,
        exchange_ids=[7001],
        person=admin,
        reason="Its trader left",
        digest=account_status.digest_of("freeze", [sub]),
        answer={"kind": "totp", "code": totp.code_at(SECRET, totp.step_at(now))},
        request_key="one-key-of-a-test",
        session_key="session",
        now=now,
    )[0]


def test_requested_and_observed_stand_side_by_side(with_token, auditor, sub):
    rows.subaccount(7002, now=clock.now(), status="disable", settings_shown=False, wanted="active")
    first, second = with_token(auditor).get(PATH).json()["items"]
    facts = ("id", "status", "standing", "requested", "difference", "differs", "payout_enabled")
    assert [first[name] for name in facts] == ["7001", "active", "active", "active", "As requested", False, True]
    words = "Differs: activation requested, not active"
    assert [second[name] for name in facts] == ["7002", "disable", "closed", "active", words, True, True]
    assert second["settings_shown"] is False


def test_one_has_its_balances_exactly(with_token, auditor, sub):
    answer = with_token(auditor).get(f"{PATH}7001/").json()
    assert answer["balances"] == [
        {"currency": "ETH", "wallet": "trading", "available": "0.100000000000000001", "reserved": "0"}
    ]


def test_what_was_asked_for_is_listed(with_token, auditor, freeze_request):
    answer = with_token(auditor).get(f"{PATH}7001/actions/").json()
    assert answer["older"] is None
    (facts,) = answer["items"]
    assert (facts["kind"], facts["state"], facts["requested_by"], facts["attempts"]) == (
        "freeze",
        "requested",
        "admin",
        0,
    )
    assert facts["sentence"].startswith("Nothing has been sent yet.")
    assert with_token(auditor).get(f"{PATH}7001/").json()["difference"] == "Freezing"


def test_many_take_no_more_questions_than_one(with_token, auditor, freeze_request):
    client = with_token(auditor)
    client.get(PATH)
    with CaptureQueriesContext(connection) as one:
        client.get(PATH)
    for number in (7002, 7003):
        rows.subaccount(number, now=clock.now())
    with CaptureQueriesContext(connection) as three:
        client.get(PATH)
    assert len(three) == len(one)


@pytest.mark.parametrize("path", ["7009/", "7009/actions/", "99999999999999999999/"])
def test_one_that_is_not_known_is_not_found(with_token, auditor, sub, path):
    response = with_token(auditor).get(PATH + path)
    assert response.status_code == 404
    assert response.json()["status"] == 404


@pytest.mark.parametrize("path", ["", "7001/", "7001/actions/"])
@pytest.mark.parametrize("method", ["post", "put", "patch", "delete"])
def test_nothing_can_be_done_here(with_token, admin, sub, path, method):
    response = getattr(with_token(admin), method)(PATH + path, {"status": "frozen"}, format="json")
    assert response.status_code == 405
    sub.refresh_from_db()
    assert sub.wanted == "active"


def test_without_a_role_nothing_is_told(with_token, make_person, sub):
    assert with_token(make_person(username="newcomer")).get(PATH).status_code == 403
