"""Transfers on an account whose balances never stand still: they are sent all the same, and prove less."""

from datetime import timedelta
from decimal import Decimal

import pytest

from exchange_ops.keys import store as keys
from exchange_ops.transfers.models import Transfer
from exchange_ops.wire.catalogue import Right
from tests import trail
from tests.exchange_ops.transfers.movings import OPERATIONS, QUIET_OVER
from tests.exchange_ops.withdrawals.walks import OTHER_ADDRESS

pytestmark = [pytest.mark.django_db(transaction=True)]


def before_each_reading(moving, act):
    """A desk whose account moves before each reading of its bank balances."""

    def client_for(account, right):
        client = keys.client_for(account, right)
        read = client.get_balances
        client.get_balances = lambda: (act(), read())[1]
        return client

    moving.client_for = client_for
    return moving


@pytest.fixture
def busy(moving):
    """Somebody else moves money all the time."""
    other = keys.client_for(moving.walk.account, Right.WITHDRAW)
    little = {"currency": "BTC", "amount": Decimal("0.001"), "subaccount_id": 7001, "type": "deposit"}
    yield before_each_reading(moving, lambda: other.transfer_subaccount_funds(**little))
    other.close()


def waited(row, **long):
    Transfer.objects.filter(pk=row.pk).update(updated_at=row.updated_at - timedelta(**long))


def test_a_transfer_waits_a_minute_for_a_quiet_moment_and_is_sent_then(busy):
    row = busy.step(busy.approved())
    assert (row.state, "too active for a consistent snapshot" in row.last_problem) == ("approved", True)
    waited(row, seconds=61)
    row = busy.step(row)
    assert row.state == "done"
    assert row.calls.get().balances["bank"] == {}
    assert len(busy.calls(row, executed=True)) == 1
    assert trail.problems() == []


@pytest.mark.parametrize("executed", [True, False])
def test_a_lost_answer_on_such_an_account_is_for_two_people_and_never_sent_again(busy, executed):
    row = busy.approved()
    waited(row, seconds=61)
    busy.walk.fault(OPERATIONS[row.kind], "drop_after" if executed else "drop_before")
    row = busy.until(row, "unknown")
    row = busy.step(row)
    assert (row.state, "too active for a consistent snapshot" in row.last_problem) == ("unknown", True)
    busy.ahead = QUIET_OVER
    busy.walk.later(minutes=13)
    row = busy.until(row, "investigate")
    assert "the account changed during the check" in row.last_problem
    assert len(busy.calls(row)) == row.calls.count() == 1


def test_holds_that_come_and_go_do_not_keep_a_transfer_waiting(moving):
    """Reserving money moves it inside the wallet: the total stays, and that is what is compared."""
    other = keys.client_for(moving.walk.account, Right.WITHDRAW)
    hold = {"currency": "BTC", "amount": Decimal("0.01"), "address": OTHER_ADDRESS}
    busy = before_each_reading(moving, lambda: other.create_withdrawal(**hold))
    row = busy.step(busy.approved())
    other.close()
    assert row.state == "done", row.last_problem
    assert row.calls.get().balances["bank"]["BTC"]["reserved"] != "0"
