"""The pages about margin: what they show, what their buttons say, and that nothing is done by any other words."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.margin.models import MarginPosition, MarginReport
from exchange_ops.market.models import BookSnapshot, Symbol
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db
OLD_BOOK = "The order book is more than a minute old"
EFFECT = re.compile(r'<div data-effect="([^"]*)">')


@pytest.fixture
def market():
    """A symbol with margin, a price, a book and money."""
    now = clock.now()
    order_rows.market(now=now)
    Symbol.objects.update(margin_trading=True, max_initial_leverage=10)
    book = {"bid": [["499", "0.5"], ["498", "5"]], "ask": [["501", "0.5"], ["502", "5"]]}
    BookSnapshot.objects.create(symbol="BCHUSD", timestamp=now, read_at=now, **book)


@pytest.fixture
def position(market):
    return rows.margin_position(now=clock.now())


def typed(**more):
    return {"request_key": "8d9f6c1e-9d0a-4d6e-8a33-1c9f0f2b7a11", "code": "BCHUSD", **more}


def effect_of(client, kind, **form):
    page = client.post(f"/margin/figures/{kind}/", typed(**form)).content.decode()
    return EFFECT.search(page)[1], page


def test_an_account_is_opened_by_the_words_of_its_button_alone(signed_in, operator, market):
    client = signed_in(operator)
    form = {"symbol": "BCHUSD", "amount": "250"}
    words, page = effect_of(client, "collateral", **form)
    assert words == "Open BCHUSD margin account with 250 USD"
    assert "Taken from trading account" in page
    review = client.post("/margin/open/", typed(**form, effect="something else"))
    assert (review.status_code, MarginAction.objects.count()) == (200, 0)
    assert "Not sent yet" in review.content.decode()
    for _ in range(2):
        done = client.post("/margin/open/", typed(**form, effect=words))
        assert done.headers["Location"] == f"/margin/actions/{MarginAction.objects.get().pk}/"
    page = client.get(done.headers["Location"]).content.decode()
    for seen in ("Queued", words, "M-"):
        assert seen in page
    assert "Queued" in client.get("/margin/").content.decode()


def test_a_close_says_what_it_comes_to_by_the_book(signed_in, operator, position):
    client = signed_in(operator)
    page = client.get("/margin/BCHUSD/close-position/").content.decode()
    assert EFFECT.search(page)[1] == "Close BCHUSD position: sell 1 BCH at market"
    form = {"how_much": "part", "quantity": "0.75", "order_type": "market", "position_id": position.exchange_id}
    words, page = effect_of(client, "close-position", **form)
    assert words == "Close part of BCHUSD position: sell 0.75 BCH at market"
    # 0.5 at 499 and 0.25 at 498: 374 for what was entered at 375; the fee is a thousandth.
    for figure in ("498.666666666667", "0.07 %", "−1", "0.374", "−1.374", "0.2500 BCH"):
        assert figure in page, figure
    assert OLD_BOOK not in page
    BookSnapshot.objects.update(read_at=clock.now() + timedelta(hours=1))  # before the clock was set back
    assert OLD_BOOK in effect_of(client, "close-position", **form)[1]
    BookSnapshot.objects.update(read_at=clock.now())
    done = client.post("/margin/BCHUSD/close-position/", typed(**form, effect=words))
    row = MarginAction.objects.get()
    assert done.headers["Location"] == f"/margin/actions/{row.pk}/"
    assert (row.kind, row.side, row.quantity) == ("reduce", "sell", Decimal("0.75"))
    assert row.confirmed["estimate"]["pnl"] == "-1"


def test_what_changed_meanwhile_is_shown_before_it_is_done(signed_in, operator, position):
    client = signed_in(operator)
    words = EFFECT.search(client.get("/margin/BCHUSD/close-position/").content.decode())[1]
    MarginPosition.objects.update(quantity=Decimal(3))
    form = {"how_much": "whole", "order_type": "market", "position_id": position.exchange_id, "effect": words}
    page = client.post("/margin/BCHUSD/close-position/", typed(**form)).content.decode()
    assert "sell 3 BCH at market" in page
    assert MarginAction.objects.count() == 0


def test_a_limit_far_from_the_market_is_held_to_the_rules(signed_in, operator, position):
    form = {"how_much": "whole", "order_type": "limit", "price": "0.005", "position_id": position.exchange_id}
    words, page = effect_of(signed_in(operator), "close-position", **form)
    assert words == ""
    assert "multiple of 0.01 USD" in page


def test_all_are_closed_from_a_list_that_says_each(signed_in, operator, position):
    client = signed_in(operator)
    page = client.get("/margin/close-all/").content.decode()
    assert "Close 1 position at market" in page
    seen = re.search(r'name="positions" value="([^"]+)"', page)[1]
    assert seen == "BCHUSD:7:1"
    stale = client.post("/margin/close-all/", typed(positions="BCHUSD:7:2"))
    assert stale.status_code == 409
    assert "changed after" in stale.content.decode()
    assert client.post("/margin/close-all/", typed(positions="odd")).status_code == 422
    assert client.post("/margin/close-all/", typed(positions=seen)).headers["Location"] == "/margin/"
    assert MarginAction.objects.get().kind == "close"


def test_the_way_to_the_margin_call_is_drawn_and_said(signed_in, auditor, position):
    MarginPosition.objects.update(pnl=Decimal(-50))
    page = signed_in(auditor).get("/margin/BCHUSD/").content.decode()
    assert '<svg class="way" role="img"' in page
    for words in ("Margin call near", "2.22 % away", "5.56 % away", "−10.00 %", "450.00"):
        assert words in page, words
    assert "Close position" not in page, "an auditor only looks"


def test_the_tab_of_the_past_shows_interest_liquidations_and_what_people_did(signed_in, auditor, operator, position):
    now, account = clock.now(), Account.objects.get()
    client = signed_in(auditor)
    assert "No margin history yet" in client.get("/margin/?tab=history").content.decode()
    rows.margin_action(operator, now=now)
    rows.trade(91, now=now, liquidation=True)
    common = {"account": account, "symbol": "BCHUSD", "at": now, "seen_at": now}
    MarginReport.objects.create(reason="interestTaken", change=Decimal("-0.5"), **common)
    MarginReport.objects.create(reason="a new word", **common)
    page = client.get("/margin/?tab=history").content.decode()
    assert re.search(r'data-head="Fee">.{0,80}0\.25.{0,40}USD', page), "the currency of the fee beside it"
    for words in ("Interest charged", "−0.5", "a new word", "Liquidation trades", ">91<", "Open margin account"):
        assert words in page, words


def test_nothing_odd_brings_a_page_down(signed_in, operator, market):
    client = signed_in(operator)
    assert client.get("/margin/NOPE/").status_code == 404
    assert client.get("/margin/bchusd/").headers["Location"] == "/margin/BCHUSD/"
    for path in ("collateral", "close-position", "close-account"):
        for code in ("BCHUSD", "NOPE", "Ä", "%00"):
            assert client.get(f"/margin/{code}/{path}/").status_code == 200
            assert client.post(f"/margin/{code}/{path}/", {"amount": "x"}).status_code == 422
    assert client.post("/margin/figures/nonsense/", {"code": "\0"}).status_code in {200, 400}


def test_the_fee_of_a_liquidation_trade_has_its_currency(signed_in, auditor):
    rows.price(now=clock.now())
    rows.trade(77, now=clock.now(), fee=Decimal("1.25"), liquidation=True)
    page = signed_in(auditor).get("/margin/?tab=history").content.decode()
    cell = re.search(r'data-head="Fee">(.*?)</td>', page, re.DOTALL)[1]
    assert re.sub(r"<[^>]+>|\s", "", cell) == "1.25USD"
