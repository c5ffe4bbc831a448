"""The ticket: what it takes, what it refuses beside the field, what its button says, and that one order stays one."""

import re
import uuid
from decimal import Decimal
from html import unescape

import pytest
from django.contrib.sessions.backends.db import SessionStore
from django.template.loader import render_to_string
from django.test import RequestFactory

from desk import clock
from exchange_ops.market.models import Ticker
from exchange_ops.orders.models import Order
from exchange_ops.orders.views import new
from exchange_ops.policy import freezes
from exchange_ops.shared.models import Account
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db
PATH = "/orders/new/"
EFFECT = "Place buy order: 0.5 BCH at 400 USD"


@pytest.fixture(autouse=True)
def market(db):
    order_rows.market(now=clock.now())


def typed(**changes):
    form = {
        "symbol": "BCHUSD",
        "side": "buy",
        "type": "limit",
        "time_in_force": "",
        "quantity": "0.5",
        "price": "400",
        "stop_price": "",
        "expire_time": "",
        "request_key": str(uuid.uuid4()),
        "effect": EFFECT,
    }
    return {name: value for name, value in {**form, **changes}.items() if value is not None}


def refused(client, status=422, **changes):
    response = client.post(PATH, typed(**changes))
    assert response.status_code == status, response.status_code
    assert not Order.objects.exists()
    return response


def ticks(page):
    return re.findall(r'name="confirmed"[^>]*? value="([^"]+)"', page)


def figures(client, **changes):
    return client.post(f"{PATH}figures/", typed(**changes)).content.decode()


def test_a_good_ticket_becomes_one_order_and_calls_nobody(signed_in, operator):
    response = signed_in(operator).post(PATH, typed(quantity=" 0.5 "), follow=True)
    row = Order.objects.get()
    assert (row.state, row.initiator, row.quantity, row.price, row.time_in_force) == (
        "requested",
        operator,
        Decimal("0.5"),
        Decimal(400),
        "GTC",
    )
    assert response.redirect_chain == [(f"/orders/{row.pk}/", 302)]
    assert f"{row.reference}: {row.label}." in response.content.decode()


AMOUNTS = [
    ("0", "greater than zero"),
    ("-1", "greater than zero"),
    ("1e2", "in digits with one decimal point"),
    ("NaN", "in digits with one decimal point"),
    ("1,5", "Use a decimal point: enter 1.5, not 1,5."),
    ("١.٢", "Use only the digits 0 to 9"),
    ("９", "Use only the digits 0 to 9"),
    ("9" * 37, "at most 36 digits before"),
    ("0." + "1" * 25, "Enter at most 24 digits"),
    ("9" * 200, "at most 80 characters"),
    ("<script>", "in digits with one decimal point"),
]


@pytest.mark.parametrize("name", ["quantity", "price", "stop_price"])
@pytest.mark.parametrize(("text", "words"), AMOUNTS)
def test_a_figure_that_makes_no_sense_is_refused_beside_its_field(signed_in, operator, name, text, words):
    page = refused(signed_in(operator), **{"type": "stopLimit", "stop_price": "390", name: text})
    assert any(words in error for error in page.context["form"].errors[name]), page.context["form"].errors
    assert "Order not placed" in page.content.decode()
    assert "<script>" not in page.content.decode().split("<main", 1)[1].split("</main", 1)[0]


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"symbol": ""}, "symbol", "Choose a symbol"),
        ({"symbol": "NOPE"}, "symbol", "Select a valid choice"),
        ({"side": None}, "side", "Choose buy or sell"),
        ({"side": "hold"}, "side", "Select a valid choice"),
        ({"type": "iceberg"}, "type", "Select a valid choice"),
        ({"time_in_force": "GTX"}, "time_in_force", "Select a valid choice"),
        ({"quantity": ""}, "quantity", "Enter the quantity"),
        ({"quantity": "0.5001"}, "quantity", "multiple of 0.001"),
        ({"quantity": "0.0001"}, "quantity", "at least 0.001"),
        ({"quantity": "26"}, "quantity", "required, including fees"),
        ({"quantity": "9" * 36, "price": "9" * 36}, "quantity", "cost is too large"),
        ({"side": "sell", "quantity": "10.001"}, "quantity", "10.001 BCH required"),
        ({"price": ""}, "price", "Enter a price"),
        ({"price": "400.001"}, "price", "multiple of 0.01"),
        ({"type": "market", "price": "", "time_in_force": "GTC"}, "time_in_force", "IOC or FOK"),
        ({"type": "stopLimit"}, "stop_price", "Enter a stop price"),
        ({"time_in_force": "GTD"}, "expire_time", "Enter an expiry date"),
        ({"time_in_force": "GTD", "expire_time": "2020-01-01T00:00"}, "expire_time", "has already passed"),
        ({"time_in_force": "GTD", "expire_time": "2026-02-31T00:00"}, "expire_time", "does not exist"),
        ({"time_in_force": "GTD", "expire_time": "tomorrow"}, "expire_time", "for example 2026-11-30"),
        ({"time_in_force": "GTD", "expire_time": "２０26-11-30T10:00"}, "expire_time", "for example 2026-11-30"),
        ({"time_in_force": "FOK", "post_only": "on"}, "post_only", "can't be post-only"),
    ],
)
def test_what_breaks_a_rule_is_told_beside_its_field(signed_in, operator, changes, name, words):
    page = refused(signed_in(operator), **changes)
    assert any(words in error for error in page.context["form"].errors[name]), page.context["form"].errors


@pytest.mark.parametrize(
    ("changes", "open_parts"),
    [
        ({"price": ""}, []),
        ({"price": "", "time_in_force": "Day"}, ["Time in force, post-only, markup"]),
        ({"time_in_force": "GTD"}, ["Time in force, post-only, markup"]),
        ({"take_markup": "x"}, ["Time in force, post-only, markup"]),
        ({"price": "", "rounded": "on"}, ["Time in force, post-only, markup"]),
        ({"stop_loss": "390"}, ["Stop and take profit"]),
    ],
)
def test_what_is_rarely_set_is_folded_until_it_is_set_or_wrong(signed_in, operator, changes, open_parts):
    page = refused(signed_in(operator), **changes).content.decode()
    parts = re.findall(r'<details class="more"( open)?>\s*<summary>([^<]+)</summary>', page)
    assert len(parts) == 2
    assert [name for is_open, name in parts if is_open] == open_parts


@pytest.mark.parametrize(
    ("changes", "empty", "effect"),
    [
        ({"type": "market"}, "price", "Place market buy order: 0.5 BCH"),
        ({"type": "market", "price": "x.y"}, "price", "Place market buy order: 0.5 BCH"),
        ({"stop_price": "390"}, "stop_price", EFFECT),
        ({"expire_time": "2027-01-01T00:00"}, "expire_time", EFFECT),
        (
            {"type": "stopMarket", "stop_price": "390"},
            "price",
            "Place stop-market buy order: 0.5 BCH triggered at 390 USD",
        ),
    ],
)
def test_what_the_type_does_not_take_is_not_asked_for_and_no_mistake(signed_in, operator, changes, empty, effect):
    page = figures(signed_in(operator), **changes)
    assert effect in page
    assert "leave it empty" not in page
    assert signed_in(operator).post(PATH, typed(**changes, effect=effect, confirmed=ticks(page))).status_code == 302
    assert getattr(Order.objects.get(), empty) is None


@pytest.mark.parametrize(
    ("changes", "sentence", "warns"),
    [
        ({"price": "450"}, "12.50 % above the best ask (400); policy allows 5 %", "Price far from the market"),
        ({"price": "400"}, "at the best ask", ""),
        ({"price": "403.99"}, "1.00 % above the best ask", ""),
        ({"price": "100"}, "75.00 % below the best ask", "unlikely to fill soon"),
        (
            {"side": "sell", "price": "300"},
            "24.81 % below the best bid (399); policy allows 5 %",
            "Price far from the market",
        ),
        ({"side": "sell", "price": "40000"}, "9,925.06 % above the best bid", "unlikely to fill soon"),
        ({"price": "9" * 30}, "% above the best ask", "buy above the market"),
        ({"type": "stopLimit", "stop_price": "410", "price": "420"}, "2.50 % above the last price of 400.00 USD", ""),
    ],
)
def test_the_ticket_says_how_far_the_price_is_from_the_market(signed_in, operator, changes, sentence, warns):
    Ticker.objects.update(ask=Decimal(400), bid=Decimal(399), last=Decimal(400))
    page = figures(signed_in(operator), **changes)
    words = " ".join(unescape(re.sub(r"<[^>]+>", " ", page)).split())
    assert sentence in words
    assert (warns in words) if warns else ("The limit" not in words)
    assert "Proceeds, after fee" in words if changes.get("side") == "sell" else "Cost, including fee" in words


@pytest.mark.parametrize("key", ["", "not-a-key", "1" * 200])
def test_a_ticket_without_its_key_is_refused(signed_in, operator, key):
    refused(signed_in(operator), request_key=key)


@pytest.mark.parametrize("effect", ["", "Place buy order: 0.5 BCH at 300 USD"])
def test_a_button_that_said_something_else_places_nothing_and_says_it_anew(signed_in, operator, effect):
    page = refused(signed_in(operator), status=200, effect=effect).content.decode()
    assert "Order not placed yet." in page
    assert f'value="{EFFECT}"' in page


@pytest.mark.parametrize(
    ("changes", "effect"),
    [
        ({}, EFFECT),
        ({"side": "sell", "price": "12000"}, "Place sell order: 0.5 BCH at 12,000 USD"),
        ({"type": "market", "price": ""}, "Place market buy order: 0.5 BCH"),
        (
            {"type": "stopLimit", "stop_price": "410"},
            "Place stop-limit buy order: 0.5 BCH at 400 USD triggered at 410 USD",
        ),
        (
            {"type": "stopMarket", "price": "", "stop_price": "410"},
            "Place stop-market buy order: 0.5 BCH triggered at 410 USD",
        ),
        ({"time_in_force": "Day", "post_only": "on"}, f"{EFFECT} (Day, post-only)"),
        (
            {"time_in_force": "GTD", "expire_time": "2090-01-02T03:04"},
            f"{EFFECT} (GTD, until 2090-01-02 03:04 UTC)",
        ),
    ],
)
def test_the_button_names_the_effect(signed_in, operator, changes, effect):
    client = signed_in(operator)
    part = client.post("/orders/new/figures/", typed(**changes)).content.decode()
    assert f'data-effect="{effect}"' in part, "static/js/ticket.js writes it on the button"
    assert client.post(PATH, typed(effect=effect, confirmed=ticks(part), **changes)).status_code == 302
    assert Order.objects.count() == 1


def test_the_figures_show_value_fee_and_what_is_available(signed_in, operator):
    part = signed_in(operator).post("/orders/new/figures/", typed()).content.decode()
    assert "0.20 USD" in part  # fee at 0.001
    assert "200.20 USD" in part
    assert "no order book yet" in part
    assert "10,000.00 USD" in part
    market = signed_in(operator).post("/orders/new/figures/", typed(type="market", price="")).content.decode()
    assert "250.25 USD" in market
    assert "may fill at worse prices" in market


def test_without_a_margin_account_the_figures_lead_to_opening_one(signed_in, operator):
    part = signed_in(operator).post("/orders/new/figures/", typed(margin="on")).content.decode()
    assert "no margin account for BCHUSD" in part
    assert 'href="/margin/open/?symbol=BCHUSD"' in part


@pytest.mark.parametrize("text", ["", "x", "1e9", "9" * 90])
def test_figures_for_what_is_not_a_number_yet_say_what_is_known(signed_in, operator, text):
    part = signed_in(operator).post("/orders/new/figures/", typed(quantity=text)).content.decode()
    assert "10,000.00 USD" in part
    assert 'data-effect=""' in part, "the button says what it does without an order to name"


def test_a_double_click_a_second_tab_and_a_reload_are_one_order(signed_in, operator):
    form, first, second = typed(), signed_in(operator), signed_in(operator)
    places = {client.post(PATH, form)["Location"] for client in (first, first, second)}
    assert len(places) == 1
    assert Order.objects.count() == 1
    other = {**form, "quantity": "0.6", "effect": "Place buy order: 0.6 BCH at 400 USD"}
    response = first.post(PATH, other)
    assert response.status_code == 422
    assert "This form was already submitted with different content" in response.content.decode()
    assert Order.objects.count() == 1


def test_a_freeze_stops_the_ticket_and_says_why(signed_in, operator):
    freezes.freeze(person=None, reason="Something is odd.", account=Account.objects.get(), now=clock.now())
    page = refused(signed_in(operator)).content.decode()
    assert "Something is odd." in page
    assert "can still be cancelled" in page


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor"])
def test_who_may_not_place_gets_no_ticket(signed_in, make_person, role):
    client = signed_in(make_person(role))
    assert client.get(PATH).status_code == 403
    assert client.post(PATH, typed()).status_code == 403
    assert b"order-new" not in client.get("/orders/").content
    assert not Order.objects.exists()


def test_a_link_may_fill_in_the_ticket_but_not_send_it(signed_in, operator):
    page = signed_in(operator).get(f"{PATH}?symbol=BCHUSD&side=sell&price=5&quantity=3").content.decode()
    assert 'value="BCHUSD" selected' in page
    assert 'value="5"' in page
    assert 'value="3"' not in page
    assert not Order.objects.exists()


def test_nothing_typed_comes_back_alive(signed_in, operator):
    hostile = '"><img src=x onerror=alert(1)>'
    page = refused(signed_in(operator), symbol=hostile, quantity=hostile, effect=hostile).content.decode()
    assert hostile not in page


# In other pages -------------------------------------------------------------------------------------------------------


def standing_in(person, path, **options):
    request = RequestFactory().get(path)
    request.user, request.session = person, SessionStore()
    context = new.ticket(request, **options)
    return context, render_to_string("exchange_ops/new_order/_ticket.html", context, request=request)


def test_the_ticket_stands_in_other_pages_with_the_same_fields(operator):
    context, page = standing_in(operator, "/markets/BCHUSD/?side=sell&price=401", symbol="BCHUSD")
    assert context["symbol"].code == "BCHUSD"
    for part in ('id="ticket"', 'name="symbol" id="id_symbol" value="BCHUSD"', 'id="id_price"', 'id="id_quantity"'):
        assert part in page, part
    assert 'value="401"' in page
    assert 'value="sell" checked' in re.sub(r"\s+", " ", page)
    assert '<select name="symbol"' not in page


def test_nobody_who_may_not_trade_has_a_ticket(auditor):
    request = RequestFactory().get("/markets/BCHUSD/")
    request.user, request.session = auditor, SessionStore()
    assert new.ticket(request, symbol="BCHUSD") == {}
