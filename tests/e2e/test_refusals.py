"""A refused form keeps its error until it is answered, and what was typed in any case, however often it is read."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.pages.test_funds import ask
from tests.e2e.presses import Presser
from tests.e2e.visitors import rows, until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

WRONG = "000000"
CODE = "Code from your authenticator app"


def reread(presser, times=3):
    """Have the whole page read again, answered each time."""
    for _ in range(times):
        presser.keep_answers()
        presser.tell()
        presser.answer_while(lambda: None, lambda: None, hold_ms=0)


def is_kept(presser, button, **typed):
    """The error stands and each field holds its text after readings, after a key, and after readings again."""
    page = presser.page
    problem = page.locator("main [role=alert]:visible").first
    expect(problem).to_be_visible()
    words = problem.inner_text()
    reread(presser)
    expect(problem).to_have_text(words, use_inner_text=True)
    for name, value in typed.items():
        expect(page.locator(f"form [name$={name}]:visible").first).to_have_value(value)
    expect(page.get_by_role("button", name=button).first).to_be_enabled()
    # The next key ends the error's right to stay and nothing else's: a field that is emptied again takes nothing along.
    field = page.locator("form [name=code]:visible").first
    field.fill("1")
    field.fill("")
    page.locator("h1").first.click()
    reread(presser, times=1)
    for name, value in typed.items():
        if name != "code":
            expect(page.locator(f"form [name$={name}]:visible").first).to_have_value(value)


@pytest.mark.every(2, "one of several refusals")
def test_a_wrong_code_on_a_withdrawal_keeps_its_error_and_the_comment(house, visit, announcer):
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2711", reason="Refused once")
    page, presser = treasury.page, Presser(treasury.page, announcer).begin()
    presser.open(treasury, f"/withdrawals/{number}/")
    page.get_by_role("textbox", name=re.compile("^Comment")).fill("Compared with the invoice")
    presser.is_leading = True
    treasury.approve(WRONG)
    expect(page.get_by_text("Your decision was not recorded.")).to_be_visible()
    is_kept(presser, re.compile("^Approve and pay"), comment="Compared with the invoice")
    treasury.approve()
    until(lambda: rows(house, "SELECT 1 FROM exchange_ops_approval WHERE comment = 'Compared with the invoice'"))


@pytest.mark.thorough("the same panel as on a withdrawal, which always runs")
def test_a_wrong_code_on_a_transfer_keeps_its_error_and_the_comment(house, visit, announcer):
    operator, treasury = visit("operator"), visit("treasury")
    fields = {"Identify_the_other_user_by": "username", "E-mail address or username": "other", "Currency": "ETH"}
    fields |= {"Amount": "0.0041", "Reason": "Refused once"}
    number = ask(operator, "to-user", button="Request transfer", **fields)
    expect(operator.state()).to_have_text("Waiting for approvals")
    page, presser = treasury.page, Presser(treasury.page, announcer).begin()
    presser.open(treasury, f"/transfers/{number}/")
    page.get_by_role("textbox", name=re.compile("^Comment")).fill("Agreed by letter")
    page.get_by_label(CODE).fill(WRONG)
    presser.is_leading = True
    page.get_by_role("button", name="Approve and send 0.0041 ETH", exact=True).click()
    expect(page.get_by_text("Your decision was not recorded.")).to_be_visible()
    is_kept(presser, "Approve and send 0.0041 ETH", comment="Agreed by letter")


@pytest.mark.thorough("the same panel as on a withdrawal, which always runs")
def test_a_wrong_code_on_a_thaw_keeps_its_error_and_the_reason(house, visit, announcer):
    first, second = visit("treasury"), visit("treasury")
    page = first.open("/policy/")
    page.get_by_label("Reason").fill("Tried for a moment")
    page.get_by_role("button", name="Freeze the account now").click()
    try:
        presser = Presser(first.page, announcer).begin()
        presser.open(first, "/policy/")
        page.get_by_label("Reason").fill("All is well")
        page.get_by_label(CODE).fill(WRONG)
        presser.is_leading = True
        page.get_by_role("button", name="Approve lifting the freeze").click()
        is_kept(presser, "Approve lifting the freeze", comment="All is well")
    finally:
        for one in (first, second):
            one.open("/policy/")
            one.page.get_by_label("Reason").fill("All is well")
            one.page.get_by_label(CODE).fill(one.codes.fresh())
            one.page.get_by_role("button", name="Approve lifting the freeze").click()
        expect(second.page.get_by_text("Not frozen", exact=True)).to_be_visible()


@pytest.mark.thorough("the same mechanism as on a withdrawal, which always runs")
def test_a_thaw_that_is_typed_while_others_thaw_says_what_became_of_it(house, visit):
    """The reason stays, the button rests, and the note above it names the present state."""
    first, second, writer = visit("treasury"), visit("treasury"), visit("treasury")
    page = first.open("/policy/")
    page.get_by_label("Reason").fill("Tried for a moment more")
    page.get_by_role("button", name="Freeze the account now").click()
    page = writer.open("/policy/")
    page.get_by_label("Reason").fill("I agree as well, because")
    for one in (first, second):
        one.open("/policy/")
        one.page.get_by_label("Reason").fill("All is well")
        one.page.get_by_label(CODE).fill(one.codes.fresh())
        one.page.get_by_role("button", name="Approve lifting the freeze").click()
        expect(one.page.locator("#messages")).to_contain_text(re.compile("Approval recorded|Freeze lifted"))
    expect(page.locator("[data-stale-note]")).to_contain_text("It is now: not frozen.")
    expect(page.get_by_label("Reason")).to_have_value("I agree as well, because")
    expect(page.get_by_role("button", name="Approve lifting the freeze", exact=True)).to_be_disabled()


@pytest.mark.thorough("the note above what was typed runs always with the rows of a test")
def test_a_state_that_changed_is_named_above_what_was_typed(house, visit):
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2712", reason="Taken back while read")
    page = treasury.open(f"/withdrawals/{number}/")
    page.get_by_role("textbox", name=re.compile("^Comment")).fill("As on the invoice")
    operator.page.locator("summary", has_text="Withdraw request").click()
    operator.page.locator("#id_cancel-reason").fill("No longer needed")
    operator.page.get_by_role("button", name="Withdraw this request").click()
    expect(page.locator("[data-stale-note]")).to_contain_text("It is now: Withdrawn by requester.")
    expect(page.get_by_role("textbox", name=re.compile("^Comment"))).to_have_value("As on the invoice")
    expect(page.get_by_role("button", name=re.compile("^Approve and pay"))).to_be_disabled()
