"""Every typed method: the bytes it sends and what it makes of the documented reply. Nothing here asks the catalogue."""

import inspect
import json
from decimal import Decimal
from typing import Any

import pytest

from chaindata.client import ChainClient, Head, open_transport
from chaindata.client.keyed import TokenSender
from tests.chaindata.conftest import Service
from tests.exchange_ops.wire import golden
from wire.errors import BadReply, OutcomeUnknown

FILES = golden.files("chaindata")
WITH_KEY = {"create_slp_token", "mint_slp_token", "send_slp_token"}
ACTING = {"send_raw_transaction", "send_raw_transactions"}
HEAD = ("ecosystem", "propertyPrecision", "previousId", "category", "subcategory", "name", "url", "data")
NAMES = {
    "hash": "block_hash",
    "propertyId": "property_id",
    "tokenId": "token_id",
    "tokenIds": "token_ids",
    "startBlock": "start_block",
    "endBlock": "end_block",
    "recipientFilter": "recipient",
    "index": "height",
    "transactionId": "txid",
    "hex": "raw",
    "hexes": "raws",
    "propertyIdDesired": "desired_id",
    "tokensPerUnit": "tokens_per_unit",
    "earlyBonus": "early_bonus",
    "totalNumber": "total",
    "distributionProperty": "distribution_id",
    "toAddress": "address",
}
"""How the methods call what the wire calls otherwise."""
AMOUNTS = {"amount", "tokensPerUnit", "totalNumber"}
BY_WHAT_WAS_ASKED = sorted(
    name
    for name in FILES
    if name not in ACTING and isinstance(next(iter(FILES[name]["arguments"].values()), None), list)
)


def arguments_of(name: str) -> dict[str, Any]:
    """The arguments of the file as the method takes them."""
    arguments = {
        member: Decimal(value) if member in AMOUNTS else value for member, value in FILES[name]["arguments"].items()
    }
    if name == "find_cash_accounts":
        return {"address": arguments["account"]}
    if set(HEAD) <= set(arguments):
        arguments = {"head": Head(*(arguments.pop(member) for member in HEAD)), **arguments}
    if "pairs" in arguments:
        arguments["pairs"] = [(pair["address"], pair["tokenId"]) for pair in arguments["pairs"]]
    return {NAMES.get(member, member): value for member, value in arguments.items()}


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
        service.calls.clear()
        service.respond = lambda path, value: (200, body)
        return getattr(client, name)(**arguments_of(name)), service

    return ask


@pytest.mark.parametrize("name", sorted(set(FILES) - WITH_KEY))
def test_a_method_sends_what_is_documented_and_reads_the_documented_reply(answered, name):
    file = FILES[name]
    result, service = answered(name, json.dumps(file["reply"]).encode())
    assert service.target == f"{file['method']} {file['path']}" + (f"?{file['query']}" if file["query"] else "")
    assert service.raw.decode() == file["body"]
    assert len(service.calls) == 1
    shaped, facts = as_documented(name, result)
    assert golden.facts(shaped, facts) == facts


def as_documented(name: str, result: Any) -> tuple[Any, dict[str, Any]]:
    """The result in the shape of the reply, and the facts that its method does not leave out on purpose."""
    facts = FILES[name]["facts"]
    if name == "send_raw_transaction":
        return [result], facts
    if name in BY_WHAT_WAS_ASKED:
        assert list(result) == [each for each in bulk_values(name) if each in result], (
            "each answer under what was asked"
        )
        if len(result) == 1:  # the sample's other elements are of something else than it asks for
            facts = {path: fact for path, fact in facts.items() if path.startswith("0.")}
        if name == "validate_addresses":  # its second address is the first in another form, and answered as that
            assert result.pop(bulk_values(name)[1]).isvalid
            facts = {path: fact for path, fact in facts.items() if path.startswith("0.")}
        if name in {"get_tx_out_proofs", "verify_tx_out_proofs"}:
            return [{each: found} for each, found in result.items()], facts
        return list(result.values()), facts
    return result, facts


def bulk_values(name: str) -> list[Any]:
    value = next(iter(arguments_of(name).values()))
    return list(dict.fromkeys(value))


def test_every_operation_has_a_method_and_a_method_with_a_key_is_apart():
    for name in FILES:
        assert hasattr(TokenSender if name in WITH_KEY else ChainClient, name), name
    assert not any(hasattr(ChainClient, name) for name in WITH_KEY)
    for name in set(FILES) - WITH_KEY:
        kinds = {each.kind for each in inspect.signature(getattr(ChainClient, name)).parameters.values()}
        assert kinds <= {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


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
