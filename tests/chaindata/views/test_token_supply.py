"""How much of a token of the simple ledger was minted over time, from the transactions' own bytes."""

import pytest

from chaindata.wire.tokens import slp
from desk import clock
from tests.chaindata.views import rows
from tests.chaindata.views.rows import OURS, h
from tests.chaindata.views.test_token_pages import GENESIS, TOKEN, scripted, simple_read, text_of

pytestmark = pytest.mark.django_db
FIRST, SECOND = h(1, "d"), h(2, "d")


@pytest.fixture(autouse=True)
def _networks(settings):
    settings.CHAIN_NETWORKS = ("regtest", "test")
    rows.tip(30, at=clock.now())


def minting(txid, message, *, height, spent_by=None, baton=2):
    outputs = [rows.output(0, "0", scripted(message))]
    outputs += [rows.output(n, "0.00000546", rows.paying(OURS)) for n in range(1, 3)]
    outputs[baton]["spentTxId"] = spent_by
    rows.answered("get_transaction_details", rows.details(txid, height=height, vout=outputs), at=clock.now(), txid=txid)


def part(client):
    return (
        text_of(client.get(f"/chain/tokens/{TOKEN}/")).partition("Supply over time")[2].partition("Baton location")[0]
    )


def test_each_minting_raises_the_line_and_the_newest_is_first(client):
    simple_read(totalMinted=1300)
    minting(TOKEN, GENESIS, height=10, spent_by=FIRST)
    minting(FIRST, slp.Mint(TOKEN, 2, 20_000), height=15, spent_by=SECOND)
    minting(SECOND, slp.Mint(TOKEN, None, 10_000), height=20)
    text = part(client)
    assert "Adds up" in text
    assert "From block 10 to block 30 the supply went from 0 to 1,300.00, peaking at 1,300.00." in text
    assert text.index("1,300") < text.index("1,200") < text.rindex("1,000")
    assert "burned" not in text


def test_what_the_service_counts_otherwise_is_said(client):
    simple_read(totalMinted=1400)
    minting(TOKEN, GENESIS, height=10)
    assert "Does not add up" in part(client)


def test_what_was_burned_is_named_and_is_in_no_block(client):
    simple_read(totalMinted=1000, totalBurned=40, circulatingSupply=960)
    minting(TOKEN, GENESIS, height=10)
    text = part(client)
    assert "40 burned, 960 in circulation" in text
    assert "does not report when tokens were burned" in text


def test_a_minting_that_waits_is_listed_and_not_drawn(client):
    simple_read(totalMinted=1000)
    minting(TOKEN, GENESIS, height=10, spent_by=FIRST)
    minting(FIRST, slp.Mint(TOKEN, 2, 20_000), height=None)
    text = part(client)
    assert "unconfirmed" in text
    assert "the supply went from 0 to 1,000.00" in text
    assert "Adds up" in text, "the service counts it once it is in a block, or before"


def test_while_a_minting_is_being_read_nothing_is_drawn_or_compared(client):
    simple_read(totalMinted=1300)
    minting(TOKEN, GENESIS, height=10, spent_by=FIRST)
    text = part(client)
    assert "as far as traced" in text
    for words in ("Adds up", "Does not", "From block"):
        assert words not in text
