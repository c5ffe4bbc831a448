"""Giving a second factor in a real browser, with a second tab open: the new key of the session disturbs neither."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import Outside, rows

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def session_of(visitor):
    (cookie,) = [one for one in visitor.page.context.cookies() if one["name"] == "sessionid"]
    return cookie["value"]


def test_an_approval_gives_the_session_a_new_key_and_the_other_tab_goes_on(house, visit):
    outside = Outside.from_now(house)
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2561", reason="With another tab")
    other = treasury.page.context.new_page()
    other.goto(f"{house.url}/approvals/")
    treasury.open(f"/withdrawals/{number}/")
    before = session_of(treasury)
    treasury.approve()
    treasury.is_paid()
    assert session_of(treasury) != before
    assert outside.statuses("1.2561") == ["success"]

    # The other tab re-reads itself with the new key, and hears of what comes next.
    later = operator.ask_and_hold(amount="1.2562", reason="Seen by the other tab")
    expect(other.locator("#inbox")).to_contain_text("1.2562", timeout=30_000)
    expect(other).to_have_url(re.compile("/approvals/"))
    expect(other.locator("#frozen")).to_be_hidden(timeout=30_000)
    treasury.open(f"/withdrawals/{later}/")
    treasury.reject("Only a test")
    assert rows(house, "SELECT count(*) FROM django_session WHERE session_key = ?", before) == [(0,)]
