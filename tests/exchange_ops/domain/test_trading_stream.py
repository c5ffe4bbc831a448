"""Reports taken into the rows of orders, trades and margin: only what is newer, in whichever order it is told."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations

import msgspec
import pytest

from desk import clock
from exchange_ops.domain import order_records, trading_stream
from exchange_ops.models import AccountTrade, FollowerState, MarginAccount, MarginPosition, Order, OrderEvent
from exchange_ops.wire import records
from exchange_ops.wire.conversation import BecameLive, Ended, Unread
from exchange_ops.wire.trading_session import MarginAccounts, Reports

pytestmark = [pytest.mark.django_db, pytest.mark.rows]
AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
MS = timedelta(milliseconds=1)


def report(status="new", *, filled="0", after=0, number="41", **changes):
    told = {
        "id": number,
        "client_order_id": "elsewhere-41",
        "symbol": "ETHBTC",
        "side": "sell",
        "status": status,
        "type": "limit",
        "time_in_force": "GTC",
        "quantity": Decimal("2"),
        "price": Decimal("0.05"),
        "cum_quantity": Decimal(filled),
        "created_at": AT,
        "updated_at": AT + after * MS,
        "report_type": status,
    }
    return records.OrderReport(**{**told, **changes})


def trade(number, quantity, **changes):
    figures = {"trade_id": number, "trade_quantity": Decimal(quantity), "trade_price": Decimal("0.05")}
    return {"report_type": "trade", **figures, "trade_fee": Decimal("-0.0001"), **changes}


def take(account, *found, whole=False, margin=False, unread=()):
    event = Reports(margin=margin, records=found, whole=whole, unread=unread)
    trading_stream.take(account=account, event=event, now=clock.now())


def order():
    return Order.objects.get(exchange_id=41)


LIFE = (
    report(),
    report("partiallyFilled", filled="0.5", after=5, **trade(7, "0.5")),
    report("filled", filled="2", after=9, **trade(8, "1.5")),
)


@pytest.mark.parametrize("told", list(permutations(LIFE)), ids=lambda told: "-".join(one.status for one in told))
def test_an_order_ends_as_it_ended_in_whichever_order_it_is_told(account, told):
    for one in (*told, *told):
        take(account, one)
    assert (order().status, order().cum_quantity, order().active) == ("filled", Decimal("2"), False)
    assert order().average_price == Decimal("0.05")
    assert sorted(AccountTrade.objects.values_list("exchange_id", "quantity")) == [
        (7, Decimal("0.5")),
        (8, Decimal("1.5")),
    ]


def test_two_fills_of_one_millisecond_in_the_wrong_order_do_not_empty_the_order(account):
    take(account, report("partiallyFilled", filled="0.9", after=5))
    take(account, report("partiallyFilled", filled="0.5", after=5))
    assert order().cum_quantity == Decimal("0.9")


def test_an_old_report_after_the_end_opens_nothing(account):
    take(account, report("canceled", after=9))
    take(account, report("new", after=20), whole=True)
    assert (order().status, order().active) == ("canceled", False)
    assert OrderEvent.objects.filter(order=order()).count() == 1


def test_a_trade_that_the_history_tells_again_stays_as_it_was_told(account):
    take(account, LIFE[1])
    told = records.AccountTrade(
        id=7,
        order_id=41,
        client_order_id="elsewhere-41",
        symbol="ETHBTC",
        side="sell",
        quantity=Decimal("0.5"),
        price=Decimal("0.05"),
        fee=Decimal("-0.0001"),
        timestamp=AT,
        taker=False,
    )
    order_records.take_trades(account=account, found=[told], now=clock.now())
    take(account, LIFE[1])
    assert (AccountTrade.objects.get().taker, AccountTrade.objects.get().timestamp) == (None, AT + 5 * MS)


def test_words_that_nobody_knows_are_kept_and_an_order_in_the_list_is_open(account):
    take(account, report("paused", report_type="melted", type="iceberg"), whole=True)
    kept = order()
    assert (kept.status, kept.type, kept.active) == ("paused", "iceberg", True)


def test_margin_orders_have_numbers_for_ids_and_are_marked(account):
    take(account, report(number=41), margin=True)
    assert order().margin


@pytest.mark.parametrize(
    "bad",
    [
        report(number="x"),
        report(number="-3"),
        report(number="9" * 25),
        report(number="٣"),
        msgspec.structs.replace(report(), quantity=Decimal("1e50")),
        msgspec.structs.replace(report(), client_order_id="c" * 100),
    ],
)
def test_what_can_not_be_kept_harms_nothing_and_hides_no_other(account, bad):
    good = msgspec.structs.replace(report(number="42"), client_order_id="another")
    take(account, bad, good, unread=(Unread("{}", "no id"),))
    assert list(Order.objects.values_list("exchange_id", flat=True)) == [42]


def test_a_trade_without_its_figures_is_left_to_the_history(account):
    take(account, report("partiallyFilled", filled="0.5", **trade(7, "0.5", trade_fee=None)))
    assert not AccountTrade.objects.exists()
    assert order().cum_quantity == Decimal("0.5")


def test_a_list_that_tells_something_new_while_live_is_a_closed_gap(account):
    state = FollowerState.objects.filter(name=f"trading stream:{account.pk}")
    take(account, report(), whole=True)
    trading_stream.take(account=account, event=BecameLive(), now=clock.now())
    take(account, report(), whole=True)
    assert state.get().gaps_closed == 0
    take(account, report("partiallyFilled", filled="1", after=3), whole=True)
    assert (state.get().gaps_closed, state.get().connected) == (1, True)
    trading_stream.take(account=account, event=Ended("The exchange was silent."), now=clock.now())
    assert (state.get().connected, state.get().reconnects) == (False, 1)


# Margin --------------------------------------------------------------------------------------------------------------


def margin_account(*, after=0, balance="100", position="none", symbol="BTCUSD", reason="updated"):
    told = None
    if position != "none":
        told = records.Position(
            id=9,
            symbol=symbol,
            quantity=Decimal(position),
            price_entry=Decimal("9000"),
            created_at=AT,
            updated_at=AT + after * MS,
        )
    return records.MarginAccount(
        symbol=symbol,
        leverage=Decimal(10),
        margin_balance=Decimal(balance),
        margin_balance_orders=Decimal(0),
        margin_balance_required=Decimal(0),
        created_at=AT,
        updated_at=AT + after * MS,
        report_type=reason,
        report_reason=reason,
        position=told,
    )


def take_margin(account, *found, whole=False):
    trading_stream.take(account=account, event=MarginAccounts(records=found, whole=whole), now=clock.now())


def open_margin():
    accounts = MarginAccount.objects.filter(gone_at=None).values_list("symbol", "margin_balance")
    positions = MarginPosition.objects.filter(gone_at=None).values_list("symbol", "quantity")
    return dict(accounts), dict(positions)


def test_an_older_report_of_margin_changes_nothing(account):
    take_margin(account, margin_account(after=5, balance="90", position="-0.5"))
    take_margin(account, margin_account(after=4, balance="100", position="-0.1"))
    assert open_margin() == ({"BTCUSD": Decimal(90)}, {"BTCUSD": Decimal("-0.5")})


def test_a_report_without_a_position_leaves_the_position(account):
    take_margin(account, margin_account(position="2"))
    take_margin(account, margin_account(after=1, balance="99"))
    assert open_margin() == ({"BTCUSD": Decimal(99)}, {"BTCUSD": Decimal(2)})


@pytest.mark.parametrize("reason", ["closed", "liquidated"])
def test_a_position_that_ended_is_gone_and_the_account_stays_with_its_money(account, reason):
    take_margin(account, margin_account(position="2"))
    take_margin(account, margin_account(after=1, reason=reason))
    assert open_margin() == ({"BTCUSD": Decimal(100)}, {})


def test_an_account_that_is_closed_is_gone_and_one_that_is_opened_again_is_back(account):
    take_margin(account, margin_account())
    take_margin(account, margin_account(after=1, balance="0", reason="closed"))
    assert open_margin() == ({}, {})
    take_margin(account, margin_account())  # overtaken on its way
    assert open_margin() == ({}, {})
    take_margin(account, margin_account(after=2, reason="created"))
    assert open_margin() == ({"BTCUSD": Decimal(100)}, {})


def test_a_whole_list_ends_what_is_not_in_it_and_a_reason_nobody_knows_is_no_end(account):
    take_margin(account, margin_account(position="1"), margin_account(symbol="ETHUSD", position="3"))
    take_margin(account, margin_account(after=1, position="1", reason="meltdown"), whole=True)
    assert open_margin() == ({"BTCUSD": Decimal(100)}, {"BTCUSD": Decimal(1)})
    take_margin(account, margin_account(after=2), whole=True)
    assert open_margin() == ({"BTCUSD": Decimal(100)}, {})


def test_a_list_with_something_unreadable_ends_nothing(account):
    take_margin(account, margin_account(position="1"))
    event = MarginAccounts(records=(), whole=True, unread=(Unread("{}", "no symbol"),))
    trading_stream.take(account=account, event=event, now=clock.now())
    assert open_margin()[0] == {"BTCUSD": Decimal(100)}
