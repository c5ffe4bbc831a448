"""Whoever asked is told once how it ended: for every end but their own, and nobody else is told that way."""

import pytest

from desk import clock
from desk.notifications import finding, wishes
from desk.notifications.models import Delivery, Notification
from exchange_ops.transfers import machine as transfer_machine
from exchange_ops.transfers.models import TransferApproval
from exchange_ops.withdrawals import machine as withdrawal_machine
from tests.exchange_ops import rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def asker(make_person):
    return make_person("operator", username="olga", email="olga@desk.test")


def told_of_the_end():
    rows_of = Notification.objects.filter(phase="asked")
    return list(rows_of.values_list("reference", "outcome", "recipients__person__username"))


def cancelled(person, by):
    row = rows.requested(person, now=clock.now())
    withdrawal_machine.move(row, event="cancelled", to="cancelled", now=clock.now(), actor=by)
    return row


def test_an_end_that_others_brought_is_told_to_the_asker_once(asker, treasury):
    row = cancelled(asker, treasury)
    open_one = rows.held(asker, now=clock.now())
    for _ in range(2):
        finding.notify_due(now=clock.now())
    assert told_of_the_end() == [(row.reference, "cancelled by treasury", "olga")]
    mails = Delivery.objects.filter(notification__phase="asked")
    assert list(mails.values_list("person__username", flat=True)) == ["olga"]
    assert open_one.is_open


def test_what_somebody_took_back_is_no_news_to_them(asker):
    cancelled(asker, asker)
    finding.notify_due(now=clock.now())
    assert told_of_the_end() == []


def test_a_transfer_is_told_of_only_where_others_had_a_say(asker, treasury):
    rows.currency(transfer_enabled=True, now=clock.now())
    rejected, taken_back = (rows.transfer(asker, kind="to_user", now=clock.now()) for _ in range(2))
    rows.transfer_sent(asker, to="done", now=clock.now())
    vote = {"initiator": asker, "digest": rejected.digest, "stage": "review", "verdict": "reject", "at": clock.now()}
    TransferApproval.objects.create(transfer=rejected, person=treasury, **vote)
    transfer_machine.move(rejected, event="rejected", to="rejected", now=clock.now(), actor=treasury)
    transfer_machine.move(taken_back, event="cancelled", to="cancelled", now=clock.now(), actor=asker)
    finding.notify_due(now=clock.now())
    assert told_of_the_end() == [(rejected.reference, "rejected", "olga")]


def test_only_who_asks_chooses_whether_they_hear_of_it(asker, treasury):
    assert "requests" in [wish.kind for wish in wishes.options(asker)]
    assert "requests" not in [wish.kind for wish in wishes.options(treasury)]
    wishes.save(asker, by_email=(), in_browser=("requests",), quiet=(None, None), turn=1)
    cancelled(asker, treasury)
    finding.notify_due(now=clock.now())
    assert not Delivery.objects.filter(notification__phase="asked").exists()
    assert Notification.objects.get(phase="asked").recipients.get().in_browser
