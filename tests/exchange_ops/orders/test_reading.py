"""Reading orders and trades: complete, the newest wins, kept for good, and never stopped by odd records."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.ledger.models import Watermark
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.orders import reading as order_reading
from exchange_ops.orders import records as order_records
from exchange_ops.orders import workflow
from exchange_ops.orders.models import AccountTrade, Order, OrderEvent
from exchange_ops.shared import heartbeats
from exchange_ops.wire import records
from exchange_ops.wire.catalogue import Right

DAY = 24 * 60 * 60 * 1000
NOW = clock.now()


def record(number=7, **changes):
    values = {
        "id": number,
        "client_order_id": f"client-{number}",
        "symbol": "ETHBTC",
        "side": "buy",
        "status": "new",
        "type": "limit",
        "time_in_force": "GTC",
        "quantity": Decimal(1),
        "created_at": NOW,
        "updated_at": NOW,
        "cum_quantity": Decimal(0),
        "price": Decimal("0.01"),
    }
    return records.Order(**(values | changes))


def take(account, *found, **more):
    return order_records.store(account=account, orders=found, now=clock.now(), **more)


def test_orders_placed_elsewhere_are_seen_and_followed_to_their_end(dealing):
    theirs = dealing.elsewhere()
    dealing.read()
    row = Order.objects.get()
    assert (row.exchange_id, row.initiator, row.state, row.active) == (theirs.id, None, "placed", True)
    dealing.client("demo-trade").cancel_order(client_order_id=theirs.client_order_id)
    dealing.read()
    row.refresh_from_db()
    assert (row.status, row.active) == ("canceled", False)
    seen = OrderEvent.objects.filter(order=row).values_list("event", flat=True)
    assert list(seen) == ["seen_elsewhere", "observed"]


def test_an_order_that_was_filled_by_somebody_shows_its_trades_and_average(dealing):
    price = dealing.best_bid()
    row = dealing.placed(price=price)
    dealing.elsewhere("other-full", side="sell", quantity=Decimal("0.2"), price=price)
    dealing.read()
    row = dealing.fresh(row)
    assert (row.status, row.cum_quantity, row.active) == ("partiallyFilled", Decimal("0.2"), True)
    dealing.elsewhere("other-full", side="sell", quantity=Decimal("0.3"), price=price)
    dealing.read()
    row = dealing.fresh(row)
    assert (row.status, row.average_price, row.active) == ("filled", price, False)
    assert [trade.quantity for trade in dealing.trades(row)] == [Decimal("0.2"), Decimal("0.3")]
    assert not any(trade.taker for trade in dealing.trades(row))


def test_what_the_exchange_deletes_after_a_day_is_kept(dealing):
    row = dealing.placed()
    dealing.ask_to_cancel(row)
    dealing.step(row)
    dealing.sandbox.control("clock", {"advance_ms": DAY + 60_000})
    dealing.read()
    assert dealing.client("demo-trade").get_order_history(client_order_id=row.client_order_id).records == ()
    assert dealing.fresh(row).status == "canceled"


def test_an_order_that_ended_and_was_deleted_unseen_is_no_longer_called_open(dealing):
    row = dealing.placed()
    dealing.client("demo-trade").cancel_order(client_order_id=row.client_order_id)
    dealing.sandbox.control("clock", {"advance_ms": DAY + 60_000})
    dealing.elsewhere()  # any order makes the exchange forget old ones
    dealing.read()
    assert dealing.fresh(row).missing_since is not None
    assert dealing.fresh(row).active
    dealing.read(later=timedelta(seconds=70))
    row = dealing.fresh(row)
    assert (row.active, row.status) == (False, "new")
    assert "its final status is unknown" in row.last_problem


def test_an_order_last_read_before_the_clock_was_set_back_is_looked_up(dealing):
    row = dealing.placed()
    dealing.client("demo-trade").cancel_order(client_order_id=row.client_order_id)
    dealing.sandbox.control("clock", {"advance_ms": DAY + 60_000})
    dealing.elsewhere()  # any order makes the exchange forget old ones
    Order.objects.filter(pk=row.pk).update(read_at=clock.now() + timedelta(hours=1))
    dealing.read()
    assert dealing.fresh(row).missing_since is not None


@pytest.mark.parametrize(("ahead", "count"), [(timedelta(0), 0), (timedelta(hours=1), 1)])
def test_orders_last_read_before_the_clock_was_set_back_are_stale(dealing, ahead, count):
    heartbeats.succeeded(workflow.name_of(dealing.account), now=clock.now() + ahead, account=dealing.account)
    assert workflow.read_all(now=clock.now(), client_for=dealing.client_for, only_stale=True) == count


def test_nothing_is_missed_or_doubled_when_pages_are_small_and_time_is_short(dealing):
    for _ in range(7):
        dealing.elsewhere()
    for _ in range(12):
        reading = order_reading.AccountReading(
            dealing.account, clock.now(), page_size=2, walk_for=timedelta(seconds=-1)
        )
        order_reading.read(reading=reading, client_for=dealing.client_for)
    assert Order.objects.count() == 7
    dealing.read()
    assert Order.objects.filter(active=True).count() == 7
    assert Watermark.objects.get(name=order_reading.UNFINISHED).index == 0


def test_trades_are_walked_on_from_the_watermark(dealing):
    for _ in range(3):
        dealing.placed(type="market", time_in_force="IOC", price=None, quantity=Decimal("0.01"))
    dealing.read()
    met = AccountTrade.objects.count()
    assert met >= 3
    dealing.sandbox.control("clock", {"advance_ms": 300_000})
    dealing.read()
    mark = Watermark.objects.get(name=order_reading.TRADES).index
    assert mark == max(AccountTrade.objects.values_list("exchange_id", flat=True))
    dealing.placed(type="market", time_in_force="IOC", price=None, quantity=Decimal("0.01"))
    dealing.read()
    assert AccountTrade.objects.count() > met


def test_an_older_record_changes_nothing_and_an_end_is_final(account):
    take(account, record(status="partiallyFilled", cum_quantity=Decimal("0.5"), updated_at=NOW), open_numbers={7})
    assert not take(account, record(updated_at=NOW - timedelta(seconds=1))).changed
    take(account, record(status="filled", cum_quantity=Decimal(1), updated_at=NOW + timedelta(seconds=2)))
    take(account, record(status="new", updated_at=NOW + timedelta(seconds=3)), open_numbers={7})
    row = Order.objects.get()
    assert (row.status, row.cum_quantity, row.active) == ("filled", Decimal(1), False)


def test_unknown_words_are_kept_and_the_list_of_open_orders_decides(account):
    odd = record(status="paused", side="both", type="iceberg", time_in_force="GTX")
    take(account, odd, open_numbers={7})
    take(account, odd, open_numbers={7})
    row = Order.objects.get()
    assert (row.status, row.side, row.type, row.time_in_force, row.active) == ("paused", "both", "iceberg", "GTX", True)
    take(account, record(status="rejected", updated_at=NOW + timedelta(seconds=1)))
    row.refresh_from_db()
    assert (row.status, row.active) == ("rejected", False)


@pytest.mark.parametrize(
    "changes",
    [
        {"number": 2**63},
        {"client_order_id": "x" * 65},
        {"symbol": "S" * 41},
        {"quantity": Decimal("1e40")},
        {"price": Decimal("1e-30")},
        {"client_order_id": "a\0b"},
    ],
)
def test_a_record_that_no_column_takes_is_told_and_stops_nothing(account, changes):
    done = take(account, record(**changes), record(8))
    assert len(done.problems) == 1
    assert Order.objects.get().exchange_id == 8


def test_an_open_order_with_such_a_number_does_not_hide_how_others_ended(dealing):
    ended = dealing.placed()
    dealing.client("demo-trade").cancel_order(client_order_id=ended.client_order_id)
    odd = dealing.elsewhere()
    dealing.fault("get_orders", "echo_differs", times=1, field="id", value=2**63, id=str(odd.id))
    dealing.read()
    assert dealing.fresh(ended).status == "canceled"


def test_an_id_that_comes_back_on_another_day_is_another_order(account):
    take(account, record(7, client_order_id="same", status="expired"), record(8, client_order_id="same"))
    assert Order.objects.filter(client_order_id="same").count() == 2


def test_a_reading_that_fails_says_so_and_the_next_one_heals(dealing, operator_asks):
    dealing.fault("get_orders", "status", times=20, status=503)
    assert workflow.read_all(now=clock.now(), client_for=dealing.client_for) == 0
    row = heartbeats.state_of(workflow.name_of(dealing.account))
    assert not row.connected
    assert "could not be loaded" in row.problem
    assert "could not be loaded" in operator_asks().problem
    dealing.sandbox.control("faults", method="DELETE")
    dealing.read()
    assert heartbeats.state_of(workflow.name_of(dealing.account)).problem == ""


@pytest.fixture
def operator_asks(dealing):
    reading = workflow.ask_to_read(account=dealing.account, person=dealing.operator, now=clock.now())

    def again():
        reading.refresh_from_db()
        return reading

    return again


def test_a_reading_that_was_asked_for_is_done_once(dealing, operator_asks):
    again = workflow.ask_to_read(account=dealing.account, person=dealing.operator, now=clock.now())
    assert (again.pk, again.requested_at) == (operator_asks().pk, operator_asks().requested_at)
    dealing.read()
    assert operator_asks().answered_at is not None
    assert operator_asks().problem == ""


def test_margin_is_copied_as_read_and_ends_when_it_is_no_longer_listed(dealing):
    client = dealing.client_for(dealing.account, Right.ORDERS)
    client.call("set_margin_account", symbol="BTCUSD", marginBalance=Decimal(1000))
    client.call("create_margin_order", symbol="BTCUSD", side="buy", type="market", quantity="0.01", timeInForce="IOC")
    dealing.read()
    held, position = MarginAccount.objects.get(), MarginPosition.objects.get()
    assert held.symbol == position.symbol == "BTCUSD"
    assert position.quantity == Decimal("0.01")
    assert position.price_liquidation is not None
    assert held.margin_balance_required > 0
    assert Order.objects.filter(margin=True).count() <= 1
    client.call("close_margin_account", symbol="BTCUSD")
    client.close()
    dealing.read(later=timedelta(seconds=1))
    held.refresh_from_db()
    position.refresh_from_db()
    assert held.gone_at is not None
    assert position.gone_at is not None


def test_a_margin_order_placed_elsewhere_is_known_and_cancelled_as_one(dealing):
    client = dealing.client_for(dealing.account, Right.ORDERS)
    client.call("set_margin_account", symbol="BTCUSD", marginBalance=Decimal(1000))
    client.call("create_margin_order", symbol="BTCUSD", side="buy", quantity="0.01", price="1000", clientOrderId="m-1")
    client.close()
    dealing.read()
    row = Order.objects.get(client_order_id="m-1")
    assert (row.margin, row.active) == (True, True)
    dealing.ask_to_cancel(row)
    row = dealing.step(row)
    assert (row.status, row.active) == ("canceled", False)
    assert dealing.sent("cancel_margin_order") == 1


def test_a_margin_order_that_the_history_told_of_first_is_not_taken_for_a_spot_order(dealing):
    client = dealing.client_for(dealing.account, Right.ORDERS)
    client.call("set_margin_account", symbol="BTCUSD", marginBalance=Decimal(1000))
    client.call("create_margin_order", symbol="BTCUSD", side="buy", quantity="0.01", price="1000", clientOrderId="m-2")
    history = client.call("get_order_history", clientOrderId="m-2")
    client.close()
    take(dealing.account, *history)
    row = Order.objects.get(client_order_id="m-2")
    assert not row.margin
    dealing.ask_to_cancel(row)
    for _ in range(2):
        row = dealing.step(row, later=timedelta(seconds=90))
    assert (row.state, row.active) == ("cancelling", True), "it is open, whatever the list of spot orders says"
    dealing.read()
    row = dealing.step(row)
    assert (row.margin, row.status, row.active) == (True, "canceled", False)
