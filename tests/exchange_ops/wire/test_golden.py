"""Calls and replies transcribed by hand from the specifications, against what the catalogue makes of them.

The files know nothing of the catalogue: a wrong path in a row that client and sandbox agree on is found here.
"""

import json
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from exchange_ops.wire import catalogue
from wire import records
from wire.operation import bind, read
from wire.values import Nanoseconds, decimal_text, instant_from, instant_text

FOLDER = Path(__file__).parents[2] / "golden" / "exchange"
FILES = {path.stem: json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))}
MEMBERS = {"operation", "source", "arguments", "method", "path", "query", "body", "reply", "facts"}


def arguments_of(file: dict[str, Any]) -> dict[str, object]:
    """The arguments with their instants made of `{"instant": text}`; decimals are given as texts."""
    return {
        name: instant_from(value["instant"]) if isinstance(value, dict) else value
        for name, value in file["arguments"].items()
    }


def member(record: Any, path: str) -> Any:
    """The member at a path such as `0.position.quantity`."""
    for step in path.split(".") if path else ():
        if isinstance(record, list):
            record = record[int(step)]
        else:
            record = record[step] if isinstance(record, dict) else getattr(record, step)
    return record


def as_told(value: Any) -> Any:
    """A decoded value in the notation of the files, which tells its type."""
    match value:
        case Decimal():
            return {"decimal": decimal_text(value)}
        case datetime():
            return {"instant": instant_text(value)}
        case Nanoseconds():
            return {"nanoseconds": value.text}
        case _:
            return value


def test_every_operation_has_a_file_and_every_file_an_operation() -> None:
    assert {file["operation"] for file in FILES.values()} == set(FILES)
    assert set(FILES) == set(catalogue.by_name)


@pytest.mark.parametrize("name", FILES)
def test_file_is_whole(name: str) -> None:
    assert set(FILES[name]) == MEMBERS
    assert FILES[name]["facts"], "a file without facts shows nothing about the reply"


@pytest.mark.parametrize("name", FILES)
def test_call_is_sent_as_specified(name: str) -> None:
    file = FILES[name]
    request = bind(catalogue.by_name[name], arguments_of(file))
    path, _, query = request.target.partition("?")
    assert request.method == file["method"]
    assert (path, query) == (file["path"], file["query"])
    assert request.body.decode() == file["body"]


@pytest.mark.parametrize("name", FILES)
def test_reply_is_read_as_specified(name: str) -> None:
    file = FILES[name]
    records.unknown.clear()
    decoded = records.decode(json.dumps(file["reply"]).encode(), catalogue.by_name[name].result)
    told = {path: as_told(member(decoded, path)) for path in file["facts"]}
    assert told == file["facts"]
    assert {path: type(value) for path, value in told.items()} == {
        path: type(value) for path, value in file["facts"].items()
    }
    assert records.unknown.counts() == {}


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


def test_reading_a_specified_call_gives_its_arguments() -> None:
    for name, file in FILES.items():
        operation = catalogue.by_name[name]
        request = bind(operation, arguments_of(file))
        path_values = {
            part[1:-1]: str(file["arguments"][part[1:-1]]) for part in operation.path.split("/") if part[:1] == "{"
        }
        given = read(operation, path_values, request.query, request.form, defaults=False)
        assert given == {
            key: Decimal(value) if isinstance(given[key], Decimal) else value
            for key, value in arguments_of(file).items()
        }
