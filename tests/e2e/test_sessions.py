"""Two browsers of one person: one ends the other's session, whose open page is sent to the door."""

import re

import pytest
from playwright.sync_api import expect

from tests.bounds import stretched
from tests.e2e.looks import complaints

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]


def test_a_session_is_ended_from_another_browser(visit):
    here = visit("auditor")
    there = visit("auditor", name=here.name)
    there.open("/ledger/")
    here.open("/account/sessions/")
    rows = here.page.get_by_role("row").filter(has_text="Chrome")
    expect(rows).to_have_count(2)
    assert not complaints(here.page, "sessions")
    here.page.get_by_role("button", name="End this session").click()
    expect(here.page.locator("#messages")).to_contain_text("session ended.")
    expect(rows).to_have_count(1)
    # Each live part sends the page away, and the last one aborts the others.
    expect(there.page).to_have_url(re.compile("/sign-in/"), timeout=stretched(60_000))
