"""What the ticket says before anything is placed: the fill by the book, shares of the balance; and margin, commissions,
rounding as they are sent."""

from datetime import timedelta
from decimal import Decimal

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


@pytest.mark.django_db
def test_a_market_order_eats_levels_at_a_reckoned_average(book):
    found = estimate.from_book(requested=wanted(**MARKET), symbol=book)
    assert (found.filled, found.levels, found.average, found.worst) == (2, 2, Decimal("502.5"), 505)
    assert (found.slippage, found.deepest, found.remaining) == (Decimal("0.50"), Decimal("1.00"), 0)
    assert found.fee == Decimal(1005) * Decimal("0.001")
    assert not found.short
    sold = estimate.from_book(requested=wanted(side="sell", **MARKET), symbol=book)
    assert (sold.average, sold.worst, sold.slippage) == (Decimal("494.5"), 490, Decimal("0.90"))


@pytest.mark.django_db
def test_a_limit_takes_what_it_crosses_and_the_rest_rests_for_the_makers_rate(book):
    found = estimate.from_book(requested=wanted(price=Decimal(500), quantity=Decimal(3)), symbol=book)
    assert (found.filled, found.remaining, found.lapses, found.short) == (1, 2, False, False)
    assert found.fee == Decimal(500) * Decimal("0.001") - Decimal(1000) * Decimal("0.0001")
    resting = estimate.from_book(requested=wanted(price=Decimal(400)), symbol=book)
    assert (resting.filled, resting.average, resting.fee) == (0, None, Decimal("-0.08"))
    assert resting.rebate == Decimal("0.08")


@pytest.mark.django_db
def test_what_lapses_is_cancelled_or_larger_than_the_book_is_said(book):
    ioc = estimate.from_book(requested=wanted(price=Decimal(500), time_in_force="IOC"), symbol=book)
    assert (ioc.filled, ioc.remaining, ioc.lapses) == (1, 1, True)
    fok = estimate.from_book(requested=wanted(price=Decimal(500), time_in_force="FOK"), symbol=book)
    assert (fok.filled, fok.remaining, fok.lapses, fok.cancelled) == (0, 2, True, False)
    posted = estimate.from_book(requested=wanted(post_only=True), symbol=book)
    assert (posted.cancelled, posted.filled) == (True, 0)
    assert not estimate.from_book(requested=wanted(post_only=True, price=Decimal(499)), symbol=book).cancelled
    large = estimate.from_book(requested=wanted(quantity=Decimal(9), **MARKET), symbol=book)
    assert (large.filled, large.remaining, large.short) == (4, 5, True)
    assert (
        estimate.from_book(requested=wanted(type="stopMarket", price=None, stop_price=Decimal(600)), symbol=book)
        is None
    )


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
    said = ("about 2.0000 BCH", "in 2", "levels of the book", "502.5", "0.50 % on average", "0.1 % as taker", "usual")
    for words in said:
        assert words in page, words
    assert 'data-fill="id_quantity" data-value="19.782"' in page  # 10000 / (505 * 1.001)
    assert 'data-tick="0.01"' in page
    assert "rests in the book" in figures(signed_in(operator), price="400")
    assert "post-only cancels it" in figures(signed_in(operator), price="505", post_only="on")
    whole = signed_in(operator).get("/orders/new/?symbol=BCHUSD&price=400").content.decode()
    assert 'data-value="24.975"' in whole
    assert whole.count('id="shares"') == 1


@pytest.mark.django_db
def test_commission_margin_and_rounding_stand_in_the_words_and_in_the_row(signed_in, operator, book):
    now, account = clock.now(), Account.objects.get()
    Symbol.objects.update(margin_trading=True)
    terms = {"take_markup": "0.1", "rounded": "on", "price": "400.005", "quantity": "0.5006", "margin": "on"}
    assert "open one with collateral first" in figures(signed_in(operator), **terms)
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
    effect = "Place buy order: 0.501 BCH at 400 USD (on margin, commission 0.1 % taking)"
    assert effect in figures(signed_in(operator), **terms)
    assert "100.00 USD" in figures(signed_in(operator), **terms).split("Free collateral", 1)[1]
    assert signed_in(operator).post("/orders/new/", typed(effect=effect, **terms)).status_code == 302
    row = Order.objects.get()
    assert (row.margin, row.strict_validate, row.quantity, row.price) == (True, False, Decimal("0.501"), Decimal(400))
    assert row.take_liquidity_markup == Decimal("0.001")
    assert "More collateral would be needed" in figures(signed_in(operator), **terms | {"quantity": "3"})


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
    assert "It would eat 20.00 % deep into the book, to 600" in said("3.5")["quantity"]
    assert "larger than the known book" in said("9")["quantity"]
    assert "not known well enough" in said("1", at=now + timedelta(hours=1))["quantity"]


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
    with pytest.raises(workflow.CannotPlace, match="no margin account"):
        dealing.place(symbol="LTCBTC", margin=True)


def own_rates(now, **changes):
    columns = {"take_liquidity_rate": Decimal("0.002"), "provide_liquidity_rate": Decimal("-0.0005"), "read_at": now}
    columns |= {"requested_at": now, "answered_at": now} | changes
    return FeeRates.objects.create(account=Account.objects.get(), symbol="BCHUSD", **columns)


@pytest.mark.django_db
def test_the_ticket_reckons_with_the_accounts_own_rates_and_says_whose_they_are(signed_in, operator, book):
    own_rates(clock.now())
    page = figures(signed_in(operator), price="505", quantity="2")
    for words in ("0.2 % as taker", "the account’s own rates, read", "2.01"):
        assert words in page, words
    assert 'data-value="19.762"' in page  # 10000 / (505 * 1.002)
    assert "0.05 % as maker" in figures(signed_in(operator), price="400")
    stop = figures(signed_in(operator), type="stopMarket", stop_price="600", price="")
    assert "at most about 0.60 USD" in stop
    assert "the account’s own rates" in stop
    short = figures(signed_in(operator), price="400", quantity="24.96")
    assert "More than 10,003.968 USD would be needed with the fee" in short


@pytest.mark.django_db
def test_rates_that_are_a_day_old_are_not_reckoned_with(signed_in, operator, book):
    old = clock.now() - timedelta(days=1)
    row = own_rates(old, problem="The exchange can't be asked at the moment.", answered_at=clock.now())
    page = figures(signed_in(operator), price="505", quantity="2")
    assert "0.1 % as taker" in page
    assert "the symbol’s usual rates" in page
    assert "can&#x27;t be asked at the moment" in page
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
    assert "can't be asked" in FeeRates.objects.get().problem
    assert ask(timedelta(hours=2)) == own
    dealing.sandbox.control("faults", method="DELETE")
    late = ask(timedelta(hours=25))
    assert (late.take, late.read_at) == (symbol.take_liquidity_rate, None)
    fill(timedelta(hours=25))
    assert ask(timedelta(hours=25)).take == Decimal("0.0007")
