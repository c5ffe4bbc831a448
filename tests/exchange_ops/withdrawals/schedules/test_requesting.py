"""What a schedule requests: each occurrence once, in the name of who set it up, and a reason where it does not."""

from datetime import timedelta
from threading import Barrier, Thread

import pytest
from django.db import DatabaseError, connection, transaction

from desk import audit_check, clock
from desk.audit import words
from desk.models import AuditEvent, Person
from desk.restores import settling, signs, waiting
from exchange_ops.market.models import Currency
from exchange_ops.payees import workflow as payees
from exchange_ops.policy import freezes
from exchange_ops.withdrawals import rules
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.schedules import book, requesting
from exchange_ops.withdrawals.schedules.models import PayoutOccurrence, PayoutSchedule
from exchange_ops.withdrawals.templates import book as templates
from tests.exchange_ops.permissions.shared_form import code_of_now, colleague
from tests.exchange_ops.permissions.subjects.payees import added, approved_by_two
from tests.exchange_ops.restores import restore_rows
from tests.exchange_ops.withdrawals.schedules import plans
from tests.rows import unguarded

pytestmark = pytest.mark.django_db


def requested():
    return Withdrawal.objects.filter(initiated_via="schedule")


def outcome():
    row = PayoutOccurrence.objects.get()
    return row.outcome, row.reason


def test_an_occurrence_is_requested_once_like_a_request_by_hand(operator, treasury, payable):
    row = plans.due(operator)
    assert requesting.sweep(now=clock.now()) == 1
    assert requesting.sweep(now=clock.now()) == 0
    payout, occurrence = requested().get(), PayoutOccurrence.objects.get()
    names = ("currency", "amount", "include_fee", "address", "payment_id", "reason")
    assert [getattr(payout, name) for name in names] == [getattr(row.template, name) for name in names]
    assert (payout.state, payout.initiator, occurrence.withdrawal, occurrence.number) == ("draft", operator, payout, 1)
    evidence = payout.events.get().evidence
    assert (evidence["schedule"], evidence["occurrence"]) == (row.reference, 1)
    assert (rules.may_decide(operator, payout), rules.may_decide(treasury, payout)) == (False, True)
    event = AuditEvent.objects.get(action="payout_schedule.requested")
    assert (event.actor_id, event.after["payout"]) == (None, payout.reference)
    sentence = words.telling([event]).sentence(event)
    assert sentence == f"System requested a payout for payout schedule {row.reference}: Rent."
    assert not [line for line in audit_check.verify(replay=True) if "schedule" in line or "occurrence" in line]


@pytest.mark.parametrize("broken", ["PayoutOccurrence.save", "record_outcome"])
@pytest.mark.django_db(transaction=True)
def test_a_process_that_is_killed_between_the_rows_leaves_none_of_them(operator, payable, monkeypatch, broken):
    plans.due(operator)

    def killed(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        owner = PayoutOccurrence if broken.startswith("Payout") else book
        patched.setattr(owner, broken.rpartition(".")[2], killed)
        with pytest.raises(KeyboardInterrupt):
            requesting.sweep(now=clock.now())
    assert not requested().exists()
    assert requesting.sweep(now=clock.now()) == 1
    assert (requested().count(), PayoutOccurrence.objects.count()) == (1, 1)


@pytest.mark.django_db(transaction=True)
def test_of_two_workers_at_one_moment_one_requests(operator, payable):
    plans.due(operator)
    barrier = Barrier(2)

    def work():
        barrier.wait()
        requesting.sweep(now=clock.now())
        connection.close()

    workers = [Thread(target=work) for _ in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join()
    assert (requested().count(), PayoutOccurrence.objects.count()) == (1, 1)


def deactivated(person, row):
    Person.objects.filter(pk=person.pk).update(is_active=False)


def without_the_role(person, row):
    person.groups.clear()


def at_another_account(person, row):
    Person.objects.filter(pk=person.pk).update(limits="operator:999")


def template_removed(person, row):
    templates.remove(row.template_id, person=person, now=clock.now())


def payout_suspended(person, row):
    Currency.objects.update(payout_enabled=False)


def nothing_available(person, row):
    row.account.balances.update(available=0)


REASONS = {
    deactivated: "can no longer request payouts for this account",
    without_the_role: "can no longer request payouts for this account",
    at_another_account: "can no longer request payouts for this account",
    template_removed: "The template Rent was removed.",
    payout_suspended: "The exchange has suspended BCH payouts.",
    nothing_available: "were available in the bank account",
}


@pytest.mark.parametrize("change", REASONS)
def test_what_speaks_against_a_request_is_recorded_in_its_place(operator, payable, change):
    row = plans.due(operator)
    change(operator, row)
    assert requesting.sweep(now=clock.now()) == 1
    name, reason = outcome()
    assert (name, requested().count()) == ("refused", 0)
    assert REASONS[change] in reason
    assert AuditEvent.objects.get(action="payout_schedule.refused").after["reason"] == reason


def test_a_payee_that_is_approved_no_more_is_not_paid(operator, treasury, payable):
    payee = approved_by_two(added(operator))
    after_cooling_off = clock.now() + timedelta(hours=51)
    row = plans.due(operator, first=timedelta(hours=50))
    assert row.payee == payee
    assert requesting.obstacle(row, now=after_cooling_off) == ""
    payees.remove(payee_id=payee.pk, person=treasury, reason="Closed", now=clock.now(), session_key="s")
    requesting.sweep(now=after_cooling_off)
    name, reason = outcome()
    assert (name, f"no longer the approved payee {payee.reference}" in reason) == ("refused", True)


def test_under_a_freeze_it_is_requested_and_waits_as_by_hand(operator, treasury, payable):
    row = plans.due(operator)
    freezes.freeze(person=treasury, reason="Checking", account=row.account, now=clock.now())
    requesting.sweep(now=clock.now())
    assert requested().get().state == "draft"


def test_after_more_than_a_day_an_occurrence_is_missed(operator, payable):
    plans.due(operator, first=timedelta(hours=-25))
    requesting.sweep(now=clock.now())
    assert (outcome()[0], requested().count()) == ("missed", 0)


def test_of_several_that_are_late_only_the_newest_is_requested(operator, payable):
    plans.due(operator, first=timedelta(days=-3, hours=-1), step=1, planned=10)
    assert requesting.sweep(now=clock.now()) == 4
    outcomes = PayoutOccurrence.objects.order_by("number").values_list("outcome", flat=True)
    assert list(outcomes) == ["missed", "missed", "missed", "requested"]


@pytest.mark.parametrize("verdict", [waiting.GO_ON, waiting.CANCEL])
@pytest.mark.django_db(transaction=True)
def test_after_a_restore_nothing_is_requested_that_may_have_been_before(operator, payable, verdict):
    row, restore = plans.due(operator), restore_rows.opened()
    assert requesting.sweep(now=clock.now()) == 0
    assert not PayoutOccurrence.objects.exists()
    verdicts = {f"payout_schedule:{row.pk}": verdict}
    for name in ("first", "second"):
        digest = settling.digest_of(restore, settling.items(restore), verdicts)
        words = {"verdicts": verdicts, "comment": "Compared", "digest": digest, "answer": code_of_now()}
        person = colleague("treasury", name)
        settling.give_word(restore_id=restore.pk, person=person, session_key="s", now=clock.now(), **words)
    assert not signs.problem()
    requesting.sweep(now=clock.now())
    assert not requested().exists()
    if verdict == waiting.CANCEL:
        assert (book.active().count(), PayoutOccurrence.objects.count()) == (0, 0)
    else:
        name, reason = outcome()
        assert (name, restore.reference in reason) == ("missed", True)


def test_forged_rows_are_refused(operator, treasury, payable):
    row = plans.due(operator)
    payout = Withdrawal.objects.order_by("pk").first()
    forged = {"schedule": row, "due_at": clock.now(), "at": clock.now()}
    for columns, says in (
        ({"number": 1, "outcome": "requested", "withdrawal": payout}, book.NOT_OF_SCHEDULE),
        ({"number": 2, "outcome": "missed"}, book.NOT_IN_TURN),
        ({"number": 1, "outcome": "requested"}, "requested_has_a_payout"),
        ({"number": 1, "outcome": "skipped"}, "skipped_by_a_person"),
    ):
        with pytest.raises(DatabaseError, match=says), transaction.atomic():
            PayoutOccurrence.objects.create(**forged, **columns)
    book.end(row.pk, reason="Moved", person=treasury, now=clock.now())
    with pytest.raises(DatabaseError, match=book.NOT_IN_TURN), transaction.atomic():
        PayoutOccurrence.objects.create(**forged, number=1, outcome="missed")
    assert requesting.sweep(now=clock.now()) == 0
    for change in (lambda: PayoutSchedule.objects.update(planned=99), row.delete):
        with pytest.raises(DatabaseError), transaction.atomic():
            change()


@pytest.mark.django_db(transaction=True)
def test_a_schedule_that_is_changed_past_the_desk_is_named(operator, payable):
    row = plans.due(operator)
    assert not [line for line in audit_check.verify(replay=True) if "payoutschedule" in line]
    with unguarded(book.GUARDS):
        connection.cursor().execute("UPDATE exchange_ops_payoutschedule SET planned = 99 WHERE id = %s", [row.pk])
    assert any("payoutschedule" in line for line in audit_check.verify(replay=True))
