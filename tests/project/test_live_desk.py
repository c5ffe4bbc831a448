"""The whole application under its real server: pages, styles and sockets, with the rows of a test."""

import json
import socket
import urllib.error
import urllib.request

import pytest
from websocket import WebSocketBadStatusException, create_connection


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


def test_an_endless_head_ends_with_an_answer_or_the_line(live_desk):
    host, port = live_desk.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        line.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
        try:
            for _ in range(200):
                line.sendall(b"X-Padding: " + b"x" * 2_000 + b"\r\n")
            answer = line.recv(200)
        except OSError:
            answer = b""
    assert answer == b"" or answer.split()[1] in {b"400", b"431"}


@pytest.mark.parametrize(
    "target", [b"/%ff%fe/", b"/sign-in/?next=%00", b"/static/../../etc/passwd", b"/\xc3\xa9/", b"//"]
)
def test_odd_targets_get_an_answer_and_no_crash(live_desk, target):
    host, port = live_desk.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
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
