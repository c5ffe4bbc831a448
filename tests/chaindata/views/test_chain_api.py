"""The chain for programs: exact amounts, how old they are, and what there is not."""

import pytest

from desk import clock
from tests.chaindata.views import rows
from tests.chaindata.views.rows import OURS, THEIRS, h

pytestmark = pytest.mark.django_db

TXID = h(5, "e")


def test_the_tip_is_told_as_it_was_last_heard(client):
    assert client.get("/api/v1/chain/tip/").json()["height"] is None
    rows.tip(9, at=clock.now())
    answer = client.get("/api/v1/chain/tip/").json()
    assert (answer["height"], answer["hash"], answer["is_current"], answer["problem"]) == (9, h(9), True, "")


def test_a_block_is_told_by_hash_and_by_height(client):
    rows.tip(9, at=clock.now())
    body = rows.block(7, txids=[TXID], tip_height=9)
    rows.answered("get_block_by_hash", body, at=clock.now(), hash=h(7))
    rows.answered("get_block_by_height", body, at=clock.now(), height=7)
    by_hash, by_height = (client.get(f"/api/v1/chain/blocks/{name}/").json() for name in (h(7).upper(), 7))
    assert by_hash["block"] == by_height["block"]
    assert by_hash["standing"] == "fresh"
    block = by_hash["block"]
    assert (block["height"], block["confirmations"], block["reward_sat"]) == (7, 3, 2_500_000_000)
    assert block["txids"] == [TXID]


def test_a_transaction_is_told_in_whole_satoshis(client):
    rows.answered("get_transaction_details", rows.details(TXID), at=clock.now(), txid=TXID)
    answer = client.get(f"/api/v1/chain/transactions/{TXID}/").json()["transaction"]
    assert (answer["fee_sat"], answer["height"], answer["confirmations"]) == (226, 3, 2)
    assert answer["inputs"][0]["value_sat"] == 150_000_000
    assert answer["inputs"][0]["address"] == THEIRS.cash_address
    assert [one["value_sat"] for one in answer["outputs"]] == [100_000_000, 49_999_774, 0]
    assert answer["outputs"][0]["spent_by"] == h(9, "d")


def test_an_address_is_told_in_its_forms(client):
    answer = client.get(f"/api/v1/chain/addresses/{OURS.legacy_address}/").json()
    assert answer["cash_address"] == OURS.cash_address
    assert answer["slp_address"] == OURS.slp_address
    assert (answer["standing"], answer["balance"], answer["read_at"]) == ("absent", None, None)


def test_what_there_is_not_is_told_so(client):
    rows.turned_down("get_transaction_details", "missing", at=clock.now(), txid=TXID)
    assert client.get(f"/api/v1/chain/transactions/{TXID}/").status_code == 404
    refused = client.get("/api/v1/chain/addresses/nobody/")
    assert refused.status_code == 404
    assert refused.json()["status"] == 404
