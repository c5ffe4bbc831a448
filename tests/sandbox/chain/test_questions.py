"""Whatever is asked of addresses, transactions, raw bytes and the node: answered as the client reads it, or refused.

Asking changes nothing.
"""

from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chaindata.wire import catalogue, refusals
from sandbox.chain.node.terms import Refused
from sandbox.server import answers
from sandbox.world.world import World
from tests.chaindata.parsers import samples
from wire import records
from wire.operation import Operation
from wire.params import Kind

GROUPS = (
    catalogue.RAW_TRANSACTIONS,
    catalogue.ADDRESS,
    catalogue.UTIL,
    catalogue.TRANSACTION,
    catalogue.CONTROL,
)
OPERATIONS = [each for each in catalogue.ALL if each.group in GROUPS]
STATUSES = {400, 404}


@cache
def world() -> World:
    return World.open(None, seed=1, still=True, now_ms=lambda: 1_700_000_000_000)


@cache
def known() -> list[str]:
    """Ids, addresses and bytes that the chain has."""
    chain = world().chain
    found = [entry.txid for entry in chain.mempool]
    for height in range(100, chain.tip.height, 9):
        block = chain.at(height)
        assert block is not None
        found += [block.hash, block.transactions[-1].txid, block.transactions[-1].raw.hex()]
    owners = [each["cashAddress"] for each in _inputs(found[0])]
    return [*found, *owners, *(each.upper() for each in owners), chain.genesis.header.merkle_root]


def _inputs(txid: str) -> list[dict[str, Any]]:
    details: Any = world().ask_chain("get_transaction_details", {"txid": txid})
    return list(details["vin"])


hexes = st.binary(max_size=60).map(bytes.hex)
bent = st.builds(
    lambda text, place, letter: text[:place] + letter + text[place + 1 :],
    st.deferred(lambda: st.sampled_from(known())),
    st.integers(0, 70),
    st.sampled_from(["", "0", "g", "é", "\u2028", "Q", "ff", ":"]),
)
corpus = st.sampled_from([each.hex() for name in ("transaction", "script") for each in samples(name)])
texts = st.one_of(st.deferred(lambda: st.sampled_from(known())), bent, corpus, hexes, st.text(max_size=70))


@st.composite
def arguments(draw: st.DrawFn, operation: Operation) -> dict[str, object]:
    drawn: dict[str, object] = {}
    for param in operation.params:
        match param.kind:
            case Kind.TEXTS:
                drawn[param.name] = draw(st.lists(texts, min_size=1, max_size=4))
            case Kind.INTEGER:
                drawn[param.name] = draw(st.sampled_from([0, 1, 2, 10**15]))
            case Kind.BOOLEAN:
                drawn[param.name] = draw(st.booleans())
            case _:
                drawn[param.name] = draw(texts.filter(bool))
    return drawn


def answer_of(operation: Operation, params: dict[str, object]) -> bytes | Refused:
    try:
        return answers.text_of(world().ask_chain(operation.name, params))
    except Refused as problem:
        return problem


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@given(data=st.data())
def test_any_question_is_answered_or_refused(operation: Operation, data: st.DataObject) -> None:
    params = data.draw(arguments(operation))
    waiting, tip = len(world().chain.mempool), world().chain.tip
    answer = answer_of(operation, params)
    if isinstance(answer, Refused):
        assert answer.http_status in STATUSES
        assert refusals.read(answer.http_status, answers.text_of({"error": answer.text})).text
    else:
        assert records.decode(answer, operation.result) is not None
    assert (len(world().chain.mempool), world().chain.tip) == (waiting, tip)


def test_each_of_them_is_answered_at_least_once() -> None:
    """So that the test above has something to read."""
    txid, raw = known()[0], world().chain.tip.transactions[0].raw.hex()
    values = {
        "txid": txid,
        "hex": raw,
        "address": known()[-2],
        "hexes": [raw],
        "txids": [txid],
        "addresses": [known()[-2]],
    }
    for operation in OPERATIONS:
        if operation.name.startswith("send_"):
            continue
        arguments = {param.name: values[param.name] for param in operation.params if param.name in values}
        body = answers.text_of(world().ask_chain(operation.name, arguments))
        assert records.decode(body, operation.result)
