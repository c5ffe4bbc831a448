"""What pages say by themselves: a draft that came back, a passkey not used, and their look in the dark and on paper."""

import re

import pytest
from playwright.sync_api import expect

from desk import clock
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.thorough("drafts, paper and themes decide nothing"),
]


def test_a_draft_that_comes_back_says_so_and_can_be_discarded(open_as, operator):
    page = open_as(operator, "/withdrawals/new/")
    note, amount = page.locator("[data-restored]"), page.locator("#id_amount")
    expect(note).to_be_hidden()
    amount.fill("0.25")
    key = page.locator("input[name=request_key]")
    drafted = key.input_value()
    page.goto(page.url)
    expect(note).to_be_visible()
    expect(amount).to_have_value("0.25")
    expect(key).to_have_value(drafted)
    page.get_by_role("button", name="Discard draft").click()
    expect(amount).to_have_value("")
    expect(note).to_be_hidden()
    expect(key).not_to_have_value(drafted)
    page.goto(page.url)
    expect(note).to_be_hidden()


def test_a_market_order_does_not_ask_for_the_price_that_a_limit_had(open_as, operator):
    order_rows.market(now=clock.now())
    page = open_as(operator, "/orders/new/?symbol=BCHUSD&side=buy")
    page.locator("#id_quantity").fill("0.5")
    page.locator("#id_price").fill("400")
    expect(page.locator("#figures")).to_contain_text("Cost, including fee")
    page.locator("#id_type").select_option("market")
    expect(page.locator("#id_price")).to_be_hidden()
    expect(page.get_by_role("button", name="Place market buy order: 0.5 BCH", exact=True)).to_be_visible()
    page.locator("#id_type").select_option("limit")
    expect(page.locator("#id_price")).to_have_value("400")
    expect(page.get_by_role("button", name="Place buy order: 0.5 BCH at 400 USD", exact=True)).to_be_visible()


def test_what_is_folded_on_a_ticket_is_in_sight_when_a_draft_with_it_comes_back(open_as, operator):
    order_rows.market(now=clock.now())
    page = open_as(operator, "/orders/new/")
    options = page.locator("details.more", has=page.locator("#id_time_in_force"))
    expect(page.locator("#id_time_in_force")).to_be_hidden()
    options.locator("summary").click()
    page.locator("#id_time_in_force").select_option("Day")
    page.goto(page.url)
    expect(page.locator("#id_time_in_force")).to_have_value("Day")
    expect(page.locator("#id_time_in_force")).to_be_visible()
    expect(page.locator("#id_stop_loss")).to_be_hidden()


def test_a_passkey_that_is_not_used_at_sign_in_is_said(live_desk, new_page):
    page = new_page()
    page.goto(f"{live_desk.url}/sign-in/")
    said = page.locator("[data-passkey-said]")
    expect(said).to_be_hidden()
    refused = "Promise.reject(new DOMException('', 'NotAllowedError'))"
    page.evaluate(f"() => {{ navigator.credentials.get = () => {refused}; }}")
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(said).to_have_text(
        re.compile("^Passkey not used: .* You are not signed in. Try again, or use your password.$")
    )
    page.route("**/webauthn/login/**", lambda route: route.abort())
    page.route("**/login/webauthn/**", lambda route: route.abort())
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(said).to_contain_text("You are not signed in.")


@pytest.mark.parametrize("dark", [False, True])
def test_the_description_of_the_api_keeps_to_the_theme(open_as, operator, dark):
    page = open_as(operator, "/api/v1/docs/", dark=dark)
    page.wait_for_selector(".swagger-ui .opblock")
    brightness = """(element) => {
        const [red, green, blue] = getComputedStyle(element).backgroundColor.match(/[0-9.]+/g).map(Number);
        return (red + green + blue) / 765;
    }"""
    assert (page.locator("#api-docs").evaluate(brightness) < 0.3) is dark
    path = page.locator(".opblock-summary-path").first
    assert (path.evaluate(brightness.replace("backgroundColor", "color")) > 0.5) is dark


def test_a_payout_on_paper_is_its_facts_without_what_is_there_to_be_pressed(open_as, operator, treasury):
    row = rows.held(operator, now=clock.now())
    page = open_as(treasury, f"/withdrawals/{row.pk}/", dark=True)
    on_screen = page.locator("#main .btn:visible").count()
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 700, "height": 990})  # about what A4 leaves between its margins
    for part in ("#side", "#strip", ".btn", ".find", "main input", "main textarea", ".terms"):
        expect(page.locator(f"{part}:visible")).to_have_count(0)
    expect(page.locator("header.bar .clock")).to_be_visible()  # when it was printed
    expect(page.locator("h1")).to_be_visible()
    expect(page.locator("#main")).to_contain_text(rows.ADDRESS[-6:])
    assert on_screen > 0
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light"
    assert page.evaluate("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "cut off"
    assert page.pdf(format="A4").startswith(b"%PDF")
