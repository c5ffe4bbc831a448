"""What ended with nothing at the exchange fills a ticket once more, and a freeze names what it is about to stop."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.orders import machine, sending, states
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.orders.models import Order
from exchange_ops.orders.request_checks import OrderRequest
from exchange_ops.orders.ticket import repeating
from exchange_ops.policy import freezes
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.brackets.bracket_rows import EXITS

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def market(payable):
    order_rows.market(now=clock.now())


def with_bracket(person):
    """A queued order whose fills a bracket is to protect, with every term that a ticket has."""
    now = clock.now()
    requested = OrderRequest(
        symbol=order_rows.SYMBOL,
        side="buy",
        type="limit",
        time_in_force="GTD",
        quantity=Decimal("0.5"),
        price=Decimal(400),
        expire_time=(now + timedelta(days=3)).replace(second=0, microsecond=0),
        post_only=True,
        strict_validate=False,
        take_liquidity_markup=Decimal("0.0015"),
    )
    return brackets.place(
        exits=EXITS,
        requested=requested,
        account=rows.account(now=now),
        initiator=person,
        now=now,
        request_key="with-bracket",
    )


def test_an_order_that_a_freeze_ended_fills_the_ticket_of_its_market_with_its_bracket(signed_in, operator, treasury):
    row = with_bracket(operator)
    freezes.freeze(person=treasury, reason="Odd", account=row.account, now=clock.now())
    sending.step(row, now=clock.now(), client_for=None)
    assert row.state == states.NOT_SENT
    browser, link = signed_in(operator), f"/markets/{row.symbol}/?again={row.pk}"
    assert link in browser.get(f"/orders/{row.pk}/").content.decode()
    assert link not in signed_in(treasury).get(f"/orders/{row.pk}/").content.decode(), "only operators place orders"
    page = browser.get(link)
    initial = page.context["form"].initial
    assert {name: value for name, value in initial.items() if value not in ("", False)} == {
        "request_key": initial["request_key"],
        "symbol": row.symbol,
        "side": "buy",
        "type": "limit",
        "time_in_force": "GTD",
        "quantity": "0.5",
        "price": "400",
        "expire_time": f"{row.expire_time:%Y-%m-%dT%H:%M}",
        "post_only": True,
        "rounded": True,
        "take_markup": "0.15",
        "stop_loss": "380",
        "take_profit": "480",
    }
    assert initial["request_key"] != row.request_key
    assert f'Copied from <a href="/orders/{row.pk}/">' in page.content.decode()


def test_nothing_that_may_be_at_the_exchange_and_no_part_of_another_order_is_repeated(signed_in, operator):
    now = clock.now()
    lost = machine.move(order_rows.sent(operator, now=now), event="answer_lost", to="unknown", now=now)
    placed = order_rows.placed(operator, now=now)
    replacing = Order(
        account=placed.account, initiator=operator, replaces=placed, state=states.NOT_SENT, symbol="BCHUSD"
    )
    assert not repeating.may_repeat(operator, replacing), "its quantity counts what the other one filled"
    browser = signed_in(operator)
    ended = machine.move(order_rows.requested(operator, now=now), event="stopped", to="not_sent", now=now)
    rows.price("ETH", "BTC", now=now)
    for path, number in (("BCHUSD", lost.pk), ("BCHUSD", placed.pk), ("BCHUSD", "x"), ("ETHBTC", ended.pk)):
        page = browser.get(f"/markets/{path}/", {"again": number})
        assert "quantity" not in page.context["form"].initial, (path, number)


def test_a_freeze_names_the_requests_that_it_will_stop(signed_in, operator, treasury):
    now = clock.now()
    rows.currency(now=now, transfer_enabled=True)
    queued, transfer = order_rows.requested(operator, now=now), rows.transfer(operator, now=now)
    waiting, placed = (
        order_rows.waiting(operator, now=now),
        order_rows.placed(operator, now=now, quantity=Decimal("0.1")),
    )
    action = rows.margin_action(operator, now=now)
    page = signed_in(treasury).get("/policy/").content.decode()
    named = page[page.index('id="releases"') : page.index('action="/policy/freeze/"')]
    assert "Freezing now will stop 4 unsent requests." in " ".join(named.split())
    assert all(row.reference in named for row in (queued, transfer, waiting, action))
    assert placed.reference not in named
    assert f"expires {waiting.approve_until:%H:%M} UTC" in named
