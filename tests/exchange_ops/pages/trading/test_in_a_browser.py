"""The trading desk in a browser: what ticks draw beside the server, the ticket's levels, shares and keys, own lines."""

from datetime import timedelta
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from desk import clock
from exchange_ops.market import quotes
from exchange_ops.market.models import Candle, Ticker
from exchange_ops.orders import machine
from exchange_ops.orders.models import Order
from exchange_ops.wire import records
from exchange_ops.wire.market_session import BookChanged
from tests.charts import grasp_line
from tests.exchange_ops import rows
from tests.exchange_ops.market import test_live_markets as live
from tests.exchange_ops.orders import order_rows

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

open_page, symbol = live.open_page, live.symbol
PAGE = "/markets/ETHBTC/"


@pytest.fixture
def own(symbol, operator):
    """Money in the trading wallet, and an order of another hand in the book."""
    now = clock.now()
    rows.account(now=now)
    rows.balance("ETH", trading="8", now=now)
    rows.balance("BTC", trading="100", now=now)
    return order_rows.elsewhere(now=now, symbol="ETHBTC", side="buy", price=Decimal("3.24"), quantity=Decimal("1.5"))


@pytest.mark.thorough("what ticks draw runs always (tests/exchange_ops/market/test_live_markets.py)")
def test_grouped_levels_and_own_sizes_are_drawn_as_the_server_draws_them(open_page, own):
    page = open_page(f"{PAGE}?group=5")
    following = live.Following(page)
    following.tell(BookChanged(live.book(11)))
    assert following.shows("#book tr.gap + tr", "3.25")
    assert following.shows("#book tr.gap + tr + tr .mine", "1.5")
    here, anew = live.as_drawn(page)
    assert here == anew
    total = page.locator("#book tr.gap + tr + tr")
    assert total.get_attribute("data-price") == "3.2"


@pytest.mark.thorough("the ticket says what it places, and that runs always")
def test_a_level_fills_the_price_and_with_shift_the_size_and_nothing_is_placed(open_page, own):
    page = open_page(PAGE)
    live.Following(page).tell(BookChanged(live.book(3)))
    level = page.locator("#book tr[data-side=ask][data-price='3.75']")
    level.click()
    expect(page.locator("#id_price")).to_have_value("3.75")
    expect(page.locator("#id_quantity")).to_have_value("")
    page.locator("#ticket input[value=sell]").check()
    level.click(modifiers=["Shift"])
    expect(page.locator("#id_quantity")).to_have_value("1.875")
    expect(page.locator("#ticket input[value=buy]")).to_be_checked()
    assert page.evaluate("window.marked") is True


def test_a_share_takes_what_is_available_and_never_more(open_page, own):
    page = open_page(PAGE)
    page.unroute_all()
    price, quantity = page.locator("#id_price"), page.locator("#id_quantity")
    price.fill("3")
    page.get_by_role("button", name="Max").click()
    expect(quantity).not_to_have_value("")
    taken = Decimal(quantity.input_value())
    cost = Decimal(3) * Decimal("1.001")  # the fee of the taker comes on top
    assert taken * cost <= 100 < (taken + Decimal("0.001")) * cost
    page.locator("#ticket input[value=sell]").check()
    page.get_by_role("button", name="25 %").click()
    expect(quantity).to_have_value("2")
    page.get_by_role("button", name="Max").click()
    expect(quantity).to_have_value("8")


@pytest.mark.thorough("the ticket says what it places, and that runs always")
def test_keys_choose_the_side_and_step_and_can_be_switched_off(open_page, own):
    page = open_page(PAGE)
    price, sell = page.locator("#id_price"), page.locator("#ticket input[value=sell]")
    page.locator("h1").click()
    page.keyboard.press("s")
    expect(sell).to_be_checked()
    expect(price).to_be_focused()
    price.fill("3")
    page.keyboard.press("ArrowUp")
    expect(price).to_have_value("3.01")
    page.keyboard.press("Shift+ArrowDown")
    expect(price).to_have_value("2.91")
    page.evaluate("localStorage.setItem('keys', 'off')")
    page.locator("h1").click()
    page.keyboard.press("b")
    expect(sell).to_be_checked()


@pytest.mark.thorough("no decision hangs on older candles")
def test_older_candles_come_before_those_that_are_drawn(open_page, own):
    last = Candle.objects.get().timestamp
    one = live.candle(last)
    figures = (one.open, one.close, one.min, one.max, one.volume, one.volume_quote)
    older = [records.Candle(last - n * timedelta(minutes=30), *figures) for n in range(1, 420)]
    quotes.keep_candles(symbol="ETHBTC", period="M30", candles=older, now=clock.now())
    page = open_page(PAGE)
    page.unroute_all()
    for _ in range(12):
        page.get_by_role("button", name="Older candles").click()
        if page.locator("#older[data-state=found]").count():
            break
        page.wait_for_timeout(100)
    expect(page.locator("#older")).to_have_attribute("data-state", "found")
    assert page.evaluate("window.marked") is True


# What becomes of the one own order on the chart, by another hand, while its line is moved.
_OWN = """(changes) => { const part = document.getElementById("work");
    const [one] = window.own ||= JSON.parse(part.dataset.own), here = {price: "2.5", replace: "/orders/77/replace/"};
    part.dataset.own = JSON.stringify(changes ? [{...one, ...here, ...changes}] : []);
    document.dispatchEvent(new CustomEvent("desk:own")); }"""


@pytest.mark.thorough("the confirmation that it leads to runs always")
def test_a_line_that_is_moved_leads_to_the_confirmation_and_one_that_is_given_up_says_so(open_page, own):
    page = open_page(PAGE)
    addresses, answer = [], page.locator("#own-answer")
    page.unroute_all()
    page.route("**/orders/*/replace/**", lambda route: (addresses.append(route.request.url), route.fulfill(status=204)))
    page.evaluate(_OWN, {})
    across, down = grasp_line(page)  # the chart shows the candle from 1 to 4
    above = page.locator("#chart").bounding_box()["y"] - 30

    def given_up(*, by, words, to=(across, down + 40)):
        page.mouse.move(across, down)
        expect(page.locator("#chart.on-line")).to_have_count(1)
        page.mouse.down()
        page.mouse.move(*to, steps=4)
        by()
        page.mouse.up()
        expect(answer).to_have_text(f"{own.reference} was not changed{words}")
        page.evaluate(_OWN, {})

    given_up(by=lambda: page.keyboard.press("Escape"), words=".")
    given_up(by=lambda: None, to=(across, above), words=": it was dropped outside the chart.")
    given_up(by=lambda: page.evaluate(_OWN), words=": it can no longer be changed.")
    given_up(by=lambda: page.evaluate(_OWN, {"price": "2.6"}), words=": its price became 2.60 while you moved it.")
    assert not addresses, "nothing was asked for"
    page.mouse.move(across, down)
    page.mouse.down()
    page.mouse.move(across, down + 40, steps=4)
    page.mouse.up()
    live.until(lambda: page.wait_for_timeout(50) or bool(addresses))
    (address,) = addresses
    head, _, price = address.partition("?price=")
    assert head.endswith("/orders/77/replace/")
    assert Decimal(price) < Decimal("2.5")
    assert Decimal(price) % Decimal("0.01") == 0


# Presses --------------------------------------------------------------------------------------------------------------


def press(page, button, *, held_ms):
    """A real press in the middle of the button; the pointer stays there."""
    button.scroll_into_view_if_needed()
    box = button.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=3)
    page.mouse.down()
    page.wait_for_timeout(held_ms)
    page.mouse.up()


def row_of(page, order):
    return page.locator("#work tbody tr").filter(has=page.get_by_role("link", name=order.reference, exact=True))


def test_what_answers_a_press_is_shown_while_the_pointer_stays_and_each_refusal_says_why(open_page, own):
    filled, broken, *mine = [own, *(order_rows.elsewhere(now=clock.now(), symbol="ETHBTC") for _ in range(4))]
    page = open_page(PAGE)
    page.unroute_all()
    answer, sent = page.locator("#own-answer"), []
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    for order, held_ms in zip(mine, (5, 60, 150), strict=True):
        press(page, page.get_by_role("button", name=f"Cancel {order.reference}"), held_ms=held_ms)
        expect(row_of(page, order)).to_contain_text("Cancelling")
        expect(answer).to_have_text(f"Cancel requested for {order.reference}.")
        page.mouse.down()
        page.mouse.up()
        order.refresh_from_db()
        machine.move(order, event="cancel_confirmed", to="placed", now=clock.now(), status="canceled", active=False)
        expect(row_of(page, order)).to_contain_text("Cancelled")
    assert len(sent) == len(mine), "a second press on the same place sends nothing"
    assert page.evaluate("window.marked") is True

    Order.objects.filter(pk=filled.pk).update(status="filled", active=False)
    press(page, page.get_by_role("button", name=f"Cancel {filled.reference}"), held_ms=60)
    expect(answer).to_contain_text(f"{filled.reference} was not cancelled. Order status: ")
    expect(row_of(page, filled)).to_contain_text("Filled")
    page.route("**/cancel/", lambda route: route.fulfill(status=500, body="<h1>x</h1><p>Something broke here.</p>"))
    press(page, page.get_by_role("button", name=f"Cancel {broken.reference}"), held_ms=60)
    expect(answer).to_have_text("Something broke here.")


def test_an_order_is_placed_refused_and_changed_without_leaving_the_desk(open_page, own):
    Ticker.objects.update(ask=Decimal("3.25"), bid=Decimal("3.24"), last=Decimal("3.25"), read_at=clock.now())
    page = open_page(PAGE)
    page.unroute_all()
    answer, place = page.locator("#own-answer"), page.locator("#place")
    page.locator("#id_price").fill("3.2")
    page.locator("#id_quantity").fill("0.5")
    expect(place).to_have_text("Place buy order: 0.5 ETH at 3.2 BTC")
    press(page, place, held_ms=60)
    page.mouse.down()
    page.mouse.up()
    expect(answer).to_contain_text("Open order")
    expect(page.locator("#id_quantity")).to_have_value("")
    placed = Order.objects.get(quantity=Decimal("0.5"))
    expect(answer).to_contain_text(f"{placed.reference}: {placed.label}.")
    expect(row_of(page, placed)).to_be_visible()
    press(page, place, held_ms=5)
    expect(page.locator("#ticket")).to_contain_text("Order not placed. Please fix:")
    assert Order.objects.count() == 2, "a ticket without a quantity places nothing"

    page.locator("#id_quantity").fill("1,5")
    expect(page.locator("#id_quantity-wrong")).to_have_text("Use a decimal point: enter 1.5, not 1,5.")
    press(page, place, held_ms=150)
    expect(page.locator("#ticket [role=alert]")).to_be_focused()
    expect(page.locator("#id_quantity")).to_have_value("1,5")

    press(page, page.get_by_role("link", name=f"Change {own.reference}"), held_ms=60)
    page.locator("#change_price").fill("3.2")
    change = page.get_by_role("button", name=f"Replace {own.reference} with buy order: 1.5 ETH at 3.2 BTC")
    expect(change).to_be_visible()
    press(page, change, held_ms=60)
    expect(answer).to_contain_text(f"replaces {own.reference}")
    expect(page.locator("#change")).to_be_hidden()
    expect(row_of(page, own)).to_contain_text("Replacing")
    assert page.evaluate("window.marked") is True
