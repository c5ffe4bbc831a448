"""Two people change the rules in their browsers: what differs is read by both, and what loosens waits for a day."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.looks import complaints
from tests.e2e.visitors import rows

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("every act on the rules is proven without a browser"),
]


def test_rules_are_proposed_agreed_to_and_stopped_before_their_day(house, visit):
    author, other = visit("treasury"), visit("treasury")
    page = author.open("/policy/")
    page.get_by_role("link", name="Change the rules").click()
    page.get_by_label("Tier 1, Approvals").fill("2")
    page.get_by_label("Tier 2, Value up to").fill("300,000")
    page.get_by_label("Limit 1, at most").fill("900000")
    page.get_by_role("button", name="Review changes").click()
    expect(page.get_by_role("alert").first).to_contain_text(
        "Tier 2, Value up to: Enter the amount with a decimal point"
    )
    expect(page.get_by_label("Limit 1, at most")).to_have_value("900000")
    found = complaints(page, "rules-wrong")
    page.get_by_label("Tier 2, Value up to").fill("300000")
    page.get_by_label("Reason for the change").fill("We grew")
    page.get_by_role("button", name="Review changes").click()
    expect(page.locator("main")).to_contain_text("Up to 10,000 USD: 2 approvals (was 1).")
    expect(page.locator("main")).to_contain_text("takes effect 24 hours after a second person approves")
    found += complaints(page, "rules-review")
    page.get_by_label("Code from your authenticator app").fill("000000")
    page.get_by_role("button", name="Propose rule change").click()
    expect(page.get_by_role("alert").first).to_contain_text("Incorrect code")
    page.get_by_label("Code from your authenticator app").fill(author.codes.fresh())
    page.get_by_role("button", name="Propose rule change").click()
    page.wait_for_url(re.compile(r"/policy/changes/\d+/$"))
    address = page.url

    theirs = other.open("/action/")
    theirs.get_by_role("link", name=re.compile("Rule change")).first.click()
    theirs.wait_for_url(address)
    found += complaints(theirs, "rules-change")
    theirs.get_by_label("Code from your authenticator app").fill(other.codes.fresh())
    theirs.get_by_role("button", name="Approve, effective in 24 hours").click()
    expect(theirs.locator("#change .head .chip")).to_have_text("Takes effect later")
    # Who proposed it sees that without doing anything, and takes it back.
    expect(page.locator("#change .head .chip")).to_have_text("Takes effect later")
    page.get_by_role("button", name="Withdraw proposal").click()
    expect(theirs.locator("#change .head .chip")).to_have_text("Withdrawn")
    assert rows(house, "SELECT max(number) FROM exchange_ops_policyversion") == [(1,)]
    assert found == []
