"""Rights that end while a page is open: it says so, its socket closes, its buttons rest, and nothing is done by it."""

import re
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from desk import clock
from desk.models import AuditEvent
from desk.people import totp
from desk.staff import states
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal
from tests.desk.staff.keeping import SECRET, answer_at, deactivated, requested
from tests.exchange_ops import rows
from tests.exchange_ops.conftest import await_so

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]
SIGNED_OUT = 4401
SAID = "You were signed out. Nothing was sent, and what you typed is still here"
UNDONE = "You were signed out. Your last action was not carried out."
# Keeps with which code each socket of the page was closed.
WATCHED = """(() => {
    const Real = window.WebSocket;
    window.closings = [];
    window.WebSocket = class extends Real {
        constructor(...words) {
            super(...words);
            this.addEventListener("close", (event) => window.closings.push(event.code));
        }
    };
})();"""
# What rests can be woken by whoever has the browser in their hands, and be pressed before it rests again: the desk
# refuses it all the same.
PRESSED = """(name) => {
    const button = [...document.querySelectorAll("main button")].find((one) => one.textContent.trim().startsWith(name));
    button.disabled = false;
    button.click();
}"""


@pytest.fixture
def keeper(admin):
    """An administrator with a second factor."""
    totp.enrol(admin, SECRET)
    return admin


def watched(open_as, person, path):
    """The page of this person with its socket watched, read and joined."""
    page = open_as(person, path)
    page.context.add_init_script(WATCHED)
    page.reload(wait_until="networkidle")
    return page


def is_told(page):
    """Wait until the socket was closed for that reason, and the page says so."""
    await_so(page, lambda: SIGNED_OUT in page.evaluate("window.closings"))
    expect(page.locator("#offline")).to_contain_text(SAID)


def is_led_to_sign_in(page):
    """Several parts of the page may lead there one after the other: the last one is waited for."""
    expect(page).to_have_url(re.compile("/sign-in/"))
    page.wait_for_load_state("networkidle")


def test_a_role_lost_while_its_page_is_open_ends_its_buttons_and_its_socket(open_as, operator, treasury, keeper):
    totp.enrol(treasury, SECRET)
    row = rows.held(operator, now=clock.now())
    page = watched(open_as, treasury, f"/withdrawals/{row.pk}/")
    page.wait_for_selector("[data-decides]:enabled")
    page.fill("input[name=comment]", "Called the company")
    requested(states.ROLES, treasury, keeper, answer_at(0), grants=["auditor"])
    is_told(page)
    expect(page.locator("[data-decides]:enabled")).to_have_count(0)
    expect(page.locator("input[name=comment]")).to_have_value("Called the company")
    before = AuditEvent.objects.count()

    page.fill("input[name=code]", totp.code_at(SECRET, totp.step_at(clock.now())))
    page.evaluate(PRESSED, "Approve and pay")
    is_led_to_sign_in(page)
    expect(page.locator("main")).to_contain_text(UNDONE)
    assert Withdrawal.objects.get(pk=row.pk).state == "held"
    assert not row.approvals.exists()
    assert AuditEvent.objects.count() == before


@pytest.mark.every(3, "the one count and the hints that follow are proven without a browser")
def test_an_approval_that_no_longer_counts_changes_the_button_on_the_open_page_of_another(
    open_as, operator, treasury, treasury2, keeper
):
    totp.enrol(treasury2, SECRET)
    row = rows.held(operator, now=clock.now(), amount=Decimal(30))
    approval = {"digest": row.digest, "comment": "", "session_key": "s", "now": clock.now()}
    approvals.approve(withdrawal_id=row.pk, person=treasury2, answer=answer_at(0), **approval)
    page = open_as(treasury, f"/withdrawals/{row.pk}/")
    button = page.locator("#decide form[action$='/approve/'] .btn.main")
    expect(button).to_contain_text("Approve and pay")
    deactivated(treasury2, keeper, answer_at(0))
    expect(button).to_contain_text("1 more approval needed")
    expect(page.locator("#decide header")).to_contain_text("0 of 2 approvals")


@pytest.mark.thorough("a role that is lost runs always; what each role sees is proven by views")
def test_whoever_comes_back_with_another_role_sees_the_page_without_what_went(
    open_as, operator, treasury, keeper, password
):
    row = rows.held(operator, now=clock.now())
    page = watched(open_as, treasury, f"/withdrawals/{row.pk}/")
    expect(page.locator("[data-decides]").first).to_be_visible()
    requested(states.ROLES, treasury, keeper, answer_at(0), grants=["auditor"])
    is_led_to_sign_in(page)  # nothing was typed, so the next reading leads here by itself
    expect(page.locator("main")).to_contain_text("You were signed out. Nothing was sent.")
    page.fill("input[name=login]", treasury.username)
    page.fill("input[name=password]", password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_url(re.compile(f"/withdrawals/{row.pk}/$"))
    expect(page.locator("#facts")).to_contain_text("1.2500")
    expect(page.locator("[data-decides]")).to_have_count(0)


@pytest.mark.thorough("a role that is lost ends the same way, and runs always")
def test_somebody_switched_off_in_the_middle_of_a_form_is_told_and_asks_for_nothing(
    open_as, operator, keeper, password
):
    page = watched(open_as, operator, "/withdrawals/new/?currency=BCH")
    page.fill("#id_amount", "1.25")
    page.fill("#id_address", rows.ADDRESS)
    page.fill("#id_reason", "Half a sentence")
    deactivated(operator, keeper, answer_at(0))
    is_told(page)
    expect(page.locator("#id_reason")).to_have_value("Half a sentence")
    page.locator("#id_reason").press_sequentially(", and the other half")

    button = page.get_by_role("button", name="Request payout")
    expect(button).to_be_disabled()
    page.evaluate(PRESSED, "Request payout")
    is_led_to_sign_in(page)
    expect(page.locator("main")).to_contain_text(UNDONE)
    assert not Withdrawal.objects.exists()
    page.fill("input[name=login]", operator.username)
    page.fill("input[name=password]", password)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.wait_for_load_state("networkidle")
    assert page.context.request.get(page.url.split("/sign-in")[0] + "/withdrawals/", max_redirects=0).status == 302
