"""Nobody keeps others out by idling: connections that say nothing, dribble, or take no answer, and too many sockets."""

import contextlib
import http.client
import socket
import time
from urllib.parse import urlsplit

import pytest
import websocket
from django.conf import settings as django_settings

from desk.live import consumers
from desk.people import totp
from project import doors, request_limits, sockets
from tests.bounds import stretched
from wire.values import Secret

MANY = 1_010
STRANGER, VICTIM = "127.0.0.2", "127.0.0.3"


class Peer:
    """A connection for the doors that is idle or at work, and knows whether it was cut."""

    def __init__(self, *, idle=True):
        self.idle, self.was_cut = idle, False

    def is_idle(self):
        return self.idle

    def cut(self):
        self.was_cut = True


def place(**changes):
    return doors.Doors(**{"per_address": 3, "trusted": [], "most": 10} | changes)


def test_who_has_too_many_loses_the_one_that_waited_longest():
    inside, peers = place(), [Peer() for _ in range(4)]
    assert all(inside.enter(peer, "192.0.2.1") for peer in peers[:3])
    inside.answered(peers[0])
    assert inside.enter(peers[3], "192.0.2.1")
    assert [peer.was_cut for peer in peers] == [False, True, False, False]


def test_who_is_at_work_with_all_of_them_gets_no_more_and_others_do():
    inside, busy = place(), [Peer(idle=False) for _ in range(3)]
    assert all(inside.enter(peer, "192.0.2.1") for peer in busy)
    assert not inside.enter(Peer(), "192.0.2.1")
    assert inside.enter(Peer(), "192.0.2.2")
    inside.leave(busy[0])
    assert inside.enter(Peer(), "192.0.2.1")


def test_with_many_addresses_the_one_with_the_most_makes_room():
    inside = place(per_address=5, most=6)
    loud, quiet = [Peer() for _ in range(4)], [Peer() for _ in range(2)]
    for peer in loud:
        assert inside.enter(peer, "192.0.2.1")
    for number, peer in enumerate(quiet):
        assert inside.enter(peer, f"192.0.2.{10 + number}")
    assert inside.enter(Peer(), "192.0.2.50")
    assert [peer.was_cut for peer in (*loud, *quiet)] == [True, False, False, False, False, False]


def test_one_subscriber_of_ipv6_is_one_address_and_a_mapped_one_is_ipv4s():
    inside = place(per_address=1)
    first, second, third = Peer(), Peer(), Peer()
    assert inside.enter(first, "2001:db8::1")
    assert inside.enter(second, "2001:db8::ffff")
    assert first.was_cut
    assert inside.enter(third, "::ffff:192.0.2.1")
    assert inside.enter(Peer(), "192.0.2.1")
    assert third.was_cut


@pytest.mark.parametrize("trusted", [["192.0.2.1"], ["192.0.2.0/24"], ["*"]])
def test_proxies_that_are_trusted_are_not_counted(trusted):
    inside, peers = place(per_address=1, trusted=trusted), [Peer() for _ in range(20)]
    assert all(inside.enter(peer, "192.0.2.1") for peer in peers)
    assert not any(peer.was_cut for peer in peers)


# Over real connections -----------------------------------------------------------------------------------------------


def port_of(desk):
    return urlsplit(desk.url).port


def connect(desk, address=STRANGER, said=b""):
    made = socket.create_connection(("127.0.0.1", port_of(desk)), timeout=10, source_address=(address, 0))
    made.sendall(said)
    return made


def page(desk, address):
    asking = http.client.HTTPConnection("127.0.0.1", port_of(desk), timeout=20, source_address=(address, 0))
    with contextlib.closing(asking):
        asking.request("GET", "/healthz", headers={"Host": f"localhost:{port_of(desk)}"})
        return asking.getresponse().status


@pytest.mark.parametrize(
    "said", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"POST /sign-in/ HTTP/1.1\r\n"]
)
def test_a_thousand_and_ten_idle_connections_keep_nobody_out(live_desk, said):
    idle = []
    try:
        for _ in range(MANY):
            with contextlib.suppress(OSError):
                idle.append(connect(live_desk, said=said))
        assert len(idle) == MANY
        assert [page(live_desk, VICTIM) for _ in range(5)] == [200] * 5
        # Not even those who share the address.
        assert page(live_desk, STRANGER) == 200
        assert open_ones(idle) <= django_settings.CONNECTIONS_PER_ADDRESS
    finally:
        for each in idle:
            each.close()


def open_ones(made):
    """How many the server has not ended."""
    left = 0
    for each in made:
        each.setblocking(False)
        try:
            left += bool(each.recv(1))
        except BlockingIOError:
            left += 1
        except OSError:
            pass
    return left


def closed_within(made, seconds):
    made.settimeout(seconds)
    try:
        while made.recv(65_536):
            pass
    except TimeoutError:
        return False
    except OSError:
        pass
    return True


@pytest.mark.parametrize(
    "said", [b"", b"GET / HTTP/1.1\r\n", b"GET /ws/ HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\n"]
)
def test_who_does_not_finish_a_head_is_ended(live_desk, said, monkeypatch):
    monkeypatch.setattr(request_limits, "HEAD_SECONDS", 0.3)
    with connect(live_desk, said=said) as made:
        assert closed_within(made, 10)


def test_who_dribbles_a_head_is_ended_all_the_same(live_desk, monkeypatch):
    monkeypatch.setattr(request_limits, "HEAD_SECONDS", 0.5)
    with connect(live_desk, said=b"GET / HTTP/1.1\r\nX-Long: ") as made, pytest.raises(OSError):
        dribble(made)


def dribble(made):
    for _ in range(200):
        made.sendall(b"a")
        time.sleep(0.05)


def test_a_handshake_that_nobody_finishes_is_ended(live_desk, operator, signed_in, monkeypatch):
    monkeypatch.setattr(sockets, "HANDSHAKE_SECONDS", 0.3)

    async def never(*_, **__):
        import asyncio

        await asyncio.sleep(30)

    monkeypatch.setattr(consumers.hub.Hub, "wait_until_open", never)
    with pytest.raises((websocket.WebSocketException, OSError)):
        socket_of(live_desk, signed_in(operator))


def socket_of(desk, client, **options):
    cookie = client.cookies[django_settings.SESSION_COOKIE_NAME].value
    named = f"{django_settings.SESSION_COOKIE_NAME}={cookie}"
    return websocket.create_connection(
        desk.ws_url, origin=desk.url, cookie=named, timeout=10, http_no_proxy=["*"], **options
    )


def refused_with(desk, client):
    with pytest.raises(websocket.WebSocketBadStatusException) as refusal:
        socket_of(desk, client)
    return refusal.value.status_code


def test_who_has_no_second_factor_gets_no_socket(live_desk, operator, signed_in, settings):
    settings.SECOND_FACTOR_REQUIRED = True
    visitor = signed_in(operator)
    assert refused_with(live_desk, visitor) == 403
    totp.enrol(operator, Secret("JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"))
    socket_of(live_desk, signed_in(operator)).close()


def test_sockets_of_a_session_and_of_a_person_are_bounded_and_others_come_in(
    live_desk, operator, treasury, signed_in, monkeypatch
):
    monkeypatch.setattr(consumers, "MOST_SOCKETS_OF_SESSION", 3)
    monkeypatch.setattr(consumers, "MOST_SOCKETS_OF_PERSON", 5)
    first, second = signed_in(operator), signed_in(operator)
    held = [socket_of(live_desk, first) for _ in range(3)]
    assert refused_with(live_desk, first) == 429
    held += [socket_of(live_desk, second) for _ in range(2)]
    assert refused_with(live_desk, second) == 429
    held.append(socket_of(live_desk, signed_in(treasury)))
    held.pop(0).close()
    deadline = time.monotonic() + stretched(10)
    while time.monotonic() < deadline:
        with contextlib.suppress(websocket.WebSocketBadStatusException):
            held.append(socket_of(live_desk, first))
            break
    assert len(held) == 6
    for each in held:
        each.close()


def test_sockets_that_are_let_in_are_not_counted_among_the_connections_of_an_address(
    live_desk, operator, signed_in, settings
):
    settings.CONNECTIONS_PER_ADDRESS = 10
    client = signed_in(operator)
    held = [socket_of(live_desk, client) for _ in range(20)]
    assert page(live_desk, "127.0.0.1") == 200
    for each in held:
        each.close()
