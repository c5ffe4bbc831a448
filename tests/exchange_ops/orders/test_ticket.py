"""What the ticket says before anything is placed: the fill by the book, shares of the balance; and margin, commissions,
rounding as they are sent."""

import re
from datetime import timedelta
from decimal import Decimal
from html import unescape

import pytest

from desk import clock
from exchange_ops.margin.models import MarginAccount
from exchange_ops.market.models import BookSnapshot, Symbol
from exchange_ops.orders import policy_checks, workflow
from exchange_ops.orders.forms import fit_to_step
from exchange_ops.orders.models import FeeRates, Order
from exchange_ops.orders.request_checks import OrderRequest
from exchange_ops.orders.ticket import estimate, fee_rates, shares
from exchange_ops.policy import quorum
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.shared.models import Account
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.test_new_order import figures, typed

ASK = [["500", "1"], ["505", "2"], ["600", "1"]]
BID = [["499", "1"], ["490", "3"]]


@pytest.fixture
def book(db):
    now = clock.now()
    order_rows.market(now=now)
    BookSnapshot.objects.create(symbol="BCHUSD", timestamp=now, ask=ASK, bid=BID, read_at=now)
    Symbol.objects.filter(pk="BCHUSD").update(provide_liquidity_rate=Decimal("-0.0001"))
    return Symbol.objects.get(pk="BCHUSD")


def wanted(**changes):
    base = {"symbol": "BCHUSD", "side": "buy", "type": "limit", "time_in_force": "GTC", "quantity": Decimal(2)}
    return OrderRequest(**(base | {"price": Decimal(505)} | changes))


MARKET = {"type": "market", "time_in_force": "IOC", "price": None}


RATES = fee_rates.Rates(Decimal("0.001"), Decimal("-0.0001"))
IOC, FOK = {"time_in_force": "IOC"}, {"time_in_force": "FOK"}
SELL, SELL_STOP = {"side": "sell"}, {"side": "sell", "type": "stopMarket", "price": None}
# What is ordered; what fills at once, in how many levels, at which average; what is left and whether it lapses; cost or
# proceeds. The fee is the difference between value and total, of the same fill.
FILLS = [
    (MARKET, ("2", 2, "502.5", "0", True), "1005", "1006.005"),
    (MARKET | SELL, ("2", 2, "494.5", "0", True), "989", "988.011"),
    (MARKET | {"quantity": "9"}, ("4", 3, "527.5", "5", True), "2110", "2112.11"),
    (MARKET | SELL | {"quantity": "9"}, ("4", 2, "492.25", "5", True), "1969", "1967.031"),
    (MARKET | FOK | {"quantity": "9"}, ("0", 0, None, "9", True), "0", "0"),
    ({"price": "500", "quantity": "3"}, ("1", 1, "500", "2", False), "1500", "1500.4"),
    ({"price": "400"}, ("0", 0, None, "2", False), "800", "799.92"),
    (SELL | {"price": "1", "quantity": "0.01"}, ("0.01", 1, "499", "0", False), "4.99", "4.985"),
    (SELL | {"price": "700"}, ("0", 0, None, "2", False), "1400", "1400.14"),
    ({"price": "1000000"}, ("2", 2, "502.5", "0", False), "1005", "1006.005"),
    ({"price": "1000000", "quantity": "9"}, ("4", 3, "527.5", "5", False), "5002110", "5001612.11"),
    (IOC | {"price": "500"}, ("1", 1, "500", "1", True), "500", "500.5"),
    (FOK | {"price": "500"}, ("0", 0, None, "2", True), "0", "0"),
    (FOK | {"price": "505"}, ("2", 2, "502.5", "0", True), "1005", "1006.005"),
    ({"post_only": True}, ("0", 0, None, "2", True), "0", "0"),
    ({"post_only": True, "price": "499"}, ("0", 0, None, "2", False), "998", "997.9002"),
    ({"take_liquidity_markup": "0.01", "price": "600", "quantity": "1"}, ("1", 1, "500", "0", False), "500", "505.5"),
    # The last trade was at 495: a buy stop above it and a sell stop below it wait, the others are triggered at once.
    ({"type": "stopMarket", "price": None, "stop_price": "600"}, ("0", 0, None, "2", False), "1200", "1201.2"),
    ({"type": "stopMarket", "price": None, "stop_price": "490"}, ("2", 2, "502.5", "0", True), "1005", "1006.005"),
    (SELL_STOP | {"stop_price": "400"}, ("0", 0, None, "2", False), "800", "799.2"),
    (SELL_STOP | {"stop_price": "900000"}, ("2", 2, "494.5", "0", True), "989", "988.011"),
    ({"type": "stopLimit", "price": "620", "stop_price": "600"}, ("0", 0, None, "2", False), "1240", "1241.24"),
    ({"type": "stopLimit", "price": "500", "stop_price": "490"}, ("1", 1, "500", "1", False), "1000", "1000.45"),
]


def figure(value):
    return Decimal(value) if isinstance(value, str) else value


def simulated(changes, **options):
    changes = {name: figure(value) if value not in {"sell", *TERMS} else value for name, value in changes.items()}
    requested = wanted(**changes)
    side = ASK if requested.side == "buy" else BID
    levels = [(Decimal(price), Decimal(size)) for price, size in options.pop("side", side)]
    common = {"tick": Decimal("0.01"), "rates": RATES, "read_at": clock.now(), "last": Decimal(495)}
    return estimate.simulate(requested=requested, levels=levels, **common | options)


TERMS = {"market", "IOC", "FOK", "stopMarket", "stopLimit"}


@pytest.mark.parametrize(("changes", "fill", "value", "total"), FILLS)
def test_every_figure_of_the_summary_comes_from_one_fill(changes, fill, value, total):
    one = simulated(changes)
    filled, levels, average, remaining, lapses = fill
    assert (one.filled, one.levels, one.average) == (Decimal(filled), levels, figure(average))
    assert (one.remaining, one.lapses) == (Decimal(remaining), lapses)
    assert (one.value, one.total) == (Decimal(value), Decimal(total))
    assert abs(one.total - one.value) == abs(one.fee)
    assert one.waits == (one.filled == 0 and "stop_price" in changes)


def test_the_summary_names_slippage_a_rebate_and_the_end_of_the_book():
    market = simulated(MARKET)
    assert (market.worst, market.slippage, market.deepest) == (505, Decimal("0.50"), Decimal("1.00"))
    assert simulated({"price": "400"}).rebate == Decimal("0.08")
    assert [simulated(MARKET | {"quantity": size}).short for size in ("4", "9")] == [False, True]
    assert not simulated(FOK | {"price": "500"}).short, "the limit ends the fill, not the book"
    assert simulated({"post_only": True}).cancelled
    empty = simulated(MARKET, side=[])
    assert (empty.filled, empty.lapses, empty.short, empty.total) == (0, True, True, 0)
    unknown = simulated({"type": "stopMarket", "price": None, "stop_price": "490"}, last=None)
    assert unknown.waits, "without a last price nobody knows that the stop is reached"


@pytest.mark.django_db
def test_what_is_set_aside_is_the_most_and_never_the_cost(signed_in, operator, book):
    def words(**terms):
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", figures(signed_in(operator), **terms))).split())

    assert "Proceeds, after fee ≈ 4.985 USD" in words(side="sell", price="1", quantity="0.01")
    unfilled = words(time_in_force="FOK", price="500", quantity="2")
    assert "Cost, including fee ≈ 0.00 USD" in unfilled
    assert "Unfilled 2.0000 BCH, cancelled" in unfilled
    assert "Reserved up to 1,001.00 USD" in unfilled
    assert "Reserved up to 0.0100 BCH" in words(side="sell", price="1", quantity="0.01")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("side", "at", "available", "most"),
    [
        ("buy", "400", "10000", "24.975"),  # 10000 / 400.4 = 24.97502...
        ("buy", "1000", "1001", "0.999"),  # exactly one would need more than is there
        ("sell", "400", "10.0009", "10"),
        ("buy", "400", "0", "0"),
        ("buy", "400", "0.3", "0"),
    ],
)
def test_shares_are_exact_and_rounded_down_to_the_increment(book, side, at, available, most):
    found = shares.quarters(
        account=Account.objects.get(),
        symbol=book,
        side=side,
        at=Decimal(at),
        available=Decimal(available),
        rates=fee_rates.usual(book),
    )
    assert [share.label for share in found] == ["25 %", "50 %", "75 %", "Max"]
    assert found[-1].quantity == Decimal(most)
    assert all(share.quantity % book.quantity_increment == 0 for share in found)
    quarter = found[0].quantity * 4
    assert (
        found[-1].quantity + 4 * book.quantity_increment >= quarter >= found[-1].quantity - 4 * book.quantity_increment
    )


@pytest.mark.django_db
def test_without_a_price_a_buy_has_no_shares_and_one_at_the_market_leaves_a_tenth(book):
    terms = {"account": Account.objects.get(), "available": Decimal(10000), "rates": fee_rates.usual(book)}
    assert shares.quarters(**terms, symbol=book, side="buy", at=None) == []
    cautious = shares.quarters(**terms, symbol=book, side="buy", at=Decimal(400), has_limit=False)
    assert cautious[-1].quantity == Decimal("22.704")


@pytest.mark.django_db
def test_the_ticket_says_what_it_would_meet_and_fills_shares(signed_in, operator, book):
    page = figures(signed_in(operator), price="505", quantity="2")
    summary = (
        "≈ 2.0000 BCH",
        "across 2",
        "price levels",
        "502.5",
        "0.50 % on average",
        "1,006.005 USD",
        "default rates",
    )
    for words in summary:
        assert words in page, words
    assert 'data-fill="id_quantity" data-value="19.782"' in page  # 10000 / (505 * 1.001)
    assert 'data-tick="0.01"' in page
    assert "Rests in the book" in figures(signed_in(operator), price="400")
    assert "0, cancelled" in figures(signed_in(operator), price="505", post_only="on")
    whole = signed_in(operator).get("/orders/new/?symbol=BCHUSD&price=400").content.decode()
    assert 'data-value="24.975"' in whole
    assert whole.count('id="shares"') == 1


@pytest.mark.django_db
def test_commission_margin_and_rounding_stand_in_the_words_and_in_the_row(signed_in, operator, book):
    now, account = clock.now(), Account.objects.get()
    Symbol.objects.update(margin_trading=True)
    terms = {"take_markup": "0.1", "rounded": "on", "price": "400.005", "quantity": "0.5006", "margin": "on"}
    assert "Open one with collateral first" in figures(signed_in(operator), **terms)
    MarginAccount.objects.create(
        account=account,
        symbol="BCHUSD",
        leverage=Decimal(10),
        margin_balance=Decimal(100),
        margin_balance_orders=Decimal(0),
        margin_balance_required=Decimal(0),
        created_at=now,
        updated_at=now,
        read_at=now,
    )
    effect = "Place buy order: 0.501 BCH at 400 USD (on margin, taker markup 0.1 %)"
    assert effect in figures(signed_in(operator), **terms)
    assert "100.00 USD" in figures(signed_in(operator), **terms).split("Available collateral", 1)[1]
    assert signed_in(operator).post("/orders/new/", typed(effect=effect, **terms)).status_code == 302
    row = Order.objects.get()
    assert (row.margin, row.strict_validate, row.quantity, row.price) == (True, False, Decimal("0.501"), Decimal(400))
    assert row.take_liquidity_markup == Decimal("0.001")
    assert "Insufficient collateral" in figures(signed_in(operator), **terms | {"quantity": "3"})


@pytest.mark.django_db
def test_a_market_order_that_eats_deeper_than_the_rules_allow_is_refused_by_name(operator, book):
    account, now = Account.objects.get(), clock.now()
    quorum.ensure_first(now=now)
    number = quorum.current().number + 1
    PolicyVersion.objects.create(number=number, published_at=now, price_distance=Decimal(5))

    def said(quantity, at=now):
        order = wanted(quantity=Decimal(quantity), **MARKET)
        return policy_checks.problems(initiator=operator, account=account, symbol=book, requested=order, now=at)

    assert said("3") == {}
    assert "The order would move the price 20.00 %, to 600" in said("3.5")["quantity"]
    assert "larger than the visible book" in said("9")["quantity"]
    assert "no current order book" in said("1", at=now + timedelta(hours=1))["quantity"]


def test_half_a_step_goes_down_as_at_the_exchange():
    assert fit_to_step(Decimal("1.005"), Decimal("0.01")) == Decimal("1.00")
    assert fit_to_step(Decimal("1.0051"), Decimal("0.01")) == Decimal("1.01")
    assert fit_to_step(Decimal("1.005"), None) == Decimal("1.005")


def test_an_order_on_margin_is_placed_looked_for_and_cancelled_as_one(dealing):
    client = dealing.client("demo-trade")
    client.call("set_margin_account", symbol="BTCUSD", marginBalance=Decimal(1000))
    dealing.read()
    terms = {"symbol": "BTCUSD", "quantity": Decimal("0.01"), "price": Decimal(1000), "margin": True}
    row = dealing.placed(**terms, provide_liquidity_markup=Decimal("0.001"))
    assert (row.margin, row.status, dealing.sent("create_margin_order"), dealing.sent()) == (True, "new", 1, 0)
    dealing.fault("create_margin_order", "drop_after")
    lost = dealing.step(dealing.place(**terms))
    assert (lost.state, dealing.step(lost).state) == ("unknown", "found")
    assert (
        workflow.cancel_all(
            account=dealing.account, symbol="BTCUSD", newest=0, person=dealing.operator, now=clock.now()
        )
        == 2
    )
    assert dealing.step(row).status == dealing.fresh(lost).status == "canceled"
    assert (dealing.sent("cancel_margin_orders"), dealing.sent("cancel_orders")) == (1, 0)
    with pytest.raises(workflow.CannotPlace, match="No margin account"):
        dealing.place(symbol="LTCBTC", margin=True)


def own_rates(now, **changes):
    columns = {"take_liquidity_rate": Decimal("0.002"), "provide_liquidity_rate": Decimal("-0.0005"), "read_at": now}
    columns |= {"requested_at": now, "answered_at": now} | changes
    return FeeRates.objects.create(account=Account.objects.get(), symbol="BCHUSD", **columns)


@pytest.mark.django_db
def test_the_ticket_reckons_with_the_accounts_own_rates_and_says_whose_they_are(signed_in, operator, book):
    own_rates(clock.now())
    page = figures(signed_in(operator), price="505", quantity="2")
    for words in ("0.2 % as taker", "account rates, as of", "2.01"):
        assert words in page, words
    assert 'data-value="19.762"' in page  # 10000 / (505 * 1.002)
    assert "0.05 % as maker" in figures(signed_in(operator), price="400")
    stop = figures(signed_in(operator), type="stopMarket", stop_price="600", price="")
    assert "≈ 0.60 USD" in stop
    assert "triggers at 600.00 USD" in stop
    assert "account rates" in stop
    short = figures(signed_in(operator), price="400", quantity="24.96")
    assert "more than 10,003.968 USD required, including fees" in short


@pytest.mark.django_db
def test_rates_that_are_a_day_old_are_not_reckoned_with(signed_in, operator, book):
    old = clock.now() - timedelta(days=1)
    row = own_rates(old, problem="The exchange is not reachable at the moment.", answered_at=clock.now())
    page = figures(signed_in(operator), price="505", quantity="2")
    assert "0.1 % as taker" in page
    assert "default rates" in page
    assert "account rates unavailable: <bdi>The exchange is not reachable" in page
    row.refresh_from_db()
    assert row.answered_at is not None  # a problem counts for a minute: the exchange isn't asked at each key


def test_the_accounts_rates_are_read_once_an_hour_and_stay_while_the_exchange_is_away(dealing):
    dealing.sandbox.control("config", {"take_liquidity_rate": "0.0007", "provide_liquidity_rate": "-0.0001"})
    now, symbol = clock.now(), Symbol.objects.get(pk="ETHBTC")

    def ask(later=timedelta(0)):
        return fee_rates.ask(account=dealing.account, symbol=symbol, person=dealing.operator, now=now + later)

    def fill(later=timedelta(0)):
        fee_rates.fill(rates_id=FeeRates.objects.get().pk, client_for=dealing.client_for, now=now + later)

    assert ask() == fee_rates.usual(symbol)
    fill()
    own = fee_rates.Rates(Decimal("0.0007"), Decimal("-0.0001"), now)
    assert [ask(timedelta(minutes=59)), dealing.sent("get_trading_fee")] == [own, 1]
    assert (ask(timedelta(hours=2)), FeeRates.objects.get().answered_at) == (own, None)
    dealing.fault("get_trading_fee", "drop_before", times=9)
    fill(timedelta(hours=2))
    assert "not reachable" in FeeRates.objects.get().problem
    assert ask(timedelta(hours=2)) == own
    dealing.sandbox.control("faults", method="DELETE")
    late = ask(timedelta(hours=25))
    assert (late.take, late.read_at) == (symbol.take_liquidity_rate, None)
    fill(timedelta(hours=25))
    assert ask(timedelta(hours=25)).take == Decimal("0.0007")
