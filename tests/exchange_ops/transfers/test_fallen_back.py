"""A transfer that may have been sent already by a desk whose rows then fell back to before: never sent a second time.

Here the desk knows nothing of a restore. What it can see is how old its own go-ahead is, and the exchange's ledger.
"""

from datetime import timedelta

import pytest

from exchange_ops.keys import store as keys
from exchange_ops.transfers import states
from exchange_ops.wire.catalogue import Right

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: never moved twice")]


def made_before(moving, row):
    """The exchange does what the row asks for, and no row of ours tells of it: so it is after a restore."""
    right = Right.WITHDRAW if row.kind == states.TO_USER else Right.PAYMENTS
    client = keys.client_for(moving.walk.account, right)
    try:
        if row.kind == states.TO_USER:
            return client.transfer_to_user(
                currency=row.currency, amount=row.amount, by=row.by, identifier=row.identifier
            )
        return client.transfer_funds(currency=row.currency, amount=row.amount, type="bankToExchange")
    finally:
        client.close()


@pytest.mark.parametrize("kind", [states.BANK_TO_TRADING, states.TO_USER])
def test_what_the_ledger_shows_since_it_was_asked_for_is_not_sent(moving, kind):
    row = moving.approved(kind)
    made_before(moving, row)
    row = moving.step(row)
    assert (row.state, row.attempt) == ("investigate", 0), row.last_problem
    assert row.last_problem.startswith("Not sent: ")
    assert moving.outcomes(row) == []
    assert len(moving.calls(row, executed=True)) == 1, "the one from before"
    candidates = row.events.get(event="seen_before_sending").evidence["candidates"]
    assert [entry["exchange_id"] for entry in candidates] != []


def test_what_the_ledger_had_before_it_was_asked_for_is_another_one(moving):
    row = moving.request()
    made_before(moving, row)
    moving.walk.read_ledger()
    row = moving.until(moving.approved(), "done")
    assert moving.outcomes(row) == ["accepted"]


def test_a_go_ahead_of_more_than_an_hour_ago_sends_nothing(moving):
    row = moving.approved()
    moving.ahead += timedelta(minutes=61)
    row = moving.step(row)
    assert (row.state, row.attempt, row.next_action_at) == ("lapsed", 0, None)
    assert moving.calls(row, executed=True) == []


def test_a_go_ahead_of_less_than_an_hour_ago_does(moving):
    row = moving.approved()
    moving.ahead += timedelta(minutes=59)
    assert moving.until(row, "done").attempt == 1
