"""The contract of the block group, written from the documents alone: literal addresses, members and texts.

`--target URL` asks another server.
"""

import re
from typing import Any

import pytest

from tests.sandbox.chain.conftest import ChainService

HASH = re.compile(r"[0-9a-f]{64}")
MEMBERS = {
    "hash": str,
    "size": int,
    "height": int,
    "version": int,
    "merkleroot": str,
    "tx": list,
    "time": int,
    "nonce": int,
    "bits": str,
    "chainwork": str,
    "confirmations": int,
    "isMainChain": bool,
    "poolInfo": dict,
}


def height(service: ChainService) -> int:
    answer: int = service.good("/v2/blockchain/getBlockCount")
    return answer


def by_height(service: ChainService, at: int) -> dict[str, Any]:
    answer: dict[str, Any] = service.good(f"/v2/block/detailsByHeight/{at}")
    return answer


def test_a_block_has_its_members(service: ChainService) -> None:
    tip = by_height(service, height(service))
    assert {name: type(tip[name]) for name in MEMBERS} == MEMBERS
    assert set(tip) == {*MEMBERS, "difficulty", "reward", "previousblockhash"}  # the tip has no next one
    assert tip["isMainChain"] is True
    assert tip["confirmations"] >= 1
    assert tip["difficulty"] == service.good("/v2/blockchain/getDifficulty")
    assert len(tip["bits"]) == 8
    assert all(HASH.fullmatch(text) for text in (*tip["tx"], tip["hash"], tip["merkleroot"], tip["chainwork"]))


def test_who_found_a_block_is_told_when_its_coinbase_says_so(service: ChainService) -> None:
    assert by_height(service, 0)["poolInfo"] == {}
    if service.box is None:
        pytest.skip("who finds its blocks is the server's")
    for at in (1, height(service)):
        assert by_height(service, at)["poolInfo"] == {
            "poolName": "Countersign sandbox",
            "url": "https://sandbox.countersign.example/",
        }
    coinbase = service.good(f"/v2/transaction/details/{by_height(service, 1)['tx'][0]}")["vin"][0]["coinbase"]
    assert b"/countersign/" in bytes.fromhex(coinbase)


def test_by_height_and_by_hash_are_the_same(service: ChainService) -> None:
    block = by_height(service, height(service) - 3)
    assert service.good(f"/v2/block/detailsByHash/{block['hash']}") == block
    assert service.good(f"/v2/block/detailsByHash/{block['hash'].upper()}/") == block
    after = service.good(f"/v2/block/detailsByHash/{block['nextblockhash']}")
    assert after["previousblockhash"] == block["hash"]
    assert after["confirmations"] == block["confirmations"] - 1


def test_a_block_says_what_its_header_says(service: ChainService) -> None:
    block = by_height(service, height(service) - 1)
    header = service.good(f"/v2/blockchain/getBlockHeader/{block['hash']}?verbose=true")
    for name in (
        "height",
        "version",
        "merkleroot",
        "time",
        "nonce",
        "bits",
        "difficulty",
        "chainwork",
        "confirmations",
    ):
        assert block[name] == header[name], name
    assert block["nextblockhash"] == header["nextblockhash"]


def test_the_size_is_that_of_header_count_and_transactions(service: ChainService) -> None:
    for at in range(height(service) - 5, height(service)):
        block = by_height(service, at)
        raw = [service.good(f"/v2/rawtransactions/getRawTransaction/{txid}") for txid in block["tx"]]
        assert block["size"] == 80 + 1 + sum(len(each) // 2 for each in raw)


def test_transactions_stand_in_canonical_order(service: ChainService) -> None:
    for at in range(max(1, height(service) - 90), height(service)):
        txids = by_height(service, at)["tx"]
        assert txids[1:] == sorted(txids[1:])


def test_the_first_block_has_none_before_it(service: ChainService) -> None:
    first = by_height(service, 0)
    assert "previousblockhash" not in first
    assert first["height"] == 0
    assert first["reward"] == 50
    if service.good("/v2/blockchain/getBlockchainInfo")["chain"] == "regtest":
        assert first["hash"] == "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206"
        assert first["tx"] == ["4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b"]
        assert [by_height(service, at)["reward"] for at in (1, 149, 150)] == [50, 50, 25]


def test_several_blocks_come_in_the_order_in_which_they_were_asked_for(service: ChainService) -> None:
    blocks = [by_height(service, at) for at in (2, 1)]
    path = "/v2/block/detailsByHeight"
    for heights in ([2, 1], ["2", "1"]):
        assert _without_depth(service.good(path, {"heights": heights})) == _without_depth(blocks)
    hashes = [block["hash"] for block in blocks]
    assert _without_depth(service.good("/v2/block/detailsByHash", {"hashes": hashes})) == _without_depth(blocks)
    assert service.good(path, {"heights": ["0"]})[0]["height"] == 0
    assert service.good(path, {"heights": []}) == []
    assert service.good("/v2/block/detailsByHash", {"hashes": []}) == []


def _without_depth(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Another block may have come meanwhile."""
    return [{name: value for name, value in block.items() if name != "confirmations"} for block in blocks]


def test_a_block_beside_the_chain_is_told_as_such(service: ChainService) -> None:
    tips = service.good("/v2/blockchain/getChainTips")
    stale = next((tip for tip in tips if tip["status"] == "valid-fork"), None)
    if stale is None:
        pytest.skip("there is no other branch here")
    block = service.good(f"/v2/block/detailsByHash/{stale['hash']}")
    assert (block["isMainChain"], block["confirmations"], block["height"]) == (False, -1, stale["height"])
    assert "nextblockhash" not in block
    assert by_height(service, stale["height"])["hash"] != stale["hash"]


def test_a_block_of_which_only_the_header_is_known_is_not_found(service: ChainService) -> None:
    tips = service.good("/v2/blockchain/getChainTips")
    known = next((tip for tip in tips if tip["status"] == "headers-only"), None)
    if known is None:
        pytest.skip("there is no such branch here")
    assert service.refused(f"/v2/block/detailsByHash/{known['hash']}") == (404, "Not found")
    header = service.good(f"/v2/blockchain/getBlockHeader/{known['hash']}?verbose=true")
    assert (header["height"], header["confirmations"]) == (known["height"], -1)


@pytest.mark.parametrize("block_hash", ["ab" * 32, "abc", "zz" * 32, "5", "%20", "0" * 63])
def test_an_unknown_hash_is_not_found(service: ChainService, block_hash: str) -> None:
    assert service.refused(f"/v2/block/detailsByHash/{block_hash}") == (404, "Not found")


@pytest.mark.parametrize(
    ("at", "refusal"),
    [
        ("999999999", "Block height out of range"),
        ("-1", "Block height out of range"),
        ("abc", "JSON value is not an integer as expected"),
        ("1.5", "JSON value is not an integer as expected"),
        ("9" * 40, "JSON integer out of range"),
    ],
)
def test_an_odd_height_is_refused(service: ChainService, at: str, refusal: str) -> None:
    assert service.refused(f"/v2/block/detailsByHeight/{at}") == (400, refusal)


@pytest.mark.parametrize(
    ("path", "body", "status", "refusal"),
    [
        ("detailsByHash", {}, 400, "hashes needs to be an array. Use GET for single address."),
        ("detailsByHash", {"hashes": 1}, 400, "hashes needs to be an array. Use GET for single address."),
        ("detailsByHash", {"hashes": ["abc"]}, 400, "Invalid hash. Double check your hash is valid: abc"),
        ("detailsByHash", {"hashes": ["ab" * 32]}, 404, "Not found"),
        ("detailsByHeight", {}, 400, "heights needs to be an array. Use GET for single height."),
        ("detailsByHeight", {"heights": 7}, 400, "heights needs to be an array. Use GET for single height."),
        ("detailsByHeight", {"heights": [1, ""]}, 400, "height must not be empty"),
        ("detailsByHeight", {"heights": [0]}, 400, "height must not be empty"),
        ("detailsByHeight", {"heights": ["abc"]}, 400, "JSON value is not an integer as expected"),
        ("detailsByHeight", {"heights": [1, 99999999]}, 400, "Block height out of range"),
        ("detailsByHeight", {"heights": [-1]}, 400, "Block height out of range"),
        ("detailsByHeight", {"heights": [1] * 21}, 429, "Array too large."),
        ("detailsByHash", {"hashes": ["ab" * 32] * 21}, 429, "Array too large."),
    ],
)
def test_one_bad_element_fails_a_bulk_call(
    service: ChainService, path: str, body: object, status: int, refusal: str
) -> None:
    assert service.refused(f"/v2/block/{path}", body) == (status, refusal)


@pytest.mark.parametrize("at", ["2147483648", "-2147483649", "9" * 60])
def test_a_height_that_a_node_can_not_hold(service: ChainService, at: str) -> None:
    assert service.refused(f"/v2/block/detailsByHeight/{at}") == (400, "JSON integer out of range")
    assert service.refused("/v2/block/detailsByHeight", {"heights": [at]}) == (400, "JSON integer out of range")
    assert service.refused("/v2/block/detailsByHeight/2147483647") == (400, "Block height out of range")
