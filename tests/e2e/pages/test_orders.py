"""Orders as an operator meets them: placed, seen open, cancelled, filled, and found when the answer was lost."""

import re

import pytest
from playwright.sync_api import expect

from tests.e2e.visitors import rows

pytestmark = [
    pytest.mark.browser,
    pytest.mark.timeout(900),
    pytest.mark.thorough(
        "the machine of orders is proven by the domain; the ticket runs always with the rows of a test"
    ),
]


def fill_in(visitor, *, quantity, price="", kind="limit", side="buy", symbol="ETHBTC"):
    """The ticket, filled in; the button then says what it does."""
    page = visitor.open("/orders/new/")
    page.get_by_label("Symbol", exact=True).select_option(symbol)
    page.get_by_label("Type", exact=True).select_option(kind)
    page.locator(f"input[name=side][value={side}]").check()
    page.get_by_label("Quantity", exact=True).fill(quantity)
    expect(page.locator("#id_price")).to_be_visible(visible=kind != "market")
    if price:
        page.locator("#id_price").fill(price)
    return page


def place(visitor, words, **order):
    """Fill in the ticket and press the button with these words; the number of the order, whose page is open then."""
    fill_in(visitor, **order).get_by_role("button", name=words, exact=True).click()
    visitor.page.wait_for_url(re.compile(r"/orders/\d+/$"))
    return int(re.search(r"/orders/(\d+)/$", visitor.page.url)[1])


def calls(house, operation, since):
    received = house.control(f"calls?operation={operation}&since={since}")["calls"]
    return len(received)


def last_call(house):
    every = house.control("calls")["calls"]
    return every[-1]["number"] if every else 0


def test_a_limit_order_is_placed_seen_open_by_others_and_cancelled(house, visit):
    operator, treasury = visit("operator"), visit("treasury")
    treasury.open("/orders/")
    treasury.mark()
    number = place(operator, "Place buy order: 0.5 ETH at 0.001 BTC", quantity="0.5", price="0.001")
    operator.mark()
    expect(operator.state()).to_have_text("Open")
    line = treasury.page.locator("tr", has=treasury.page.get_by_role("link", name=f"O-{number}", exact=True))
    expect(line).to_contain_text("Open")
    assert treasury.is_same_document(), "the list was drawn anew by itself"
    treasury.open(f"/orders/{number}/")
    expect(treasury.page.get_by_text("Only operators can cancel this order.")).to_be_visible()
    operator.page.get_by_role("button", name="Cancel buy order: 0.5000 ETH left").click()
    expect(operator.state()).to_have_text("Cancelled")
    expect(treasury.state()).to_have_text("Cancelled")
    expect(operator.page.get_by_text("This order is closed.")).to_be_visible()


def test_a_market_order_shows_its_trades(house, visit):
    operator = visit("operator")
    number = place(operator, "Place market buy order: 0.1 ETH", quantity="0.1", kind="market")
    expect(operator.state()).to_have_text("Filled")
    trades = operator.page.locator("section[aria-labelledby=t-trades] tbody tr")
    expect(trades.first).to_contain_text("taker")
    stored = rows(
        house,
        "SELECT COUNT(*) FROM exchange_ops_accounttrade t JOIN exchange_ops_order o "
        "ON o.exchange_id = t.exchange_order_id WHERE o.id = ?",
        number,
    )
    expect(trades).to_have_count(stored[0][0])


def test_an_order_whose_answer_was_lost_is_looked_for_and_found(house, visit):
    operator, since = visit("operator"), last_call(house)
    faults = [("create_order", "drop_after"), ("newOrder", "drop")]  # over REST, and over the trading socket
    for operation, kind in faults:
        house.control("faults", {"operation": operation, "kind": kind, "times": 1})
    place(operator, "Place buy order: 0.25 ETH at 0.001 BTC", quantity="0.25", price="0.001")
    expect(operator.page.locator("#facts")).to_contain_text("the response was lost, but the order was found by its ID")
    expect(operator.state()).to_have_text("Open")
    expect(operator.page.locator("#story")).to_contain_text("Response lost")
    house.control("faults", method="DELETE")  # the one of the way that was not taken
    assert calls(house, "create_order", since) + calls(house, "newOrder", since) == 1, "it was sent once"
    operator.page.get_by_role("button", name="Cancel buy order: 0.2500 ETH left").click()
    expect(operator.state()).to_have_text("Cancelled")


def test_a_ticket_tells_what_is_wrong_and_a_double_click_places_one_order(house, visit):
    operator = visit("operator")
    page = fill_in(operator, quantity="0.00001", price="0.001")
    expect(page.locator("#id_quantity-wrong")).to_contain_text("Too low: at least 0.0001.")
    page.get_by_role("button", name="Preview order").click()
    expect(page.locator("#id_quantity-wrong")).to_contain_text("Too low: at least 0.0001.")
    page.get_by_label("Quantity", exact=True).fill("0.0123")
    page.get_by_role("button", name="Place buy order: 0.0123 ETH at 0.001 BTC", exact=True).dblclick()
    page.wait_for_url(re.compile(r"/orders/\d+/$"))
    assert rows(house, "SELECT COUNT(*) FROM exchange_ops_order WHERE quantity || '' = '0.0123'") == [(1,)]
    expect(operator.state()).to_have_text("Open")


def test_what_was_typed_after_the_button_was_drawn_is_shown_before_it_is_placed(house, visit):
    operator = visit("operator")
    page = fill_in(operator, quantity="0.0124", price="0.001")
    button = page.get_by_role("button", name="Place buy order: 0.0124 ETH at 0.001 BTC", exact=True)
    expect(button).to_be_visible()
    # In the click itself and without an event: earlier, what comes with the market draws button and field anew.
    page.evaluate(
        """() => window.addEventListener("click", () => {
            document.getElementById("id_quantity").value = "5";
        }, {capture: true, once: true})"""
    )
    button.click()
    expect(page.get_by_text("Order not placed yet.")).to_be_visible()
    expect(page.get_by_role("button", name="Place buy order: 5 ETH at 0.001 BTC", exact=True)).to_be_visible()
    assert rows(house, "SELECT COUNT(*) FROM exchange_ops_order WHERE quantity || '' IN ('5', '0.0124')") == [(0,)]


def test_an_auditor_reads_and_neither_places_nor_cancels(house, visit):
    operator, auditor = visit("operator"), visit("auditor", name="auditor")
    number = place(operator, "Place buy order: 0.0125 ETH at 0.001 BTC", quantity="0.0125", price="0.001")
    expect(operator.state()).to_have_text("Open")
    page = auditor.open(f"/orders/{number}/")
    expect(auditor.state()).to_have_text("Open")
    expect(page.get_by_role("button", name=re.compile("^Cancel"))).to_have_count(0)
    expect(auditor.open("/orders/").get_by_role("link", name="New order")).to_have_count(0)
    status, body = auditor.post_by_hand(f"/orders/{number}/cancel/")
    assert (status, "Only operators can place and cancel orders" in body) == (403, True)
    assert auditor.post_by_hand("/orders/new/", quantity="1")[0] == 403
    assert rows(house, "SELECT state FROM exchange_ops_order WHERE id = ?", number) == [("placed",)]
