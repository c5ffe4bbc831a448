"""What a mail server answers at each step: temporary is tried again, final is not, and one message delays no other."""

import socket
import threading
from contextlib import suppress

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


LOST, SILENT = "", "silence"


class MailServer:
    """A mail server on this machine that gives the `answers` of the steps named there, and takes everything else.

    A step is the first word of a line, or the whole line in capital letters. At `LOST` it ends the connection, at
    `SILENT` it says nothing any more.
    """

    def __init__(self):
        self.answers, self.over = {}, threading.Event()
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
        with suppress(OSError), line, line.makefile("rw", newline="\r\n") as file:
            in_message = False
            if not self._say(file, self.answers.get("greeting", "220 here")):
                return
            for text in file:
                word = text.strip() if in_message else text.upper()[:4].strip()
                if in_message and word != ".":
                    continue
                answer = self.answers.get(text.strip().upper(), self.answers.get(word, GOOD.get(word, "250 ok")))
                in_message = word == "DATA" and answer.startswith("354")
                if not self._say(file, answer):
                    return

    def _say(self, file, answer):
        """Whether the connection goes on after this answer."""
        if answer == SILENT:
            self.over.wait(30)
        if answer in {LOST, SILENT}:
            return False
        file.write(f"{answer}\r\n")
        file.flush()
        return True


@pytest.fixture
def mail_server(settings):
    server = MailServer()
    settings.EMAIL_HOST, settings.EMAIL_PORT = server.server.getsockname()
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = "desk", "secret"
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    yield server
    server.over.set()
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
@pytest.mark.parametrize("answer", ["450 4.2.0 Greylisted", "452 full", "550 no", "503 what", "554-no\r\n554 never"])
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
        (".", "421 leaving", 0.5),
        ("greeting", "451 busy", 0.5),
        ("greeting", "what is this", 0.5),
        ("EHLO", "451 later", 0.5),
        ("AUTH", "432 change your password", 0.5),
        ("AUTH", "530 no mail without TLS", 15),
        ("AUTH", "534 too weak", 15),
        ("AUTH", "421 leaving", 0.5),
        ("STAR", "421 leaving", 0.5),
        *((step, LOST, 0.5) for step in ("greeting", "EHLO", "AUTH", "STAR", "MAIL", "RCPT", "DATA", ".")),
        *((step, SILENT, 0.5) for step in ("greeting", "AUTH", "RCPT", ".")),
    ],
)
def test_a_server_that_refuses_the_desk_keeps_all_messages_waiting(mail_server, ada, ben, settings, said):
    step, answer, pause = said
    mail_server.answers = {step: answer}
    if step == "EHLO" and answer == "451 later":
        mail_server.answers["HELO"] = answer
    if answer == SILENT:
        settings.EMAIL_TIMEOUT = 0.05
    if step == "STAR":
        settings.EMAIL_USE_TLS = True
        mail_server.answers["EHLO"] = "250-here\r\n250 STARTTLS"
    posted(ada)
    posted(ben, number=2)
    delivering.sweep(now=NOW)
    rows = list(Delivery.objects.order_by("pk"))
    assert [(row.state, row.attempts) for row in rows] == [("queued", 1), ("queued", 0)]
    assert all(minutes(0) <= row.next_action_at - NOW - minutes(pause) < minutes(0.2) for row in rows)
    mail_server.answers, settings.EMAIL_USE_TLS, settings.EMAIL_TIMEOUT = {}, False, 10
    delivering.sweep(now=NOW + minutes(15.5))
    assert {row.state for row in Delivery.objects.all()} == {"delivered"}


@pytest.mark.parametrize(
    "answers", [("450 later", "250 ok", "550 no"), ("250 ok", "what", "452 full"), ("550 no",) * 3]
)
def test_of_several_recipients_each_has_its_own_answer(mail_server, ada, ben, make_person, answers):
    people = (ada, ben, make_person("treasury", username="cleo", email="cleo@desk.test"))
    for number, person in enumerate(people, 1):
        posted(person, number=number)
    mail_server.answers = {
        f"RCPT TO:<{person.email}>".upper(): answer for person, answer in zip(people, answers, strict=True)
    }
    delivering.sweep(now=NOW)
    states = [{"2": "delivered", "5": "failed"}.get(answer[0], "queued") for answer in answers]
    assert list(Delivery.objects.order_by("pk").values_list("state", flat=True)) == states
    assert set(Delivery.objects.values_list("attempts", flat=True)) == {1}
    problems = Delivery.objects.order_by("pk").values_list("last_problem", flat=True)
    for answer, problem in zip(answers, problems, strict=True):
        words = "its response is not valid SMTP" if answer == "what" else f"({answer[:3]})"
        assert words in problem or answer.startswith("2")


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
