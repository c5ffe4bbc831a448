"""What only a browser can show: live parts, typed text that stays, a lost connection, both themes, no violations."""

import re
from datetime import timedelta

import pytest

from desk import clock
from exchange_ops.withdrawals.decisions import approvals
from tests.e2e.looks import complaints
from tests.exchange_ops import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def reject(row, person):
    approvals.reject(withdrawal_id=row.pk, person=person, reason="Wrong invoice", now=clock.now())


def test_a_change_reaches_an_open_page_without_a_reload(open_as, operator, treasury):
    row = rows.held(operator, now=clock.now())
    page = open_as(operator, f"/withdrawals/{row.pk}/")
    page.evaluate("window.marked = true")
    reject(row, treasury)
    page.wait_for_selector("#facts .chip:has-text('Being released')")
    page.wait_for_selector("#decide:has-text('Wrong invoice')")
    assert page.evaluate("window.marked") is True


def test_typed_text_stays_and_the_buttons_rest_when_the_matter_changed(open_as, operator, treasury, treasury2):
    row = rows.held(operator, now=clock.now())
    page = open_as(treasury, f"/withdrawals/{row.pk}/")
    page.fill("input[name=comment]", "Called the company")
    reject(row, treasury2)
    page.wait_for_selector("[data-stale-note]:not([hidden])")
    assert page.input_value("input[name=comment]") == "Called the company"
    assert page.locator("[data-decides]:enabled").count() == 0


def test_a_lost_connection_is_said_and_decisions_rest(open_as, operator, treasury):
    row = rows.held(operator, now=clock.now())
    page = open_as(treasury, f"/withdrawals/{row.pk}/")
    page.context.set_offline(True)
    page.wait_for_selector("#offline:has-text('Data as of')")
    assert page.locator("[data-decides]:enabled").count() == 0
    page.context.set_offline(False)
    page.wait_for_selector("#offline", state="hidden")
    page.wait_for_selector("[data-decides]:enabled")


@pytest.mark.thorough("a draft decides nothing, and the figures are proven by the view")
def test_the_form_fills_in_what_arrives_and_keeps_what_was_typed(open_as, operator):
    page = open_as(operator, "/withdrawals/new/?currency=BCH")
    page.fill("#id_amount", "1.25")
    page.fill("#id_address", rows.ADDRESS)
    page.wait_for_selector("#figures:has-text('1.2510 BCH')")
    page.wait_for_selector("#destination:has-text('regtest network')")
    page.fill("#id_reason", "Half a sentence")
    page.goto(page.url.replace("?currency=BCH", ""))
    assert page.input_value("#id_reason") == "Half a sentence"
    assert page.input_value("#id_amount") == "1.25"


def test_no_key_decides_anything(open_as, operator, treasury):
    row = rows.held(operator, now=clock.now())
    page = open_as(treasury, f"/withdrawals/{row.pk}/")
    for key in "abcdefhijklmnopqrstuvwxyz":
        page.keyboard.press(key)
        page.evaluate("document.activeElement.blur()")  # some lead into a field, where the next letter would be text
    page.keyboard.press("Enter")
    row.refresh_from_db()
    assert row.state == "held"
    assert row.decision == "none"
    page.keyboard.press("g")
    page.keyboard.press("i")
    page.wait_for_url(re.compile("/action/$"))
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "find"


# What a desk shows when something is not as it should be; the other pages are looked at with the whole house.
PATHS = ("/", "/withdrawals/", "/approvals/", "/ledger/", "/system/")


def test_no_page_breaks_a_rule_of_access_or_of_content(open_as, operator, treasury):
    row = rows.held(operator, now=clock.now() - timedelta(minutes=30))
    rows.ended(operator, now=clock.now())
    rows.submitted(operator, to="review", now=clock.now())
    rows.entry(4, now=clock.now(), type="payout", foreign=True, address=rows.ADDRESS)
    page = open_as(treasury, "/")
    found, start = [], page.url.rstrip("/")
    for path in (*PATHS, f"/withdrawals/{row.pk}/"):
        page.goto(f"{start}{path}", wait_until="networkidle")
        found += complaints(page, path, judged=(1280, 320))
    assert not found
    assert not page.violations
