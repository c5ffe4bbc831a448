"""Every page in a real browser, in both themes, wide and narrow: no complaint, nothing cut off, usable by keyboard."""

import json
import re
import urllib.request

import pytest
from playwright.sync_api import expect

from tests.e2e.craft import traffic
from tests.e2e.looks import NARROW, OVERFLOW, WIDE, complaints, failures
from tests.e2e.visitors import ADDRESS, Outside

pytestmark = [pytest.mark.browser, pytest.mark.timeout(900)]

OPEN_TO_ALL = ("/sign-in/", "/sign-in/?next=/approvals/")
PAGES = (
    "/",
    "/withdrawals/",
    "/withdrawals/new/",
    "/action/",
    "/approvals/",
    "/funds/",
    "/funds/BTC/",
    "/funds/XRP/deposit/",
    "/profit/",
    "/reconciliation/",
    "/statements/",
    "/statements/accounts/",
    "/statements/journal/datev/",
    "/transfers/",
    "/transfers/new/move/",
    "/transfers/new/to-subaccount/",
    "/transfers/new/to-user/",
    "/ledger/",
    "/deposits/",
    "/addresses/",
    "/payees/",
    "/payees/new/",
    "/subaccounts/",
    "/subaccounts/7001/",
    "/subaccounts/freeze/?ids=7001&ids=7004",
    "/orders/",
    "/orders/fills/",
    "/orders/new/",
    "/orders/new/?symbol=ETHBTC&price=0.05&quantity=0.5&margin=on",
    "/markets/",
    "/markets/BTCUSD/",
    "/margin/",
    "/margin/open/",
    "/margin/close-all/",
    "/margin/ETHBTC/",
    "/chain/",
    "/chain/block/150/",
    "/chain/tx/{txid}/",
    f"/chain/address/{ADDRESS}/",
    "/chain/tokens/",
    "/chain/tokens/{txid}/",
    "/chain/watched/",
    "/chain/watched/new/",
    "/chain/watched/{watched}/",
    "/chain/cash-accounts/?q=Harbourmaster%23128",
    "/chain/tools/payload/?kind=simple-send&make=1&propertyId=3&amount=10.5",
    "/policy/",
    "/policy/draft/",
    "/policy/versions/1/",
    "/console/",
    "/console/history/",
    "/console/exchange/get_symbol_candles/",
    "/system/",
    "/audit/",
    f"/search/?q={ADDRESS}",
    "/account/second-factor/",
    "/account/second-factor/passkeys/",
    "/account/password/",
    "/account/sessions/",
    "/account/tokens/",
    "/account/notifications/",
    "/account/settings/",
    "/people/",
    "/deliveries/",
    "/going-live/",
    "/mailbox/",
    "/channels/",
    "/channels/add/",
    "/keys/",
    "/keys/new/",
    "/account/confirm/",
    "/sign-out/",
    "/api/v1/docs/",
    "/no-such-page/",
)
# Pages of above with another tab, filter or row, and forms and lists made of the same parts.
VARIANTS = (
    "/orders/brackets/",
    "/people/invite/",
    "/reconciliation/?range=30d",
    "/statements/?range=yesterday",
    "/statements/journal/xero/",
    "/withdrawals/?state=settled&currency=BCH",
    "/withdrawals/?text=nothing+is+called+so",
    "/action/?list=others",
    "/action/?list=done",
    "/approvals/?list=others",
    "/approvals/?list=done",
    "/funds/?empty=on",
    "/transfers/new/convert/",
    "/transfers/new/from-subaccount/",
    "/ledger/?type=payin&range=30d&zone=Europe/Berlin",
    "/ledger/?since=2026-02-02&until=2026-01-01",
    "/subaccounts/7004/",
    "/subaccounts/freeze/?ids=7001&ids=7003",
    "/subaccounts/activate/?ids=7004",
    "/orders/?view=ended",
    "/orders/new/?symbol=ETHBTC&side=sell&type=market",
    "/margin/?tab=history",
    "/chain/block/99999/",
    "/chain/address/no-address/",
    "/chain/tokens/4/",
    "/chain/tokens/6/",
    "/chain/tokens/collectible-1/",
    "/console/exchange/create_withdrawal/",
    "/search/?q=nothing-is-called-so",
)
EVERY = 4  # times four looks, two themes at two widths: each look of a page comes within two dozen commits
_ROUND = pytest.mark.every(EVERY, "a page has a test of its own request with every commit")
_IN_TURN = pytest.mark.thorough("the same templates with other rows; the page itself runs always")
# Where nothing is; whatever the page says instead, its status says so too.
ABSENT = {"/no-such-page/", "/chain/block/99999/", "/chain/address/no-address/"}
LABELS = {
    "held": "Reserved, waiting for approvals",
    "settled": "Paid",
    "rolled_back": "Rejected",
    "cancelled": "Failed checks",
}
FOCUSED = """() => {
    const one = document.activeElement;
    if (!one || one === document.body) return null;
    const style = getComputedStyle(one), box = one.getBoundingClientRect();
    const ring = (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none";
    return {text: (one.name || one.innerText || one.getAttribute("aria-label") || one.tagName).trim().slice(0, 60),
            ring, seen: box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight};
}"""


def genesis_of_a_token(house):
    """A transaction of the chain that speaks to a layer above it."""
    with urllib.request.urlopen(f"{house.sandbox_url}/v2/slp/list", timeout=10) as answer:
        return json.load(answer)[0]["id"]


def address_under_watch(house, reader):
    """The number of a watched address; the first one to ask has it watched."""
    page = reader.open("/chain/watched/")
    if not page.locator("#rows th a").count():
        page.goto(f"{house.url}/chain/watched/new/?address={ADDRESS}")
        page.get_by_label("Name").fill("Vault")
        page.get_by_role("button", name="Watch address").click()
        page.wait_for_url(re.compile(r"/chain/watched/\d+/$"))
        return page.url.rstrip("/").rpartition("/")[2]
    return page.locator("#rows th a").first.get_attribute("href").rstrip("/").rpartition("/")[2]


def looked_at(page, address):
    """What is wrong with the page at this address, in both themes and at every width."""
    traffic.open_page(page, address)
    # Without the port, which differs from run to run and would choose the theme and the width.
    return complaints(page, address.split("/", 3)[3] or "home", judged=(WIDE, NARROW[0]), every=EVERY)


@pytest.fixture(scope="module")
def reader(browser, house, crew):
    """Somebody with every role, signed in once; the complaints of all pages are collected on `complaints`."""
    page = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
    page.complaints = []
    page.on("pageerror", lambda error: page.complaints.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda message: page.complaints.append(f"{page.url}: {message.text}") if message.type == "error" else None,
    )
    yield crew.enter("every", page)
    page.context.close()


@pytest.fixture(scope="module")
def number_of(house, browser, crew):
    """The number of a withdrawal in each of the states that a desk at work shows."""
    operator, treasury = (crew.enter(role, browser.new_context().new_page()) for role in ("operator", "treasury"))
    found = {"held": operator.ask_and_hold(amount="1.2561", reason="To be read: " + "a long reason without end " * 9)}
    for amount, state, decide in (
        ("1.2564", "settled", treasury.approve),
        ("1.2565", "rolled_back", lambda: treasury.reject("Not ours")),
    ):
        found[state] = operator.ask_and_hold(amount=amount, reason="To be decided")
        treasury.open(f"/withdrawals/{found[state]}/")
        decide()
    found["cancelled"] = operator.ask(
        amount="1.2566", reason="To ourselves", address=Outside.from_now(house).own_address()
    )
    for state, number in found.items():
        operator.open(f"/withdrawals/{number}/")
        if state == "settled":
            operator.is_paid()
        else:
            expect(operator.state()).to_have_text(LABELS[state])
    yield found
    for one in (operator, treasury):
        one.page.context.close()


@_ROUND
@pytest.mark.parametrize("path", [*PAGES, *(pytest.param(path, marks=_IN_TURN) for path in VARIANTS)])
def test_a_page_in_both_themes_and_at_every_width(house, reader, number_of, path):
    reader.page.complaints.clear()
    if "{txid}" in path:
        path = path.format(txid=genesis_of_a_token(house))
    if "{watched}" in path:
        path = path.format(watched=address_under_watch(house, reader))
    assert looked_at(reader.page, house.url + path) == []
    expected = [one for one in reader.page.complaints if "status of 404" not in one or path not in ABSENT]
    assert expected == []


@_ROUND
@pytest.mark.parametrize("state", LABELS)
def test_a_withdrawal_in_both_themes_and_at_every_width(house, reader, number_of, state):
    reader.page.complaints.clear()
    assert looked_at(reader.page, f"{house.url}/withdrawals/{number_of[state]}/") == []
    assert reader.page.complaints == []


@_ROUND
@pytest.mark.parametrize("path", OPEN_TO_ALL)
def test_the_door_in_both_themes_and_at_every_width(house, open_page, path):
    assert looked_at(open_page(), house.url + path) == []


def test_a_form_that_was_refused_in_both_themes_and_at_every_width(house, visit):
    operator = visit("operator")
    operator.open("/withdrawals/new/")
    operator.page.get_by_role("button", name="Request payout").click()
    expect(operator.page.locator(".wrong").first).to_be_visible()
    found = []
    for theme in ("light", "dark"):
        operator.page.emulate_media(color_scheme=theme)
        found += failures(operator.page, f"refused form {theme}")
    for width in NARROW:
        operator.page.set_viewport_size({"width": width, "height": 900})
        found += [cut_off] if (cut_off := operator.page.evaluate(OVERFLOW)) else []
    assert found == []


# Keyboard -------------------------------------------------------------------------------------------------------------


def tab_to(page, wanted, most=60):
    """Press Tab until something named `wanted` has the focus; every stop on the way is visible and shows its focus."""
    stops = []
    for _ in range(most):
        page.keyboard.press("Tab")
        here = page.evaluate(FOCUSED)
        if here is None:
            continue
        stops.append(here["text"])
        assert here["seen"], f"the focus is out of sight on {here['text']!r} after {stops}"
        assert here["ring"], f"the focus does not show on {here['text']!r}"
        if here["text"].startswith(wanted):
            return stops
    raise AssertionError(f"Tab never reached {wanted!r}: {stops}")


@pytest.mark.every(3, "the same walk with a mouse comes with every commit")
@pytest.mark.parametrize(
    "width", [pytest.param(1280, marks=pytest.mark.thorough("the same walk where less fits is harder")), 360]
)
def test_a_payout_is_asked_for_and_approved_without_a_mouse(house, visit, width):
    operator, treasury = visit("operator", width=width), visit("treasury", width=width)
    page = operator.open("/withdrawals/new/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").startswith("Skip to content")
    page.keyboard.press("Enter")
    tab_to(page, "currency")
    page.keyboard.type("BCH")
    tab_to(page, "amount")
    page.keyboard.type("1.2562" if width == 360 else "1.2563")
    tab_to(page, "address")
    page.keyboard.type(ADDRESS)
    tab_to(page, "reason")
    page.keyboard.type("Typed without a mouse")
    tab_to(page, "Request payout")
    page.keyboard.press("Enter")
    number = operator.number()
    expect(operator.state()).to_have_text("Reserved, waiting for approvals")

    page = treasury.open(f"/withdrawals/{number}/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    tab_to(page, "code")
    page.keyboard.type(treasury.codes.fresh())
    tab_to(page, "Approve and pay")
    page.keyboard.press("Enter")
    treasury.is_paid()
