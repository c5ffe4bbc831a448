"""Channels lead to public hosts alone, are kept by administrators with a second factor, and show their secret once."""

import socket

import pytest

from desk import clock, sealing
from desk.models import AuditEvent
from desk.notifications import channels, delivering, outgoing
from desk.notifications.channels import CannotChange
from desk.notifications.models import Channel, Delivery, Notification
from desk.people import stepup, totp
from tests.desk.staff.keeping import SECRET, answer_at

pytestmark = pytest.mark.django_db
ADDRESS = "https://hooks.receiver.test/services/T0/B0/token"
NEW = {"kind": "webhook", "name": "Pager", "address": ADDRESS, "least": "medium", "decisions": True}


@pytest.fixture
def admin(make_person):
    person = make_person("admin", username="ada")
    totp.enrol(person, SECRET)
    return person


def added(admin, step=0, **other):
    named = {"actor": admin, "answer": answer_at(step), "session_key": "s", "now": clock.now()}
    return channels.add(**(NEW | other), **named)


BAD = [
    "http://hooks.receiver.test/x",
    "ftp://receiver.test/x",
    "//receiver.test/x",
    "receiver.test",
    "javascript:alert(1)",
    "file:///etc/passwd",
    "https://",
    "https:///x",
    "https://user:word@receiver.test/x",
    "https://user@receiver.test/x",
    "https://receiver.test/x#part",
    "https://receiver.test:0/x",
    "https://receiver.test:99999/x",
    "https://receiver.test:port/x",
    "https://[::1/x",
    "https://localhost/x",
    "https://127.0.0.1/x",
    "https://127.1/x",
    "https://127.0.0.1:8443/x",
    "https://2130706433/x",
    "https://0x7f000001/x",
    "https://0177.0.0.1/x",
    "https://0/x",
    "https://0.0.0.0/x",
    "https://[::]/x",
    "https://[::1]/x",
    "https://[::ffff:127.0.0.1]/x",
    "https://[::ffff:7f00:1]/x",
    "https://[0:0:0:0:0:ffff:10.0.0.1]/x",
    "https://[64:ff9b::7f00:1]/x",
    "https://[2002:7f00:1::]/x",
    "https://10.0.0.1/x",
    "https://10.255.255.255/x",
    "https://172.16.0.1/x",
    "https://172.31.255.255/x",
    "https://192.168.1.1/x",
    "https://100.64.0.1/x",
    "https://169.254.169.254/latest/meta-data/",
    "https://169.254.0.1/x",
    "https://[fe80::1]/x",
    "https://[fe80::1%25lo]/x",
    "https://[fd00:ec2::254]/x",
    "https://[fc00::1]/x",
    "https://168.63.129.16/x",
    "https://100.100.100.200/x",
    "https://[::ffff:169.254.169.254]/x",
    "https://224.0.0.1/x",
    "https://[ff02::1]/x",
    "https://255.255.255.255/x",
    "https://240.0.0.1/x",
    "https://192.0.2.1/x",
    "https://198.51.100.1/x",
    "https://198.18.0.1/x",
    "https://192.0.0.192/x",
    "https://[2001:db8::1]/x",
    "https://[2001::1]/x",
    "https://[5f00::1]/x",
    "https://[fec0::1]/x",
    "https://receiver.test/\u00e9",
    "https://receiver.test/x\\y",
    "https://receiver.test/{x}",
    "https://receiver.test/x?y=<z>",
]


@pytest.mark.parametrize("address", [*BAD, "https://receiver.test/a b", "https://receiver.test/" + "x" * 500])
def test_no_channel_leads_anywhere_but_to_a_public_host(admin, address):
    with pytest.raises(CannotChange, match="Channel not added"):
        added(admin, address=address)
    assert not Channel.objects.exists()


def test_there_are_more_than_sixty_of_them():
    assert len(BAD) >= 60


@pytest.mark.parametrize(
    "found", ["127.0.0.1", "10.1.2.3", "169.254.169.254", "::1", "::ffff:10.0.0.1", "100.100.100.200"]
)
def test_a_name_that_leads_inside_is_refused_when_it_is_looked_up(admin, monkeypatch, found):
    row, _ = added(admin)
    family = socket.AF_INET6 if ":" in found else socket.AF_INET
    connected = []
    system = socket.getaddrinfo

    def resolve(host, *where, **how):
        if how.get("flags"):
            return system(host, *where, **how)  # a number is read, no name is looked up
        return [(family, socket.SOCK_STREAM, 6, "", (found, 443))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket.socket, "connect", lambda _, address: connected.append(address))
    notification = Notification(
        stage="opened",
        subject="incident:1",
        kind="k",
        severity="high",
        reference="I-1",
        url="/",
        created_at=clock.now(),
    )
    outgoing.post(notification, [], [row], now=clock.now())
    delivering.sweep(now=clock.now())
    assert connected == []
    assert Delivery.objects.get().last_problem.startswith("Not delivered: no connection")


def test_the_address_and_the_secret_are_sealed_and_the_trail_has_neither(admin):
    row, secret = added(admin)
    assert secret is not None
    kept = f"{row.address_sealed}{row.secret_sealed}{AuditEvent.objects.get(action='channel.added').after_text}"
    assert "token" not in kept
    assert secret.reveal() not in kept
    assert (channels.address_of(row).origin, row.host) == ("https://hooks.receiver.test", "hooks.receiver.test")
    assert channels.address_of(row).path == "/services/T0/B0/token"


def test_a_turned_secret_signs_beside_the_new_one_for_two_days(admin):
    row, first = added(admin)
    now = clock.now()
    row, second = channels.turn_secret(channel_id=row.pk, actor=admin, answer=answer_at(1), session_key="s", now=now)
    signing_now = [each.reveal() for each in channels.secrets_of(row, now)]
    assert signing_now == [second.reveal(), first.reveal()]
    assert [each.reveal() for each in channels.secrets_of(row, now + channels.BOTH_FOR)] == [second.reveal()]


def test_a_removed_channel_keeps_no_address(admin):
    row, _ = added(admin)
    row = channels.remove(channel_id=row.pk, actor=admin, answer=answer_at(1), session_key="s", now=clock.now())
    assert (row.address_sealed, row.secret_sealed) == ("", "")
    with pytest.raises(CannotChange, match="was removed"):
        channels.remove(channel_id=row.pk, actor=admin, answer=answer_at(2), session_key="s", now=clock.now())


def test_only_an_active_administrator_with_the_right_code_adds_one(admin, make_person):
    treasurer = make_person("treasury", username="tess")
    totp.enrol(treasurer, SECRET)
    with pytest.raises(CannotChange, match="only active administrators"):
        added(treasurer)
    with pytest.raises(stepup.CannotConfirm):
        channels.add(**NEW, actor=admin, answer={"kind": "totp", "code": "000000"}, session_key="s", now=clock.now())
    assert not Channel.objects.exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "Use 1 to 60"),
        ({"name": "x" * 61}, "Use 1 to 60"),
        ({"name": "<b>"}, "Use 1 to 60"),
        ({"kind": "email"}, "webhook or chat"),
        ({"least": "all"}, "severity"),
    ],
)
def test_odd_input_is_refused_with_what_is_wrong(admin, change, said):
    with pytest.raises(CannotChange, match=said):
        added(admin, **change)


def test_a_new_ring_key_opens_every_channel(admin):
    row, _ = added(admin)
    assert (
        channels.rewrap_all(lambda text, context: sealing.seal(sealing.unseal(text, context=context), context=context))
        == 1
    )
    row.refresh_from_db()
    assert channels.address_of(row).host == "hooks.receiver.test"
