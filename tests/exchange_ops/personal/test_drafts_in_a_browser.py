"""What is typed into a long form stays in its tab until it is sent, and secrets never do."""

import pytest
from playwright.sync_api import expect

from desk import clock
from desk.people import totp
from exchange_ops.transfers import machine, states
from tests.desk.staff.keeping import SECRET
from tests.exchange_ops import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
STORED = "() => JSON.stringify({...sessionStorage})"


@pytest.fixture
def keeper(admin):
    totp.enrol(admin, SECRET)
    return admin


@pytest.mark.every(3, "the forms without a secret are kept by the same script")
def test_a_draft_comes_back_with_its_ticks_and_without_secret_and_code(open_as, keeper):
    page = open_as(keeper, "/keys/new/")
    page.get_by_label("Name", exact=True).fill("Payouts, autumn")
    page.get_by_label("Secret").fill("hush-hush")
    page.get_by_label("Code from").fill("123456")
    boxes = page.locator("input[name=rights]")
    boxes.nth(1).check()
    assert not any(word in page.evaluate(STORED) for word in ("hush-hush", "123456", "digest"))
    page.goto(page.url, wait_until="networkidle")
    expect(page.get_by_text("Unsent draft from this tab")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("Payouts, autumn")
    expect(page.get_by_label("Secret")).to_have_value("")
    assert [box.is_checked() for box in boxes.all()] == [False, True, False, False]

    page.goto(page.url.replace("/keys/new/", "/people/invite/"))
    page.get_by_label("E-mail").fill("new@firm.test")
    page.get_by_label("Username").fill("new")
    page.locator("input[name=roles][value=auditor]").check()
    expect(page.get_by_role("button", name="Invite new")).to_be_visible()
    page.goto(page.url, wait_until="networkidle")
    expect(page.get_by_role("button", name="Invite new")).to_be_visible()
    page.get_by_role("link", name="Cancel").click()
    page.wait_for_url("**/people/")
    assert "kept:invitation" not in page.evaluate(STORED)


@pytest.mark.every(3, "a page that is not drawn anew in parts is kept by the same script")
def test_a_draft_stays_in_a_part_that_is_read_again(open_as, admin):
    rows.subaccount(now=clock.now())
    page = open_as(admin, "/subaccounts/7001/")
    page.locator("summary", has_text="Change payout settings").click()
    page.get_by_label("Reason").fill("Half a sentence")
    page.goto(page.url, wait_until="networkidle")
    expect(page.get_by_text("Unsent draft from this tab")).to_be_visible()
    expect(page.get_by_label("Reason")).to_have_value("Half a sentence")
    page.get_by_role("button", name="Discard draft").click()
    page.locator("summary", has_text="Change payout settings").click()
    expect(page.get_by_label("Reason")).to_have_value("")


@pytest.mark.every(3, "the content of the form is proven without a browser")
def test_no_draft_takes_the_place_of_what_is_requested_again(open_as, operator):
    now = clock.now()
    rows.currency(now=now, transfer_enabled=True)
    row = rows.transfer(operator, now=now)
    machine.move(row, event="cancelled", to=states.CANCELLED, now=now, actor=operator)
    page = open_as(operator, "/transfers/new/move/")
    page.get_by_label("Amount").fill("7")
    page.goto(f"{page.url}?again={row.pk}", wait_until="networkidle")
    expect(page.get_by_label("Amount")).to_have_value("2.5")
    expect(page.get_by_text(f"Copied from {row.reference}")).to_be_visible()
