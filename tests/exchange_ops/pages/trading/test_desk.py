"""The trading desk of a market: what is the account's own on it, who has a ticket, favourites, finding a symbol."""

import json
import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.views import rendering
from exchange_ops.margin.models import MarginPosition
from exchange_ops.market import depth, favourites, quotes
from exchange_ops.market.models import BookSnapshot, Candle, CandleHistory, Favourite, Symbol, Ticker
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.shared.models import Account
from exchange_ops.wire import records
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_new_order import typed

pytestmark = pytest.mark.django_db

PAGE, ONE = "/markets/BCHUSD/", Decimal(1)


@pytest.fixture(autouse=True)
def market(db, monkeypatch):
    """A symbol with a price, money in the trading wallet, and a book of two levels a side."""
    monkeypatch.setattr("desk.outbox._send", lambda *arguments: None)
    now = clock.now()
    order_rows.market(now=now)
    Symbol.objects.filter(code="BCHUSD").update(tick_size=Decimal("0.01"), quantity_increment=Decimal("0.001"))
    ask, bid = [["400.03", "1"], ["400.04", "2"]], [["400", "0.5"], ["399.98", "3"]]
    BookSnapshot.objects.create(symbol="BCHUSD", timestamp=now, ask=ask, bid=bid, read_at=now)


def part(client, name, query=""):
    return client.get(PAGE + query, HTTP_HX_REQUEST="true", HTTP_HX_TARGET=name).content.decode()


def text_of(body):
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", re.sub(r"</?bdi>", "", body))).split())


def levels(body, side):
    """Own size, price and size of each row of a side that has a level."""
    rows = re.findall(rf'<tr data-side="{side}" data-price.*?</tr>', body, re.DOTALL)
    return [re.sub(r"^(Ask|Bid) ", "", text_of(row)) for row in rows]


# What is the account's own --------------------------------------------------------------------------------------------


def test_own_orders_stand_below_with_their_buttons_and_others_symbols_do_not(signed_in, operator):
    now = clock.now()
    order_rows.market(now=now)
    row = order_rows.placed(operator, now=now, filled="0.1")
    other = order_rows.elsewhere(now=now, symbol="ETHBTC")
    body = part(signed_in(operator), "work")
    assert row.reference in body
    assert other.reference not in body
    assert f'action="/orders/{row.pk}/cancel/"' in body
    assert 'name="symbol" value="BCHUSD"' in body
    (drawn,) = json.loads(unescape(re.search(r'data-own="([^"]*)"', body)[1]))
    assert (drawn["side"], drawn["price"], drawn["left"], drawn["listed"]) == ("buy", "400", "0.4", True)


def test_an_own_size_is_marked_in_its_row_and_grouped_with_it(signed_in, operator):
    order_rows.placed(operator, now=clock.now())
    order_rows.placed(operator, now=clock.now(), price=Decimal("399.98"), quantity=Decimal("0.25"))
    client = signed_in(operator)
    body = part(client, "book")
    assert [row.split()[0] for row in levels(body, "bid")] == ["0.5", "0.25"]
    assert levels(part(client, "book", "?group=10"), "bid")[1].split()[0] == "0.25"


def test_levels_are_put_together_away_from_the_middle(signed_in, operator):
    body = part(signed_in(operator), "book", "?group=5")
    assert [row.split()[:3] for row in levels(body, "ask")] == [["400.05", "3.000", "3.000"]]
    assert [row.split()[:3] for row in levels(body, "bid")] == [
        ["400.00", "0.500", "0.500"],
        ["399.95", "3.000", "3.500"],
    ]
    assert "Spread 0.03 USD" in text_of(body), "the spread is that of the market, not of the rows"


@pytest.mark.parametrize("group", ["0", "3", "-5", "x", "9" * 50, "٥"])
def test_an_odd_grouping_is_none(signed_in, operator, group):
    response = signed_in(operator).get(PAGE, {"group": group})
    assert response.status_code == 200
    assert 'data-group="1"' in response.content.decode()


@pytest.mark.parametrize("price", ["400", "400.01", "400.04", "0.01"])
def test_a_row_never_promises_a_better_price(price):
    step = Decimal("0.05")
    assert depth.row_of(Decimal(price), side="ask", step=step) >= Decimal(price)
    assert depth.row_of(Decimal(price), side="bid", step=step) <= Decimal(price)


def test_own_trades_and_the_position_go_to_the_chart(signed_in, operator):
    now, account = clock.now(), Account.objects.get()
    common = {"account": account, "symbol": "BCHUSD", "read_at": now}
    AccountTrade.objects.create(
        exchange_id=7,
        exchange_order_id=1,
        side="buy",
        quantity=ONE,
        price=Decimal("400.5"),
        fee=ONE,
        timestamp=now,
        **common,
    )
    MarginPosition.objects.create(
        exchange_id=3, quantity=Decimal(-2), price_entry=Decimal("410.25"), created_at=now, updated_at=now, **common
    )
    body = part(signed_in(operator), "work")
    assert json.loads(unescape(re.search(r'data-fills="([^"]*)"', body)[1])) == [
        [int(now.timestamp()), "buy", "1", "400.5"]
    ]
    assert 'data-entry="410.25"' in body
    assert "Short" in body
    assert "410.25" in text_of(body)


def test_an_order_that_ends_keeps_its_row_for_a_minute_and_then_leaves_the_desk(signed_in, operator):
    client, row = signed_in(operator), order_rows.placed(operator, now=clock.now())
    Order.objects.filter(pk=row.pk).update(active=False, status="canceled")
    body = part(client, "work")
    assert "Cancelled" in text_of(body)
    assert f"/orders/{row.pk}/cancel/" not in body
    assert 'data-own="[]"' in body
    Order.objects.filter(pk=row.pk).update(updated_at=clock.now() - timedelta(seconds=61))
    body = part(client, "work")
    assert row.reference not in body
    assert "No open orders in this symbol." in body


@pytest.mark.parametrize("path", ["/orders/{}/cancel/", "/orders/cancel-all/"])
def test_a_cancel_from_the_desk_is_answered_there(signed_in, operator, path):
    client, row = signed_in(operator), order_rows.placed(operator, now=clock.now())
    sent = {"symbol": "BCHUSD", "newest": row.pk, "back": "market"}
    answer = client.post(path.format(row.pk), sent, HTTP_HX_REQUEST="true")
    assert (answer.status_code, answer["HX-Retarget"]) == (200, rendering.ANSWER)
    assert text_of(answer.content.decode()).startswith("Cancel requested for ")
    assert client.post(path.format(row.pk), sent)["Location"] == PAGE, "a browser without scripts comes back too"


def test_a_ticket_of_the_desk_is_answered_by_the_next_one_with_another_key(signed_in, operator):
    client, form = signed_in(operator), typed(back="market")
    as_part = {"HTTP_HX_REQUEST": "true", "HTTP_HX_TARGET": "ticket"}
    for _ in range(2):
        answer = client.post("/orders/new/", form, **as_part)
        body = answer.content.decode()
        assert (answer.status_code, answer["HX-Retarget"], answer["HX-Reswap"]) == (200, "#ticket", "outerHTML")
        assert form["request_key"] not in body
        assert 'value="400"' in body
        assert 'value="0.5"' not in body, "a second press finds no quantity to place"
        assert f"O-{Order.objects.get().pk}: " in text_of(body)
    refused = client.post("/orders/new/", typed(back="market", quantity="x"), **as_part)
    assert (refused.status_code, refused["HX-Retarget"]) == (422, "#ticket")
    assert 'value="x"' in refused.content.decode()
    assert client.post("/orders/new/", typed(back="market"))["Location"] == PAGE, "a browser without scripts comes back"


def test_an_order_of_the_desk_is_changed_there_once(signed_in, operator):
    client, row = signed_in(operator), order_rows.placed(operator, now=clock.now())
    address, as_part = f"/orders/{row.pk}/replace/", {"HTTP_HX_REQUEST": "true"}
    body = client.get(address, {"price": "401"}, **as_part, HTTP_HX_TARGET="change-form").content.decode()
    assert 'id="change_price"' in body
    assert 'id="id_price"' not in body, "the ticket beside it has that one"
    (key,) = re.findall(r'name="request_key" value="([^"]+)"', body)
    (effect,) = re.findall(r'name="effect" value="([^"]+)"', body)
    form = {"price": "401", "quantity": "0.5", "request_key": key, "effect": effect, "back": "market"}
    refused = client.post(address, form | {"quantity": "x"}, **as_part)
    assert (refused.status_code, refused["HX-Retarget"]) == (422, "#change-form")
    for _ in range(2):
        answer = client.post(address, form, **as_part)
        assert (answer.status_code, answer["HX-Retarget"]) == (200, rendering.ANSWER)
        assert f"replaces {row.reference}" in text_of(answer.content.decode())
    assert Order.objects.filter(replaces=row).count() == 1


# Who sees what --------------------------------------------------------------------------------------------------------


def test_who_only_watches_sees_everything_but_a_ticket(signed_in, auditor, treasury, operator):
    row = order_rows.placed(operator, now=clock.now())
    for person in (auditor, treasury):
        body = signed_in(person).get(PAGE).content.decode()
        assert 'id="ticket"' not in body
        assert "Only operators can place and cancel orders." in body
        assert row.reference in body
        assert f"/orders/{row.pk}/cancel/" not in body
        assert "cancel-all" not in body
    assert 'id="ticket"' in signed_in(operator).get(PAGE).content.decode()


def test_the_ticket_is_of_this_symbol_and_keeps_no_draft_of_another(signed_in, operator):
    body = signed_in(operator).get(PAGE).content.decode()
    assert 'name="symbol" id="id_symbol" value="BCHUSD"' in body
    assert "data-keep" not in body
    assert "Available" in body


def test_a_market_without_an_account_has_no_ticket_and_says_why(signed_in, operator, monkeypatch):
    monkeypatch.setattr("exchange_ops.shared.views.accounts.in_view", lambda request: [])
    body = signed_in(operator).get(PAGE).content.decode()
    assert "no exchange account is set up yet" in body
    assert 'id="ticket"' not in body


def test_a_symbol_with_no_data_says_so_in_every_part(signed_in, operator):
    BookSnapshot.objects.all().delete()
    Ticker.objects.all().delete()
    said = text_of(signed_in(operator).get(PAGE).content.decode())
    for piece in (
        "No prices for this symbol yet",
        "Order book not received yet",
        "Candles for this period not received yet",
        "Trades not received yet",
    ):
        assert piece in said, piece


def test_three_orders_cost_what_one_costs(signed_in, operator, standing_clock):
    client = signed_in(operator)

    def cost():
        client.get(PAGE)
        with CaptureQueriesContext(connection) as taken:
            client.get(PAGE)
        return len(taken)

    order_rows.placed(operator, now=clock.now())
    one = cost()
    for _ in range(3):
        order_rows.placed(operator, now=clock.now())
    assert cost() == one


# Older candles --------------------------------------------------------------------------------------------------------


def candles(count, *, ends):
    rows = [records.Candle(ends - n * timedelta(hours=1), ONE, ONE, ONE, ONE, ONE, ONE) for n in range(count)]
    quotes.keep_candles(symbol="BCHUSD", period="H1", candles=rows, now=ends)


def test_older_candles_come_as_a_part_oldest_first(signed_in, operator):
    ends = datetime(2026, 11, 20, 12, tzinfo=UTC)
    candles(5, ends=ends)
    body = signed_in(operator).get(f"{PAGE}older/?period=H1&before={int(ends.timestamp())}").content.decode()
    rows = json.loads(unescape(re.search(r'data-rows="([^"]*)"', body)[1]))
    assert [row[0] for row in rows] == [int(ends.timestamp()) - 3600 * n for n in (4, 3, 2, 1)]
    assert 'data-state="found"' in body
    assert "hx-get" not in body, "what is answered is not asked again"


def test_a_part_that_waits_follows_its_topic(signed_in, operator):
    response = signed_in(operator).get(f"{PAGE}older/?period=H1&before=1700000000")
    body = response.content.decode()
    assert 'data-state="waiting"' in body
    assert 'data-follow="history:BCHUSD.H1"' in body
    assert CandleHistory.objects.get().requested_by == operator
    assert not Candle.objects.exists()


@pytest.mark.parametrize("before", ["", "x", "-1", "1.5", "9" * 12, "٣"])
def test_an_odd_second_is_not_found_and_asks_nobody(signed_in, operator, before):
    assert signed_in(operator).get(f"{PAGE}older/", {"before": before}).status_code == 404
    assert not CandleHistory.objects.exists()


# Favourites and finding -----------------------------------------------------------------------------------------------


def test_a_favourite_is_a_persons_own_and_stands_in_both_places(signed_in, operator, auditor):
    mine, theirs = signed_in(operator), signed_in(auditor)
    assert mine.post(f"{PAGE}star/", {"on": "yes"})["Location"] == PAGE
    mine.post(f"{PAGE}star/", {"on": "yes"})
    assert favourites.codes(operator) == ["BCHUSD"]
    assert not favourites.codes(auditor)
    assert 'aria-pressed="true"' in mine.get(PAGE).content.decode()
    assert 'aria-pressed="true"' not in theirs.get(PAGE).content.decode()
    assert 'id="m-BCHUSD"' in mine.get("/markets/?list=favourites").content.decode()
    assert "You have no favourites yet." in theirs.get("/markets/?list=favourites").content.decode()
    part_of_it = mine.post(f"{PAGE}star/", {"on": "no"}, HTTP_HX_REQUEST="true").content.decode()
    assert 'aria-pressed="false"' in part_of_it
    assert not Favourite.objects.exists()


def test_there_is_a_bound_to_favourites(signed_in, operator):
    now = clock.now()
    Favourite.objects.bulk_create(
        [Favourite(person=operator, symbol=f"X{n}", created_at=now) for n in range(favourites.MOST)]
    )
    body = signed_in(operator).post(f"{PAGE}star/", {"on": "yes"}, follow=True).content.decode()
    assert "Remove one first" in body
    assert Favourite.objects.filter(symbol="BCHUSD").count() == 0


def test_another_symbol_is_found_as_people_write_it(signed_in, operator):
    for code in ("AABCH", "BCHUSDT", "XBCHUSD"):
        row = Symbol.objects.get(code="BCHUSD")
        row.code = code
        row.save(force_insert=True)
    client = signed_in(operator)

    def found(text):
        body = client.get("/markets/find/", {"text": text, "period": "H1"}).content.decode()
        return re.findall(r'data-href="/markets/([^/]+)/\?period=H1"', body)

    assert found("bch / usd") == ["BCHUSD", "BCHUSDT", "XBCHUSD"]
    assert found("zz") == []
    assert found("") == []
    client.post(f"{PAGE}star/", {"on": "yes"})
    assert found("") == ["BCHUSD"], "favourites, until something is typed"
    hostile = client.get("/markets/find/", {"text": '"><script>'}).content.decode()
    assert "<script>" not in hostile
