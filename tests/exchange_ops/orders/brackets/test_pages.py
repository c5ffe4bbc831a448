"""The pages of brackets, the ticket that makes one, the interface, and where a bracket is led to."""

import json
import re
import uuid
from decimal import Decimal

import pytest
from django.urls import reverse

from desk import clock
from exchange_ops.orders.brackets import workflow
from exchange_ops.orders.brackets.models import Bracket
from exchange_ops.orders.models import Order
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.brackets import bracket_rows

EFFECT = "Place buy order: 0.5 BCH at 440 USD, stop 420, take profit 480 USD"


@pytest.fixture(autouse=True)
def market(db):
    order_rows.market(now=clock.now())


def ticket(**changes):
    return {
        "symbol": "BCHUSD",
        "side": "buy",
        "type": "limit",
        "quantity": "0.5",
        "price": "440",
        "stop_loss": "420",
        "take_profit": "480",
        "request_key": str(uuid.uuid4()),
    } | changes


def test_the_ticket_says_what_the_exits_come_to_and_places_both_once(signed_in, operator):
    client, sent = signed_in(operator), ticket()
    figures = client.post(reverse("order-figures"), sent).content.decode()
    assert EFFECT in figures
    words = " ".join(re.sub(r"<[^>]*>", "", figures.replace("\u202f", " ")).split())
    assert "At the stop\u221210.43" in words.replace("-", "\u2212"), words
    assert "after fees of 0.43" in words
    assert "× the loss at the stop" in words
    for _ in range(2):
        answer = client.post(reverse("order-new"), sent | {"effect": EFFECT})
        assert answer.status_code == 302, answer.content.decode()[-3000:]
    (order,), (row,) = Order.objects.all(), Bracket.objects.all()
    assert (row.entry, row.stop_price, row.take_price) == (order, Decimal(420), Decimal(480))
    page = client.get(reverse("order", args=[order.pk])).content.decode()
    assert reverse("bracket", args=[row.pk]) in page


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"take_profit": ""}, "Enter both a stop and a take-profit price."),
        ({"stop_loss": "450"}, "The stop must be below the entry"),
        ({"stop_loss": "-1"}, "Enter an amount greater than zero."),
        ({"take_profit": "1e9"}, "Enter the amount in digits"),
        ({"side": "sell", "price": "460"}, "The stop must be above the entry"),
    ],
)
def test_what_guards_nothing_is_said_beside_its_field_and_nothing_is_placed(signed_in, operator, changes, words):
    answer = signed_in(operator).post(reverse("order-new"), ticket(effect=EFFECT, **changes))
    assert (answer.status_code, words in answer.content.decode()) == (422, True)
    assert not Order.objects.exists()


def test_without_exits_it_is_an_order_alone(signed_in, operator):
    effect = "Place buy order: 0.5 BCH at 440 USD"
    sent = ticket(effect=effect, stop_loss="", take_profit="")
    assert signed_in(operator).post(reverse("order-new"), sent).status_code == 302
    assert (Order.objects.count(), Bracket.objects.count()) == (1, 0)


def test_an_open_order_is_guarded_from_its_page(signed_in, operator, auditor):
    order = order_rows.placed(operator, now=clock.now(), price=Decimal(440))
    client, address = signed_in(operator), reverse("order-guard", args=[order.pk])
    assert address in client.get(reverse("order", args=[order.pk])).content.decode()
    assert "Add stop and take profit to O-" in client.get(address).content.decode()
    refused = client.post(address, {"stop_loss": "460", "take_profit": "480"})
    assert (refused.status_code, "must be below the entry" in refused.content.decode()) == (422, True)
    prices = {"stop_loss": "420", "take_profit": "480"}
    assert client.post(address, prices).status_code == 302
    row = Bracket.objects.get(entry=order)
    assert client.post(address, prices).url == reverse("bracket", args=[row.pk]), "sent again it is the same"
    assert "already belongs to a bracket" in client.get(address).content.decode()
    assert signed_in(auditor).get(address).status_code == 403


def test_its_page_shows_what_is_open_and_what_each_may_do(signed_in, operator, auditor):
    row = bracket_rows.without_a_stop(operator, now=clock.now())
    page = signed_in(operator).get(reverse("bracket", args=[row.pk])).content.decode()
    assert "was not placed: Insufficient funds." in page
    assert "Place stop again for 0.2" in page
    assert "0.2000 BCH without a stop" in page or "0.2 BCH without a stop" in page
    others = signed_in(auditor).get(reverse("bracket", args=[row.pk])).content.decode()
    assert "Only operators can end this bracket." in others
    assert "<button" not in others.split('id="act"')[1].split("</section>")[0]


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("unknown", "Not yet known whether {new} replaced the stop {stop}."),
        ("not_seen", "{new}, the replacement for the stop, was not found on the exchange. {stop} is still working."),
    ],
)
def test_its_page_shows_both_orders_while_it_is_not_known_which_is_there(signed_in, operator, outcome, words):
    """Of one whose replacement was lost, in the state of rows alone; what becomes of it is in `test_replaced`."""
    row, stop, new = bracket_rows.stop_replaced(operator, now=clock.now(), outcome=outcome)
    workflow.advance(row.pk, now=clock.now())
    page = signed_in(operator).get(reverse("bracket", args=[row.pk])).content.decode()
    assert words.format(new=new.reference, stop=stop.reference) in re.sub(r"[\u2066-\u2069]", "", page)
    assert f"Replaces {stop.reference}" in page
    orders = signed_in(operator).get(f"/api/v1/brackets/{row.pk}/").json()["orders"]
    assert [(each["role"], each["order_id"], each["is_open"]) for each in orders][1] == ("stop", stop.pk, True)


def test_what_is_asked_too_late_is_said_and_changes_nothing(signed_in, operator):
    row = bracket_rows.asked_for(operator, now=clock.now())
    client = signed_in(operator)
    assert client.post(reverse("bracket-let-go", args=[row.pk])).status_code == 302
    late = client.post(reverse("bracket-end", args=[row.pk]))
    assert (late.status_code, "The bracket is unchanged." in late.content.decode()) == (409, True)


def test_the_list_has_the_open_ones_and_the_ended_ones_apart(signed_in, auditor, operator):
    row, client = bracket_rows.asked_for(operator, now=clock.now()), signed_in(auditor)
    assert row.reference in client.get(reverse("brackets")).content.decode()
    assert row.reference not in client.get(reverse("brackets") + "?view=ended").content.decode()
    signed_in(operator).post(reverse("bracket-let-go", args=[row.pk]))
    assert "orders kept" in client.get(reverse("brackets") + "?outcome=let_go").content.decode()
    exported = client.get(reverse("brackets-export", args=["csv"]) + "?view=all")
    assert row.reference in b"".join(exported.streaming_content).decode()


def test_the_market_and_the_search_lead_to_it(signed_in, operator):
    row, client = bracket_rows.asked_for(operator, now=clock.now()), signed_in(operator)
    assert row.reference in client.get(reverse("market", args=["BCHUSD"])).content.decode()
    assert row.reference in client.get(reverse("palette") + f"?q={row.reference.lower()}").content.decode()


def test_a_program_asks_for_one_with_its_order_reads_it_and_ends_it(signed_in, operator):
    client = signed_in(operator)

    def send(content, path="/api/v1/orders/"):
        return client.post(path, json.dumps(content), content_type="application/json")

    body = {"symbol": "BCHUSD", "side": "buy", "quantity": "0.5", "price": "440", "request_key": str(uuid.uuid4())}
    half = send(body | {"stop_loss": "420"})
    assert (half.status_code, "Enter both a stop" in half.content.decode()) == (422, True), half.content
    made = send(body | {"stop_loss": "420", "take_profit": "480"})
    assert made.status_code in {201, 202}, made.content
    (found,) = client.get("/api/v1/brackets/").json()["items"]
    assert (found["stop_price"], found["take_price"], found["state"]) == ("420", "480", "entering")
    assert [(each["role"], each["order_id"]) for each in found["orders"]] == [("entry", made.json()["id"])]
    path = f"/api/v1/brackets/{found['id']}/"
    ended = send({}, path + "end/")
    assert (ended.status_code, ended.json()["state"]) == (202, "ending")
    assert send({}, path + "end/").status_code == 409
    assert client.get(path).json()["outcome"] == ""
