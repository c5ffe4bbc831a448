"""What an order realised by the lots of profit and loss, and why it is a dash where that can't be proven."""

from decimal import Decimal

import pytest

from exchange_ops.orders import machine as order_guards
from exchange_ops.orders import outcomes
from exchange_ops.orders.models import Order
from exchange_ops.portfolio import profits
from exchange_ops.portfolio.models import OrderResult, Progress
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.portfolio import held
from tests.exchange_ops.portfolio.held import DAY, NOON
from tests.rows import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    held.symbol()
    return rows.account(now=NOON)


def filled(number, at, *, side, quantity, price, fee="0", symbol="BCHUSD", of=None, whole=None, margin=False):
    """An order at the exchange with one trade that filled it; `of` is an order that it belongs to as well."""
    order = of or order_rows.elsewhere(
        now=at,
        number=number,
        side=side,
        symbol=symbol,
        quantity=Decimal(whole or quantity),
        cum_quantity=Decimal(whole or quantity),
        price=Decimal(price),
        status="filled",
    )
    figures = {"quantity": Decimal(quantity), "price": Decimal(price), "fee": Decimal(fee)}
    rows.trade(number, side=side, symbol=symbol, exchange_order_id=order.exchange_id, timestamp=at, now=at, **figures)
    return order


def compute(account, *, bank="0", trading="0", now=NOON + 9 * DAY):
    rows.balance(bank=bank, trading=trading, now=now)
    held.read(account, now=now)
    progress, _ = Progress.objects.get_or_create(account=account)
    Progress.objects.filter(pk=progress.pk).update(profits_at=None)
    progress.refresh_from_db()
    assert profits.update(account=account, progress=progress, now=now)


def outcome(order):
    return outcomes.of(Order.objects.get(pk=order.pk))


def test_two_purchases_and_two_sales_by_hand(account):
    first = filled(1, NOON, side="buy", quantity="1", price="100", fee="1")
    filled(2, NOON + DAY, side="buy", quantity="1", price="200", fee="1")
    sale = filled(3, NOON + 2 * DAY, side="sell", quantity="1", whole="1.5", price="300", fee="3")
    filled(4, NOON + 3 * DAY, side="sell", quantity="0.5", price="400", fee="2", of=sale)
    compute(account, trading="0.5")
    sold = outcome(sale)
    assert (sold.value, sold.fees, sold.fee_currency) == (500, 5, "USD")
    # 300 - 3 - 101 for the first coin, 200 - 2 - half of 201 for the half of the second.
    assert (sold.result.amount, sold.result.currency, sold.result.reason) == (Decimal("293.5"), "USD", "")
    bought = outcome(first)
    assert (bought.value, bought.fees, bought.result.amount) == (100, 1, None)
    assert bought.result.reason == "Paid in USD: no P&L until the purchased coins are sold."
    book = profits.compute(account=account)["BCH", "fifo"]
    assert book.realised == sold.result.amount, "the same lots as on the page of profit and loss"


def test_a_result_without_a_known_cost_is_a_dash_with_the_reason(account):
    sale = filled(1, NOON, side="sell", quantity="2", price="300")
    compute(account, trading="1")
    assert outcome(sale).result == outcomes.RealisedResult(None, "USD", "2 BCH sold without a cost basis.")


def test_a_result_that_lags_behind_the_trades_is_not_shown(account):
    filled(1, NOON, side="buy", quantity="3", price="100")
    sale = filled(2, NOON + DAY, side="sell", quantity="1", whole="2", price="300")
    assert outcome(sale).result.reason == "Some fills are not synced yet."
    assert (outcome(sale).value, outcome(sale).fees) == (None, None)
    compute(account, trading="2")
    filled(3, NOON + DAY, side="sell", quantity="1", price="310", of=sale)
    assert outcome(sale).value == 610
    assert outcome(sale).result.reason.startswith("Not computed yet.")
    compute(account, trading="1")
    assert outcome(sale).result.amount == 410
    stored = OrderResult.objects.get()
    compute(account, trading="1", now=NOON + 10 * DAY)
    assert OrderResult.objects.get().pk == stored.pk, "what is the same is left alone"


def test_a_purchase_with_another_coin_sells_that_coin(account):
    held.symbol("ETH", "BCH")
    for number in range(2):
        held.close((NOON + number * DAY).date(), str(100 + 50 * number))
    filled(1, NOON, side="buy", quantity="2", price="100")
    swap = filled(2, NOON + DAY, side="buy", symbol="ETHBCH", quantity="10", price="0.1", fee="0.01")
    compute(account, trading="0.99")
    sold = outcome(swap)
    assert (sold.value, sold.fees, sold.fee_currency) == (1, Decimal("0.01"), "BCH")
    assert sold.result.amount == Decimal("50.5"), "1.01 BCH that cost 100 each, at 150 of that day"


def test_orders_on_margin_and_orders_without_fills_have_no_result(account, operator):
    order_rows.market(now=NOON)
    margin = filled(1, NOON, side="sell", quantity="1", price="300")
    Order.objects.filter(pk=margin.pk).update(margin=True)
    assert outcome(margin).result.reason == "Margin order: see the position's P&L."
    empty = outcome(order_rows.requested(operator, now=NOON))
    assert (empty.value, empty.fees, empty.result.reason) == (0, 0, "No fills.")


def test_the_fills_of_replaced_orders_count_and_the_queries_do_not_grow(
    account, operator, django_assert_max_num_queries
):
    order_rows.market(now=NOON)
    filled(1, NOON, side="buy", quantity="5", price="100")
    old = order_rows.placed(operator, now=NOON, side="sell", status="canceled", filled="1", quantity=Decimal(2))
    new = order_rows.placed(operator, now=NOON, side="sell", status="filled", filled="2", quantity=Decimal(2))
    with unguarded(order_guards.GUARDS):
        Order.objects.filter(pk=new.pk).update(replaces=old)
    for number, order in ((2, old), (3, new)):
        filled(number, NOON + DAY, side="sell", quantity="1", price="150", fee="1", of=order)
    compute(account, trading="3")
    sold = outcome(new)
    assert (sold.value, sold.fees, sold.result.amount) == (300, 2, 98)
    with django_assert_max_num_queries(9):
        outcomes.of_all(list(Order.objects.all()))
