"""One person asks, another decides, and both pages tell what happens to the money without being loaded again."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import ADDRESS, Outside, rows, until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]


@pytest.mark.thorough("the walk of the README, which always runs")
def test_asked_approved_and_paid_while_both_pages_stay_open(house, visit):
    outside = Outside.from_now(house)
    operator, treasury = visit("operator"), visit("treasury")
    treasury.open("/approvals/")
    treasury.mark()
    number = operator.ask_and_hold(amount="1.2501", reason="Invoice 4711")
    operator.mark()
    expect(operator.page.locator("#decide")).to_contain_text("You requested this payout")
    expect(operator.page.get_by_role("button", name=re.compile("^Approve"))).to_have_count(0)
    assert outside.changes() == [("create_withdrawal", True)]
    assert outside.statuses("1.2501") == ["created"], "a hold pays nobody"
    assert outside.reserved() > 0

    entry = treasury.page.locator("#inbox .entry", has_text="Invoice 4711").locator(".e-title")
    expect(entry).to_be_visible()
    assert treasury.is_same_document(), "the inbox filled by itself"
    entry.click()
    card = treasury.page.locator("#facts")
    expect(card).to_contain_text("1.2501")
    assert treasury.page.locator("#facts .read-address").inner_text().replace("\n", "").replace(" ", "") == ADDRESS
    expect(card).to_contain_text("Payment ID")
    expect(treasury.page.locator("#facts .echo [aria-label=differs]")).to_have_count(0)
    treasury.mark()
    treasury.approve()

    operator.is_paid()
    expect(operator.state()).to_have_text("Paid and proven")
    expect(operator.page.locator("#facts")).to_contain_text("Paid, and verified on-chain")
    deep = re.compile(r"\(\d+ confirmations\), and Countersign verified the proof")  # a block comes by itself, too
    expect(operator.page.locator("#proof")).to_contain_text(deep)
    assert operator.is_same_document(), "the page was never loaded again"
    seen = operator.seen()
    assert seen[0] == "Reserved, waiting for approvals"
    assert seen[-1] == "Paid and proven"
    assert len(seen) > 2, "it told what happened in between"
    expect(treasury.state()).to_have_text("Paid and proven")
    story = operator.page.locator("#story .line")
    for word in ("Reserved", "Approved", "Paid"):
        expect(story).to_contain_text(word)

    assert outside.changes() == [("create_withdrawal", True), ("commit_withdrawal", True)]
    assert outside.statuses("1.2501") == ["success"], "exactly one payout"
    assert outside.is_balanced()
    assert rows(
        house, "SELECT decision, put_count, delete_count FROM exchange_ops_withdrawal WHERE id = ?", number
    ) == [("commit", 1, 0)]


def test_rejected_and_released_while_the_page_stays_open(house, visit):
    outside = Outside.from_now(house)
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2502", reason="A second invoice")
    operator.mark()
    assert outside.statuses("1.2502") == ["created"]
    treasury.open(f"/withdrawals/{number}/")
    treasury.reject("Not ours")
    expect(operator.state()).to_have_text("Rejected")
    expect(operator.page.locator("#facts")).to_contain_text(f"Rejected by {treasury.name}: Not ours")
    assert operator.is_same_document()
    assert outside.changes() == [("create_withdrawal", True), ("rollback_withdrawal", True)]
    assert outside.statuses("1.2502") == ["failed"]
    assert until(lambda: outside.reserved() == outside.reserved_for_payouts()), "nothing is left reserved for it"
    assert outside.is_balanced()


def withdraws_from_the_list(operator, number):
    """By the action of the row, without a reason."""
    page = operator.open("/withdrawals/")
    page.get_by_role("link", name=f"Withdraw request W-{number}", exact=True).click()
    page.get_by_role("button", name="Withdraw this request").click()
    expect(operator.state()).to_have_text("Withdrawn by requester")


def rows_are_alike(page):
    """Every row of the list is as high as any other, with an action or without, and no column is out of sight."""
    heights = page.locator("#rows tbody tr").evaluate_all("(rows) => rows.map((one) => one.offsetHeight)")
    assert len(heights) > 1
    assert max(heights) - min(heights) <= 1, heights
    assert page.locator("#rows .scroll").evaluate("(one) => one.scrollWidth <= one.clientWidth")


@pytest.mark.thorough("a form's words are proven by views")
def test_rejecting_wants_a_reason_and_says_so_beside_the_field(house, visit):
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2503", reason="A third invoice")
    treasury.open(f"/withdrawals/{number}/")
    treasury.page.evaluate("document.querySelectorAll('form').forEach((form) => { form.noValidate = true; })")
    treasury.page.locator("summary", has_text=re.compile("^Reject$")).click()
    treasury.page.get_by_role("button", name="Reject and release funds").click()
    expect(treasury.page.locator("#decide")).to_contain_text("Enter a reason")
    assert rows(house, "SELECT state FROM exchange_ops_withdrawal WHERE id = ?", number) == [("held",)]
    withdraws_from_the_list(operator, number)
    until(lambda: Outside.from_now(house).statuses("1.2503") == ["failed"])
    other = operator.ask_and_hold(amount="1.2513", reason="A fourth invoice")
    rows_are_alike(operator.open("/withdrawals/"))
    withdraws_from_the_list(operator, other)
    until(lambda: Outside.from_now(house).statuses("1.2513") == ["failed"])
