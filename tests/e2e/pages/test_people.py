"""Somebody is invited, comes in by the link in another browser, and is a colleague until they are switched off."""

import re
import secrets
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from desk.people import totp
from tests.e2e.looks import complaints
from wire.values import Secret

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]
PASSWORD = "a-good-long-password-9"


def test_an_invited_operator_comes_in_and_is_switched_off(visit, open_page, house):
    admin, name = visit("admin"), f"new-{secrets.token_hex(3)}"
    page = admin.open("/people/")
    found = complaints(page, "people")
    page.get_by_role("link", name="Invite somebody").click()
    page.get_by_label("Username").fill(name)
    page.get_by_label("E-mail").fill(f"{name}@firm.test")
    page.get_by_label("Operator: asks for payouts").check()
    found += complaints(page, "people-invite")
    page.get_by_role("button", name="Review the invitation").click()
    expect(page.locator("main")).to_contain_text("Is this right?")
    page.get_by_label("Code of your authenticator app").fill("000000")
    page.get_by_role("button", name=re.compile("^Invite ")).click()
    expect(page.get_by_role("alert").first).to_contain_text("Incorrect code")
    page.get_by_label("Code of your authenticator app").fill(admin.codes.fresh())
    page.get_by_role("button", name=re.compile("^Invite ")).click()
    link = page.locator("#link").inner_text()
    found += complaints(page, "people-link")

    guest = open_page()
    guest.goto(link)
    guest.get_by_label("The e-mail address that you were invited with").fill("somebody@else.test")
    choose(guest)
    expect(guest.locator("main")).to_contain_text("made for another address")
    guest.get_by_label("The e-mail address that you were invited with").fill(f"{name}@firm.test")
    choose(guest)
    guest.wait_for_url(re.compile("/account/second-factor/$"))
    guest.get_by_role("link", name="Set up an app").click()
    guest.get_by_role("textbox", name="Password").fill(PASSWORD)  # whoever changes factors proves who they are
    guest.get_by_role("button", name="Confirm", exact=True).click()
    secret = Secret(re.sub(r"\s", "", guest.locator(".address").first.inner_text()))
    guest.get_by_label("Code").fill(totp.code_at(secret, totp.step_at(datetime.now(UTC))))
    guest.get_by_role("button", name="Set up the app").click()
    guest.goto(f"{house.url}/withdrawals/new/")
    expect(guest.locator("h1")).to_have_text("New withdrawal")

    admin.open("/people/")
    admin.page.get_by_role("link", name=name).click()
    found += complaints(admin.page, "person")
    admin.page.get_by_role("link", name="Deactivate").click()
    admin.page.get_by_label("Reason").fill("Left the company")
    found += complaints(admin.page, "person-deactivate")
    admin.page.get_by_label("Code of your authenticator app").fill(admin.codes.fresh())
    admin.page.get_by_role("button", name="Deactivate this account").click()
    expect(admin.page.locator("#person .head")).to_contain_text("Deactivated")
    guest.goto(f"{house.url}/withdrawals/")
    expect(guest).to_have_url(re.compile("/sign-in/"))
    assert found == []


def choose(guest):
    for label in ("New password", "New password confirmation"):
        guest.get_by_label(label, exact=True).fill(PASSWORD)
    guest.get_by_role("button", name="Set password").click()
