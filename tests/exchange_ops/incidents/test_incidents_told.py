"""Every kind of incident, from its rows to the mails, the webhook and the tabs of those who act, and to its end."""

import re
from datetime import timedelta

import pytest

from desk import clock
from desk.incidents import kinds, review
from desk.incidents.models import Incident
from desk.notifications import finding, messages
from desk.notifications.models import Channel, Delivery, Medium, Notification, Recipient, Stage
from desk.people import roles
from desk.processes import uptime
from tests.exchange_ops import rows
from tests.exchange_ops.incidents.provoked import (
    ENDED,
    ONE_OF_SEVERAL,
    PROVOKED,
    acts_on,
    is_seen_by,
    roles_in_turn,
    text,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def settled(monkeypatch):
    """As in a process that has been at work for long: everything is judged."""
    monkeypatch.setattr(uptime, "_began", -10_000.0)


@pytest.fixture
def everybody(make_person):
    return {role: make_person(role, username=f"one-{role}", email=f"{role}@firm.test") for role in roles.ALL}


def reached(row, stage, medium):
    found = Delivery.objects.filter(notification__subject=row.subject, notification__stage=stage, medium=medium)
    return found.order_by("person__username")


def told_alike(name):
    """Kinds that are equally grave and for the same roles take the same ways; each of them is opened in test_action."""
    kind = kinds.by_name(name)
    return kind.severity, frozenset(kind.acts)


FIRST_OF_THEM = {told_alike(name): name for name in reversed(list(PROVOKED))}


@pytest.mark.every(2, "one walk for each kind of incident")
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(
            name,
            marks=()
            if name == FIRST_OF_THEM[told_alike(name)] or kinds.by_name(name).severity == "critical"
            else pytest.mark.thorough("another kind of this severity, for the same roles, runs every time"),
        )
        for name in PROVOKED
    ],
)
def test_those_who_act_are_mailed_and_told_in_their_tabs_and_programs_by_webhook_until_it_is_over(
    name, operator, everybody, signed_in
):
    rows.account(now=clock.now())
    rows.currency(now=clock.now(), transfer_enabled=True)
    Channel.objects.create(kind="webhook", name="Our program", made_by=everybody["admin"], made_at=clock.now())
    PROVOKED[name][0](operator)
    review.review(now=clock.now())
    finding.notify_due(now=clock.now())
    row = Incident.objects.filter(kind=name).order_by("pk").get(**ONE_OF_SEVERAL.get(name, {}))
    acts = sorted(f"one-{role}" for role in kinds.by_name(name).acts)
    opened = Notification.objects.get(subject=row.subject)
    assert (opened.stage, opened.kind, opened.severity) == (Stage.OPENED, name, row.severity)
    assert not re.search(r"\d\.\d|[a-z0-9]{20}", messages.subject(opened)), "no amount and no address in a subject"
    in_tabs = Recipient.objects.filter(notification=opened, person__in=everybody.values(), in_browser=True)
    assert sorted(in_tabs.values_list("person__username", flat=True)) == acts
    mailed = reached(row, Stage.OPENED, Medium.EMAIL).filter(person__in=everybody.values())
    if row.severity in {"critical", "high"}:
        assert list(mailed.values_list("person__username", flat=True)) == acts
    assert reached(row, Stage.OPENED, Medium.WEBHOOK).count() == 1
    Notification.objects.exclude(pk=opened.pk).update(created_at=clock.now() - timedelta(hours=1))
    for role in roles_in_turn(name):
        fresh = text(signed_in(everybody[role]).get("/frame/?parts=notices"))
        assert (row.reference in fresh) == acts_on(role, name), role

    ENDED[name]()
    review.review(now=clock.now())
    finding.notify_due(now=clock.now())
    row.refresh_from_db()
    assert row.state == "resolved"
    assert Notification.objects.filter(subject=row.subject, stage=Stage.ENDED).count() == 1
    for role in roles_in_turn(name):
        client = signed_in(everybody[role])
        assert row.title not in text(client.get("/frame/?parts=alarm")), role
        assert (row.reference in text(client.get("/action/?list=done"))) == is_seen_by(role, name), role
