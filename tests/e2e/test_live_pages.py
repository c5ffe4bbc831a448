"""What an open page hears, what it may have missed, and what it never throws away."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import rows, until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(240)]


def test_what_changed_before_the_page_could_listen_is_not_missed(house, visit):
    """The page is drawn, then the money is released, and only then the page says what it wants to hear of."""
    operator, treasury, reader = visit("operator"), visit("treasury"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2551", reason="Released behind a page")
    treasury.open(f"/withdrawals/{number}/")
    reader.page.add_init_script(
        """window.waiting = [];
        const send = WebSocket.prototype.send;
        WebSocket.prototype.send = function (text) { window.waiting.push(() => send.call(this, text)); };
        window.speak = () => {
            WebSocket.prototype.send = send;
            window.waiting.splice(0).forEach((each) => each());
        };"""
    )
    reader.open(f"/withdrawals/{number}/")
    reader.mark()
    reader.page.wait_for_function("window.waiting.length > 0")
    treasury.reject("Not ours")
    until(lambda: rows(house, "SELECT state FROM exchange_ops_withdrawal WHERE id = ?", number) == [("rolled_back",)])
    expect(reader.state()).to_have_text("Reserved, waiting for approvals")
    reader.page.evaluate("window.speak()")
    expect(reader.state()).to_have_text("Released, not paid")
    assert reader.is_same_document()


def test_typed_text_survives_a_part_that_was_already_being_read(house, visit):
    """A hint comes, the part is asked for, and somebody begins to type before the answer is there."""
    operator, treasury = visit("operator"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2552", reason="Typed in the wrong moment")
    slow = []

    def hold_back(route):
        if route.request.headers.get("hx-target") == "decide":
            slow.append(route)
        else:
            route.continue_()

    treasury.page.route(re.compile(rf"/withdrawals/{number}/$"), hold_back)
    treasury.page.goto(f"{house.url}/withdrawals/{number}/")
    until(lambda: treasury.page.wait_for_timeout(50) or slow)
    treasury.page.get_by_label("Code of your authenticator app").fill("123456")
    for route in slow:
        route.continue_()
    treasury.page.unroute_all()
    operator.page.locator("summary", has_text="Take it back").click()
    operator.page.locator("#id_cancel-reason").fill("No longer needed")
    operator.page.get_by_role("button", name="Take the request back").click()
    expect(treasury.state()).to_have_text("Released, not paid")
    expect(treasury.page.get_by_label("Code of your authenticator app")).to_have_value("123456")
    expect(treasury.page.get_by_text("This changed while you were typing.")).to_be_visible()
    expect(treasury.page.get_by_role("button", name=re.compile("^Approve and commit"))).to_be_disabled()


def test_a_hint_leaves_an_opened_form_and_a_passkey_that_is_asked_for_alone(house, visit):
    """Another person acts while this one writes a reason or holds the finger to the device."""
    operator, treasury, signer = visit("operator"), visit("treasury"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2553", reason="Two at once")
    treasury.open(f"/withdrawals/{number}/")
    treasury.page.locator("summary", has_text=re.compile("^Reject$")).click()
    signer.open(f"/withdrawals/{number}/")
    # A device that is asked and does not answer yet.
    signer.page.evaluate("""() => {
        const form = document.querySelector("form[action$='/approve/']");
        window.fetch = async () => ({ok: true, json: async () => ({})});
        window.webauthnJSON = {get: () => new Promise((_, refuse) => { window.refuse = refuse; })};
        form.querySelector("[data-passkey]").click();
    }""")
    operator.page.locator("summary", has_text="Take it back").click()
    operator.page.locator("#id_cancel-reason").fill("No longer needed")
    operator.page.get_by_role("button", name="Take the request back").click()
    for one in (treasury, signer):
        expect(one.state()).to_have_text("Released, not paid")
        expect(one.page.get_by_text("This changed while you were typing.")).to_be_visible()
    expect(treasury.page.get_by_role("button", name="Reject and release funds")).to_be_disabled()
    signer.page.evaluate("window.refuse(Object.assign(new Error('late'), {name: 'NotAllowedError'}))")
    expect(signer.page.locator("[data-passkey-problem]")).to_contain_text("Nothing was decided.")


def test_signing_out_ends_the_socket_of_every_tab(house, visit):
    visitor = visit("treasury")
    closed = []
    visitor.page.on("websocket", lambda socket: socket.on("close", lambda gone: closed.append(gone.url)))
    visitor.open("/approvals/")
    expect(visitor.page.locator("#inbox")).to_be_visible()
    other = visitor.page.context.new_page()
    other.goto(f"{house.url}/sign-out/")
    other.get_by_role("button", name=re.compile("^Sign out")).click()
    other.wait_for_url(re.compile("/sign-in/"))
    visitor.page.wait_for_url(re.compile("/sign-in/"))
    assert closed, "the socket was closed"
    other.goto(f"{house.url}/approvals/")
    assert "/sign-in/" in other.url
