"""The table of the machine, its one mover, and what the database refuses to anybody else."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import IntegrityError, connection, transaction

from desk import audit_check, clock
from desk.machines import mover as machine_mover
from desk.models import AuditEvent
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.policy.models import PolicyVersion
from exchange_ops.shared.models import Account
from exchange_ops.withdrawals import machine, states
from exchange_ops.withdrawals.models import ExternalCall, Withdrawal, WithdrawalEvent
from exchange_ops.withdrawals.states import STATES, TRANSITIONS

rows = [pytest.mark.django_db(transaction=True), pytest.mark.engine("guards: what the database refuses")]

NOW = clock.now()


# The table -----------------------------------------------------------------------------------------------------------


def test_every_move_joins_two_states_and_every_state_can_be_reached_and_left():
    for move in TRANSITIONS:
        assert move.target in STATES
        assert move.source in STATES or (move.source, move.event) == ("", "created")
        assert not (move.source and STATES[move.source].terminal), f"{move.source} is an end"
        assert move.who
    reached = {"draft"}
    while more := {move.target for move in TRANSITIONS if move.source in reached} - reached:
        reached |= more
    assert reached == set(STATES)
    for name, state in STATES.items():
        leaves = any(move.source == name for move in TRANSITIONS)
        assert leaves is not state.terminal


def test_the_numbered_rows_are_all_there():
    assert {move.row for move in TRANSITIONS} == set(range(1, 34))


def test_every_state_says_what_happened_to_the_money_first_and_whose_turn_it_is():
    known = ("Not paid", "Nothing", "Paid", "Sent", "Approved, payment not confirmed", "The exchange")
    money = (*known, "It is unknown whether")
    for name, state in STATES.items():
        assert state.sentence.startswith(money), name
        assert state.turn in {"person", "worker", "exchange", "chain", "nobody"}
        assert state.terminal <= (state.turn == "nobody")
        assert len(state.label) <= 45
    assert STATES["settled"].sentence.startswith("Paid, confirmed by the exchange")


def test_no_move_goes_back_across_a_sent_call():
    """From a state in which a call may be out, nothing leads to a state before it, unless it was proven not sent."""
    before = {"draft", "review", "queued"}
    after = set(STATES) - before - {"cancelled"}
    back = [(m.source, m.event, m.target) for m in TRANSITIONS if m.source in after and m.target in before]
    assert back == [("holding", "hold_not_sent", "queued")]
    ordered = {"commit_unknown", "committed", "sent", "settled", "verified", "disputed", "expired", "failed"}
    assert not [m for m in TRANSITIONS if m.source in ordered and m.target in {"held", "committing", "rolling_back"}]


def test_only_rows_15_32_33_and_the_decision_itself_change_a_decision():
    """Rows 32 and 33 give it back to people with other content: nothing was ordered, and no vote counts for it."""
    for move in TRANSITIONS:
        source, target = STATES.get(move.source), STATES[move.target]
        if source and states.COMMIT in source.decisions and source.decisions != states.DECISIONS:
            loses = states.COMMIT not in target.decisions
            gives_back = move.row in {32, 33} and move.target == "held"
            assert not loses or gives_back or (move.source, move.target) == ("committing", "rolling_back")


# The mover -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def row(db, operator):
    account = Account.objects.create(name="Main desk")
    return machine.create(unsaved(account, operator), now=NOW, actor=operator)


def unsaved(account, operator, **changes):
    values = {
        "account": account,
        "initiator": operator,
        "request_key": "one",
        "currency": "BTC",
        "amount": Decimal("1.25"),
        "address": "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
        "reason": "An invoice",
    }
    return Withdrawal(**(values | changes))


class TestMover:
    pytestmark = rows

    def test_a_move_writes_row_event_and_trail_together(self, row):
        machine.move(row, event="submitted", to="queued", now=NOW, evidence={"fee": Decimal("0.10")}, quorum_required=2)
        stored = Withdrawal.objects.get(pk=row.pk)
        assert (stored.state, stored.version, stored.quorum_required) == ("queued", 2, 2)
        assert stored.next_action_at == NOW
        event = stored.events.get(version=2)
        assert (event.event, event.from_state, event.to_state) == ("submitted", "draft", "queued")
        trail = AuditEvent.objects.get(seq=event.audit_number)
        assert (trail.action, trail.subject) == ("withdrawal.submitted", f"withdrawal:{row.pk}")
        assert trail.before == {"state": "draft", "version": 1, "decision": "none", "quorum_required": 0}
        assert trail.after["evidence"] == {"fee": "0.1"}
        assert audit_check.verify(replay=True) == []

    @pytest.mark.parametrize(
        ("event", "to"), [("submitted", "held"), ("hold_claimed", "holding"), ("nonsense", "queued"), ("released", "")]
    )
    def test_a_move_that_is_not_in_the_table_is_refused(self, row, event, to):
        with pytest.raises(machine_mover.CannotMove):
            machine.move(row, event=event, to=to, now=NOW)
        assert (row.state, Withdrawal.objects.get(pk=row.pk).version, WithdrawalEvent.objects.count()) == (
            "draft",
            1,
            1,
        )

    def test_of_two_who_saw_the_same_version_one_wins(self, row):
        other = Withdrawal.objects.get(pk=row.pk)
        machine.move(row, event="submitted", to="queued", now=NOW)
        with pytest.raises(machine_mover.CannotMove):
            machine.move(other, event="cancelled", to="cancelled", now=NOW)
        assert (other.state, other.version) == ("draft", 1)
        assert Withdrawal.objects.get(pk=row.pk).state == "queued"
        assert WithdrawalEvent.objects.count() == AuditEvent.objects.count() == 2

    def test_a_touch_needs_the_same_version_and_never_changes_the_decision(self, row):
        other = Withdrawal.objects.get(pk=row.pk)
        assert machine.touch(row, last_problem="Waits")
        machine.move(row, event="submitted", to="queued", now=NOW)
        assert not machine.touch(other, last_problem="Too late")
        for forbidden in (
            "state",
            "version",
            "decision",
            "amount",
            "digest",
            "put_count",
            "exchange_id",
            "fee_estimate",
        ):
            with pytest.raises(ValueError, match="Only a state transition"):
                machine.touch(row, **{forbidden: "x"})

    def test_a_touch_and_a_move_need_the_same_version_where_the_state_is_the_same(self, row):
        move_to(row, *HELD)
        other = Withdrawal.objects.get(pk=row.pk)
        machine.move(row, event="echo_agrees", to="held", now=NOW)
        assert not machine.touch(other, last_problem="Too late")
        with pytest.raises(machine_mover.CannotMove):
            machine.move(other, event="echo_agrees", to="held", now=NOW)
        assert (Withdrawal.objects.get(pk=row.pk).last_problem, row.events.count()) == ("", len(HELD) + 2)

    def test_an_end_is_never_looked_at_again(self, row):
        machine.move(row, event="cancelled", to="cancelled", now=NOW)
        stored = Withdrawal.objects.get(pk=row.pk)
        assert (stored.next_action_at, stored.lease_until, stored.is_open) == (None, None, False)

    def test_a_failed_transaction_leaves_nothing(self, row):
        class Broken(BaseException):
            """Not to be caught by the product."""

        def break_after_the_move():
            with transaction.atomic():
                machine.move(row, event="submitted", to="queued", now=NOW)
                raise Broken

        with pytest.raises(Broken):
            break_after_the_move()
        assert (Withdrawal.objects.get(pk=row.pk).state, WithdrawalEvent.objects.count()) == ("draft", 1)


# The database --------------------------------------------------------------------------------------------------------


def move_to(row, *path):
    """The row along moves of the table, with the columns that its constraints ask for."""
    for event, to, changes in path:
        machine.move(row, event=event, to=to, now=NOW, **changes)
    return row


HELD = (
    ("submitted", "queued", {}),
    ("hold_claimed", "holding", {"attempt": 1, "tag": "tx-1"}),
    ("hold_accepted", "held", {"exchange_id": "id-1"}),
)
DECIDED = {"decided_at": NOW}


class TestDatabase:
    pytestmark = rows

    @pytest.mark.parametrize(
        "change",
        [{"state": "committed"}, {"version": 2}, {"decision": "commit", "decided_at": NOW}, {"state": "nowhere"}],
    )
    def test_nobody_but_the_mover_changes_state_version_or_decision(self, row, change):
        with pytest.raises(IntegrityError), transaction.atomic():
            Withdrawal.objects.filter(pk=row.pk).update(**change)

    def test_a_made_up_event_does_not_open_the_way_to_a_state_that_does_not_fit_the_decision(self, row):
        move_to(row, *HELD)
        WithdrawalEvent.objects.create(
            withdrawal=row,
            version=5,
            event="quorum_reached",
            from_state="held",
            to_state="committing",
            decision="none",
            audit_number=1,
            at=NOW,
        )
        with pytest.raises(IntegrityError), transaction.atomic():
            Withdrawal.objects.filter(pk=row.pk).update(state="committing", version=5)

    @pytest.mark.parametrize("decision", ["commit", "rollback"])
    def test_a_decision_is_latched(self, row, decision):
        move_to(row, *HELD)
        event, to = ("quorum_reached", "committing") if decision == "commit" else ("rejected", "rolling_back")
        machine.move(row, event=event, to=to, now=NOW, decision=decision, **DECIDED)
        for other in {"none", "commit", "rollback"} - {decision}:
            with pytest.raises(IntegrityError), transaction.atomic():
                Withdrawal.objects.filter(pk=row.pk).update(decision=other)

    def test_an_event_that_is_no_move_of_the_table_is_refused(self, row):
        with pytest.raises(IntegrityError), transaction.atomic():
            WithdrawalEvent.objects.create(
                withdrawal=row,
                version=2,
                event="submitted",
                from_state="draft",
                to_state="committed",
                decision="none",
                audit_number=1,
                at=NOW,
            )

    def test_a_decision_is_never_empty(self, row):
        with pytest.raises(IntegrityError), transaction.atomic():
            Withdrawal.objects.filter(pk=row.pk).update(decision=None)

    def test_one_hold_is_told_one_thing(self, row):
        move_to(row, *HELD)
        with pytest.raises(IntegrityError, match="never both"), transaction.atomic():
            Withdrawal.objects.filter(pk=row.pk).update(put_count=1)
        with pytest.raises(IntegrityError, match="never both"), transaction.atomic():
            Withdrawal.objects.filter(pk=row.pk).update(delete_count=1)
        machine.move(row, event="quorum_reached", to="committing", now=NOW, decision="commit", **DECIDED)
        machine.move(row, event="commit_claimed", to="committing", now=NOW, put_count=1)
        for change in ({"put_count": 0}, {"delete_count": 1}):
            with pytest.raises(IntegrityError, match="never both"), transaction.atomic():
                Withdrawal.objects.filter(pk=row.pk).update(**change)

    def test_a_hold_keeps_its_number(self, row):
        move_to(row, *HELD)
        for number in ("id-2", None):
            with pytest.raises(IntegrityError, match="keeps what it was given"), transaction.atomic():
                Withdrawal.objects.filter(pk=row.pk).update(exchange_id=number)

    def test_two_equal_holds_are_never_asked_for_at_once(self, row, operator):
        twin = machine.create(unsaved(row.account, operator, request_key="two", amount=Decimal("1.250")), now=NOW)
        move_to(row, *HELD[:2])
        machine.move(twin, event="submitted", to="queued", now=NOW)
        with pytest.raises(machine_mover.CannotMove, match="database rejected"):
            machine.move(twin, event="hold_claimed", to="holding", now=NOW, attempt=1, tag="tx-2")
        machine.move(row, event="hold_accepted", to="held", now=NOW, exchange_id="id-1")
        machine.move(twin, event="hold_claimed", to="holding", now=NOW, attempt=1, tag="tx-2")
        with pytest.raises(machine_mover.CannotMove, match="database rejected"):
            machine.move(twin, event="hold_accepted", to="held", now=NOW, exchange_id="id-1")

    def test_a_request_key_is_used_once_by_a_person(self, row, operator, treasury):
        with pytest.raises(IntegrityError), transaction.atomic():
            machine.create(unsaved(row.account, operator), now=NOW)
        machine.create(unsaved(row.account, treasury), now=NOW)

    @pytest.mark.parametrize("amount", [Decimal(0), Decimal("-1")])
    def test_an_amount_is_above_zero(self, row, operator, amount):
        with pytest.raises(IntegrityError), transaction.atomic():
            machine.create(unsaved(row.account, operator, request_key="x", amount=amount), now=NOW)

    def test_a_row_begins_as_a_draft(self, row, operator):
        ready = unsaved(row.account, operator, request_key="x", state="held", version=1, created_at=NOW, updated_at=NOW)
        with pytest.raises(IntegrityError, match="begins as draft"), transaction.atomic():
            ready.save()

    def test_a_call_is_written_once(self, row):
        values = {"account": row.account, "withdrawal": row, "kind": "hold", "attempt": 1, "epoch": 1}
        values |= {"fingerprint": "0" * 64, "prepared_at": NOW, "send_by": NOW}
        ExternalCall.objects.create(**values)
        with pytest.raises(IntegrityError), transaction.atomic():
            ExternalCall.objects.create(**values)
        with pytest.raises(IntegrityError), transaction.atomic():
            ExternalCall.objects.update(outcome="guessed")

    def test_nothing_about_money_is_removed_and_no_history_edited(self, row):
        ExternalCall.objects.create(
            account=row.account,
            withdrawal=row,
            kind="hold",
            attempt=1,
            epoch=1,
            fingerprint="0",
            prepared_at=NOW,
            send_by=NOW,
        )
        LedgerEntry.objects.create(
            account=row.account,
            exchange_id="a",
            index=1,
            type="payin",
            status="success",
            currency="BTC",
            amount=1,
            created_at=NOW,
            updated_at=NOW,
            first_seen_at=NOW,
            seen_at=NOW,
        )
        for table in ("withdrawalevent", "externalcall", "ledgerentry", "policyversion", "withdrawal"):
            with pytest.raises(IntegrityError, match="never removed"), transaction.atomic():
                execute(f"DELETE FROM exchange_ops_{table}")
        for statement in (
            "UPDATE exchange_ops_withdrawalevent SET event = 'x'",
            "UPDATE exchange_ops_policyversion SET note = 'x'",
            "UPDATE exchange_ops_quorumtier SET approvals = 1",
        ):
            with pytest.raises(IntegrityError, match="never changed"), transaction.atomic():
                execute(statement)

    def test_every_trigger_of_the_list_is_in_the_database(self, row):
        named = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
        if connection.vendor == "postgresql":
            named = "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal"
        with connection.cursor() as cursor:
            cursor.execute(named)
            found = {name for (name,) in cursor.fetchall()}
        assert set(machine.GUARDS.statements(connection.vendor)) <= found

    def test_the_first_rules_are_there_and_published_once(self, row):
        from exchange_ops.policy import quorum as policy

        policy.ensure_first(now=NOW + timedelta(days=1))
        assert [version.number for version in PolicyVersion.objects.all()] == [1]


def execute(statement):
    with connection.cursor() as cursor:
        cursor.execute(statement)


# The replay ----------------------------------------------------------------------------------------------------------


class TestReplay:
    pytestmark = rows

    def tampered(self, statement):
        """The findings after a change behind the guards' back."""
        machine.GUARDS.remove(connection)
        try:
            execute(statement)
        finally:
            machine.GUARDS.install(connection)
        return " ".join(audit_check.verify(replay=True))

    def test_an_untouched_desk_replays_to_its_rows(self, row):
        move_to(row, *HELD)
        assert audit_check.verify(replay=True) == []

    @pytest.mark.parametrize(
        ("change", "finding"),
        [
            ("state = 'refused'", "state is 'refused' in the table"),
            ("address = '1BoatSLRHtKNngkdXEeobR76b53LETtpyT'", "address is"),
            ("amount = '9'", "amount is '9' in the table but '1.25' in the trail"),
            ("exchange_id = 'id-2'", "exchange_id is 'id-2'"),
            ("quorum_required = 0", "quorum_required is 0"),
            ("version = 9", "version is 9"),
        ],
    )
    def test_a_row_changed_behind_the_mover_shows(self, row, change, finding):
        machine.move(row, event="submitted", to="queued", now=NOW, quorum_required=2)
        move_to(row, *HELD[1:])
        assert finding in self.tampered(f"UPDATE exchange_ops_withdrawal SET {change}")

    def test_a_row_or_an_event_that_was_removed_or_added_shows(self, row):
        move_to(row, *HELD)
        assert "does not match the trail" in self.tampered("DELETE FROM exchange_ops_withdrawalevent WHERE version = 2")
        self.tampered("DELETE FROM exchange_ops_withdrawalevent")
        found = self.tampered("DELETE FROM exchange_ops_withdrawal")
        assert "is in the trail but not in the table" in found
