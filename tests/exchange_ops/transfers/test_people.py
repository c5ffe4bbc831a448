"""What people ask for and decide: every local problem, approvals, closing, asking anew, and two people for the rest."""

import uuid
from decimal import Decimal

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from desk import audit_check, clock
from desk.people import stepup
from exchange_ops.keys import store as keys
from exchange_ops.ledger import refresh as copies
from exchange_ops.market.models import Currency
from exchange_ops.policy import freezes
from exchange_ops.policy.models import PolicyVersion, QuorumTier
from exchange_ops.subaccounts.models import SubAccount
from exchange_ops.transfers import approvals, endings, machine, states, workflow
from exchange_ops.transfers.models import Transfer, TransferApproval, TransferCall, TransferEvent
from exchange_ops.transfers.states import STATES, TRANSITIONS
from tests import trail

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.engine("money: never without its quorum"),
]


# Asking ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "changes", "field", "words"),
    [
        ("somewhere", {}, "kind", "Choose a transfer type"),
        (states.BANK_TO_TRADING, {"reason": "  "}, "reason", "Enter the purpose"),
        (states.BANK_TO_TRADING, {"reason": "x" * 501}, "reason", "500"),
        (states.BANK_TO_TRADING, {"request_key": ""}, "__all__", "form is incomplete"),
        (states.BANK_TO_TRADING, {"currency": "NOPE"}, "currency", "not listed"),
        (states.BANK_TO_TRADING, {"amount": Decimal(0)}, "amount", "greater than zero"),
        (states.BANK_TO_TRADING, {"amount": Decimal(-1)}, "amount", "greater than zero"),
        (states.BANK_TO_TRADING, {"amount": Decimal("NaN")}, "amount", "Enter a valid amount"),
        (states.BANK_TO_TRADING, {"amount": Decimal("Infinity")}, "amount", "Enter a valid amount"),
        (states.BANK_TO_TRADING, {"amount": Decimal("1e40")}, "amount", "Enter a valid amount"),
        (states.BANK_TO_TRADING, {"amount": Decimal("1e-19")}, "amount", "decimals"),
        (states.BANK_TO_TRADING, {"amount": Decimal(101)}, "amount", "in the bank account at"),
        (states.TRADING_TO_BANK, {"amount": Decimal(10**6)}, "amount", "in the trading account at"),
        (states.TO_USER, {"by": "phone"}, "by", "e-mail address or username"),
        (states.TO_USER, {"identifier": ""}, "identifier", "Enter the other user's username"),
        (states.TO_USER, {"identifier": "оther"}, "identifier", "look-alike characters"),
        (states.TO_USER, {"identifier": "a b"}, "identifier", "letters, digits"),
        (states.TO_USER, {"by": "email", "identifier": "other@"}, "identifier", "valid e-mail"),
        (states.TO_USER, {"by": "email", "identifier": "a\n@b.test"}, "identifier", "look-alike"),
        (states.CONVERT, {"to_currency": ""}, "to_currency", "Choose"),
        (states.CONVERT, {"to_currency": "USD"}, "to_currency", "a different currency"),
        (states.CONVERT, {"to_currency": "BTC"}, "to_currency", "on another network"),
        (states.CONVERT, {"to_currency": "'; DROP TABLE"}, "to_currency", "Choose"),
        (states.TO_SUBACCOUNT, {"subaccount_id": None}, "subaccount_id", "Choose"),
        (states.TO_SUBACCOUNT, {"subaccount_id": 99}, "subaccount_id", "no sub-account 99"),
        (states.TO_SUBACCOUNT, {"subaccount_id": 7004}, "subaccount_id", "no transfers to or from it"),
        (states.FROM_SUBACCOUNT, {"subaccount_id": 7004}, "subaccount_id", "no transfers to or from it"),
    ],
)
def test_what_is_wrong_is_said_beside_its_field_and_nothing_is_written(moving, kind, changes, field, words):
    copies.sync_ledgers(now=clock.now(), client_for=keys.client_for)
    with pytest.raises(workflow.CannotTransfer) as refusal:
        moving.request(kind, **changes)
    assert words in refusal.value.problems[field]
    assert not Transfer.objects.exists()
    assert not TransferEvent.objects.exists()


def test_a_closed_or_delisted_currency_and_a_frozen_sub_account_are_refused_before_sending(moving):
    Currency.objects.filter(pk="BTC").update(transfer_enabled=False)
    with pytest.raises(workflow.CannotTransfer, match=r"suspended [A-Z]+ transfers"):
        moving.request()
    moving.request(states.TO_SUBACCOUNT)  # only the two wallets are closed
    Currency.objects.filter(pk="BTC").update(transfer_enabled=True, delisted=True)
    with pytest.raises(workflow.CannotTransfer, match="delisted"):
        moving.request()
    Currency.objects.filter(pk="BTC").update(delisted=False)
    SubAccount.objects.filter(exchange_id=7001).update(status="disable", closed_as="frozen")
    with pytest.raises(workflow.CannotTransfer, match="7001 is unclear"):
        moving.request(states.TO_SUBACCOUNT)
    SubAccount.objects.filter(exchange_id=7001).update(status="active", closed_as="", wanted="frozen")
    with pytest.raises(workflow.CannotTransfer, match="7001 is being frozen"):
        moving.request(states.FROM_SUBACCOUNT)
    assert moving.walk.calls("transfer_subaccount_funds") == []


def test_what_closes_after_it_was_asked_for_makes_it_wait_and_nothing_is_sent(moving):
    row = moving.approved(states.TO_SUBACCOUNT)
    SubAccount.objects.filter(exchange_id=7001).update(status="disable")
    row = moving.step(row)
    assert row.state == "approved"
    assert "no transfers to or from it" in row.last_problem
    assert moving.calls(row) == []
    SubAccount.objects.filter(exchange_id=7001).update(status="active")
    assert moving.step(row).state == "done"


def test_only_operators_ask_and_a_key_is_used_once(moving):
    with pytest.raises(workflow.CannotTransfer, match="Only operators"):
        moving.request(initiator=moving.walk.approvers[0])
    key = str(uuid.uuid4())
    first, second = moving.request(request_key=key), moving.request(request_key=key)
    assert first.pk == second.pk
    with pytest.raises(workflow.CannotTransfer, match="already submitted with different content"):
        moving.request(request_key=key, amount=Decimal("0.3"))
    assert Transfer.objects.count() == 1


def test_it_can_be_taken_back_until_it_is_sent(moving):
    row = moving.request()
    other = moving.walk.approvers[0]
    with pytest.raises(workflow.CannotCancel, match="Only the requester"):
        workflow.cancel(transfer_id=moving.request(states.TO_USER).pk, person=other, reason="No", now=clock.now())
    row = workflow.cancel(transfer_id=row.pk, person=moving.walk.operator, reason="Wrong", now=clock.now())
    assert row.state == "cancelled"
    assert moving.step(row).state == "cancelled"
    assert moving.calls(row) == []
    done = moving.until(moving.request(), "done")
    with pytest.raises(workflow.CannotCancel, match="can no longer be withdrawn"):
        workflow.cancel(transfer_id=done.pk, person=moving.walk.operator, reason="Wrong", now=clock.now())
    with pytest.raises(workflow.CannotCancel, match="Transfer not found"):
        workflow.cancel(transfer_id=0, person=moving.walk.operator, reason="Wrong", now=clock.now())


# Approving ------------------------------------------------------------------------------------------------------------


def test_only_what_leaves_for_others_is_approved(moving):
    by_kind = {kind: moving.request(kind).state for kind in states.KINDS}
    assert by_kind == {kind: "review" if kind == states.TO_USER else "approved" for kind in states.KINDS}
    assert approvals.undecided().count() == 1


def test_nothing_is_sent_before_the_quorum_and_never_by_the_initiator(moving, make_person):
    row = moving.request(states.TO_USER)
    assert moving.step(row).state == "review"
    first = moving.walk.approvers[0]
    assert list(approvals.waiting().for_person(first)) == [row]
    with pytest.raises(approvals.CannotApprove, match="after you opened it"):
        moving.approve(row, digest="0" * 64)
    with pytest.raises(stepup.CannotConfirm):
        moving.approve(row, answer={"kind": "totp", "code": "000000"})
    with pytest.raises(approvals.CannotApprove, match="requested this transfer"):
        moving.approve(row, moving.walk.operator, answer={})
    with pytest.raises(approvals.CannotApprove, match="Only treasury"):
        moving.approve(row, make_person("admin"), answer={})
    assert moving.calls(row) == []
    assert moving.approve(row).state == "approved"
    assert list(approvals.waiting().for_person(first)) == []
    with pytest.raises(approvals.CannotApprove, match="Already decided by"):
        moving.approve(row, moving.walk.approvers[1])
    assert moving.until(row, "done").decided_by == first


def test_a_large_one_takes_as_many_people_as_a_payout_of_its_value(moving):
    row = moving.request(states.TO_USER, amount=Decimal(100))
    assert row.quorum_required >= 2
    assert moving.approve(row).state == "review"
    with pytest.raises(approvals.CannotApprove, match="Your decision is already recorded"):
        moving.approve(row)
    assert list(approvals.waiting().for_person(moving.walk.approvers[0])) == []
    for person in moving.walk.approvers[1 : row.quorum_required]:
        moving.approve(row, person)
    assert moving.until(row, "done").state == "done"


def test_a_name_that_looks_like_a_known_one_takes_one_person_more(moving):
    moving.until(moving.approved(states.TO_USER), "done")
    alike = moving.request(states.TO_USER, identifier="0ther")
    assert alike.lookalikes == ["other"]
    assert alike.quorum_required == 2
    assert any("resembles other" in sentence for sentence in alike.policy_trace)
    assert moving.request(states.TO_USER, identifier="Other").lookalikes == []
    known = moving.request(states.TO_USER)
    assert (known.lookalikes, known.quorum_required) == ([], 1)
    unknown = moving.request(states.TO_USER, identifier="somebody.else")
    assert any("First transfer to this recipient" in sentence for sentence in unknown.policy_trace)


def test_a_rejected_one_is_over(moving):
    row = moving.request(states.TO_USER)
    with pytest.raises(approvals.CannotApprove, match="Enter a reason"):
        approvals.reject(transfer_id=row.pk, person=moving.walk.approvers[0], reason=" ", now=clock.now())
    row = approvals.reject(transfer_id=row.pk, person=moving.walk.approvers[0], reason="Not ours", now=clock.now())
    assert row.state == "rejected"
    with pytest.raises(approvals.CannotApprove, match="Already decided by treasury"):
        moving.approve(row, moving.walk.approvers[1])
    assert moving.step(row).state == "rejected"
    assert moving.calls(row) == []


def test_other_rules_and_a_freeze_make_approvals_void(moving, settings):
    settings.MFA_TOTP_TOLERANCE = 100  # people decide faster here than codes change
    row = moving.approved(states.TO_USER)
    newer = PolicyVersion.objects.create(number=2, published_at=clock.now())
    QuorumTier.objects.create(policy=newer, up_to=None, approvals=2, mode="hold_then_approve")
    row = moving.step(row)
    assert (row.state, row.quorum_required) == ("review", 2)
    for person in moving.walk.approvers[:2]:
        moving.approve(row, person)
    frozen = freezes.freeze(person=moving.walk.approvers[0], reason="Odd", account=moving.walk.account, now=clock.now())
    row = moving.step(row)
    assert row.state == "review", "approvals from before a freeze are void"
    with pytest.raises(approvals.CannotApprove, match="frozen"):
        moving.approve(row)
    for person in moving.walk.approvers[:2]:
        freezes.thaw(
            freeze_id=frozen.pk,
            person=person,
            answer=moving.walk.answer(person),
            reason="Fine",
            session_key="session-of-a-test",
            now=clock.now(),
        )
    assert moving.step(row).state == "review"
    assert moving.calls(row) == []


def test_a_freeze_stops_every_kind(moving):
    rows = [moving.approved(kind) for kind in (states.BANK_TO_TRADING, states.CONVERT, states.TO_SUBACCOUNT)]
    freezes.freeze(person=moving.walk.approvers[0], reason="Odd", account=moving.walk.account, now=clock.now())
    for requested in rows:
        moving.step(requested)
        row = moving.step(moving.step(requested))
        assert row.state == "approved"
        assert "frozen" in row.last_problem
        assert moving.calls(row) == []


def test_an_approver_who_lost_the_role_does_not_count(moving):
    row = moving.approved(states.TO_USER)
    moving.walk.approvers[0].groups.clear()
    row = moving.step(row)
    assert row.state == "review"
    assert moving.calls(row) == []
    moving.approve(row, moving.walk.approvers[1])
    assert moving.until(row, "done").state == "done"


# Ending ---------------------------------------------------------------------------------------------------------------


def test_what_was_not_seen_is_closed_with_a_second_factor(moving):
    row = moving.not_seen()
    for refused, changes in (
        (endings.CannotClose, {"reason": " "}),
        (endings.CannotClose, {"digest": "0" * 64}),
        (endings.CannotClose, {"person": moving.walk.operator, "answer": {}}),
        (stepup.CannotConfirm, {"answer": {"kind": "totp", "code": "000000"}}),
    ):
        with pytest.raises(refused):
            moving.end("close", row, **changes)
    row = moving.end("close", row)
    assert (row.state, row.decided_by) == ("closed", moving.walk.approvers[0])
    with pytest.raises(endings.CannotClose, match="No decision needed"):
        moving.end("close", row)
    assert len(moving.calls(row)) == 1
    assert trail.problems() == []


def test_asking_anew_makes_a_new_transfer_once_with_approvals_of_its_own(moving):
    old = moving.not_seen(states.TO_USER)
    key = str(uuid.uuid4())
    person = moving.walk.approvers[0]
    new = moving.end("reissue", old, request_key=key)
    assert moving.end("reissue", old, request_key=key, digest="", answer={}).pk == new.pk, "a double click"
    assert (new.state, new.reissues_id, new.initiator) == ("review", old.pk, person)
    assert moving.fresh(old).state == "closed"
    assert old.reissued_as == new
    with pytest.raises(approvals.CannotApprove, match="You requested this transfer"):
        moving.approve(new, person)
    with pytest.raises(endings.CannotClose, match="No decision needed"):
        moving.end("reissue", old, moving.walk.approvers[1])
    moving.ahead *= 0
    moving.approve(new, moving.walk.approvers[1])
    assert moving.until(new, "done").state == "done"
    assert len(moving.calls(old)) == 2
    assert len(moving.calls(old, executed=True)) == 1
    assert trail.problems() == []


def test_asking_anew_for_what_is_impossible_today_leaves_the_old_one_open(moving):
    old = moving.not_seen()
    Currency.objects.filter(pk="BTC").update(transfer_enabled=False)
    with pytest.raises(workflow.CannotTransfer, match=r"suspended [A-Z]+ transfers"):
        moving.end("reissue", old)
    assert moving.fresh(old).state == "not_seen"


@pytest.mark.parametrize("verdict", ["moved", "not_moved"])
def test_an_unclear_one_takes_two_people_of_one_mind(moving, verdict):
    row = moving.not_seen()
    row = machine.move(row, event="appeared_late", to="investigate", now=clock.now(), next_action_at=None)
    one, two, three = moving.walk.approvers
    other = "moved" if verdict == "not_moved" else "not_moved"
    with pytest.raises(endings.CannotResolve, match="requester can't be one of them"):
        moving.end("resolve", row, moving.walk.operator, answer={})
    assert moving.end("resolve", row, one, verdict=verdict).state == "investigate"
    with pytest.raises(endings.CannotResolve, match="Your finding is already recorded"):
        moving.end("resolve", row, one, verdict=verdict)
    assert moving.end("resolve", row, two, verdict=other).state == "investigate"
    assert moving.end("resolve", row, three, verdict=verdict).state == f"resolved_{verdict}"
    assert trail.problems() == []


# The table and what the database refuses ------------------------------------------------------------------------------


def test_the_table_is_whole():
    assert {move.source for move in TRANSITIONS} - {""} | {move.target for move in TRANSITIONS} == set(STATES)
    for name, state in STATES.items():
        leaves = {move.event for move in TRANSITIONS if move.source == name}
        assert leaves or state.terminal, name
        assert state.sentence.endswith(".")
    back = {move.event for move in TRANSITIONS if move.target in {"approved", "sending"} and move.row > 3}
    assert back == {"not_sent"}, "nothing goes back across a call that may have been heard"


def refused(statement, *arguments):
    with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, arguments)


def test_the_database_refuses_what_only_the_mover_does(moving):
    row = moving.request(states.TO_USER)
    table = "exchange_ops_transfer"
    for change in (
        "state = 'approved'",
        "version = version + 1",
        "amount = 2",
        "identifier = 'nobody'",
        "attempt = 1",
        "quorum_required = 0",
    ):
        refused(f"UPDATE {table} SET {change} WHERE id = %s", row.pk)
    refused(f"DELETE FROM {table} WHERE id = %s", row.pk)
    refused("UPDATE exchange_ops_transferevent SET event = 'x'")
    refused("DELETE FROM exchange_ops_transferevent")
    done = moving.until(moving.request(), "done")
    refused(f"UPDATE {table} SET exchange_id = 'other' WHERE id = %s", done.pk)
    refused("UPDATE exchange_ops_transfercall SET watermark = 0")
    refused("DELETE FROM exchange_ops_transfercall")
    assert trail.problems() == []


def test_the_database_counts_the_approvals_itself(moving):
    """Even the mover can't send without the quorum on exactly this content."""
    row = moving.approved(states.TO_USER)
    with pytest.raises(machine.CannotMove, match="every approval of exactly this content"):
        machine.move(
            row,
            event="send_claimed",
            to="sending",
            now=clock.now(),
            attempt=1,
            digest="0" * 64,
            next_action_at=clock.now(),
        )
    assert moving.fresh(row).state == "approved"


def test_the_database_takes_one_sent_call_a_transfer(moving):
    row = moving.until(moving.request(), "done")
    call = TransferCall.objects.get(transfer=row)
    call.pk, call.attempt = None, 2
    for outcome in ("prepared", "sent", "unknown", "accepted", "refused"):
        call.outcome = outcome
        with pytest.raises(IntegrityError), transaction.atomic():
            call.save(force_insert=True)


def test_an_approval_by_the_initiator_is_refused_by_the_database(moving):
    row = moving.request(states.TO_USER)
    for initiator in (moving.walk.operator, moving.walk.approvers[0]):
        with pytest.raises(DatabaseError), transaction.atomic():
            TransferApproval.objects.create(
                transfer=row,
                initiator=initiator,
                person=moving.walk.operator,
                digest=row.digest,
                stage="review",
                verdict="reject",
                at=clock.now(),
            )


def test_the_guards_are_there():
    if connection.vendor == "sqlite":
        question = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
    else:
        question = "SELECT tgname FROM pg_trigger"
    with connection.cursor() as cursor:
        cursor.execute(question)
        found = {name for (name,) in cursor.fetchall()}
    assert set(machine.GUARDS.statements(connection.vendor)) <= found


def test_a_change_behind_the_movers_back_shows_in_the_replay(moving):
    row = moving.until(moving.request(), "done")
    assert trail.problems() == []
    machine.GUARDS.remove(connection)
    try:
        Transfer.objects.filter(pk=row.pk).update(state="refused")
        problems = audit_check.verify(replay=True)
        Transfer.objects.filter(pk=row.pk).update(state="done")
    finally:
        machine.GUARDS.install(connection)
    assert any(f"{row.reference}: state is 'refused' in the table but 'done' in the trail" in one for one in problems)
