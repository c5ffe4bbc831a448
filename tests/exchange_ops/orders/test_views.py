"""The list of orders, one order, margin: what they show, who may act, and that nothing odd brings a page down."""

import csv
import io
from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.models import AuditEvent
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import Ticker
from exchange_ops.orders import machine, trades, workflow
from exchange_ops.orders.models import AccountTrade, Order, OrderReading
from exchange_ops.shared import heartbeats
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def market(db):
    order_rows.market(now=clock.now())


def text_of(response):
    body = b"".join(response) if response.streaming else response.content
    return body.decode("utf-8-sig")


def listed(client, query=""):
    response = client.get(f"/orders/{query}")
    assert response.status_code == 200
    return {row.pk for row in response.context["list"].rows}


def queries_of(client, path):
    client.get(path)
    with CaptureQueriesContext(connection) as seen:
        assert client.get(path).status_code == 200
    return len(seen.captured_queries)


def trade(row, number=1, **changes):
    values = {
        "id": number,
        "order_id": row.exchange_id,
        "client_order_id": row.client_order_id,
        "symbol": row.symbol,
        "side": row.side,
        "quantity": Decimal("0.25"),
        "price": Decimal("399.5"),
        "fee": Decimal("-0.01"),
        "timestamp": clock.now(),
        "taker": False,
    }
    trades.store(account=row.account, trades=[records.AccountTrade(**(values | changes))], now=clock.now())


# The list -------------------------------------------------------------------------------------------------------------


def test_open_ones_stand_first_and_the_address_says_what_else(signed_in, operator, auditor):
    now = clock.now()
    mine = order_rows.placed(operator, now=now)
    waiting = order_rows.requested(operator, now=now, side="sell")
    ended = order_rows.placed(operator, now=now, status="filled", filled="0.5")
    theirs = order_rows.elsewhere(now=now)
    client = signed_in(auditor)
    assert listed(client) == {mine.pk, waiting.pk, theirs.pk}
    assert listed(client, "?view=ended") == {ended.pk}
    assert listed(client, "?view=all") == {mine.pk, waiting.pk, ended.pk, theirs.pk}
    assert listed(client, "?view=all&side=sell") == {waiting.pk, theirs.pk}
    assert listed(client, "?view=all&status=filled") == {ended.pk}
    assert listed(client, "?view=all&status=requested") == {waiting.pk}
    assert listed(client, "?origin=elsewhere") == {theirs.pk}
    assert listed(client, "?symbol=bchusd&origin=desk") == {mine.pk, waiting.pk}
    for text in (mine.reference, mine.client_order_id, str(mine.exchange_id)):
        assert listed(client, f"?text={text}") == {mine.pk}


@pytest.mark.parametrize(
    "query", ["?view=nonsense", "?side=both&type=x&status=y", "?before=x&after=-1", "?text=O-" + "9" * 40, "?text=%00"]
)
def test_filters_that_make_no_sense_filter_nothing_and_break_nothing(signed_in, auditor, query):
    assert signed_in(auditor).get(f"/orders/{query}").status_code == 200


def test_three_orders_take_as_many_queries_as_one(signed_in, operator):
    client, now = signed_in(operator), clock.now()
    first = order_rows.placed(operator, now=now)
    order_rows.elsewhere(now=now)
    one, detail = queries_of(client, "/orders/"), queries_of(client, f"/orders/{first.pk}/")
    order_rows.placed(operator, now=now)
    order_rows.elsewhere(now=now)
    for number in (1, 2, 3):
        trade(first, number)
    assert queries_of(client, "/orders/") == one
    assert queries_of(client, f"/orders/{first.pk}/") <= detail + 1


def test_the_file_has_the_filtered_rows_and_is_told_to_the_trail(signed_in, auditor, operator):
    now = clock.now()
    row = order_rows.placed(operator, now=now)
    order_rows.elsewhere(now=now, client_order_id="=1+1")
    lines = list(csv.DictReader(io.StringIO(text_of(signed_in(auditor).get("/orders/export.csv?view=all")))))
    assert [line["client order id"] for line in lines] == ["'=1+1", row.client_order_id]
    assert (lines[1]["quantity"], lines[1]["price"], lines[1]["placed by"]) == ("0.5", "400", "operator")
    assert lines[0]["placed by"] == ""
    assert AuditEvent.objects.filter(action="orders.exported", actor=auditor).count() == 1


def test_the_page_says_how_old_it_is_and_what_was_wrong(signed_in, operator):
    account, now = Account.objects.get(), clock.now()
    client = signed_in(operator)
    assert "Not synced yet" in client.get("/orders/").content.decode()
    heartbeats.succeeded(workflow.name_of(account), now=now - timedelta(minutes=4), account=account)
    heartbeats.failed(
        workflow.name_of(account), now=now, problem="The orders could not be read: no answer", account=account
    )
    page = client.get("/orders/").content.decode()
    assert "4 min ago" in page
    assert "no answer" in page


def test_reading_again_is_a_row_and_no_call(signed_in, operator):
    client = signed_in(operator)
    assert client.post("/orders/refresh/").headers["Location"] == "/orders/"
    assert client.post("/orders/refresh/", {"back": "margin"}).headers["Location"] == "/margin/"
    assert OrderReading.objects.get().answered_at is None
    page = client.get("/orders/").content.decode()
    assert "Refreshing…" in page
    assert f"{Account.objects.get().name}: refreshing order lists." in page


# One order ------------------------------------------------------------------------------------------------------------


def test_the_detail_shows_trades_timeline_and_what_the_exchange_says(signed_in, auditor, operator):
    row = order_rows.placed(operator, now=clock.now(), status="partiallyFilled", filled="0.25")
    trade(row)
    page = signed_in(auditor).get(f"/orders/{row.pk}/").content.decode()
    for words in ("Buy order: 0.5 BCH at 400 USD", "Partly filled", "maker", "−0.01", "Accepted by the exchange"):
        assert words in page, words
    assert "Only operators can cancel this order." in page
    assert "Cancel buy order" not in page


def test_unknown_statuses_sides_and_types_are_shown_as_they_came(signed_in, auditor):
    row = order_rows.elsewhere(now=clock.now(), status="paused", side="both", type="iceberg", time_in_force="GTX")
    for path in ("/orders/?view=all", f"/orders/{row.pk}/"):
        page = signed_in(auditor).get(path).content.decode()
        assert "paused" in page
        assert "both" in page
        assert "iceberg" in page


@pytest.mark.parametrize("state", ["requested", "sending", "unknown", "not_seen", "refused", "not_sent", "cancelling"])
def test_every_state_has_a_page_that_says_what_happened(signed_in, operator, state):
    now = clock.now()
    if state in {"requested", "not_sent"}:
        row = order_rows.requested(operator, now=now)
    elif state == "cancelling":
        row = order_rows.placed(operator, now=now)
    else:
        row = order_rows.sent(operator, now=now)
    moves = {
        "not_sent": [("stopped", "not_sent")],
        "unknown": [("answer_lost", "unknown")],
        "not_seen": [("answer_lost", "unknown"), ("not_seen", "not_seen")],
        "refused": [("refused", "refused")],
        "cancelling": [("cancel_asked", "cancelling")],
    }
    for event, to in moves.get(state, []):
        machine.move(row, event=event, to=to, now=now, last_problem="<b>Because.</b>")
    client = signed_in(operator)
    page = client.get(f"/orders/{row.pk}/").content.decode()
    assert row.sentence.split(":")[0] in page.replace("&#x27;", "'")
    assert "<b>Because" not in page
    assert row.label in page
    assert row.label in client.get("/orders/?view=all").content.decode()


def test_a_cancel_names_its_effect_and_moves_the_order(signed_in, operator):
    row = order_rows.placed(operator, now=clock.now(), status="partiallyFilled", filled="0.2")
    client = signed_in(operator)
    assert "Cancel buy order: 0.3000 BCH left" in client.get(f"/orders/{row.pk}/").content.decode()
    for _ in range(2):  # a double click
        assert client.post(f"/orders/{row.pk}/cancel/").status_code == 302
    row.refresh_from_db()
    assert row.state == "cancelling"
    assert AuditEvent.objects.filter(subject=row.subject, action="order.cancel_asked").count() == 1


def test_the_list_cancels_an_order_in_its_row_and_stays_there(signed_in, operator, auditor):
    row = order_rows.placed(operator, now=clock.now())
    order_rows.placed(operator, now=clock.now(), status="filled", filled="0.5")
    client = signed_in(operator)
    page = client.get("/orders/?view=all").content.decode()
    assert page.count('aria-label="Cancel O-') == 1
    assert "Cancel O-" not in signed_in(auditor).get("/orders/?view=all").content.decode()
    assert client.post(f"/orders/{row.pk}/cancel/", {"back": "orders"})["Location"] == "/orders/"
    row.refresh_from_db()
    assert row.state == "cancelling"


def test_a_cancel_on_a_stale_page_says_that_there_is_nothing_left(signed_in, operator):
    row = order_rows.placed(operator, now=clock.now(), status="filled", filled="0.5")
    response = signed_in(operator).post(f"/orders/{row.pk}/cancel/")
    assert response.status_code == 409
    assert "exchange status filled" in response.content.decode()
    assert "Not cancelled." in response.content.decode()


@pytest.mark.parametrize("role", ["treasury", "admin", "auditor"])
def test_who_may_not_cancel_changes_nothing(signed_in, make_person, operator, role):
    row = order_rows.placed(operator, now=clock.now())
    client = signed_in(make_person(role))
    for path in (f"/orders/{row.pk}/cancel/", "/orders/cancel-all/", "/orders/refresh/"):
        assert client.post(path, {"newest": row.pk}).status_code == 403
    row.refresh_from_db()
    assert (row.state, row.version) == ("placed", 3)
    assert not OrderReading.objects.exists()


def test_cancel_all_takes_those_that_were_seen(signed_in, operator):
    now, client = clock.now(), signed_in(operator)
    first, second = order_rows.placed(operator, now=now), order_rows.elsewhere(now=now)
    page = client.get("/orders/").content.decode()
    assert "Cancel all 2 open orders" in page
    newer = order_rows.placed(operator, now=now)
    response = client.post("/orders/cancel-all/", {"symbol": "", "newest": second.pk}, follow=True)
    assert "Cancel requested for 2 orders." in response.content.decode()
    assert set(Order.objects.filter(state="cancelling").values_list("pk", flat=True)) == {first.pk, second.pk}
    newer.refresh_from_db()
    assert newer.state == "placed"


def test_cancel_all_of_a_symbol_needs_nothing_but_the_symbol(signed_in, operator):
    now, client = clock.now(), signed_in(operator)
    mine, other = order_rows.placed(operator, now=now), order_rows.elsewhere(now=now, symbol="ETHBTC")
    response = client.post("/orders/cancel-all/", {"symbol": "BCHUSD"}, follow=True)
    assert "Cancel requested for 1 order." in response.content.decode()
    assert set(Order.objects.filter(state="cancelling").values_list("pk", flat=True)) == {mine.pk}
    assert other.state == "placed"


@pytest.mark.parametrize("form", [{}, {"newest": "x"}, {"newest": "-1"}, {"newest": "9" * 30}, {"newest": "٣"}])
def test_a_cancel_all_that_is_not_whole_cancels_nothing(signed_in, operator, form):
    order_rows.placed(operator, now=clock.now())
    response = signed_in(operator).post("/orders/cancel-all/", form)
    assert response.status_code == 422
    assert "No orders were cancelled" in response.content.decode()
    assert not Order.objects.filter(state="cancelling").exists()


def test_an_order_that_does_not_exist_has_no_page(signed_in, operator):
    client = signed_in(operator)
    assert client.get("/orders/999999/").status_code == 404
    assert client.post("/orders/999999/cancel/").status_code == 404
    assert client.get(f"/orders/{'9' * 30}/").status_code == 404


# Margin ---------------------------------------------------------------------------------------------------------------


def test_margin_shows_the_position_and_the_prices_that_end_it(signed_in, auditor):
    now, account = clock.now(), Account.objects.get()
    client = signed_in(auditor)
    assert "No open margin accounts" in client.get("/margin/").content.decode()
    when = {"created_at": now, "updated_at": now, "read_at": now - timedelta(minutes=3)}
    MarginAccount.objects.create(
        account=account,
        symbol="BCHUSD",
        leverage=Decimal(10),
        margin_balance=Decimal(1000),
        margin_balance_orders=Decimal(100),
        margin_balance_required=Decimal(250),
        **when,
    )
    page = client.get("/margin/").content.decode()
    assert "No position" in page
    Ticker.objects.all().delete()  # a price that was read later would count instead of the exchange's own figure
    MarginPosition.objects.create(
        account=account,
        symbol="BCHUSD",
        exchange_id=5,
        quantity=Decimal("-0.5"),
        price_entry=Decimal(410),
        pnl=Decimal("-12.5"),
        price_margin_call=Decimal("640.1"),
        price_liquidation=Decimal("650.2"),
        **when,
    )
    page = client.get("/margin/").content.decode()
    for words in ("Short", "640.1", "650.2", "−12.5", "650.00", "3 min ago"):
        assert words in page, words
    assert "close position" not in page.split("<main", 1)[1].split("</main", 1)[0].lower()


def test_trades_of_another_order_are_not_shown(signed_in, auditor, operator):
    first, second = order_rows.placed(operator, now=clock.now()), order_rows.placed(operator, now=clock.now())
    trade(first, 77)
    assert AccountTrade.objects.count() == 1
    client = signed_in(auditor)
    assert "77</th>" in client.get(f"/orders/{first.pk}/").content.decode()
    assert "t-trades" not in client.get(f"/orders/{second.pk}/").content.decode()


def test_the_message_of_a_cancelling_is_still_true_when_it_is_read_after_its_end(signed_in, operator):
    row, client = order_rows.placed(operator, now=clock.now()), signed_in(operator)
    assert client.post(f"/orders/{row.pk}/cancel/").status_code == 302
    row.refresh_from_db()
    machine.move(row, event="cancel_confirmed", to="placed", now=clock.now(), status="canceled", active=False)
    page = client.get(f"/orders/{row.pk}/").content.decode()
    assert f"Cancel requested for {row.reference}." in page
    assert "</svg>Cancelled</span>" in page
    assert "being cancelled" not in page
