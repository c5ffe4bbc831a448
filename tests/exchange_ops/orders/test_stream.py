"""Reports taken into the rows of orders, trades and margin: only what is newer, in whichever order it is told."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import permutations

import msgspec
import pytest
from django.db import IntegrityError, connection, transaction

from desk import audit_check, clock
from exchange_ops.client import Listing
from exchange_ops.margin import refresh as margin
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.orders import machine, stream, trades
from exchange_ops.orders import records as order_records
from exchange_ops.orders.models import AccountTrade, Order, OrderEvent, OrderReading
from exchange_ops.shared.models import FollowerState
from exchange_ops.wire import records
from exchange_ops.wire.conversation import BecameLive, Ended, Unread
from exchange_ops.wire.trading_session import MarginAccounts, Reports

pytestmark = pytest.mark.django_db
AT = datetime(2026, 11, 20, 10, tzinfo=UTC)
MS = timedelta(milliseconds=1)


def report(status="new", *, filled="0", after=0, number="41", **changes):
    values = {
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
    return records.OrderReport(**{**values, **changes})


def trade(number, quantity, **changes):
    figures = {"trade_id": number, "trade_quantity": Decimal(quantity), "trade_price": Decimal("0.05")}
    return {"report_type": "trade", **figures, "trade_fee": Decimal("-0.0001"), **changes}


def take(account, *found, is_complete=False, margin=False, unread=()):
    event = Reports(margin=margin, records=found, is_complete=is_complete, unread=unread)
    stream.store(account=account, event=event, now=clock.now())


def order():
    return Order.objects.get(exchange_id=41)


LIFE = (
    report(),
    report("partiallyFilled", filled="0.5", after=5, **trade(7, "0.5")),
    report("filled", filled="2", after=9, **trade(8, "1.5")),
)


def test_an_order_read_before_the_clock_was_set_back_is_read_anew_and_missed(account):
    take(account, report())
    later = clock.now() + timedelta(hours=1)
    Order.objects.update(read_at=later)
    take(account, is_complete=True)
    assert OrderReading.objects.filter(account=account).exists(), "how it ended is read from the history"
    take(account, report())
    assert order().read_at < later


def test_what_the_exchange_says_of_an_order_is_witnessed_however_it_arrives(account):
    """Brackets decide by it. Each column forged by itself, on both databases: `test_row_witnesses`."""

    def named():
        return [finding for finding in audit_check.verify(replay=True) if finding.startswith("exchange_ops.")]

    take(account, report(filled="0"))
    take(account, report("partiallyFilled", filled="0.5", after=1, **trade(7, "0.5")))
    take(account, report("filled", filled="2", after=2, **trade(8, "1.5")))
    assert named() == []
    with connection.cursor() as cursor:
        cursor.execute("UPDATE exchange_ops_order SET cum_quantity = '0.5' WHERE exchange_id = 41")
    (finding,) = named()
    assert finding.startswith(f"exchange_ops.order {order().pk} was altered outside the desk: cum_quantity changed")


@pytest.mark.parametrize("life", list(permutations(LIFE)), ids=lambda life: "-".join(one.status for one in life))
def test_an_order_ends_as_it_ended_in_whichever_order_it_is_told(account, life):
    for one in (*life, *life):
        take(account, one)
    assert (order().status, order().cum_quantity, order().active) == ("filled", Decimal("2"), False)
    assert order().average_price == Decimal("0.05")
    assert sorted(AccountTrade.objects.values_list("exchange_id", "quantity")) == [
        (7, Decimal("0.5")),
        (8, Decimal("1.5")),
    ]


@pytest.mark.parametrize("life", list(permutations(LIFE)), ids=lambda life: "-".join(one.status for one in life))
def test_reports_that_come_together_are_stored_together_and_once(account, life):
    another = [msgspec.structs.replace(one, id="42", client_order_id="b", trade_id=None) for one in life]
    take(account, *life, *another, *life)
    assert (order().status, order().cum_quantity, order().average_price) == ("filled", Decimal(2), Decimal("0.05"))
    assert Order.objects.get(exchange_id=42).status == "filled"
    assert AccountTrade.objects.count() == 2
    assert OrderEvent.objects.count() == 2


def test_two_fills_of_one_millisecond_in_the_wrong_order_do_not_empty_the_order(account):
    take(account, report("partiallyFilled", filled="0.9", after=5))
    take(account, report("partiallyFilled", filled="0.5", after=5))
    assert order().cum_quantity == Decimal("0.9")


def test_an_old_report_after_the_end_opens_nothing(account):
    take(account, report("canceled", after=9))
    take(account, report("new", after=20), is_complete=True)
    assert (order().status, order().active) == ("canceled", False)
    assert OrderEvent.objects.filter(order=order()).count() == 1


def test_the_history_adds_to_a_trade_who_took_and_changes_nothing_else(account):
    take(account, LIFE[1])
    trade = records.AccountTrade(
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
    trades.store(account=account, trades=[trade], now=clock.now())
    take(account, LIFE[1])
    trades.store(account=account, trades=[msgspec.structs.replace(trade, taker=True)], now=clock.now())
    kept = AccountTrade.objects.get()
    assert (kept.taker, kept.liquidation, kept.timestamp) == (False, None, AT + 5 * MS)
    for changes in ({"price": Decimal(9)}, {"taker": True}, {"taker": None}):
        with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
            AccountTrade.objects.update(**changes)


def test_words_that_nobody_knows_are_kept_and_an_order_in_the_list_is_open(account):
    take(account, report("paused", report_type="melted", type="iceberg"), is_complete=True)
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
    take(account, report(), is_complete=True)
    stream.store(account=account, event=BecameLive(), now=clock.now())
    take(account, report(), is_complete=True)
    assert state.get().gaps_closed == 0
    take(account, report("partiallyFilled", filled="1", after=3), is_complete=True)
    assert (state.get().gaps_closed, state.get().connected) == (1, True)
    stream.store(account=account, event=Ended("No data from the exchange."), now=clock.now())
    assert (state.get().connected, state.get().reconnects) == (False, 1)


def test_of_two_reports_of_one_millisecond_the_one_further_in_the_life_of_an_order_counts(account):
    take(account, report("suspended"))
    take(account, report("new"))
    take(account, report("suspended"))
    assert (order().status, order().active) == ("new", True)
    take(account, report("partiallyFilled", filled="0.5"))
    take(account, report("new"), report("suspended"))
    take(account, report("canceled", filled="0.5"))
    take(account, report("partiallyFilled", filled="0.9"))
    assert (order().status, order().cum_quantity, order().active) == ("canceled", Decimal("0.5"), False)


def test_the_average_is_right_in_whichever_order_the_trades_are_told(account):
    second = msgspec.structs.replace(LIFE[2], trade_price=Decimal("0.07"))
    for one in (second, LIFE[1]):
        take(account, one)
    assert order().average_price == Decimal("0.065")


def test_a_reading_and_reports_of_one_moment_leave_the_newest_however_they_take_turns(account):
    """Each takes the row as it was before the other wrote: what decides is the row itself, when it is written."""
    records_of = [order_records.from_report(one) for one in LIFE]
    order_records.store(account=account, orders=records_of[:1], now=clock.now())
    stale = order()
    order_records.store(account=account, orders=records_of[2:], now=clock.now())
    reading = order_records._Reading(account, frozenset({41}), margin=False, now=clock.now(), details={})
    assert not order_records._renew(stale, records_of[1], reading)
    assert not order_records._renew(stale, records_of[2], reading)
    assert (order().status, order().active) == ("filled", False)


def test_what_somebody_else_entered_first_is_brought_up_to_what_is_newer(account):
    first, last = order_records.from_report(LIFE[0]), order_records.from_report(LIFE[2])
    order_records.store(account=account, orders=[first, last, first], now=clock.now())
    assert (order().status, order().cum_quantity) == ("filled", Decimal(2))


def replaced(after=20, **changes):
    values = {"number": "42", "client_order_id": "new-42", "report_type": "replaced"}
    return report("new", after=after, original_request_client_order_id="elsewhere-41", **{**values, **changes})


@pytest.mark.parametrize("late", [(), (report(after=3),)], ids=["in order", "an old report after it"])
def test_an_order_that_was_replaced_is_over_and_the_new_one_open(account, late):
    take(account, report())
    take(account, replaced(), *late)
    assert (order().status, order().active) == ("canceled", False)
    assert OrderEvent.objects.filter(order=order()).last().evidence["replaced_by"] == "new-42"
    new = Order.objects.get(exchange_id=42)
    assert (new.status, new.active) == ("new", True)
    assert OrderEvent.objects.get(order=new).evidence == {
        "status": "new",
        "report": "replaced",
        "replaces": "elsewhere-41",
    }
    take(account, replaced())
    assert Order.objects.count() == 2


def test_a_replacement_ends_no_order_that_came_later_under_the_same_id(account):
    take(account, report(number="43", created_at=AT + timedelta(days=1)))
    take(account, report(number="40", client_order_id="other"))
    take(account, replaced())
    assert set(Order.objects.filter(active=True).values_list("exchange_id", flat=True)) == {40, 42, 43}


def test_an_order_that_the_list_does_not_have_is_read_over_rest(account):
    questions = OrderReading.objects.filter(answered_at=None)
    take(account, report(), report(number="42", client_order_id="other"))
    margin_one = report(number="50", client_order_id="margin")
    take(account, margin_one, margin=True)
    stream.store(account=account, event=BecameLive(), now=clock.now())
    listed = Reports(margin=False, records=(report(),), is_complete=True, age_ms=60_000)
    stream.store(account=account, event=listed, now=clock.now())
    assert not questions.exists()  # both were told of after the list was asked for
    unreadable = Reports(margin=False, records=(), is_complete=True, unread=(Unread("{}", "no id"),))
    stream.store(account=account, event=unreadable, now=clock.now())
    assert not questions.exists()
    take(account, report(), is_complete=True)
    assert questions.count() == 1
    assert FollowerState.objects.get(name=f"trading stream:{account.pk}").gaps_closed == 1
    assert Order.objects.get(exchange_id=42).active  # how it ended is not in the list


# Our own orders ------------------------------------------------------------------------------------------------------


def ours(account, operator, state):
    at = clock.now()
    row = Order(
        account=account,
        initiator=operator,
        request_key="a",
        client_order_id="elsewhere-41",
        symbol="ETHBTC",
        side="sell",
        type="limit",
        time_in_force="GTC",
        quantity=Decimal(2),
        price=Decimal("0.05"),
    )
    machine.create(row, event="asked", now=at, actor=row.initiator)
    machine.move(row, event="claimed", to="sending", now=at, sends=1)
    if state != "sending":
        events = {"unknown": "answer_lost", "refused": "refused", "not_sent": "not_sent", "not_seen": "answer_lost"}
        machine.move(row, event=events[state], to="unknown" if state == "not_seen" else state, now=at)
    if state == "not_seen":
        machine.move(row, event="not_seen", to="not_seen", now=at)
    return row


@pytest.mark.parametrize("state", ["unknown", "not_seen", "refused", "not_sent"])
def test_an_order_of_ours_whose_answer_was_lost_is_found_by_its_id_in_a_report(account, operator, state):
    row = ours(account, operator, state)
    take(account, *LIFE)
    row.refresh_from_db()
    assert (row.state, row.exchange_id, row.status, row.sends) == ("found", 41, "filled", 1)
    assert Order.objects.count() == 1
    assert AccountTrade.objects.count() == 2
    take(account, *LIFE)
    assert Order.objects.get().version == row.version


def test_reports_of_an_order_on_its_way_wait_for_the_answer_of_its_worker(account, operator):
    row = ours(account, operator, "sending")
    event = Reports(margin=False, records=LIFE, is_complete=False)
    early = stream.store(account=account, event=event, now=clock.now())
    row.refresh_from_db()
    assert (row.state, row.exchange_id, early.records) == ("sending", None, LIFE)
    assert not AccountTrade.objects.exists()
    answer = order_records.from_report(LIFE[0])
    placed = order_records.observed_columns(answer, now=clock.now())
    machine.move(row, event="accepted", to="placed", now=clock.now(), exchange_id=41, **placed)
    assert stream.store(account=account, event=early, now=clock.now()) is None
    assert (order().state, order().status, order().average_price) == ("placed", "filled", Decimal("0.05"))


def test_a_report_that_it_is_over_confirms_a_cancel_of_ours(account, operator):
    take(account, report())
    row = machine.move(order(), event="cancel_asked", to="cancelling", now=clock.now(), actor=operator)
    take(account, report("partiallyFilled", filled="0.5", after=3))
    assert (order().state, order().cum_quantity) == ("cancelling", Decimal("0.5"))
    take(account, report("canceled", filled="0.5", after=4))
    assert (order().state, order().status, order().active) == ("placed", "canceled", False)
    with pytest.raises(machine.CannotMove):  # the worker in the middle of it
        machine.move(row, event="cancel_claimed", to="cancelling", now=clock.now())
    assert OrderEvent.objects.filter(order=order(), event="cancel_confirmed").count() == 1


# Margin --------------------------------------------------------------------------------------------------------------


def margin_account(*, after=0, balance="100", position="none", symbol="BTCUSD", reason="updated"):
    held = None
    if position != "none":
        held = records.Position(
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
        position=held,
    )


def take_margin(account, *found, is_complete=False):
    stream.store(account=account, event=MarginAccounts(records=found, is_complete=is_complete), now=clock.now())


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
    take_margin(account, margin_account(after=1, position="1", reason="meltdown"), is_complete=True)
    assert open_margin() == ({"BTCUSD": Decimal(100)}, {"BTCUSD": Decimal(1)})
    take_margin(account, margin_account(after=2), is_complete=True)
    assert open_margin() == ({"BTCUSD": Decimal(100)}, {})


def test_a_list_with_something_unreadable_ends_nothing(account):
    take_margin(account, margin_account(position="1"))
    event = MarginAccounts(records=(), is_complete=True, unread=(Unread("{}", "no symbol"),))
    stream.store(account=account, event=event, now=clock.now())
    assert open_margin()[0] == {"BTCUSD": Decimal(100)}


# Racing: what decides is the exchange's time of change, then when it was certainly so -------------------------------

EARLIER = timedelta(seconds=5)


class Listed:
    """A reading over REST, with what the exchange answered."""

    def __init__(self, *found, positions=None):
        held = [one.position for one in found if one.position is not None]
        self.accounts, self.positions = list(found), held if positions is None else positions

    def get_margin_accounts(self):
        return Listing(self.accounts)

    def get_margin_positions(self):
        return Listing(self.positions)


def read_margin(account, listed, *, began):
    assert margin.sync(account=account, client=listed, now=began) == []


def test_a_reading_that_began_before_a_report_opens_no_position_that_ended_since(account):
    began = clock.now() - EARLIER
    take_margin(account, margin_account(position="2"))
    take_margin(account, margin_account(after=1, reason="closed"))
    read_margin(account, Listed(margin_account(position="2")), began=began)
    read_margin(account, Listed(margin_account(position="2")), began=clock.now())
    assert open_margin() == ({"BTCUSD": Decimal(100)}, {})


def test_a_reading_that_knows_more_counts_although_it_began_earlier(account):
    began = clock.now() - EARLIER
    take_margin(account, margin_account(position="2"))
    read_margin(account, Listed(margin_account(after=2, balance="70", position="3")), began=began)
    take_margin(account, margin_account(after=1, balance="80", position="2.5"))
    assert open_margin() == ({"BTCUSD": Decimal(70)}, {"BTCUSD": Decimal(3)})


def test_a_list_ends_nothing_that_was_told_after_it_was_asked_for(account):
    take_margin(account, margin_account(position="1"))
    event = MarginAccounts(records=(), is_complete=True, age_ms=60_000)
    stream.store(account=account, event=event, now=clock.now())
    read_margin(account, Listed(), began=clock.now() - EARLIER)
    assert open_margin() == ({"BTCUSD": Decimal(100)}, {"BTCUSD": Decimal(1)})
    read_margin(account, Listed(), began=clock.now())
    assert open_margin() == ({}, {})


def test_of_one_millisecond_the_later_telling_counts(account):
    began = clock.now() - EARLIER
    take_margin(account, margin_account(balance="90"))
    read_margin(account, Listed(margin_account(balance="80")), began=began)
    assert open_margin()[0] == {"BTCUSD": Decimal(90)}
    read_margin(account, Listed(margin_account(balance="80")), began=clock.now())
    assert open_margin()[0] == {"BTCUSD": Decimal(80)}


@pytest.mark.parametrize("numbers", list(permutations(range(4))))
def test_margin_ends_as_it_ended_in_whichever_order_it_is_told(account, numbers):
    life = (
        margin_account(reason="created"),
        margin_account(after=1, position="2", reason="openTrade"),
        margin_account(after=2, balance="95", position="-1", reason="flipTrade"),
        margin_account(after=3, balance="94", reason="closed"),
    )
    for number in (*numbers, *numbers):
        take_margin(account, life[number])
    assert open_margin() == ({"BTCUSD": Decimal(94)}, {})


def test_the_word_for_the_last_change_is_kept_as_it_came(account):
    take_margin(account, margin_account(reason="meltdown"))
    take_margin(account, margin_account(after=1, reason="status"), is_complete=True)
    read_margin(account, Listed(margin_account(after=2, reason=None)), began=clock.now())
    assert MarginAccount.objects.get().reason == "meltdown"
    take_margin(account, margin_account(after=3, reason="x" * 999))
    assert MarginAccount.objects.get().reason == "x" * 40
