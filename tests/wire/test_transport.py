"""What a client can know after each way a call can end, against a server that really does it."""

import base64
import gzip
import hashlib
import hmac
import http.client
import io
import json
import logging
import os
import socket
import struct
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from decimal import Decimal
from pathlib import Path

import msgspec
import pytest
import urllib3

from tests.bounds import stretched
from tests.wire.scripted import Connection, ScriptedServer, server_context
from wire import records
from wire.errors import BadReply, CallFailed, OutcomeUnknown, Refused, Unreachable
from wire.http_exchange import MOST_BYTES
from wire.operation import Kind, Operation, Param, Place, bind
from wire.transport import Credentials, Transport
from wire.values import Secret


class Made(records.Record, frozen=True):
    id: records.NonEmpty


SEND = Operation(
    "make",
    "POST",
    "/api/2/make/{currency}",
    (
        Param("currency", Kind.CODE, Place.PATH, required=True),
        Param("amount", Kind.DECIMAL, Place.FORM),
        Param("identifier", Kind.TEXT, Place.FORM, sensitive=True),
    ),
    result=Made,
)
COMMIT = Operation("commit", "PUT", "/api/2/make/1", result=Made, repeatable=True)
READ = Operation("ask", "GET", "/api/2/ask", (Param("symbols", Kind.CODES, Place.QUERY),), result=Made, repeatable=True)
READ_ONCE = Operation("ask_once", "GET", "/api/2/ask", result=Made)
PUBLIC = Operation("look", "GET", "/api/2/public/look", result=Made, repeatable=True, public=True)

SECRET = "canary-4d1f-secret"
BASIC = Credentials("login", Secret(SECRET))
HS256 = Credentials("login", Secret(SECRET), "hs256")
REFUSALS = frozenset({20001, 10001, 1002, 429})
GOOD = b'{"id":"x1"}'


def transport(server: ScriptedServer | str, **changes: object) -> Transport:
    """A transport with a deadline short enough for tests."""
    address = server if isinstance(server, str) else server.url
    settings = {"credentials": BASIC, "deadline_s": Decimal("1.5"), "refusals": REFUSALS} | changes
    return Transport(base_url=address, **settings)


def make() -> object:
    return bind(SEND, {"currency": "BTC", "amount": Decimal("1.50")})


def outcome_of_send(server: ScriptedServer | str, **changes: object) -> CallFailed:
    """What `send` raises."""
    with pytest.raises(CallFailed) as caught:
        transport(server, **changes).send(make())
    return caught.value


def error_body(code: int, message: str = "No", description: str = "why") -> bytes:
    return json.dumps({"error": {"code": code, "message": message, "description": description}}).encode()


def answering(body: bytes, status: str = "200 OK", *headers: str, kind: str = "application/json") -> Callable:
    """A script that reads one request and answers it."""

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.answer(body, status, *headers, kind=kind)

    return script


def keeping(*bodies: bytes, status: str = "200 OK") -> Callable:
    """A script that answers one request after the other on the same connection, then ends it."""

    def script(connection: Connection) -> None:
        for body in bodies:
            connection.read_request()
            connection.answer(body, status)

    return script


# What is sent --------------------------------------------------------------------------------------------------------


def test_money_call_sends_exactly_the_bound_bytes() -> None:
    with ScriptedServer(answering(GOOD, "200 OK", "Date: Fri, 20 Nov 2026 10:11:12 GMT")) as server:
        answer = transport(server).send(make())
    (seen,) = server.seen
    head, _, body = seen.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines[1:])}
    assert lines[0] == "POST /api/2/make/BTC HTTP/1.1"
    assert body == b"amount=1.50"
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    assert headers["authorization"] == "Basic " + base64.b64encode(f"login:{SECRET}".encode()).decode()
    assert "connection" not in headers
    assert answer.body == GOOD
    assert answer.date is not None
    assert answer.date.isoformat() == "2026-11-20T10:11:12+00:00"
    assert 0 <= answer.elapsed_ms < stretched(1500)


def test_signature_covers_the_bytes_on_the_wire() -> None:
    read = bind(READ, {"symbols": ["ETHBTC", "A+B/é"]})
    with ScriptedServer(keeping(GOOD)) as server:
        sent = transport(server, credentials=HS256, unix_s=lambda: 1_600_000_000)
        sent.send(make())
        sent.read(read)
        sent.close()
    for seen in server.seen:
        head, _, body = seen.partition(b"\r\n\r\n")
        method, target, _ = head.split(b"\r\n")[0].split(b" ")
        signature = hmac.new(SECRET.encode(), method + b"1600000000" + target + body, hashlib.sha256).hexdigest()
        expected = base64.b64encode(f"login:1600000000:{signature}".encode())
        assert b"authorization: hs256 " + expected.lower() in head.lower()
        assert expected in head
    assert b"GET /api/2/ask?symbols=ETHBTC,A%2BB%2F%C3%A9 HTTP/1.1" in server.seen[1]


def test_public_reads_carry_no_credentials() -> None:
    with ScriptedServer(keeping(GOOD)) as server:
        transport(server).read(bind(PUBLIC, {}))
    assert b"authorization" not in server.seen[0].lower()


def test_path_of_the_base_address_goes_before_the_target() -> None:
    with ScriptedServer(keeping(GOOD)) as server:
        transport(server.url + "/gate/").read(bind(READ, {}))
    assert server.seen[0].startswith(b"GET /gate/api/2/ask HTTP/1.1")


def test_nothing_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with ScriptedServer(answering(GOOD)) as server:
        transport(server).send(make())
    assert len(server.seen) == 1


def test_each_money_call_has_a_connection_of_its_own() -> None:
    with ScriptedServer(keeping(GOOD, GOOD)) as server:
        sent = transport(server)
        sent.send(make())
        sent.send(make())
    assert server.connections == 2


def test_read_and_send_refuse_each_others_work() -> None:
    with ScriptedServer(answering(GOOD)) as server:
        with pytest.raises(ValueError, match="not a read"):
            transport(server).read(make())
        with pytest.raises(ValueError, match="is a read"):
            transport(server).send(bind(READ, {}))
    assert server.seen == []


# Money: proven unsent ------------------------------------------------------------------------------------------------


def test_refused_connection_is_proven_unsent() -> None:
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    assert isinstance(outcome_of_send(f"http://127.0.0.1:{port}"), Unreachable)


def test_unknown_name_is_proven_unsent() -> None:
    failure = outcome_of_send("https://no-such-host.invalid", deadline_s=5)
    assert isinstance(failure, Unreachable)


def test_connection_that_is_not_made_in_time_is_proven_unsent() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        waiting = [socket.socket() for _ in range(8)]
        for sock in waiting:  # with the backlog full, the kernel leaves the next connection unanswered
            sock.setblocking(False)
            sock.connect_ex(listener.getsockname())
        began = time.monotonic()
        failure = outcome_of_send(f"http://127.0.0.1:{listener.getsockname()[1]}", deadline_s=Decimal("0.5"))
        for sock in waiting:
            sock.close()
    assert isinstance(failure, Unreachable)
    assert time.monotonic() - began < stretched(10)


# Money: unknown ------------------------------------------------------------------------------------------------------


def test_reset_before_the_request_was_read_is_unknown() -> None:
    def script(connection: Connection) -> None:
        connection.sock.recv(1, socket.MSG_PEEK)  # it has arrived, and nobody reads it
        connection.reset()

    with ScriptedServer(script) as server:
        failure = outcome_of_send(server)
    assert isinstance(failure, OutcomeUnknown)
    assert server.seen == []


def test_executed_then_reset_is_unknown() -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.reset()

    with ScriptedServer(script) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)
    assert len(server.seen) == 1
    assert server.connections == 1


def test_executed_then_closed_is_unknown() -> None:
    with ScriptedServer(lambda connection: connection.read_request() and None) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)
    assert len(server.seen) == 1
    assert server.connections == 1


def test_late_answer_is_unknown_at_the_deadline() -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.hold()

    with ScriptedServer(script) as server:
        began = time.monotonic()
        failure = outcome_of_send(server, deadline_s=Decimal("0.4"))
        took = time.monotonic() - began
    assert isinstance(failure, OutcomeUnknown)
    assert "deadline" in failure.reason
    assert 0.35 < took < stretched(10)


@pytest.mark.parametrize("part", ["status line", "headers", "body", "chunks", "continues"])
def test_dribbling_server_does_not_hold_a_call_past_the_deadline(part: str) -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
        match part:
            case "status line":
                connection.dribble(head + b"\r\n" + GOOD, 0.1)
            case "headers":
                connection.raw(head)
                connection.dribble(b"X-Slow: " + b"y" * 1000, 0.1)
            case "body":
                connection.raw(head + b"Content-Length: 1000\r\n\r\n")
                connection.dribble(b" " * 1000, 0.1)
            case "chunks":
                connection.raw(head + b"Transfer-Encoding: chunked\r\n\r\n")
                for _ in range(100):
                    connection.raw(b"1\r\n \r\n")
                    time.sleep(0.05)
            case "continues":
                for _ in range(100):
                    connection.raw(b"HTTP/1.1 100 Continue\r\n\r\n")
                    time.sleep(0.05)

    with ScriptedServer(script) as server:
        began = time.monotonic()
        failure = outcome_of_send(server, deadline_s=Decimal("0.6"))
        took = time.monotonic() - began
    assert isinstance(failure, OutcomeUnknown)
    assert "deadline" in failure.reason
    assert 0.5 < took < stretched(4), f"took {took:.2f} s"


def test_body_without_length_that_is_cut_by_the_deadline_is_unknown() -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.raw(b"HTTP/1.0 200 OK\r\n\r\n" + GOOD)
        connection.hold()

    with ScriptedServer(script) as server:
        assert isinstance(outcome_of_send(server, deadline_s=Decimal("0.4")), OutcomeUnknown)


def test_cut_chunked_body_is_unknown() -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.raw(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{"id":')

    with ScriptedServer(script) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)


def test_whole_json_in_a_cut_chunked_body_is_unknown() -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n" + GOOD + b"\r\n")

    with ScriptedServer(script) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>thank you</html>",
        b"{}",
        b'{"id":""}',
        b'{"id":null}',
        b'{"id":17}',
        b'{"identifier":"x1"}',
        b'["x1"]',
        b'{"id":"x1"',
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"result":"x1"}',
    ],
    ids=lambda body: repr(body[:20]),
)
def test_200_without_the_documented_record_is_unknown(body: bytes) -> None:
    with ScriptedServer(answering(body)) as server:
        failure = outcome_of_send(server)
    assert isinstance(failure, OutcomeUnknown)
    assert failure.evidence["status"] == 200
    json.dumps(failure.evidence)


@pytest.mark.parametrize("status", ["201 Created", "202 Accepted", "204 No Content", "206 Partial Content"])
def test_other_successes_are_not_the_documented_reply(status: str) -> None:
    with ScriptedServer(answering(b"" if status.startswith("204") else GOOD, status)) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)


@pytest.mark.parametrize("status", ["500 Internal Server Error", "502 Bad Gateway", "503 Unavailable", "504 Timeout"])
@pytest.mark.parametrize("code", [500, 503, 504, 20001])
def test_5xx_is_unknown_whatever_the_code(status: str, code: int) -> None:
    with ScriptedServer(answering(error_body(code), status)) as server:
        failure = outcome_of_send(server)
    assert isinstance(failure, OutcomeUnknown)
    assert failure.evidence["code"] == code
    assert len(server.seen) == 1


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<pre>Cannot POST /api/2/make</pre>", "text/html"),
        (b"{}", "application/json"),
        (b'{"error":"20001"}', "application/json"),
        (b'{"error":{"code":"20001","message":"No"}}', "application/json"),
        (b'{"error":{"message":"No"}}', "application/json"),
        (b'{"error":{"code":true,"message":"No"}}', "application/json"),
        (b'{"error":{"code":20001.5,"message":"No"}}', "application/json"),
        (error_body(31337), "application/json"),
        (error_body(504), "application/json"),
        (error_body(500), "application/json"),
    ],
)
def test_4xx_without_a_known_refusal_is_unknown(body: bytes, kind: str) -> None:
    with ScriptedServer(answering(body, "400 Bad Request", kind=kind)) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)


def test_without_known_codes_nothing_is_ever_called_refused() -> None:
    with ScriptedServer(answering(error_body(20001), "400 Bad Request")) as server:
        assert isinstance(outcome_of_send(server, refusals=frozenset()), OutcomeUnknown)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
def test_redirect_is_never_followed(status: str) -> None:
    with ScriptedServer(keeping(GOOD)) as elsewhere:
        body = b"x" * 1000
        with ScriptedServer(answering(body, status, f"Location: {elsewhere.url}/api/2/make/BTC")) as server:
            failure = outcome_of_send(server)
        with ScriptedServer(answering(body, status, "Location: /api/2/other")) as same:
            assert isinstance(outcome_of_send(same), OutcomeUnknown)
        assert elsewhere.seen == []
    assert isinstance(failure, OutcomeUnknown)
    assert (len(server.seen), len(same.seen)) == (1, 1)


def test_huge_body_is_unknown_and_not_read_to_its_end() -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        piece = b"100000\r\n" + b" " * 2**20 + b"\r\n"
        for _ in range(200):
            connection.raw(piece)

    with ScriptedServer(script) as server:
        failure = outcome_of_send(server, deadline_s=20)
    assert isinstance(failure, OutcomeUnknown)
    assert str(MOST_BYTES) in failure.reason


def test_small_body_that_unpacks_to_a_huge_one_is_not_unpacked_whole() -> None:
    packed = gzip.compress(b" " * (MOST_BYTES + 2**20))
    with ScriptedServer(answering(packed, "200 OK", "Content-Encoding: gzip")) as server:
        assert isinstance(outcome_of_send(server, deadline_s=20), OutcomeUnknown)
        with pytest.raises(BadReply, match="larger"):
            transport(server, deadline_s=20).read(bind(READ, {}))


def test_broken_packing_is_unknown() -> None:
    with ScriptedServer(answering(b"not packed", "200 OK", "Content-Encoding: gzip")) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)


@pytest.mark.parametrize(
    "head",
    [
        b"nonsense\r\n\r\n",
        b"HTTP/1.1 999999 What\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n{}{}{}",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 500 + b"\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
    ids=lambda head: repr(head[16:45]),
)
def test_hostile_heads_are_unknown(head: bytes) -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.raw(head)

    with ScriptedServer(script) as server:
        assert isinstance(outcome_of_send(server), OutcomeUnknown)
    assert len(server.seen) == 1


# Money: refused ------------------------------------------------------------------------------------------------------


def test_known_code_is_a_refusal() -> None:
    body = error_body(20001, "Insufficient funds", "Check that\nthe funds suffice")
    with ScriptedServer(answering(body, "400 Bad Request", "Date: Fri, 20 Nov 2026 10:11:12 GMT")) as server:
        failure = outcome_of_send(server)
    assert isinstance(failure, Refused)
    assert (failure.code, failure.message, failure.http_status) == (20001, "Insufficient funds", 400)
    assert failure.description == "Check that the funds suffice"
    assert failure.date is not None


def test_refusal_with_other_members_around_is_still_one() -> None:
    body = b'{"timestamp":"x","path":"/y","error":{"code":10001,"message":"No","extra":[1]},"requestId":"z"}'
    with ScriptedServer(answering(body, "429 Too Many Requests")) as server:
        failure = outcome_of_send(server)
    assert isinstance(failure, Refused)
    assert (failure.code, failure.description, failure.http_status) == (10001, "", 429)


def test_idempotent_money_call_is_sent_once_too() -> None:
    with ScriptedServer(answering(error_body(503), "503 Service Unavailable")) as server, pytest.raises(OutcomeUnknown):
        transport(server).send(bind(COMMIT, {}))
    assert len(server.seen) == 1
    assert b"content-length: 0" in server.seen[0].lower()


# Reads ---------------------------------------------------------------------------------------------------------------


def test_reads_share_a_connection() -> None:
    with ScriptedServer(keeping(*[GOOD] * 5)) as server:
        client = transport(server)
        for _ in range(5):
            assert client.read(bind(READ, {})).body == GOOD
        client.close()
    assert (server.connections, len(server.seen)) == (1, 5)


def test_connection_that_the_server_ended_between_reads_is_replaced() -> None:
    with ScriptedServer(keeping(GOOD)) as server:
        client = transport(server)
        for _ in range(3):
            assert client.read(bind(READ, {})).body == GOOD
            time.sleep(0.05)
        client.close()
    assert (server.connections, len(server.seen)) == (3, 3)


def test_connection_that_ends_while_a_read_is_on_its_way_is_replaced() -> None:
    def ends_at_the_second(connection: Connection) -> None:
        connection.read_request()
        connection.answer(GOOD)
        connection.read_request()

    with ScriptedServer(ends_at_the_second, keeping(GOOD)) as server:
        client = transport(server)
        assert client.read(bind(READ, {})).body == GOOD
        assert client.read(bind(READ, {})).body == GOOD
        client.close()
    assert (server.connections, len(server.seen)) == (2, 3)


@pytest.mark.parametrize("status", ["502 Bad Gateway", "503 Service Unavailable", "504 Gateway Timeout"])
def test_repeatable_read_is_repeated(status: str) -> None:
    with ScriptedServer(answering(b"busy", status), answering(error_body(503), status), keeping(GOOD)) as server:
        assert transport(server).read(bind(READ, {})).body == GOOD
    assert len(server.seen) == 3


def test_read_that_is_not_repeatable_is_asked_once() -> None:
    with (
        ScriptedServer(answering(b"busy", "503 Service Unavailable")) as server,
        pytest.raises(Unreachable, match="503"),
    ):
        transport(server).read(bind(READ_ONCE, {}))
    assert len(server.seen) == 1


@pytest.mark.parametrize(("status", "code"), [("500 Internal Server Error", 500), ("429 Too Many Requests", 429)])
def test_failures_that_do_not_pass_are_not_repeated(status: str, code: int) -> None:
    with (
        ScriptedServer(answering(error_body(code), status)) as server,
        pytest.raises(Refused if code == 429 else Unreachable),
    ):
        transport(server).read(bind(READ, {}))
    assert len(server.seen) == 1


def test_repeating_stays_inside_the_deadline() -> None:
    # Two pauses are 0.3 s; with the third one, of a second, it would be too late from the start.
    with (
        ScriptedServer(answering(b"", "503 Service Unavailable")) as server,
        pytest.raises(Unreachable, match="503"),
    ):
        transport(server, deadline_s=Decimal("1.2")).read(bind(READ, {}))
    assert len(server.seen) == 3


def test_dribbling_server_does_not_hold_a_read_on_a_kept_connection() -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.answer(GOOD)
        connection.read_request()
        connection.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        connection.dribble(b" " * 1000, 0.1)

    with ScriptedServer(script, lambda connection: connection.hold()) as server:
        client = transport(server, deadline_s=Decimal("0.6"))
        client.read(bind(READ, {}))
        began = time.monotonic()
        with pytest.raises(Unreachable, match="deadline"):
            client.read(bind(READ, {}))
        took = time.monotonic() - began
        client.close()
    assert 0.5 < took < stretched(10)


def test_packed_answers_are_unpacked() -> None:
    with ScriptedServer(answering(gzip.compress(GOOD), "200 OK", "Content-Encoding: gzip")) as server:
        assert transport(server).read(bind(READ, {})).body == GOOD


def test_read_refusals_keep_unknown_codes() -> None:
    with (
        ScriptedServer(answering(error_body(31337, "New"), "400 Bad Request")) as server,
        pytest.raises(Refused) as caught,
    ):
        transport(server).read(bind(READ, {}))
    assert caught.value.code == 31337


@pytest.mark.parametrize("status", ["404 Not Found", "302 Found", "204 No Content", "400 Bad Request"])
def test_undocumented_answers_to_reads_are_bad_replies(status: str) -> None:
    body = b"" if status.startswith("204") else b"<pre>Cannot GET</pre>"
    with (
        ScriptedServer(answering(body, status, "Location: /other", kind="text/html")) as server,
        pytest.raises(BadReply),
    ):
        transport(server).read(bind(READ, {}))
    assert len(server.seen) == 1


def test_odd_date_headers_are_no_date() -> None:
    with ScriptedServer(keeping(GOOD)) as server:
        assert transport(server).read(bind(READ, {})).date is None
    for odd in ("yesterday", "Fri, 99 Nov 2026 10:11:12 GMT", "0", "Fri, 20 Nov 99999999999 10:11:12 GMT"):
        with ScriptedServer(answering(GOOD, "200 OK", f"Date: {odd}")) as server:
            assert transport(server).read(bind(READ, {})).date is None


# Addresses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "address", ["https://exchange.test", "http://127.0.0.1:8100", "http://localhost", "http://[::1]:1"]
)
def test_addresses_that_are_taken(address: str) -> None:
    Transport(base_url=address).close()


@pytest.mark.parametrize(
    "address",
    [
        "http://exchange.test",
        "http://127.0.0.1.exchange.test",
        "http://10.0.0.1",
        "http://0.0.0.0:8100",
        "http://127.0.0.1@exchange.test",
        "https://key:secret@exchange.test",
        "https://exchange.test?x=1",
        "https://exchange.test#x",
        "https://exchange.test:99999",
        "ftp://exchange.test",
        "exchange.test",
        "https://",
        "",
    ],
)
def test_addresses_that_are_not_taken(address: str) -> None:
    with pytest.raises(ValueError) as caught:
        Transport(base_url=address)
    assert "secret" not in str(caught.value)


# Secrets -------------------------------------------------------------------------------------------------------------


def everything_of(failure: BaseException) -> str:
    """All that a log or an error page could show of an exception."""

    texts = [str(failure), repr(failure), repr(failure.args), repr(vars(failure))]
    texts += traceback.format_exception(failure)
    while failure.__context__ is not None:
        failure = failure.__context__
        texts += [str(failure), repr(failure)]
    return "\n".join(texts)


HIDDEN = [SECRET, base64.b64encode(f"login:{SECRET}".encode()).decode(), "who@person.test", "who%40person.test"]


@pytest.mark.parametrize("credentials", [BASIC, HS256], ids=["basic", "hs256"])
def test_no_failure_and_no_log_shows_what_is_hidden(
    credentials: Credentials, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An exchange that repeats everything it was sent, with every logger at DEBUG and http.client set to print."""

    def echo(status: str) -> Callable:
        def script(connection: Connection) -> None:
            request = connection.read_request().decode("latin-1")
            both = request + " " + " ".join(HIDDEN)
            connection.answer(error_body(20001, both, both), status)

        return script

    monkeypatch.setattr(http.client.HTTPConnection, "debuglevel", 1)
    request = bind(SEND, {"currency": "BTC", "identifier": "who@person.test"})
    printed, texts = io.StringIO(), []
    with caplog.at_level(logging.DEBUG), redirect_stdout(printed):
        for name in ("urllib3", "urllib3.connectionpool", "requests", "http.client", "wire"):
            logging.getLogger(name).setLevel(logging.DEBUG)
        for status in ("400 Bad Request", "500 Internal Server Error", "200 OK", "404 Not Found"):
            with ScriptedServer(echo(status)) as server:
                sent = transport(server, credentials=credentials)
                with pytest.raises(CallFailed) as caught:
                    sent.send(request)
                texts.append(everything_of(caught.value) + repr(sent) + repr(request) + repr(credentials))
                (header,) = [line for line in server.seen[0].split(b"\r\n") if line.startswith(b"Authorization: ")]
                assert header.decode().split()[-1] not in texts[-1]
        dead = transport("http://127.0.0.1:9", credentials=credentials)
        with pytest.raises(CallFailed) as caught:
            dead.send(request)
        texts.append(everything_of(caught.value))
    logs = caplog.text + printed.getvalue() + "".join(repr(record.args) for record in caplog.records)
    for text in [*texts, logs]:
        for hidden in [*HIDDEN, "Authorization"]:
            if hidden == "Authorization":
                assert hidden not in logs
            else:
                assert hidden not in text
    assert "api/2/make" not in logs


def test_secret_at_the_edge_of_an_excerpt_is_not_shown_in_part() -> None:
    for before in range(1100, 1220, 6):
        with ScriptedServer(answering(b"-" * before + SECRET.encode() * 300, "404 Not Found")) as server:
            failure = outcome_of_send(server)
        assert "canary" not in everything_of(failure)


def test_words_of_the_exchange_are_left_whole() -> None:
    body = error_body(1002, "Unsupported authorization method", "Use Basic authentication")
    with ScriptedServer(answering(body, "401 Unauthorized")) as server:
        failure = outcome_of_send(server)
    assert str(failure) == "1002 Unsupported authorization method: Use Basic authentication"


def test_library_still_logs_for_others(caplog: pytest.LogCaptureFixture) -> None:
    """Only our own calls are kept quiet: another user of the library keeps its log."""

    with caplog.at_level(logging.DEBUG, "urllib3"), ScriptedServer(answering(GOOD)) as server:
        urllib3.PoolManager().request("GET", server.url + "/theirs")
    assert "/theirs" in caplog.text


# TLS -----------------------------------------------------------------------------------------------------------------


def test_tls_is_verified(certificate: str) -> None:
    with ScriptedServer(keeping(GOOD), tls=server_context(certificate)) as server:
        assert transport(server, ca_file=certificate).send(make()).body == GOOD
        failure = outcome_of_send(server)
    assert isinstance(failure, OutcomeUnknown)
    assert "SSL" in failure.reason
    assert len(server.seen) == 1


def test_tls_keeps_no_key_log(certificate: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    with ScriptedServer(keeping(GOOD), tls=server_context(certificate)) as server:
        transport(server, ca_file=certificate).send(make())
    assert not (tmp_path / "keys").exists()


def test_dribbling_over_tls_does_not_hold_a_call(certificate: str) -> None:
    def script(connection: Connection) -> None:
        connection.read_request()
        connection.raw(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n")
        connection.dribble(b" " * 1000, 0.1)

    with ScriptedServer(script, tls=server_context(certificate)) as server:
        began = time.monotonic()
        failure = outcome_of_send(server, ca_file=certificate, deadline_s=Decimal("0.6"))
        took = time.monotonic() - began
    assert isinstance(failure, OutcomeUnknown)
    assert 0.5 < took < stretched(10)


def test_dribbling_tls_handshake_does_not_hold_a_call() -> None:
    def script(connection: Connection) -> None:
        connection.raw(b"\x16\x03\x03" + struct.pack(">H", 4000))
        connection.dribble(b"\x02" + b"\x00" * 3999, 0.1)

    with ScriptedServer(script) as server:
        began = time.monotonic()
        failure = outcome_of_send(server.url.replace("http:", "https:"), deadline_s=Decimal("0.6"))
        took = time.monotonic() - began
    assert isinstance(failure, OutcomeUnknown)
    assert 0.5 < took < stretched(10)


# Processes and threads -----------------------------------------------------------------------------------------------


def test_kept_connections_are_not_shared_with_a_forked_process() -> None:
    """A child that used its parent's connection would read its parent's answers."""

    def first(connection: Connection) -> None:
        keeping(b'{"id":"first"}', b'{"id":"first"}')(connection)

    with ScriptedServer(first, keeping(b'{"id":"second"}')) as server:
        client = transport(server)
        client.read(bind(READ, {}))
        child = os.fork()
        if child == 0:
            os._exit(0 if client.read(bind(READ, {})).body == b'{"id":"second"}' else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0, "the child used the connection of its parent"
        assert client.read(bind(READ, {})).body == b'{"id":"first"}'
        client.close()


def test_threads_read_at_once() -> None:

    def echo(connection: Connection) -> None:
        while True:
            request = connection.read_request()
            wanted = request.split(b"symbols=")[1].split(b" ")[0]
            connection.answer(b'{"id":"' + wanted + b'"}')

    with ScriptedServer(echo) as server:
        client = transport(server, deadline_s=20)

        def ask(number: int) -> bool:
            answer = client.read(bind(READ, {"symbols": [f"S{number}"]}))
            return msgspec.json.decode(answer.body)["id"] == f"S{number}"

        with ThreadPoolExecutor(6) as pool:
            assert all(pool.map(ask, range(60)))
        client.close()


def test_transport_does_not_import_the_apps() -> None:
    code = "import sys, wire.transport; print([m for m in sys.modules if m.split('.')[0] in "
    code += "('django', 'rest_framework', 'celery', 'channels', 'exchange_ops', 'desk', 'sandbox')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
