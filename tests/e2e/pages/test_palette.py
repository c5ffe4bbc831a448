"""The palette of the search box in a browser: opened by a key, moved through with arrows, with a memory."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.looks import complaints

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(240),
    pytest.mark.thorough("a comfort; what is found is proven by views"),
]


def test_a_page_and_a_market_are_found_opened_and_pinned_by_keys_alone(visit):
    page = visit("operator").open("/system/")
    page.keyboard.press("Control+k")
    box = page.locator("#palette")
    expect(page.locator("#find")).to_be_focused()
    expect(box).to_contain_text("Enter a page, an ID, an address")
    page.keyboard.type("ledg")
    expect(box.get_by_role("link", name="Ledger", exact=False).first).to_be_visible()
    found = complaints(page, "palette")
    page.keyboard.press("ArrowDown")
    expect(box.locator("a").first).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/ledger/$"))

    page.keyboard.press("/")
    expect(box.get_by_role("heading", name="Recent")).to_be_visible()
    expect(box.locator("a").first).to_contain_text("Ledger")
    pin = box.get_by_role("button", name="Pin Ledger")
    centre = pin.bounding_box()
    page.mouse.move(centre["x"] + centre["width"] / 2, centre["y"] + centre["height"] / 2)
    page.mouse.down()
    page.mouse.up()
    expect(pin).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()

    page.reload()
    page.locator("#find").click()
    expect(box.get_by_role("heading", name="Pinned")).to_be_visible()
    page.keyboard.type("eth/btc")
    expect(box.locator("a", has_text="ETHBTC").first).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    expect(page.locator("#find")).to_be_focused()
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/ETHBTC/$"))
    assert found == []


def test_who_is_ahead_of_the_answer_stays_in_what_is_found(visit):
    page = visit("operator").open("/system/")
    box = page.locator("#palette")
    page.keyboard.press("Control+k")
    page.keyboard.type("led")
    expect(box.get_by_role("link", name="Ledger").first).to_be_visible()
    page.route(re.compile("/search/palette/"), lambda route: (page.wait_for_timeout(400), route.continue_()))
    with page.expect_response(re.compile("/search/palette/[?]q=ledg$")):
        page.keyboard.type("g")
        page.wait_for_timeout(200)  # asked for, and not there yet
        page.keyboard.press("ArrowDown")
    page.wait_for_timeout(200)
    expect(box.locator("a:focus")).to_have_count(1)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/ledger/$"))
