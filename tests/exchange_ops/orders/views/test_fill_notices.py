"""Fills of one's own orders on open pages: for the person alone, once for each burst, nothing typed is lost."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest
from playwright.sync_api import expect

from desk import clock
from desk.live import announcements
from desk.notifications.models import Preference
from exchange_ops.orders import machine, trades
from exchange_ops.wire import records
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def market(db):
    order_rows.market(now=clock.now())


def fill(row, number, quantity="0.25", *, at=None, price="399.5"):
    trade = records.AccountTrade(
        id=number,
        order_id=row.exchange_id,
        client_order_id=row.client_order_id,
        symbol=row.symbol,
        side=row.side,
        quantity=Decimal(quantity),
        price=Decimal(price),
        fee=Decimal("0.1"),
        timestamp=at or clock.now(),
    )
    trades.store(account=row.account, trades=[trade], now=clock.now())


def lines(client):
    page = client.get("/frame/?parts=notices").content.decode()
    found = re.findall(r"<a data-filled=[^>]*>(.*?)</a>", page, re.DOTALL)
    return [unescape(re.sub(r"<[^>]+>", "", text)) for text in found]


def test_a_fill_is_shown_to_who_placed_the_order_and_to_nobody_else(signed_in, make_person, operator):
    row = order_rows.placed(operator, now=clock.now())
    order_rows.placed(operator, now=clock.now())
    theirs = order_rows.elsewhere(now=clock.now())
    fill(row, 1)
    fill(theirs, 2)
    (line,) = lines(signed_in(operator))
    assert f"{row.reference} partly filled: bought 0.2500 of 0.5000 BCH at 399.50 USD." in line
    other = make_person("operator", username="other")
    assert lines(signed_in(other)) == []
    whole = order_rows.placed(operator, now=clock.now(), side="sell", filled="0.5", status="filled")
    fill(whole, 3, "0.5")
    newest, _ = lines(signed_in(operator))
    assert f"{whole.reference} filled: sold 0.5000 BCH at 399.50 USD." in newest


def test_history_that_is_read_late_and_fills_of_a_while_ago_are_no_news(signed_in, operator):
    row = order_rows.placed(operator, now=clock.now())
    fill(row, 1, at=clock.now() - timedelta(hours=1))
    assert lines(signed_in(operator)) == []


def test_a_fill_is_announced_to_the_pages_of_its_person(operator, monkeypatch):
    row, topics = order_rows.placed(operator, now=clock.now()), []
    monkeypatch.setattr(announcements, "announce", lambda topic, **hint: topics.append(topic))
    fill(row, 1)
    fill(order_rows.elsewhere(now=clock.now()), 2)
    assert [topic for topic in topics if topic.startswith("notifications")] == [f"notifications:{operator.pk}"]
    assert machine.TOPIC in topics


def test_a_person_chooses_on_their_page_whether_the_browser_shows_them(signed_in, operator, auditor):
    row, client = order_rows.placed(operator, now=clock.now()), signed_in(operator)
    fill(row, 1)
    assert "data-in-browser" in client.get("/frame/?parts=notices").content.decode()
    page = client.get("/account/notifications/").content.decode()
    assert 'aria-label="Fills of your orders in the browser"' in page
    assert 'aria-label="Fills of your orders by e-mail"' not in page, "it is never mailed"
    boxes = re.findall(r'name="in_browser" value="([^"]+)"', page)
    mailed = re.findall(r'name="by_email" value="([^"]+)"', page)
    choice = {"by_email": mailed, "in_browser": [kind for kind in boxes if kind != "fills"]}
    assert client.post("/account/notifications/", choice).status_code == 302
    assert [(each.kind, each.in_browser) for each in Preference.objects.all()] == [("fills", False)]
    assert "data-in-browser" not in client.get("/frame/?parts=notices").content.decode()
    assert lines(client), "the page itself shows it all the same"
    assert client.post("/account/notifications/", choice | {"in_browser": boxes}).status_code == 302
    assert not Preference.objects.exists()
    assert "Fills of your orders" not in signed_in(auditor).get("/account/notifications/").content.decode()


@pytest.mark.browser
@pytest.mark.django_db(transaction=True)
def test_a_burst_is_one_note_on_the_open_page_and_what_is_typed_stays(open_as, operator):
    row = order_rows.placed(operator, now=clock.now())
    page = open_as(operator, "/orders/new/?symbol=BCHUSD")
    page.evaluate("window.marked = true")
    page.locator("#id_price").fill("401.5")
    notes = page.locator("#fill-notes .note")
    for number in range(1, 4):
        fill(row, number, "0.1")
        page.wait_for_timeout(200)
    expect(notes).to_have_count(1)
    expect(notes).to_contain_text(f"{row.reference} partly filled: bought")
    expect(page.get_by_role("link", name="Open order")).to_have_attribute("href", re.compile(f"/orders/{row.pk}/$"))
    expect(page.locator("#id_price")).to_have_value("401.5")
    expect(page.locator("#id_price")).to_be_focused()
    page.locator("#fill-notes [data-dismiss]").click()
    expect(notes).to_have_count(0)
    page.reload()
    page.wait_for_timeout(3000)
    expect(notes).to_have_count(0)
    page.evaluate(
        """() => { window.made = []; window.Notification = class extends EventTarget {
            static permission = "granted";
            constructor(title, options) { super(); window.made.push(options.body.trim()); } } }"""
    )
    fill(row, 9, "0.1")
    page.wait_for_timeout(4000)
    (made,) = page.evaluate("window.made")
    assert f"{row.reference} partly filled" in made
    expect(notes).to_have_count(0)
