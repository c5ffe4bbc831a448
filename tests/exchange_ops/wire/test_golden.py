"""Calls and replies transcribed by hand from the specifications, against what the catalogue makes of them.

The files know nothing of the catalogue: a wrong path in a row that client and sandbox agree on is found here.
"""

import json
from decimal import Decimal
from typing import Any

import pytest

from exchange_ops.wire import catalogue
from tests.exchange_ops.wire import golden
from tests.wire.scripted import Connection, ScriptedServer
from wire import records
from wire.errors import BadReply
from wire.operation import bind, read
from wire.transport import Transport

FILES = golden.files("exchange")
MEMBERS = {"operation", "source", "arguments", "method", "path", "query", "body", "reply", "facts"}


def test_every_operation_has_a_file_and_every_file_an_operation() -> None:
    assert {file["operation"] for file in FILES.values()} == set(FILES)
    assert set(FILES) == set(catalogue.by_name)


@pytest.mark.parametrize("name", FILES)
def test_file_is_whole(name: str) -> None:
    assert set(FILES[name]) == MEMBERS
    assert FILES[name]["facts"], "a file without facts shows nothing about the reply"


@pytest.mark.parametrize("name", FILES)
def test_call_is_sent_as_specified(name: str) -> None:
    """Through the transport, to a real socket: the bytes of the request line and of the body."""
    file = FILES[name]
    request = bind(catalogue.by_name[name], golden.typed(file["arguments"]))

    def script(connection: Connection) -> None:
        connection.read_request()
        connection.answer(json.dumps(file["reply"]).encode())

    with ScriptedServer(script) as server:
        transport = Transport(base_url=server.url)
        answer = transport.read(request) if file["method"] == "GET" else transport.send(request)
        transport.close()
    head, _, body = server.seen[0].partition(b"\r\n\r\n")
    target = file["path"] + (f"?{file['query']}" if file["query"] else "")
    assert head.split(b"\r\n")[0].decode() == f"{file['method']} {target} HTTP/1.1"
    assert body.decode() == file["body"]
    assert json.loads(answer.body) == file["reply"]


@pytest.mark.parametrize("name", FILES)
def test_reply_is_read_as_specified(name: str) -> None:
    file = FILES[name]
    records.unknown.clear()
    decoded = records.decode(json.dumps(file["reply"]).encode(), catalogue.by_name[name].result)
    found = golden.facts(decoded, file["facts"])
    assert found == file["facts"]
    assert golden.kinds(found) == golden.kinds(file["facts"])
    assert records.unknown.counts() == {}


@pytest.mark.parametrize("name", FILES)
def test_reply_without_a_required_member_is_refused(name: str) -> None:
    """Each member of the reply is left out once: it is optional, or its absence is noticed."""
    file, kind = FILES[name], catalogue.by_name[name].result
    required = 0
    for whole in _without_one_member(file["reply"]):
        try:
            records.decode(json.dumps(whole).encode(), kind)
        except BadReply:
            required += 1
    assert required or file["reply"] == []


def _without_one_member(value: Any) -> list[Any]:
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


def test_files_show_every_parameter_of_every_operation() -> None:
    """The parameters that no file gives a value are listed, so that the list can only become shorter."""
    missing = {
        f"{operation.name} {param.name}"
        for operation in catalogue.OPERATIONS
        for param in operation.params
        if param.name not in FILES[operation.name]["arguments"]
    }
    shown_elsewhere = {entry for entry in missing if entry.split()[0] in _SHOWN_ELSEWHERE}
    assert missing - shown_elsewhere == {
        "get_symbols symbols",
        "get_symbol_trades till",
        "get_symbol_trades offset",
        "get_orderbook limit",
        "get_symbol_candles sort",
        "get_symbol_candles till",
        "get_symbol_candles limit",
        "get_symbol_candles offset",
        "get_margin_orders symbol",
    }


# These rows take the same fields as create_order, whose file gives all of them.
_SHOWN_ELSEWHERE = {"put_order", "put_margin_order", "create_margin_order"}


@pytest.mark.parametrize("name", FILES)
def test_reading_a_specified_call_gives_its_arguments(name: str) -> None:
    file, operation = FILES[name], catalogue.by_name[name]
    arguments = golden.typed(file["arguments"])
    request = bind(operation, arguments)
    in_path = [part[1:-1] for part in operation.path.split("/") if part.startswith("{")]
    path_values = {part: str(arguments[part]) for part in in_path}
    bound = read(operation, path_values, request.query, request.form, defaults=False)
    assert bound == {
        key: Decimal(value) if isinstance(bound[key], Decimal) else value for key, value in arguments.items()
    }
