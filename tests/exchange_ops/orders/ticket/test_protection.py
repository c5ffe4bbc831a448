"""Protect: a stop or a take profit alone for what is held, never more than is held and in no open sale."""

import re
from decimal import Decimal
from functools import partial
from html import unescape

import pytest

from desk import clock
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import workflow
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import CannotPlace, OrderRequest
from exchange_ops.orders.ticket import protection
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_new_order import typed

pytestmark = pytest.mark.django_db
STOP = {"protect": "stop", "side": "sell", "type": "stopLimit", "stop_price": "450", "price": "445", "quantity": "6"}
TAKE = {"protect": "take", "side": "sell", "type": "limit", "stop_price": "", "price": "600", "quantity": "6"}
WORDS = {
    "stop": "Place stop-limit sell order: 6 BCH at 445 USD triggered at 450 USD",
    "take": "Place sell order: 6 BCH at 600 USD",
}


@pytest.fixture(autouse=True)
def market(db):
    now = clock.now()
    order_rows.market(now=now)
    Ticker.objects.update_or_create(symbol="BCHUSD", defaults={"last": 500, "bid": 499, "ask": 501})


def selling(person, quantity, **changes):
    return order_rows.placed(
        person, now=clock.now(), side="sell", price=Decimal(700), quantity=Decimal(quantity), **changes
    )


def holding():
    return protection.holding(account=Account.objects.get(), symbol=Symbol.objects.get(pk="BCHUSD"))


def test_the_most_is_what_is_held_less_what_open_sales_reserve(operator):
    selling(operator, 3, filled="1", status="partiallyFilled")
    selling(operator, 2, status="canceled")
    order_rows.placed(operator, now=clock.now(), price=Decimal(400))
    order_rows.requested(operator, now=clock.now(), side="sell", quantity=Decimal("0.5"), price=Decimal(700))
    free = holding()
    assert (free.held, free.in_sales, free.most) == (10, Decimal("2.5"), Decimal("7.5"))
    rows.balance("BCH", trading="1.0005", now=clock.now())
    assert holding().most == 0, "the balance was read before the sales"


@pytest.mark.parametrize("ticket", [STOP, TAKE])
def test_a_protection_goes_through_the_ticket_and_becomes_one_order(signed_in, operator, ticket):
    client, form = signed_in(operator), typed(effect=WORDS[ticket["protect"]], **ticket)
    for _ in range(2):
        assert client.post("/orders/new/", form).status_code == 302
    row = Order.objects.get()
    assert (row.state, row.side, row.type, row.quantity, row.margin) == (
        "requested",
        "sell",
        ticket["type"],
        6,
        False,
    )
    assert row.stop_price == (450 if ticket is STOP else None)
    more = client.post("/orders/new/", typed(effect=WORDS[ticket["protect"]], **ticket))
    assert (more.status_code, Order.objects.count()) == (422, 1)
    assert "Enter at most 4 BCH: the trading account holds 10, 6 of it reserved by open orders." in unescape(
        more.content.decode()
    )
    assert 'name="protect" value="' + ticket["protect"] in more.content.decode(), "the ticket stays what it is"


@pytest.mark.parametrize(
    ("ticket", "changes", "sentence"),
    [
        (STOP, {"stop_price": "500"}, "a stop must be below the market price, now 500 USD."),
        (TAKE, {"price": "499"}, "a take profit must be above the market price, now 499 USD."),
        (STOP, {"side": "buy"}, "A stop on a holding must sell from the trading account."),
        (STOP, {"type": "limit"}, "A stop on a holding must sell from the trading account."),
        (TAKE, {"margin": "on"}, "A take profit on a holding must sell from the trading account."),
        (STOP, {"quantity": "10.5"}, "Enter at most 10 BCH"),
    ],
)
def test_what_protects_nothing_is_refused_and_the_summary_says_so_first(signed_in, operator, ticket, changes, sentence):
    client, form = signed_in(operator), typed(**(ticket | changes))
    summary = unescape(client.post("/orders/new/figures/", form).content.decode())
    assert sentence in summary or "margin" in changes
    assert re.search(r'data-effect=""', summary)
    refused = client.post("/orders/new/", form)
    assert not Order.objects.exists()
    assert refused.status_code in {200, 422}


def test_it_is_judged_again_as_it_is_placed(operator):
    """The check beside the row, for what passed the summary a moment ago."""
    place = partial(
        protection.checked,
        workflow.place,
        kind="stop",
        initiator=operator,
        account=Account.objects.get(),
        now=clock.now(),
    )
    terms = {"symbol": "BCHUSD", "side": "sell", "type": "stopLimit", "time_in_force": "GTC"}
    requested = OrderRequest(**terms, quantity=Decimal(6), price=Decimal(445), stop_price=Decimal(450))
    first = place(requested=requested, request_key="first-of-two")
    with pytest.raises(CannotPlace, match="Enter at most 4 BCH"):
        place(requested=requested, request_key="second-of-two")
    assert place(requested=requested, request_key="first-of-two") == first
    Ticker.objects.update(last=440)
    with pytest.raises(CannotPlace, match="would sell immediately"):
        place(requested=requested, request_key="third-of-two")


def test_it_needs_an_approval_where_any_order_of_its_value_does(signed_in, operator):
    order_rows.limit_for_approval(most=Decimal(100), now=clock.now())
    effect = WORDS["stop"].replace("Place ", "Request approval: ")
    assert signed_in(operator).post("/orders/new/", typed(effect=effect, **STOP)).status_code == 302
    assert Order.objects.get().state == "waiting"
    assert holding().most == 4


def test_the_ticket_is_filled_in_with_what_can_be_protected(signed_in, operator):
    order_rows.elsewhere(now=clock.now(), quantity=Decimal("0.0005"))
    page = unescape(signed_in(operator).get("/orders/new/?protect=stop&symbol=BCHUSD").content.decode())
    assert "<h1>Protect BCH</h1>" in page
    assert 'value="9.999"' in page, "rounded down to the lot"
    assert "Held: 10.0000 BCH. In open sell orders: 0.0005 BCH." in page
    assert 'name="side" value="sell"' in page
    assert 'name="stop_price"' in page
    take = signed_in(operator).get("/orders/new/?protect=take&symbol=BCHUSD").content.decode()
    assert 'name="stop_price"' not in take
    odd = signed_in(operator).get("/orders/new/?protect=stop&symbol=NOPE%00")
    assert odd.status_code == 200
    assert "Protect" not in signed_in(operator).get("/orders/new/?protect=both&symbol=BCHUSD").content.decode()


def test_on_the_market_page_the_ticket_changes_its_kind_and_comes_back(signed_in, operator):
    client = signed_in(operator)
    page = client.get("/markets/BCHUSD/").content.decode()
    link = unescape(re.search(r'hx-get="(/orders/new/\?protect=stop[^"]*)"', page)[1])
    answer = client.get(link, headers={"HX-Request": "true", "HX-Target": "ticket"})
    assert answer["HX-Retarget"] == "#ticket"
    assert 'name="protect" value="stop"' in answer.content.decode()
    assert 'name="back" value="market"' in answer.content.decode()
    form = typed(effect=WORDS["stop"], back="market", **STOP)
    placed = client.post("/orders/new/", form, headers={"HX-Request": "true", "HX-Target": "ticket"})
    assert (placed.status_code, Order.objects.count()) == (200, 1)
    assert 'name="protect"' not in placed.content.decode(), "the next ticket is for any order"
    assert f"{Order.objects.get().reference}: " in placed.content.decode()
