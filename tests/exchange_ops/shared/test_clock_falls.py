"""This machine's clock an hour back: what was read or written before is old, and timers, codes and readiness say so."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import transaction

from desk import clock
from desk.audit import clock_falls, trail
from desk.models import SpentTotpStep
from desk.people import stepup, totp
from desk.rows import bulk
from exchange_ops.market import valuation
from exchange_ops.market.models import Ticker
from exchange_ops.shared import leases, room
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.models import Withdrawal
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def fallen():
    """The moment that the clock shows now; the trail has an entry from an hour later."""
    now = clock.now()
    with transaction.atomic():
        trail.record(actor=None, action="a.fact", subject="a:1", before={}, after={}, now=now + HOUR)
    return now


def test_readiness_says_that_the_clock_was_set_back(fallen):
    answer = room.ROOM.checks["clock"].ask()
    assert not answer.ok
    assert "59 min behind" in answer.sentence


def test_a_price_from_before_is_old_and_replaced_by_the_next_reading(account, fallen):
    rows.price(now=fallen + HOUR)
    value = valuation.values_of(amounts={"BCH": Decimal(1)}, quote="USD", now=fallen)["BCH"]
    assert value.rate is None
    assert "set back" in value.reason
    (ticker,) = Ticker.objects.all()
    columns = [getattr(ticker, name) for name in bulk.table(Ticker).names]
    columns[bulk.table(Ticker).names.index("read_at")] = fallen
    bulk.table(Ticker).keep([columns])
    assert Ticker.objects.get().read_at == fallen
    Ticker.objects.update(read_at=fallen + HOUR)
    bulk.table(Ticker).confirm([ticker.symbol], read_at=fallen)
    assert valuation.values_of(amounts={"BCH": Decimal(1)}, quote="USD", now=fallen)["BCH"].rate is not None


def test_timers_from_before_go_off_and_later_ones_wait(operator, payable, fallen):
    soon, later = (rows.held(operator, now=fallen) for _ in range(2))
    Withdrawal.objects.filter(pk=soon.pk).update(next_action_at=fallen + HOUR + timedelta(seconds=15))
    Withdrawal.objects.filter(pk=later.pk).update(next_action_at=fallen + 2 * HOUR)
    due = workflow.QUEUE.due(now=fallen)
    assert [row.pk for row in due] == [soon.pk]
    assert not workflow.QUEUE.due(now=fallen - 2 * timedelta(days=1)).exists(), "a larger fall moves no timer"


def test_a_lease_from_before_keeps_nobody_out(fallen):
    assert leases.hold(name="walk", holder="one", now=fallen + HOUR)
    assert leases.hold(name="walk", holder="two", now=fallen)
    assert not leases.hold(name="walk", holder="three", now=fallen)


def test_a_used_code_says_when_the_next_one_counts(treasury, fallen):
    step = totp.step_at(fallen)
    SpentTotpStep.objects.create(person=treasury, step=step)
    assert "up to 30 seconds" in stepup._until_the_next_code(totp.usable_from(treasury), fallen)
    SpentTotpStep.objects.update(step=step + 120)
    sentence = stepup._until_the_next_code(totp.usable_from(treasury), fallen)
    assert f"{totp.usable_from(treasury):%H:%M} UTC" in sentence
    assert totp.usable_from(treasury) - fallen > HOUR - timedelta(minutes=1)


def test_a_clock_that_is_right_is_behind_nothing(account):
    assert clock_falls.fallen_by(clock.now()) == timedelta(0)
    assert room.ROOM.checks["clock"].ask().ok
