"""A freeze that comes after the last look and before the row is locked: nothing is claimed and nothing is sent."""

from decimal import Decimal

import pytest

from desk import clock
from desk.machines import calls
from exchange_ops.orders import states as orders
from exchange_ops.policy import freezes
from exchange_ops.positions import states as margin
from exchange_ops.transfers import states

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("a freeze beside a claim under its lock")]


@pytest.fixture
def frozen_at_the_claim(monkeypatch, make_person):
    """`frozen_at_the_claim(account)`: the next claim finds the account frozen a moment before it takes its lock."""

    def prepare(account):
        claim = calls.claim

        def late(*arguments, **named):
            freezes.freeze(
                person=make_person("treasury", username="watcher"),
                reason="Something is odd",
                account=account,
                now=clock.now(),
            )
            return claim(*arguments, **named)

        monkeypatch.setattr(calls, "claim", late)

    return prepare


def test_a_hold(walk, frozen_at_the_claim):
    row = walk.until(walk.request(), "queued")
    frozen_at_the_claim(walk.account)
    row = walk.step(row)
    assert (row.state, row.exchange_id, row.lease_until) == ("queued", None, None)
    assert walk.calls("create_withdrawal") == []
    assert walk.outcomes(row, "hold") == []


def test_an_order_to_pay(walk, frozen_at_the_claim):
    row = walk.committing()
    frozen_at_the_claim(walk.account)
    row = walk.step(row)
    assert (row.put_count, row.decision) == (0, "rollback")
    assert walk.calls("commit_withdrawal") == []


def test_a_transfer(moving, frozen_at_the_claim):
    row = moving.approved()
    frozen_at_the_claim(moving.walk.account)
    row = moving.step(row)
    assert row.state != states.SENDING
    assert moving.calls(row) == []
    assert moving.outcomes(row) == []


def test_an_order(dealing, frozen_at_the_claim):
    row = dealing.place()
    frozen_at_the_claim(row.account)
    row = dealing.step(row)
    assert row.state != orders.SENDING
    assert dealing.calls(row) == []
    assert dealing.sent() == 0


def test_a_margin_action(margin_desk, frozen_at_the_claim):
    row = margin_desk.ask(margin.OPEN, amount=Decimal(1))
    frozen_at_the_claim(row.account)
    row = margin_desk.step(row)
    assert row.state != margin.SENDING
    assert margin_desk.calls(row) == []
    assert margin_desk.dealing.sent("set_margin_account") == 0
