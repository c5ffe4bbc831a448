"""What a mail server answers at each step: temporary is tried again, final is not, and one message delays no other."""

import socket
import threading

import pytest

from desk.notifications import delivering, finding
from desk.notifications.models import Delivery, Notification, Recipient
from tests.desk.notifications.keeping import NOW, Waits, minutes, place, quiet, turn
from tests.desk.notifications.test_delivering import a_channel, ada, posted, receiver

pytestmark = pytest.mark.django_db
__all__ = ["ada", "receiver"]
GOOD = {
    "EHLO": "250-here\r\n250 AUTH PLAIN LOGIN",
    "HELO": "250 here",
    "AUTH": "235 ok",
    "DATA": "354 go on",
    ".": "250 ok",
}


class MailServer:
    """A mail server on this machine that gives the `answers` of the steps named there, and takes everything else."""

    def __init__(self):
        self.answers, self.senders = {}, []
        self.server = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                line, _ = self.server.accept()
            except OSError:
                return
            threading.Thread(target=self._talk, args=(line,), daemon=True).start()

    def _talk(self, line):
        with line, line.makefile("rw", newline="\r\n") as file:
            in_message = False
            self._say(file, "greeting", "220 here")
            for text in file:
                word = text.strip() if in_message else text.upper()[:4].strip()
                if in_message and word != ".":
                    continue
                in_message = word == "DATA" and self.answers.get("DATA", "354").startswith("354")
                self._say(file, word, GOOD.get(word, "250 ok"))

    def _say(self, file, step, good):
        answer = self.answers.get(step, good)
        try:
            file.write(f"{answer}\r\n")
            file.flush()
        except OSError:
            return


@pytest.fixture
def mail_server(settings):
    server = MailServer()
    settings.EMAIL_HOST, settings.EMAIL_PORT = server.server.getsockname()
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "desk", "secret"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    yield server
    server.server.close()


@pytest.fixture
def waits(monkeypatch):
    waits = Waits()
    place(monkeypatch, waits)
    return waits


@pytest.fixture
def ben(make_person):
    return make_person("treasury", username="ben", email="ben@desk.test")


@pytest.mark.parametrize("step", ["MAIL", "RCPT", "DATA", "."])
@pytest.mark.parametrize("answer", ["450 4.2.0 Greylisted", "452 full", "550 no"])
def test_a_refused_message_is_tried_again_or_given_up_and_delays_no_other(mail_server, ada, ben, step, answer):
    state = "failed" if answer.startswith("5") else "queued"
    mail_server.answers = {step: answer}
    posted(ada)
    posted(ben, number=2)
    delivering.sweep(now=NOW)
    assert [(row.state, row.attempts) for row in Delivery.objects.order_by("pk")] == [(state, 1)] * 2
    assert f"({answer[:3]})" in Delivery.objects.first().last_problem
    mail_server.answers = {}
    delivering.sweep(now=NOW + minutes(1))
    assert {row.state for row in Delivery.objects.all()} == {"delivered" if state == "queued" else "failed"}


@pytest.mark.parametrize(
    "said",
    [
        ("greeting", "421 later", 0.5),
        ("greeting", "554 no service", 15),
        ("AUTH", "454 later", 0.5),
        ("AUTH", "535 wrong", 15),
        ("STAR", "454 no TLS now", 0.5),
        ("STAR", "554 never", 15),
        ("EHLO", "250 without anything", 15),
        ("RCPT", "421 leaving", 0.5),
    ],
)
def test_a_server_that_refuses_the_desk_keeps_all_messages_waiting(mail_server, ada, ben, settings, said):
    step, answer, pause = said
    mail_server.answers = {step: answer}
    if step == "STAR":
        settings.EMAIL_USE_TLS = True
        mail_server.answers["EHLO"] = "250-here\r\n250 STARTTLS"
    posted(ada)
    posted(ben, number=2)
    delivering.sweep(now=NOW)
    rows = list(Delivery.objects.order_by("pk"))
    assert [(row.state, row.attempts) for row in rows] == [("queued", 1), ("queued", 0)]
    assert all(minutes(0) <= row.next_action_at - NOW - minutes(pause) < minutes(0.2) for row in rows)
    mail_server.answers, settings.EMAIL_USE_TLS = {}, False
    delivering.sweep(now=NOW + minutes(15.5))
    assert {row.state for row in Delivery.objects.all()} == {"delivered"}


def test_a_deadline_that_a_mailbox_refuses_reaches_the_next_person_and_channel(mail_server, receiver, waits, ada, ben):
    waits.deciders["payout:1"], waits.deadlines["payout:1"] = [ada, ben], NOW + minutes(53)
    channel = a_channel(ada, receiver.url)
    type(channel).objects.filter(pk=channel.pk).update(decisions=False)
    turn(ben, 2)
    mail_server.answers = {"RCPT": "550 unknown mailbox"}
    finding.notify_due(now=NOW)
    delivering.sweep(now=NOW)
    Recipient.objects.update(in_browser=False)
    mail_server.answers = {}
    for at in (0, 1):
        finding.notify_due(now=NOW + minutes(at))
        delivering.sweep(now=NOW + minutes(at))
    states = dict(Delivery.objects.values_list("person__username", "state"))
    assert states == {"ada": "failed", "ben": "delivered", None: "delivered"}
    assert Notification.objects.count() == 1
    assert len(receiver.taken) == 1
    assert set(Recipient.objects.values_list("person__username", "in_browser")) == {("ada", True), ("ben", True)}


def test_a_deferred_mail_waits_for_five_minutes_before_others_are_notified(mail_server, waits, ada, ben):
    waits.deciders["payout:1"], waits.deadlines["payout:1"] = [ada, ben], NOW + minutes(53)
    turn(ben, 2)
    mail_server.answers = {"RCPT": "450 greylisted"}
    for at in (0, 1, 2):
        finding.notify_due(now=NOW + minutes(at))
        delivering.sweep(now=NOW + minutes(at))
    assert Recipient.objects.count() == 1
    delivering.sweep(now=NOW + minutes(4))
    finding.notify_due(now=NOW + minutes(4))
    assert set(Recipient.objects.values_list("person__username", flat=True)) == {"ada", "ben"}


def test_a_dead_server_leaves_one_message_for_each_person_and_subject(mail_server, waits, ada, ben):
    mail_server.answers = {"greeting": "421 later"}
    waits.deciders["payout:1"], waits.deadlines["payout:1"] = [ada, ben], NOW + minutes(53)
    for at in range(45):
        finding.notify_due(now=NOW + minutes(at))
        delivering.sweep(now=NOW + minutes(at))
    assert Notification.objects.count() == 3
    waiting = Delivery.objects.filter(state="queued").order_by("person__username")
    assert [(row.person.username, row.notification.stage) for row in waiting] == [
        ("ada", "everybody"),
        ("ben", "everybody"),
    ]
    assert {row.created_at for row in waiting} == {NOW}, "late since the first of them"


def test_quiet_hours_that_end_after_the_deadline_make_it_the_turn_of_the_next_person(waits, ada, ben):
    quiet(ada, 13, 16)
    turn(ben, 2)
    waits.deciders["payout:1"], waits.deadlines["payout:1"] = [ada, ben], NOW + minutes(53)
    finding.notify_due(now=NOW)
    assert set(Recipient.objects.values_list("person__username", flat=True)) == {"ada", "ben"}
