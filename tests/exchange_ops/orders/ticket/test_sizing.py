"""Orders by an amount of the quote currency: the quantity is computed, shown, and placed as it was shown."""

import json
import re
import uuid
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest

from desk import clock
from exchange_ops.market.models import BookSnapshot, Symbol
from exchange_ops.orders.models import Order, OrderAmount
from exchange_ops.orders.ticket import sizing
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_new_order import figures, typed

pytestmark = pytest.mark.django_db
ASK = [["500", "1"], ["505", "2"]]
BID = [["499", "1"], ["490", "3"]]


@pytest.fixture
def book(db):
    now = clock.now()
    order_rows.market(now=now)
    return BookSnapshot.objects.create(symbol="BCHUSD", timestamp=now, ask=ASK, bid=BID, read_at=now)


def sized(*, now=None, **terms):
    usual = {"side": "buy", "type": "limit", "amount": "1000", "price": None, "stop_price": None} | terms
    amounts = {name: usual[name] and Decimal(usual[name]) for name in ("amount", "price", "stop_price")}
    symbol = Symbol.objects.get(pk="BCHUSD")
    return sizing.compute(symbol=symbol, **(usual | amounts), now=now or clock.now())


@pytest.mark.parametrize(
    ("terms", "quantity"),
    [
        ({"price": "400"}, "2.5"),
        ({"price": "333"}, "3.003"),  # 3.003003...
        ({"side": "sell", "price": "700"}, "1.428"),
        ({"type": "stopLimit", "price": "610", "stop_price": "600"}, "1.639"),
        ({"type": "stopMarket", "stop_price": "600"}, "1.666"),
        ({"type": "market", "amount": "500"}, "1"),
        ({"type": "market"}, "1.990"),  # one at 500, the rest at 505: 1.990099...
        ({"type": "market", "amount": "1510"}, "3"),  # the whole book
        ({"type": "market", "side": "sell"}, "2.022"),
    ],
)
def test_the_quantity_is_exact_and_rounded_down_to_the_increment(book, terms, quantity):
    assert sized(**terms) == sizing.Size(Decimal(quantity))


def test_why_there_is_no_quantity(book):
    assert sized().problem == sizing.NO_PRICE
    assert sized(type="stopMarket").problem == sizing.NO_STOP
    assert sized(price="400", amount="0.39").problem == "Enter a larger amount: this is less than one lot (0.001 BCH)."
    assert "visible book ends at about 1,510 USD" in sized(type="market", amount="1511").problem
    assert sized(type="market", now=clock.now() + timedelta(hours=1)).problem == sizing.NO_BOOK
    book.delete()
    assert sized(type="market").problem == sizing.NO_BOOK


def by_amount(**changes):
    return typed(**({"quantity": "", "amount": "1000", "type": "market", "price": ""} | changes))


def terms_of(client, **changes):
    """What the summary says: the words of the button, and what goes back with the ticket."""
    page = unescape(client.post("/orders/new/figures/", by_amount(**changes)).content.decode())
    return {
        "effect": re.search(r'data-effect="([^"]*)"', page)[1],
        "sized": (re.search(r'name="sized" value="([^"]*)"', page) or ["", ""])[1],
    }


def test_the_summary_and_the_button_name_the_quantity_before_it_is_placed(signed_in, operator, book):
    client = signed_in(operator)
    assert terms_of(client) == {"effect": "Place market buy order: 1.99 BCH", "sized": "1000:1.99"}
    page = figures(client, quantity="", amount="1000", price="400")
    assert "Place buy order: 2.5 BCH at 400 USD" in page
    assert "rounded down to the lot size" in page


@pytest.mark.parametrize("second", ["508", "498"])
def test_a_market_order_is_placed_with_the_quantity_that_was_shown_though_the_book_moves(
    signed_in, operator, book, second
):
    client = signed_in(operator)
    terms = terms_of(client)
    BookSnapshot.objects.update(ask=[["502", "1"], [second, "2"]])
    assert sized(type="market").quantity != Decimal("1.99")
    assert client.post("/orders/new/", by_amount(**terms)).status_code == 302
    row = Order.objects.get()
    assert (row.quantity, OrderAmount.objects.get(order=row).amount) == (Decimal("1.99"), 1000)
    assert "1,000.00 USD" in client.get(f"/orders/{row.pk}/").content.decode()


def test_a_book_that_moved_by_more_than_a_hundredth_is_shown_again_first(signed_in, operator, book):
    client = signed_in(operator)
    terms = terms_of(client)
    BookSnapshot.objects.update(ask=[["520", "5"]])
    again = client.post("/orders/new/", by_amount(**terms))
    assert (again.status_code, Order.objects.count()) == (200, 0)
    assert "Order not placed yet." in again.content.decode()
    assert "Place market buy order: 1.923 BCH" in again.content.decode()


@pytest.mark.parametrize("forged", ["1000:1.9905", "999:1.99", "1000:0", "1000:x", "1000:-1", ":", "1000:1.99:1"])
def test_what_comes_back_forged_places_what_the_amount_gives_or_nothing(signed_in, operator, book, forged):
    terms = {"effect": "Place market buy order: 1.99 BCH", "sized": forged}
    assert signed_in(operator).post("/orders/new/", by_amount(**terms)).status_code == 302
    assert Order.objects.get().quantity == Decimal("1.99")


def test_both_or_none_are_refused_and_what_was_typed_stays(signed_in, operator, book):
    client = signed_in(operator)
    both = client.post("/orders/new/", by_amount(quantity="1"))
    assert (both.status_code, Order.objects.count()) == (422, 0)
    assert sizing.ONE_SIZE in both.content.decode()
    assert 'value="1000"' in both.content.decode()
    none = client.post("/orders/new/", by_amount(amount=""))
    assert "Enter the quantity." in none.content.decode()
    assert "enter 1.5, not 1,5" in client.post("/orders/new/", by_amount(amount="1,5")).content.decode()
    too_much = figures(client, quantity="", amount="999999", price="400")
    assert "Insufficient balance: more than" in too_much


def test_the_same_ticket_sent_twice_is_one_order(signed_in, operator, book):
    client = signed_in(operator)
    ticket = by_amount(**terms_of(client))
    for _ in range(2):
        assert client.post("/orders/new/", ticket).status_code == 302
        BookSnapshot.objects.all().delete()  # nothing is known any more of what the amount gives
    assert Order.objects.count() == OrderAmount.objects.count() == 1


def send(client, **changes):
    body = {"symbol": "BCHUSD", "side": "buy", "type": "market", "amount": "1000", "request_key": str(uuid.uuid4())}
    body = {name: value for name, value in (body | changes).items() if value is not ...}
    return body, client.post("/api/v1/orders/", json.dumps(body), content_type="application/json")


def test_a_program_sends_an_amount_and_gets_the_quantity_once(with_token, operator, book):
    client = with_token(operator)
    body, first = send(client)
    assert (first.status_code, first.json()["quantity"], first.json()["amount"]) == (201, "1.99", "1000")
    BookSnapshot.objects.update(ask=[["5000", "1"]], read_at=clock.now() - timedelta(days=1))
    _, again = send(client, **body)
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])
    _, other = send(client, **(body | {"amount": "999"}))
    assert (other.status_code, Order.objects.count()) == (422, 1)
    _, reused = send(client, type="limit", price="400", request_key=body["request_key"], amount="4")
    assert "with different content" in reused.json()["detail"]
    _, stale = send(client)
    assert (stale.status_code, stale.json()["errors"]) == (422, {"amount": sizing.NO_BOOK})
    BookSnapshot.objects.update(read_at=clock.now() + timedelta(hours=1))  # before the clock was set back
    _, future = send(client)
    assert (future.status_code, future.json()["errors"]) == (422, {"amount": sizing.NO_BOOK})
    _, limit = send(client, type="limit", price="400", stop_loss="300", take_profit="600")
    assert (limit.json()["quantity"], limit.json()["amount"]) == ("2.5", "1000")
    _, plain = send(client, type="limit", price="400", amount=..., quantity="1")
    assert plain.json()["amount"] is None
