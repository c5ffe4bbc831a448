"""The ticket by mouse and by keyboard, and the page that replaces an order, in a browser."""

import re
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from desk import clock
from exchange_ops.market.models import BookSnapshot
from exchange_ops.orders.models import Order
from tests.exchange_ops.orders import order_rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


@pytest.mark.thorough("shares and steps are proven by the figures' view")
def test_a_share_is_pressed_an_arrow_steps_and_the_keyboard_places(open_as, operator):
    now = clock.now()
    order_rows.market(now=now)
    book = {"ask": [["500", "1"], ["505", "50"]], "bid": [["499", "1"]]}
    BookSnapshot.objects.create(symbol="BCHUSD", timestamp=now, read_at=now, **book)
    page = open_as(operator, "/orders/new/?symbol=BCHUSD&side=buy&price=504.99")
    page.locator("#id_price").press("ArrowUp")
    expect(page.locator("#id_price")).to_have_value("505")
    expect(page.locator("#shares button").last).to_have_attribute("data-value", "19.782")
    page.get_by_role("button", name="50 %").click()
    expect(page.locator("#id_quantity")).to_have_value("9.891")
    expect(page.locator("#figures")).to_contain_text("price levels")
    expect(page.locator("#place")).to_have_text("Place buy order: 9.891 BCH at 505 USD")
    page.locator("#id_quantity").press("Control+Enter")
    page.wait_for_url(re.compile(r"/orders/[0-9]+/$"))
    assert Order.objects.get().quantity.normalize() == Decimal("9.891")


def test_an_order_is_replaced_by_the_words_of_the_button(open_as, operator):
    order_rows.market(now=clock.now())
    row = order_rows.placed(operator, now=clock.now())
    page = open_as(operator, f"/orders/{row.pk}/")
    page.get_by_role("link", name="Change price or quantity").click()
    page.locator("#id_price").fill("401")
    page.get_by_role("button", name=f"Replace {row.reference} with buy order: 0.5 BCH at 401 USD", exact=True).click()
    page.wait_for_url(re.compile(r"/orders/[0-9]+/$"))
    expect(page.get_by_role("link", name=row.reference, exact=True)).to_be_visible()
    assert Order.objects.get(replaces=row).state == "requested"


@pytest.mark.thorough("scripts come late on slow lines only")
def test_what_is_typed_before_the_scripts_came_is_reckoned(open_as, operator):
    order_rows.market(now=clock.now())
    row = order_rows.placed(operator, now=clock.now())
    page = open_as(operator, f"/orders/{row.pk}/")
    page.route(re.compile(r"/(htmx|ticket)[^/]*[.]js"), lambda route: None)  # until nothing holds them any more
    page.get_by_role("link", name="Change price or quantity").click()
    page.locator("#id_price").fill("401")
    page.unroute_all()
    button = page.get_by_role("button", name=f"Replace {row.reference} with buy order: 0.5 BCH at 401 USD", exact=True)
    expect(button).to_be_visible()


@pytest.mark.thorough("what a button says is what is placed, and that runs always")
def test_a_quantity_typed_after_a_share_was_pressed_stands(open_as, operator):
    now = clock.now()
    order_rows.market(now=now)
    page = open_as(operator, "/orders/new/?symbol=BCHUSD&side=buy&price=400")
    expect(page.locator("#shares button").last).to_be_enabled()
    page.route("**/orders/new/figures/**", lambda route: route.abort())
    with page.expect_request("**/orders/new/figures/**"):
        page.locator("#id_price").fill("401")
        page.get_by_role("button", name="Max", exact=True).click()
    page.unroute_all()
    page.locator("#id_quantity").fill("0.5")
    expect(page.locator("#place")).to_have_text("Place buy order: 0.5 BCH at 401 USD")
    expect(page.locator("#id_quantity")).to_have_value("0.5")


def test_a_limit_far_from_the_market_is_placed_only_once_its_warning_is_ticked(open_as, operator):
    order_rows.market(now=clock.now())
    page = open_as(operator, "/orders/new/?symbol=BCHUSD&side=buy&price=540")
    page.locator("#id_quantity").fill("0.5")
    expect(page.locator("#place")).to_have_text("Place buy order: 0.5 BCH at 540 USD")
    expect(page.get_by_role("group", name="Outside policy")).to_contain_text("Price far from the market.")
    page.locator("#place").click()
    expect(page.locator("main")).to_contain_text("Order not placed.")
    assert not Order.objects.exists()
    page.get_by_role("checkbox", name="Price far from the market").check()
    page.locator("#place").click()
    page.wait_for_url(re.compile(r"/orders/[0-9]+/$"))
    expect(page.locator("main")).to_contain_text("confirmed:")
    assert [each["name"] for each in Order.objects.get().oversteps] == ["price_far"]


def test_while_the_connection_is_away_a_ticket_is_kept_and_sends_nothing(open_as, operator):
    order_rows.market(now=clock.now())
    page = open_as(operator, "/orders/new/?symbol=BCHUSD&side=buy&price=400")
    place, banner, quantity = page.locator("#place"), page.locator("#offline"), page.locator("#id_quantity")
    quantity.fill("0.5")
    expect(place).to_have_text("Place buy order: 0.5 BCH at 400 USD")
    page.evaluate("document.querySelector('#strip > span').innerHTML = '<span class=all-well>All clear</span>'")
    expect(page.get_by_text("All clear")).to_be_visible()
    page.context.set_offline(True)
    expect(banner).to_contain_text(
        "Nothing can be sent until the connection is back: no approval, no payout, no order."
    )
    expect(banner).to_contain_text("What you typed is kept.")
    expect(page.get_by_text("All clear")).to_be_hidden()
    expect(place).to_be_disabled()
    quantity.fill("0.6")
    quantity.press("Control+Enter")
    quantity.press("Enter")
    page.context.set_offline(False)
    expect(banner).to_be_hidden()
    expect(quantity).to_have_value("0.6")
    assert not Order.objects.exists()
    expect(place).to_have_text("Place buy order: 0.6 BCH at 400 USD")
    place.click()
    page.wait_for_url(re.compile(r"/orders/[0-9]+/$"))
    assert Order.objects.get().quantity.normalize() == Decimal("0.6")
