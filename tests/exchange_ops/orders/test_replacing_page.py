"""The page that replaces an order: what would change, the words of the button, and links between both orders."""

import uuid
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.orders import machine
from exchange_ops.orders.models import Order
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def market(db):
    order_rows.market(now=clock.now())


def sent(client, row, **changes):
    form = {"quantity": "0.5", "price": "401", "request_key": str(uuid.uuid4())}
    form |= {"effect": f"Replace {row.reference} with buy order: 0.5 BCH at 401 USD"}
    return client.post(f"/orders/{row.pk}/replace/", form | changes)


def test_a_link_may_wish_a_price_and_nothing_is_done_by_looking(signed_in, operator):
    row, client = order_rows.placed(operator, now=clock.now(), filled="0.2"), signed_in(operator)
    page = client.get(f"/orders/{row.pk}/replace/?price=401").content.decode()
    assert 'data-effect="Replace ' in page
    assert f"Replace {row.reference} with buy order: 0.5 BCH at 401 USD" in page
    assert 'value="401"' in page
    assert "0.3" in page.split("Remaining", 1)[1]
    part = client.get(
        f"/orders/{row.pk}/replace/?price=402&quantity=0.6", headers={"HX-Request": "true", "HX-Target": "figures"}
    ).content.decode()
    assert part.startswith("<div data-effect=")
    assert "0.6 BCH at 402 USD" in part
    assert Order.objects.count() == 1


def test_sent_with_its_words_it_is_one_replacement_and_both_pages_say_so(signed_in, operator):
    row, client = order_rows.placed(operator, now=clock.now()), signed_in(operator)
    key = str(uuid.uuid4())
    for _ in range(2):  # a double click
        response = sent(client, row, request_key=key)
    new = Order.objects.get(replaces=row)
    assert response["Location"] == f"/orders/{new.pk}/"
    assert (new.quantity, new.price, new.state) == (Decimal("0.5"), Decimal(401), "requested")
    assert f'<a href="/orders/{row.pk}/">{row.reference}</a>' in client.get(f"/orders/{new.pk}/").content.decode()
    old_page = client.get(f"/orders/{row.pk}/").content.decode()
    assert f'<a href="/orders/{new.pk}/">{new.reference}</a>' in old_page
    assert "Replacing" in old_page
    assert f"replaces {row.reference}" in client.get("/orders/").content.decode()


def test_other_words_than_the_buttons_are_shown_first(signed_in, operator):
    row, client = order_rows.placed(operator, now=clock.now()), signed_in(operator)
    response = sent(client, row, price="402")
    assert response.status_code == 200
    assert "Order not changed yet." in response.content.decode()
    assert "at 402 USD" in response.content.decode()
    assert Order.objects.count() == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"price": ""}, "Enter the price"),
        ({"quantity": ""}, "Enter the quantity"),
        ({"price": "x"}, "in digits with one decimal point"),
        (
            {"price": "400", "effect": "Replace {} with buy order: 0.5 BCH at 400 USD"},
            "Enter a different price or quantity",
        ),
        ({"price": "401.001", "effect": "Replace {} with buy order: 0.5 BCH at 401.001 USD"}, "multiple of 0.01"),
    ],
)
def test_what_is_wrong_stands_on_the_page_and_changes_nothing(signed_in, operator, changes, words):
    row, client = order_rows.placed(operator, now=clock.now()), signed_in(operator)
    changes = {name: text.format(row.reference) for name, text in changes.items()}
    response = sent(client, row, **changes)
    assert response.status_code == 422
    assert words in response.content.decode()
    row.refresh_from_db()
    assert (row.state, Order.objects.count()) == ("placed", 1)


def test_an_order_that_is_over_can_not_be_replaced_and_the_page_says_why(signed_in, operator, auditor):
    row = order_rows.placed(operator, now=clock.now(), status="filled", filled="0.5")
    page = signed_in(operator).get(f"/orders/{row.pk}/replace/")
    assert page.status_code == 200
    assert "This order can&#x27;t be replaced. Status: exchange status filled." in page.content.decode()
    assert 'id="replace"' not in page.content.decode()
    assert signed_in(auditor).get(f"/orders/{row.pk}/replace/").status_code == 403
    assert signed_in(operator).get("/orders/999999/replace/").status_code == 404


def test_the_page_of_an_order_leads_there_only_while_it_is_open(signed_in, operator):
    row, client = order_rows.placed(operator, now=clock.now()), signed_in(operator)
    assert "Change price or quantity" in client.get(f"/orders/{row.pk}/").content.decode()
    machine.move(row, event="cancel_asked", to="cancelling", now=clock.now())
    assert "Change price or quantity" not in client.get(f"/orders/{row.pk}/").content.decode()
