"""What somebody approved who is switched off: named before, void after, and not revived when they come back."""

# ruff: noqa: F811  fixtures are named as what they give
from decimal import Decimal

import pytest

from desk import clock
from desk.actions.approvals import SOURCE
from desk.live import announcements
from desk.models import AuditEvent, Person
from desk.people import tokens
from desk.rows import fingerprint
from desk.staff import deactivation, states
from exchange_ops.orders.brackets import workflow as brackets
from exchange_ops.withdrawals.decisions import approvals
from exchange_ops.withdrawals.models import Withdrawal
from exchange_ops.withdrawals.views import decisions
from tests.desk.staff.conftest import admins, code, enrolled, no_demo  # noqa: F401
from tests.desk.staff.keeping import answer_at, deactivated_by_two, requested
from tests.exchange_ops import rows
from tests.exchange_ops.orders import order_rows
from tests.exchange_ops.orders.brackets import bracket_rows

pytestmark = pytest.mark.django_db


@pytest.fixture
def hints(monkeypatch):
    topics = []
    monkeypatch.setattr(announcements, "announce", lambda topic, **hint: topics.append(topic))
    return topics


def test_switching_off_ends_what_opens_and_voids_open_words(admins, enrolled, payable, hints, make_person):
    first, second = admins
    operator, second_of_treasury, code = make_person("operator"), make_person("treasury"), answer_at
    person, now = enrolled("treasury", username="leaves"), clock.now()
    token, _ = tokens.create(person=person, name="script", now=now)
    waiting = requested(states.ROLES, person, second, code(0), grants=["operator"])
    row = rows.held(operator, now=now, amount=Decimal(30))
    approved(row, person, code(0))
    assert [word.reference for word in deactivation.open_words(person)] == [row.reference]
    assert counts_of(row, second_of_treasury) == ("1 of 2 approvals", "1 of 2 approvals")
    epoch = Person.objects.get(pk=person.pk).session_epoch
    hints.clear()
    deactivated_by_two(person, (first, second), code(1))
    assert {row.subject, "approvals"} <= {*hints}, "open pages count again"
    assert counts_of(row, second_of_treasury) == ("0 of 2 approvals", "0 of 2 approvals")
    after = Person.objects.get(pk=person.pk)
    assert (after.is_active, after.session_epoch > epoch) == (False, True)
    token.refresh_from_db()
    waiting.refresh_from_db()
    assert token.revoked_at is not None
    assert waiting.state == states.WITHDRAWN
    assert counting(row) == 0
    event = AuditEvent.objects.get(action="person.deactivated")
    assert event.after["void"] == [row.reference]
    assert event.after["reason"] == "Left"


def test_who_comes_back_finds_earlier_words_void(admins, enrolled, operator, payable, code):
    first, second = admins
    person = enrolled("treasury", username="returns")
    row = rows.held(operator, now=clock.now(), amount=Decimal(30))
    approved(row, person, code())
    assert counting(row) == 1
    deactivated_by_two(person, (first, second), code())
    requested(states.REACTIVATE, person, second, code(1))
    assert Person.objects.get(pk=person.pk).is_active
    assert counting(row) == 0


def test_the_brackets_of_who_leaves_are_named_until_they_are_over(signed_in, admins, enrolled, code):
    order_rows.market(now=clock.now())
    person = enrolled("operator", username="leaves")
    row = bracket_rows.without_a_stop(person, now=clock.now())
    client = signed_in(admins[0])

    def text(kind, whose=person, **wanted):
        return client.get(f"/people/{whose.pk}/change/{kind}/", wanted).content.decode()

    page = text("deactivate")
    assert f'<a href="/orders/brackets/{row.pk}/">{row.reference}</a>' in page
    assert "Bracket on a buy order in BCHUSD, stop at 380, take profit at 480; no stop" in page
    assert "Work that will continue" in text("roles", role=["auditor"])
    assert "Work that will continue" not in text("deactivate", admins[1])
    brackets.let_go(bracket_id=row.pk, person=person, now=clock.now())
    assert "Work that will continue" not in text("deactivate")


def counts_of(row, person):
    """How many approvals the card of the list and the page of the payout say that there are."""
    entry = next(each for each in SOURCE.waiting(person, clock.now()) if each.subject == row.subject)
    assert entry.facts["fingerprint"] == fingerprint.words(row.digest), "messages name the words of the page"
    return entry.progress, decisions.choices(Withdrawal.objects.get(pk=row.pk), person, now=clock.now()).progress


def approved(row, person, answer):
    seen = {"digest": row.digest, "comment": "", "session_key": "s", "now": clock.now()}
    approvals.approve(withdrawal_id=row.pk, person=person, answer=answer, **seen)


def counting(row):
    return approvals.valid(row, "release").count()
