"""What the chain of a fresh world has of simple-ledger tokens and cash accounts, whatever its seed."""

import pytest

from sandbox.chain import seeding
from sandbox.chain.scenarios.cash_accounts import REGISTRARS
from sandbox.chain.simple_ledger import simple_ledger_figures
from sandbox.chain.wallet import Purse
from tests.sandbox.worlds import START_MS

SEEDS = [1, 2, 77]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_token_lives_one_has_ended_and_of_one_some_is_burnt(seed):
    chain = seeding.begun(seed, started_ms=START_MS)
    tokens = {token.genesis.ticker.decode(): token for token in chain.simple_ledger.tokens()}
    figures = {name: simple_ledger_figures.token_figures(chain, token) for name, token in tokens.items()}
    assert {name: each.baton for name, each in figures.items()} == {
        "HARB": "ALIVE",
        "LAMP": "DEAD_ENDED",
        "EMBR": "NEVER_CREATED",
    }
    assert {name: each.burned for name, each in figures.items()} == {"HARB": 0, "LAMP": 0, "EMBR": 301 * 10**8}
    harbour = figures["HARB"]
    assert (harbour.minted, harbour.circulating) == (1_050_000_00, 1_050_000_00)
    assert (harbour.transactions, harbour.holders) == (5, 4)
    assert harbour.last_send is not None
    assert harbour.last_mint is not None
    assert (figures["LAMP"].minted, figures["LAMP"].holders) == (750, 3)


@pytest.mark.parametrize("seed", SEEDS)
def test_one_transaction_claims_more_tokens_than_there_are(seed):
    chain = seeding.begun(seed, started_ms=START_MS)
    claims = [
        verdict
        for height in range(chain.tip.height + 1)
        for each in chain.at(height).transactions
        if (verdict := chain.simple_ledger.verdicts.on(each)).claims and not verdict.is_valid
    ]
    assert [each.reason for each in claims] == ["The outputs exceed the token's valid inputs."]


@pytest.mark.parametrize("seed", SEEDS)
def test_three_accounts_are_registered_two_of_them_of_one_name_in_one_block(seed):
    chain = seeding.begun(seed, started_ms=START_MS)
    every = list(dict.fromkeys(account.identifier for account, _ in chain.cash_accounts.paying(lambda _: True)))
    assert len(every) == 3
    (alone,) = [each for each in every if each.startswith("Harbourmaster#")]
    assert "." not in alone
    number = int(alone.partition("#")[2].rstrip(";")) + 2
    first, second = chain.cash_accounts.named("LANTERN", number)
    assert {first.registration.name, second.registration.name} == {"Lantern", "lantern"}
    for each, other in ((first, second), (second, first)):
        prefix = each.collision.hash[: each.collision.length]
        assert each.collision.count == 1
        assert each.collision.length >= 1
        assert each.identifier == f"{each.registration.name}#{number}.{prefix};"
        assert not other.collision.hash.startswith(prefix)
        assert other.collision.hash.startswith(prefix[:-1])
        assert chain.cash_accounts.named("lantern", number, prefix) == [each]
    owner = Purse(seed, REGISTRARS[0]).key.address.hash
    owned = chain.cash_accounts.paying(lambda payment: payment.content == owner)
    assert [account.registration.name for account, _ in owned] == ["Harbourmaster", "Lantern"]


def test_the_transactions_of_the_story_follow_from_the_seed_and_not_from_the_time():
    first, second = (seeding.begun(1, started_ms=START_MS + late) for late in (0, 86_400_000))
    ids = [[token.id for token in chain.simple_ledger.tokens()] for chain in (first, second)]
    assert ids[0] == ids[1]
    assert first.tip.hash != second.tip.hash
    other = seeding.begun(2, started_ms=START_MS)
    assert {token.id for token in other.simple_ledger.tokens()}.isdisjoint(ids[0])
