"""What an open page hears, what it may have missed, and what it never throws away."""

import json
import re
import time
from contextlib import closing

import pytest
from playwright.sync_api import expect
from websocket import ABNF, create_connection

from tests.bounds import stretched
from tests.e2e.visitors import SESSION, Visitor, rows, until

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]


@pytest.mark.thorough("a change that arrives runs always on the page of a withdrawal")
def test_what_one_person_does_shows_in_the_lists_of_the_others(house, visit):
    """A request and its end, in the inbox, the funds, the ledger and the list of withdrawals: none is loaded again."""
    operator, treasury, auditor = visit("operator"), visit("treasury"), visit("auditor")
    treasury.open("/approvals/")
    funds = auditor.open("/funds/")
    ledger = auditor.page.context.new_page()
    ledger.goto(f"{house.url}/ledger/", wait_until="networkidle")
    watched = (treasury.page, funds, ledger)
    for page in watched:
        page.evaluate("window.mark = 'here'")
    reserved = funds.locator("tr", has=funds.get_by_role("rowheader", name="BCH", exact=False)).first
    # A payout that was made elsewhere may end meanwhile: only what is reserved for ours is looked at.
    ours = reserved.get_by_role("link", name="for our payouts")
    held_before = ours.all_inner_texts()
    number = operator.ask_and_hold(amount="1.2555", reason="Seen by everybody")
    item = treasury.page.locator("#inbox .entry", has=treasury.page.locator(f"a[href='/withdrawals/{number}/']"))
    expect(item).to_contain_text("Seen by everybody")
    expect(ours).not_to_have_text(held_before)
    expect(ours).to_have_count(1)
    line = ledger.locator("#rows tr", has=ledger.get_by_role("link", name=f"W-{number}", exact=True))
    expect(line).to_contain_text("1.2555")
    operator.open("/withdrawals/")
    operator.mark()
    decider = treasury.page.context.new_page()
    decider.goto(f"{house.url}/withdrawals/{number}/")
    other = Visitor(house, treasury.name, decider)
    other.reject("Seen enough")
    row = operator.page.locator("#rows tr", has=operator.page.get_by_role("link", name=f"W-{number}", exact=True))
    expect(row).to_contain_text("Rejected")
    expect(item).to_have_count(0)
    expect(line).to_contain_text("Failed")
    expect(ours).to_have_text(held_before)
    assert operator.is_same_document()
    assert [page.evaluate("window.mark") for page in watched] == ["here"] * len(watched)


@pytest.mark.every(2, "the relay's gap is proven without a browser")
@pytest.mark.thorough("the catching up of a socket is proven at the relay")
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
    reader.page.goto(f"{house.url}/withdrawals/{number}/", wait_until="load")  # it joins nothing before it may speak
    reader.mark()
    reader.page.wait_for_function("window.waiting.length > 0")
    treasury.reject("Not ours")
    until(lambda: rows(house, "SELECT state FROM exchange_ops_withdrawal WHERE id = ?", number) == [("rolled_back",)])
    expect(reader.state()).to_have_text("Reserved, waiting for approvals")
    reader.page.evaluate("window.speak()")
    expect(reader.state()).to_have_text("Rejected")
    assert reader.is_same_document()


@pytest.mark.thorough("one of several ways in which typed text survives; refusals show one in every run")
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
    treasury.page.get_by_label("Code from your authenticator app").fill("123456")
    for route in slow:
        route.continue_()
    treasury.page.unroute_all()
    operator.page.locator("summary", has_text="Withdraw request").click()
    operator.page.locator("#id_cancel-reason").fill("No longer needed")
    operator.page.get_by_role("button", name="Withdraw this request").click()
    expect(treasury.state()).to_have_text("Withdrawn by requester")
    expect(treasury.page.get_by_label("Code from your authenticator app")).to_have_value("123456")
    expect(treasury.page.get_by_text("The status changed while you were typing.")).to_be_visible()
    expect(treasury.page.get_by_role("button", name=re.compile("^Approve and pay"))).to_be_disabled()


@pytest.mark.thorough("typed text that stays runs always with the rows of a test")
def test_a_hint_leaves_an_opened_form_and_a_passkey_that_is_asked_for_alone(house, visit):
    """Another person acts while this one writes a reason or holds the finger to the device."""
    operator, treasury, signer = visit("operator"), visit("treasury"), visit("treasury")
    number = operator.ask_and_hold(amount="1.2553", reason="Two at once")
    treasury.open(f"/withdrawals/{number}/")
    treasury.page.locator("summary", has_text=re.compile("^Reject$")).click()
    signer.open(f"/withdrawals/{number}/")
    expect(signer.page.locator("form[action$='/approve/'] [data-passkey]")).to_be_enabled()
    # A device that is asked and does not answer yet.
    signer.page.evaluate("""() => {
        const form = document.querySelector("form[action$='/approve/']");
        window.fetch = async () => ({ok: true, json: async () => ({})});
        window.webauthnJSON = {get: () => new Promise((_, refuse) => { window.refuse = refuse; })};
        form.querySelector("[data-passkey]").click();
    }""")
    signer.page.wait_for_function("() => Boolean(window.refuse)")
    operator.page.locator("summary", has_text="Withdraw request").click()
    operator.page.locator("#id_cancel-reason").fill("No longer needed")
    operator.page.get_by_role("button", name="Withdraw this request").click()
    for one in (treasury, signer):
        expect(one.state()).to_have_text("Withdrawn by requester")
        expect(one.page.get_by_text("The status changed while you were typing.")).to_be_visible()
    expect(treasury.page.get_by_role("button", name="Reject and release funds")).to_be_disabled()
    signer.page.evaluate("window.refuse(Object.assign(new Error('late'), {name: 'NotAllowedError'}))")
    expect(signer.page.locator("[data-passkey-problem]")).to_contain_text("Decision not recorded.")


def test_signing_out_ends_the_socket_of_every_tab_within_five_seconds(house, visit):
    """One tab is a browser's, which leaves; one is a socket alone, which says how it ended whatever a browser says."""
    visitor = visit("treasury")
    visitor.open("/approvals/")
    expect(visitor.page.locator("#inbox")).to_be_visible()
    key = next(one["value"] for one in visitor.page.context.cookies() if one["name"] == SESSION)
    address, limit = house.url.replace("http", "ws", 1) + "/ws/", stretched(30)
    with closing(create_connection(address, cookie=f"{SESSION}={key}", origin=house.url, timeout=limit)) as tab:
        tab.send(json.dumps({"follow": ["inbox"]}))
        assert tab.recv(), "it is heard"
        other = visitor.page.context.new_page()
        other.goto(f"{house.url}/sign-out/")
        other.get_by_role("button", name=re.compile("^Sign out")).click()
        other.wait_for_url(re.compile("/sign-in/"))
        signed_out = time.monotonic()
        while tab.recv_data()[0] != ABNF.OPCODE_CLOSE:
            assert time.monotonic() - signed_out < limit, "the socket was closed"
        assert time.monotonic() - signed_out < stretched(5), "as the relay promises"
    # Not waited for as one navigation: each live part sends the page away, and the last one aborts the others.
    expect(visitor.page).to_have_url(re.compile("/sign-in/"), timeout=stretched(30_000))
    other.goto(f"{house.url}/approvals/")
    assert "/sign-in/" in other.url
