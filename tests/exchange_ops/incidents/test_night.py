"""A night in which nobody approves: every hold ends released at the exchange, and each is told once to each person."""

from collections import Counter
from decimal import Decimal

import pytest

from desk import clock
from desk.notifications import finding
from desk.notifications.models import Availability, Delivery
from exchange_ops.withdrawals import workflow

HOLDS = 4


def look():
    for _ in range(2):  # whoever looks once more tells nothing anew
        finding.notify_due(now=clock.now())


def mails(person, row):
    found = Delivery.objects.filter(person=person, notification__subject=row.subject)
    return Counter(found.values_list("notification__stage", flat=True))


@pytest.mark.timeout(600)
def test_the_holds_of_a_night_end_released_and_each_is_told_once_in_turn(walk):
    for turn, person in enumerate(walk.approvers, start=1):
        Availability.objects.create(person=person, turn=turn)
    for person in (walk.operator, *walk.approvers):
        person.email = f"{person.username}@desk.test"
        person.save()
    holds = [walk.held(amount=Decimal(number + 1) / 100) for number in range(HOLDS)]
    look()
    for minutes in (34, 8):  # 19 and 11 minutes before nobody can decide any more
        walk.later(minutes=minutes)
        look()
    walk.later(minutes=13.5)
    assert workflow.latch_deadlines(now=clock.now()) == HOLDS
    for row in holds:
        walk.until(row, "rolled_back")
    look()

    first, second, third = walk.approvers
    for row in holds:
        assert mails(first, row) == {"opened": 1, "escalated": 1, "everybody": 1, "ended": 1}
        assert mails(second, row) == {"escalated": 1, "everybody": 1, "ended": 1}
        assert mails(third, row) == {"everybody": 1, "ended": 1}
        assert mails(walk.operator, row) == {"ended": 1}, "of the end, as the one who asked"
    assert walk.calls("commit_withdrawal") == []
    assert len(walk.calls("rollback_withdrawal", executed=True)) == HOLDS
    assert walk.balanced()
