"""Every way a call about money can end, for each of the three: the right state, the right books, no second payout."""

from decimal import Decimal

import pytest

from exchange_ops.withdrawals.models import ExternalCall
from tests import trail
from tests.bounds import stretched

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("money: never paid twice"),
]

# What goes wrong, whether the sandbox executes the call all the same, and what the client has to make of it.
KINDS = {
    "refused": ({"kind": "refuse", "code": 20001}, False, "refused"),
    "lost before effect": ({"kind": "drop_before"}, False, "unknown"),
    "reset before effect": ({"kind": "drop_before", "how": "reset"}, False, "unknown"),
    "lost after effect": ({"kind": "drop_after"}, True, "unknown"),
    "reset after effect": ({"kind": "drop_after", "how": "reset"}, True, "unknown"),
    "cut body": ({"kind": "cut_body"}, True, "unknown"),
    "cut chunked body": ({"kind": "cut_body", "framing": "chunked"}, True, "unknown"),
    "html without effect": ({"kind": "html"}, False, "unknown"),
    "html after effect": ({"kind": "html", "status": 502}, False, "unknown"),
    "page of a proxy": ({"kind": "html", "status": 404}, False, "unknown"),
    "redirect 302": ({"kind": "redirect"}, False, "unknown"),
    "redirect 307": ({"kind": "redirect", "status": 307}, False, "unknown"),
    "500 without effect": ({"kind": "status", "status": 500}, False, "unknown"),
    "500 after effect": ({"kind": "status", "status": 500, "executes": True}, True, "unknown"),
    "503 without effect": ({"kind": "status", "status": 503}, False, "unknown"),
    "503 after effect": ({"kind": "status", "status": 503, "executes": True}, True, "unknown"),
    "504 without effect": ({"kind": "status", "status": 504}, False, "unknown"),
    "504 after effect": ({"kind": "status", "status": 504, "executes": True}, True, "unknown"),
    "504 and executed later": ({"kind": "delay_then_execute", "ms": 400, "status": 504}, True, "unknown"),
    "delayed answer": ({"kind": "delay_then_execute", "ms": 300}, True, "accepted"),
    "late answer": ({"kind": "delay_then_execute", "ms": 3500}, True, "unknown"),
}


@pytest.fixture(autouse=True)
def short_deadline(walk, settings):
    settings.CALL_DEADLINE_SECONDS = 2


def arm(walk, operation, name):
    fault, executed, outcome = KINDS[name]
    walk.fault(operation, **fault)
    return executed, outcome


def settle_in_the_sandbox(walk, name):
    """Wait, in real time, until a call that was delayed has been executed."""
    import time

    if "later" in name or "late" in name:
        deadline = time.monotonic() + stretched(8)
        while time.monotonic() < deadline and not all(call["executed"] for call in walk.calls()):
            time.sleep(0.02)


@pytest.mark.parametrize("name", KINDS)
def test_hold(walk, name):
    executed, outcome = arm(walk, "create_withdrawal", name)
    row = walk.until(walk.request(), "held", "hold_unknown", "refused")
    expected = {"accepted": "held", "refused": "refused", "unknown": "hold_unknown"}[outcome]
    assert row.state == expected
    assert walk.outcomes(row, "hold") == [outcome]
    settle_in_the_sandbox(walk, name)
    assert len(walk.calls()) == 1, "a hold is asked for once"
    assert len(walk.payouts()) == int(executed)
    if executed:
        row = walk.until(row, "held")
        assert row.exchange_id == walk.payouts()[0].id
        row = walk.step(row)
        assert row.echo_ok is True
        walk.approve(row)
        walk.until(row, "committed")
        assert walk.payouts()[0].status == "created"
    elif expected == "hold_unknown":
        assert walk.step(row).state == "hold_unknown"
        walk.later(minutes=62, seconds=5)
        row = walk.until(row, "lapsed")
        assert ExternalCall.objects.get(withdrawal=row).outcome == "absent"
    assert len(walk.calls("create_withdrawal")) == 1
    assert len(walk.payouts()) == int(executed)
    assert walk.balanced()
    assert trail.problems() == []


@pytest.mark.parametrize("name", KINDS)
def test_commit(walk, name):
    row = walk.committing()
    _, outcome = arm(walk, "commit_withdrawal", name)
    row = walk.step(row)
    assert row.put_count == 1
    assert walk.outcomes(row, "commit") == [outcome]
    assert row.state == ("committed" if outcome == "accepted" else "committing")
    settle_in_the_sandbox(walk, name)
    assert len(walk.calls("commit_withdrawal")) == 1
    row = walk.until(row, "committed")
    assert row.decision == "commit"
    walk.sandbox.control("clock", {"advance_ms": 60_000})
    walk.until(row, "settled")
    (payout,) = walk.payouts()
    assert payout.status == "success"
    assert walk.calls("rollback_withdrawal") == []
    spent = walk.sandbox.world.exchange.ledger.balance("desk@demo.test", "bank", "BTC")
    assert spent == Decimal(100) - payout.amount - payout.fee
    assert walk.balanced()
    assert trail.problems() == []


@pytest.mark.parametrize("name", KINDS)
def test_rollback(walk, name):
    row = walk.held()
    walk.reject(row)
    executed, outcome = arm(walk, "rollback_withdrawal", name)
    row = walk.step(row)
    assert walk.outcomes(row, "rollback")[0] == outcome
    assert row.delete_count == 1
    if executed and "late" not in name:
        assert row.state == "rolled_back"
    elif not executed:
        assert row.state == "rolling_back"
    settle_in_the_sandbox(walk, name)
    row = walk.until(row, "rolled_back")
    assert walk.calls("commit_withdrawal") == []
    assert [payout.status for payout in walk.payouts()] == ["failed"]
    assert walk.sandbox.world.exchange.ledger.balance("desk@demo.test", "bank", "BTC") == Decimal(100)
    assert walk.balanced()
    assert trail.problems() == []


@pytest.mark.parametrize(
    ("operation", "kind"),
    [("create_withdrawal", "hold"), ("commit_withdrawal", "commit"), ("rollback_withdrawal", "rollback")],
)
def test_not_sent(walk, settings, operation, kind):
    """Nobody listens at the exchange's address: certain that nothing was done, so it is tried again later."""
    if kind == "hold":
        row = walk.until(walk.request(), "queued")
    elif kind == "commit":
        row = walk.committing()
    else:
        row = walk.held()
        walk.reject(row)
    from exchange_ops.keys import store as keys

    away = _Away(walk, operation, settings)
    walk.client_for = away
    row = walk.step(row)
    assert walk.outcomes(row, kind) == ["not_sent"]
    assert walk.calls(operation) == []
    assert row.state == {"hold": "queued", "commit": "committing", "rollback": "rolling_back"}[kind]
    walk.client_for = keys.client_for
    target = {"hold": "held", "commit": "committed", "rollback": "rolled_back"}[kind]
    walk.until(row, target)
    assert len(walk.calls(operation, executed=True)) == 1
    assert trail.problems() == []


class _Away:
    """Clients whose one operation goes to a port where nobody listens; everything else reaches the sandbox."""

    def __init__(self, walk, operation, settings):
        self.walk, self.operation, self.settings = walk, operation, settings

    def __call__(self, account, right):
        from exchange_ops.keys import store as keys

        client = keys.client_for(account, right)
        address = self.settings.EXCHANGE_URL
        self.settings.EXCHANGE_URL = "http://127.0.0.1:9"
        nowhere = keys.client_for(account, right)
        self.settings.EXCHANGE_URL = address
        setattr(client, self.operation, getattr(nowhere, self.operation))
        return client
