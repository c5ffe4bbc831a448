"""Calls and replies transcribed by hand from the specification, against what the catalogue makes of them.

The files know nothing of the catalogue: a wrong path in a row that client and sandbox agree on is found here.
"""

import json
from decimal import Decimal
from urllib.parse import unquote

import msgspec
import pytest

from chaindata.wire import catalogue
from tests.exchange_ops.wire import golden
from tests.wire.scripted import Connection, ScriptedServer
from wire import records
from wire.errors import BadReply
from wire.operation import BadArgument, Place, bind, read
from wire.transport import Transport

FILES = golden.files("chaindata")
MEMBERS = {"operation", "source", "arguments", "method", "path", "query", "body", "reply", "facts"}


def test_every_operation_has_a_file_and_every_file_an_operation():
    assert {file["operation"] for file in FILES.values()} == set(FILES)
    assert set(FILES) == set(catalogue.by_name)


@pytest.mark.parametrize("name", FILES)
def test_file_is_whole(name):
    assert set(FILES[name]) == MEMBERS
    assert FILES[name]["facts"], "a file without facts shows nothing about the reply"


@pytest.mark.parametrize("name", FILES)
def test_call_is_made_as_specified(name):
    file, operation = FILES[name], catalogue.by_name[name]
    request = bind(operation, golden.typed(file["arguments"]))
    target = file["path"] + (f"?{file['query']}" if file["query"] else "")
    assert (request.method, request.target, request.body.decode()) == (file["method"], target, file["body"])
    assert request.content_type == "application/json" or not request.body


@pytest.mark.parametrize("name", ["get_block_headers", "get_slp_balances", "make_grant_payload", "get_properties"])
def test_call_is_sent_as_specified(name):
    """Through the transport, to a real socket: a bulk read is a read, though it is posted."""
    file = FILES[name]

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.answer(json.dumps(file["reply"]).encode())

    with ScriptedServer(script) as server:
        transport = Transport(base_url=server.url)
        answer = transport.read(bind(catalogue.by_name[name], golden.typed(file["arguments"])))
        transport.close()
    head, _, body = server.seen[0].partition(b"\r\n\r\n")
    target = file["path"] + (f"?{file['query']}" if file["query"] else "")
    assert head.split(b"\r\n")[0].decode() == f"{file['method']} {target} HTTP/1.1"
    assert body.decode() == file["body"]
    assert (b"Content-Type: application/json" in head) == bool(file["body"])
    assert json.loads(answer.body) == file["reply"]


@pytest.mark.parametrize("name", FILES)
def test_reply_is_read_as_specified(name):
    file = FILES[name]
    records.unknown.clear()
    decoded = records.decode(json.dumps(file["reply"]).encode(), catalogue.by_name[name].result)
    facts = golden.facts(decoded, file["facts"])
    assert facts == file["facts"]
    assert golden.kinds(facts) == golden.kinds(file["facts"])
    assert records.unknown.counts() == {}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "body", [b"", b"[[[]]]", b'{"error":"x"}', b"true", b"[0.5]", b'[{"a":1}]', b"\xff", b"[" * 4000]
)
def test_another_reply_is_refused(name, body):
    with pytest.raises(BadReply):
        records.decode(body, catalogue.by_name[name].result)


def _without_one_member(value):
    """The value once for each of its members, which it lacks."""
    if isinstance(value, list):
        return [
            [*value[:at], less, *value[at + 1 :]] for at, item in enumerate(value) for less in _without_one_member(item)
        ]
    if not isinstance(value, dict):
        return []
    found = [{name: item for name, item in value.items() if name != left} for left in value]
    for name, item in value.items():
        found += [{**value, name: less} for less in _without_one_member(item)]
    return found


@pytest.mark.parametrize("name", FILES)
def test_reply_without_a_required_member_is_refused(name):
    """Each member of the reply is left out once: it is optional, or its absence is noticed."""
    required = 0
    reply = FILES[name]["reply"]
    for whole in _without_one_member(reply):
        try:
            records.decode(json.dumps(whole).encode(), catalogue.by_name[name].result)
        except BadReply:
            required += 1
    assert required or not _without_one_member(reply) or name in {"get_tx_out_proofs", "verify_tx_out_proofs"}


def test_files_show_every_parameter_of_every_operation():
    missing = {
        f"{operation.name} {param.name}"
        for operation in catalogue.ALL
        for param in operation.params
        if param.name not in FILES[operation.name]["arguments"]
    }
    assert missing == {"make_revoke_payload memo"}


@pytest.mark.parametrize("name", FILES)
def test_reading_a_specified_call_gives_its_arguments(name):
    file, operation = FILES[name], catalogue.by_name[name]
    in_path = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    given_parts = dict(zip(operation.path.split("/"), file["path"].split("/"), strict=True))
    path_values = {part: unquote(given_parts["{" + part + "}"]) for part in in_path}
    query = [tuple(map(unquote, pair.split("="))) for pair in file["query"].split("&") if pair]
    body = msgspec.json.decode(file["body"]) if file["body"] else {}
    members = [(operation.params[0].name, body)] if isinstance(body, list) else body.items()
    arguments = read(operation, path_values, query, members, defaults=False)
    assert arguments == {
        key: Decimal(value) if isinstance(arguments[key], Decimal) else value
        for key, value in file["arguments"].items()
    }


@pytest.mark.parametrize("name", FILES)
def test_an_argument_of_the_wrong_kind_is_refused_by_both_sides(name):
    operation = catalogue.by_name[name]
    arguments = golden.typed(FILES[name]["arguments"])
    for param in operation.params:
        for wrong in (object(), "\x00", "\ud800", [[]], {"a": 1}, 0.5):
            with pytest.raises(BadArgument):
                bind(operation, {**arguments, param.name: wrong})
            if param.place is Place.FORM and not isinstance(wrong, object().__class__):
                with pytest.raises(BadArgument):
                    read(operation, {}, (), {**arguments, param.name: wrong}.items())
