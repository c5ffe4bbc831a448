"""The contract of the blockchain group, written from the documents alone: literal addresses, members and texts.

`--target URL` asks another server; what needs a mempool that holds something, or other branches, is left out where
there is none, and what changes the server is asked of the sandbox only.
"""

import re
from hashlib import sha256
from typing import Any

import pytest

from tests.sandbox.chain.conftest import ChainService

HASH = re.compile(r"[0-9a-f]{64}")
NOBODYS = "ab" * 32
HEADER_MEMBERS = {
    "hash": str,
    "confirmations": int,
    "height": int,
    "version": int,
    "versionHex": str,
    "merkleroot": str,
    "time": int,
    "mediantime": int,
    "nonce": int,
    "bits": str,
    "chainwork": str,
}
ENTRY_MEMBERS = {"size", "fee", "modifiedfee", "time", "height", "depends"} | {
    f"{whose}{what}" for whose in ("descendant", "ancestor") for what in ("count", "size", "fees")
}


def best(service: ChainService) -> str:
    found: str = service.good("/v2/blockchain/getBestBlockHash")
    assert HASH.fullmatch(found)
    return found


def block_with_payments(service: ChainService) -> dict[str, Any]:
    """A block in which more than the coinbase stands, the highest one."""
    height: int = service.good("/v2/blockchain/getBlockCount")
    for each in range(height, max(0, height - 200), -1):
        block: dict[str, Any] = service.good(f"/v2/block/detailsByHeight/{each}")
        if len(block["tx"]) > 1:
            return block
    pytest.skip("no block here holds a payment")


def waiting(service: ChainService) -> list[str]:
    txids: list[str] = service.good("/v2/blockchain/getRawMempool")
    if not txids:
        pytest.skip("nothing waits here")
    return txids


# The tip -------------------------------------------------------------------------------------------------------------


def test_tip_count_and_info_speak_of_one_block(service: ChainService) -> None:
    answer = service.good("/v2/blockchain/getBlockchainInfo")
    assert {"chain", "blocks", "headers", "bestblockhash", "difficulty", "mediantime", "verificationprogress"} <= set(
        answer
    )
    assert {"chainwork", "pruned", "softforks"} <= set(answer)
    assert answer["chain"] in ("main", "test", "regtest")
    assert answer["bestblockhash"] == best(service)
    assert answer["blocks"] == service.good("/v2/blockchain/getBlockCount") <= answer["headers"]
    assert answer["difficulty"] == service.good("/v2/blockchain/getDifficulty")
    assert HASH.fullmatch(answer["chainwork"])
    assert answer["pruned"] is False
    for fork in answer["softforks"]:
        assert set(fork) == {"id", "version", "reject"}
        assert fork["reject"] == {"status": True}


def test_the_difficulty_is_that_of_the_tips_bits(service: ChainService) -> None:
    bits = int(service.good(f"/v2/blockchain/getBlockHeader/{best(service)}?verbose=true")["bits"], 16)
    target = (bits & 0x7FFFFF) << 8 * ((bits >> 24) - 3)
    assert service.good("/v2/blockchain/getDifficulty") == pytest.approx((0xFFFF << 208) / target)


def test_the_ends_of_branches(service: ChainService) -> None:
    tips = service.good("/v2/blockchain/getChainTips")
    assert all(set(tip) == {"height", "hash", "branchlen", "status"} for tip in tips)
    active = [tip for tip in tips if tip["status"] == "active"]
    assert [(tip["hash"], tip["branchlen"]) for tip in active] == [(best(service), 0)]
    others = {tip["status"] for tip in tips} - {"active"}
    assert others <= {"valid-fork", "valid-headers", "headers-only", "invalid", "parked", "unknown"}
    assert all(tip["branchlen"] > 0 for tip in tips if tip["status"] != "active")
    if service.box is not None:
        assert {"valid-fork", "headers-only"} <= others


# Headers -------------------------------------------------------------------------------------------------------------


def test_a_header_is_eighty_bytes_that_hash_to_its_name(service: ChainService) -> None:
    tip = best(service)
    for query in ("", "?verbose=false", "?vebose=true", "?verbose="):
        raw = bytes.fromhex(service.good(f"/v2/blockchain/getBlockHeader/{tip}{query}"))
        assert len(raw) == 80
        assert sha256(sha256(raw).digest()).digest()[::-1].hex() == tip


def test_a_header_in_words_says_what_its_bytes_say(service: ChainService) -> None:
    tip = best(service)
    raw = bytes.fromhex(service.good(f"/v2/blockchain/getBlockHeader/{tip}"))
    answer = service.good(f"/v2/blockchain/getBlockHeader/{tip}?verbose=true")
    assert {name: type(answer[name]) for name in HEADER_MEMBERS} == HEADER_MEMBERS
    assert set(answer) == {*HEADER_MEMBERS, "difficulty", "previousblockhash"}  # the tip has no next one
    assert answer["hash"] == tip
    assert answer["confirmations"] >= 1
    assert raw[:4] == answer["version"].to_bytes(4, "little", signed=True) == bytes.fromhex(answer["versionHex"])[::-1]
    assert raw[4:36][::-1].hex() == answer["previousblockhash"]
    assert raw[36:68][::-1].hex() == answer["merkleroot"]
    assert raw[68:72] == answer["time"].to_bytes(4, "little")
    assert raw[72:76] == bytes.fromhex(answer["bits"])[::-1]
    assert raw[76:] == answer["nonce"].to_bytes(4, "little")
    before = service.good(f"/v2/blockchain/getBlockHeader/{answer['previousblockhash']}?verbose=true")
    assert before["nextblockhash"] == tip
    assert (before["height"], before["confirmations"]) == (answer["height"] - 1, answer["confirmations"] + 1)
    assert int(before["chainwork"], 16) < int(answer["chainwork"], 16)


def test_the_median_time_is_that_of_eleven_blocks(service: ChainService) -> None:
    answer = service.good(f"/v2/blockchain/getBlockHeader/{best(service)}?verbose=true")
    times, each = [], answer
    while len(times) < 11 and "previousblockhash" in each:
        times.append(each["time"])
        each = service.good(f"/v2/blockchain/getBlockHeader/{each['previousblockhash']}?verbose=true")
    assert answer["mediantime"] == sorted(times)[len(times) // 2]


def test_several_headers_come_in_the_order_in_which_they_were_asked_for(service: ChainService) -> None:
    tip = best(service)
    before = service.good(f"/v2/blockchain/getBlockHeader/{tip}?verbose=true")["previousblockhash"]
    path = "/v2/blockchain/getBlockHeader"
    answer = service.good(path, {"hashes": [before, tip, before], "verbose": True})
    assert [each["hash"] for each in answer] == [before, tip, before]
    raw = service.good(path, {"hashes": [tip]})
    assert raw == [service.good(f"{path}/{tip}")]
    by_get = service.get(path, json={"hashes": [tip], "verbose": True}).json()
    assert [each["hash"] for each in by_get] == [tip]
    assert service.good(path, {"hashes": []}) == []


# The mempool ---------------------------------------------------------------------------------------------------------


def test_the_mempool_as_a_whole(service: ChainService) -> None:
    answer = service.good("/v2/blockchain/getMempoolInfo")
    assert {"size", "bytes", "usage", "maxmempool", "mempoolminfee"} <= set(answer)
    assert answer["size"] <= answer["bytes"] <= answer["usage"] <= answer["maxmempool"]
    assert 0 < answer["mempoolminfee"] < 1


def test_what_waits_is_listed_by_ids_or_with_entries(service: ChainService) -> None:
    txids = waiting(service)
    assert all(HASH.fullmatch(txid) for txid in txids)
    entries = service.good("/v2/blockchain/getRawMempool?verbose=true")
    assert set(entries) == set(txids)
    for txid, entry in entries.items():
        assert set(entry) >= ENTRY_MEMBERS
        family = {txid, *_ancestors(entries, txid)}
        assert entry["ancestorcount"] == len(family)
        assert entry["ancestorsize"] == sum(entries[each]["size"] for each in family)
        assert entry["ancestorfees"] == pytest.approx(sum(entries[each]["fee"] for each in family) * 100_000_000)
        later = {each for each in entries if txid in {each, *_ancestors(entries, each)}}
        assert entry["descendantcount"] == len(later)
        assert entry["descendantsize"] == sum(entries[each]["size"] for each in later)
        assert entry["descendantfees"] == pytest.approx(sum(entries[each]["fee"] for each in later) * 100_000_000)
        assert isinstance(entry["ancestorfees"], int)
        assert entry["fee"] < 1


def _ancestors(entries: dict[str, Any], txid: str) -> set[str]:
    found = set(entries[txid]["depends"])
    return found.union(*(_ancestors(entries, each) for each in found))


def test_one_entry_and_several(service: ChainService) -> None:
    txids = waiting(service)
    path = "/v2/blockchain/getMempoolEntry"
    one = service.good(f"{path}/{txids[0]}")
    assert set(one) >= ENTRY_MEMBERS
    assert service.good(path, {"txids": [txids[-1], txids[0]]})[1] == one


# Unspent outputs -----------------------------------------------------------------------------------------------------


def test_an_unspent_output(service: ChainService) -> None:
    block = service.good(f"/v2/block/detailsByHash/{best(service)}")
    path = f"/v2/blockchain/getTxOut/{block['tx'][0]}/0"
    answer = service.good(path)
    assert set(answer) >= {"bestblock", "confirmations", "value", "scriptPubKey", "coinbase"}
    assert answer["bestblock"] == best(service)
    assert answer["coinbase"] is True
    assert answer["confirmations"] >= 1
    assert answer["value"] >= block["reward"]
    assert set(answer["scriptPubKey"]) == {"asm", "hex", "reqSigs", "type", "addresses"}
    assert answer["scriptPubKey"]["type"] in ("pubkey", "pubkeyhash", "scripthash")
    for query in ("?mempool=true", "?include_mempool=true", "?mempool=false", "?include_mempool=false"):
        assert service.good(path + query) == answer


def test_what_is_spent_or_unknown_is_null(service: ChainService) -> None:
    block = block_with_payments(service)
    for path in (f"{NOBODYS}/0", f"{block['tx'][0]}/77", f"{block['tx'][0]}/2147483647"):
        answer = service.get(f"/v2/blockchain/getTxOut/{path}")
        assert (answer.status_code, answer.text) == (200, "null")
    spent = service.good(f"/v2/transaction/details/{block['tx'][1]}")["vin"][0]
    assert service.good(f"/v2/blockchain/getTxOut/{spent['txid']}/{spent['vout']}") is None
    for far in ("2147483648", "4294967295"):
        refused = service.refused(f"/v2/blockchain/getTxOut/{block['tx'][0]}/{far}")
        assert refused == (400, "JSON integer out of range")


def test_an_output_of_the_mempool_is_there_when_it_is_asked_about(service: ChainService) -> None:
    entries = service.good("/v2/blockchain/getRawMempool?verbose=true")
    spending = {
        each: entry for each, entry in entries.items() if not entry["depends"] and entry["descendantcount"] == 1
    }
    if not spending:
        pytest.skip("nothing waits here by itself")
    txid = next(iter(spending))
    path = f"/v2/blockchain/getTxOut/{txid}/0"
    answer = service.good(path)
    assert (answer["confirmations"], answer["coinbase"]) == (0, False)
    assert service.good(f"{path}?mempool=false") is None
    assert service.good(f"{path}?include_mempool=false") is None
    before = service.good(f"/v2/rawtransactions/getRawTransaction/{txid}?verbose=true")["vin"][0]
    path = f"/v2/blockchain/getTxOut/{before['txid']}/{before['vout']}"
    assert service.good(path) is None
    assert service.good(f"{path}?mempool=false")["confirmations"] >= 1


# Proofs --------------------------------------------------------------------------------------------------------------


def test_a_proof_holds_for_each_transaction_of_a_block(service: ChainService) -> None:
    block = block_with_payments(service)
    header = service.good(f"/v2/blockchain/getBlockHeader/{block['hash']}")
    for txid in block["tx"][:5]:
        proof = service.good(f"/v2/blockchain/getTxOutProof/{txid}")
        assert proof.startswith(header)
        assert int.from_bytes(bytes.fromhex(proof)[80:84], "little") == len(block["tx"])
        assert service.good(f"/v2/blockchain/verifyTxOutProof/{proof}") == [txid]
        assert service.good(f"/v2/blockchain/verifyTxOutProof/{proof.upper()}") == [txid]


def test_several_proofs_are_plain_texts(service: ChainService) -> None:
    txids = block_with_payments(service)["tx"][:2][::-1]
    proofs = service.good("/v2/blockchain/getTxOutProof", {"txids": txids})
    assert proofs == [service.good(f"/v2/blockchain/getTxOutProof/{txid}") for txid in txids]
    assert service.good("/v2/blockchain/verifyTxOutProof", {"proofs": proofs}) == txids


def test_a_changed_proof_among_several_is_null(service: ChainService) -> None:
    txid = block_with_payments(service)["tx"][0]
    proof = service.good(f"/v2/blockchain/getTxOutProof/{txid}")
    changed = proof[:72] + ("0" if proof[72] != "0" else "1") + proof[73:]
    assert service.good("/v2/blockchain/verifyTxOutProof", {"proofs": [changed, proof]}) == [None, txid]


def test_several_proofs_are_objects_by_the_setting(service: ChainService) -> None:
    if service.box is None:
        pytest.skip("it needs the sandbox's configuration")
    txids = block_with_payments(service)["tx"][:2]
    service.box.control("config", {"chain_proofs_as_specified": True})
    try:
        found = service.good("/v2/blockchain/getTxOutProof", {"txids": txids})
        assert [list(each) for each in found] == [[txid] for txid in txids]
        proofs = [each[txid] for each, txid in zip(found, txids, strict=True)]
        verified = service.good("/v2/blockchain/verifyTxOutProof", {"proofs": proofs})
        assert verified == [{proof: [txid]} for proof, txid in zip(proofs, txids, strict=True)]
    finally:
        service.box.control("config", {"chain_proofs_as_specified": False})


def test_a_changed_proof_shows_nothing(service: ChainService) -> None:
    block = block_with_payments(service)
    raw = bytes.fromhex(service.good(f"/v2/blockchain/getTxOutProof/{block['tx'][1]}"))
    for at in (36, 67, 85, 100):  # in the root, and in the hashes
        changed = bytearray(raw)
        changed[at] ^= 1
        assert service.good(f"/v2/blockchain/verifyTxOutProof/{changed.hex()}") == []
    for at in (0, 4, 70, 76):  # elsewhere in the header: another block
        changed = bytearray(raw)
        changed[at] ^= 1
        path = f"/v2/blockchain/verifyTxOutProof/{changed.hex()}"
        assert service.refused(path) == (400, "Block not found in chain")


def test_a_node_within_the_tree_does_not_pass_for_a_transaction(service: ChainService) -> None:
    """Its proof leads to the root, but speaks of fewer transactions than the block has."""
    height: int = service.good("/v2/blockchain/getBlockCount")
    found = (service.good(f"/v2/block/detailsByHeight/{at}") for at in range(height, max(0, height - 200), -1))
    block = next((each for each in found if 3 <= len(each["tx"]) <= 4), None)
    if block is None:
        pytest.skip("no block here is of that size")
    first, second, third, last = [bytes.fromhex(txid)[::-1] for txid in (*block["tx"], block["tx"][-1])[:4]]
    inner = [sha256(sha256(pair).digest()).digest() for pair in (first + second, third + last)]
    header = service.good(f"/v2/blockchain/getBlockHeader/{block['hash']}")
    assert sha256(sha256(b"".join(inner)).digest()).digest().hex() == header[72:136]
    proof = f"{header}0200000002{inner[0].hex()}{inner[1].hex()}0103"
    assert service.good(f"/v2/blockchain/verifyTxOutProof/{proof}") == []


def test_a_proof_of_another_branch_is_refused(service: ChainService) -> None:
    tips = service.good("/v2/blockchain/getChainTips")
    stale = next((tip for tip in tips if tip["status"] == "valid-fork"), None)
    if stale is None:
        pytest.skip("there is no other branch here")
    header = service.good(f"/v2/blockchain/getBlockHeader/{stale['hash']}")
    answer = service.good(f"/v2/blockchain/getBlockHeader/{stale['hash']}?verbose=true")
    assert answer["confirmations"] == -1
    assert "nextblockhash" not in answer
    root = bytes.fromhex(answer["merkleroot"])[::-1].hex()
    alone = f"{header}0100000001{root}0101"  # of a block with its coinbase only
    assert service.refused(f"/v2/blockchain/verifyTxOutProof/{alone}") == (400, "Block not found in chain")


# Refusals ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "refusal"),
    [
        (f"/v2/blockchain/getBlockHeader/{NOBODYS}", "Block not found"),
        ("/v2/blockchain/getBlockHeader/abc", "Block not found"),
        (f"/v2/blockchain/getBlockHeader/{'zz' * 32}?verbose=true", "Block not found"),
        (f"/v2/blockchain/getMempoolEntry/{NOBODYS}", "Transaction not in mempool"),
        ("/v2/blockchain/getMempoolEntry/abc", "parameter 1 must be of length 64 (not 3)"),
        (f"/v2/blockchain/getMempoolEntry/{'zz' * 32}", f"parameter 1 must be hexadecimal string (not '{'zz' * 32}')"),
        (f"/v2/blockchain/getTxOutProof/{NOBODYS}", "Transaction not yet in block"),
        ("/v2/blockchain/getTxOutProof/abc", "txid must be of length 64 (not 3)"),
        ("/v2/blockchain/getTxOut/abc/0", "txid must be of length 64 (not 3)"),
        (f"/v2/blockchain/getTxOut/{NOBODYS}/first", "JSON value is not an integer as expected"),
        ("/v2/blockchain/verifyTxOutProof/xyz", "proof must be hexadecimal string (not 'xyz')"),
        ("/v2/blockchain/verifyTxOutProof/abcd", "CDataStream::read(): end of data: iostream error"),
        (f"/v2/blockchain/verifyTxOutProof/{'00' * 90}", "CDataStream::read(): end of data: iostream error"),
    ],
)
def test_what_is_not_there_is_refused(service: ChainService, path: str, refusal: str) -> None:
    assert service.refused(path) == (400, refusal)


@pytest.mark.parametrize(
    ("path", "body", "refusal"),
    [
        ("getBlockHeader", {}, "hashes needs to be an array. Use GET for single hash."),
        ("getBlockHeader", {"hashes": {}}, "hashes needs to be an array. Use GET for single hash."),
        ("getBlockHeader", {"hashes": ["badHash"]}, "This is not a hash: badHash"),
        ("getBlockHeader", {"hashes": [NOBODYS]}, "Block not found"),
        ("getBlockHeader", {"hashes": [None]}, "This is not a hash: "),
        ("getMempoolEntry", {"txids": 5}, "txids needs to be an array. Use GET for single txid."),
        ("getMempoolEntry", {"txids": ["abc"]}, "This is not a txid"),
        ("getMempoolEntry", {"txids": [NOBODYS]}, "Transaction not in mempool"),
        ("getTxOutProof", {"txids": "abc", "more": 1}, "txids needs to be an array. Use GET for single txid."),
        ("getTxOutProof", {"txids": ["abc"]}, "Invalid txid. Double check your txid is valid: abc"),
        ("getTxOutProof", {"txids": [NOBODYS]}, "Transaction not yet in block"),
        ("verifyTxOutProof", {"proof": "00"}, "proofs needs to be an array. Use GET for single proof."),
        ("verifyTxOutProof", {"proofs": [""]}, "proof can not be empty: "),
        ("verifyTxOutProof", {"proofs": ["00", ""]}, "proof can not be empty: "),
    ],
)
def test_one_bad_element_fails_a_bulk_call(service: ChainService, path: str, body: object, refusal: str) -> None:
    assert service.refused(f"/v2/blockchain/{path}", body) == (400, refusal)


@pytest.mark.parametrize("path", ["getBlockHeader", "getMempoolEntry", "getTxOutProof", "verifyTxOutProof"])
def test_a_bulk_call_has_twenty_elements_at_most(service: ChainService, path: str) -> None:
    member = {"getBlockHeader": "hashes", "verifyTxOutProof": "proofs"}.get(path, "txids")
    assert service.refused(f"/v2/blockchain/{path}", {member: [NOBODYS] * 21}) == (429, "Array too large.")


@pytest.mark.parametrize("path", ["getTxOut", f"getTxOut/{NOBODYS}", "getTxOutProof", "getMempoolEntry"])
def test_a_path_without_its_last_part_is_unknown(service: ChainService, path: str) -> None:
    answer = service.get(f"/v2/blockchain/{path}")
    assert (answer.status_code, answer.json()) == (404, {"status": 404, "message": "Not Found"})
