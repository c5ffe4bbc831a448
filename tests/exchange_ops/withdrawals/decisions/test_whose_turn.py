"""What waits for each of many people at once is what each of them is shown as theirs."""

from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from desk import clock
from desk.actions import entries
from desk.incidents import decisions, review
from desk.incidents.models import Incident
from desk.models import Person
from desk.notifications import finding
from desk.processes import uptime
from exchange_ops.policy import freezes
from exchange_ops.shared import alarms
from exchange_ops.transfers import states
from exchange_ops.withdrawals import machine
from tests.exchange_ops.permissions.shared_form import colleague
from tests.exchange_ops.permissions.subjects import members, payees, rule_changes
from tests.exchange_ops.transfers.movings import Moving
from tests.rows import unguarded

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine("SQL of our own")]


@pytest.fixture
def moving(walk):
    return Moving(walk)


@pytest.fixture
def everybody(moving, make_person):
    """People of every role and of none, one of them with two roles, one switched off."""
    more = [make_person(role, username=f"{role}-2") for role in ("operator", "admin", "auditor")]
    more.append(make_person("operator", "treasury", username="both"))
    more.append(make_person("treasury", username="gone", is_active=False))
    more.append(make_person(username="nobody"))
    return [moving.walk.operator, *moving.walk.approvers, *more]


def asked_one_by_one(source, people):
    return {
        (person.pk, entry.subject, entry.phase)
        for person in people
        for entry in source.waiting(person, clock.now())
        if entry.mine
    }


def asked_at_once(people):
    """By source; each is held against what every person is shown."""
    found = {source.name: source for source in entries.sources()}
    at_once = {name: [(person.pk, *key) for person, key in source.recipients(people)] for name, source in found.items()}
    for name, lines in at_once.items():
        assert len(lines) == len(set(lines))
        assert set(lines) == asked_one_by_one(found[name], people)
        for person in people:
            assert found[name].count(person, "") == sum(pk == person.pk for pk, *_ in lines)
    return at_once


def test_nothing_waits_for_anybody(everybody):
    assert asked_at_once(everybody) == {source.name: [] for source in entries.sources()}


def test_each_is_named_what_they_can_decide_and_nobody_else(moving, everybody):
    walk, (operator, first, second, third, *_, both, _gone, _nobody) = moving.walk, everybody
    held, own = walk.held(), walk.held(amount=Decimal("0.02"), initiator=both)
    large = walk.until(walk.request(amount=Decimal(20)), "review")  # last: what comes after it shares its tier
    sent = moving.request(states.TO_USER, amount=Decimal(100))
    walk.approve(large, first)
    moving.approve(sent, second)
    whom = {}
    for pk, subject, _ in asked_at_once(everybody)["approvals"]:
        whom.setdefault(subject, set()).add(pk)
    assert whom == {
        held.subject: {first.pk, second.pk, third.pk, both.pk},
        large.subject: {second.pk, third.pk, both.pk},
        own.subject: {first.pk, second.pk, third.pk},
        sent.subject: {first.pk, third.pk, both.pk},
    }
    assert operator.pk not in set.union(*whom.values())


def test_a_word_on_what_was_changed_since_or_on_another_stage_is_none(moving, everybody):
    walk, first = moving.walk, everybody[1]
    row = walk.until(walk.request(amount=Decimal(20)), "review")
    walk.approve(row, first)
    subjects = [subject for pk, subject, _ in asked_at_once(everybody)["approvals"] if pk == first.pk]
    assert subjects == []
    with unguarded(machine.GUARDS):
        type(row).objects.filter(pk=row.pk).update(digest="0" * 64)
    assert [pk for pk, *_ in asked_at_once(everybody)["approvals"]].count(first.pk) == 1
    with unguarded(machine.GUARDS):
        type(row).objects.filter(pk=row.pk).update(digest=row.digest, state="held", echo_ok=True)
    assert [pk for pk, *_ in asked_at_once(everybody)["approvals"]].count(first.pk) == 1


def test_an_incident_waits_for_whoever_may_act_until_one_of_them_takes_it(moving, everybody, monkeypatch):
    monkeypatch.setattr(uptime, "_began", -10_000.0)
    first = everybody[1]
    freezes.freeze(person=None, reason="A drill.", account=moving.walk.account, now=clock.now())
    review.review(now=clock.now())
    row = Incident.objects.get(kind=alarms.FROZEN)
    before = {pk for pk, subject, _ in asked_at_once(everybody)["incidents"] if subject == row.subject}
    assert {first.pk, everybody[2].pk} <= before
    decisions.acknowledge(incident_id=row.pk, person=first, now=clock.now())
    after = {pk for pk, subject, _ in asked_at_once(everybody)["incidents"] if subject == row.subject}
    assert after == {first.pk}


def test_rules_people_and_payees_wait_for_those_who_decide_on_them(everybody, settings):
    settings.DEMO = False  # where one person alone changes roles
    operator, first, second, third, *_, both, _gone, _nobody = everybody
    admin, other = colleague("admin", "first-admin"), colleague("admin", "second-admin")
    payees.added(operator)
    rule_changes.reach("proposed", colleague("treasury", "proposer"))
    members.change("requested", admin)
    newcomer = colleague("treasury", "newcomer")
    newcomer.unconfirmed_since = clock.now()
    newcomer.save()
    lines = asked_at_once([*everybody, admin, other, newcomer])
    whom = {name: {pk for pk, *_ in of_source} for name, of_source in lines.items()}
    treasury = {first.pk, second.pk, third.pk, both.pk}
    assert whom["payees"] == treasury
    assert whom["policy"] >= treasury | {admin.pk}
    assert whom["colleagues"] == treasury
    assert admin.pk not in whom["people"] >= {other.pk}


def test_looking_asks_as_many_questions_for_forty_people_as_for_four(moving, everybody, make_person):
    moving.walk.held()

    def questions():
        finding.notify_due(now=clock.now())
        with CaptureQueriesContext(connection) as queries:
            finding.notify_due(now=clock.now())
        return len(queries)

    few = questions()
    for number in range(36):
        make_person("treasury", username=f"treasury-{number}")
    assert Person.objects.count() > 40
    assert questions() == few
