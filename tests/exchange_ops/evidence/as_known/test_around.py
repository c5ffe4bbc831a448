"""Incidents and rules as known at a moment, and who may open these pages."""

from datetime import timedelta

import pytest
from django.urls import reverse

from desk import clock
from desk.as_known.moments import Moment
from desk.incidents import as_known, decisions, machine
from desk.incidents.models import Incident
from exchange_ops.policy.models import PolicyVersion, QuorumTier
from exchange_ops.shared import alarms

pytestmark = pytest.mark.django_db
COLUMNS = ("state", "version", "taken_by_id", "reason", "gone_at", "kind", "severity", "scope", "page_key")


def columns(row):
    return {name: getattr(row, name) for name in COLUMNS}


def opened(*, minutes_ago):
    row = Incident(kind=alarms.KEY_REFUSED, cause="key:1", severity="high", page="keys", last_problem="A key fails")
    now = clock.now() - timedelta(minutes=minutes_ago)
    return machine.create(row, event="opened", now=now, evidence={"sentence": "A key fails"})


def test_an_incident_at_each_of_its_moments(make_person, signed_in):
    person = make_person("admin")
    row = opened(minutes_ago=30)
    first = clock.now() - timedelta(minutes=30)
    seen = [(first + timedelta(seconds=1), columns(row))]
    for minutes, act in ((20, decisions.acknowledge), (10, decisions.hand_back), (5, decisions.acknowledge)):
        at = first + timedelta(minutes=30 - minutes)
        row = act(incident_id=row.pk, person=person, now=at)
        seen.append((at, columns(row)))
    for at, then in seen:
        known = as_known.of(Incident.objects.get(pk=row.pk), Moment(at))
        assert columns(known.row) == then
        assert known.row.sentence == "A key fails"
    client = signed_in(person)
    url = reverse("incident-as-known", args=[row.pk])
    page = client.get(f"{url}?{Moment(seen[1][0]).query}")
    assert [event.event for event, *_ in page.context["later_events"]] == ["handed_back", "acknowledged"]
    before = client.get(f"{url}?{Moment.just_before(first - timedelta(seconds=9)).query}")
    assert "did not exist at that moment" in before.content.decode()
    assert client.get(f"{url}?at=soon").status_code == 422


def test_the_rules_of_a_moment(make_person, signed_in):
    first = PolicyVersion.objects.get().published_at
    second, third = first + timedelta(milliseconds=1), first + timedelta(milliseconds=2)
    for number, at in ((2, second), (3, third)):
        policy = PolicyVersion.objects.create(number=number, published_at=at)
        QuorumTier.objects.create(policy=policy, approvals=number, mode="hold_then_approve")
    client = signed_in(make_person("auditor"))

    def version(at):
        context = client.get(f"{reverse('policy-as-known')}?{Moment(at).query}").context
        return context.get("version"), [row.number for row in context["later"]]

    assert version(first - timedelta(days=1)) == (None, [1, 2, 3])
    for at, number, rest in ((third - timedelta(microseconds=1), 2, [3]), (third, 3, [])):
        then, later = version(at)
        assert (then.number, later) == (number, rest)
    assert client.get(reverse("policy-as-known"), {"at": "2999-01-01 00:00"}).status_code == 422
