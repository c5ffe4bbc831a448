"""What the sandbox answers about tokens and accounts is what the client's records read, with no member left over."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chaindata.wire import catalogue
from chaindata.wire.tokens.slp import Genesis
from sandbox.chain.node.terms import Refused
from sandbox.chain.scenarios.simple_ledger import ISSUER
from sandbox.chain.simple_ledger import simple_ledger_spending as spending
from sandbox.chain.wallet import Purse
from sandbox.server import answers
from sandbox.world.world import World
from tests.sandbox.worlds import opened
from wire import records
from wire.params import Kind

UNKNOWN = "12" * 32


@pytest.fixture(scope="module")
def world() -> World:
    return opened(still=True)


class Names:
    """What the questions are about, as the world has it."""

    def __init__(self, world: World) -> None:
        tokens: Any = world.ask_chain("get_slp_tokens", {})
        self.token = next(each["id"] for each in tokens if each["mintingBatonStatus"] == "ALIVE")
        holders: Any = world.ask_chain("get_slp_balances_of_token", {"tokenId": self.token})
        self.address = holders[0]["slpAddress"]
        self.send = world.chain.simple_ledger.token(self.token).moves[-1].txid_bytes[::-1].hex()
        every = [account for account, _ in world.chain.cash_accounts.paying(lambda _: True)]
        self.account, self.number = every[0].registration.name, str(every[0].number)
        self.rival = every[-1]
        self.paid = every[0].registration.payments[0].text("regtest")


QUESTIONS = {
    "get_slp_tokens": lambda _: {},
    "get_slp_token": lambda n: {"tokenId": n.token},
    "get_slp_tokens_by_id": lambda n: {"tokenIds": [UNKNOWN, n.token]},
    "convert_address": lambda n: {"address": n.address},
    "convert_addresses": lambda n: {"addresses": [n.address]},
    "validate_slp_transaction": lambda n: {"txid": n.send},
    "validate_slp_transactions": lambda n: {"txids": [n.send, UNKNOWN]},
    "get_slp_balances_of_address": lambda n: {"address": n.address},
    "get_slp_balances_of_token": lambda n: {"tokenId": n.token},
    "get_slp_balance": lambda n: {"address": n.address, "tokenId": n.token},
    "get_slp_token_stats": lambda n: {"tokenId": UNKNOWN},
    "get_slp_transaction": lambda n: {"txid": n.send},
    "get_slp_transactions": lambda n: {"tokenId": n.token, "address": n.address},
    "get_slp_burn_total": lambda n: {"transactionId": n.send},
    "get_slp_balances_of_addresses": lambda n: {"addresses": [n.address]},
    "get_slp_balances_of_tokens": lambda n: {"tokenIds": [n.token, UNKNOWN]},
    "get_slp_balances": lambda n: {"pairs": [{"address": n.address, "tokenId": n.token}]},
    "get_slp_stats_of_tokens": lambda n: {"tokenIds": [n.token, UNKNOWN]},
    "get_slp_burn_totals": lambda n: {"txids": [n.send, UNKNOWN]},
    "get_slp_transactions_of_pairs": lambda n: {"pairs": [{"address": n.address, "tokenId": n.token}]},
    "get_slp_history_of_address": lambda n: {"address": n.address},
    "look_up_cash_account": lambda n: {"account": n.account, "number": n.number},
    "check_cash_account": lambda n: {"account": n.rival.registration.name, "number": str(n.rival.number)},
    "find_cash_accounts": lambda n: {"account": n.paid},
}


def test_every_operation_of_the_two_groups_is_asked_here() -> None:
    groups = (catalogue.SIMPLE_LEDGER, catalogue.CASH_ACCOUNTS)
    every = {each.name for each in catalogue.ALL if each.group in groups}
    assert every - catalogue.WITH_PRIVATE_KEY == set(QUESTIONS)


@pytest.mark.parametrize("operation", QUESTIONS)
def test_an_answer_is_read_whole(world: World, operation: str) -> None:
    records.unknown.clear()
    answer = world.ask_chain(operation, QUESTIONS[operation](Names(world)))
    read = records.decode(answers.text_of(answer), catalogue.by_name[operation].result)
    assert read
    assert records.unknown.counts() == {}


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"a\x00b", "a\x00b"),
        (b'"},{"id":"x', '"},{"id":"x'),
        ("𝒳<script>".encode(), "𝒳<script>"),
        (b"", ""),
        (b"\xed\xa0\x80", "\ufffd\ufffd\ufffd"),
        (b"n" * 60, "n" * 60),
    ],
)
def test_whatever_bytes_a_token_is_named_with_are_told_as_text(written: bytes, text: str) -> None:
    world = opened(still=True)
    issuer = Purse(1, ISSUER)
    genesis = Genesis(written, written, written, b"", 0, None, 2**64 - 1)
    made = spending.create(world.chain, issuer, genesis, to=issuer.script, baton_to=issuer.script, change=issuer.script)
    token_id = world.broadcast(made.raw)
    listed = json.loads(answers.text_of(world.ask_chain("get_slp_tokens", {})))
    assert listed[0]["id"] == token_id, "what waits comes first"
    assert (listed[0]["symbol"], listed[0]["name"], listed[0]["documentUri"]) == (text, text, text)
    assert (listed[0]["initialTokenQty"], listed[0]["blockCreated"], listed[0]["timestamp"]) == (2**64 - 1, None, None)
    details = json.loads(answers.text_of(world.ask_chain("get_slp_transaction", {"txid": token_id})))
    assert details["tokenInfo"]["symbol"] == text


ODD = st.one_of(
    st.text(max_size=80),
    st.text("0123456789abcdefABCDEF", min_size=60, max_size=66),
    st.text("qpzry9x8gf2tvdw0s3jn54khce6mua7l:bchtestslp", max_size=70),
    st.from_regex(r"\A-?[0-9]{1,30}\Z"),
    st.sampled_from(["", " ", "\0", "0x00", "null", "[object Object]", "11" * 32, "bchtest:" + "q" * 42]),
)


@given(st.sampled_from(sorted(QUESTIONS)), st.data())
@settings(deadline=None)
def test_whatever_is_asked_is_answered_or_refused_in_words(world: World, operation: str, data: st.DataObject) -> None:
    drawn: dict[str, object] = {}
    for param in catalogue.by_name[operation].params:
        one = st.fixed_dictionaries(dict.fromkeys(param.choices, ODD)) if param.kind is Kind.OBJECTS else ODD
        many = param.kind in (Kind.TEXTS, Kind.OBJECTS)
        drawn[param.name] = data.draw(st.lists(one, max_size=4) if many else ODD)
    try:
        page = json.loads(answers.text_of(world.ask_chain(operation, drawn)))
    except Refused as refused:
        page = {400: refused.text, 404: refused.text, 500: refused.text}[refused.http_status]
    assert page is not None
    assert page != ""
