"""A hold whose answer never came: found by reading, waited for, closed, or given to two people. Never sent again."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.keys import store as keys
from exchange_ops.policy import freezes
from exchange_ops.wire.catalogue import Right
from exchange_ops.withdrawals import workflow
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal
from tests import trail
from tests.exchange_ops.withdrawals.walks import ADDRESS

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: lost answers")]


def unknown(walk, **changes):
    """A hold that the exchange has and we have no answer about."""
    walk.fault("create_withdrawal", "drop_after")
    return walk.until(walk.request(**changes), "hold_unknown")


def somebody_elses(walk, comment="", amount="0.05"):
    """A hold of the same content, made by hand with our own key."""
    client = keys.client_for(walk.account, Right.WITHDRAW)
    try:
        return client.create_withdrawal(currency="BTC", amount=Decimal(amount), address=ADDRESS, public_comment=comment)
    finally:
        client.close()


@pytest.mark.parametrize("polls", [1, 2, 3])
def test_a_hold_that_is_listed_late_is_adopted(walk, polls):
    walk.sandbox.control("clock", {"frozen": True})
    walk.sandbox.control("config", {"list_delay_ms": 10_000})
    row = unknown(walk)
    for _ in range(polls):
        row = walk.step(row)
        assert row.state == "hold_unknown"
    walk.later(seconds=11)
    row = walk.step(row)
    assert row.state == "held"
    assert ExternalCall.objects.get(withdrawal=row).outcome == "found"


def test_a_record_that_moved_while_the_pages_were_read_is_found(walk):
    row = unknown(walk)
    for number in range(5):
        made = somebody_elses(walk, comment=f"number {number}", amount=f"0.1{number}")
        client = keys.client_for(walk.account, Right.WITHDRAW)
        client.rollback_withdrawal(exchange_id=made)
        client.close()
    row = walk.step(row)
    assert row.state == "held"


def test_without_tags_it_is_adopted_by_its_content(walk):
    walk.sandbox.control("config", {"echo_comment": False})
    row = walk.until(unknown(walk), "held")
    assert row.exchange_id == walk.payouts()[0].id
    assert walk.step(row).echo_ok is True


def test_two_candidates_go_to_two_people_and_freeze(walk):
    """Somebody made the same payout in the exchange's own site while our answer was lost."""
    row = unknown(walk)
    somebody_elses(walk)
    row = walk.step(row)
    assert (row.state, row.exchange_id) == ("investigate", None)
    assert "2 payouts" in row.last_problem
    assert freezes.active(walk.account) is not None
    assert walk.sweep() == 0
    assert walk.calls("rollback_withdrawal", "commit_withdrawal") == []


def test_a_candidate_that_was_executed_goes_to_two_people(walk):
    row = unknown(walk)
    walk.sandbox.control(f"payouts/{walk.payouts()[0].id}", {"status": "pending"})
    row = walk.step(row)
    assert row.state == "investigate"
    assert freezes.active(walk.account) is not None


def test_a_candidate_of_another_request_is_not_ours(walk):
    other = walk.held()
    walk.fault("create_withdrawal", "drop_before")
    row = walk.until(walk.request(), "hold_unknown")
    assert walk.step(row).state == "hold_unknown"
    assert walk.fresh(other).state == "held"


def test_an_older_payout_of_the_same_content_is_not_ours(walk):
    walk.sandbox.control("config", {"echo_comment": False})
    somebody_elses(walk)
    walk.read_ledger()
    walk.fault("create_withdrawal", "drop_before")
    row = walk.until(walk.request(), "hold_unknown")
    assert walk.step(row).state == "hold_unknown"


def test_a_hold_that_lapsed_before_it_was_found_is_closed(walk):
    row = unknown(walk)
    walk.later(minutes=61)
    row = walk.step(row)
    assert row.state == "lapsed"
    assert walk.payouts()[0].status == "failed"


def test_a_ledger_that_can_not_be_read_closes_nothing(walk):
    walk.fault("create_withdrawal", "drop_before")
    row = walk.until(walk.request(), "hold_unknown")
    walk.later(minutes=65)
    for kind in ({"kind": "html"}, {"kind": "status", "status": 503}, {"kind": "cut_body"}, {"kind": "drop_before"}):
        walk.fault("get_transactions", **kind, times=9)
        row = walk.step(row)
        assert row.state == "hold_unknown"
        assert "not available" in row.last_problem
        walk.heal()
    assert walk.step(row).state == "lapsed"


@pytest.fixture
def at(walk, monkeypatch):
    """One step of the row by a worker whose clock is so far on."""
    real = clock.now

    def step(row, **since):
        monkeypatch.setattr(clock, "now", lambda: real() + timedelta(**since))
        Withdrawal.objects.filter(pk=row.pk).update(next_action_at=clock.now(), lease_until=None)
        workflow.advance(row.pk, now=clock.now(), client_for=walk.client_for)
        monkeypatch.setattr(clock, "now", real)
        return walk.fresh(row)

    return step


def test_a_page_of_a_proxy_blocks_a_payout_for_five_minutes_of_a_ledger_without_it(walk, at):
    walk.fault("create_withdrawal", "html")
    row = walk.until(walk.request(), "hold_unknown")
    assert at(row, minutes=6).state == "hold_unknown", "our clock alone may have been set forward"
    walk.later(minutes=4)
    assert at(row, minutes=4).state == "hold_unknown", "too early by both clocks"
    walk.later(minutes=2)
    assert at(row, minutes=4).state == "hold_unknown", "the exchange's clock alone may have been set forward"
    walk.fault("get_transactions", "status", status=503, times=9)
    assert at(row, minutes=6).state == "hold_unknown", "the ledger was not read"
    walk.heal()
    row = at(row, minutes=6)
    assert row.state == "lapsed"
    assert walk.payouts() == []
    assert ExternalCall.objects.get(withdrawal=row).outcome == "absent"


def test_a_hold_that_comes_up_after_the_five_minutes_is_released_and_never_paid(walk, at):
    walk.sandbox.control("config", {"list_delay_ms": 600_000})
    row = unknown(walk)
    walk.later(minutes=6)
    assert at(row, minutes=6).state == "lapsed"
    walk.later(minutes=5)
    walk.read_ledger()
    walk.sweep()
    assert [payout.status for payout in walk.payouts()] == ["failed"]
    assert walk.calls("commit_withdrawal") == []


def test_a_record_with_our_tag_that_can_not_be_read_is_not_overlooked(walk):
    row = unknown(walk)
    walk.fault("get_transactions", "echo_differs", field="amount", value="many", times=99)
    walk.later(minutes=63)
    assert walk.step(row).state == "hold_unknown"
    walk.later(minutes=8)
    row = walk.step(row)
    assert row.state == "investigate"
    assert "unreadable" in row.last_problem


def test_an_answer_that_comes_after_the_adoption_changes_nothing(walk):
    """The worker waits for its answer while its lease ends and another one adopts the hold."""
    row = walk.until(walk.request(), "queued")

    class Slow:
        def __call__(self, account, right):
            client = keys.client_for(account, right)
            create = client.create_withdrawal

            def late(**arguments):
                made = create(**arguments)
                walk.client_for = keys.client_for
                adopted = walk.until(row, "held")
                assert adopted.exchange_id == made
                return made

            client.create_withdrawal = late
            return client

    walk.client_for = Slow()
    after = walk.step(row)
    assert (after.state, len(walk.payouts())) == ("held", 1)
    assert [event.event for event in after.events.all()].count("hold_accepted") == 0
    assert trail.problems() == []


def test_a_zombie_that_sends_after_the_end_leaves_an_orphan_that_is_released(walk, monkeypatch):
    """A worker was paused between its claim and its send; the row lapsed; then it went on and sent all the same."""
    from desk.machines import calls

    row = walk.until(walk.request(), "queued")
    monkeypatch.setattr(calls, "_mark_sent", lambda *_: "")

    class Paused:
        def __call__(self, account, right):
            client = keys.client_for(account, right)
            create = client.create_withdrawal

            def late(**arguments):
                walk.client_for = keys.client_for
                walk.later(minutes=63)
                walk.until(row, "lapsed")
                return create(**arguments)

            client.create_withdrawal = late
            return client

    walk.client_for = Paused()
    assert walk.step(row).state == "lapsed"
    assert [payout.status for payout in walk.payouts()] == ["created"]
    walk.read_ledger()
    assert walk.sweep() >= 1
    assert [payout.status for payout in walk.payouts()] == ["failed"]
    assert walk.fresh(row).state == "lapsed"
    assert walk.calls("commit_withdrawal") == []
    assert walk.outcomes(row, "orphan") == ["accepted"]
    assert walk.sweep() == 0
    assert trail.problems() == []


def test_a_paused_worker_finds_that_its_claim_is_gone_and_sends_nothing(walk, monkeypatch):
    from exchange_ops.withdrawals.steps import holding

    row = walk.until(walk.request(), "queued")
    claim = holding._claimed

    def claim_and_pause(claimed, now):
        call = claim(claimed, now)
        assert walk.step(row).state == "hold_unknown"
        return call

    monkeypatch.setattr(holding, "_claimed", claim_and_pause)
    walk.step(row)
    assert walk.calls("create_withdrawal") == []
    assert walk.outcomes(row, "hold") == ["not_sent"]


def test_an_orphan_of_an_earlier_attempt_is_released_while_the_request_goes_on(walk):
    """The first attempt was proven not sent, and its bytes arrive all the same; the second attempt is the real one."""
    from exchange_ops.withdrawals.steps import holding

    row = walk.held()
    stray = somebody_elses(walk, comment=holding.tag(withdrawal_id=row.pk, attempt=9))
    ExternalCall.objects.create(
        account=walk.account,
        withdrawal=row,
        kind="hold",
        attempt=9,
        epoch=1,
        tag=holding.tag(withdrawal_id=row.pk, attempt=9),
        fingerprint="0" * 64,
        prepared_at=clock.now(),
        send_by=clock.now(),
    )
    walk.read_ledger()
    walk.sweep()
    states_of = {payout.id: str(payout.status) for payout in walk.payouts()}
    assert states_of == {row.exchange_id: "created", stray: "failed"}
    walk.approve(row)
    walk.until(row, "committed")
