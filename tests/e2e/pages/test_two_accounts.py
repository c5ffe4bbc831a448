"""Two accounts of the exchange on one desk: tabs of each stay with theirs, and money leaves the one that was meant."""

import base64
import json
import re
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.e2e.looks import complaints
from tests.e2e.visitors import Outside, Visitor, until
from tests.houses import QUICK, RunningHouse, prepared_folder

pytestmark = [
    pytest.mark.xdist_group("accounts"),
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("a second account in a house of its own; every route and act of it is held without a browser"),
]
AMOUNT = "0.07"


@pytest.fixture(scope="module")
def house():
    found = RunningHouse(folder=prepared_folder(), **QUICK)
    try:
        found.wait_until_ready()
        key = ["--new-account", "--account=Second desk", "--label=Other", "--login=other-full", "--secret-from-stdin"]
        rights = [f"--right={name}" for name in ("payments", "history", "withdraw", "orders")]
        found.python("manage.py", "add_key", *key, *rights, typed="other-full-secret\n")
        yield found
    finally:
        found.stop()


@pytest.fixture
def enter(house, open_page):
    def enter(name, **look):
        return Visitor(house, name, open_page(**look)).sign_in()

    return enter


def payouts_of_second(house):
    """What the exchange itself has of payouts of this amount at the second account."""
    key = base64.b64encode(b"other-full:other-full-secret").decode()
    address = f"{house.sandbox_url}/api/2/account/transactions?limit=1000&currency=BCH"
    request = urllib.request.Request(address, headers={"Authorization": f"Basic {key}"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return [
            row
            for row in json.loads(answer.read())
            if row["type"] == "payout" and float(row["amount"]) == float(AMOUNT)
        ]


def approve(person, path):
    person.open(path)
    person.page.get_by_label("Code from your authenticator app").fill(person.codes.fresh())
    person.page.get_by_role("button", name=re.compile("^Approve")).first.click()


def test_a_payout_of_one_is_asked_for_approved_and_paid_there_alone(house, enter):
    outside = Outside.from_now(house)
    first, second = enter("treasury", strict=False), enter("treasury2")
    of_second, of_first = enter("auditor"), enter("auditor")
    of_second.open("/accounts/2/withdrawals/")
    of_first.open("/accounts/1/withdrawals/")
    operator = enter("operator")
    until(lambda: "BCH" in operator.open("/accounts/2/funds/").locator("#holdings").inner_text(), every_s=1)
    form = operator.fill_in(
        amount=AMOUNT, reason="Of the second desk", page=operator.open("/accounts/2/withdrawals/new/")
    )
    expect(form.locator(".bar .account")).to_have_text("Second desk")
    form.get_by_role("button", name="Request payout").click()
    number = operator.number()
    assert f"/accounts/2/withdrawals/{number}/" in operator.page.url
    expect(of_second.page.locator("#rows")).to_contain_text(f"{AMOUNT}")
    expect(of_first.page.locator("#rows")).not_to_contain_text(f"W-{number}")

    expect(operator.state()).to_have_text("Waiting for approvals before the hold")
    wrong = first.open(f"/accounts/1/withdrawals/{number}/")
    expect(wrong.get_by_role("heading", name="Page not found")).to_be_visible()
    first.open("/accounts/1/withdrawals/")
    status, _ = Visitor.post_by_hand(first, f"/accounts/1/withdrawals/{number}/approve/", otp=first.codes.fresh())
    assert status == 404
    approve(first, f"/accounts/2/withdrawals/{number}/")
    expect(operator.state()).to_have_text("Reserved, waiting for approvals")
    approve(second, f"/withdrawals/{number}/")
    operator.is_paid()
    assert [row["status"] for row in payouts_of_second(house)] == ["success"]
    assert outside.statuses(AMOUNT) == []


def test_two_accounts_with_different_tiers_stand_side_by_side(house, enter):
    """The second desk takes two approvals for what takes one at the first; small payouts stay as they were on both."""
    author, other = enter("treasury3"), enter("admin")
    page = author.open("/policy/draft/")
    page.locator("details.tiers-of summary", has_text="Second desk").click()
    page.get_by_label("Second desk has its own tiers").check()
    page.get_by_label("Second desk, Tier 1, Value up to").fill("100")
    page.get_by_label("Second desk, Tier 2, Value up to").fill("250000")
    page.get_by_label("Reason for the change").fill("The second desk is watched more closely")
    found = complaints(page, "draft of an account's tiers")
    page.get_by_role("button", name="Review changes").click()
    expect(page.locator("main")).to_contain_text("Second desk, above 100 to 10,000 USD: 2 approvals (was 1).")
    expect(page.locator("main")).to_contain_text("This does not loosen any limit")
    page.get_by_label("Code from your authenticator app").fill(author.codes.fresh())
    page.get_by_role("button", name="Propose rule change").click()
    page.wait_for_url(re.compile(r"/policy/changes/\d+/$"))
    theirs = other.open(page.url.removeprefix(house.url))
    theirs.get_by_label("Code from your authenticator app").fill(other.codes.fresh())
    theirs.get_by_role("button", name="Approve and publish now").click()
    expect(theirs.locator("#change .head .chip")).to_have_text("Published")

    of_first, of_second = enter("auditor"), enter("auditor")
    for visitor, number, whose in ((of_first, 1, "All other accounts"), (of_second, 2, "Second desk")):
        rules = visitor.open(f"/accounts/{number}/policy/").locator(".tiers-of")
        expect(rules).to_have_count(2)
        expect(rules.filter(has_text="Applies here")).to_contain_text(whose)
        found += complaints(visitor.page, f"policy of account {number}")

    operator = enter("operator")
    for number, needs in ((1, "1 approval required"), (2, "2 approvals required")):
        until(
            lambda at=f"/accounts/{number}/funds/": "BCH" in operator.open(at).locator("#holdings").inner_text(),
            every_s=1,
        )
        form = operator.open(f"/accounts/{number}/withdrawals/new/")
        form = operator.fill_in(amount="0.7", reason="The same on both", page=form)
        form.get_by_role("button", name="Request payout").click()
        operator.number()
        expect(operator.page.locator("#facts")).to_contain_text(needs)
    expect(operator.page.locator("#facts")).to_contain_text("account tiers")
    assert found == []


def test_a_freeze_of_one_leaves_the_other_as_it_is(house, enter):
    person = enter("treasury")
    page = person.open("/accounts/1/policy/")
    page.get_by_label("Reason").first.fill("A drill of the first desk")
    page.get_by_role("button", name=re.compile("^Freeze")).first.click()
    expect(page.locator("main")).to_contain_text("Account frozen. No payouts, transfers or orders")
    expect(person.open("/accounts/1/").locator("#alarm")).to_contain_text("A drill of the first desk")
    expect(person.open("/accounts/2/").locator("#alarm")).to_be_empty()
    expect(person.open("/").locator("#alarm")).to_contain_text("A drill of the first desk")
    expect(person.page.locator("#accounts")).to_contain_text("Frozen: no payouts.")
    assert "frozen" not in enter("operator").open("/accounts/2/withdrawals/new/").locator("main").inner_text().lower()


@pytest.mark.parametrize("path", ["/", "/funds/", "/ledger/", "/action/", "/accounts/2/", "/accounts/2/funds/"])
def test_a_page_of_several_in_both_themes_and_at_every_width(house, enter, path):
    page = enter("operator").open(path)
    assert complaints(page, f"two accounts {path}") == []


def test_the_switch_leads_to_the_same_page_of_the_other(house, enter):
    person = enter("operator")
    page = person.open("/accounts/2/orders/")
    page.locator(".switch summary").click()
    page.get_by_role("link", name="Main desk", exact=True).click()
    page.wait_for_url(re.compile("/accounts/1/orders/$"))
    page.get_by_role("link", name="Funds", exact=True).click()
    page.wait_for_url(re.compile("/accounts/1/funds/$"))
    page.locator(".switch summary").click()
    page.get_by_role("link", name="All accounts", exact=True).click()
    page.wait_for_url(f"{house.url}/funds/")
    expect(page.locator("#holdings")).to_contain_text("Second desk")
    page.get_by_role("link", name="Orders", exact=True).click()
    page.wait_for_url(re.compile("/accounts/1/orders/$"))
