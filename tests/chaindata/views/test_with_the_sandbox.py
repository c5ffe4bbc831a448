"""Token pages and tools over the sandbox's own chain: everything is read, and what is computed here agrees with it."""

import json
import re
import urllib.request
from datetime import timedelta
from urllib.parse import urlencode

import pytest

from chaindata import tip_follower
from chaindata.cache import service as ways
from chaindata.tools import payloads
from desk import clock
from tests.chaindata.conftest import unhurried
from tests.chaindata.views.test_token_pages import text_of

pytestmark = pytest.mark.django_db(transaction=True)
ADDRESS = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"
HEAD = {"ecosystem": "1", "propertyPrecision": "2", "previousId": "0", "category": "a", "subcategory": "b"}
HEAD |= {"name": "n", "url": "u", "data": "d"}
PARAMS = {
    "simple-send": {"propertyId": "3", "amount": "10.5"},
    "send-all": {"ecosystem": "1"},
    "send-to-owners": {"propertyId": "3", "amount": "1.25", "distributionProperty": "1"},
    "fixed": HEAD | {"amount": "1000.25"},
    "managed": HEAD,
    "crowdsale": HEAD
    | {"propertyIdDesired": "1", "tokensPerUnit": "1.5", "deadline": "2090-01-01 00:00", "earlyBonus": "10"}
    | {"totalNumber": "5000"},
    "participate": {"amount": "1.5"},
    "close-crowdsale": {"propertyId": "6"},
    "grant": {"propertyId": "4", "amount": "1.125", "memo": "thanks"},
    "revoke": {"propertyId": "4", "amount": "1", "memo": ""},
    "change-issuer": {"propertyId": "4"},
    "freeze": {"propertyId": "4", "toAddress": ADDRESS},
    "unfreeze": {"propertyId": "4", "toAddress": ADDRESS},
    "burn": {},
}


@pytest.fixture
def ask_service(sandbox, settings):
    """What the service itself says."""
    settings.CHAIN_NETWORKS = ("regtest", "test")

    def ask(path):
        with urllib.request.urlopen(f"{sandbox.url}/v2/{path}", timeout=20) as answer:
            return json.load(answer)

    return ask


FRAME = "Loading desk status"  # of the strip, which every page reads after itself


def page_text(client, path, run_worker, rounds=4):
    """The page once all that it asks for was answered."""
    for n in range(rounds):
        answer = client.get(path)
        if not run_worker(clock.now() + timedelta(milliseconds=n)):
            break
    assert answer.status_code == 200, path
    text = text_of(client.get(path))
    assert "Loading" not in text.replace(FRAME, ""), path
    return text


def test_every_payload_is_the_one_that_the_service_builds(client, ask_service, run_worker):
    assert set(PARAMS) == set(payloads.OPERATIONS)
    for slug, params in PARAMS.items():
        path = f"/chain/tools/payload/?{urlencode({'kind': slug, 'make': '1', **params})}"
        assert "Matches the service" in page_text(client, path, run_worker), slug


def test_tokens_accounts_and_tools_agree_with_the_chain(client, ask_service, run_worker):
    tip_follower.follow(now=clock.now(), open_client=ways.open_client, budget=unhurried())
    for token in ask_service("slp/list"):
        text = page_text(client, f"/chain/tokens/{token['id']}/", run_worker, rounds=6)
        assert "Verified The transaction hashes to the token ID." in text
        assert "Adds up" in text
        where = {"ALIVE": "unspent", "NEVER_CREATED": "never created", "DEAD_ENDED": "given up"}
        assert where[token["mintingBatonStatus"]] in text.partition("Baton location")[2]
    for number in (1, 3, 4, 5, 6):
        assert "Verified Matches the balances" in page_text(client, f"/chain/tokens/{number}/", run_worker), number
    assert "Destroyed" in page_text(client, "/chain/tokens/collectible-1/", run_worker, rounds=6)
    for kind in ("simple-ledger", "property", "collectible"):
        assert re.match(
            r".*\b[1-9]\d* (tokens|properties|collection)", page_text(client, f"/chain/tokens/?kind={kind}", run_worker)
        )
    account = page_text(client, "/chain/cash-accounts/?q=Harbourmaster%23128", run_worker)
    assert "Matches the service" in account
    assert "In main chain" in account

    genesis = ask_service("slp/list")[0]["id"]
    raw = ask_service(f"rawtransactions/getRawTransaction/{genesis}")
    proof = ask_service(f"blockchain/getTxOutProof/{genesis}")
    for path in (
        f"/chain/tools/?address={ADDRESS}",
        f"/chain/tools/transaction/?hex={raw}",
        f"/chain/tools/proof/?hex={proof}",
        f"/chain/tools/script/?hex={'76a914' + '11' * 20 + '88ac'}",
    ):
        text = page_text(client, path, run_worker)
        assert "Agrees" in text.partition("Cross-check")[2], path
    assert "In main chain" in page_text(client, f"/chain/tools/proof/?hex={proof}", run_worker)
    assert "signature valid" in page_text(client, f"/chain/tools/transaction/?hex={raw}", run_worker)
    assert "Valid" in page_text(client, f"/chain/tools/simple-ledger/?txid={genesis}", run_worker)
