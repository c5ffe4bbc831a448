"""A margin action beyond the bounds of the rules, in a browser: named, ticked, and only then asked for."""

# ruff: noqa: F811  fixtures are named as what they give
import re

import pytest
from playwright.sync_api import expect

from exchange_ops.positions.models import MarginAction
from tests.exchange_ops.positions.test_bounds import position  # noqa: F401

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.thorough("the same part confirms an order beyond the rules, which runs always"),
]


def test_collateral_that_brings_the_margin_call_near_is_taken_only_once_that_is_ticked(open_as, operator, position):
    page = open_as(operator, "/margin/BCHUSD/collateral/")
    page.locator("#id_amount").fill("62")
    expect(page.locator("#place")).to_contain_text("62 USD")
    expect(page.get_by_role("group", name="Outside policy")).to_contain_text("Close to margin call.")
    page.locator("#place").click()
    expect(page.locator("main")).to_contain_text("Not sent. Please fix:")
    assert not MarginAction.objects.exists()
    page.get_by_role("checkbox", name="Close to margin call").check()
    # The summary is read again every five seconds: what was ticked stays ticked.
    with page.expect_response("**/margin/figures/**"):
        pass
    expect(page.get_by_role("checkbox", name="Close to margin call")).to_be_checked()
    page.locator("#place").click()
    page.wait_for_url(re.compile(r"/margin/actions/[0-9]+/$"))
    row = MarginAction.objects.get()
    assert [each["name"] for each in row.confirmed["oversteps"]] == ["call_near"]
    expect(page.locator("main")).to_contain_text("confirmed:")
