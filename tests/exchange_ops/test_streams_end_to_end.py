"""The followers of orders and of markets on the sandbox's own sockets: what happens there is in the desk's rows.

Nothing here reads over REST unless a test says so: what arrives was told.
"""

import threading
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import count
from random import Random

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.urls import reverse

from desk import clock
from exchange_ops.followers import MarketFollower, TradingFollower
from exchange_ops.keys import store as keys
from exchange_ops.margin.models import MarginAccount, MarginPosition
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade, Ticker
from exchange_ops.orders import workflow as orders
from exchange_ops.orders.models import AccountTrade, Order, OrderEvent, OrderReading
from exchange_ops.orders.steps import trading_line
from exchange_ops.shared import public_client
from exchange_ops.shared.models import FollowerState
from exchange_ops.wire.market_session import MarketPace
from exchange_ops.wire.new_orders import NewOrder
from sandbox.serving import InProcessSandbox
from tests.exchange_ops.orders.dealings import Dealing
from tests.exchange_ops.test_followers import QUICK, until

pytestmark = [pytest.mark.django_db(transaction=True)]
WITHIN_S = 2  # far less than until the next reading over REST, and than until the next list
SYMBOL, OTHER_SYMBOL = "ETHBTC", "BTCUSD"
FAR, TICK = Decimal("0.001"), Decimal("0.000001")
ENDED = {"filled", "canceled", "expired"}


@pytest.fixture
def sandbox(settings, tmp_path):
    """A sandbox where nobody trades who isn't told to. `sandbox.again()` ends it and starts it at the same address."""
    settings.EXCHANGE_CALLS_PER_SECOND = {"market": 100_000, "trading": 100_000, "other": 100_000}
    settings.MARKET_PINNED = []
    servers = []

    def start(port=0):
        servers.append(InProcessSandbox(seed=1, still=True, data_dir=tmp_path, port=port))
        servers[-1].again = again
        settings.EXCHANGE_URL, settings.EXCHANGE_WS_URL = servers[-1].url, servers[-1].ws_url
        return servers[-1]

    def again():
        servers[-1].stop()
        return start(servers[-1].port)

    yield start()
    for server in servers:
        server.stop()


def state(name):
    return FollowerState.objects.filter(name=name).first()


def becomes_live(name):
    return until(lambda: state(name) is not None and state(name).connected)


# Orders --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def trading(account, demo_keys, sandbox, run):
    """A running follower of the demo account's orders that is already live; it asks for no list once more."""

    def begin(*, recheck_ms=60_000):
        name = f"trading stream:{account.pk}"
        FollowerState.objects.filter(name=name).update(connected=False)
        rhythm = replace(QUICK, pace=replace(QUICK.pace, recheck_ms=recheck_ms))
        follower = run(TradingFollower(account, base_url=sandbox.ws_url, now=clock.now, rhythm=rhythm))
        assert becomes_live(name)
        return follower

    return begin


@pytest.fixture
def elsewhere(client_as):
    """Somebody else's hands on the same account."""
    return client_as("demo-trade")


@pytest.fixture
def others(client_as):
    """Somebody else, who takes the other side."""
    return client_as("other-full")


def wanted(name, **changes):
    members = {"symbol": SYMBOL, "side": "buy", "quantity": Decimal("0.5"), "price": FAR, **changes}
    return NewOrder(client_order_id=name, **members)


def middle(client):
    """A price between everybody's who buys and everybody's who sells."""
    book = client.get_orderbook(symbol=SYMBOL)
    price = book.ask[0].price - TICK
    assert price > book.bid[0].price
    return price


def shows(seconds=WITHIN_S, **facts):
    return until(lambda: Order.objects.filter(**facts).exists(), seconds=seconds)


def test_every_move_of_an_order_placed_elsewhere_shows_as_it_is_reported(trading, elsewhere, others, sandbox):
    trading()
    price = middle(elsewhere)
    made = elsewhere.create_order(order=wanted("made", side="sell", quantity=Decimal(2), price=price))
    assert shows(exchange_id=made.id, status="new", active=True, initiator=None, price=price)
    others.create_order(order=wanted("a", price=price))
    assert shows(exchange_id=made.id, status="partiallyFilled", cum_quantity=Decimal("0.5"), active=True)
    others.create_order(order=wanted("b", quantity=Decimal("1.5"), price=price))
    assert shows(exchange_id=made.id, status="filled", cum_quantity=2, active=False, average_price=price)
    trades = AccountTrade.objects.filter(exchange_order_id=made.id)
    assert until(lambda: sorted(one.quantity for one in trades.all()) == [Decimal("0.5"), Decimal("1.5")])

    stopped = elsewhere.create_order(order=wanted("stop", type="stopLimit", side="sell", stop_price=FAR))
    assert shows(exchange_id=stopped.id, status="suspended", active=True, stop_price=FAR)
    elsewhere.cancel_order(client_order_id="stop")
    assert shows(exchange_id=stopped.id, status="canceled", active=False)

    today = elsewhere.create_order(order=wanted("today", time_in_force="Day"))
    assert shows(exchange_id=today.id, active=True)
    sandbox.control("clock", {"advance_ms": 86_400_000})
    assert shows(exchange_id=today.id, status="expired", active=False)


def test_a_replaced_order_is_over_and_the_new_one_open(trading, elsewhere):
    trading()
    old = elsewhere.create_order(order=wanted("old"))
    assert shows(exchange_id=old.id, active=True)
    new = elsewhere.replace_order(client_order_id="old", new_client_order_id="new", quantity=Decimal("0.7"), price=FAR)
    assert shows(exchange_id=new.id, status="new", active=True, quantity=Decimal("0.7"))
    assert shows(exchange_id=old.id, status="canceled", active=False)
    too_much = {"quantity": Decimal(10) ** 8, "price": FAR}
    answer = elsewhere.replace_order(client_order_id="new", new_client_order_id="never", **too_much)
    assert answer.id == new.id
    assert shows(exchange_id=new.id, status="canceled", active=False)
    assert Order.objects.count() == 2


def test_many_fills_at_once_are_all_there_and_the_order_as_it_is_now(trading, elsewhere, others):
    trading()
    price = middle(elsewhere)
    for number in range(40):
        others.create_order(order=wanted(f"part-{number}", quantity=Decimal("0.1"), price=price))
    made = elsewhere.create_order(order=wanted("whole", side="sell", quantity=Decimal(4), price=price))
    assert shows(exchange_id=made.id, status="filled", cum_quantity=4, average_price=price)
    assert until(lambda: AccountTrade.objects.filter(exchange_order_id=made.id).count() == 40)


@pytest.fixture
def desk(account, demo_keys, sandbox, make_person):
    """The desk trading by itself, step by step."""
    from exchange_ops.market import reference as market

    client = public_client.open_client()
    try:
        market.refresh(client=client, now=clock.now())
    finally:
        client.close()
    dealing = Dealing(account=account, sandbox=sandbox, operator=make_person("operator"))
    dealing.read_funds()
    return dealing


@pytest.fixture
def over_rest(settings):
    """Orders go over REST although the stream is live, so that its faults reach them."""
    settings.ORDERS_OVER_SOCKET = False


@pytest.mark.usefixtures("over_rest")
@pytest.mark.parametrize("kind", ["drop_after", "cut_body"])
def test_an_order_of_ours_whose_answer_was_lost_is_found_by_its_report(trading, desk, kind):
    trading()
    desk.fault("create_order", kind)
    row = desk.step(desk.place())
    assert shows(pk=row.pk, state="found", status="new", active=True)
    assert list(row.events.values_list("event", flat=True)) == ["asked", "claimed", "answer_lost", "found"]
    assert (desk.fresh(row).sends, desk.sent(), Order.objects.count()) == (1, 1, 1)


def test_an_order_over_the_socket_shows_its_fills_as_they_are_reported(trading, desk):
    trading()
    row = desk.step(desk.place(type="market", time_in_force="IOC", price=None))
    assert list(row.calls.values_list("way", "outcome")) == [("socket", "accepted")]
    assert shows(pk=row.pk, state="placed", status="filled", active=False)
    assert until(lambda: sum(trade.quantity for trade in desk.trades(row)) == Decimal("0.5"))
    trading_line.close_sockets()


@pytest.mark.usefixtures("over_rest")
def test_an_order_of_ours_shows_its_fills_although_they_were_told_before_its_answer(trading, desk, others):
    """The exchange answers late: its reports of the order and of its trades are there first."""
    trading()
    price = middle(others)
    others.create_order(order=wanted("offer", side="sell", quantity=Decimal(5), price=price))
    desk.fault("create_order", "echo_differs", field="status", value="new")  # as if the trades came after the answer
    row = desk.step(desk.place(price=price))
    assert OrderEvent.objects.get(order=row, event="accepted").evidence["status"] == "new"
    assert shows(pk=row.pk, status="filled", average_price=price, active=False)
    assert until(lambda: sum(trade.quantity for trade in desk.trades(row)) == Decimal("0.5"))


@pytest.mark.usefixtures("over_rest")
def test_a_cancel_of_ours_is_confirmed_by_the_report_when_its_answer_is_lost(trading, desk):
    trading()
    row = desk.placed()
    desk.ask_to_cancel(row)
    desk.fault("cancel_order", "drop_after")
    desk.step(row)
    assert shows(pk=row.pk, state="placed", status="canceled", active=False)
    assert desk.sent("cancel_order") == 1


def test_what_ended_while_nobody_listened_is_read_over_rest(account, trading, elsewhere, others):
    price = middle(elsewhere)
    first = trading()
    kept = elsewhere.create_order(order=wanted("kept"))
    gone = elsewhere.create_order(order=wanted("gone"))
    filled = elsewhere.create_order(order=wanted("filled", side="sell", price=price))
    assert until(lambda: Order.objects.filter(active=True).count() == 3)
    first.stop()
    first.join(3)
    elsewhere.cancel_order(client_order_id="gone")
    others.create_order(order=wanted("taker", price=price))
    trading()
    assert OrderReading.objects.filter(account=account, answered_at=None).exists()
    orders.read_all(now=clock.now(), client_for=keys.client_for, only_stale=True)
    statuses = dict(Order.objects.values_list("exchange_id", "status"))
    assert statuses == {kept.id: "new", gone.id: "canceled", filled.id: "filled"}
    assert not OrderReading.objects.filter(answered_at=None).exists()


def test_a_report_that_was_lost_is_missed_by_the_next_list_and_counted(account, trading, elsewhere, sandbox):
    trading(recheck_ms=500)
    made = elsewhere.create_order(order=wanted("made"))
    assert shows(exchange_id=made.id)
    sandbox.control("faults", {"operation": "report", "kind": "gap"})
    elsewhere.cancel_order(client_order_id="made")
    assert until(lambda: OrderReading.objects.filter(account=account, answered_at=None).exists())
    assert until(lambda: state(f"trading stream:{account.pk}").gaps_closed >= 1)


def test_words_that_nobody_knows_are_kept_and_shown(trading, elsewhere, sandbox, client, operator):
    trading()
    sandbox.control("faults", {"operation": "report", "kind": "echo_differs", "field": "status", "value": "melted"})
    sandbox.control("faults", {"operation": "report", "kind": "echo_differs", "field": "flavour", "value": {"a": [1]}})
    made = elsewhere.create_order(order=wanted("odd"))
    assert shows(exchange_id=made.id, status="melted")
    fault = {"operation": "marginAccountReport", "kind": "echo_differs", "field": "reportReason", "value": "meltdown"}
    sandbox.control("faults", fault)
    elsewhere.call("set_margin_account", symbol=SYMBOL, marginBalance=Decimal(1))
    assert until(lambda: MarginAccount.objects.filter(reason="meltdown", gone_at=None).exists(), seconds=WITHIN_S)
    client.force_login(operator)
    row = Order.objects.get(exchange_id=made.id)
    assert b"melted" in client.get(reverse("order", args=[row.pk])).content
    assert b"meltdown" in client.get(reverse("margin-symbol", args=[SYMBOL])).content


# Margin --------------------------------------------------------------------------------------------------------------


def holds(model, seconds=WITHIN_S, **facts):
    return until(lambda: model.objects.filter(symbol=SYMBOL, gone_at=None, **facts).exists(), seconds=seconds)


def ends(model):
    return until(lambda: not model.objects.filter(symbol=SYMBOL, gone_at=None).exists(), seconds=WITHIN_S)


def test_margin_accounts_orders_and_positions_follow_their_reports(trading, elsewhere, others):
    trading()
    elsewhere.call("set_margin_account", symbol=SYMBOL, marginBalance=Decimal(1))
    assert holds(MarginAccount, margin_balance=1)
    made = elsewhere.create_margin_order(order=wanted("resting"))
    assert shows(exchange_id=made.id, margin=True, active=True)
    assert until(lambda: MarginAccount.objects.get().margin_balance_orders > 0, seconds=WITHIN_S)
    elsewhere.cancel_margin_order(client_order_id="resting")
    assert shows(exchange_id=made.id, margin=True, status="canceled")
    assert holds(MarginAccount, margin_balance_orders=0)

    price = middle(elsewhere)
    others.create_order(order=wanted("offer", side="sell", quantity=Decimal(3), price=price))
    opened = elsewhere.create_margin_order(order=wanted("opens", quantity=Decimal(2), price=price))
    assert shows(exchange_id=opened.id, margin=True, status="filled")
    assert holds(MarginPosition, quantity=2, price_entry=price)
    theirs = elsewhere.call("get_margin_account", symbol=SYMBOL)
    assert holds(MarginAccount, margin_balance=theirs.margin_balance, updated_at=theirs.updated_at)
    assert until(lambda: AccountTrade.objects.filter(exchange_order_id=opened.id).exists(), seconds=WITHIN_S)
    assert OrderEvent.objects.filter(order__exchange_id=opened.id, evidence__has_key="position").exists()

    elsewhere.close_margin_position(symbol=SYMBOL)
    assert ends(MarginPosition)
    assert holds(MarginAccount)
    elsewhere.call("close_margin_account", symbol=SYMBOL)
    assert ends(MarginAccount)


# Readings and reports at once ----------------------------------------------------------------------------------------


def test_readings_and_reports_that_race_never_take_a_step_back(account, trading, elsewhere, others, sandbox):
    """Orders live and end while they are read without a pause, and reports come twice, late and in another order."""
    trading(recheck_ms=100)
    for kind in ("duplicate", "reorder"):
        sandbox.control("faults", {"operation": "report", "kind": kind, "times": 15})
    price, dice, stopping = middle(elsewhere), Random(7), threading.Event()
    reader = threading.Thread(target=_read_until, args=(stopping,))
    reader.start()
    try:
        for number in range(25):
            name = f"race-{number}"
            elsewhere.create_order(order=wanted(name, side="sell", quantity=Decimal(1), price=price))
            for part in range(dice.randrange(3)):
                others.create_order(order=wanted(f"{name}-{part}", quantity=Decimal("0.5"), price=price))
            if dice.random() < 0.4:
                elsewhere.call("cancel_orders", symbol=SYMBOL)
        elsewhere.call("cancel_orders", symbol=SYMBOL)
    finally:
        stopping.set()
        reader.join(10)
    orders.read_all(now=clock.now(), client_for=keys.client_for)
    theirs = {one.id: (one.status, one.cum_quantity) for one in elsewhere.get_order_history(limit=100).records}
    assert until(lambda: _ours() == theirs)
    for row in Order.objects.all():
        rows = [event.evidence for event in row.events.order_by("pk")]
        filled = [Decimal(one["cum_quantity"]) for one in rows if "cum_quantity" in one]
        words = [one["status"] for one in rows if "status" in one]
        assert filled == sorted(filled)
        assert not ENDED.intersection(words[:-1])


def test_margin_that_is_read_and_told_at_once_never_goes_back(trading, elsewhere, others, sandbox):
    elsewhere.call("set_margin_account", symbol=SYMBOL, marginBalance=Decimal(1))
    trading(recheck_ms=100)
    for kind in ("duplicate", "reorder"):
        sandbox.control("faults", {"operation": "marginAccountReport", "kind": kind, "times": 10})
    price, stopping, seen = middle(elsewhere), threading.Event(), []
    reader = threading.Thread(target=_read_until, args=(stopping,))
    reader.start()
    try:
        for number in range(12):
            others.create_order(order=wanted(f"offer-{number}", side="sell", quantity=Decimal(1), price=price))
            elsewhere.create_margin_order(order=wanted(f"opens-{number}", quantity=Decimal(1), price=price))
            seen.append(MarginAccount.objects.get().updated_at)
            if number % 4 == 3:
                elsewhere.close_margin_position(symbol=SYMBOL)
            elsewhere.call("set_margin_account", symbol=SYMBOL, marginBalance=Decimal(number + 2))
            seen.append(MarginAccount.objects.get().updated_at)
    finally:
        stopping.set()
        reader.join(10)
    orders.read_all(now=clock.now(), client_for=keys.client_for)
    theirs = elsewhere.call("get_margin_account", symbol=SYMBOL)
    assert seen == sorted(seen)
    assert holds(MarginAccount, margin_balance=theirs.margin_balance, updated_at=theirs.updated_at)
    assert theirs.position is None
    assert ends(MarginPosition)


def _read_until(stopping):
    try:
        while not stopping.is_set():
            orders.read_all(now=clock.now(), client_for=keys.client_for)
    finally:
        connection.close()


def _ours():
    return {row.exchange_id: (row.status, row.cum_quantity) for row in Order.objects.all()}


# Markets -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def market(sandbox, run):
    """A running follower of the markets, of which ETHBTC is looked at."""
    look(SYMBOL)
    run(MarketFollower(base_url=sandbox.ws_url, now=clock.now, rhythm=QUICK, market_pace=MarketPace(between_ms=0)))
    assert until(lambda: None not in parts_read())


def look(symbol, period="M30"):
    return MarketLook.objects.create(symbol=symbol, period=period, asked_at=clock.now())


def parts_read(symbol=SYMBOL):
    row = MarketLook.objects.filter(symbol=symbol).first()
    return (row.book_read_at, row.trades_read_at, row.candles_read_at) if row else (None,)


def is_the_exchange_s(client, symbol=SYMBOL):
    """Whether the rows of a symbol say what the exchange says now."""
    book = client.get_orderbook(symbol=symbol, depth=100)
    levels = [[(each.price, each.size) for each in side] for side in (book.ask, book.bid)]
    kept = BookSnapshot.objects.get(symbol=symbol)
    ours = [[(Decimal(price), Decimal(size)) for price, size in side] for side in (kept.ask, kept.bid)]
    ticker, mine = client.call("get_ticker", symbol=symbol), Ticker.objects.get(symbol=symbol)
    names = ("ask", "bid", "last", "open", "low", "high", "volume", "volume_quote")
    return levels == ours and all(getattr(ticker, name) == getattr(mine, name) for name in names)


def newest_trade(client, symbol=SYMBOL):
    return client.get_symbol_trades(symbol=symbol, limit=1).records[0].id


def trade(elsewhere, others, number, quantity="0.5"):
    price = middle(elsewhere)
    elsewhere.create_order(order=wanted(f"sell-{number}", side="sell", quantity=Decimal(quantity), price=price))
    others.create_order(order=wanted(f"buy-{number}", quantity=Decimal(quantity), price=price))


def test_what_is_looked_at_is_kept_as_the_exchange_has_it_and_goes_on(market, elsewhere, others):
    assert until(lambda: is_the_exchange_s(elsewhere))
    elsewhere.create_order(order=wanted("level"))
    trade(elsewhere, others, 1)
    assert until(lambda: is_the_exchange_s(elsewhere), seconds=4)
    trades = PublicTrade.objects.filter(symbol=SYMBOL)
    assert until(lambda: trades.filter(trade_id=newest_trade(elsewhere)).exists())
    theirs = elsewhere.get_symbol_candles(symbol=SYMBOL, period="M30", sort="DESC", limit=1).records[0]
    candles = Candle.objects.filter(symbol=SYMBOL, period="M30", timestamp=theirs.timestamp, volume=theirs.volume)
    assert until(candles.exists)
    assert (state("market stream").reconnects, state("market stream").gaps_closed) == (0, 0)


@pytest.mark.parametrize("kind", ["gap", "reorder", "duplicate"])
def test_a_book_whose_updates_are_lost_or_disordered_is_made_anew_on_the_same_socket(market, elsewhere, sandbox, kind):
    numbers = count(1)

    def change(**fault):
        for armed in filter(None, [fault]):
            sandbox.control("faults", {"operation": "updateOrderbook", **armed})
        elsewhere.create_order(order=wanted(f"level-{(number := next(numbers))}", price=FAR + TICK * number))
        assert until(lambda: not sandbox.control("faults")["faults"])

    def is_noticed():
        """A second snapshot, a second after the first, makes good what was lost before it: then once more."""
        change(kind=kind)
        change()
        return until(lambda: state("market stream").gaps_closed == 1, seconds=0.5)

    assert until(is_noticed, seconds=2 if kind == "duplicate" else 10) is (kind != "duplicate")
    assert until(lambda: is_the_exchange_s(elsewhere))
    assert state("market stream").reconnects == 0


def test_symbols_and_periods_come_and_go_and_an_unknown_one_is_refused_by_itself(market, elsewhere, others, sandbox):
    full = sandbox.followed_topics()
    assert full == 4
    MarketLook.objects.create(symbol="NOPE", period="M30", asked_at=clock.now())
    look(OTHER_SYMBOL, "H1")
    look(SYMBOL, "M1")
    assert until(lambda: None not in parts_read(OTHER_SYMBOL))
    assert until(lambda: is_the_exchange_s(elsewhere, OTHER_SYMBOL))
    assert until(lambda: Candle.objects.filter(symbol=SYMBOL, period="M1").exists())
    assert Candle.objects.filter(symbol=OTHER_SYMBOL, period="H1").exists()
    assert until(lambda: "2001 Symbol not found" in state("market stream").problem)
    assert sandbox.followed_topics() == full + 5
    MarketLook.objects.exclude(symbol=OTHER_SYMBOL).update(asked_at=clock.now() - timedelta(minutes=5))
    assert until(lambda: sandbox.followed_topics() == 4)
    assert state("market stream").reconnects == 0


def test_after_a_restart_of_the_exchange_everything_is_followed_again(account, market, trading, sandbox, client_as):
    trading()
    names = ("market stream", f"trading stream:{account.pk}")
    kept = client_as("demo-trade").create_order(order=wanted("kept"))
    assert shows(exchange_id=kept.id)
    fresh = sandbox.again()
    assert until(lambda: all(state(name).connected and state(name).reconnects for name in names))
    elsewhere = client_as("demo-trade")
    assert django_settings.EXCHANGE_URL == fresh.url
    assert until(lambda: is_the_exchange_s(elsewhere))
    elsewhere.cancel_order(client_order_id="kept")
    assert shows(exchange_id=kept.id, status="canceled")
    assert until(lambda: is_the_exchange_s(elsewhere))
