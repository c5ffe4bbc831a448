"""An hour of trading by real presses on one page: it says what the order's page and the exchange say."""

import base64
import json
import re
import time
import urllib.error
import urllib.request
from decimal import Decimal

import pytest
from playwright.sync_api import expect

from tests.bounds import stretched
from tests.charts import grasp_line
from tests.e2e.visitors import rows
from tests.selection import is_usual_depth

pytestmark = [pytest.mark.browser, pytest.mark.timeout(1_800)]

ORDERS = 4 if is_usual_depth() else 60
LONGEST_S = 30  # a bound for a busy machine; how long it took is printed
HELD_MS = (5, 45, 80, 150)
PAGE = "/markets/ETHBTC/"
# The exchange's words (exchange REST, Order) and those of the desk's chip.
CHIPS = {"new": "Open", "canceled": "Cancelled", "filled": "Filled", "partiallyFilled": "Partially filled"}

_MIDDLE = """(one) => {
    one.scrollIntoView({block: "nearest"});
    const box = one.getBoundingClientRect();
    return {x: box.left + box.width / 2, y: box.top + box.height / 2};
}"""


def press(page, button, held_ms):
    """Down, a while, up, in the middle of the button; no helper scrolls or waits in between."""
    expect(button).to_be_visible()
    middle = button.evaluate(_MIDDLE)
    page.mouse.move(middle["x"], middle["y"], steps=3)
    page.mouse.down()
    page.wait_for_timeout(held_ms)
    page.mouse.up()


class Trader:
    """An operator on the market's page, and the exchange as its own key reads it."""

    def __init__(self, visitor):
        self.house, self.page = visitor.house, visitor.open(PAGE)
        self.answer, self.slowest = self.page.locator("#own-answer"), 0.0
        self.page.evaluate("window.mark = 'here'")

    def newest(self):
        """Number and client order id of the order that this page placed last."""
        ((number, identifier),) = rows(
            self.house, "SELECT id, client_order_id FROM exchange_ops_order ORDER BY id DESC LIMIT 1"
        )
        return number, identifier

    def place(self, price, quantity, held_ms):
        """Type and press; the order that came of it."""
        before = self.newest()[0] if rows(self.house, "SELECT 1 FROM exchange_ops_order LIMIT 1") else 0
        self.page.locator("#id_price").fill(price)
        self.page.locator("#id_quantity").fill(quantity)
        place = self.page.locator("#place")
        expect(place).to_have_text(f"Place buy order: {quantity} ETH at {price} BTC")
        expect(place).to_be_enabled()
        press(self.page, place, held_ms)
        expect(self.page.locator("#id_quantity")).to_have_value("")
        number, identifier = self.newest()
        assert number > before
        expect(self.answer).to_contain_text(f"O-{number}")
        return number, identifier

    def row(self, number):
        link = self.page.get_by_role("link", name=f"O-{number}", exact=True)
        return self.page.locator("#work tbody tr").filter(has=link)

    def agree_on(self, order, status, **figures):
        """Wait until the exchange says this; then the page and the order's page say so."""
        number, identifier = order
        self._until(lambda: self._at_exchange(identifier).get("status") == status, stretched(20))
        held = self._at_exchange(identifier)
        assert {name: Decimal(held[name]) for name in figures} == figures
        begun = time.monotonic()
        self._until(lambda: CHIPS[status] in " ".join(self.row(number).all_inner_texts()), stretched(LONGEST_S))
        self._until(lambda: CHIPS[status] in self._order_page(number), stretched(LONGEST_S))
        self.slowest = max(self.slowest, time.monotonic() - begun)

    def _until(self, condition, seconds):
        ends = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < ends, self.page.locator("#work").inner_text()
            self.page.wait_for_timeout(50)

    def _order_page(self, number):
        text = self.page.request.get(f"{self.house.url}/orders/{number}/").text()
        head = re.search(r'<div class="head">.*?</div>', text, re.S)
        return head[0] if head else ""

    def _at_exchange(self, identifier):
        for path in (f"order/{identifier}", f"history/order?clientOrderId={identifier}"):
            key = base64.b64encode(b"demo-full:demo-full-secret").decode()
            request = urllib.request.Request(
                f"{self.house.sandbox_url}/api/2/{path}", headers={"Authorization": f"Basic {key}"}
            )
            try:
                with urllib.request.urlopen(request, timeout=20) as answer:
                    listed = json.load(answer)
            except urllib.error.HTTPError as error:
                if error.code != 400:
                    raise
                continue
            if listed:
                return listed[0] if isinstance(listed, list) else listed
        return {}


@pytest.mark.thorough("each press is proven with its own rows in exchange_ops/pages/trading; this is an hour of them")
def test_orders_are_placed_changed_and_cancelled_without_leaving_the_desk(visit):
    trader = Trader(visit("operator", height=1_400))
    page = trader.page
    for count in range(ORDERS):
        held_ms, quantity = HELD_MS[count % len(HELD_MS)], Decimal("0.1") + Decimal(count) / 1000
        if count % 4 == 3:
            ask = page.locator("#book tr[data-side=ask]").last.get_attribute("data-price")
            order = trader.place(str(Decimal(ask) + Decimal("0.0001")), str(quantity), held_ms)
            trader.agree_on(order, "filled", quantity=quantity, cumQuantity=quantity)
            continue
        order = trader.place("0.0202", str(quantity), held_ms)
        trader.agree_on(order, "new", quantity=quantity, price=Decimal("0.0202"))
        if count % 4 == 1:
            press(page, page.get_by_role("link", name=f"Change O-{order[0]}", exact=True), held_ms)
            page.locator("#change_price").fill("0.0203")
            change = page.get_by_role("button", name=re.compile(f"^Replace O-{order[0]} with buy order: "))
            expect(change).to_be_visible()
            press(page, change, held_ms)
            expect(trader.answer).to_contain_text(f"replaces O-{order[0]}")
            order = trader.newest()
            trader.agree_on(order, "new", quantity=quantity, price=Decimal("0.0203"))
        press(page, page.get_by_role("button", name=f"Cancel O-{order[0]}", exact=True), held_ms)
        expect(trader.answer).to_contain_text(f"O-{order[0]}")
        trader.agree_on(order, "canceled", quantity=quantity)
    assert page.evaluate("window.mark") == "here"
    assert page.url.endswith(PAGE)
    print(f"slowest agreement of {ORDERS} orders: {trader.slowest:.2f} s")


@pytest.mark.every(3, "a line that is given up or moved is proven on the page of a market; this is the whole way once")
def test_an_order_dragged_on_the_chart_has_its_new_price_at_the_exchange(visit):
    trader = Trader(visit("operator", height=1_400))
    page = trader.page
    expect(page.locator("#candles")).to_have_attribute("data-candles", re.compile(r"\d"))
    candles = json.loads(page.locator("#candles").get_attribute("data-candles"))[-40:]
    high, low = max(Decimal(candle[2]) for candle in candles), min(Decimal(candle[3]) for candle in candles)
    start = (low - (high - low) / 8).quantize(Decimal("0.00001")).normalize()  # below the candles, still on the chart
    order = trader.place(f"{start:f}", "0.1", 45)
    trader.agree_on(order, "new", quantity=Decimal("0.1"))
    across, down = grasp_line(page)
    page.mouse.down()
    page.mouse.move(across, down + 25, steps=5)
    page.mouse.up()
    field = page.locator("#change_price")
    expect(field).not_to_have_value("")
    price = field.input_value()
    assert Decimal(price) < start
    change = page.get_by_role("button", name=f"Replace O-{order[0]} with buy order: 0.1 ETH at {price} BTC")
    press(page, change, 45)
    expect(trader.answer).to_contain_text(f"replaces O-{order[0]}")
    trader.agree_on(trader.newest(), "new", quantity=Decimal("0.1"), price=Decimal(price))
    trader.agree_on(order, "canceled")
    assert page.evaluate("window.mark") == "here"
