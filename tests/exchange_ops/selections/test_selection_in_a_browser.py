"""Three requests ticked in the list, read whole, and decided by one press of a passkey."""

import re
from decimal import Decimal

import pytest
from allauth.mfa.models import Authenticator
from playwright.sync_api import expect

from desk import audit_check, clock
from desk.live import announcements
from desk.models import StepUp
from exchange_ops.withdrawals.models import Withdrawal
from tests.bounds import stretched
from tests.desk.people.test_passkey_browser import ENROL
from tests.exchange_ops import rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]
DEVICE = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
STEP_MS = stretched(30_000)


def enrol(page, person):
    """A device that verifies its user, with a passkey of this person."""
    device = page.context.new_cdp_session(page)
    device.send("WebAuthn.enable")
    device.send("WebAuthn.addVirtualAuthenticator", {"options": {**DEVICE, "isUserVerified": True}})
    enrolled = page.evaluate(ENROL)
    Authenticator.objects.create(
        user=person, type=Authenticator.Type.WEBAUTHN, data={"name": "laptop", "credential": enrolled}
    )


def test_the_comment_of_an_approval_on_its_own_page_is_signed_by_the_device(open_as, treasury, operator):
    row = rows.held(operator, now=clock.now())
    page = open_as(treasury, f"/withdrawals/{row.pk}/")
    enrol(page, treasury)
    page.locator(f"form[action='/withdrawals/{row.pk}/approve/']").get_by_label("Comment").fill("Matches the invoice")
    page.get_by_role("button", name="Approve with a passkey").click()
    expect(page.locator("main")).to_contain_text("Matches the invoice", timeout=STEP_MS)
    (signature,) = StepUp.objects.filter(kind="passkey")
    assert "Matches the invoice" in signature.listed
    assert Withdrawal.objects.get(pk=row.pk).decision == "commit"
    assert page.violations == []


def test_three_requests_are_decided_under_one_passkey(open_as, treasury, operator):
    held = [rows.held(operator, now=clock.now(), amount=Decimal(n) / 100) for n in range(1, 24)]
    page = open_as(treasury, "/action/?sort=oldest")
    enrol(page, treasury)
    expect(page.locator("#selection")).to_be_hidden(timeout=STEP_MS)
    page.get_by_label(f"Select {held[0].reference}", exact=True).click()
    page.get_by_label(f"Select {held[1].reference}", exact=True).click()
    # A live update draws the list anew while two are ticked: both stay ticked, and so does the page of the list.
    page.locator("#inbox").evaluate("part => { part.dataset.old = 'yes'; }")
    announcements.announce("approvals", subject=held[0].subject)
    page.mouse.move(0, 0)
    expect(page.locator("#inbox[data-old]")).to_have_count(0, timeout=STEP_MS)
    expect(page.get_by_label(f"Select {held[0].reference}", exact=True)).to_be_checked()
    page.get_by_role("link", name="Next").click()
    page.wait_for_url(re.compile("page=2"))
    page.get_by_label(f"Select {held[22].reference}", exact=True).click()
    page.get_by_role("button", name="Review 3 selected").click()
    page.wait_for_url(re.compile("/action/selection/"))
    assert page.locator(".decide-item h2").all_text_contents() == [held[at].reference for at in (0, 1, 22)]

    for at in (0, 1, 22):
        page.get_by_label(f"Decide on {held[at].reference}", exact=True).click()
    item = page.locator(".decide-item", has=page.get_by_role("heading", name=held[1].reference, exact=True))
    item.get_by_label("Reject and release funds").click()
    item.get_by_label("Comment (a rejection needs a reason)").fill("Not ours")
    expect(page.locator("[data-ticked]")).to_have_text("Ticked: approve 2, reject 1.")
    page.get_by_role("button", name="Confirm with a passkey").click()
    page.wait_for_url(re.compile("/action/selection/done/"), timeout=STEP_MS)
    expect(page.get_by_role("heading", level=1)).to_have_text("3 of 3 decided")
    states = Withdrawal.objects.filter(pk__in=[held[at].pk for at in (0, 1, 22)]).order_by("pk")
    assert [row.decision for row in states] == ["commit", "rollback", "commit"]
    assert StepUp.objects.filter(kind="passkey").count() == 1
    assert audit_check.verify(replay=True) == []

    page.keyboard.press("u")
    page.wait_for_url(re.compile(rf"/withdrawals/{held[2].pk}/$"), timeout=STEP_MS)
    assert page.violations == []
