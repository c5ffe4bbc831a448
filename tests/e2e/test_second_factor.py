"""The second factor of a decision in a real browser: a passkey, a wrong code, a used code, and none at all."""

import re
from dataclasses import replace

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import Outside, rows

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

PASSKEY = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}


def virtual_passkey(page):
    """A device in software that the browser takes for a real one; what to call to change it, and its number."""
    session = page.context.new_cdp_session(page)
    session.send("WebAuthn.enable")
    number = session.send("WebAuthn.addVirtualAuthenticator", {"options": PASSKEY})["authenticatorId"]
    return session, number


def enrol(visitor):
    """Add a passkey through the pages, as a person does."""
    visitor.open("/account/second-factor/")
    visitor.page.get_by_role("link", name="Add passkey").click()
    # Whoever changes how they prove who they are proves it with a factor that they have: the password is not enough.
    visitor.page.get_by_label("Code from your authenticator app").fill(visitor.codes.fresh())
    visitor.page.get_by_role("button", name="Confirm", exact=True).click()
    visitor.page.get_by_label("Name").fill("This device")
    visitor.page.get_by_role("button", name="Add passkey").click()
    visitor.page.wait_for_url(re.compile("/recovery-codes/$"))
    visitor.open("/account/second-factor/passkeys/")
    expect(visitor.page.locator("main")).to_contain_text("This device")


def untouched(house, number):
    """The row is held, undecided, and nobody's word on it was kept."""
    assert rows(house, "SELECT state, decision, put_count FROM exchange_ops_withdrawal WHERE id = ?", number) == [
        ("held", "none", 0)
    ]
    assert rows(house, "SELECT count(*) FROM exchange_ops_approval WHERE withdrawal_id = ?", number) == [(0,)]


@pytest.mark.thorough("a browser confirms a decision in every run (tests/desk/people/test_passkey_browser.py)")
def test_a_passkey_approves_exactly_what_is_shown(house, visit):
    outside = Outside.from_now(house)
    operator, treasury = visit("operator"), visit("treasury")
    device, number_of_device = virtual_passkey(treasury.page)
    enrol(treasury)
    number = operator.ask_and_hold(amount="1.2541", reason="With a passkey")
    treasury.open(f"/withdrawals/{number}/")
    by_passkey = treasury.page.get_by_role("button", name="Approve with a passkey")

    # The person turns away: the device does not verify them, so it signs nothing.
    device.send("WebAuthn.setUserVerified", {"authenticatorId": number_of_device, "isUserVerified": False})
    by_passkey.click()
    expect(treasury.page.locator("[data-passkey-problem]")).to_contain_text("Decision not recorded.")
    untouched(house, number)

    device.send("WebAuthn.setUserVerified", {"authenticatorId": number_of_device, "isUserVerified": True})
    by_passkey.click()
    treasury.is_paid()
    kept = rows(
        house,
        "SELECT s.kind, s.digest = w.digest, length(s.signature) > 0 FROM exchange_ops_approval a "
        "JOIN desk_stepup s ON s.id = a.confirmation_id JOIN exchange_ops_withdrawal w ON w.id = a.withdrawal_id "
        "WHERE a.withdrawal_id = ?",
        number,
    )
    assert kept == [("passkey", 1, 1)]
    assert outside.changes() == [("create_withdrawal", True), ("commit_withdrawal", True)]
    assert outside.statuses("1.2541") == ["success"]


@pytest.mark.thorough("which digest a passkey signed is proven without a browser")
def test_a_passkey_signature_does_not_fit_another_request(house, visit):
    """Signed for one request and sent with another: refused, and both wait as before."""
    operator, treasury = visit("operator"), visit("treasury")
    virtual_passkey(treasury.page)
    enrol(treasury)
    first = operator.ask_and_hold(amount="1.2542", reason="Signed for this")
    other = operator.ask_and_hold(amount="1.2543", reason="Sent with that")
    treasury.open(f"/withdrawals/{first}/")
    signed = treasury.page.evaluate(
        """async () => {
            const form = document.querySelector("form[action$='/approve/']");
            const value = (name) => form.querySelector(`input[name=${name}]`).value;
            const answer = await fetch("/step-up/challenge", {
                method: "POST", body: JSON.stringify({purpose: value("purpose"), digest: value("digest")}),
                headers: {"Content-Type": "application/json", "X-CSRFToken": value("csrfmiddlewaretoken")}});
            return JSON.stringify(await window.webauthnJSON.get(await answer.json()));
        }"""
    )
    digest = rows(house, "SELECT digest FROM exchange_ops_withdrawal WHERE id = ?", other)[0][0]
    status, answer = treasury.post_by_hand(f"/withdrawals/{other}/approve/", digest=digest, passkey=signed)
    assert status == 409
    assert "does not match the page" in answer
    for number in (first, other):
        untouched(house, number)
        treasury.open(f"/withdrawals/{number}/")
        treasury.reject("Only a test of the signature")
        expect(treasury.state()).to_have_text("Rejected")


@pytest.mark.every(3, "the page's answers to codes are proven by requests")
def test_wrong_used_missing_and_odd_codes_change_nothing_and_say_why(house, visit):
    outside = Outside.from_now(house)
    operator, treasury = visit("operator"), visit("treasury")
    first = operator.ask_and_hold(amount="1.2544", reason="Codes, first")
    other = operator.ask_and_hold(amount="1.2545", reason="Codes, second")
    treasury.open(f"/withdrawals/{first}/")
    card = treasury.page.locator("#decide")

    for code, sentence in (
        (f"{(int(treasury.codes.fresh()) + 1) % 1_000_000:06d}", "Incorrect code"),
        ("12345", "Enter the six-digit code."),
        ("12345a", "Enter the six-digit code."),
        ("", "Enter the code from your authenticator app, or use a passkey."),
    ):
        treasury.page.evaluate("document.querySelectorAll('form').forEach((form) => { form.noValidate = true; })")
        treasury.approve(code)
        expect(card).to_contain_text(sentence)
        untouched(house, first)

    # The other request waits in a second tab, so that between the two uses lies one answer and no page: a code that
    # has become too old meanwhile is an incorrect one.
    beside = replace(treasury, tab=treasury.page.context.new_page())
    beside.open(f"/withdrawals/{other}/")
    used = treasury.codes.newest()
    treasury.approve(used)
    expect(card).not_to_contain_text("Approve and pay")
    beside.approve(used)
    expect(beside.page.locator("#decide")).to_contain_text("This code has already been used")
    treasury.is_paid()
    untouched(house, other)
    beside.reject("Only a test of the codes")
    expect(beside.state()).to_have_text("Rejected")
    assert sorted(outside.changes()) == [
        ("commit_withdrawal", True),
        ("create_withdrawal", True),
        ("create_withdrawal", True),
        ("rollback_withdrawal", True),
    ]
