"""What is reserved and by what: payouts, payouts made elsewhere, orders, and what is left over."""

from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.ledger.models import Balance
from exchange_ops.orders.models import Order
from exchange_ops.portfolio import reserves
from tests.exchange_ops import rows

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("payable")]


def reserved(wallet, amount, code="BCH"):
    Balance.objects.filter(wallet=wallet, currency=code).update(reserved=Decimal(amount))


def order(side, price, *, quantity="2", number=1):
    """An order that the exchange lists as open, placed elsewhere."""
    now = clock.now()
    return Order.objects.create(
        account=rows.account(now=now),
        client_order_id=f"theirs-{number}",
        exchange_id=number,
        symbol="BCHUSD",
        side=side,
        type="limit",
        time_in_force="GTC",
        quantity=Decimal(quantity),
        price=None if price is None else Decimal(price),
        state="placed",
        version=1,
        active=True,
        created_at=now,
        updated_at=now,
    )


def of(code="BCH"):
    return reserves.by_currency([rows.account(now=clock.now())])[code]


def test_payouts_of_ours_and_of_others_explain_the_bank(operator):
    now = clock.now()
    rows.held(operator, now=now)
    rows.entry(1, now=now, type="payout", status="pending", amount=Decimal(3), fee=Decimal("0.5"), foreign=True)
    reserved("bank", "5")
    found = of()
    assert (found.payouts.count, found.payouts.low) == (1, Decimal("1.251"))
    assert (found.elsewhere.count, found.elsewhere.low) == (1, Decimal("3.5"))
    assert (found.unexplained, found.is_behind) == (Decimal("0.249"), False)


def test_a_reading_that_is_behind_is_said_and_is_nothing_unexplained(operator):
    rows.held(operator, now=clock.now())
    assert (of().unexplained, of().is_behind) == (0, True)


def test_a_sell_order_explains_its_quantity():
    order("sell", "600")
    reserved("trading", "2.5")
    assert (of().orders.low, of().unexplained) == (2, Decimal("0.5"))


@pytest.mark.parametrize(("held", "unexplained"), [("1000", 0), ("1001", 0), ("1050", 28)])
def test_a_buy_order_explains_its_price_and_up_to_its_highest_fee(held, unexplained):
    rows.balance("USD", bank="0", trading="5000", now=clock.now())
    order("buy", "500")
    reserved("trading", held, "USD")
    found = of("USD")
    assert (found.orders.low, found.orders.high) == (1000, 1000 + 1 + 20)
    assert found.unexplained == (unexplained + 1 if unexplained else 0)


def test_an_order_without_a_price_leaves_the_question_open():
    rows.balance("USD", bank="0", trading="5000", now=clock.now())
    order("buy", None)
    reserved("trading", "700", "USD")
    assert (of("USD").orders.is_open, of("USD").unexplained) == (True, 0)
