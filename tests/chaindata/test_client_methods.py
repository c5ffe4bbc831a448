"""Every operation asked by its name: the bytes that are sent, and what is made of the documented reply."""

import json
from decimal import Decimal
from typing import Any

import pytest

from chaindata.client import ChainClient, bulks, open_transport
from chaindata.client.keyed import TokenSender
from chaindata.wire import catalogue
from tests.chaindata.conftest import Service
from tests.exchange_ops.wire import golden
from wire import records
from wire.errors import BadReply, OutcomeUnknown

FILES = golden.files("chaindata")
WITH_KEY = {"create_slp_token", "mint_slp_token", "send_slp_token"}
ACTING = {"send_raw_transaction", "send_raw_transactions"}
AMOUNTS = {"amount", "tokensPerUnit", "totalNumber"}


def arguments_of(name: str) -> dict[str, Any]:
    """The arguments of the file with their types."""
    return {
        member: Decimal(value) if member in AMOUNTS else value for member, value in FILES[name]["arguments"].items()
    }


@pytest.fixture(scope="module")
def running():
    service = Service()
    client = ChainClient(open_transport(base_url=service.url, deadline_s=5))
    yield service, client
    client.close()
    service.stop()


@pytest.fixture
def answered(running):
    """What a method gives when the body is the answer, and the service with what was sent."""
    service, client = running

    def ask(name: str, body: bytes) -> tuple[Any, Service]:
        answers(service, body)
        return client.call(name, **arguments_of(name)), service

    return ask


def answers(service: Service, body: bytes) -> None:
    """Forget what was sent; whatever comes is answered with this body."""
    service.calls.clear()
    service.respond = lambda path, content: (200, body)


@pytest.mark.parametrize("name", sorted(set(FILES) - WITH_KEY))
def test_what_is_sent_and_read_is_what_is_documented(answered, name):
    file = FILES[name]
    result, service = answered(name, json.dumps(file["reply"]).encode())
    assert service.target == f"{file['method']} {file['path']}" + (f"?{file['query']}" if file["query"] else "")
    assert service.raw.decode() == file["body"]
    assert len(service.calls) == 1
    assert golden.facts(result, file["facts"]) == file["facts"]


@pytest.mark.parametrize("name", sorted(bulks.BULKS))
def test_a_bulk_gives_each_answer_under_what_was_asked(running, name):
    service, client = running
    file, bulk = FILES[name], bulks.BULKS[name]
    answers(service, json.dumps(file["reply"]).encode())
    more = arguments_of(name)
    ids = list(dict.fromkeys(more.pop(bulk.array)))
    found = client.parts(name, ids, **more)
    assert found
    assert list(found) == [each for each in ids if each in found]
    read = [records.decode(body, catalogue.by_name[bulk.single].result) for body in found.values()]
    # Where the sample's other elements are of something else than it asks for, or one twice, the first tells.
    facts = {path: fact for path, fact in file["facts"].items() if path.startswith("0.")}
    if name != "get_tx_out_proofs":
        assert golden.facts(read, facts) == facts


def test_a_call_with_a_key_has_a_way_out_of_its_own():
    assert set(FILES) == set(catalogue.by_name)
    for name in WITH_KEY:
        assert hasattr(TokenSender, name)
        assert not hasattr(ChainClient, name)


@pytest.mark.parametrize("name", ["get_block_count", "get_details_of_transactions", "get_slp_balances", "get_tx_out"])
@pytest.mark.parametrize("body", [b"", b"<html>", b"[[[]]]", b'{"error":"x"}', b"\xff", b"[" * 4000])
def test_a_read_that_does_not_read_as_documented_is_a_bad_reply(answered, name, body):
    with pytest.raises(BadReply):
        answered(name, body)


@pytest.mark.parametrize("name", sorted(ACTING))
@pytest.mark.parametrize("body", [b"", b"<html>", b"null", b"{}", b'{"error":"x"}', b"7", b'["short"]'])
def test_an_act_whose_answer_does_not_read_as_documented_is_an_unknown_outcome(answered, name, body):
    with pytest.raises(OutcomeUnknown):
        answered(name, body)
