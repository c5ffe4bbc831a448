"""The contract of raw transactions, written from the documents alone: literal addresses, members and texts.

`--target URL` asks another server the same. What has to be paid for is asked of a sandbox only.
"""

import re
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import bitcash
import pytest
import requests
from bitcash.network.meta import Unspent
from bitcash.transaction import calc_txid

from tests.sandbox.chain.conftest import SECONDS, ChainService

HASH = re.compile("[0-9a-f]{64}")
DECODED = ["txid", "hash", "size", "version", "locktime", "vin", "vout"]

# A reward of 50 coins from the first days of the main chain.
GENERATION = (
    "01000000010000000000000000000000000000000000000000000000000000000000000000ffffffff0704ffff001d0104ffffffff0100f2052a"
    "0100000043410496b538e853519c726a2c91e61ec11600ae1390813a627c66fb8be7947be63c52da7589379515d4e0a604f8141781e62294721"
    "166bf621e73a82cbf2342c858eeac00000000"
)
NOTE = (
    "6a04534c500001010453454e4420df808a41672a0a0ae6475b44f272a107bc9961b90f29dc918d71301f24fe92fb080000000005f5e1000800"
    "0001638de34bc0"
)
NOTE_WORDS = (
    "OP_RETURN 5262419 1 1145980243 df808a41672a0a0ae6475b44f272a107bc9961b90f29dc918d71301f24fe92fb 0000000005f5e100"
    " 000001638de34bc0"
)
KEY_HASH = "76a91476a04053bda0a88bda5177b86a15c3b29f55987388ac"
KEY_HASH_WORDS = "OP_DUP OP_HASH160 76a04053bda0a88bda5177b86a15c3b29f559873 OP_EQUALVERIFY OP_CHECKSIG"
KEY_HASH_ADDRESS = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"
SCRIPT_HASH = "a91476a04053bda0a88bda5177b86a15c3b29f55987387"

DECODE = "/v2/rawtransactions/decodeRawTransaction"
SCRIPT = "/v2/rawtransactions/decodeScript"
FETCH = "/v2/rawtransactions/getRawTransaction"
SEND = "/v2/rawtransactions/sendRawTransaction"


# Decoding ------------------------------------------------------------------------------------------------------------


def test_a_raw_transaction_in_words(service: ChainService) -> None:
    decoded = service.good(f"{DECODE}/{GENERATION}")
    assert list(decoded) == DECODED
    txid = "0e3e2357e806b6cdb1f70b54c3a3a17b6714ee1f0e68bebb44a74b1efd512098"
    assert (decoded["txid"], decoded["hash"]) == (txid, txid)
    assert (decoded["size"], decoded["version"], decoded["locktime"]) == (134, 1, 0)
    assert decoded["vin"] == [{"coinbase": "04ffff001d0104", "sequence": 4294967295}]
    (output,) = decoded["vout"]
    assert (Decimal(str(output["value"])), output["n"]) == (50, 0)
    script = output["scriptPubKey"]
    assert (script["reqSigs"], script["type"], len(script["addresses"])) == (1, "pubkey", 1)
    assert script["asm"].endswith(" OP_CHECKSIG")
    assert script["hex"].endswith("ac")


def test_several_raw_transactions_in_their_order(service: ChainService) -> None:
    one = service.good(f"{DECODE}/{GENERATION}")
    assert service.good(DECODE, {"hexes": [GENERATION, GENERATION.upper()]}) == [one, one]


@pytest.mark.parametrize(
    "odd", ["00", "zz", "abc", GENERATION[:-2], GENERATION + "00", "ff" * 200, GENERATION[:-2] + "é", " " + GENERATION]
)
def test_what_is_no_raw_transaction(service: ChainService, odd: str) -> None:
    assert service.refused(f"{DECODE}/{odd}") == (400, "TX decode failed")
    assert service.refused(DECODE, {"hexes": [GENERATION, odd]}) == (400, "TX decode failed")
    assert service.refused(f"{SEND}/{odd}") == (400, "TX decode failed")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (NOTE, {"asm": NOTE_WORDS, "type": "nulldata"}),
        (KEY_HASH, {"asm": KEY_HASH_WORDS, "reqSigs": 1, "type": "pubkeyhash", "addresses": [KEY_HASH_ADDRESS]}),
        ("51", {"asm": "1", "type": "nonstandard"}),
        ("6a05ab", {"asm": "OP_RETURN [error]", "type": "nonstandard"}),
        ("bd", {"asm": "OP_UNKNOWN", "type": "nonstandard"}),
    ],
)
def test_a_script_in_words(service: ChainService, script: str, words: dict[str, Any]) -> None:
    decoded = service.good(f"{SCRIPT}/{script}")
    assert decoded.pop("p2sh").startswith("bchtest:p")
    assert decoded == words
    (again,) = service.good(SCRIPT, {"hexes": [script]})
    assert {name: again[name] for name in words} == words


def test_a_script_that_pays_to_a_hash_has_no_hash_of_its_own(service: ChainService) -> None:
    decoded = service.good(f"{SCRIPT}/{SCRIPT_HASH}")
    assert (decoded["type"], decoded["reqSigs"], "p2sh" in decoded) == ("scripthash", 1, False)


@pytest.mark.parametrize("odd", ["zz", "abc", "5151g1"])
def test_what_is_no_script(service: ChainService, odd: str) -> None:
    expected = (400, f"argument must be hexadecimal string (not '{odd}')")
    assert service.refused(f"{SCRIPT}/{odd}") == expected
    assert service.refused(SCRIPT, {"hexes": ["51", odd]}) == expected


@pytest.mark.parametrize(
    ("path", "name", "not_an_array", "empty"),
    [
        (DECODE, "hexes", "hexes must be an array", "Encountered empty hex"),
        (SCRIPT, "hexes", "hexes must be an array", "Encountered empty hex"),
        (SEND, "hexes", "hex must be an array", "Encountered empty hex"),
        (FETCH, "txids", "txids must be an array", "Encountered empty TXID"),
    ],
)
def test_arrays(service: ChainService, path: str, name: str, not_an_array: str, empty: str) -> None:
    for odd in ("51", None, {}, 7):
        assert service.refused(path, {name: odd}) == (400, not_an_array)
    assert service.refused(path, {"other": []}) == (400, not_an_array)
    assert service.refused(path, {name: ["51"] * 21}) == (429, "Array too large.")
    assert service.refused(path, {name: [""]}) == (400, empty)
    assert service.good(path, {name: []}) == []


def test_odd_elements(service: ChainService) -> None:
    for odd in (7, {}, [], True):
        assert service.refused(DECODE, {"hexes": [odd]}) == (400, "TX decode failed")
    assert service.refused(DECODE, {"hexes": [None]}) == (400, "Encountered empty hex")


# Fetching ------------------------------------------------------------------------------------------------------------


def a_txid(service: ChainService) -> str:
    """A transaction that every chain has: the first of the second block."""
    return str(service.good("/v2/block/detailsByHeight/1")["tx"][0])


def test_a_transaction_by_its_id(service: ChainService) -> None:
    txid = a_txid(service)
    raw = service.good(f"{FETCH}/{txid}")
    assert re.fullmatch("(?:[0-9a-f]{2})+", raw)
    assert service.good(f"{FETCH}/{txid}?verbose=false") == raw
    assert service.good(f"{FETCH}/{txid.upper()}") == raw
    whole = service.good(f"{FETCH}/{txid}?verbose=true")
    assert list(whole) == [*DECODED, "hex", "blockhash", "confirmations", "time", "blocktime"]
    assert (whole["txid"], whole["hex"], whole["time"]) == (txid, raw, whole["blocktime"])
    assert whole["blockhash"] == service.good("/v2/block/detailsByHeight/1")["hash"]
    assert service.good(f"{DECODE}/{raw}") == {name: whole[name] for name in DECODED}
    assert service.good(FETCH, {"txids": [txid, txid]}) == [raw, raw]
    assert service.good(FETCH, {"txids": [txid], "verbose": True})[0]["hex"] == raw


def test_no_transaction_of_that_id(service: ChainService) -> None:
    unknown = "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."
    assert service.refused(f"{FETCH}/{'12' * 32}") == (400, unknown)
    assert service.refused(FETCH, {"txids": [a_txid(service), "12" * 32]}) == (400, unknown)
    assert service.refused(f"{FETCH}/abc") == (400, "parameter 1 must be of length 64 (not 3)")
    assert service.refused(FETCH, {"txids": ["abc"]}) == (400, "parameter 1 must be of length 64 (not 3)")
    odd = "x" * 64
    assert service.refused(f"{FETCH}/{odd}") == (400, f"parameter 1 must be hexadecimal string (not '{odd}')")


def test_the_first_reward_of_all_is_no_ordinary_transaction(service: ChainService) -> None:
    first = service.good("/v2/block/detailsByHeight/0")["tx"][0]
    why = "The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved"
    assert service.refused(f"{FETCH}/{first}") == (400, why)


# Sending -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def payer(service: ChainService) -> tuple[bitcash.PrivateKeyTestnet, list[Unspent]]:
    """A key of another library with one coin in a block."""
    if service.box is None:
        pytest.skip("it pays from the sandbox's own coins")
    key = bitcash.PrivateKeyTestnet()
    service.box.control("chain/pay", {"address": key.address, "amount": "1"})
    service.box.control("chain/mine", {})
    found = service.good(f"/v2/address/utxo/{key.address}")
    return key, [
        Unspent(each["satoshis"], each["confirmations"], found["scriptPubKey"], each["txid"], each["vout"])
        for each in found["utxos"]
    ]


def paying(payer: tuple[bitcash.PrivateKeyTestnet, list[Unspent]], sat: int) -> str:
    key, unspents = payer
    return str(key.create_transaction([(key.address, sat, "satoshi")], fee=2, unspents=unspents))


def test_a_transaction_is_sent_once_and_waits_then_is_mined(service: ChainService, payer) -> None:
    raw = paying(payer, 50_000)
    txid = calc_txid(raw)
    assert service.good(f"{SEND}/{raw}") == [txid]
    assert service.good(f"{SEND}/{raw}") == [txid]
    assert service.good("/v2/blockchain/getRawMempool").count(txid) == 1
    waiting = service.good(f"{FETCH}/{txid}?verbose=true")
    assert list(waiting) == [*DECODED, "hex"]
    service.box.control("chain/mine", {})
    assert service.good(f"{FETCH}/{txid}?verbose=true")["confirmations"] == 1
    assert service.refused(f"{SEND}/{raw}") == (400, "transaction already in block chain")


def test_the_id_comes_bare_in_the_observed_dialect(service: ChainService, payer) -> None:
    raw = paying(payer, 50_000)
    service.box.control("config", {"dialect": "observed"})
    try:
        assert service.good(f"{SEND}/{raw}") == calc_txid(raw)
        assert service.good(SEND, {"hexes": [raw]}) == [calc_txid(raw)]
    finally:
        service.box.control("config", {"dialect": "documented"})


def test_of_rivals_that_are_sent_at_once_one_is_taken(service: ChainService, payer) -> None:
    rivals = [paying(payer, 50_000 + number) for number in range(6)]

    def sent(raw: str) -> tuple[int, Any]:
        answer = requests.get(f"{service.url}{SEND}/{raw}", timeout=SECONDS)
        return answer.status_code, answer.json()

    with ThreadPoolExecutor(len(rivals)) as pool:
        answers = list(pool.map(sent, rivals))
    refusal = (400, {"error": "txn-mempool-conflict (code 18)"})
    (winner,) = (raw for raw, answer in zip(rivals, answers, strict=True) if answer == (200, [calc_txid(raw)]))
    assert [answer for raw, answer in zip(rivals, answers, strict=True) if raw != winner] == [refusal] * 5


def test_a_second_spending_of_the_same_coin_is_refused(service: ChainService, payer) -> None:
    first, second = paying(payer, 50_000), paying(payer, 60_000)
    assert service.good(SEND, {"hexes": [first]}) == [calc_txid(first)]
    assert service.refused(f"{SEND}/{second}") == (400, "txn-mempool-conflict (code 18)")
    service.box.control("chain/mine", {})
    assert service.refused(f"{SEND}/{second}") == (400, "Missing inputs")


def test_of_several_those_before_the_refused_one_stay_sent(service: ChainService, payer) -> None:
    first, second = paying(payer, 50_000), paying(payer, 60_000)
    assert service.refused(SEND, {"hexes": [first, second]}) == (400, "txn-mempool-conflict (code 18)")
    assert calc_txid(first) in service.good("/v2/blockchain/getRawMempool")
    assert service.refused(SEND, {"hexes": [second, ""]}) == (400, "Encountered empty hex")


def test_what_is_refused_leaves_nothing_behind(service: ChainService, payer) -> None:
    before = service.good("/v2/blockchain/getRawMempool")
    raw = paying(payer, 50_000)
    place = 2 * (4 + 1 + 36 + 1 + 10)  # within the signature
    bent = raw[:place] + ("0" if raw[place] != "0" else "1") + raw[place + 1 :]
    status, text = service.refused(f"{SEND}/{bent}")
    assert (status, text.partition(" (")[0]) == (400, "mandatory-script-verify-flag-failed")
    assert text.endswith(") (code 16)")
    key, (coin,) = payer
    claimed = Unspent(2 * coin.amount, 1, coin.script, coin.txid, coin.txindex)
    status, text = service.refused(f"{SEND}/{paying((key, [claimed]), 50_000)}")
    assert (status, text.startswith("bad-txns-in-belowout, value in (1.00) < value out (1.9")) == (400, True), text
    assert service.refused(f"{SEND}/{GENERATION}") == (400, "bad-tx-coinbase (code 16)")
    assert service.good("/v2/blockchain/getRawMempool") == before
    assert service.good(SEND, {"hexes": [raw]}) == [calc_txid(raw)]


@pytest.mark.parametrize(
    ("path", "name", "after"),
    [
        (FETCH, "parameter 1", ""),
        ("/v2/blockchain/getMempoolEntry", "parameter 1", ""),
        ("/v2/blockchain/getTxOutProof", "txid", ""),
        ("/v2/transaction/details", "parameter 1", ". Code:-8"),
        ("/v2/dataRetrieval/payload", "txid", ""),
    ],
)
def test_a_node_looks_at_the_digits_of_an_id_before_their_number(
    service: ChainService, path: str, name: str, after: str
) -> None:
    for odd in ("xyz", "zz" * 32, "g" + "0" * 62):
        assert service.refused(f"{path}/{odd}") == (400, f"{name} must be hexadecimal string (not '{odd}'){after}")
    assert service.refused(f"{path}/abcdef") == (400, f"{name} must be of length 64 (not 6){after}")
