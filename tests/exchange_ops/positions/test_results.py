"""Realised results of margin: by position, part and liquidation, the same on the margin page and in profit and loss."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse

from desk import clock
from exchange_ops.margin.models import MarginReport
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.positions import results
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows

pytestmark = pytest.mark.django_db
OPENING, PART, REST, LIQUIDATION = 11, 12, 13, 14


@pytest.fixture
def account():
    order_rows.market(now=clock.now())
    return rows.account(now=clock.now())


def trade(number, order, side, quantity, price, *, fee="0", minutes=0, liquidation=False):
    at = clock.now() - timedelta(hours=1) + timedelta(minutes=minutes)
    rows.trade(
        number, exchange_order_id=order, side=side, quantity=Decimal(quantity), price=Decimal(price),
        fee=Decimal(fee), now=at, liquidation=liquidation,
    )  # fmt: skip


def on_margin(account, *numbers):
    for number in numbers:
        rows.margin_order(account, number)


def closed_in_parts(account):
    """2 at 100 on average, for a fee of 2; 1 closed by two trades at 120, the other at 90, each for a fee of 1."""
    on_margin(account, OPENING, PART, REST)
    trade(1, OPENING, "buy", "1", "90", fee="1")
    trade(2, OPENING, "buy", "1", "110", fee="1", minutes=1)
    trade(3, PART, "sell", "0.5", "121", fee="0.5", minutes=2)
    trade(4, PART, "sell", "0.5", "119", fee="0.5", minutes=3)
    trade(5, REST, "sell", "1", "90", fee="1", minutes=4)


def test_each_part_is_measured_against_the_average_entry_with_its_share_of_the_fees(account):
    closed_in_parts(account)
    rows.trade(9, exchange_order_id=99, side="sell", now=clock.now())  # on the trading account
    rest, part = results.of_account(account)
    assert (part.quantity, part.entry, part.price, part.gross, part.fee, part.net) == (1, 100, 120, 20, 2, 18)
    assert (rest.gross, rest.net, rest.is_whole, part.is_whole) == (-10, -12, True, False)
    (total,) = results.totals(account, [rest, part])
    assert (total.quote_currency, total.net, total.fees, total.closings) == ("USD", 6, 4, 2)


def test_a_trade_through_zero_closes_one_position_and_opens_another(account):
    on_margin(account, OPENING, PART)
    trade(1, OPENING, "sell", "1", "100", fee="1")
    trade(2, PART, "buy", "3", "90", fee="3", minutes=1)
    trade(3, PART, "sell", "2", "95", fee="0", minutes=2)
    long, short = results.of_account(account)
    assert (short.is_long, short.gross, short.fee, short.is_whole) == (False, 10, 2, True)
    assert (long.is_long, long.gross, long.fee) == (True, 10, 2)


def test_a_liquidation_loses_no_more_than_the_collateral(account):
    """The book was empty and the price far away: the exchange takes what is there, and bears the rest."""
    on_margin(account, OPENING)
    trade(1, OPENING, "buy", "2", "100", fee="1")
    trade(2, LIQUIDATION, "sell", "2", "60", minutes=5, liquidation=True)
    at = clock.now() - timedelta(hours=1) + timedelta(minutes=5)
    common = {"account": account, "symbol": "BCHUSD", "seen_at": at, "quantity_before": 2, "price_entry": 100}
    ended = {"reason": "liquidated", "margin_balance": 0, "change": -49, "quantity_after": 0}
    MarginReport.objects.create(at=at, **common, **ended)
    interest = {"reason": "interestTaken", "margin_balance": 49, "change": Decimal("-0.5"), "quantity_after": 2}
    MarginReport.objects.create(at=at - timedelta(minutes=1), **common, **interest)
    (closing,) = results.of_account(account)
    assert (closing.is_liquidation, closing.gross, closing.net) == (True, -49, -50)
    (total,) = results.totals(account, [closing])
    assert (total.liquidations, total.interest, total.net) == (1, Decimal("0.5"), Decimal("-50.5"))


def test_a_liquidation_is_named_on_the_margin_page(signed_in, auditor, account):
    on_margin(account, OPENING)
    trade(1, OPENING, "buy", "2", "100", fee="1")
    trade(2, LIQUIDATION, "sell", "2", "60", minutes=5, liquidation=True)
    client = signed_in(auditor)
    page = text(client.get("/margin/").content.decode().split('id="realised"')[1])
    assert "1 full or partial close, 1 by liquidation" in page
    assert "Liquidation long BCHUSD" in text(client.get("/margin/?tab=history"))


def test_what_was_open_before_the_first_trade_has_no_result(account):
    rows.margin_position(now=clock.now(), quantity=Decimal(1))
    on_margin(account, PART)
    trade(1, PART, "sell", "2", "120", fee="1")
    (closing,) = results.of_account(account)
    assert (closing.entry, closing.net, closing.is_whole) == (None, None, False)
    (total,) = results.totals(account, [closing])
    assert (total.net, total.unknown) == (0, 1)


def text(answer):
    content = answer.content.decode() if hasattr(answer, "content") else answer
    return " ".join(re.sub(r"<[^>]*>", " ", content).replace("\u2212", "-").split())


def test_margin_page_and_profit_and_loss_show_the_same_results(signed_in, auditor, account):
    closed_in_parts(account)
    client = signed_in(auditor)
    assert "Net, USD +6.00 USD" in text(client.get("/margin/").content.decode().split('id="realised"')[1])
    history = text(client.get("/margin/?tab=history"))
    assert "+18" in history
    assert "-12" in history
    assert "+18" in text(client.get("/margin/BCHUSD/"))
    assert "+6.00 USD" in text(client.get("/profit/"))
    exported = client.get("/profit/export.csv").content.decode()
    assert re.search(r"BCHUSD margin,USD,.*,6,4,USD,All time", exported), exported


def test_every_page_shows_the_exchanges_own_unrealised_result(signed_in, operator, standing_clock, account):
    """A newer last price moves the distances to the danger, and not the result, which has the moment of its report."""
    Symbol.objects.update(margin_trading=True, max_initial_leverage=10)
    now = clock.now()
    rows.margin_position(now=now - timedelta(seconds=95), quantity=Decimal(1), pnl=Decimal("-0.62"))
    later = now + timedelta(seconds=1)
    Ticker.objects.update_or_create(
        symbol="BCHUSD", defaults={"last": Decimal("479.38"), "timestamp": later, "read_at": later}
    )
    client = signed_in(operator)
    for path in (
        "/margin/",
        "/margin/BCHUSD/",
        reverse("margin-close-position", args=["BCHUSD"]),
        "/markets/BCHUSD/",
        "/profit/",
    ):
        page = text(client.get(path))
        assert "-0.62" in page, (path, page)
        assert "-20.62" not in page, path
        assert re.search(r"reported (by the exchange )?95 s ago", page), (path, page)
