"""Figures as people type and copy them: what is read, and what each field of a form says while it is typed."""

import re
import uuid
from decimal import Decimal
from html import unescape

import pytest
from django.core.exceptions import ValidationError

from desk import clock
from desk.personal.formats import MARKS
from desk.personal.models import Grouping
from exchange_ops.market.models import Symbol
from exchange_ops.orders.models import Order
from exchange_ops.shared.forms import read_grouped_amount
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_new_order import PATH, typed

COMMA, SPACE, APOSTROPHE, NONE = (MARKS[Grouping(name)] for name in ("comma", "space", "apostrophe", "none"))
POINT = "Use a decimal point: "


@pytest.mark.parametrize(
    ("mark", "text", "amount"),
    [
        (COMMA, "95,000", "95000"),
        (COMMA, "1,234,567.05", "1234567.05"),
        (COMMA, "95000", "95000"),
        (SPACE, "95\u202f000", "95000"),
        (SPACE, "1 234 567.5", "1234567.5"),
        (APOSTROPHE, "95\u2019000.10", "95000.10"),
        (APOSTROPHE, "95'000", "95000"),
        (NONE, "95000.5", "95000.5"),
    ],
)
def test_thousands_are_read_as_the_reader_has_them_written(mark, text, amount):
    assert read_grouped_amount(text, mark=mark) == Decimal(amount)


@pytest.mark.parametrize(
    ("mark", "text", "sentence"),
    [
        (COMMA, "1,5", f"{POINT}enter 1.5, not 1,5."),
        (COMMA, "0,500", f"{POINT}enter 0.500, not 0,500."),
        (COMMA, "1,2345", f"{POINT}enter 1.2345, not 1,2345."),
        (COMMA, "1.234,50", f"{POINT}enter 1,234.5 or 1234.5."),
        (COMMA, "12,34,567", f"{POINT}enter 1,234.5 or 1234.5."),
        (COMMA, "1,234.567,8", f"{POINT}enter 1,234.5 or 1234.5."),
        (SPACE, "95,000", f"{POINT}enter 1\u202f234.5 or 1234.5."),
        (NONE, "95,000", f"{POINT}enter 1234.5."),
        (COMMA, "95 000", "in digits with one decimal point"),
        (COMMA, "95\u202f000", "Use only the digits"),
        (COMMA, "-1", "greater than zero"),
        (COMMA, "\u22121", "greater than zero"),
        (COMMA, "-1,000", f"{POINT}enter 1,234.5 or 1234.5."),
        (COMMA, "abc", "in digits with one decimal point"),
        (COMMA, "0", "greater than zero"),
    ],
)
def test_no_mark_is_guessed_at(mark, text, sentence):
    with pytest.raises(ValidationError) as refused:
        read_grouped_amount(text, mark=mark)
    assert sentence in refused.value.messages[0]


def beside(body, name):
    """What the part says beside a field."""
    (words,) = re.findall(rf'<div id="{name}-wrong"[^>]*hx-swap-oob="true">(.*?)</div>', body, re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", words)).split())


@pytest.fixture
def client(db, signed_in, operator):
    order_rows.market(now=clock.now())
    Symbol.objects.update(margin_trading=True)
    return signed_in(operator)


# What is typed; the field that says so, what it says. Fields that nobody has filled in say nothing.
SAYS = [
    ({"price": "1,5"}, "price", f"{POINT}enter 1.5, not 1,5."),
    ({"price": "95,000"}, "price", "Read as 95000"),
    ({"quantity": "-1"}, "quantity", "Enter an amount greater than zero."),
    ({"quantity": "abc"}, "quantity", "Enter the amount in digits with one decimal point, for example 0.25."),
    ({"quantity": "0.5001"}, "quantity", "Must be a multiple of 0.001, the lot size."),
    ({"stop_loss": "390"}, "take_profit", "Enter both a stop and a take-profit price."),
    ({"type": "stopLimit", "stop_price": "x"}, "stop_price", "Enter the amount in digits with one decimal point"),
    ({"take_markup": "1,5"}, "take_markup", f"{POINT}enter 1.5, not 1,5."),
    ({"time_in_force": "GTD", "expire_time": "soon"}, "expire_time", "Enter a date and time in UTC"),
    ({"quantity": "", "price": ""}, "quantity", ""),
    ({"quantity": "", "price": ""}, "price", ""),
    ({}, "price", ""),
]


@pytest.mark.parametrize(("changes", "name", "words"), SAYS)
def test_each_field_of_the_ticket_says_what_is_wrong_while_it_is_typed(client, changes, name, words):
    sentence = beside(client.post(f"{PATH}figures/", typed(**changes)).content.decode(), f"id_{name}")
    assert sentence.startswith(words) if words else not sentence


def test_a_price_copied_from_the_book_is_placed_as_the_button_says(client):
    effect = "Place sell order: 0.5 BCH at 95,000 USD"
    assert client.post(PATH, typed(side="sell", price="95,000", effect=effect)).status_code == 302
    assert Order.objects.get().price == 95000


def test_replace_collateral_and_a_close_of_a_part_say_it_too(client, operator):
    row = order_rows.placed(operator, now=clock.now())
    as_part = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "figures"}
    replaced = client.get(f"/orders/{row.pk}/replace/", {"price": "1,5", "quantity": "-1"}, **as_part).content.decode()
    assert beside(replaced, "id_price") == f"{POINT}enter 1.5, not 1,5."
    assert "greater than zero" in beside(replaced, "id_quantity")
    common = {"code": "BCHUSD", "symbol": "BCHUSD", "request_key": str(uuid.uuid4())}
    added = client.post("/margin/figures/collateral/", common | {"amount": "1,5"}).content.decode()
    assert beside(added, "id_amount") == f"{POINT}enter 1.5, not 1,5."
    terms = {"how_much": "part", "quantity": "abc", "order_type": "limit", "price": "95,000", "position_id": "1"}
    closed = client.post("/margin/figures/close-position/", common | terms).content.decode()
    assert "in digits with one decimal point" in beside(closed, "id_quantity")
    assert beside(closed, "id_price") == "Read as 95000"
