"""The pages about sub-accounts: requested beside observed, the preview of a freeze, and what no form gets through."""

import re
import uuid
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock, topics
from desk.people import totp
from exchange_ops.subaccounts import account_status
from exchange_ops.subaccounts.models import (
    SubAccount,
    SubAccountAction,
    SubAccountAddress,
    SubAccountBalance,
    SubAccountReading,
)
from tests.exchange_ops import rows
from wire.values import Secret

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]
SECRET = Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")


def code():
    return totp.code_at(SECRET, totp.step_at(clock.now()))


def text_of(response):
    """The page's own part as a reader hears it."""
    page = re.sub(r"<svg.*?</svg>|<form[^>]*read-again.*?</form>", "", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", page[page.index("<main") :]))


@pytest.fixture
def sub():
    made = rows.subaccount(7001, now=clock.now())
    for wallet, currency, available, reserved in (
        ("main", "BTC", "2", "0"),
        ("trading", "USD", "4000.5", "999.5"),
        ("trading", "ETH", "10", "0"),
    ):
        SubAccountBalance.objects.create(
            sub_account=made, wallet=wallet, currency=currency, available=Decimal(available), reserved=Decimal(reserved)
        )
    return made


@pytest.fixture
def keeper(admin):
    totp.enrol(admin, SECRET)
    return admin


def frozen(number=7002, **changes):
    columns = {"status": "disable", "settings_shown": False, "closed_as": "frozen"}
    return rows.subaccount(number, now=clock.now(), **{**columns, **changes})


def decision(kind, *numbers, **changes):
    subs = SubAccount.objects.filter(exchange_id__in=[number for number in numbers if str(number).isdigit()])
    members = {
        "ids": [str(number) for number in numbers],
        "digest": account_status.digest_of(kind, list(subs)),
        "request_key": str(uuid.uuid4()),
        "comment": "Its trader left",
        "code": code(),
        "passkey": "",
    }
    return {name: value for name, value in {**members, **changes}.items() if value is not ...}


def settings(sub, **changes):
    members = {
        "payouts": "off",
        "description": "Trading",
        "reason": "Nobody pays from it",
        "digest": account_status.digest_of("settings", [sub]),
        "request_key": str(uuid.uuid4()),
    }
    return {name: value for name, value in {**members, **changes}.items() if value is not ...}


# Reading --------------------------------------------------------------------------------------------------------------


def test_the_list_sets_requested_beside_observed_and_says_the_difference(signed_in, auditor, sub):
    frozen(7002, wanted="frozen")
    rows.subaccount(7003, now=clock.now(), wanted="frozen")
    frozen(7004, closed_as="")
    frozen(7005, closed_as="disabled")
    rows.subaccount(7006, now=clock.now(), settings_shown=False)
    page = text_of(signed_in(auditor).get("/subaccounts/"))
    cells = [page[page.index(f" {number} ") :][:260] for number in range(7001, 7007)]
    assert "Active No pending change" in cells[0]
    assert "Frozen Frozen As requested" in cells[1]
    assert "Frozen Active Differs: freeze requested, not frozen" in cells[2]
    assert "Frozen or disabled" in cells[3]
    assert "Disabled permanently" in cells[4]
    assert "Unclear Needs review" in cells[5]
    assert "2 differ from what was requested" in page
    assert "hidden while frozen or disabled" in cells[1]


def test_only_admins_are_offered_to_act(signed_in, admin, auditor, operator, sub):
    for person, offered in ((admin, True), (auditor, False), (operator, False)):
        listed = signed_in(person).get("/subaccounts/").content.decode()
        assert ('type="checkbox" name="ids"' in listed) is offered, person
        page = signed_in(person).get("/subaccounts/7001/").content.decode()
        assert ("Review freeze" in page) is offered, person
        assert ("Change payout settings" in page) is offered, person


def test_a_list_that_was_never_read_says_so(signed_in, auditor):
    page = text_of(signed_in(auditor).get("/subaccounts/"))
    assert "List not synced yet." in page
    assert "No sub-accounts." in page


def test_a_problem_with_reading_stands_with_its_age(signed_in, auditor, sub):
    now = clock.now()
    SubAccountReading.objects.create(
        account=sub.account, read_at=now - timedelta(minutes=9), tried_at=now, problem="The list could not be read."
    )
    page = text_of(signed_in(auditor).get("/subaccounts/"))
    assert "synced 9 min ago" in page
    assert "The list could not be read." in page


def test_three_take_no_more_questions_than_one(signed_in, admin, sub):
    client = signed_in(admin)
    client.get("/subaccounts/")
    with CaptureQueriesContext(connection) as one:
        client.get("/subaccounts/")
    for number in (7002, 7003):
        rows.subaccount(number, now=clock.now())
    with CaptureQueriesContext(connection) as three:
        client.get("/subaccounts/")
    assert len(three) == len(one)


def test_the_page_of_one_shows_balances_settings_and_their_age(signed_in, auditor, sub):
    page = text_of(signed_in(auditor).get("/subaccounts/7001/"))
    for words in ("desk+7001@demo.test", "4,000.50", "999.50", "allowed", "Trading", "No pending change"):
        assert words in page, words


def test_operators_are_led_to_the_form_of_a_transfer_with_the_sub_account_chosen(signed_in, operator, admin, sub):
    frozen(7002)
    page = signed_in(operator).get("/subaccounts/7001/").content.decode()
    for slug in ("to-subaccount", "from-subaccount"):
        address = re.search(rf'href="(/transfers/new/{slug}/[^"]*)"', page)[1]
        form = signed_in(operator).get(address).content.decode()
        assert re.search(r'<option value="7001"\s+selected>', form), slug
    assert "/transfers/new/" not in signed_in(operator).get("/subaccounts/7002/").content.decode()
    assert "no transfers to or from it" in text_of(signed_in(operator).get("/subaccounts/7002/"))
    assert "/transfers/new/" not in signed_in(admin).get("/subaccounts/7001/").content.decode()


@pytest.mark.parametrize("part", ["facts", "decide", "story"])
def test_a_part_is_read_again_at_the_same_address(signed_in, admin, sub, part):
    headers = {"HX-Request": "true", "HX-Target": part}
    response = signed_in(admin).get("/subaccounts/7001/", headers=headers)
    assert response.content.decode().lstrip().count(f'id="{part}"') == 1
    assert b"<html" not in response.content
    assert b'data-follow="subaccount:7001"' in response.content


@pytest.mark.parametrize("number", ["9", "0", "99999999999999999999", "1" * 40])
def test_one_that_is_not_known_is_not_found(signed_in, admin, sub, number):
    client = signed_in(admin)
    assert client.get(f"/subaccounts/{number}/").status_code == 404
    assert client.post(f"/subaccounts/{number}/settings/", settings(sub)).status_code == 404


def test_asking_again_is_a_row_that_a_worker_fills(signed_in, operator, sub):
    client = signed_in(operator)
    response = client.post("/subaccounts/read-again/", {"back": "7001"})
    assert response["Location"] == "/subaccounts/7001/"
    assert SubAccountReading.objects.get().is_awaited
    assert "Loading…" in text_of(client.get("/subaccounts/"))
    for back in ("", "x", "//elsewhere.example", "9" * 30):
        assert client.post("/subaccounts/read-again/", {"back": back})["Location"] == "/subaccounts/"


def test_an_address_is_asked_for_by_a_row(signed_in, operator, sub):
    client = signed_in(operator)
    for currency in ("", "NOPE", "USD", "<b>"):
        response = client.post("/subaccounts/7001/address/", {"currency": currency})
        assert response.status_code == 422
    assert not SubAccountAddress.objects.exists()
    assert client.post("/subaccounts/7001/address/", {"currency": "BCH"}).status_code == 302
    assert "Loading" in text_of(client.get("/subaccounts/7001/"))
    SubAccountAddress.objects.update(address=rows.ADDRESS, payment_id="77", answered_at=clock.now())
    page = client.get("/subaccounts/7001/").content.decode()
    assert f'data-copy="{rows.ADDRESS}"' in page
    assert 'data-copy="77"' in page


def test_what_the_exchange_says_is_shown_as_text(signed_in, admin, sub):
    hostile = "<script>alert(1)</script>"
    SubAccount.objects.update(description=hostile, email=hostile, status=hostile)
    for path in ("/subaccounts/", "/subaccounts/7001/", "/subaccounts/freeze/?ids=7001"):
        assert hostile not in signed_in(admin).get(path).content.decode()


# Freezing -------------------------------------------------------------------------------------------------------------


def test_the_preview_says_what_is_moved_and_what_is_not_known(signed_in, admin, sub):
    page = text_of(signed_in(admin).get("/subaccounts/freeze/?ids=7001"))
    assert page.index("To be moved to its main account") < page.index("ETH") < page.index("USD")
    for words in (
        "4,000.50",
        "999.50",
        "All of the sub-account’s open orders will be cancelled.",
        "Number of open orders",
        "margin positions",
        "Nothing has been sent yet.",
    ):
        assert words in page, words
    assert "2.0000" not in page


def test_the_preview_is_honest_about_balances_that_were_never_read(signed_in, admin):
    rows.subaccount(7001, now=clock.now(), balances_at=None)
    assert "the amount to be moved is unknown" in text_of(signed_in(admin).get("/subaccounts/freeze/?ids=7001"))


def test_a_freeze_is_recorded_once_with_its_second_factor(signed_in, keeper, sub):
    client, form = signed_in(keeper), decision("freeze", 7001)
    first, second = (client.post("/subaccounts/freeze/", form) for _ in "ab")
    assert [first.status_code, second.status_code] == [302, 302]
    assert first["Location"] == second["Location"] == "/subaccounts/7001/"
    action = SubAccountAction.objects.get()
    assert (action.kind, action.state, action.reason) == ("freeze", "requested", "Its trader left")
    assert action.confirmation.person == keeper
    page = text_of(client.get("/subaccounts/7001/"))
    assert "Freezing" in page
    assert "Withdraw request" in page


def test_several_are_frozen_by_one_form(signed_in, keeper, sub):
    rows.subaccount(7002, now=clock.now())
    client = signed_in(keeper)
    assert "Freeze 2 sub-accounts" in text_of(client.get("/subaccounts/freeze/?ids=7002&ids=7001&ids=7002"))
    response = client.post("/subaccounts/freeze/", decision("freeze", 7001, 7002))
    assert response["Location"] == "/subaccounts/"
    assert SubAccountAction.objects.count() == 2


def test_one_of_several_that_is_closed_stops_the_whole_form(signed_in, keeper, sub):
    frozen(7002)
    client = signed_in(keeper)
    page = client.get("/subaccounts/freeze/?ids=7001&ids=7002").content.decode()
    assert "7002 is already frozen" in page
    assert "Freeze now" not in page
    assert client.post("/subaccounts/freeze/", decision("freeze", 7001, 7002)).status_code == 409
    assert not SubAccountAction.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"comment": ""}, "Enter a reason"),
        ({"comment": ...}, "Enter a reason"),
        ({"comment": "x" * 501}, "500"),
        ({"code": ""}, "Enter the code"),
        ({"code": "12345"}, "six-digit"),
        ({"ids": []}, "at least one"),
        ({"ids": ["7001", "x"]}, "Choose the sub-accounts again"),
        ({"ids": ["-7001"]}, "Choose the sub-accounts again"),
        ({"ids": ["7001 or 1=1"]}, "Choose the sub-accounts again"),
        ({"ids": ["9" * 30]}, "Choose the sub-accounts again"),
        ({"ids": ["٧٠٠١"]}, "Choose the sub-accounts again"),
        ({"request_key": "x"}, ""),
        ({"request_key": ...}, ""),
        ({"digest": "x"}, ""),
        ({"digest": ...}, ""),
    ],
)
def test_a_malformed_decision_is_refused_and_nothing_written(signed_in, keeper, sub, changes, words):
    response = signed_in(keeper).post("/subaccounts/freeze/", decision("freeze", 7001, **changes))
    assert response.status_code == 422
    if words and "ids" not in changes:
        assert words in text_of(response)
    assert not SubAccountAction.objects.exists()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"code": "000000"}, "Incorrect code"),
        ({"digest": "0" * 64}, "changed after you opened the page"),
        ({"passkey": "{}"}, "passkey response"),
        ({"ids": ["7001", "8888"]}, "Sub-account not found: 8888"),
    ],
)
def test_what_the_domain_refuses_says_first_that_nothing_was_sent(signed_in, keeper, sub, changes, words):
    response = signed_in(keeper).post("/subaccounts/freeze/", decision("freeze", 7001, **changes))
    assert response.status_code == 409
    page = text_of(response)
    assert page.index("Nothing was recorded or sent.") < page.rindex(words)
    assert not SubAccountAction.objects.exists()


def test_a_page_that_is_stale_shows_what_is_so_now_and_can_be_confirmed_then(signed_in, keeper, sub):
    client, form = signed_in(keeper), decision("freeze", 7001)
    SubAccount.objects.update(description="Other words", settings_at=clock.now())
    response = client.post("/subaccounts/freeze/", form)
    assert response.status_code == 409
    digest = re.search(r'name="digest" value="([0-9a-f]{64})"', response.content.decode())[1]
    assert digest != form["digest"]
    assert client.post("/subaccounts/freeze/", {**form, "digest": digest}).status_code == 302


def test_a_second_tab_is_told_that_it_is_under_way(signed_in, keeper, sub):
    client = signed_in(keeper)
    client.post("/subaccounts/freeze/", decision("freeze", 7001))
    response = client.post("/subaccounts/freeze/", decision("freeze", 7001))
    assert response.status_code == 409
    assert "this change is already in progress" in text_of(response)


@pytest.mark.parametrize("query", ["", "?ids=", "?ids=x", "?ids=-1", "?ids=0", "?other=7001"])
def test_without_a_choice_the_way_leads_back(signed_in, admin, sub, query):
    for kind in ("freeze", "activate"):
        response = signed_in(admin).get(f"/subaccounts/{kind}/{query}")
        assert (response.status_code, response["Location"]) == (302, "/subaccounts/")


@pytest.mark.parametrize("role", ["operator", "treasury", "auditor"])
def test_nobody_else_acts_even_past_the_page(role, signed_in, make_person, sub):
    person = make_person(role, username=f"a-{role}")
    totp.enrol(person, SECRET)
    client = signed_in(person)
    for path, content in (
        ("freeze/", decision("freeze", 7001)),
        ("activate/", decision("activate", 7001)),
        ("7001/settings/", settings(sub)),
    ):
        assert client.post(f"/subaccounts/{path}", content).status_code == 403, path
    assert not SubAccountAction.objects.exists()


# Activating -----------------------------------------------------------------------------------------------------------


def test_activating_says_what_is_permanent(signed_in, keeper, sub):
    frozen(7002)
    frozen(7003, closed_as="")
    frozen(7004, closed_as="disabled")
    client = signed_in(keeper)
    assert "Disabled is permanent" in text_of(client.get("/subaccounts/activate/?ids=7002"))
    assert "the exchange uses one status for both" in text_of(client.get("/subaccounts/activate/?ids=7003"))
    page = text_of(client.get("/subaccounts/activate/?ids=7004"))
    assert "7004 is permanently disabled" in page
    assert "Activate now" not in page
    assert "is permanently disabled" in text_of(client.get("/subaccounts/7004/"))
    assert client.post("/subaccounts/activate/", decision("activate", 7002)).status_code == 302
    assert client.post("/subaccounts/activate/", decision("activate", 7004)).status_code == 409
    assert SubAccountAction.objects.get().kind == "activate"


# Settings and taking back ---------------------------------------------------------------------------------------------


def test_settings_are_asked_for_once(signed_in, admin, sub):
    client, form = signed_in(admin), settings(sub)
    for _ in "ab":
        assert client.post("/subaccounts/7001/settings/", form).status_code == 302
    action = SubAccountAction.objects.get()
    assert (action.wanted_payout, action.wanted_description) == (False, None)
    assert "Changing settings" in text_of(client.get("/subaccounts/7001/"))


@pytest.mark.parametrize(
    ("changes", "facts"),
    [
        ({"payouts": ...}, (422, "Choose one")),
        ({"payouts": "maybe"}, (422, "not one of the available")),
        ({"description": "x" * 256}, (422, "255")),
        ({"description": "a\0b"}, (422, "Null characters")),
        ({"description": "a\u202eb"}, (409, "on one line")),
        ({"reason": ""}, (422, "Enter a reason")),
        ({"digest": "0" * 64}, (409, "changed after")),
        ({"payouts": "on"}, (409, "current settings")),
    ],
)
def test_settings_that_are_refused_stay_in_the_form(signed_in, admin, sub, changes, facts):
    status, words = facts
    response = signed_in(admin).post("/subaccounts/7001/settings/", settings(sub, **changes))
    assert response.status_code == status
    assert words in text_of(response)
    assert re.search(r'<details class="in reason-form" open>', response.content.decode())
    assert not SubAccountAction.objects.exists()


def test_a_request_can_be_taken_back_until_it_is_sent(signed_in, keeper, sub):
    client = signed_in(keeper)
    client.post("/subaccounts/freeze/", decision("freeze", 7001))
    action = SubAccountAction.objects.get()
    other = rows.subaccount(7002, now=clock.now())
    assert client.post(f"/subaccounts/{other.exchange_id}/actions/{action.pk}/take-back/").status_code == 404
    assert client.post(f"/subaccounts/7001/actions/{action.pk}/take-back/").status_code == 302
    assert "Withdrawn" in text_of(client.get("/subaccounts/7001/"))
    response = client.post(f"/subaccounts/7001/actions/{action.pk}/take-back/")
    assert response.status_code == 409
    assert "Too late to withdraw" in text_of(response).replace("&#x27;", "'")


# Live -----------------------------------------------------------------------------------------------------------------


def test_whoever_has_a_role_may_follow_a_sub_account_and_nobody_else(auditor, operator, make_person):
    newcomer = make_person(username="newcomer")
    for topic in ("subaccount:7001", "subaccounts"):
        assert topics.admits(auditor, topic)
        assert topics.admits(operator, topic)
        assert not topics.admits(newcomer, topic)
    for topic in ("subaccount:", "subaccount:x", "subaccount:7001 ", "subaccounts:1"):
        assert not topics.admits(auditor, topic)
