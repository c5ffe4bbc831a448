"""An admin freezes a sub-account and brings it back, and sees requested before observed; an auditor only reads."""

import base64
import json
import re
import urllib.request
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import Outside, rows, until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("the machine of sub-accounts is proven by the domain; the pages are looked at always"),
]
CHANGES = {"freeze_subaccounts", "activate_subaccounts", "set_subaccount_settings"}


def at_exchange(house, path, *, key="demo-read", form=None):
    """What the exchange answers to one of its keys."""
    secret = base64.b64encode(f"{key}:{key}-secret".encode()).decode()
    body = None if form is None else "&".join(f"{name}={value}" for name, value in form.items()).encode()
    headers = {"Authorization": f"Basic {secret}"}
    if body:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    request = urllib.request.Request(f"{house.sandbox_url}/api/2/{path}", data=body, headers=headers)
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.loads(answer.read())


def trading(house, number):
    """What the trading account of a sub-account holds at the exchange, open orders included."""
    listed = at_exchange(house, f"sub-acc/balance/{number}")["result"]["trading"]
    held = {line["currency"]: Decimal(line["available"]) + Decimal(line["reserved"]) for line in listed}
    return {currency: amount for currency, amount in held.items() if amount}


def status(house, number):
    listed = at_exchange(house, "sub-acc")["result"]
    return next(line["status"] for line in listed if line["id"] == number)


def changes(house, outside):
    received = house.control(f"calls?since={outside.since}")["calls"]
    return [(call["operation"], call["executed"]) for call in received if call["operation"] in CHANGES]


@pytest.fixture
def known(house):
    until(lambda: rows(house, "SELECT 1 FROM exchange_ops_subaccount WHERE exchange_id = 7002 AND balances_at NOTNULL"))


def test_an_admin_freezes_and_activates(house, visit, known):
    outside = Outside.from_now(house)
    order = {"symbol": "ETHBTC", "side": "buy", "type": "limit", "price": "0.001", "quantity": "2"}
    at_exchange(house, "order", key="sub-full", form=order)
    assert len(at_exchange(house, "order", key="sub-full")) == 1
    admin, operator = visit("admin"), visit("operator")

    page = admin.open("/subaccounts/7001/")
    page.get_by_role("button", name="Refresh status and balances").click()
    expect(page.locator("#facts").get_by_role("row", name=re.compile("^BTC"))).to_contain_text("0.0020")

    operator.open("/subaccounts/")
    watched = operator.page.locator("#subs tr", has_text="desk+1@demo.test")
    expect(watched.locator(".u-seen")).to_contain_text("Active")
    operator.mark()

    page = admin.open("/subaccounts/")
    page.get_by_label("Choose 7001").check()
    page.get_by_role("button", name="Review freeze").click()
    expect(page.get_by_role("heading", name="Freeze 1 sub-account")).to_be_visible()
    expect(page.get_by_role("row", name=re.compile("^USD"))).to_contain_text("5,000.00")
    page.get_by_label("Reason").fill("Its trader left the company")
    page.get_by_label("Code from your authenticator app").fill(admin.codes.fresh())
    page.get_by_role("button", name="Freeze and cancel open orders").dblclick()
    page.wait_for_url(re.compile(r"/subaccounts/7001/$"))
    expect(page.locator("#facts .head .chip")).to_have_text("Frozen")
    expect(page.locator("#story .panel").first).to_contain_text("Done")
    expect(page.locator("#facts").get_by_role("row", name=re.compile("^Status"))).to_contain_text("As requested")

    expect(page.locator("#facts").get_by_role("row", name=re.compile("^USD"))).to_contain_text("15,000.00")
    expect(page.locator("#facts").get_by_role("row", name=re.compile("^BTC"))).to_contain_text("3.0000")
    assert status(house, 7001) == "disable"
    assert trading(house, 7001) == {}
    assert changes(house, outside) == [("freeze_subaccounts", True)]
    expect(watched.locator(".u-seen")).to_contain_text("Frozen")
    expect(watched.locator(".u-wanted")).to_contain_text("Frozen")
    assert operator.is_same_document()

    page.get_by_role("link", name="Review activation").click()
    page.get_by_label("Reason").fill("A new trader came")
    page.get_by_label("Code from your authenticator app").fill(admin.codes.fresh())
    page.get_by_role("button", name="Activate now").click()
    expect(page.locator("#facts .head .chip")).to_have_text("Active")
    assert status(house, 7001) == "active"
    assert at_exchange(house, "order", key="sub-full") == []
    assert changes(house, outside)[1:] == [("activate_subaccounts", True)]
    assert outside.is_balanced()


def test_an_admin_changes_payout_settings_and_asks_for_the_address(house, visit, known):
    admin = visit("admin")
    page = admin.open("/subaccounts/7002/")
    page.locator("summary", has_text="Change payout settings").click()
    page.get_by_label("Description").fill("Settlement, by two people")
    page.locator("#id_reason").fill("So that everybody knows")
    page.get_by_role("button", name="Change payout settings for 7002").click()
    expect(page.locator("#facts").get_by_role("row", name=re.compile("^Description"))).to_contain_text("none")
    expect(page.locator("#story .panel").first).to_contain_text("Done")
    settings = at_exchange(house, "sub-acc/acl?subAccountIds=7002")["result"]
    assert settings == [{"subAccountId": 7002, "isPayoutEnabled": False, "description": "Settlement, by two people"}]
    page.get_by_label("Currency").select_option("BTC")
    page.get_by_role("button", name="Get deposit address").click()
    address = at_exchange(house, "sub-acc/deposit-address/7002/BTC")["result"]["address"]
    expect(page.locator("#decide .address")).to_have_text(address)


def test_a_disabled_one_is_found_out_and_said_to_be_permanent(house, visit, known):
    admin = visit("admin")
    page = admin.open("/subaccounts/7004/")
    expect(page.locator("#facts .head .chip")).to_have_text("Frozen or disabled")
    page.get_by_role("link", name="Review activation").click()
    page.get_by_label("Reason").fill("To find out")
    page.get_by_label("Code from your authenticator app").fill(admin.codes.fresh())
    page.get_by_role("button", name="Activate now").click()
    expect(page.locator("#facts .head .chip")).to_have_text("Disabled permanently")
    expect(page.locator("#decide")).to_contain_text("is permanently disabled")
    expect(page.get_by_role("link", name="Review activation")).to_have_count(0)


def test_an_auditor_reads_and_may_do_nothing(house, visit, known):
    outside = Outside.from_now(house)
    auditor = visit("auditor", name="auditor")
    page = auditor.open("/subaccounts/")
    expect(page.locator("#subs tbody tr")).to_have_count(4)
    expect(page.get_by_role("checkbox", name=re.compile("^Choose"))).to_have_count(0)
    page = auditor.open("/subaccounts/7002/")
    expect(page.locator("#decide")).to_contain_text("Only administrators can freeze, activate or change sub-accounts.")
    expect(page.locator("#decide form")).to_have_count(0)
    for path in ("freeze/", "activate/", "7002/settings/", "read-again/"):
        answer, _ = auditor.post_by_hand(f"/subaccounts/{path}", ids="7002", comment="x", code="123456")
        assert answer == 403, path
    assert status(house, 7002) == "active"
    assert changes(house, outside) == []
