"""Deliveries arrive at least once, with one id, whatever the other side does; what is down is left in peace."""

import json
import os
import socket
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.core import mail

from desk import clock
from desk.audit import trail
from desk.incidents.kinds import Severity
from desk.machines.mover import CannotMove
from desk.models import AuditEvent
from desk.notifications import audiences, delivering, messages, outgoing, room, sending, signing
from desk.notifications.audiences import Route
from desk.notifications.models import Channel, Delivery, Notification, Stage
from desk.sealing import seal
from tests.desk.notifications.keeping import NOW, minutes
from wire.values import Secret

pytestmark = pytest.mark.django_db
SECRET = signing.new_secret()
# More than a sweep takes at once; `make thorough` sends thousands.
MAILS = int(os.environ.get("MAILS", "300"))


class Receiver:
    """A receiver of webhooks on this machine. It answers with `status` and `body`, and keeps what it was sent."""

    def __init__(self):
        self.status, self.headers, self.body, self.taken, self.pause_s = 204, {}, b"", [], 0
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.taken.append((dict(self.headers.items()), self.path, body))
                self.send_response(receiver.status)
                for name, value in receiver.headers.items():
                    self.send_header(name, value)
                self.end_headers()
                pieces = [receiver.body] if not receiver.pause_s else [bytes([each]) for each in receiver.body]
                try:
                    for piece in pieces:
                        self.wfile.write(piece)
                        time.sleep(receiver.pause_s)
                except OSError:
                    return  # whoever asked has left

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/hook?to=desk"


@pytest.fixture
def receiver(settings):
    settings.WEBHOOK_PRIVATE_HOSTS = ["127.0.0.1"]
    found = Receiver()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.fixture
def ada(make_person):
    return make_person("treasury", username="ada", email="ada@desk.test")


def a_channel(person, address, kind="webhook", name="Pager"):
    row = Channel(kind=kind, name=name, host="receiver.test", made_by=person, made_at=NOW)
    row.address_sealed = seal(Secret(address), context=f"desk.channel:{row.uid}:address")
    row.secret_sealed = seal(SECRET, context=f"desk.channel:{row.uid}:secret")
    row.save()
    return row


def posted(person, *, number=1, by_email=True, to=(), **other):
    facts = {"severity": Severity.HIGH, "title": "Key refused", "sentence": "The exchange refused a key."} | other
    row = Notification(
        stage=facts.pop("stage", Stage.OPENED),
        subject=f"incident:{number}",
        kind="key-refused",
        reference=f"I-{number}",
        url=f"/incidents/{number}/",
        created_at=NOW,
        **facts,
    )
    assert outgoing.post(row, [Route(person, by_email, True, NOW)], to, now=NOW) == 1
    return row


def states():
    return list(Delivery.objects.order_by("pk").values_list("state", flat=True))


def test_a_mail_says_what_happened_and_where_to_look(settings, ada):
    settings.EMAIL_HOST = "mail.test"
    row = posted(ada)
    delivering.sweep(now=NOW)
    sent = mail.outbox[0]
    assert (sent.to, sent.subject) == (["ada@desk.test"], "[Countersign] High: Key refused (I-1)")
    assert "The exchange refused a key." in sent.body
    assert f"{settings.DESK_URL}/incidents/1/" in sent.body
    assert "Links never approve anything." in sent.body
    assert str(row.uid) in sent.extra_headers["Message-ID"]
    assert states() == ["delivered"]
    assert delivering.sweep(now=NOW + minutes(1)) == 0


def test_a_subject_is_one_line_without_marks_that_turn_text_around(ada):
    row = posted(ada, title="Payout\r\nBcc: thief@desk.test \u202eevil" + "x" * 150)
    line = messages.subject(row)
    assert len(line) <= messages.LONGEST_SUBJECT
    assert not {"\r", "\n", "\u202e"} & set(line)


def test_what_people_wrote_makes_no_lines_of_its_own_in_a_mail_or_a_chat(ada):
    forged = "Odd payout\r\n\nOpen: https://desk.evil.test/\u2028\u202e" + "x" * 10_000
    row = posted(ada, title="Change of roles: ada\nBcc: b", sentence=forged[:600])
    lines = messages.mail(row).split("\n")
    assert lines[0] == "High: Change of roles: ada Bcc: b (I-1)"
    assert lines[2].startswith("Odd payout Open: https://desk.evil.test/ \u2039RLO\u203axxx")
    assert [line for line in lines if line.startswith("Open:")] == [f"Open: {messages.address(row)}"]
    assert json.loads(messages.chat(row))["text"].count("\n") == 2


def test_a_webhook_is_signed_and_carries_the_facts(receiver, ada):
    row = posted(ada, by_email=False, to=[a_channel(ada, receiver.url)])
    delivering.sweep(now=NOW)
    headers, path, body = receiver.taken[0]
    assert path == "/hook?to=desk"
    sent = {name.lower(): value for name, value in headers.items()}
    assert signing.verify(body, sent, SECRET, now=clock.now()) == str(row.uid)
    content = json.loads(body)
    assert content["type"] == "incident.opened"
    assert content["data"]["reference"] == "I-1"
    assert states() == ["delivered"]


def test_text_of_people_makes_no_link_and_calls_nobody_in_a_chat(receiver, ada):
    posted(
        ada, by_email=False, to=[a_channel(ada, receiver.url, "chat")], sentence="<!channel> <https://x.test|ok> \u202e"
    )
    delivering.sweep(now=NOW)
    text = json.loads(receiver.taken[0][2])["text"]
    assert "&lt;!channel&gt; &lt;https://x.test|ok&gt; \u2039RLO\u203a" in text
    assert not [name for name in receiver.taken[0][0] if name.lower().startswith("webhook-")]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        *(((status, {}, b""), f"The receiver returned {status}.") for status in (408, 425, 429, 500, 503)),
        ((200, {}, b"x" * 200_000), "larger than"),
    ],
)
def test_a_temporary_answer_is_tried_again_with_the_same_id(receiver, ada, answer, problem):
    receiver.status, receiver.headers, receiver.body = answer
    posted(ada, by_email=False, to=[a_channel(ada, receiver.url)])
    delivering.sweep(now=NOW)
    row = Delivery.objects.get()
    assert (row.state, row.attempts) == ("queued", 1)
    assert problem in row.last_problem
    assert delivering.sweep(now=NOW) == 0
    receiver.status, receiver.headers, receiver.body = 200, {}, b"ok"
    delivering.sweep(now=row.next_action_at)
    assert states() == ["delivered"]
    ids = {headers["webhook-id"] for headers, *_ in receiver.taken}
    assert (len(receiver.taken), len(ids)) == (2, 1)


@pytest.mark.parametrize("status", [302, 400, 401, 404, 410, 422])
def test_a_final_answer_of_a_receiver_is_not_tried_again(receiver, ada, status):
    receiver.status, receiver.headers = status, {"Location": "http://169.254.169.254/latest/"}
    posted(ada, by_email=False, to=[a_channel(ada, receiver.url)])
    delivering.sweep(now=NOW)
    row = Delivery.objects.get()
    assert (row.state, row.attempts) == ("failed", 1)
    assert f"The receiver returned {status}" in row.last_problem


@pytest.mark.parametrize(
    ("said", "pause_s"),
    [("120", 120), ("5", 30), ("999999999", 3600), ("soon", 30), ("-7", 30), ("Fri, 20 Nov 2026 14:10:00 GMT", 600)],
)
def test_a_pause_that_the_receiver_asks_for_is_kept_within_bounds(receiver, ada, said, pause_s, monkeypatch):
    monkeypatch.setattr(sending.clock, "now", lambda: NOW)
    receiver.status, receiver.headers = 429, {"Retry-After": said}
    posted(ada, by_email=False, to=[a_channel(ada, receiver.url)])
    delivering.sweep(now=NOW)
    assert minutes(0) <= Delivery.objects.get().next_action_at - NOW - minutes(pause_s / 60) < minutes(0.2)


def test_a_receiver_that_answers_byte_by_byte_is_left_when_its_time_is_over(receiver, ada, monkeypatch):
    monkeypatch.setattr(sending, "SECONDS", 1)
    receiver.status, receiver.body, receiver.pause_s = 200, b"x" * 10_000, 0.05
    posted(ada, by_email=False, to=[a_channel(ada, receiver.url)])
    posted(ada, number=2, by_email=False, to=[Channel.objects.get()])
    delivering.sweep(now=NOW)
    assert states() == ["queued", "queued"]
    assert [row.attempts for row in Delivery.objects.order_by("pk")] == [1, 0], "the other waits with it"
    assert "Not delivered:" in Delivery.objects.first().last_problem


def test_a_name_that_leads_to_this_machine_is_not_posted_to(ada, receiver, settings):
    settings.WEBHOOK_PRIVATE_HOSTS = []
    port = receiver.server.server_address[1]
    posted(ada, by_email=False, to=[a_channel(ada, f"https://localhost.localdomain:{port}/hook")])
    delivering.sweep(now=NOW)
    assert states() == ["queued"]
    assert receiver.taken == []


def test_a_receiver_that_never_takes_it_is_given_up_after_a_day_and_sent_again_by_hand(receiver, ada):
    receiver.status = 503
    posted(ada, by_email=False, to=[a_channel(ada, receiver.url)])
    now, rests = NOW, []
    while (row := Delivery.objects.get()).state == "queued":
        rests.append(round((row.next_action_at - now).total_seconds()))
        now = row.next_action_at
        delivering.sweep(now=now)
    assert (row.state, row.attempts) == ("failed", delivering.MOST_ATTEMPTS)
    assert rests[:4] == [0, 30, 60, 120]
    assert minutes(20 * 60) < now - NOW < minutes(28 * 60)
    receiver.status = 204
    delivering.again(row, actor=ada, session_key="s", now=now)
    assert AuditEvent.objects.get().action == "delivery.sent_again"
    delivering.sweep(now=now)
    assert states() == ["delivered"]
    with pytest.raises(CannotMove):
        delivering.MACHINE.move(row, event="dropped", to="dropped", now=now)


def test_what_was_once_written_down_is_what_every_attempt_sends(receiver, ada):
    receiver.status = 500
    row = posted(ada, by_email=False, to=[a_channel(ada, receiver.url)])
    delivering.sweep(now=NOW)
    Notification.objects.filter(pk=row.pk).update(title="Another title")
    trail.record(actor=ada, action="a.fact", subject="a:1", before={}, after={}, now=NOW)
    receiver.status = 204
    delivering.sweep(now=NOW + minutes(1))
    (*_, first), (*_, second) = receiver.taken
    assert first == second
    assert "Key refused" in Delivery.objects.get().content


@pytest.mark.timeout(1800)
def test_hundreds_of_mails_wait_for_a_dead_server_and_all_arrive_once_the_gravest_first(settings, ada):
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", _closed_port()
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    common = {"kind": "key-refused", "url": "/x/", "created_at": NOW, "stage": Stage.OPENED, "title": "Key refused"}
    made = Notification.objects.bulk_create(
        Notification(
            subject=f"incident:{number}",
            reference=f"I-{number}",
            severity=Severity.CRITICAL if number == MAILS - 1 else Severity.HIGH,
            **common,
        )
        for number in range(MAILS)
    )
    columns = {"medium": "email", "person": ada, "state": "queued", "created_at": NOW, "updated_at": NOW}
    Delivery.objects.bulk_create(Delivery(notification=row, next_action_at=NOW, **columns) for row in made)
    now = NOW
    for _ in range(5):
        delivering.sweep(now=now)
        now += minutes(1)
    assert 1 <= sum(Delivery.objects.values_list("attempts", flat=True)) <= 5, "one message a round finds it out"
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    now += minutes(60)
    sweeps = 0
    while Delivery.objects.filter(state="queued").exists():
        delivering.sweep(now=now)
        sweeps += 1
        if sweeps == 1:
            assert f"I-{MAILS - 1}" in mail.outbox[0].subject
        assert sweeps < 100
    assert len(mail.outbox) == len({message.extra_headers["Message-ID"] for message in mail.outbox}) == MAILS


def test_a_dead_mail_server_is_asked_once_a_round_and_everything_arrives_when_it_lives(settings, ada):
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", _closed_port()
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    for number in range(40):
        posted(ada, number=number, severity=Severity.CRITICAL)  # each leaves by itself
    delivering.sweep(now=NOW)
    assert sum(Delivery.objects.values_list("attempts", flat=True)) == 1
    assert set(states()) == {"queued"}
    assert delivering.sweep(now=NOW + minutes(0.4)) == 0
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    delivering.sweep(now=NOW + minutes(0.6))
    assert states() == ["delivered"] * 40
    assert len({message.extra_headers["Message-ID"] for message in mail.outbox}) == 40


def test_a_dead_way_is_an_incident_that_ends_with_it(settings, ada):
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", _closed_port()
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    posted(ada)
    posted(ada, number=2, severity=Severity.CRITICAL)
    delivering.sweep(now=NOW)
    assert list(room.KINDS[0].causes(NOW + minutes(1), "")) == []
    cause = next(iter(room.KINDS[0].causes(NOW + minutes(3), "")))
    assert cause.key == "email"
    assert "2 messages not delivered" in cause.sentence
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    delivering.sweep(now=NOW + minutes(3))
    assert list(room.KINDS[0].causes(NOW + minutes(3), "")) == []


def test_what_a_lost_worker_sent_is_sent_again(settings, ada):
    settings.EMAIL_HOST = "mail.test"
    posted(ada)
    row = Delivery.objects.get()
    delivering.MACHINE.move(
        row, event="began", to="sending", now=NOW, lease_until=NOW + minutes(1.5), next_action_at=NOW + minutes(1.5)
    )
    assert delivering.sweep(now=NOW + minutes(1)) == 0
    delivering.sweep(now=NOW + minutes(2))
    delivering.sweep(now=NOW + minutes(2.1))
    assert states() == ["delivered"]


def test_a_removed_channel_and_a_deactivated_person_get_nothing_more(receiver, ada):
    channel = a_channel(ada, receiver.url)
    posted(ada, to=[channel])
    Channel.objects.filter(pk=channel.pk).update(ended_at=NOW)
    ada.is_active = False
    ada.save()
    delivering.sweep(now=NOW)
    assert states() == ["failed", "failed"]
    assert receiver.taken == []
    assert list(room.KINDS[0].causes(NOW + minutes(3), "")) == [], "nobody misses them"


def test_two_workers_send_one_message_once(settings, ada):
    settings.EMAIL_HOST = "mail.test"
    posted(ada)
    first, second = Delivery.objects.get(), Delivery.objects.get()
    senders = delivering.Senders()
    delivering.QUEUE.steps["queued"](first, now=NOW, senders=senders)
    with pytest.raises(CannotMove):
        delivering.QUEUE.steps["queued"](second, now=NOW, senders=senders)
    assert len(mail.outbox) == 1


def test_without_a_mail_server_the_demo_keeps_mail_and_a_real_desk_queues_none(settings, ada):
    posted(ada)
    delivering.sweep(now=NOW)
    assert states() == ["delivered"]
    settings.MAILBOX = False
    assert not audiences.email_is_on()


def _closed_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_a_cause_that_comes_back_while_mail_is_dead_waits_once_for_each_person(settings, make_person):
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", _closed_port()
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    people = [make_person("treasury", username=f"p{one}", email=f"p{one}@desk.test") for one in range(6)]
    for phase in range(5):
        for person in people:
            posted(person, phase=f"{person.username}-{phase}", severity=Severity.CRITICAL)
            outgoing_rows = Delivery.objects.filter(state="queued", person=person)
            assert outgoing_rows.count() == 1
        delivering.sweep(now=NOW + minutes(phase))
    assert Delivery.objects.filter(state="queued").count() == len(people)
