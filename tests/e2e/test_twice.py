"""Clicked twice, sent twice, from two tabs: one request, one decision, one payout."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import Outside, rows

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]


def requests(house, reason):
    return rows(house, "SELECT id FROM exchange_ops_withdrawal WHERE reason = ?", reason)


def cancel(visitor):
    """Take back what the open page shows as soon as the money is reserved."""
    visitor.holds()
    visitor.page.locator("summary", has_text="Withdraw request").click()
    visitor.page.locator("#id_cancel-reason").fill("Only a test of the form")
    visitor.page.get_by_role("button", name="Withdraw this request").click()
    expect(visitor.state()).to_have_text("Withdrawn by requester")


def test_a_double_click_and_the_same_form_sent_again_ask_once(house, visit):
    operator = visit("operator")
    form = operator.fill_in(amount="1.2531", reason="Clicked twice")
    sent = form.evaluate("() => new URLSearchParams(new FormData(document.getElementById('new'))).toString()")
    form.get_by_role("button", name="Request payout").dblclick()
    number = operator.number()
    places = operator.page.evaluate(
        """async (sent) => {
            const once = () => fetch("/withdrawals/new/", {method: "POST", body: new URLSearchParams(sent)});
            return (await Promise.all([once(), once(), once()])).map((answer) => new URL(answer.url).pathname);
        }""",
        sent,
    )
    assert places == [f"/withdrawals/{number}/"] * 3, "whoever sends it again is led to the same request"
    assert requests(house, "Clicked twice") == [(number,)]
    cancel(operator)


@pytest.mark.thorough("one request key is one request, proven without a browser")
def test_the_same_form_with_another_amount_is_refused(house, visit):
    operator = visit("operator")
    form = operator.fill_in(amount="1.2532", reason="Changed meanwhile")
    key = form.locator("input[name=request_key]").input_value()
    form.get_by_role("button", name="Request payout").click()
    number = operator.number()
    operator.open("/withdrawals/new/")
    operator.page.evaluate("(key) => { document.querySelector('input[name=request_key]').value = key; }", key)
    operator.fill_in(amount="2.5064", reason="Changed meanwhile", page=operator.page)
    operator.page.get_by_role("button", name="Request payout").click()
    expect(operator.page.locator("main")).to_contain_text(f"already submitted with different content, as W-{number}")
    assert requests(house, "Changed meanwhile") == [(number,)]
    operator.open(f"/withdrawals/{number}/")
    cancel(operator)


@pytest.mark.thorough("one request key is one request, proven without a browser")
def test_a_copied_tab_asks_for_the_same(house, visit):
    operator = visit("operator")
    operator.fill_in(amount="1.2533", reason="In two tabs")
    # A tab opened by another one begins with a copy of what that one keeps, as "duplicate tab" does.
    with operator.page.expect_popup() as opened:
        operator.page.evaluate("window.open(location.href)")
    copy = opened.value
    expect(copy.get_by_role("textbox", name="Reason")).to_have_value("In two tabs")
    for tab in (operator.page, copy):
        tab.get_by_role("button", name="Request payout").click()
        tab.wait_for_url(re.compile(r"/withdrawals/\d+/$"))
    assert copy.url == operator.page.url
    assert requests(house, "In two tabs") == [(operator.number(),)]
    cancel(operator)


def test_an_approval_clicked_twice_and_from_two_tabs_counts_once(house, visit):
    outside = Outside.from_now(house)
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2534", reason="Approved twice")
    treasury.open(f"/withdrawals/{number}/")
    second = treasury.page.context.new_page()
    second.goto(treasury.page.url, wait_until="networkidle")
    # A tab that hears nothing any more still shows the form.
    second.evaluate("document.querySelectorAll('[data-follow]').forEach((part) => { part.dataset.follow = ''; })")
    second.get_by_label("Code from your authenticator app").fill(treasury.codes.fresh())
    treasury.page.get_by_label("Code from your authenticator app").fill(treasury.codes.fresh())
    treasury.page.get_by_role("button", name=re.compile("^Approve and pay")).dblclick()
    treasury.is_paid()
    # The session's new key made the tab connect and read again, so its buttons rest; a page without scripts would send.
    second.locator("#decide form", has=second.locator("[name=code]")).first.evaluate("(form) => form.submit()")
    expect(second.locator("#decide [role=alert]").first).to_contain_text(f"Already decided by {treasury.name} at")
    assert rows(house, "SELECT count(*) FROM exchange_ops_approval WHERE withdrawal_id = ?", number) == [(1,)]
    assert outside.changes() == [("create_withdrawal", True), ("commit_withdrawal", True)]
    assert outside.statuses("1.2534") == ["success"]
