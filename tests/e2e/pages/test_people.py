"""Somebody is invited, comes in by the link in another browser, and is a colleague until they are switched off."""

import re
import secrets
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from desk.people import totp
from tests import door
from tests.e2e.looks import complaints
from tests.e2e.visitors import until
from wire.values import Secret

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough("every act on a person is proven without a browser"),
]
PASSWORD = "a-good-long-password-9"


def test_an_invited_operator_comes_in_and_is_switched_off(visit, open_page, house):
    admin, name = visit("admin"), f"new-{secrets.token_hex(3)}"
    page = admin.open("/people/")
    found = complaints(page, "people")
    page.get_by_role("link", name="Invite person").click()
    expect(page.get_by_label("E-mail")).to_be_focused()
    page.keyboard.type("nobody")
    page.get_by_label("Operator: requests payouts").check()
    expect(page.locator("#review")).to_contain_text("Enter a valid e-mail address")
    page.get_by_label("E-mail").fill(f"{name}@firm.test")
    page.get_by_label("Username").focus()
    found += complaints(page, "people-invite")
    review = page.locator("#review dl")
    expect(review).to_contain_text(name)
    page.get_by_label("Code from your authenticator app").fill("000000")
    page.get_by_label("Treasury: approves and rejects").check()
    expect(review).to_contain_text("Treasury")
    expect(page.get_by_label("Code from your authenticator app")).to_have_value("000000")
    page.get_by_label("Treasury: approves and rejects").uncheck()
    page.get_by_label("Auditor: read-only access").check()
    expect(page.locator("#review")).to_contain_text("can't be combined")
    page.get_by_label("Auditor: read-only access").uncheck()
    expect(review).to_have_text(re.compile(r"Roles\s*Operator\s*$"))
    page.get_by_label("Code from your authenticator app").fill("000000")
    page.get_by_role("button", name=re.compile("^Invite ")).click()
    expect(page.get_by_role("alert").first).to_contain_text("Incorrect code")
    page.get_by_label("Code from your authenticator app").fill(admin.codes.fresh())
    page.get_by_role("button", name=re.compile("^Invite ")).click()
    expect(page.locator("main")).to_contain_text("E-mail new link")
    link = mailed_link(admin, f"{name}@firm.test")

    guest = open_page()
    guest.goto(link)
    guest.get_by_label("The e-mail address you were invited with").fill("somebody@else.test")
    choose(guest)
    expect(guest.locator("main")).to_contain_text("for a different e-mail address")
    guest.get_by_label("The e-mail address you were invited with").fill(f"{name}@firm.test")
    choose(guest)
    guest.wait_for_url(re.compile("/account/second-factor/$"))
    guest.get_by_role("link", name="Set up app").click()
    guest.get_by_role("textbox", name="Password").fill(PASSWORD)  # whoever changes factors proves who they are
    guest.get_by_role("button", name="Confirm", exact=True).click()
    secret = Secret(re.sub(r"\s", "", guest.locator(".address").first.inner_text()))
    guest.get_by_label("Code").fill(totp.code_at(secret, totp.step_at(datetime.now(UTC))))
    guest.get_by_role("button", name="Set up app").click()
    guest.goto(f"{house.url}/withdrawals/new/")
    expect(guest.locator("h1")).to_have_text("New withdrawal")

    admin.open("/people/")
    admin.page.get_by_role("link", name=name).click()
    found += complaints(admin.page, "person")
    found += gets_a_second_role(admin)
    guest.goto(f"{house.url}/withdrawals/")
    expect(guest).to_have_url(re.compile("/sign-in/"))
    door.sign_in(guest, house.url, name, PASSWORD)
    guest.goto(f"{house.url}/withdrawals/")
    expect(guest.locator("h1")).to_have_text("Withdrawals")
    admin.page.get_by_role("link", name="Deactivate").click()
    admin.page.get_by_label("Reason").fill("Left the company")
    found += complaints(admin.page, "person-deactivate")
    admin.page.get_by_label("Code from your authenticator app").fill(admin.codes.fresh())
    admin.page.get_by_role("button", name="Deactivate account").click()
    expect(admin.page.locator("#person .head")).to_contain_text("Deactivated")
    guest.goto(f"{house.url}/withdrawals/")
    expect(guest).to_have_url(re.compile("/sign-in/"))
    assert found == []


def mailed_link(admin, address):
    """The link in the demo's mailbox, as soon as it was mailed; no other page shows it."""

    def mailed():
        letters = admin.open("/mailbox/").locator("details", has_text=address).locator(".letter").all_text_contents()
        links = [match[0] for text in letters if (match := re.search(r"http\S+code=inv_\w+", text))]
        return links[0] if links else ""

    return until(mailed, every_s=1)


def gets_a_second_role(admin):
    """What it does stands below the ticks on the page of the person, and words typed there stay with other ticks."""
    page, review = admin.page, admin.page.locator("#review")
    page.get_by_label("Treasury: approves and rejects").check()
    expect(review).to_contain_text("Will get Treasury")
    review.get_by_label("Reason").fill("Helps out")
    page.get_by_label("Operator: requests payouts").uncheck()
    expect(review).to_contain_text("Will lose Operator")
    expect(review.get_by_label("Reason")).to_have_value("Helps out")
    page.get_by_label("Operator: requests payouts").check()
    page.get_by_label("Treasury: approves and rejects").uncheck()
    expect(review).to_contain_text("The person already has these roles")
    page.get_by_label("Treasury: approves and rejects").check()
    expect(review).to_contain_text("Will get Treasury")
    found = complaints(page, "person-roles")
    review.get_by_label("Reason").fill("Helps out")
    review.get_by_label("Code from your authenticator app").fill(admin.codes.fresh())
    review.get_by_role("button", name="Change roles").click()
    expect(page.locator("#person .facts").first).to_contain_text("Treasury")
    return found


def choose(guest):
    for label in ("New password", "New password confirmation"):
        guest.get_by_label(label, exact=True).fill(PASSWORD)
    guest.get_by_role("button", name="Set password").click()
