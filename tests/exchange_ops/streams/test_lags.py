"""How long messages are on their way, by a clock that is only known from dates in whole seconds."""

from datetime import UTC, datetime, timedelta

import pytest

from exchange_ops.shared import clocks
from exchange_ops.shared.models import Account, ClockReading
from exchange_ops.streams import lags

NOW = datetime(2026, 11, 21, 10, 0, 0, 300_000, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def ms(number):
    return timedelta(milliseconds=number)


def read(account, *skews_ms, at=NOW):
    ClockReading.objects.bulk_create(
        [ClockReading(account=account, skew_ms=skew_ms, read_at=at) for skew_ms in skews_ms]
    )


def test_without_a_reading_the_clocks_are_taken_to_agree(account):
    assert lags.lead(account=account, now=NOW) == ms(0)


def test_one_reading_is_right_to_half_a_second(account):
    for true in (0, 1, 499, 999):  # where within its second the exchange answered
        ClockReading.objects.all().delete()
        date = (NOW + ms(5_000 + true)).replace(microsecond=0)
        clocks.note(account_id=account.pk, date=date, now=NOW)
        assert abs(lags.lead(account=account, now=NOW) - ms(5_000 + true)) <= ms(500)


def test_several_readings_narrow_it_down(account):
    read(
        account, -3_000 + 40, -3_000 + 700, -3_000 + 960
    )  # the exchange is 3 s behind: between 0 and 1 s more was read
    assert lags.lead(account=account, now=NOW) == ms(-3_000)


def test_a_clock_that_was_set_begins_anew(account):
    read(account, 200, 900, 3_600_400, 3_600_600)
    assert lags.lead(account=account, now=NOW) == ms(3_600_000)


def test_old_readings_and_other_accounts_do_not_count(account):
    other = Account.objects.create(name="Another")
    read(account, 90_500, at=NOW - lags.RECENT)
    read(other, 60_500)
    assert lags.lead(account=account, now=NOW) == ms(0)
    assert lags.lead(account=None, now=NOW) == ms(60_000)


def test_the_slowest_message_is_told_once(account):
    read(account, 2_500)  # two seconds ahead
    lag = lags.Lag(account)
    assert lag.columns() == {}
    lag.message(now=NOW)
    assert lag.columns() == {"message_at": NOW}
    for own_ms in (1_900, 1_250, 1_990):
        lag.message(now=NOW)
        lag.carried(own_time=NOW + ms(own_ms), now=NOW)
    assert lag.columns() == {"message_at": NOW, "lag_ms": 750}
    assert lag.columns() == {}


@pytest.mark.parametrize(
    ("own_time", "lag_ms"),
    [
        (datetime(1, 1, 1, tzinfo=UTC), 2**31 - 1),
        (datetime(9999, 12, 31, tzinfo=UTC), 0),
        (NOW + timedelta(milliseconds=1), 0),
    ],
)
def test_no_time_is_too_odd(account, own_time, lag_ms):
    lag = lags.Lag(account)
    lag.carried(own_time=own_time, now=NOW)
    assert lag.columns() == {"lag_ms": lag_ms}


def test_readings_are_looked_at_now_and_then(account, django_assert_num_queries):
    lag = lags.Lag(account)
    with django_assert_num_queries(1):
        for number in range(30):
            lag.carried(own_time=NOW, now=NOW + timedelta(seconds=number))
    with django_assert_num_queries(1):
        lag.carried(own_time=NOW, now=NOW + lags.LOOK_EVERY)
