"""A transfer whose answer was lost, or whose answer the ledger does not bear out. Never sent again, never guessed."""

from datetime import timedelta
from decimal import Decimal

import pytest

from desk import clock
from exchange_ops.keys import store as keys
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.policy import freezes
from exchange_ops.policy.models import Freeze
from exchange_ops.transfers import ledger_matching, states, workflow
from exchange_ops.transfers.models import TransferCall
from exchange_ops.wire.catalogue import Right
from tests import trail
from tests.exchange_ops.transfers.movings import OPERATIONS, QUIET_OVER

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("money: lost answers")]


def lost(moving, kind=states.BANK_TO_TRADING, *, executed=True, **changes):
    """A transfer whose answer was lost."""
    row = moving.approved(kind, **changes)
    moving.walk.fault(OPERATIONS[kind], "drop_after" if executed else "drop_before")
    return moving.until(row, "unknown")


def by_hand(moving, amount="1.5", way="bankToExchange", currency="BTC"):
    """Somebody moves the same on the exchange's own site."""
    client = keys.client_for(moving.walk.account, Right.PAYMENTS)
    try:
        return client.transfer_funds(currency=currency, amount=Decimal(amount), type=way)
    finally:
        client.close()


def freeze_clock(moving, **config):
    moving.walk.sandbox.control("clock", {"frozen": True})
    moving.walk.sandbox.control("config", config)


# Found ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("polls", [1, 3])
def test_c15_a_transfer_that_is_listed_late_is_waited_for(moving, polls):
    """The balances moved, and the ledger does not say so yet: neither done nor not done."""
    freeze_clock(moving, list_delay_ms=10_000)
    row = lost(moving)
    for _ in range(min(polls, 2)):
        row = moving.step(row)
        assert row.state == "unknown"
        assert "moved without a matching transaction" in row.last_problem
    moving.walk.later(seconds=11)
    row = moving.step(row)
    assert row.state == "done", row.last_problem
    assert moving.outcomes(row) == ["found"]


def test_c17_the_pages_move_while_they_are_read(moving):
    row = lost(moving)
    for number in range(1, 4):
        by_hand(moving, amount=f"0.{number}")
    row = moving.until(row, "done")
    assert [entry.amount for entry in moving.entries(row)] == [Decimal("1.5")]
    assert len(moving.calls(row, executed=True)) == 4, "ours and the three by hand"


def test_an_equal_transfer_of_an_hour_ago_is_not_taken_for_it(moving):
    by_hand(moving)
    moving.walk.read_ledger()
    row = lost(moving, executed=False)
    for _ in range(4):
        row = moving.step(row)
    assert row.state == "unknown"


def test_an_equal_transfer_that_was_listed_after_ours_was_sent_and_made_long_before_is_not_taken_for_it(moving):
    moving.walk.sandbox.control("config", {"list_delay_ms": 600_000})
    by_hand(moving)
    moving.walk.later(minutes=5)
    row = lost(moving, executed=False)
    moving.walk.later(minutes=6)
    assert moving.step(row).state == "unknown"
    moving.ahead = QUIET_OVER
    row = moving.until(row, "not_seen", "investigate")
    assert row.exchange_id is None


def test_one_of_ours_that_was_done_before_and_listed_late_is_no_movement_since(moving):
    freeze_clock(moving, list_delay_ms=20_000)
    first = moving.until(moving.request(amount=Decimal("0.75")), "done")
    row = lost(moving)
    moving.walk.later(seconds=21)
    row = moving.until(row, "done")
    assert row.exchange_id != first.exchange_id


def test_a_payout_and_trades_in_between_do_not_confuse_the_balance(moving):
    row = lost(moving)
    moving.walk.sandbox.control("deposit", {"currency": "BTC", "amount": "2"})
    moving.walk.until(moving.walk.request(), "held")
    row = moving.until(row, "done", most=8)
    assert moving.step(row).ledger_seen_at is not None


# Not certain ----------------------------------------------------------------------------------------------------------


def test_c33_two_equal_transfers_in_one_minute_are_for_two_people(moving):
    row = lost(moving)
    by_hand(moving)
    row = moving.step(row)
    assert row.state == "investigate"
    assert row.exchange_id is None
    assert "several transactions" in row.last_problem
    event = row.events.get(event="ambiguous")
    assert len(event.evidence["candidates"]) == 2
    assert len(moving.calls(row)) == 2
    assert not LedgerEntry.objects.filter(transfer=row).exists(), "nothing is linked by guess"


def test_balances_that_moved_without_a_transaction_are_for_two_people(moving):
    """The ledger shows nothing, and the money is gone all the same."""
    freeze_clock(moving, list_delay_ms=3_600_000)
    row = lost(moving)
    moving.ahead = QUIET_OVER
    row = moving.until(row, "investigate", "not_seen")
    assert row.state == "investigate"
    assert "-1.5 BTC moved without a matching transaction" in row.last_problem


def test_half_a_conversion_is_for_two_people(moving):
    """The ledger shows what was given, and something else instead of what was taken."""
    row = lost(moving, states.CONVERT)
    every = moving.walk.sandbox.world.exchange.transactions.of_account("desk@demo.test")
    taken = next(one for one in reversed(every) if one.type == "deposit" and one.sub_type == "swap")
    moving.walk.fault("get_transactions", "echo_differs", times=50, id=taken.id, field="subType", value="offchain")
    for _ in range(3):
        row = moving.step(row)
        assert row.state == "unknown"
        assert "only part of the transfer" in row.last_problem
    moving.ahead = QUIET_OVER
    assert moving.step(row).state == "investigate"


def test_an_unreadable_ledger_is_waited_for(moving):
    row = lost(moving, executed=False)
    moving.walk.fault("get_transactions", "status", status=503, times=20)
    moving.ahead = QUIET_OVER
    for _ in range(3):
        row = moving.step(row)
    assert row.state == "unknown"
    assert "not available" in row.last_problem
    moving.walk.heal()
    row = moving.until(row, "not_seen")
    assert row.events.get(event="not_found").evidence["listings"] == 3


def test_c13_a_late_answer_ends_it_without_reading(moving):
    row = lost(moving)
    call = TransferCall.objects.get(transfer=row)
    made = moving.moved(row)[-1].id
    TransferCall.objects.filter(pk=call.pk).update(outcome="accepted", exchange_id=made)
    row = moving.step(row)
    assert (row.state, row.exchange_id) == ("done", made)
    assert moving.outcomes(row) == ["accepted"]


# After it was closed --------------------------------------------------------------------------------------------------


def test_c12_what_appears_after_it_was_closed_raises_the_alarm(moving):
    row = moving.not_seen()
    row = moving.end("close", row)
    assert row.state == "closed"
    by_hand(moving)
    moving.walk.read_ledger()
    assert workflow.due(now=moving.now()).filter(pk=row.pk).exists(), "the ledger wakes it"
    workflow.advance(row.pk, now=moving.now(), client_for=keys.client_for)
    row = moving.fresh(row)
    assert row.state == "investigate"
    assert "appeared late" in row.last_problem
    assert trail.problems() == []


def test_what_a_new_transfer_waits_for_is_left_to_it(moving):
    old = moving.not_seen()
    new = moving.end("reissue", old)
    moving.ahead = timedelta(0)
    moving.walk.fault("transfer_funds", "drop_after")
    new = moving.until(new, "unknown")
    moving.walk.read_ledger()
    assert moving.step(old).state == "closed"
    new = moving.until(new, "done")
    for _ in range(2):
        assert moving.step(old).state == "closed"
    assert moving.fresh(new).reissues_id == old.pk


def test_what_was_asked_for_anew_is_not_sent_when_the_older_one_moved_after_all(moving):
    old = moving.not_seen()
    new = moving.end("reissue", old)
    by_hand(moving)
    for _ in range(2):
        new = moving.step(new)
        assert new.state == "approved"
        assert (
            f"{old.reference}, which this transfer replaces, has appeared in the exchange's ledger" in new.last_problem
        )
    assert moving.fresh(old).state == "investigate"
    assert moving.outcomes(new) == []
    for person in moving.walk.approvers[1:]:
        moving.end("resolve", old, person, verdict="not_moved")
    assert moving.until(new, "done").state == "done", "two people found that it was somebody else's"


def test_it_is_looked_for_a_day_and_no_longer(moving):
    row = moving.end("close", moving.not_seen())
    assert moving.step(row).next_action_at is not None
    moving.ahead += ledger_matching.LATE_FOR
    assert moving.step(row).next_action_at is None


# Answered, and not borne out ------------------------------------------------------------------------------------------


class _Lying:
    """Clients to whom the exchange says yes, with a number of its own, and does nothing."""

    def __call__(self, account, right):
        client = keys.client_for(account, right)
        client.transfer_to_user = lambda **_: "6f9619ff-8b86-4d01-b42d-00cf4fc964ff"
        return client


def test_c34_answered_and_never_listed_is_alarmed_after_ten_minutes(moving):
    row = moving.approved(states.TO_USER)
    moving.client_for = _Lying()
    row = moving.step(row)
    assert row.state == "done"
    for _ in range(3):
        row = moving.step(row)
        assert (row.state, row.ledger_seen_at) == ("done", None)
        assert row.next_action_at > clock.now()
    moving.ahead = timedelta(minutes=9, seconds=50)
    assert moving.step(row).state == "done"
    moving.ahead = timedelta(minutes=10, seconds=1)
    row = moving.step(row)
    assert row.state == "investigate"
    assert "does not show this transaction after ten minutes" in row.last_problem
    assert row.next_action_at is not None, "it is still looked for"
    assert trail.problems() == []


def test_c34_no_alarm_while_the_ledger_can_not_be_read(moving):
    row = moving.approved(states.TO_USER)
    moving.client_for = _Lying()
    row = moving.step(row)
    moving.walk.fault("get_transaction", "status", status=503, times=9)
    moving.ahead = timedelta(minutes=11)
    row = moving.step(row)
    assert row.state == "done"
    assert "not available" in row.last_problem
    moving.walk.heal()
    assert moving.step(row).state == "investigate"


def test_what_is_listed_after_the_alarm_ends_it(moving):
    """The exchange lists it after half an hour; nobody has to close it."""
    freeze_clock(moving, list_delay_ms=1_800_000)
    row = moving.until(moving.approved(states.TO_USER), "done")
    moving.walk.fault("get_transaction", "refuse", code=20004, times=2)
    moving.ahead = timedelta(minutes=11)
    row = moving.until(row, "investigate")
    moving.walk.heal()
    row = moving.step(row)
    assert row.state == "done"
    assert row.ledger_seen_at is not None
    assert [event.event for event in row.events.all()][-3:] == ["accepted", "not_listed", "listed"]


def test_another_amount_than_asked_for_freezes_the_account(moving):
    row = moving.until(moving.approved(states.TO_USER), "done")
    moving.walk.fault("get_transaction", "echo_differs", field="amount", value="25")
    row = moving.step(row)
    assert row.state == "investigate"
    assert "differs from the request" in row.last_problem
    assert row.reference in freezes.active(moving.walk.account).reason
    assert Freeze.objects.count() == 1
    assert trail.problems() == []


def test_another_word_for_the_same_direction_is_no_difference(moving):
    """What transfers to others are listed as is not documented."""
    row = moving.until(moving.approved(states.TO_USER), "done")
    moving.walk.fault("get_transaction", "echo_differs", field="type", value="payout")
    row = moving.step(row)
    assert (row.state, row.ledger_seen_at is not None) == ("done", True)


def test_our_own_transfers_are_not_foreign_and_somebody_elses_are(moving):
    row = moving.until(moving.approved(states.TO_USER), "done")
    client = keys.client_for(moving.walk.account, Right.WITHDRAW)
    other = client.transfer_to_user(currency="BTC", amount=Decimal("0.01"), by="username", identifier="other")
    client.close()
    moving.walk.read_ledger()
    foreign = LedgerEntry.objects.filter(foreign=True).values_list("exchange_id", flat=True)
    assert list(foreign) == [other]
    assert LedgerEntry.objects.get(exchange_id=row.exchange_id).transfer_id == row.pk


# Two workers ----------------------------------------------------------------------------------------------------------


def test_c2_a_second_worker_finds_nothing_to_do(moving):
    row = moving.approved()
    seen = moving.fresh(row)
    row = moving.step(row)
    assert row.state == "done"
    workflow.STEPS["approved"](seen, now=clock.now(), client_for=keys.client_for)
    assert len(moving.calls(row)) == 1
    assert moving.outcomes(row) == ["accepted"]


def test_a_lane_takes_one_at_a_time(moving):
    first = lost(moving)
    second, other = moving.approved(amount=Decimal("0.5")), moving.approved(states.TRADING_TO_BANK)
    second, other = moving.step(second), moving.step(other)
    assert second.state == "approved"
    assert f"{first.reference} is a similar transfer in progress" in second.last_problem
    assert other.state == "done", "another currency and another way is another lane"
    moving.until(first, "done")
    assert moving.step(second).state == "done"
    assert len(moving.calls(first)) == 3
