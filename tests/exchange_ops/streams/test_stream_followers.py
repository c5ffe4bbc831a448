"""The followers of the trading stream, against the sandbox, and of the public one, against a scripted exchange."""

import json
import threading
import time
from datetime import timedelta
from decimal import Decimal

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from desk import clock
from exchange_ops.followers import MarketFollower, TradingFollower
from exchange_ops.keys import store as keys
from exchange_ops.keys.models import ApiKey
from exchange_ops.margin.models import MarginAccount
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade, Ticker
from exchange_ops.orders.models import AccountTrade, Order
from exchange_ops.shared.models import FollowerState
from exchange_ops.wire.market_session import MarketPace
from exchange_ops.wire.new_orders import NewOrder
from tests.bounds import stretched
from tests.exchange_ops.test_followers import QUICK, until
from tests.exchange_ops.wire.test_market_session import book, candle, ticker, trade

pytestmark = [pytest.mark.django_db(transaction=True)]


def state(name):
    return FollowerState.objects.filter(name=name).first()


def is_live(name):
    return until(lambda: state(name) is not None and state(name).connected)


# Trading, against the sandbox ----------------------------------------------------------------------------------------


@pytest.fixture
def trading(account, demo_keys, sandbox, run):
    """A running follower of the demo account's orders that is already live; gives the name of its row."""
    name = f"trading stream:{account.pk}"

    def begin(*, wait=True):
        run(TradingFollower(account, base_url=sandbox.ws_url, now=clock.now, rhythm=QUICK))
        assert not wait or is_live(name)
        return name

    return begin


def place(client, number, price="0.001", **changes):
    members = {"symbol": "ETHBTC", "side": "buy", "quantity": Decimal("0.1"), "price": Decimal(price), **changes}
    return client.create_order(order=NewOrder(client_order_id=f"elsewhere-{number}", **members))


def test_orders_placed_and_cancelled_elsewhere_arrive_as_they_happen(trading, client_as):
    exchange = client_as("demo-trade")
    before = place(exchange, 1)
    trading()
    assert Order.objects.get(exchange_id=before.id).active
    after = place(exchange, 2)
    assert until(lambda: Order.objects.filter(exchange_id=after.id, status="new").exists(), seconds=2)
    exchange.cancel_order(client_order_id="elsewhere-2")
    assert until(lambda: Order.objects.filter(exchange_id=after.id, status="canceled", active=False).exists())


def test_trades_arrive_with_their_figures_once(trading, client_as):
    exchange = client_as("demo-trade")
    trading()
    done = place(exchange, 1, price="1", quantity=Decimal("0.2"))
    assert until(lambda: Order.objects.filter(exchange_id=done.id, status="filled").exists())
    ids = sorted(one.id for one in done.trades_report)
    ours = AccountTrade.objects.filter(exchange_order_id=done.id).order_by("exchange_id")
    assert until(lambda: [one.exchange_id for one in ours.all()] == ids)
    assert sum(one.quantity for one in ours.all()) == Decimal("0.2")


@pytest.mark.parametrize("kind", ["drop", "gap", "duplicate", "reorder", "silence"])
def test_whatever_happens_to_a_report_every_order_is_known_at_last(trading, sandbox, client_as, kind):
    exchange = client_as("demo-trade")
    trading()
    sandbox.control("faults", {"operation": "report", "kind": kind, "times": 1})
    made = [place(exchange, number).id for number in range(3)]
    known = Order.objects.filter(exchange_id__in=made, status="new")
    assert until(lambda: known.count() == 3)
    assert Order.objects.count() == 3


def test_a_margin_account_appears_and_goes(trading, client_as):
    exchange = client_as("demo-trade")
    trading()
    exchange.call("set_margin_account", symbol="BTCUSD", marginBalance=Decimal(1000))
    rows = MarginAccount.objects.filter(symbol="BTCUSD")
    assert until(lambda: rows.filter(margin_balance=1000, gone_at=None).exists(), seconds=3)
    exchange.call("close_margin_account", symbol="BTCUSD")
    assert until(lambda: rows.exclude(gone_at=None).exists(), seconds=3)


def test_a_stream_without_a_key_that_may_trade_says_so(account, trading, demo_keys):
    keys.disable(key=demo_keys["demo-trade"], actor=None, now=clock.now())
    name = trading(wait=False)
    assert until(lambda: state(name) is not None and "no active key" in state(name).problem)


def test_a_wrong_secret_is_noted_on_the_key(account, trading, demo_keys):
    keys.disable(key=demo_keys["demo-trade"], actor=None, now=clock.now())
    secret = keys.Secret("not the secret")
    keys.add(
        account=account,
        label="wrong",
        login="demo-full",
        secret=secret,
        rights=[keys.Right.ORDERS],
        actor=None,
        now=clock.now(),
    )
    trading(wait=False)
    assert until(lambda: "1002" in ApiKey.objects.get(login="demo-full").last_problem)


# Markets, against a scripted exchange --------------------------------------------------------------------------------


class Scripted:
    """A tiny exchange: confirms every request, tells a snapshot after each subscription, and what the test wants."""

    def __init__(self):
        self.requests, self.sockets, self.sequence = [], [], 10
        self.server = serve(self._talk, "127.0.0.1", 0)
        self.url = f"ws://127.0.0.1:{self.server.socket.getsockname()[1]}"
        self.paths = []
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def _talk(self, socket):
        self.paths.append(socket.request.path)
        self.sockets.append(socket)
        try:
            for text in socket:
                frame = json.loads(text)
                self.requests.append((frame["method"], frame["params"].get("symbol")))
                socket.send(json.dumps({"jsonrpc": "2.0", "result": True, "id": frame["id"]}))
                self._snapshot(socket, frame["method"], frame["params"])
        except ConnectionClosed:
            return

    def _snapshot(self, socket, method, params):
        columns = {
            "subscribeTicker": ("ticker", ticker()),
            "subscribeOrderbook": ("snapshotOrderbook", book(self.sequence, ask=[("11", "1")], bid=[("10", "1")])),
            "subscribeTrades": ("snapshotTrades", {"data": [trade(1), trade(2)]}),
            "subscribeCandles": ("snapshotCandles", {"data": [candle()], "period": params.get("period")}),
        }
        if method in columns:
            name, members = columns[method]
            self.tell(name, {**members, "symbol": params["symbol"]}, socket)

    def tell(self, method, params, socket=None):
        frame = {"jsonrpc": "2.0", "method": method, "params": params}
        (socket or self.sockets[-1]).send(json.dumps(frame))

    def update(self, step=1, **sides):
        self.sequence += step
        self.tell("updateOrderbook", book(self.sequence, **sides))

    def count(self, method):
        return [name for name, _ in self.requests].count(method)


@pytest.fixture
def exchange():
    scripted = Scripted()
    yield scripted
    scripted.server.shutdown()


@pytest.fixture
def market(exchange, run, settings):
    settings.MARKET_PINNED = []

    def begin(**options):
        MarketLook.objects.create(symbol="ETHBTC", period="M30", asked_at=clock.now())
        pace = MarketPace(between_ms=0, silence_ms=1_500)
        run(MarketFollower(base_url=exchange.url, now=clock.now, rhythm=QUICK, market_pace=pace, **options))
        assert until(lambda: BookSnapshot.objects.exists() and Candle.objects.exists())

    return begin


def best_ask():
    return BookSnapshot.objects.get().ask[0]


def test_what_is_looked_at_is_followed_and_kept(exchange, market):
    market()
    assert exchange.paths == ["/api/2/ws/public"]
    assert until(lambda: Ticker.objects.exists() and PublicTrade.objects.count() == 2)
    exchange.update(ask=[("10.5", "7")])
    exchange.tell("updateTrades", {"data": [trade(3)], "symbol": "ETHBTC"})
    exchange.tell("ticker", ticker(last="1.25", timestamp="2026-11-20T10:00:01.000Z"))
    assert until(lambda: best_ask() == ["10.5", "7"] and PublicTrade.objects.count() == 3)
    assert until(lambda: Ticker.objects.get().last == Decimal("1.25"))
    look = MarketLook.objects.get()
    assert None not in (look.book_read_at, look.trades_read_at, look.candles_read_at)
    assert state("market stream").connected


def test_a_symbol_that_is_looked_at_later_is_added_and_one_that_nobody_looks_at_any_more_left(exchange, market):
    market()
    MarketLook.objects.create(symbol="BTCUSD", period="M30", asked_at=clock.now())
    assert until(lambda: ("subscribeTicker", "BTCUSD") in exchange.requests)
    MarketLook.objects.filter(symbol="ETHBTC").update(asked_at=clock.now() - timedelta(minutes=5))
    assert until(lambda: ("unsubscribeOrderbook", "ETHBTC") in exchange.requests)
    assert ("unsubscribeTicker", "BTCUSD") not in exchange.requests


def test_a_book_that_lost_an_update_is_asked_for_anew_and_never_kept_wrong(exchange, market):
    market()
    exchange.update(step=2, ask=[("10.2", "1")])
    assert until(lambda: exchange.count("subscribeOrderbook") == 2)
    exchange.update(ask=[("10.4", "3")])
    assert until(lambda: best_ask() == ["10.4", "3"])
    assert state("market stream").gaps_closed == 1
    assert len(exchange.sockets) == 1


def test_a_socket_that_breaks_is_made_again_with_everything_that_was_followed(exchange, market):
    market()
    exchange.sequence = 500
    exchange.sockets[-1].socket.shutdown(2)
    assert until(lambda: exchange.count("subscribeOrderbook") == 2 and exchange.count("subscribeCandles") == 2)
    exchange.update(ask=[("10.1", "9")])
    assert until(lambda: best_ask() == ["10.1", "9"])
    assert state("market stream").reconnects == 1


def test_an_exchange_that_says_nothing_is_left_and_tried_again(exchange, run, settings):
    settings.MARKET_PINNED = []
    MarketLook.objects.create(symbol="ETHBTC", period="M30", asked_at=clock.now())
    pace = MarketPace(between_ms=0, quiet_ms=500)
    run(MarketFollower(base_url=exchange.url, now=clock.now, rhythm=QUICK, market_pace=pace))
    assert until(lambda: len(exchange.sockets) >= 2)
    assert until(lambda: "No market data from the exchange" in state("market stream").problem)


def test_nonsense_costs_nothing_and_too_much_of_it_the_session(exchange, market):
    market()
    exchange.sockets[-1].send("nonsense")
    exchange.tell("weather", {"rain": True})
    exchange.update(ask=[("10.3", "2")])
    assert until(lambda: best_ask() == ["10.3", "2"])
    assert len(exchange.sockets) == 1
    for _ in range(60):
        exchange.sockets[0].send("nonsense")
    assert until(lambda: len(exchange.sockets) == 2)


def test_hundreds_of_messages_are_written_about_once_a_second(exchange, market):
    market()
    began = time.monotonic()
    for number in range(400):
        exchange.update(ask=[("10.9", str(number + 1))])
    assert until(lambda: best_ask() == ["10.9", "400"], seconds=3)
    assert time.monotonic() - began < stretched(3)
    assert exchange.count("subscribeOrderbook") == 1
