"""Every way the one call of a transfer can end, for each kind: the right state, the right books, never two.

`make test` ends every kind by a lost and by a late answer, which is where money could move twice, and one kind by each
other fault: what the client makes of an answer does not depend on the kind.
"""

import time

import pytest

from exchange_ops.keys import store as keys
from exchange_ops.transfers import states
from tests import trail
from tests.bounds import stretched
from tests.cases import crossed
from tests.exchange_ops.transfers.movings import OPERATIONS, QUIET_OVER
from tests.exchange_ops.withdrawals.test_money_matrix import KINDS, _Away

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("money: never moved twice"),
]


LOST = {"lost before effect", "lost after effect", "504 and executed later", "late answer"}


@pytest.fixture(autouse=True)
def short_deadline(moving, settings):
    settings.CALL_DEADLINE_SECONDS = 2


def wait_for_what_is_late(moving, row, name):
    """In real time, until a call that was delayed has been executed."""
    if "later" in name or "late" in name:
        deadline = time.monotonic() + stretched(8)
        while time.monotonic() < deadline and not all(call["executed"] for call in moving.calls(row)):
            time.sleep(0.02)


@crossed({"name": KINDS, "kind": states.KINDS}, together=1, always=lambda name, kind: name in LOST)
def test_one_call_and_its_outcome(moving, kind, name):
    fault, executed, outcome = KINDS[name]
    row = moving.approved(kind)
    before = len(moving.moved(row))
    moving.walk.fault(OPERATIONS[kind], **fault)
    row = moving.until(row, "done", "refused", "unknown")
    assert row.state == {"accepted": "done", "refused": "refused", "unknown": "unknown"}[outcome], row.last_problem
    assert moving.outcomes(row) == [outcome]
    wait_for_what_is_late(moving, row, name)
    assert len(moving.calls(row)) == 1
    assert len(moving.moved(row)) == before + int(executed)
    if executed:
        row = moving.until(row, "done")
        row = moving.step(row)
        assert row.ledger_seen_at is not None, row.last_problem
        assert moving.outcomes(row) == ["accepted" if outcome == "accepted" else "found"]
        assert [entry.exchange_id for entry in moving.entries(row)] == [
            one for one in (row.exchange_id, row.second_id) if one
        ]
        assert len(moving.entries(row)) == (2 if kind == states.CONVERT else 1)
        assert not [entry for entry in moving.entries(row) if entry.foreign]
    elif outcome == "unknown":
        for _ in range(4):
            row = moving.step(row)
            assert row.state == "unknown", "not before the quiet period is over"
        moving.ahead = QUIET_OVER
        row = moving.step(row)
        assert row.state == "not_seen", row.last_problem
        assert moving.outcomes(row) == ["absent"]
    for _ in range(3):
        row = moving.step(row)
    assert len(moving.calls(row)) == 1, "a machine never sends a transfer again"
    assert len(moving.moved(row)) == before + int(executed)
    assert moving.walk.balanced()
    assert trail.problems() == []


@pytest.mark.parametrize("kind", states.KINDS)
def test_not_sent_is_tried_again_and_sent_once(moving, kind, settings):
    row = moving.approved(kind)
    before = len(moving.moved(row))
    moving.client_for = _Away(moving.walk, OPERATIONS[kind], settings)
    row = moving.step(row)
    assert (row.state, row.attempt) == ("approved", 1), row.last_problem
    assert moving.outcomes(row) == ["not_sent"]
    assert moving.calls(row) == []
    moving.client_for = keys.client_for
    row = moving.until(row, "done")
    assert row.attempt == 2
    assert moving.outcomes(row) == ["not_sent", "accepted"]
    assert len(moving.calls(row, executed=True)) == 1
    assert len(moving.moved(row)) == before + 1
    assert trail.problems() == []
