"""Whoever asked for an order that needed an approval is told once how that ended, and why."""

import json
from datetime import timedelta

import pytest

from desk import clock
from desk.notifications import finding, messages
from desk.notifications.models import Notification, Recipient
from exchange_ops.orders.decisions import approvals
from tests.exchange_ops.orders.test_approvals import approve, codes, treasurer, waits

pytestmark = [pytest.mark.django_db(transaction=True)]
__all__ = ["codes", "treasurer", "waits"]  # fixtures


def heard(row):
    """What was told of how the order ended, and to whom."""
    finding.notify_due(now=clock.now())
    finding.notify_due(now=clock.now() + timedelta(seconds=3))
    rows = Notification.objects.filter(subject=row.subject, phase="asked")
    people = Recipient.objects.filter(notification__in=rows).values_list("person__username", flat=True)
    return [(one.outcome, one.sentence) for one in rows], list(people)


def test_that_it_was_approved_and_placed(dealing, waits, treasurer, codes):
    assert heard(waits) == ([], [])
    row = approve(codes, treasurer, waits)
    assert heard(row) == ([], []), "approved is no end: the exchange was not asked yet"
    row = dealing.step(row)
    assert row.state == "placed"
    assert heard(row) == ([("placed", "Accepted by the exchange. Status as of the last update.")], ["operator"])


def test_that_it_was_declined_with_the_reason(waits, treasurer):
    approvals.decline(order_id=waits.pk, person=treasurer, reason="Too large for today", now=clock.now())
    ((outcome, sentence),), people = heard(waits)
    assert (outcome, people) == ("declined", ["operator"]), "receivers of webhooks compare this word"
    notification = Notification.objects.get(subject=waits.subject, phase="asked")
    assert messages.headline(notification) == f"Rejected: {waits.reference}"
    assert json.loads(messages.webhook(notification))["data"]["outcome"] == "declined"
    assert sentence.startswith("Not placed: treasury rejected the order.")
    assert sentence.endswith("Rejected by tilda: Too large for today")


def test_that_nobody_decided_in_time(dealing, waits):
    row = dealing.step(waits, later=timedelta(minutes=31))
    assert row.state == "lapsed"
    ((outcome, sentence),), people = heard(row)
    assert (outcome, people) == ("approval expired", ["operator"])
    assert "no decision before the deadline" in sentence


def test_that_the_exchange_refused_what_was_approved(dealing, waits, treasurer, codes):
    row = approve(codes, treasurer, waits)
    dealing.fault("create_order", "refuse", code=20001)
    assert dealing.step(row).state == "refused"
    ((outcome, sentence),), people = heard(row)
    assert (outcome, people) == ("refused by the exchange", ["operator"])
    assert "20001" in sentence


def test_what_they_took_back_themselves_is_no_news(dealing, waits):
    approvals.withdraw(order_id=waits.pk, person=dealing.operator, reason="", now=clock.now())
    assert heard(waits) == ([], [])
