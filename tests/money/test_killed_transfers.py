"""SIGKILL of a worker that moves money inside the exchange: moved once, or not at all, or two people are asked."""

import signal
from datetime import timedelta

import pytest

from desk import audit_check, clock
from exchange_ops.transfers import states
from exchange_ops.transfers.models import Transfer, TransferCall
from tests.exchange_ops.transfers.movings import Moving

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("what a killed process leaves"),
    pytest.mark.timeout(240),
]

KEPT_CALL = {"kind": "sql", "like": 'INSERT INTO "exchange_ops_transfercall"'}
KEPT_OUTCOME = {"kind": "sql", "like": 'UPDATE "exchange_ops_transfercall" SET "outcome"'}
EXCHANGE = {"kind": "connect", "like": "127.0.0.1", "after": "INSERT INTO .exchange_ops_transfercall"}
QUIET_S = 800  # later than any lease and the quiet period


@pytest.fixture
def moving(walk, nursery, settings):
    """Transfers on that desk, and workers that die on them."""
    settings.MFA_TOTP_TOLERANCE = 100
    ready = Moving(walk)
    ready.read_subaccounts()
    ready.nursery = nursery
    return ready


def due(moving, kind=states.BANK_TO_TRADING, **changes):
    """A transfer that waits for a worker now."""
    row = moving.approved(kind, **changes)
    Transfer.objects.filter(pk=row.pk).update(next_action_at=clock.now() - timedelta(seconds=1))
    return moving.fresh(row)


def die(moving, row, **at):
    outcome = moving.nursery.run("advance_transfer", transfer_id=row.pk, dies=at)
    assert outcome["killed"] == signal.SIGKILL, outcome
    return moving.fresh(row)


def sweep(moving, ahead_s=100, rounds=2):
    """Fresh workers, that much later."""
    for number in range(rounds):
        outcome = moving.nursery.run("sweep_transfers", ahead_s=ahead_s + 20 * number)
        assert "result" in outcome, outcome


def quiet(moving, rounds=3, later_s=0):
    """The quiet period passes, here and at the exchange, and fresh workers look."""
    moving.walk.sandbox.control("clock", {"advance_ms": (QUIET_S + later_s) * 1000})
    sweep(moving, QUIET_S + later_s, rounds=rounds)


def sound(moving, row, *, executed):
    assert len(moving.calls(row, executed=True)) == executed
    assert len(moving.calls(row)) <= 1, "a machine never sends a transfer again"
    assert moving.walk.balanced()
    assert audit_check.verify(replay=True) == []


def test_c3_inside_the_claim_it_still_waits_and_is_sent_once(moving):
    row = die(moving, due(moving), **KEPT_CALL)
    assert (row.state, row.attempt, TransferCall.objects.count()) == ("approved", 0, 0)
    sweep(moving)
    row = moving.fresh(row)
    assert (row.state, row.ledger_seen_at is not None) == ("done", True), row.last_problem
    sound(moving, row, executed=1)


@pytest.mark.parametrize(
    "point",
    [KEPT_OUTCOME, EXCHANGE, {"kind": "send", "like": "^POST"}],
    ids=["c4 claimed", "c4 marked as sent", "c5 connected"],
)
def test_c4_c5_claimed_and_nothing_sent_is_unknown_and_then_a_persons(moving, point):
    row = die(moving, due(moving), **point)
    assert row.state == "sending"
    sweep(moving)
    assert moving.fresh(row).state == "unknown"
    sweep(moving, QUIET_S, rounds=3)
    assert moving.fresh(row).state == "unknown", "c29: a clock that jumps on one host decides nothing"
    quiet(moving, later_s=200)
    row = moving.fresh(row)
    assert row.state == "not_seen", row.last_problem
    assert moving.outcomes(row) == ["absent"]
    sweep(moving, QUIET_S + 400)
    sound(moving, row, executed=0)


SENT = {"kind": "recv", "after": "^send POST"}


@pytest.mark.parametrize(
    ("kind", "point"),
    [
        pytest.param(states.TO_USER, SENT, id="c6 sent, to a user"),
        pytest.param(states.CONVERT, SENT, id="c6 sent, a conversion"),
        pytest.param(states.BANK_TO_TRADING, {**SENT, "nth": 2}, id="c6 half answered"),
        pytest.param(states.BANK_TO_TRADING, {**KEPT_OUTCOME, "after": "^send POST"}, id="c12 answered"),
        pytest.param(
            states.BANK_TO_TRADING,
            {"kind": "sql", "like": 'INSERT INTO "desk_auditevent"', "after": "^send POST"},
            id="c12 outcome kept",
        ),
        pytest.param(
            states.CONVERT,
            {"kind": "commit", "after": 'UPDATE "exchange_ops_ledgerentry" SET .transfer'},
            id="c12 moved, not committed",
        ),
    ],
)
def test_c6_c12_what_the_exchange_has_moved_is_found(moving, kind, point):
    row = die(moving, due(moving, kind), **point)
    assert row.state == "sending"
    sweep(moving)
    row = moving.fresh(row)
    assert (row.state, row.ledger_seen_at is not None) == ("done", True), row.last_problem
    sound(moving, row, executed=1)


def test_killed_while_it_finds_out_nothing_is_sent_and_the_next_one_finds_it(moving):
    row = die(moving, due(moving), kind="recv", after="^send POST")
    Transfer.objects.filter(pk=row.pk).update(next_action_at=clock.now(), lease_until=None)
    moving.nursery.run("advance_transfer", transfer_id=row.pk)
    assert moving.fresh(row).state == "unknown"
    row = die(moving, row, kind="sql", like='INSERT INTO "exchange_ops_transferevent"')
    assert row.state == "unknown"
    sweep(moving)
    assert moving.fresh(row).state == "done"
    sound(moving, row, executed=1)


def test_c2_workers_that_begin_together_make_one_call(moving):
    row = due(moving, states.TO_USER)
    outcomes = moving.nursery.at_once(*[("advance_transfer", {"transfer_id": row.pk})] * 4)
    assert not [one["raised"] for one in outcomes if "raised" in one]
    assert moving.fresh(row).state == "done"
    sound(moving, row, executed=1)


def test_c13_a_paused_worker_comes_back_after_others_took_over_and_sends_nothing(moving):
    row = due(moving)
    # Between its two transactions: it has claimed the call and not marked it as sent.
    between = {"kind": "begin", "after": "INSERT INTO .exchange_ops_transfercall"}
    moving.nursery.pause("advance_transfer", between, transfer_id=row.pk)
    sweep(moving, rounds=1)
    assert moving.fresh(row).state == "unknown"
    outcome = moving.nursery.go_on()
    assert "raised" not in outcome, outcome
    row = moving.fresh(row)
    assert (row.state, moving.outcomes(row)) == ("unknown", ["not_sent"])
    sweep(moving)
    row = moving.fresh(row)
    assert (row.state, row.last_problem) == ("not_seen", "Not sent: the deadline passed before it could be sent.")
    sound(moving, row, executed=0)


def test_c14_a_worker_that_sends_after_its_transfer_was_closed_raises_the_alarm(moving):
    """Held up between its last look and the socket for longer than the quiet period: no software can prevent that."""
    row = due(moving)
    moving.nursery.pause("advance_transfer", EXCHANGE, transfer_id=row.pk)
    sweep(moving)
    quiet(moving)
    row = moving.end("close", moving.fresh(row))
    assert row.state == "closed"
    outcome = moving.nursery.go_on()
    assert "raised" not in outcome, outcome
    moving.walk.read_ledger()
    sweep(moving, QUIET_S + 400)
    row = moving.fresh(row)
    assert row.state == "investigate"
    assert "appeared late" in row.last_problem
    sound(moving, row, executed=1)


def test_c27_old_wake_up_calls_replayed_change_nothing(moving):
    row = due(moving)
    sweep(moving)
    assert moving.fresh(row).ledger_seen_at is not None
    for _ in range(4):
        assert moving.nursery.run("advance_transfer", transfer_id=row.pk)["result"] is False
    sound(moving, row, executed=1)
