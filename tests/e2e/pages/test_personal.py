"""Somebody new takes the tour once, and makes the pages their own; what a script draws agrees with the server."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.looks import complaints, shot

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("a comfort; what settings change is proven by views"),
]

# The module that the page runs, under the name that it was served by.
WRITTEN = """async () => {
    const served = performance.getEntriesByType("resource").map((one) => one.name);
    const { instant, minute, besides } = await import(served.find((name) => /\\/personal\\.[^/]*js$/.test(name)));
    const winter = new Date("2026-11-20T23:30:05Z");
    return [instant(winter), minute(new Date("2026-07-01T12:00:00Z")), besides(winter)];
}"""


def test_the_tour_leads_from_page_to_page_and_never_comes_again(house, visit):
    newcomer = visit("newcomer")
    page, found = newcomer.open("/"), []
    tour = page.get_by_role("region", name=re.compile("First time here"))
    expect(tour).to_contain_text("Request a payout")
    found += complaints(page, "tour-begin")
    tour.get_by_role("button", name="Start the tour").click()
    page.wait_for_url("**/withdrawals/new/")
    expect(page.locator("#tour")).to_contain_text("step 1 of 3")
    found += complaints(page, "tour-1")
    page.get_by_role("button", name="Next", exact=True).click()
    page.wait_for_url("**/withdrawals/")
    page.get_by_role("button", name="Back", exact=True).click()
    page.wait_for_url("**/withdrawals/new/")
    page.get_by_role("button", name="Next", exact=True).click()
    page.wait_for_url("**/withdrawals/")
    page.get_by_role("button", name="Next", exact=True).click()
    page.wait_for_url("**/action/")
    found += complaints(page, "tour-3")
    page.get_by_role("button", name="Finish the tour").click()
    expect(page.get_by_role("heading", name="Overview")).to_be_visible()
    expect(page.locator("#tour")).to_have_count(0)
    assert found == []


def test_a_person_s_zone_and_figures_hold_for_what_scripts_draw(house, visit):
    newcomer = visit("newcomer")
    page = newcomer.open("/")
    page.get_by_role("button", name="Skip the tour").click()
    expect(page.locator("#tour")).to_have_count(0)
    page = newcomer.open("/account/settings/")
    page.get_by_label("Time zone", exact=True).select_option("Asia/Kathmandu")
    page.get_by_label("Number format", exact=True).select_option("apostrophe")
    page.get_by_label("Density", exact=True).select_option("compact")
    page.get_by_label("Theme", exact=True).select_option("dark")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_text("Settings saved.")).to_be_visible()
    expect(page.locator("html")).to_have_attribute("data-density", "compact")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    found = complaints(page, "settings-compact")
    # The clock is drawn by the server once, and by the script from then on.
    page = newcomer.open("/markets/BTCUSD/")
    expect(page.locator("[data-clock]")).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\+5:45$"))
    assert page.evaluate(WRITTEN) == [
        "2026-11-21 05:15:05 UTC+5:45",
        "2026-07-01 17:45",
        "2026-11-20 23:30:05 UTC",
    ]
    expect(page.locator("#now")).to_contain_text(re.compile(r"\d\u2019\d{3}"))
    expect(page.locator("#now [data-at]")).to_have_text(re.compile("UTC\\+5:45"))
    shot(page, "market-kathmandu")
    assert found == []
