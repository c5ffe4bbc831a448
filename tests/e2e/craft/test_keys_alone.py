"""What people do each day, with keys alone: to a page, to what its main button opens, through rows."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import ADDRESS

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(240),
    pytest.mark.thorough("a comfort of every page; the looks walk a payout by keys alone"),
]


def keys(page, *names):
    for name in names:
        page.keyboard.press(name)


def test_a_list_is_reached_searched_exported_and_left_for_its_main_form(visit):
    page = visit("operator").open("/")
    keys(page, "g", "w")
    page.wait_for_url(re.compile(r"/withdrawals/$"), wait_until="networkidle")
    keys(page, "f")
    expect(page.locator(".list-search input")).to_be_focused()
    page.keyboard.type(ADDRESS[-12:])
    keys(page, "Enter")
    page.wait_for_url(re.compile(r"text="), wait_until="networkidle")

    keys(page, "x")
    expect(page.get_by_role("link", name="CSV", exact=True)).to_be_focused()
    with page.expect_download() as got:
        keys(page, "Enter")
    assert got.value.suggested_filename.endswith(".csv")

    keys(page, "n")
    page.wait_for_url(re.compile(r"/withdrawals/new/$"))


def test_a_list_without_a_search_opens_its_filters(visit):
    page = visit("auditor").open("/audit/")
    keys(page, "f")
    expect(page.locator("#main").get_by_label("Person", exact=True)).to_be_focused()


def test_arrows_reach_what_else_a_row_holds_and_j_goes_on_from_there(visit):
    page = visit("auditor").open("/ledger/")
    rows = page.locator("main tbody tr:has(a[href])")
    expect(rows.nth(1)).to_be_visible()
    keys(page, "j")
    first = rows.nth(0).locator("a[href]").first
    expect(first).to_be_focused()
    keys(page, "ArrowRight")
    expect(first).not_to_be_focused()
    expect(rows.nth(0).locator(":focus")).to_have_count(1)
    keys(page, "ArrowLeft")
    expect(first).to_be_focused()
    keys(page, "ArrowRight", "j")
    expect(rows.nth(1).locator("a[href]").first).to_be_focused()


def test_a_decision_and_a_comment_are_reached_and_neither_is_taken_by_a_key(visit):
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="0.0331", reason="Reached by keys")
    page = treasury.open(f"/withdrawals/{number}/")
    keys(page, "d")
    expect(page.get_by_label("Code from your authenticator app")).to_be_focused()

    treasury.open(f"/withdrawals/{number}/")
    keys(page, "c")
    expect(page.get_by_label("Add a comment")).to_be_focused()
    page.keyboard.type("Called the company")
    keys(page, "Control+Enter")
    expect(page.locator("#thread")).to_contain_text("Called the company")
    expect(treasury.state()).to_have_text("Reserved, waiting for approvals")
    expect(page.get_by_label("Add a comment")).to_have_value("")


def test_every_page_with_a_key_is_reached_by_it_and_keys_rest_where_somebody_types(visit):
    page = visit("every").open("/system/")
    every = "all => all.map((one) => [one.dataset.go, one.pathname])"
    places = page.eval_on_selector_all("#shortcuts a[data-go]", every)
    assert len({key for key, _ in places}) == len(places) >= 20
    for key, path in places:
        keys(page, "g", key)
        page.wait_for_url(f"**{path}", wait_until="domcontentloaded")
    page.locator("#find").focus()
    page.keyboard.type("gn")
    expect(page.locator("#find")).to_have_value("gn")
