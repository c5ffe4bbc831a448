"""What came in and went out each day, and what was earned, from rows of the ledger and of trades."""

from datetime import timedelta
from decimal import Decimal

import pytest

from exchange_ops.ledger.models import LedgerEntry, LedgerVersion
from exchange_ops.market.models import Symbol
from exchange_ops.orders import machine as order_guards
from exchange_ops.portfolio import flows, profits
from exchange_ops.portfolio.lots import AVERAGE, FIFO
from exchange_ops.portfolio.models import DailyFlow, Profit, ProfitDay, Progress
from exchange_ops.positions import machine
from exchange_ops.positions.models import MarginAction
from tests.exchange_ops import rows
from tests.exchange_ops.portfolio import held
from tests.exchange_ops.portfolio.held import DAY, NOON
from tests.rows import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    return rows.account(now=NOON)


@pytest.fixture
def progress(account):
    return Progress.objects.create(account=account)


def version(entry, *, updated_at=None):
    """A version of the entry, as it was read: it says when the exchange changed it."""
    content = {"updatedAt": (updated_at or entry.updated_at).isoformat()}
    return LedgerVersion.objects.create(
        account=entry.account,
        entry=entry,
        index=entry.index,
        status=entry.status,
        content=content,
        source="rest",
        seen_at=NOON,
    )


def flows_by_day():
    return {
        (row.day.isoformat(), row.currency): (row.came_in, row.went_out, row.fees)
        for row in DailyFlow.objects.order_by("day")
    }


def test_each_day_is_added_up_and_what_stays_inside_is_no_flow(account, progress, operator):
    rows.subaccount(now=NOON)
    rows.currency(now=NOON, transfer_enabled=True)
    rows.price(now=NOON)
    rows.balance(now=NOON)
    inside = rows.transfer(operator, kind="to_subaccount", now=NOON)
    entries = [
        held.entry(1, NOON, amount=Decimal(3)),
        held.entry(2, NOON, type="payout", amount=Decimal(1), fee=Decimal("0.1")),
        held.entry(3, NOON, type="bankToExchange", amount=Decimal(9)),
        held.entry(4, NOON, type="withdraw", sub_type="swap", amount=Decimal(9)),
        held.entry(5, NOON, type="withdraw", sub_type="offchain", amount=Decimal(9), transfer=inside),
        held.entry(6, NOON, type="payout", status="pending", amount=Decimal(9)),
        held.entry(7, NOON + DAY, type="deposit", amount=Decimal(5), currency="USD"),
    ]
    for entry in entries:
        version(entry)
    assert flows.update(account=account, progress=progress)
    assert flows_by_day() == {
        ("2026-11-20", "BCH"): (3, 1, Decimal("0.1")),
        ("2026-11-21", "USD"): (5, 0, 0),
    }
    assert not flows.update(account=account, progress=progress), "nothing changed"


def test_an_entry_that_moved_to_another_day_is_taken_from_the_one_before(account, progress):
    entry = held.entry(1, NOON, amount=Decimal(3))
    version(entry)
    flows.update(account=account, progress=progress)
    LedgerEntry.objects.filter(pk=entry.pk).update(updated_at=NOON + DAY, index=9)
    entry.refresh_from_db()
    version(entry)
    flows.update(account=account, progress=progress)
    assert flows_by_day() == {("2026-11-21", "BCH"): (3, 0, 0)}


def test_a_price_that_comes_later_is_added(account, progress):
    version(held.entry(1, NOON, amount=Decimal(3)))
    flows.update(account=account, progress=progress)
    assert flows.price(account=account) == 0
    held.close(NOON.date(), "500")
    assert flows.price(account=account) == 1
    assert DailyFlow.objects.get().price == 500


def buy_and_sell(account):
    """Two coins for 100 and 200, fee 1 each; one sold for 300, fee 3; all a day apart, and one left."""
    held.symbol()
    one = {"quantity": Decimal(1), "now": NOON}
    for number, (side, price, fee) in enumerate((("buy", 100, 1), ("buy", 200, 1), ("sell", 300, 3))):
        at = NOON + number * DAY
        rows.trade(number + 1, side=side, price=Decimal(price), fee=Decimal(fee), timestamp=at, **one)
    rows.balance(bank="0", trading="1", now=NOON)


@pytest.mark.parametrize(("method", "realised", "cost"), [(FIFO, 196, 201), (AVERAGE, 146, 151)])
def test_profit_counts_fees_in_by_either_method(account, progress, method, realised, cost):
    buy_and_sell(account)
    held.read(account, now=NOON)
    assert profits.update(account=account, progress=progress, now=NOON)
    row = Profit.objects.get(coin="BCH", method=method)
    assert (row.realised, row.cost, row.known_quantity, row.unknown_quantity, row.fees) == (realised, cost, 1, 0, 5)
    day = ProfitDay.objects.get(profit=row, day=(NOON + 2 * DAY).date())
    assert (day.realised, day.fees) == (realised, 3)


def test_it_is_computed_again_when_something_changed_and_not_before(account, progress):
    buy_and_sell(account)
    held.read(account, now=NOON)
    profits.update(account=account, progress=progress, now=NOON)
    progress.refresh_from_db()
    soon = NOON + timedelta(minutes=1)
    assert not profits.update(account=account, progress=progress, now=soon)
    rows.trade(9, side="sell", quantity=Decimal("0.5"), price=Decimal(300), timestamp=NOON + 3 * DAY, now=NOON)
    assert profits.update(account=account, progress=progress, now=NOON + timedelta(minutes=50))


def test_deposits_and_payouts_are_valued_at_their_day_and_the_network_fee_is_lost(account):
    held.close(NOON.date(), "100")
    held.close((NOON + DAY).date(), "150")
    held.entry(1, NOON, amount=Decimal(2))
    held.entry(2, NOON + DAY, type="payout", amount=Decimal(1), fee=Decimal("0.5"))
    rows.balance(bank="0.5", trading="0", now=NOON)
    book = profits.compute(account=account)["BCH", FIFO]
    assert (book.realised, book.cost, book.fees, book.quantity) == (0, 50, 75, Decimal("0.5"))


def test_what_came_in_on_a_day_without_a_price_has_no_known_cost(account):
    held.entry(1, NOON, amount=Decimal(2))
    rows.balance(bank="3", trading="0", now=NOON)
    book = profits.compute(account=account)["BCH", FIFO]
    assert (book.opening, [lot.cost for lot in book.lots]) == (1, [None, None])


def test_a_trade_between_coins_sells_one_and_buys_the_other_at_the_price_of_the_day(account):
    held.close(NOON.date(), "20000", base="BTC")
    held.symbol("ETH", "BTC")
    rows.trade(
        1, symbol="ETHBTC", side="buy", quantity=Decimal(10), price=Decimal("0.05"), fee=Decimal("0.001"), now=NOON
    )
    for code, amount in (("BTC", "1"), ("ETH", "10")):
        rows.balance(code, bank=amount, trading="0", now=NOON)
    found = profits.compute(account=account)
    assert found["ETH", FIFO].cost == 10020
    bitcoin = found["BTC", FIFO]
    assert (bitcoin.opening, bitcoin.sold_without_cost, bitcoin.proceeds_without_cost) == (
        Decimal("1.501"),
        Decimal("0.501"),
        10020,
    )


def test_margin_trades_are_left_out_and_variants_are_one_coin(account, operator):
    held.symbol()
    rows.trade(1, liquidation=True, now=NOON)
    held.entry(1, NOON, currency="BCH", type="withdraw", sub_type="swap", amount=Decimal(1))
    held.entry(2, NOON, currency="BCHT20", type="deposit", sub_type="swap", amount=Decimal(1))
    rows.balance("BCH", bank="1", trading="0", now=NOON)
    rows.balance("BCHT20", bank="1", trading="0", now=NOON)
    book = profits.compute(account=account)["BCH", FIFO]
    assert (book.opening, book.quantity, book.realised) == (2, 2, 0)


@pytest.mark.parametrize(("side", "number"), [("buy", None), ("sell", 78)])
def test_a_margin_order_takes_no_spot_trade_with_it(account, operator, side, number):
    """One that has no number of the exchange yet names no trade, and one that has names its own alone."""
    buy_and_sell(account)
    rows.trade(9, exchange_order_id=77, side=side, quantity=Decimal(50), now=NOON)
    rows.margin_order(account, 77)
    with unguarded(order_guards.GUARDS):
        rows.margin_order(account, number, name="another", initiator=operator)
    book = profits.compute(account=account)["BCH", FIFO]
    assert (book.realised, book.quantity) == (196, 1)


def test_the_order_that_closes_a_position_is_no_spot_trade(account, operator):
    buy_and_sell(account)
    rows.trade(9, exchange_order_id=91, side="sell", quantity=Decimal(50), now=NOON)
    rows.trade(10, exchange_order_id=92, client_order_id="part-of-it", side="sell", quantity=Decimal(50), now=NOON)
    closing = rows.margin_action(operator, now=NOON)
    part = rows.margin_action(operator, symbol="ETHUSD", now=NOON)
    with unguarded(machine.GUARDS):
        MarginAction.objects.filter(pk=closing.pk).update(exchange_order_id=91)
        MarginAction.objects.filter(pk=part.pk).update(client_order_id="part-of-it")
    assert profits.compute(account=account)["BCH", FIFO].realised == 196


@pytest.mark.parametrize(
    ("method", "realised", "cost"),
    # Bought 2 for 200, then 2 for 400; sold 3 for 900. Of the fee coin: 10 came in at 2, 3 paid fees at 5 each day.
    # first in, first out: 900 - 5 - (200 + 5) - (400 + 5) / 2; the rest costs (400 + 5) / 2
    # average cost:        900 - 5 - (200 + 5 + 400 + 5) * 3 / 4; the rest costs a quarter
    [(FIFO, Decimal("487.5"), Decimal("202.5")), (AVERAGE, Decimal("437.5"), Decimal("152.5"))],
)
def test_a_fee_in_a_third_coin_counts_as_money_and_as_a_sale_of_that_coin(account, method, realised, cost):
    held.symbol()
    Symbol.objects.filter(code="BCHUSD").update(fee_currency="EQT")
    for number, price in enumerate(("2", "5", "5", "5")):
        held.close((NOON + number * DAY).date(), price, base="EQT")
    held.entry(1, NOON, currency="EQT", amount=Decimal(10))
    for number, (side, quantity, price) in enumerate((("buy", 2, 100), ("buy", 2, 200), ("sell", 3, 300)), start=1):
        figures = {"quantity": Decimal(quantity), "price": Decimal(price), "fee": Decimal(1)}
        rows.trade(number, side=side, timestamp=NOON + number * DAY, now=NOON, **figures)
    rows.balance(bank="0", trading="1", now=NOON)
    rows.balance("EQT", bank="7", trading="0", now=NOON)
    found = profits.compute(account=account)
    book, fees = found["BCH", method], found["EQT", method]
    assert (book.realised, book.cost, book.fees) == (realised, cost, 15)
    assert (fees.realised, fees.cost, fees.quantity) == (3 * (5 - 2), 14, 7)


@pytest.mark.parametrize("method", [FIFO, AVERAGE])
def test_a_sale_beyond_what_is_known_earns_on_the_known_part_alone(account, method):
    """One coin was bought for 100, four are sold for 1,200 at once: what the other three cost nobody knows."""
    held.symbol()
    free = {"fee": Decimal(0), "now": NOON}
    rows.trade(1, side="buy", quantity=Decimal(1), price=Decimal(100), timestamp=NOON, **free)
    rows.trade(2, side="sell", quantity=Decimal(4), price=Decimal(300), timestamp=NOON + DAY, **free)
    rows.balance(bank="0", trading="0", now=NOON)
    book = profits.compute(account=account)["BCH", method]
    assert (book.opening, book.sold_without_cost, book.proceeds_without_cost) == (3, 3, 900)
    assert (book.realised, book.cost, book.quantity) == (200, 0, 0)


@pytest.mark.parametrize(
    ("method", "realised", "unknown", "brought"),
    # Two bought for 200, then two came in on a day without a price; one sold for 300.
    [(FIFO, 200, 2, 0), (AVERAGE, 100, Decimal("1.5"), 150)],
)
def test_what_came_in_without_a_price_is_sold_at_no_known_cost(account, method, realised, unknown, brought):
    held.symbol()
    free = {"fee": Decimal(0), "now": NOON}
    rows.trade(1, side="buy", quantity=Decimal(2), price=Decimal(100), timestamp=NOON, **free)
    held.entry(1, NOON + DAY, amount=Decimal(2))
    rows.trade(2, side="sell", quantity=Decimal(1), price=Decimal(300), timestamp=NOON + 2 * DAY, **free)
    rows.balance(bank="3", trading="0", now=NOON)
    book = profits.compute(account=account)["BCH", method]
    assert (book.realised, book.quantity - book.known_quantity, book.proceeds_without_cost) == (
        realised,
        unknown,
        brought,
    )
    assert book.opening == 0
