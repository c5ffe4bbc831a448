"""The dates of a schedule: ends of months, leap years, and the first day that fits."""

from datetime import UTC, date, datetime, time

import pytest

from exchange_ops.withdrawals.schedules import rhythm
from exchange_ops.withdrawals.schedules.rhythm import DAYS, LAST_DAY, MONTHLY, WEEKLY, Rhythm


def days(frequency, step, first, count):
    one = Rhythm(frequency, step, first, time(9), count)
    return [one.due(number).date().isoformat() for number in range(1, count + 1)]


def test_the_last_day_of_each_month_is_that_of_the_month():
    assert days(MONTHLY, LAST_DAY, date(2027, 12, 31), 4) == ["2027-12-31", "2028-01-31", "2028-02-29", "2028-03-31"]
    assert days(MONTHLY, LAST_DAY, date(2027, 2, 28), 2) == ["2027-02-28", "2027-03-31"]
    assert days(MONTHLY, 28, date(2026, 12, 28), 3) == ["2026-12-28", "2027-01-28", "2027-02-28"]


def test_weeks_and_days_run_on_over_a_leap_day_and_at_one_time_utc():
    assert days(WEEKLY, 1, date(2028, 2, 28), 2) == ["2028-02-28", "2028-03-06"]
    assert days(DAYS, 2, date(2028, 2, 28), 2) == ["2028-02-28", "2028-03-01"]
    # Clocks in Europe and America change between these two.
    assert Rhythm(WEEKLY, 7, date(2027, 3, 14), time(9, 30)).due(3) == datetime(2027, 3, 28, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("frequency", "step", "earliest", "first"),
    [
        (WEEKLY, 7, date(2026, 11, 29), date(2026, 11, 29)),
        (WEEKLY, 6, date(2026, 11, 29), date(2026, 12, 5)),
        (MONTHLY, 1, date(2026, 12, 2), date(2027, 1, 1)),
        (MONTHLY, LAST_DAY, date(2027, 2, 28), date(2027, 2, 28)),
        (MONTHLY, 28, date(2027, 1, 31), date(2027, 2, 28)),
        (DAYS, 10, date(2027, 1, 31), date(2027, 1, 31)),
    ],
)
def test_the_first_day_is_the_first_that_fits(frequency, step, earliest, first):
    assert rhythm.first_day(frequency=frequency, step=step, earliest=earliest) == first


def test_a_last_day_counts_the_occurrences_up_to_it():
    monthly = Rhythm(MONTHLY, LAST_DAY, date(2027, 1, 31), time(9))
    assert [rhythm.count_until(monthly, day) for day in (date(2027, 1, 30), date(2027, 2, 28), date(2027, 3, 30))] == [
        0,
        2,
        2,
    ]
    assert rhythm.count_until(monthly, date(2099, 1, 1)) == rhythm.MOST_OCCURRENCES + 1
