"""Orders, trades and margin for programs: exact figures, one order for one key, one shape for every refusal."""

import json
import uuid
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.orders import request_checks, trades
from exchange_ops.orders.models import Order
from exchange_ops.portfolio.models import OrderResult
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db
PATH = "/api/v1/orders/"


@pytest.fixture(autouse=True)
def market(db):
    order_rows.market(now=clock.now())


def body(**changes):
    fields = {
        "symbol": "BCHUSD",
        "side": "buy",
        "quantity": "0.500",
        "price": "400",
        "request_key": str(uuid.uuid4()),
    }
    return {name: value for name, value in {**fields, **changes}.items() if value is not ...}


def send(client, content, path=PATH):
    return client.post(path, json.dumps(content), content_type="application/json")


def test_an_order_is_placed_once_and_exactly(with_token, operator):
    client, fields = with_token(operator), body()
    first, second = send(client, fields), send(client, fields)
    assert (first.status_code, second.status_code) == (201, 200)
    assert first.json()["id"] == second.json()["id"]
    answer = first.json()
    names = ("quantity", "price", "type", "time_in_force", "state", "initiated_via", "initiator", "filled")
    assert [answer[name] for name in names] == ["0.5", "400", "limit", "GTC", "requested", "api", "operator", "0"]
    assert Order.objects.count() == 1
    changed = send(client, {**fields, "quantity": "0.6"})
    assert changed.status_code == 422
    assert "with different content" in changed.json()["detail"]


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"quantity": 0.5}, "quantity", "as a string"),
        ({"quantity": "1e3"}, "quantity", "digits"),
        ({"quantity": "-1"}, "quantity", "greater than zero"),
        ({"quantity": "٣"}, "quantity", "digits 0 to 9"),
        ({"quantity": "9" * 40}, "quantity", "36 digits"),
        ({"price": ["1"]}, "price", "as a string"),
        ({"side": "hold"}, "side", "not a valid choice"),
        ({"side": ...}, "side", "required"),
        ({"type": "iceberg"}, "type", "not a valid choice"),
        ({"time_in_force": "GTX"}, "time_in_force", "not a valid choice"),
        ({"expire_time": 5}, "expire_time", "as a string"),
        ({"expire_time": "soon"}, "expire_time", "for example 2026-11-30"),
        ({"post_only": "yes"}, "post_only", "true or false"),
        ({"symbol": 7}, "symbol", "Must be a string"),
        ({"request_key": "short"}, "request_key", "8"),
        ({"client_order_id": "mine"}, "client_order_id", "Unknown field"),
    ],
)
def test_a_member_that_is_malformed_is_named(with_token, operator, changes, name, words):
    response = send(with_token(operator), body(**changes))
    assert response.status_code == 400
    assert words in response.json()["errors"][name], response.json()
    assert not Order.objects.exists()


@pytest.mark.parametrize(
    ("changes", "name", "words"),
    [
        ({"symbol": "NOPE"}, "symbol", "does not list"),
        ({"quantity": "0.0001"}, "quantity", "at least 0.001"),
        ({"quantity": ...}, "quantity", "either a quantity or an amount"),
        ({"quantity": None, "amount": None}, "quantity", "either a quantity or an amount"),
        ({"amount": "100"}, "quantity", "either a quantity or an amount"),
        ({"quantity": ..., "amount": "100", "price": ...}, "amount", "Enter the price first"),
        ({"quantity": ..., "amount": "0.1"}, "amount", "less than one lot (0.001 BCH)"),
        ({"quantity": ..., "amount": "100", "symbol": "NOPE"}, "amount", "does not list"),
        ({"quantity": "1000"}, "quantity", "USD required, including fees"),
        ({"price": "400.001"}, "price", "multiple of 0.01"),
        ({"price": None}, "price", "Enter a price"),
        ({"type": "market"}, "price", "Leave the price empty"),
        ({"time_in_force": "GTD", "expire_time": "2020-01-01T00:00:00Z"}, "expire_time", "has already passed"),
    ],
)
def test_what_breaks_a_rule_is_refused_with_its_field(with_token, operator, changes, name, words):
    response = send(with_token(operator), body(**changes))
    assert response.status_code == 422
    assert words in response.json()["errors"][name]
    assert not Order.objects.exists()


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '"x"', "[" * 3000])
def test_a_body_that_is_no_order_is_refused(with_token, operator, text):
    response = with_token(operator).post(PATH, text, content_type="application/json")
    assert response.status_code == 400
    assert not Order.objects.exists()


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor"])
def test_others_read_and_neither_place_nor_cancel(with_token, make_person, operator, role):
    row = order_rows.placed(operator, now=clock.now())
    client = with_token(make_person(role))
    assert client.get(PATH).json()["items"][0]["id"] == row.pk
    assert client.get(f"{PATH}{row.pk}/").json()["status"] == "new"
    assert send(client, body()).status_code == 403
    assert send(client, {}, f"{PATH}{row.pk}/cancel/").status_code == 403
    assert Order.objects.count() == 1


def test_a_cancel_is_recorded_and_one_of_nothing_is_a_conflict(with_token, operator):
    row, ended = (order_rows.placed(operator, now=clock.now(), status=status) for status in ("new", "filled"))
    client = with_token(operator)
    assert send(client, {}, f"{PATH}{row.pk}/cancel/").json()["state"] == "cancelling"
    assert send(client, {}, f"{PATH}{row.pk}/cancel/").status_code == 202
    refused = send(client, {}, f"{PATH}{ended.pk}/cancel/")
    assert refused.status_code == 409
    assert refused.json()["detail"].startswith("Not cancelled.")
    assert send(client, {}, f"{PATH}999999/cancel/").status_code == 404


def test_the_list_filters_pages_and_shows_orders_of_nobody(with_token, operator):
    now = clock.now()
    order_rows.placed(operator, now=now, status="filled")
    theirs = order_rows.elsewhere(now=now)
    client = with_token(operator)
    assert [item["id"] for item in client.get(f"{PATH}?view=open").json()["items"]] == [theirs.pk]
    assert client.get(PATH).json()["items"][0]["initiator"] is None
    assert len(client.get(PATH).json()["items"]) == 2, "a program that sets no filter gets every order"
    assert len(client.get(f"{PATH}?view=ended").json()["items"]) == 1
    for number in range(50):
        order_rows.elsewhere(now=now, number=number + 1)
    page = client.get(PATH).json()
    assert len(page["items"]) == 50
    assert len(client.get(page["older"]).json()["items"]) == 2


BEYOND = 2**53 + 1  # many readers of JSON would round it


def test_trades_and_margin_carry_signs_and_nothing_is_rounded(with_token, auditor, operator):
    now, account = clock.now(), Account.objects.get()
    row = order_rows.placed(operator, now=now)
    trade = records.AccountTrade(
        id=BEYOND,
        order_id=row.exchange_id,
        client_order_id=row.client_order_id,
        symbol=row.symbol,
        side="buy",
        quantity=Decimal("0.000000000000000000000001"),
        price=Decimal(400),
        fee=Decimal("-0.000000000001"),
        timestamp=now,
    )
    trades.store(account=account, trades=[trade], now=now)
    when = {"created_at": now, "updated_at": now, "read_at": now}
    figures = {"leverage": 10, "margin_balance": 5, "margin_balance_orders": 0, "margin_balance_required": 1}
    MarginAccount.objects.create(account=account, symbol="BCHUSD", **figures, **when)
    MarginPosition.objects.create(
        account=account, symbol="BCHUSD", exchange_id=BEYOND, quantity=Decimal("-0.5"), price_entry=400, **when
    )
    client = with_token(auditor)
    item = client.get(f"/api/v1/trades/?order={row.pk}").json()["items"][0]
    assert (item["quantity"], item["fee"], item["taker"]) == ("0.000000000000000000000001", "-0.000000000001", None)
    assert item["fee_currency"] == "USD"
    assert (item["exchange_id"], item["exchange_order_id"]) == (str(BEYOND), str(row.exchange_id))
    assert client.get(f"/api/v1/orders/{row.pk}/").json()["exchange_id"] == str(row.exchange_id)
    assert client.get("/api/v1/trades/?order=999").json()["items"] == []
    margin = client.get("/api/v1/margin/").json()["items"][0]
    assert margin["position"]["exchange_id"] == str(BEYOND)
    assert (margin["position"]["quantity"], margin["position"]["pnl"], margin["leverage"]) == ("-0.5", None, "10")


def test_the_page_and_the_program_ask_the_same_rules():
    members = set(request_checks.OrderRequest.__dataclass_fields__)
    from exchange_ops.orders.api_shapes import OrderIn

    assert members | {"amount", "request_key", "confirmed", "stop_loss", "take_profit"} == set(OrderIn().fields)


def test_who_asked_takes_an_order_back_that_waits_and_nobody_decides_on_it_here(with_token, make_person, operator):
    row = order_rows.waiting(operator, now=clock.now())
    path = f"{PATH}{row.pk}/withdraw/"
    colleague = with_token(make_person("operator", username="colleague"))
    refused = send(colleague, {"reason": "Not mine"}, path)
    assert refused.status_code == 422
    assert "Only the requester" in refused.json()["detail"]
    assert send(with_token(make_person("treasury", username="theirs")), {"reason": "No"}, path).status_code == 403
    client = with_token(operator)
    assert send(client, {}, path).status_code == 400
    for name in ("approve", "decline"):
        assert send(client, {"reason": "x"}, f"{PATH}{row.pk}/{name}/").status_code == 404
    done = send(client, {"reason": "The price has gone"}, path)
    assert (done.status_code, done.json()["state"]) == (200, "withdrawn")
    row.refresh_from_db()
    assert (row.state, row.decided_by_id) == ("withdrawn", operator.pk)
    assert "The price has gone" in row.last_problem
    assert send(client, {"reason": "Again"}, path).status_code == 422
    assert send(client, {"reason": "None"}, f"{PATH}999999/withdraw/").status_code == 404


def test_an_order_carries_value_fees_and_result_or_why_there_is_none(with_token, auditor, operator):
    now, account = clock.now(), Account.objects.get()
    empty = order_rows.placed(operator, now=now)
    row = order_rows.placed(operator, now=now, status="filled", filled="0.5")
    client = with_token(auditor)
    names = ("value", "fees", "fee_currency", "result")
    unread = {"realised": None, "currency": "USD", "reason": "Some fills are not synced yet."}
    assert [client.get(f"{PATH}{row.pk}/").json()[name] for name in names] == [None, None, "USD", unread]
    fill = {"symbol": "BCHUSD", "side": "buy", "quantity": Decimal("0.25"), "price": Decimal(400), "timestamp": now}
    own = {"order_id": row.exchange_id, "client_order_id": row.client_order_id}
    fills = [
        records.AccountTrade(id=number, fee=Decimal(fee), **fill, **own) for number, fee in ((1, "0.2"), (2, "-1"))
    ]
    trades.store(account=account, trades=fills, now=now)
    reason = "Paid in USD: no P&L until the purchased coins are sold."
    read = ["200", "-0.8", "USD", {"realised": None, "currency": "USD", "reason": reason}]
    assert [client.get(f"{PATH}{row.pk}/").json()[name] for name in names] == read
    with CaptureQueriesContext(connection) as seen:
        listed = client.get(PATH).json()["items"]
    assert [listed[0][name] for name in names] == read
    assert (listed[1]["id"], listed[1]["value"], listed[1]["result"]["reason"]) == (empty.pk, "0", "No fills.")
    order_rows.placed(operator, now=now)
    with CaptureQueriesContext(connection) as more:
        client.get(PATH)
    assert len(more) <= len(seen)


def test_the_page_of_an_order_shows_the_same(signed_in, auditor, operator):
    now, account = clock.now(), Account.objects.get()
    row = order_rows.placed(operator, now=now, status="filled", filled="0.5", side="sell")
    page = signed_in(auditor).get(f"/orders/{row.pk}/").content.decode()
    assert page.count("Some fills are not synced yet.") == 3
    rows.trade(1, now=now, exchange_order_id=row.exchange_id, side="sell", price=Decimal(400), fee=Decimal("0.2"))
    figures = {"quantity": "0.5", "realised": "-12.5", "without_cost": 0, "without_price": 0, "currency": "USD"}
    OrderResult.objects.create(account=account, exchange_order_id=row.exchange_id, trades=1, **figures)
    page = signed_in(auditor).get(f"/orders/{row.pk}/?x").content.decode()
    for words in ("200.00 USD", "0.20 USD", "−12.50 USD", "first in, first out"):
        assert words in page, words
