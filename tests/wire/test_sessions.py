"""What requests would do by itself, and must not: lead elsewhere, remember, believe the environment, change bytes."""

import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

import certifi
import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st

from tests.bounds import stretched
from tests.wire.described import arguments_for
from tests.wire.scripted import Connection, ScriptedServer, server_context
from tests.wire.test_transport import (
    GOOD,
    READ,
    READ_ONCE,
    SECRET,
    answering,
    keeping,
    make,
    outcome_of_send,
    transport,
)
from wire.deadline import Deadline
from wire.errors import BadReply, OutcomeUnknown, Unreachable
from wire.http_exchange import MOST_BYTES, Line, Lost, roundtrip
from wire.operation import Kind, Operation, Param, Place, bind
from wire.sessions import Sending, WouldSendOtherBytes
from wire.transport import Transport

PLAIN = Sending("POST", "/api/2/make", {}, b"amount=1")
WAYS = ("act", "ask")


def come(
    server: ScriptedServer, way: str = "act", sending: Sending = PLAIN, seconds: str = "1.5", ca_file: str | None = None
) -> object:
    """What one round trip gives."""
    with Line(server.url, ca_file).new_session() as session, Deadline(int(Decimal(seconds) * 10**9)) as deadline:
        return roundtrip(getattr(session, way), sending, deadline)


# Elsewhere -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("where", ["same", "elsewhere"])
def test_money_goes_once_to_one_place(status: int, where: str) -> None:
    """Whoever followed would be told that all went well: by a GET that moved nothing, or by a second POST."""
    with ScriptedServer(keeping(GOOD)) as elsewhere:
        place = "/api/2/other" if where == "same" else elsewhere.url + "/api/2/make/BTC"
        leading = answering(b"", f"{status} Redirect", f"Location: {place}")
        with ScriptedServer(leading, keeping(GOOD, GOOD)) as server:
            failure = outcome_of_send(server)
            assert (server.connections, len(server.seen)) == (1, 1)
        assert elsewhere.connections == 0
    assert isinstance(failure, OutcomeUnknown)
    assert failure.evidence["status"] == status


@pytest.mark.parametrize("status", [302, 307])
def test_redirect_on_a_kept_connection_is_not_followed_either(status: int) -> None:
    def script(connection: Connection) -> None:
        for _ in range(3):
            connection.read_request()
            connection.answer(b"", f"{status} Redirect", "Location: /api/2/other")

    with ScriptedServer(script) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)
        with pytest.raises(BadReply):
            transport(server).read(bind(READ, {}))
        server.wait_for_requests(2)
    assert [seen.split(b" ")[0] for seen in server.seen] == [b"POST", b"GET"]


@pytest.mark.parametrize("way", WAYS)
def test_endless_redirect_is_not_read_to_its_end(way: str) -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.raw(b"HTTP/1.1 302 Found\r\nLocation: /other\r\nTransfer-Encoding: chunked\r\n\r\n")
        for _ in range(200):
            connection.raw(b"100000\r\n" + b" " * 2**20 + b"\r\n")

    with ScriptedServer(script) as server:
        came = come(server, way, seconds="20")
    assert isinstance(came, Lost)
    assert str(MOST_BYTES) in came.reason


def test_session_leads_to_its_own_service_only() -> None:
    with ScriptedServer(keeping(GOOD)) as own, ScriptedServer(keeping(GOOD)) as other:
        with Line(own.url).new_session() as session, Deadline(10**9):
            for address in (other.url, own.url.replace("http:", "https:"), "file:///etc/hostname", own.url + "0"):
                with pytest.raises((requests.exceptions.InvalidSchema, requests.exceptions.InvalidURL)):
                    session.get(address + "/api")
            assert session.get(own.url + "/api").content == GOOD
        assert (own.connections, other.connections) == (1, 0)


# Memory and environment ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_cookies_are_not_kept(way: str) -> None:
    def script(connection: Connection) -> None:
        for _ in range(2):
            connection.read_request()
            connection.answer(GOOD, "200 OK", "Set-Cookie: who=somebody; Path=/; Max-Age=9999")

    with ScriptedServer(script) as server, Line(server.url).new_session() as session, Deadline(10**9) as deadline:
        for _ in range(2):
            roundtrip(getattr(session, way), PLAIN, deadline)
        assert len(session.cookies) == 0
    assert [b"cookie" in seen.lower() for seen in server.seen] == [False, False]


def test_no_credentials_of_the_environment_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login canary password canary\n")
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    with ScriptedServer(keeping(GOOD)) as server:
        for way in WAYS:
            come(server, way)
    assert [b"authorization" in seen.lower() for seen in server.seen] == [False, False]


def test_no_authorities_of_the_environment_are_trusted(certificate: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.setenv(name, certificate)
    with ScriptedServer(keeping(GOOD), tls=server_context(certificate)) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)
        with pytest.raises(Unreachable, match="SSL"):
            transport(server).read(bind(READ_ONCE, {}))
    assert server.seen == []


def test_an_own_authority_is_the_only_one(certificate: str) -> None:
    """Requests would add the public authorities to those of the file."""
    with ScriptedServer(keeping(GOOD), tls=server_context(certificate)) as server:
        line = Line(server.url, certificate)
        for way in WAYS:
            with line.new_session() as session, Deadline(10**9) as deadline:
                assert roundtrip(getattr(session, way), PLAIN, deadline).body == GOOD
    assert line._trust is not None
    assert len(line._trust.get_ca_certs()) == 1
    assert certifi.where() != certificate


# Bytes ---------------------------------------------------------------------------------------------------------------

ANY = Operation(
    "any",
    "POST",
    "/api/2/any/{code}/of/{text}",
    (
        Param("code", Kind.CODE, Place.PATH, required=True),
        Param("text", Kind.TEXT, Place.PATH, required=True),
        Param("codes", Kind.CODES, Place.QUERY),
        Param("note", Kind.TEXT, Place.QUERY),
        Param("from", Kind.INSTANT_OR_INDEX, Place.QUERY),
        Param("amount", Kind.DECIMAL, Place.FORM),
        Param("comment", Kind.TEXT, Place.FORM),
    ),
)


@given(arguments=arguments_for(ANY), prefix=st.sampled_from(["", "/gate", "/a/b-c.d~e_f"]))
def test_requests_sends_what_was_bound(arguments: dict[str, object], prefix: str) -> None:
    request = bind(ANY, arguments)
    line = Line("http://[::1]:8100" + prefix)
    with line.new_session() as session:
        sending = Sending(request.method, line.prefix + request.target, {"X-Own": "1"}, request.body)
        prepared = session.prepared(sending)
    assert prepared.path_url == prefix + request.target
    assert (prepared.body or b"") == request.body
    assert {name.lower() for name in prepared.headers} == {"x-own", "content-length"}
    assert urlsplit(prepared.url).netloc == "[::1]:8100"


@pytest.mark.parametrize("target", ["/a b", "/%7e", "/a/../b", "/a#b", "/é", "", "/a?x=%zz", "/a?"])
def test_what_requests_would_change_is_not_sent(target: str) -> None:
    with ScriptedServer(keeping(GOOD)) as server, pytest.raises(WouldSendOtherBytes):
        come(server, sending=Sending("POST", target, {}, b"x=1"))
    assert server.connections == 0


@pytest.mark.parametrize("path", ["/a b", "/gáte", "/%41", "/..", "/a/../b", "/a//b", "//", "/a;b", "/.a"])
def test_paths_of_services_that_are_not_taken(path: str) -> None:
    with pytest.raises(ValueError, match="path"):
        Transport(base_url="https://exchange.test" + path)


@pytest.mark.parametrize(
    "header",
    [
        "Set-Cookie: ;;=;;; expires=never; max-age=x; version=; path",
        "Set-Cookie: a=b; expires=Fri, 99 Nov 99999999 99:99:99 GMT; domain=..",
        "Set-Cookie2: \x80\xff=\xfe; version=1",
        "Content-Type: ;charset=\xff;;=",
        'Content-Type: application/json; charset="',
        "Content-Type: text/html; charset=no-such",
        "Location: \xff\xfe://[::",
        "Location: http://[",
        "Link: <" * 50,
        "Retry-After: 9999",
        "Retry-After: \xff",
        "Connection: close, keep-alive",
        "Keep-Alive: timeout=-1",
    ],
)
@pytest.mark.parametrize("status", ["200 OK", "302 Found", "503 Service Unavailable"])
def test_odd_headers_change_nothing(header: str, status: str) -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        head = f"HTTP/1.1 {status}\r\n{header}\r\nContent-Length: {len(GOOD)}\r\n\r\n"
        connection.raw(head.encode("latin-1") + GOOD)

    with ScriptedServer(script) as server:
        if status.startswith("200"):
            assert transport(server).send(make()).body == GOOD
        else:
            assert outcome_of_send(server).evidence["status"] == int(status[:3])
    assert (server.connections, len(server.seen)) == (1, 1)


# Time ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("secure", [False, True])
def test_server_that_does_not_read_holds_nobody(way: str, secure: bool, certificate: str) -> None:
    context = server_context(certificate) if secure else None
    big = Sending("POST", "/api/2/make", {}, b"x" * 30_000_000)
    with ScriptedServer(lambda connection: connection.hold(), tls=context) as server:
        came = come(server, way, big, "0.5", ca_file=certificate)
    assert isinstance(came, Lost)
    assert "deadline" in came.reason
    assert not came.unsent
    assert came.elapsed_ms < stretched(1500)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("secure", [False, True])
def test_body_that_keeps_coming_ends_with_the_deadline(way: str, secure: bool, certificate: str) -> None:
    """No read ever waits: only the total time can end it."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        while True:
            connection.raw(b"1\r\n \r\n" * 100)

    context = server_context(certificate) if secure else None
    with ScriptedServer(script, tls=context) as server:
        came = come(server, way, seconds="0.5", ca_file=certificate)
    assert isinstance(came, Lost)
    assert "deadline" in came.reason
    assert came.elapsed_ms < stretched(1500)


def test_close_ends_the_kept_connections() -> None:
    ended = threading.Event()

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.answer(GOOD)
        if connection.sock.recv(1) == b"":
            ended.set()

    with ScriptedServer(script) as server:
        client = transport(server)
        client.read(bind(READ, {}))
        assert not ended.wait(0.1)
        client.close()
        assert ended.wait(5)


def test_calls_leave_no_thread_behind() -> None:
    with ScriptedServer(keeping(GOOD, GOOD)) as server:
        client = transport(server)
        client.read(bind(READ, {}))
        before = set(threading.enumerate())
        client.read(bind(READ, {}))
        assert set(threading.enumerate()) <= before
        client.close()


@pytest.mark.parametrize("way", WAYS)
def test_connections_outside_a_deadline_are_refused(way: str) -> None:
    with ScriptedServer(keeping(GOOD)) as server, Line(server.url).new_session() as session:
        sent: Callable = getattr(session, way)
        with pytest.raises(RuntimeError, match="deadline"):
            sent(PLAIN, Deadline(10**9))
    assert server.connections == 0


def test_secrets_are_not_in_what_a_session_shows() -> None:
    sending = Sending("POST", "/api/2/make", {"Authorization": SECRET}, SECRET.encode())
    with Line("http://127.0.0.1:9").new_session() as session:
        text = repr(sending) + repr(session) + repr(session.prepared(sending))
    assert SECRET not in text
