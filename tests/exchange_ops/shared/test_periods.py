"""The period of a statement: whole UTC days, half-open, and a sentence for each one that makes no sense."""

from datetime import UTC, date, datetime, timedelta

import pytest

from exchange_ops.shared.periods import Period, PeriodForm, month_of

NOW = datetime(2026, 3, 31, 23, 30, tzinfo=UTC)


def form(**data):
    return PeriodForm(data, now=NOW)


def test_presets_are_days_in_utc_and_this_month_is_usual():
    assert form().period() == month_of(date(2026, 3, 31)) == Period(date(2026, 3, 1), date(2026, 3, 31))
    assert form(range="last-month").period() == Period(date(2026, 2, 1), date(2026, 2, 28))
    assert form(range="yesterday").period() == Period(date(2026, 3, 30), date(2026, 3, 30))
    assert form(range="today", since="junk").period() == Period(date(2026, 3, 31), date(2026, 3, 31))


def test_days_of_ones_own_need_no_preset_and_are_half_open():
    period = form(since="2026-03-01", until="2026-03-01").period()
    assert (period.begins, period.ends) == (datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 3, 2, tzinfo=UTC))


@pytest.mark.parametrize(
    "period", [Period(date(2026, 1, 1), date(2026, 1, 31)), Period(date(2026, 1, 3), date(2026, 1, 9))]
)
def test_the_next_period_begins_where_this_one_ends(period):
    assert period.after.begins == period.ends
    assert period.before.ends == period.begins
    assert period.after.before == period == period.before.after
    assert Period(date(2000, 1, 1), date(2000, 1, 31)).before is None


@pytest.mark.parametrize(
    ("since", "until", "sentence"),
    [
        ("2026-03-02", "2026-03-01", "To: The end date is before the start date."),
        ("0000-01-01", "2026-03-01", "From: Enter a valid date."),
        ("0001-01-01", "2026-03-01", "From: Enter 2000-01-01 or a later day."),
        ("2026-03-01", "9999-12-31", "To: A period covers ten years at most."),
        (str(date(2026, 3, 1) - timedelta(days=9_300)), "2026-03-01", "To: A period covers ten years at most."),
        ("2026-04-01", "2026-04-02", "From: This day is in the future."),
        ("'; DROP", "2026-03-01", "From: Enter a valid date."),
        ("2026-03-01", "", "To: Enter a day, for example 2026-11-30."),
    ],
)
def test_a_period_that_makes_no_sense_is_an_error(since, until, sentence):
    bad = form(range="custom", since=since, until=until)
    assert (bad.period(), bad.problems()) == (None, [sentence])


def test_an_unknown_preset_is_an_error():
    bad = form(range="always")
    assert (bad.period(), bad.problems()) == (None, ["Period: Unknown period."])
