"""Nobody waits for longer than a moment without a word: pages, forms, parts, files, and what workers bring."""

import re
import secrets

import pytest
from playwright.sync_api import expect

from tests.bounds import stretched
from tests.e2e.visitors import until

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(300),
    pytest.mark.thorough("words of waiting; nothing decides by them"),
]

DELAY_MS = 6_000
SOON_MS = stretched(2_000)  # far less than what is waited for, and enough for a busy machine


class Held:
    """The desk's own answers at these addresses come when they are let go."""

    def __init__(self, page, pattern):
        self._page, self._pattern, self._routes = page, re.compile(pattern), []
        page.route(self._pattern, self._hold)

    def _hold(self, route):
        self._routes.append(route)

    def wait(self):
        """Until the page has asked."""
        until(lambda: self._page.wait_for_timeout(20) or self._routes, every_s=0)

    def let_go(self):
        for route in self._routes:
            route.continue_()
        self._page.unroute(self._pattern)


def delayed(house, operation):
    fault = {"operation": operation, "kind": "delay_then_execute", "ms": DELAY_MS, "times": 3}
    house.control("faults", fault)


@pytest.fixture
def calm(house):
    """The sandbox answers at once again afterwards."""
    yield house
    house.control("faults", method="DELETE")


def says(page, words):
    expect(page.locator(".progress:visible", has_text=words).first).to_be_visible(timeout=SOON_MS)


# Kept over the page's end: while a page is on its way, the driver looks at nothing.
NOTED = """document.addEventListener("DOMContentLoaded", () => {
    const progress = document.getElementById("progress");
    const note = () => { if (!progress.hidden) sessionStorage.setItem("said", progress.textContent.trim()); };
    if (progress) new MutationObserver(note).observe(progress, {attributes: true});
});"""
LONG_ENOUGH_MS = 1_200


def said(page, held):
    """What the page says while the answer is held, once that has come."""
    held.wait()
    page.wait_for_timeout(LONG_ENOUGH_MS)
    held.let_go()
    expect(page.locator("#progress")).to_be_hidden()
    return page.evaluate("const said = sessionStorage.getItem('said'); sessionStorage.removeItem('said'); said")


def test_a_page_a_form_a_part_and_a_file_say_that_they_are_on_their_way(visit):
    visitor = visit("operator")
    visitor.tab.add_init_script(NOTED)
    page = visitor.open("/ledger/")
    held = Held(page, r"/export[.]csv")
    page.locator("tbody .l-pick input").first.check()
    with page.expect_download():
        page.get_by_role("button", name="Export CSV").click(no_wait_after=True)
        assert said(page, held) == "Preparing file"

    held = Held(page, r"/search/palette/")
    page.locator("#find").press_sequentially("ledger")
    assert said(page, held) == "Loading"

    held = Held(page, r"/funds/$")
    page.locator("#side").get_by_role("link", name="Funds").click(no_wait_after=True)
    assert said(page, held) == "Loading page"

    visitor.fill_in(amount="0.0123", reason="Told that it is sent")
    held = Held(page, r"/withdrawals/new/$")
    page.get_by_role("button", name="Request payout").click(no_wait_after=True)
    assert said(page, held) == "Sending"
    page.wait_for_url(re.compile(r"/withdrawals/\d+/$"))


def test_what_is_read_again_by_itself_says_nothing(visit, announcer):
    page = visit("operator").open("/orders/")
    held = Held(page, r"/orders/$")
    announcer.tell(["orders"])
    held.wait()
    page.wait_for_timeout(1_500)
    expect(page.locator("#progress")).to_be_hidden()


def test_what_a_worker_is_waited_for_has_its_word_where_it_will_appear(visit, calm):
    admin = visit("every")
    page = admin.open("/console/exchange/get_symbol/")
    delayed(calm, "get_symbol")
    page.get_by_label("symbol").fill("ETHBTC")
    page.get_by_role("button", name="Send request").click()
    says(page, "The response will appear here automatically")
    expect(page.locator("#answer")).to_contain_text("0.000001")

    page = admin.open("/orders/")
    delayed(calm, "get_orders")
    page.get_by_role("button", name="Refresh").click()
    says(page, "Refreshing…")
    expect(page.locator("#age .progress")).to_have_count(0)

    delayed(calm, "get_deposit_address")
    page = admin.open("/funds/LTC/deposit/")
    says(page, "Loading the address from the exchange")
    expect(page.locator("#addresses")).to_contain_text("synced")

    page = admin.open("/subaccounts/7001/")
    delayed(calm, "get_subaccount_deposit_address")
    page.get_by_label("Currency").last.select_option("BTC")
    page.get_by_role("button", name="Get deposit address").click()
    says(page, "Loading")
    expect(page.locator(".read-address").first).to_be_visible()


def test_the_chain_says_that_it_is_asked(visit, calm):
    visitor = visit("auditor")
    page = visitor.open("/chain/")
    calm.control("faults", {"operation": "chain/*", "kind": "delay_then_execute", "ms": 4_000, "times": 200})
    # Of a transaction that nobody has looked at: what another page has read is shown at once.
    page.goto(f"{calm.url}/chain/tx/{secrets.token_hex(32)}/", wait_until="domcontentloaded")
    says(page, "Loading")
    calm.control("faults", method="DELETE")
    expect(page.locator("main .skeleton")).to_have_count(0)


def test_somebody_who_asked_for_no_motion_sees_the_word_stand_still(visit):
    page = visit("operator").open("/")
    page.emulate_media(reduced_motion="reduce")
    progress, icon = page.locator("#progress"), page.locator("#progress .icon")
    progress.evaluate("(one) => { one.hidden = false; }")
    turns = "(one) => [getComputedStyle(one).animationName, getComputedStyle(one).animationIterationCount]"
    assert icon.evaluate(turns) == ["turn", "1"]
    page.emulate_media(reduced_motion="no-preference")
    assert icon.evaluate(turns) == ["turn", "infinite"]
