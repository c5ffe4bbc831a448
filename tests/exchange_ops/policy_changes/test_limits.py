"""What one order or transfer may be worth, and how far a price may be from the market, by the rules in force."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import connection

from desk import clock
from desk.audit import witness_chain
from exchange_ops.market.models import Ticker
from exchange_ops.orders import workflow
from exchange_ops.orders.request_checks import CannotPlace, OrderRequest
from exchange_ops.policy import limits, quorum, room
from exchange_ops.policy.models import PolicyVersion, QuorumTier, ValueLimit
from exchange_ops.shared.models import Account
from exchange_ops.transfers.request_checks import CannotTransfer
from tests.exchange_ops import rows
from tests.rows import unguarded

pytestmark = pytest.mark.django_db


@pytest.fixture
def now():
    found = clock.now()
    quorum.ensure_first(now=found)
    rows.currency("BCH", now=found)
    rows.price("BCH", "USD", last="500", now=found)
    return found


def publish(now, *limited, distance=None):
    """The next version: the first tiers with these limits as (kind, most, person, account)."""
    number = quorum.current().number + 1
    version = PolicyVersion.objects.create(number=number, published_at=now, price_distance=distance)
    for up_to, approvals, mode in quorum.FIRST_TIERS:
        QuorumTier.objects.create(policy=version, up_to=up_to, approvals=approvals, mode=mode)
    for kind, most, person, account in limited:
        ValueLimit.objects.create(policy=version, kind=kind, most=Decimal(most), person=person, account=account)
    return version


def found(person, amount, *, now, kind="order", currency="BCH", account=None):
    where = account or rows.account()
    return limits.problem(kind=kind, person=person, account=where, amount=Decimal(amount), currency=currency, now=now)


def test_the_strictest_limit_that_fits_holds(now, operator, treasury):
    other = Account.objects.create(name="Second desk", quote_currency="USD")
    publish(now, ("order", 1000, None, None), ("order", 600, operator, None), ("order", 100, None, other))
    assert found(operator, "1.2", now=now) == ""
    assert "The policy limit is 600 USD per order; this order is 601.00 USD" in found(operator, "1.202", now=now)
    assert found(treasury, "2", now=now) == ""
    assert "limit is 1,000 USD" in found(treasury, "2.1", now=now)
    assert "limit is 100 USD" in found(operator, "1", now=now, account=other)
    assert found(operator, "1000", now=now, kind="transfer") == ""


def test_what_is_not_known_is_more_than_any_limit(now, operator):
    publish(now, ("order", 1000, None, None))
    assert "no current price" in found(operator, "0.1", now=now, currency="XRP")
    assert "no current price" in found(operator, "0.1", now=now + timedelta(hours=1))


def test_a_limit_of_an_earlier_version_holds_no_more(now, operator):
    publish(now, ("order", 1, None, None))
    publish(now)
    assert found(operator, "9", now=now) == ""


def test_a_limit_changed_past_the_desk_stops_everything(now, operator):
    publish(now, ("order", 1000, None, None))
    witness_chain.write_noted()
    with unguarded(room.GUARDS), connection.cursor() as cursor:
        cursor.execute("UPDATE exchange_ops_valuelimit SET most = '9999999'")
    assert found(operator, "0.1", now=now) == limits.CHANGED


def test_a_transfer_above_its_limit_is_not_taken(now, operator):
    publish(now, ("transfer", 100, None, None))
    rows.currency("BCH", transfer_enabled=True, now=now)
    rows.balance("BCH", now=now)
    with pytest.raises(CannotTransfer, match="The policy limit is 100 USD per transfer"):
        rows.transfer(operator, now=now, amount=Decimal("0.21"))
    assert rows.transfer(operator, now=now, amount=Decimal("0.2")).state == "approved"


@pytest.fixture
def order(now, operator):
    """Ask for an order of BCH in USD; the market is 499 to 501."""
    account = rows.account()
    Ticker.objects.filter(symbol="BCHUSD").update(ask=Decimal(501), bid=Decimal(499))
    rows.balance("BCH", now=now)
    rows.balance("USD", trading="100000", now=now)

    def ask(side, price, quantity="1"):
        wanted = OrderRequest(
            symbol="BCHUSD",
            side=side,
            type="limit",
            quantity=Decimal(quantity),
            price=Decimal(price),
            time_in_force="GTC",
        )
        key = f"{side}{price}{quantity}"
        return workflow.place(initiator=operator, account=account, requested=wanted, request_key=key, now=now)

    return ask


@pytest.mark.parametrize(
    ("side", "price", "is_taken"),
    [
        ("buy", "511.02", True),
        ("buy", "511.03", False),
        ("buy", "1", True),
        ("sell", "489.02", True),
        ("sell", "489", False),
    ],
)
def test_a_price_that_is_worse_than_the_market_is_bounded_and_one_behind_it_is_not(order, now, side, price, is_taken):
    publish(now, distance=Decimal(2))
    if is_taken:
        assert order(side, price).pk
    else:
        with pytest.raises(CannotPlace, match="policy allows 2 %"):
            order(side, price)


def test_a_market_that_is_not_known_bounds_every_price(order, now):
    publish(now, distance=Decimal(2))
    Ticker.objects.update(read_at=now - timedelta(hours=1))
    with pytest.raises(CannotPlace, match="no current price"):
        order("buy", "500")


def test_an_order_is_valued_at_its_own_price_and_at_the_markets(order, now):
    publish(now, ("order", 600, None, None))
    assert order("sell", "520").pk
    with pytest.raises(CannotPlace, match="limit is 600 USD"):
        order("sell", "700")
    with pytest.raises(CannotPlace, match="limit is 600 USD"):
        order("sell", "400", "1.3")
