"""The exchange's clock: measured, believed within reason, and never later than ours for a deadline."""

from datetime import timedelta

import pytest
from django.db import DatabaseError

from desk import clock
from desk.incidents import kinds as incident_kinds
from exchange_ops.shared import alarms, clocks
from exchange_ops.shared.models import ClockReading

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


@pytest.fixture
def now():
    return clock.now().replace(microsecond=0)


def test_without_a_reading_our_clock_holds(account, now):
    assert clocks.exchange_now(account=account, now=now) == now


@pytest.mark.parametrize("ahead", [timedelta(seconds=5), timedelta(minutes=55), timedelta(hours=23)])
def test_an_exchange_that_is_ahead_sets_the_time(account, now, ahead):
    clocks.note(account_id=account.pk, date=now + ahead, now=now)
    assert clocks.exchange_now(account=account, now=now) == now + ahead + SECOND
    assert clocks.exchange_now(account=account, now=now + SECOND) == now + ahead + 2 * SECOND


@pytest.mark.parametrize(
    ("seconds", "said"), [(41 * 60, "41 min ahead of"), (-112 * 60, "111 min behind"), (58, ""), (-60, "")]
)
def test_a_difference_beyond_a_minute_is_an_incident_and_deadlines_are_shown_by_our_clock(account, now, seconds, said):
    ahead = timedelta(seconds=seconds)
    clocks.note(account_id=account.pk, date=now + ahead, now=now)
    causes = [cause.sentence for cause in incident_kinds.by_name(alarms.CLOCK).causes(now, "")]
    assert [said in sentence for sentence in causes] == ([True] if said else [])
    exchange_now = clocks.exchange_now(account=account, now=now)
    deadline = clocks.by_desk_clock(exchange_now + 53 * 60 * SECOND, exchange_now, now=now)
    assert abs(deadline - now - 53 * 60 * SECOND) <= timedelta(minutes=1)


@pytest.mark.parametrize("behind", [timedelta(seconds=5), timedelta(hours=3)])
def test_an_exchange_that_is_behind_changes_nothing(account, now, behind):
    clocks.note(account_id=account.pk, date=now - behind, now=now)
    assert clocks.exchange_now(account=account, now=now) == now


@pytest.mark.parametrize("absurd", [timedelta(days=2), timedelta(days=3650), timedelta(days=-700)])
def test_an_absurd_date_is_shown_and_not_believed(account, now, absurd):
    clocks.note(account_id=account.pk, date=now + timedelta(minutes=10), now=now)
    clocks.note(account_id=account.pk, date=now + absurd, now=now + SECOND)
    assert clocks.exchange_now(account=account, now=now + SECOND) == now + timedelta(minutes=10) + 2 * SECOND
    assert "It is ignored" in clocks.problem(account=account)
    clocks.note(account_id=account.pk, date=now, now=now + 2 * SECOND)
    assert clocks.problem(account=account) == ""


def test_a_jump_is_seen_with_the_next_answer(account, now):
    clocks.note(account_id=account.pk, date=now, now=now)
    clocks.note(account_id=account.pk, date=now + timedelta(minutes=55), now=now + SECOND)
    assert clocks.exchange_now(account=account, now=now + SECOND) == now + timedelta(minutes=55) + SECOND
    clocks.note(account_id=account.pk, date=now + 2 * SECOND, now=now + 2 * SECOND)
    assert clocks.exchange_now(account=account, now=now + 2 * SECOND) == now + 3 * SECOND


def test_equal_readings_are_one_row_and_old_ones_go(account, now):
    for number in range(20):
        moment = now + number * SECOND
        clocks.note(account_id=account.pk, date=moment, now=moment)
    assert ClockReading.objects.count() == 1
    later = now + timedelta(days=3)
    clocks.note(account_id=account.pk, date=later, now=later)
    assert ClockReading.objects.count() == 1


def test_the_exchange_answers_move_the_clock(account, demo_keys, sandbox):
    from exchange_ops.keys import store as keys
    from exchange_ops.wire.catalogue import Right

    sandbox.control("clock", {"advance_ms": 55 * 60_000})
    client = keys.client_for(account, Right.PAYMENTS)
    client.get_balances()
    client.close()
    ahead = clocks.exchange_now(account=account, now=clock.now()) - clock.now()
    assert timedelta(minutes=54, seconds=57) < ahead < timedelta(minutes=55, seconds=3)


def test_a_database_that_is_away_does_not_spoil_the_answer(account, now, monkeypatch):
    def away(**_):
        raise DatabaseError("away")

    monkeypatch.setattr(ClockReading.objects, "create", away)
    clocks.note(account_id=account.pk, date=now, now=now)
    assert ClockReading.objects.count() == 0
