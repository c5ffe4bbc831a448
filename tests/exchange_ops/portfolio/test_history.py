"""What pages show of the past: one figure a day, compared only with days that leave out the same."""

from datetime import timedelta
from decimal import Decimal

import pytest

from exchange_ops.portfolio import drawings, history
from exchange_ops.portfolio.models import DailyFlow, Snapshot
from exchange_ops.portfolio.totals import Totals
from exchange_ops.shared.models import Account
from tests.exchange_ops import rows
from tests.exchange_ops.portfolio.held import DAY, NOON

pytestmark = pytest.mark.django_db


@pytest.fixture
def account():
    return rows.account(now=NOON)


def snapshot(account, days_ago, *, kind="daily", bank="100", unvalued=(), **sums):
    at = (NOON - days_ago * DAY).replace(hour=0)
    return Snapshot.objects.create(
        account=account,
        hour=at,
        taken_at=at,
        kind=kind,
        quote="USD",
        bank=None if bank is None else Decimal(bank),
        trading=Decimal(0),
        unvalued=list(unvalued),
        **sums,
    )


def worth(own, **more):
    return Totals("USD", own=Decimal(own), **more)


def test_the_change_is_one_of_the_total_where_both_ends_know_it(account):
    snapshot(account, 2, bank="100", subaccounts=Decimal(100), margin=Decimal(0))
    now = worth("150", subaccounts=Decimal(150))
    found = history.value_history(accounts=[account], worth=now, days=30, now=NOON)
    assert (found.change, found.share, found.is_of_total) == (100, Decimal("0.5"), True)


def test_a_rebuilt_beginning_compares_both_wallets_alone(account):
    snapshot(account, 2, kind="rebuilt", bank="100")
    now = worth("150", subaccounts=Decimal(999))
    found = history.value_history(accounts=[account], worth=now, days=30, now=NOON)
    assert (found.change, found.is_of_total, found.rebuilt_until.day) == (50, False, 18)


def test_a_day_on_which_something_had_no_price_is_apart_and_named(account):
    snapshot(account, 3, bank="1", unvalued=["BCH"])
    snapshot(account, 2, bank="100")
    found = history.value_history(accounts=[account], worth=worth("150"), days=30, now=NOON)
    assert ([point.own for point in found.line], found.missing, found.change) == ([100, 150], ("BCH",), 50)


def test_a_price_that_is_missing_now_makes_no_loss(account):
    snapshot(account, 2, bank="100")
    found = history.value_history(accounts=[account], worth=worth("1", unvalued=("BCH",)), days=30, now=NOON)
    assert found.change is None


def test_accounts_are_added_up_day_by_day_and_another_quote_is_left_out(account):
    second = Account.objects.create(name="Second", quote_currency="USD")
    third = Account.objects.create(name="Third", quote_currency="EUR")
    for each in (account, second, third):
        snapshot(each, 1, bank="10")
    found = history.value_history(accounts=[account, second, third], worth=None, days=30, now=NOON)
    assert ([point.own for point in found.points], found.left_out) == ([20], ("Third",))


def test_hourly_figures_are_no_days_and_the_range_ends(account):
    snapshot(account, 1, kind="hourly")
    snapshot(account, 31)
    assert not history.value_history(accounts=[account], worth=None, days=30, now=NOON).points


def test_flows_are_valued_as_far_as_their_days_have_prices(account):
    figures = {"account": account, "currency": "BCH", "went_out": Decimal(0), "fees": Decimal(0)}
    DailyFlow.objects.create(day=NOON.date(), came_in=Decimal(2), price=Decimal(500), **figures)
    DailyFlow.objects.create(day=(NOON - DAY).date(), came_in=Decimal(1), price=None, **figures)
    DailyFlow.objects.create(day=(NOON - 40 * DAY).date(), came_in=Decimal(9), price=Decimal(1), **figures)
    found = history.flows(accounts=[account], days=30, now=NOON)
    assert [(row.came_in, row.value_in) for row in found.rows] == [(3, 1000)]
    assert (found.came_in, found.net, found.unvalued) == (1000, 1000, ("BCH",))
    DailyFlow.objects.update(price=None)
    unpriced = history.flows(accounts=[account], days=30, now=NOON)
    assert (unpriced.came_in, unpriced.net) == (None, None), "something moved: that is not a value of zero"


def test_a_picture_needs_two_values_and_leaves_gaps():
    at = [NOON + number * timedelta(days=1) for number in range(3)]
    assert drawings.line([(at[0], Decimal(1)), (at[1], None)]) is None
    picture = drawings.line([(at[0], Decimal(1)), (at[1], None), (at[2], Decimal(3))])
    assert picture.line == "M0.0 190.0M1000.0 10.0"
    assert picture.area == ""
    assert (picture.low, picture.middle, picture.high) == (1, 2, 3)
    flat = drawings.line([(at[0], Decimal(5)), (at[1], Decimal(5))])
    assert flat.line == "M0.0 100.0L1000.0 100.0"
