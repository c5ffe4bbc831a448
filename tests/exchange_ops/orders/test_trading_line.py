"""Placing, cancelling and replacing over the trading socket where it is live; outcomes are those of REST, and no order
is sent twice, whatever becomes of an answer."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.client.stream_calls import StreamClient
from exchange_ops.orders import workflow
from exchange_ops.orders.models import OrderCall
from exchange_ops.orders.steps import replacing, trading_line
from exchange_ops.shared.models import FollowerState
from exchange_ops.shared.stream_states import trading_name
from tests.exchange_ops.orders.dealings import FAR, SYMBOL
from wire.errors import OutcomeUnknown

pytestmark = [pytest.mark.django_db(transaction=True)]


@pytest.fixture
def live(dealing, settings):
    """The desk, dealing, with its trading stream said to be followed."""
    settings.EXCHANGE_WS_URL = dealing.sandbox.ws_url
    FollowerState.objects.create(name=trading_name(dealing.account), account=dealing.account, connected=True)
    yield dealing
    trading_line.close_sockets()


def ways(row):
    return list(OrderCall.objects.filter(order=row).order_by("pk").values_list("kind", "way", "outcome"))


def at_the_exchange(desk):
    """Our ids of the orders that the exchange has open."""
    return sorted(order.client_order_id for order in desk.client("demo-trade").get_orders().records)


def test_an_order_goes_and_is_cancelled_over_the_socket(live):
    row = live.placed()
    assert (row.status, row.active, ways(row)) == ("new", True, [("place", "socket", "accepted")])
    assert (live.sent(), at_the_exchange(live)) == (0, [row.client_order_id])
    live.ask_to_cancel(row)
    row = live.step(row)
    assert (row.state, row.status, row.active) == ("placed", "canceled", False)
    assert ways(row)[1] == ("cancel", "socket", "accepted")
    assert (live.sent("cancel_order"), at_the_exchange(live)) == (0, [])
    live.read()
    assert live.fresh(row).status == "canceled"


def test_one_that_meets_the_book_is_known_with_its_trades_after_the_next_reading(live):
    row = live.placed(type="market", time_in_force="IOC", price=None)
    assert ways(row) == [("place", "socket", "accepted")]
    live.read(later=timedelta(seconds=1))
    row = live.fresh(row)
    assert (row.status, row.cum_quantity) == ("filled", Decimal("0.5"))
    assert sum(trade.quantity for trade in live.trades(row)) == Decimal("0.5")


@pytest.mark.parametrize("end", [lambda client: client.close(), lambda client: client._socket.sock.shutdown(2)])
def test_a_socket_is_used_again_and_a_dead_one_is_not(live, end):
    first = live.placed()
    (held,) = trading_line._threads.sockets.values()
    live.placed()
    assert next(iter(trading_line._threads.sockets.values())).stream is held.stream
    end(held.stream)
    third = live.placed()
    assert next(iter(trading_line._threads.sockets.values())).stream is not held.stream
    assert ways(third) == ways(first) == [("place", "socket", "accepted")]
    assert len(at_the_exchange(live)) == 3


def test_switched_off_or_not_live_it_is_rest(live, settings):
    settings.ORDERS_OVER_SOCKET = False
    assert ways(live.placed()) == [("place", "rest", "accepted")]
    settings.ORDERS_OVER_SOCKET = True
    FollowerState.objects.update(connected=False)
    assert ways(live.placed()) == [("place", "rest", "accepted")]
    assert live.sent() == 2


def test_a_socket_that_does_not_open_hinders_nothing(live, settings):
    settings.EXCHANGE_WS_URL = "ws://127.0.0.1:9"
    assert ways(live.placed()) == [("place", "rest", "accepted")]


def test_what_the_socket_has_no_word_for_goes_over_rest(live):
    row = live.step(live.place(take_liquidity_markup=Decimal("0.001")))
    assert [way for _, way, _ in ways(row)] == ["rest"]


def test_a_refusal_is_a_refusal(live):
    live.fault("newOrder", "refuse", code=20001)
    row = live.step(live.place())
    assert (row.state, ways(row)) == ("refused", [("place", "socket", "refused")])
    assert "20001" in row.last_problem
    assert at_the_exchange(live) == []


def test_an_answer_that_is_lost_is_an_unknown_outcome_that_is_read_and_never_sent_again(live):
    live.placed()  # the socket is there
    live.fault("newOrder", "drop")
    row = live.step(live.place())
    assert (row.state, ways(row)) == ("unknown", [("place", "socket", "unknown")])
    row = live.step(row)
    assert (row.state, row.status) == ("found", "new")
    assert at_the_exchange(live).count(row.client_order_id) == 1
    assert (len(at_the_exchange(live)), live.sent()) == (2, 0)
    assert len(ways(row)) == 1


def test_a_worker_that_dies_after_the_frame_left_leaves_one_order(live, monkeypatch):
    class Died(BaseException):
        """The process is gone."""

    send = StreamClient.call

    def dies(self, name, **params):
        answer = send(self, name, **params)
        if name == "newOrder":
            raise Died
        return answer

    monkeypatch.setattr(StreamClient, "call", dies)
    row = live.place()
    with pytest.raises(Died):
        live.step(row)
    monkeypatch.undo()
    row = live.step(row)
    assert row.state == "unknown"
    assert live.step(row).state == "found"
    assert at_the_exchange(live) == [row.client_order_id]


def test_a_replacement_over_the_socket_takes_the_place_of_the_old_one(live):
    old = live.placed()
    new = replacing.ask(
        order_id=old.pk,
        person=live.operator,
        quantity=old.quantity,
        price=FAR * 2,
        request_key="key-of-the-replacing",
        now=clock.now(),
    )
    new = live.step(new)
    assert (new.state, ways(new)) == ("placed", [("place", "socket", "accepted")])
    old = live.step(old)
    assert (old.state, old.status, old.symbol) == ("placed", "canceled", SYMBOL)
    assert (at_the_exchange(live), live.sent("replace_order")) == ([new.client_order_id], 0)


# On margin ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def on_margin(live):
    """The same, with collateral for orders on margin."""
    trader = live.client("demo-trade")
    trader.set_margin_account(symbol=SYMBOL, margin_balance=Decimal(1))
    live.read()
    return live


def margin_orders(desk):
    """Our ids of the margin orders that the exchange has open."""
    return sorted(order.client_order_id for order in desk.client("demo-trade").get_margin_orders().records)


def replaced(desk, old, key="replacing", **changes):
    terms = {"quantity": old.quantity, "price": FAR * 2} | changes
    return replacing.ask(order_id=old.pk, person=desk.operator, request_key=key, now=clock.now(), **terms)


def test_a_margin_order_is_replaced_by_one_frame_and_what_was_filled_stays(on_margin):
    old = on_margin.placed(margin=True)
    new = on_margin.step(replaced(on_margin, old))
    assert (new.state, new.status, new.margin, ways(new)) == ("placed", "new", True, [("place", "socket", "accepted")])
    old = on_margin.step(old)
    assert (old.state, old.status, old.active) == ("placed", "canceled", False)
    assert margin_orders(on_margin) == [new.client_order_id]
    on_margin.read(later=timedelta(seconds=1))
    assert (on_margin.fresh(new).status, on_margin.fresh(new).active) == ("new", True)


@pytest.mark.parametrize("end", ["found", "not_seen"])
def test_the_lost_answer_to_a_margin_replacement_is_read_and_never_sent_again(on_margin, monkeypatch, end):
    def is_lost(self, name, **params):
        if end == "found":
            send(self, name, **params)
        raise OutcomeUnknown("nothing came back")

    old, send = on_margin.placed(margin=True), StreamClient.call
    new = replaced(on_margin, old)
    with monkeypatch.context() as patched:
        patched.setattr(StreamClient, "call", is_lost)
        new = on_margin.step(new)
    assert (new.state, ways(new)) == ("unknown", [("place", "socket", "unknown")])
    for later in (0, 0, 62):
        if on_margin.fresh(new).state == "unknown":
            new = on_margin.step(new, later=timedelta(seconds=later))
    assert (new.state, len(ways(new))) == (end, 1)
    old = on_margin.step(old)
    assert (old.state, old.active) == ("placed", end == "not_seen")
    assert margin_orders(on_margin) == [new.client_order_id if end == "found" else old.client_order_id]


def test_without_the_socket_a_margin_order_is_not_replaced_and_stays(on_margin):
    old, other = on_margin.placed(margin=True), on_margin.placed(margin=True)
    new = replaced(on_margin, old)
    FollowerState.objects.update(connected=False)  # it went between the asking and the sending
    trading_line.close_sockets()
    new = on_margin.step(new)
    assert (new.state, ways(new)) == ("not_sent", [])
    assert new.last_problem.startswith("A margin order can be replaced only over the trading stream")
    assert (on_margin.step(old).state, on_margin.fresh(old).active) == ("placed", True)
    with pytest.raises(replacing.CannotReplace, match="Cancel it and place"):
        replaced(on_margin, other, key="another")
    assert len(margin_orders(on_margin)) == 2


def test_the_collateral_that_the_old_one_holds_may_be_used_by_the_new_one(on_margin):
    price = on_margin.best_bid()
    old = on_margin.placed(margin=True, price=price, quantity=(Decimal(8) / price).quantize(Decimal("0.1")))
    on_margin.read(later=timedelta(seconds=1))
    assert replaced(on_margin, old, price=price - Decimal("0.000001")).state == "requested"
    other = on_margin.fresh(old)
    found = replacing.problems(
        other,
        replacing.changed_request(other, quantity=other.quantity * 2, price=price),
        person=on_margin.operator,
        now=clock.now(),
    )
    assert "Insufficient collateral" in found["quantity"]


@pytest.mark.parametrize("way", ["socket", "rest"])
def test_every_margin_order_is_cancelled_by_one_call_and_no_spot_order(on_margin, way):
    trader = on_margin.client("demo-trade")
    trader.set_margin_account(symbol="BTCUSD", margin_balance=Decimal(100))
    on_margin.read(later=timedelta(seconds=1))
    rows = [
        on_margin.placed(margin=True),
        on_margin.placed(margin=True, symbol="BTCUSD", price=Decimal(10), quantity=Decimal("0.001")),
        on_margin.placed(margin=True),
    ]
    spot = on_margin.placed()
    if way == "rest":
        FollowerState.objects.update(connected=False)
    count = workflow.cancel_every_margin_order(account=on_margin.account, person=on_margin.operator, now=clock.now())
    assert count == 3
    first = on_margin.step(rows[0])
    assert ways(first)[1] == ("cancel_all", way, "accepted")
    assert [on_margin.fresh(row).status for row in rows] == ["canceled"] * 3
    assert [on_margin.fresh(row).state for row in rows] == ["placed"] * 3
    assert (margin_orders(on_margin), at_the_exchange(on_margin)) == ([], [spot.client_order_id])
    assert (on_margin.fresh(spot).active, on_margin.sent("cancel_margin_order")) == (True, 0)


def test_a_lost_answer_to_cancelling_every_margin_order_is_read_order_by_order(on_margin):
    rows = [on_margin.placed(margin=True), on_margin.placed(margin=True)]
    on_margin.fault("marginOrdersCancel", "drop")
    workflow.cancel_every_margin_order(account=on_margin.account, person=on_margin.operator, now=clock.now())
    for _ in range(3):
        rows = [on_margin.step(row) for row in rows]
    assert [(row.state, row.status) for row in rows] == [("placed", "canceled")] * 2


def test_all_margin_orders_of_one_symbol_go_over_rest_which_names_it(on_margin):
    """The socket's word for all of them knows no symbol: it would cancel what nobody asked for."""
    trader = on_margin.client("demo-trade")
    trader.set_margin_account(symbol="BTCUSD", margin_balance=Decimal(100))
    on_margin.read(later=timedelta(seconds=1))
    row = on_margin.placed(margin=True)
    other = on_margin.placed(margin=True, symbol="BTCUSD", price=Decimal(10), quantity=Decimal("0.001"))
    workflow.cancel_all(account=on_margin.account, symbol=SYMBOL, newest=0, person=on_margin.operator, now=clock.now())
    assert ways(on_margin.step(row))[1] == ("cancel_all", "rest", "accepted")
    assert margin_orders(on_margin) == [other.client_order_id]
