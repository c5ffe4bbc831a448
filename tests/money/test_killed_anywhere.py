"""A worker killed before every single thing it does: each write, each commit, each connection, each byte and answer.

The points are not listed here. A worker is killed at its first one, the next at its second, until one survives.
"""

from decimal import Decimal

import pytest

from desk import audit_check
from desk.models import SpentTotpStep, StepUp
from exchange_ops.withdrawals.models import Approval, Withdrawal
from tests.exchange_ops.withdrawals.walks import ADDRESS

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("what a killed process leaves"),
    pytest.mark.timeout(240),
]
MOST = 60


def killed_everywhere(after, ready, act="advance", **arguments):
    """A fresh row for every point of the act; gives them with the states in which they were left."""
    rows = []
    for number in range(1, MOST):
        row = ready()
        values = {name: value() if callable(value) else value for name, value in arguments.items()}
        outcome = after.nursery.run(act, withdrawal_id=row.pk, dies={"number": number}, **values)
        rows.append((row, values))
        if not outcome["killed"]:
            assert "raised" not in outcome, outcome
            assert number > 5, "a step does more than that"
            return rows
    raise AssertionError("the act never came to its end")


def sound(after):
    assert after.walk.balanced()
    assert audit_check.verify(replay=True) == []


def test_the_hold(after):
    rows = [row for row, _ in killed_everywhere(after, after.queued)]
    after.sweep(3)
    counts = {row.pk: len(after.heard(row)) for row in rows}
    assert set(counts.values()) == {0, 1}, "some were killed before they asked, some after, and none asked twice"
    for row in map(after.walk.fresh, rows):
        assert row.state == ("held" if counts[row.pk] else "hold_unknown"), f"{row.state}: {row.last_problem}"
        assert len(after.statuses(row)) == counts[row.pk]
        if row.state == "held":
            assert row.echo_ok is True
            after.walk.reject(row)
    after.sweep(2)
    after.exchange_later(minutes=62, seconds=5)
    after.sweep(2)
    for row in map(after.walk.fresh, rows):
        assert row.state == ("rolled_back" if counts[row.pk] else "lapsed"), f"{row.state}: {row.last_problem}"
        assert set(after.statuses(row)) <= {"failed"}
    assert after.walk.calls("commit_withdrawal") == []
    sound(after)


def test_the_comparison(after):
    rows = [row for row, _ in killed_everywhere(after, after.held)]
    after.sweep(2)
    for row in map(after.walk.fresh, rows):
        assert (row.state, row.echo_ok, row.decision) == ("held", True, "none"), row.last_problem
        assert len(after.heard(row)) == 1
    sound(after)


def test_the_order_to_pay(after):
    rows = [row for row, _ in killed_everywhere(after, after.committing)]
    after.pay_out()
    for row in map(after.walk.fresh, rows):
        assert row.state == "settled", f"{row.state}: {row.last_problem}"
        assert after.statuses(row) == ["success"], "exactly one payout"
        orders = after.orders(row)
        assert orders["commit"] >= 1
        assert orders["rollback"] == 0
    spent = after.walk.sandbox.world.exchange.ledger.balance("desk@demo.test", "bank", "BTC")
    fees = sum((payout.fee for payout in after.walk.payouts()), Decimal(0))
    assert spent == Decimal(100) - sum((row.amount for row in rows), Decimal(0)) - fees
    sound(after)


def test_the_release(after):
    rows = [row for row, _ in killed_everywhere(after, after.rolling_back)]
    after.sweep(3)
    for row in map(after.walk.fresh, rows):
        assert row.state == "rolled_back", f"{row.state}: {row.last_problem}"
        assert after.statuses(row) == ["failed"]
        assert after.orders(row)["commit"] == 0
    assert after.walk.sandbox.world.exchange.ledger.balance("desk@demo.test", "bank", "BTC") == Decimal(100)
    sound(after)


def test_the_approval_is_whole_or_not_there(after):
    """Killed before its commit, nothing of it is there and the same code can be given again; after it, all of it is."""
    person = after.walk.approvers[0]
    code = lambda: after.walk.answer(person)["code"]  # noqa: E731
    killed = killed_everywhere(after, after.compared, "approve", username=person.username, code=code)
    seen = set()
    for row, arguments in killed:
        words = Approval.objects.filter(withdrawal=row)
        found = (after.walk.fresh(row).decision, words.count(), StepUp.objects.filter(digest=row.digest).count())
        assert found in {("none", 0, 0), ("commit", 1, 1)}
        seen.add(found)
        if found[0] == "none":
            SpentTotpStep.objects.filter(person=person).update(step=0)
            again = after.nursery.run("approve", withdrawal_id=row.pk, **arguments)
            assert again.get("result") == "committing", again
    assert len(seen) == 2
    after.pay_out()
    for row, _ in killed:
        assert after.walk.fresh(row).state == "settled"
        assert after.statuses(row) == ["success"]
    sound(after)


def test_the_request_is_there_once_however_often_it_is_sent(after):
    wanted = {"username": "operator", "currency": "BTC", "address": ADDRESS}
    for number in range(1, MOST):
        order = {**wanted, "amount": f"0.0017{number:02d}", "request_key": f"form-{number}"}
        outcome = after.nursery.run("request", dies={"number": number}, **order)
        again = [after.nursery.run("request", **order).get("result") for _ in range(2)]
        assert again[0] is not None
        assert again[0] == again[1]
        assert Withdrawal.objects.filter(request_key=f"form-{number}").count() == 1
        if not outcome["killed"]:
            break
    assert number > 3
    sound(after)
