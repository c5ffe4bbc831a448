"""Money that nobody here asked for reaches every page in seconds, and two of treasury end the alarm with a reason."""

import re

import pytest
from playwright.sync_api import expect

from tests.bounds import stretched
from tests.e2e.visitors import ADDRESS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
ALARMED_MS = stretched(20_000)


def test_a_payout_made_elsewhere_is_shown_taken_on_talked_about_and_closed_by_two(house, visit):
    treasury, operator = visit("treasury"), visit("operator")
    treasury.open("/withdrawals/")
    treasury.mark()
    operator.open("/orders/")
    house.control("foreign-withdrawal", {"currency": "BCH", "amount": "0.0417", "address": ADDRESS})

    for person in (treasury, operator):
        expect(person.page.locator("#alarm")).to_contain_text("0.0417 BCH", timeout=ALARMED_MS)
        expect(person.page.locator("#strip")).not_to_contain_text("All clear")
    expect(treasury.page).to_have_title(re.compile(r"^\(\d+\) "))
    assert treasury.is_same_document()

    treasury.page.locator("#alarm a", has_text="Unrecognised withdrawal").click()
    treasury.page.wait_for_url(re.compile(r"/action/incidents/\d+/$"))
    address = treasury.page.url
    treasury.page.get_by_role("button", name="Assign to me").click()
    expect(treasury.page.locator("#incident .facts")).to_contain_text(treasury.name)

    operator.page.goto(address, wait_until="networkidle")
    expect(operator.page.locator("#incident")).to_contain_text("can act on this incident")
    operator.page.get_by_label("Add a comment").fill("The bill of the hosting company.")
    operator.page.get_by_role("button", name="Add comment").click()
    expect(treasury.page.locator("#thread")).to_contain_text("The bill of the hosting company")

    reason = "Paid by hand at the exchange; the invoice is filed."
    _close(treasury, reason, "Submit finding")
    expect(treasury.page.locator("#incident")).to_contain_text("A second person must close the incident.")
    second = visit("treasury")
    second.open(address.removeprefix(house.url))
    expect(second.page.locator("#incident")).to_contain_text(reason)
    _close(second, reason, "Close incident")
    expect(treasury.page.locator("#incident")).to_contain_text("Closed: Paid by hand at the exchange")
    for person in (treasury, operator):
        person.page.mouse.move(640, 890)  # away from what the going bar would move
        expect(person.page.locator("#alarm")).not_to_contain_text("0.0417 BCH")


def _close(person, reason, button):
    page = person.page
    page.locator("summary", has_text="Close with a reason").click()
    page.get_by_label("What did you check and do?").fill(reason)
    page.get_by_label("Code from your authenticator app").fill(person.codes.fresh())
    page.get_by_role("button", name=button).click()
