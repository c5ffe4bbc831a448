"""Gain, loss and result of a bracket: from the average of its entry's fills, with the fees in their own currency."""

from decimal import Decimal
from itertools import count

import pytest
from django.urls import reverse

from desk import clock
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders.brackets import exit_prices, machine, results, situation
from exchange_ops.orders.brackets.models import BracketLeg
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.orders.ticket.fee_rates import Rates
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.brackets import bracket_rows

RATES = Rates(Decimal("0.002"), Decimal("0.001"))
_numbers = count(1)


@pytest.fixture(autouse=True)
def market(db):
    order_rows.market(now=clock.now())


def trade(order, quantity, price, fee):
    now = clock.now()
    AccountTrade.objects.create(
        account=order.account, exchange_id=next(_numbers), exchange_order_id=order.exchange_id, symbol=order.symbol,
        side=order.side, quantity=Decimal(quantity), price=Decimal(price), fee=Decimal(fee), timestamp=now, read_at=now,
    )  # fmt: skip


def filled(row, average, *, quantity="0.5"):
    Order.objects.filter(pk=row.entry_id).update(
        status="filled", active=False, cum_quantity=Decimal(quantity), average_price=Decimal(average)
    )
    row.entry.refresh_from_db()
    return row


def stopped(row, person, *fills):
    """Its stop, filled by these trades, and the end of the bracket."""
    now = clock.now()
    quantity = sum(Decimal(one[0]) for one in fills)
    terms = {"side": "sell", "type": "stopMarket", "price": None, "stop_price": row.stop_price, "quantity": quantity}
    stop = order_rows.placed(person, now=now, status="filled", filled=str(quantity), **terms)
    BracketLeg.objects.create(bracket=row, number=1, role=BracketLeg.STOP, order=stop, created_at=now)
    for fill in fills:
        trade(stop, *fill)
    row = machine.move(row, event="entered", to="guarded", now=now)
    return machine.move(row, event="closed", to="closed", now=now, outcome="stop", next_action_at=None)


def test_gain_and_loss_are_taken_from_the_fills_and_not_from_the_price_of_today(operator):
    """A market order has no price of its own: once it is filled, today's price says nothing of what it cost."""
    now = clock.now()
    Ticker.objects.filter(pk="BCHUSD").update(ask=Decimal(430), bid=Decimal(429), last=Decimal(430))
    row = filled(bracket_rows.asked_for(operator, now=now, type="market", price=None, time_in_force="IOC"), "412")
    trade(row.entry, "0.2", "400", "0.16")
    trade(row.entry, "0.3", "420", "0.252")
    Ticker.objects.filter(pk="BCHUSD").update(ask=Decimal(470), bid=Decimal(469), last=Decimal(470))
    result = results.of(row, situation.read(row))
    exits = exit_prices.Exits(stop=Decimal(380), take=Decimal(480))
    outcomes = exit_prices.outcomes(exits=exits, requested=row.entry, rates=RATES, result=result)
    cost = Decimal(206) + Decimal("0.412")
    assert outcomes.at_stop == Decimal(190) - Decimal("0.38") - cost
    assert outcomes.at_take == Decimal(240) - Decimal("0.48") - cost
    assert outcomes.fees_at_stop == Decimal("0.792")
    without_fees = exit_prices.outcomes(exits=exits, requested=row.entry, rates=None, result=result)
    assert (without_fees.at_stop, without_fees.fees_at_stop) == (Decimal(-16), None)


@pytest.mark.parametrize(
    "case",
    [
        ("USD", ("0.4", "0.38"), "-10.78", "after fees of 0.78"),
        ("BCH", ("0.001", "0"), "-10.38", "after fees of 0.001"),
        ("GAS", ("2", "1"), "-10", "before fees of 3"),
    ],
)
def test_an_ended_bracket_says_its_result_with_the_fees_in_their_currency(signed_in, operator, auditor, case):
    fee_currency, fees, realised, words = case
    Symbol.objects.filter(pk="BCHUSD").update(fee_currency=fee_currency)
    row = filled(bracket_rows.asked_for(operator, now=clock.now()), "400")
    trade(row.entry, "0.5", "400", fees[0])
    sold = "0.499" if fee_currency == "BCH" else "0.5"  # the fee was deducted from what it bought
    row = stopped(row, operator, (sold, "380", fees[1]))
    client = signed_in(auditor)
    answer = client.get(f"/api/v1/brackets/{row.pk}/").json()["result"]
    assert (answer["realised"], answer["is_complete"]) == (realised, True)
    assert (answer["fee_currency"], answer["is_after_fees"]) == (fee_currency, fee_currency != "GAS")
    page = " ".join(client.get(reverse("bracket", args=[row.pk])).content.decode().split())
    assert realised.replace("-", "\u2212") in page or realised in page
    assert words in page
    assert "At the stop" not in page, "nothing is open any more"
    listed = client.get(reverse("brackets") + "?view=ended").content.decode()
    assert realised in listed.replace("\u2212", "-")
    exported = client.get(reverse("brackets-export", args=["csv"]) + "?view=ended")
    assert realised in b"".join(exported.streaming_content).decode()


def test_a_part_that_is_closed_has_its_share_of_the_entry_and_missing_fills_are_said(operator):
    row = filled(bracket_rows.asked_for(operator, now=clock.now()), "400")
    trade(row.entry, "0.5", "400", "0.5")
    row = stopped(row, operator, ("0.2", "390", "0.1"))
    result = results.of(row, situation.read(row))
    assert (result.realised, result.fees) == (Decimal("-2.3"), Decimal("0.3"))
    assert result.cost.quantity == Decimal("0.3")
    assert result.is_complete
    Order.objects.filter(pk=row.entry_id).update(cum_quantity=Decimal("0.6"))
    row.entry.refresh_from_db()
    assert not results.of(row, situation.read(row)).is_complete


def test_the_list_asks_no_more_for_more_brackets(operator, django_assert_num_queries):
    rows_ = [bracket_rows.asked_for(operator, now=clock.now()) for _ in range(3)]
    with django_assert_num_queries(4):
        results.add(rows_)
    assert {row.result.realised for row in rows_} == {None}
