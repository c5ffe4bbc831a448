"""Socket messages transcribed by hand from the specifications, against frames, methods and records."""

import json

import pytest

from exchange_ops.wire import streams
from tests.exchange_ops.wire import golden
from wire import jsonrpc, records
from wire.jsonrpc import Call, Notification, Result
from wire.params import from_text

METHODS = golden.files("exchange_streams", "methods")
EVENTS = golden.files("exchange_streams", "events")


def test_every_method_and_event_has_a_file_and_every_file_its_row() -> None:
    assert {file["method"] for file in METHODS.values()} == set(METHODS) == set(streams.by_name)
    assert {file["event"] for file in EVENTS.values()} == set(EVENTS) == set(streams.event_by_name)


@pytest.mark.parametrize("name", METHODS)
def test_call_is_written_and_read_as_specified(name: str) -> None:
    file = METHODS[name]
    message = jsonrpc.encode(Call(name, golden.typed(file["params"]), file["id"]))
    assert message == file["message"]
    frame = jsonrpc.decode(message)
    assert isinstance(frame, Call)
    method = streams.by_name[frame.method]
    values = {
        param.name: from_text(param, frame.params[param.name]) for param in method.params if param.name in frame.params
    }
    assert values == golden.typed(file["params"])
    required = {param.name for param in method.params if param.required}
    assert required <= set(file["params"]) <= {param.name for param in method.params}


@pytest.mark.parametrize("name", METHODS)
def test_answer_is_read_as_specified(name: str) -> None:
    file = METHODS[name]
    records.unknown.clear()
    frame = jsonrpc.decode(json.dumps(file["answer"]))
    assert isinstance(frame, Result)
    assert frame.id == file["id"]
    found = golden.facts(records.decode(frame.result, streams.by_name[name].result), file["facts"])
    assert found == file["facts"]
    assert golden.kinds(found) == golden.kinds(file["facts"])
    assert records.unknown.counts() == {}


@pytest.mark.parametrize("name", EVENTS)
def test_event_is_read_as_specified(name: str) -> None:
    file = EVENTS[name]
    records.unknown.clear()
    frame = jsonrpc.decode(json.dumps(file["message"]))
    assert isinstance(frame, Notification)
    assert frame.method == name
    found = golden.facts(records.decode(frame.params, streams.event_by_name[name].params), file["facts"])
    assert found == file["facts"]
    assert golden.kinds(found) == golden.kinds(file["facts"])
    assert records.unknown.counts() == {}
