"""A mail server that is down: one queued mail for each person and cause, and no line is lost when it works again."""

import socket
from datetime import timedelta

import pytest
from django.core import mail
from django.db.models import Count

from desk.incidents.kinds import Severity
from desk.notifications import delivering, digests, outgoing
from desk.notifications.audiences import Route
from desk.notifications.models import Delivery, Notification, Stage
from tests.desk.notifications.keeping import NOW

pytestmark = pytest.mark.django_db
SMTP, KEPT = "django.core.mail.backends.smtp.EmailBackend", "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture
def dead_server(settings):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", closed.getsockname()[1]
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_BACKEND = SMTP


def post(people, subject, now, phase=""):
    row = Notification(
        stage=Stage.OPENED,
        subject=subject,
        phase=phase,
        kind="key-refused",
        reference=subject,
        severity=Severity.HIGH,
        title=f"Key refused {subject}",
        sentence="The exchange refused a key.",
        url="/incidents/1/",
        created_at=now,
    )
    outgoing.post(row, [Route(each, True, True, now) for each in people], (), now=now)


def round_of(now):
    digests.gather(now=now)
    delivering.sweep(now=now)


def queued(person):
    return Delivery.objects.filter(state="queued", person=person)


@pytest.mark.every(4, "an hour of a whole desk; one person's digests are proven with every commit")
def test_an_hour_without_a_server_queues_one_mail_for_each_of_36_people_and_cause(dead_server, settings, make_person):
    people = [make_person("treasury", username=f"p{one}", email=f"p{one}@desk.test") for one in range(36)]
    for minute in range(60):
        now = NOW + timedelta(minutes=minute)
        post(people, f"incident:{minute % 2}", now, phase=str(minute))  # two causes that come again and again
        if minute % 15 == 0:
            post(people, f"incident:9{minute}", now, phase=str(minute))
        round_of(now + timedelta(seconds=56))
        many = Delivery.objects.filter(state="queued").values("person", "notification__subject").annotate(n=Count("pk"))
        assert not many.filter(n__gt=1), minute
    assert all(queued(person).filter(notification__kind=outgoing.DIGEST).count() == 1 for person in people)
    settings.EMAIL_BACKEND = KEPT
    for minute in range(60, 120):
        round_of(NOW + timedelta(minutes=minute))
    assert not Delivery.objects.filter(state="queued").exists()
    bodies = "\n".join(each.body for each in mail.outbox if each.to == ["p0@desk.test"])
    for subject in ("incident:0", "incident:1", "incident:90", "incident:915", "incident:930", "incident:945"):
        assert f"Key refused {subject}" in bodies


def test_a_digest_takes_the_lines_of_the_unsent_one_and_one_line_for_each_cause(dead_server, make_person):
    ada = make_person("treasury", username="ada", email="ada@desk.test")
    for number in range(3):
        post([ada], f"incident:{number}", NOW)
    digests.gather(now=NOW + timedelta(seconds=56))
    first = queued(ada).get(notification__kind=outgoing.DIGEST)
    again = NOW + timedelta(seconds=70)
    post([ada], "incident:1", again, phase="again")
    digests.gather(now=NOW + timedelta(minutes=3))
    second = queued(ada).get(notification__kind=outgoing.DIGEST)
    assert second.pk != first.pk
    assert second.created_at == NOW, "late since the first mail in it"
    assert second.content.count("Key refused incident:1") == 1
    assert second.content.count("Key refused incident:2") == 1
    assert second.content.startswith("2 updates")


def test_a_digest_that_is_being_sent_is_not_repeated_in_the_next_one(dead_server, make_person):
    ada = make_person("treasury", username="ada", email="ada@desk.test")
    for number in range(3):
        post([ada], f"incident:{number}", NOW)
    digests.gather(now=NOW + timedelta(seconds=56))
    queued(ada).filter(notification__kind=outgoing.DIGEST).update(state="sending")
    for number in (7, 8, 9):
        post([ada], f"incident:{number}", NOW + timedelta(minutes=2))
    digests.gather(now=NOW + timedelta(minutes=2, seconds=58))
    second = queued(ada).get(notification__kind=outgoing.DIGEST)
    assert "incident:1" not in second.content
    assert "Key refused incident:8" in second.content
