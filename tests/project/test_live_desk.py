"""The whole application under its real server: pages, styles and sockets, with the rows of a test."""

import contextlib
import json
import socket
import time
import urllib.error
import urllib.request

import pytest
from websocket import WebSocketBadStatusException, create_connection

from project import request_limits


def get(address, **headers):
    """(status, headers, body), whatever the status; redirects are answers, not followed."""

    class Stay(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, *_):
            return None

    request = urllib.request.Request(address, headers=headers)
    try:
        with urllib.request.build_opener(Stay).open(request, timeout=20) as answer:
            return answer.status, answer.headers, answer.read()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read()


def cookie_of(person):
    """The session cookie of somebody who signed in."""
    from django.conf import settings
    from django.test import Client

    client = Client()
    client.force_login(person, backend=settings.AUTHENTICATION_BACKENDS[0])
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def test_strangers_are_sent_to_the_door_and_people_see_the_overview(live_desk, operator):
    status, headers, _ = get(f"{live_desk.url}/")
    assert status == 302
    assert headers["Location"].startswith("/sign-in/")
    status, _, body = get(f"{live_desk.url}/", Cookie=cookie_of(operator))
    assert status == 200
    assert b"operator" in body


def test_the_server_does_not_say_what_it_is(live_desk):
    _, headers, _ = get(f"{live_desk.url}/sign-in/")
    assert "Server" not in headers


def test_sockets_want_our_origin_and_a_person(live_desk, operator):
    ours = live_desk.url
    with pytest.raises(WebSocketBadStatusException):
        create_connection(live_desk.ws_url, origin="http://elsewhere.example", cookie=cookie_of(operator), timeout=10)
    with pytest.raises(WebSocketBadStatusException):
        create_connection(live_desk.ws_url, origin=ours, timeout=10)
    connection = create_connection(live_desk.ws_url, origin=ours, cookie=cookie_of(operator), timeout=10)
    connection.send(json.dumps({"follow": []}))
    connection.close()


def line_to(live_desk):
    host, port = live_desk.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=10)


def everything(line):
    """What arrives until the other side ends the line; a line that stays open fails by its time-out."""
    heard = b""
    with contextlib.suppress(ConnectionError):
        while piece := line.recv(65_536):
            heard += piece
    return heard


@pytest.mark.parametrize("padding", [b"\r\nX-Padding: " + b"x" * 2_000, b"x" * 2_000])
def test_an_endless_head_is_ended(live_desk, padding):
    with line_to(live_desk) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Endless: ")
        with contextlib.suppress(ConnectionError):
            for _ in range(200):
                line.sendall(padding)
        heard = everything(line)
    assert heard == b"" or heard.split()[1] == b"400"


def test_a_large_head_that_is_honest_and_a_body_behind_it_pass(live_desk):
    cookies = b"Cookie: " + b"; ".join(b"c%d=%s" % (number, b"x" * 100) for number in range(100)) + b"\r\n"
    body = b"x" * 500_000
    with line_to(live_desk) as line:
        line.sendall(b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + cookies)
        line.sendall(b"Content-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        heard = everything(line)
    assert heard.split()[1] == b"403", "it reached the page, which asks for the form's token"


def test_a_line_that_owes_its_head_is_ended_and_one_that_rests_between_requests_is_not(live_desk, monkeypatch):
    monkeypatch.setattr(request_limits, "HEAD_SECONDS", 0.5)
    with line_to(live_desk) as silent, line_to(live_desk) as slow:
        slow.sendall(b"GET / HTT")
        assert everything(silent) == b""
        assert everything(slow) == b""
    with line_to(live_desk) as kept:
        for _ in range(2):
            kept.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert kept.recv(65_536).startswith(b"HTTP/1.1 200")
            time.sleep(0.8)


@pytest.mark.parametrize(
    "target", [b"/%ff%fe/", b"/sign-in/?next=%00", b"/static/../../etc/passwd", b"/\xc3\xa9/", b"//"]
)
def test_odd_targets_get_an_answer_and_no_crash(live_desk, target):
    with line_to(live_desk) as line:
        line.sendall(b"GET " + target + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        answer = line.recv(100)
    assert answer.split()[1][:1] in {b"2", b"3", b"4"}


@pytest.mark.browser
def test_the_browser_opens_the_door_without_a_complaint(live_desk, new_page):
    page = new_page(width=360, dark=True)
    complaints = []
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.goto(f"{live_desk.url}/sign-in/")
    assert page.get_by_label("Username").is_visible()
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing hangs over the edge at 360 px"
    assert complaints == []
