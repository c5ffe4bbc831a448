"""The contract of transaction details, written from the documents alone: literal addresses, members and texts."""

import re
from decimal import Decimal

import bitcash
import pytest

from tests.sandbox.chain.conftest import ChainService

DETAILS = "/v2/transaction/details"
CONFIRMED = ["blockhash", "blockheight", "confirmations", "time", "blocktime"]


def test_a_reward(service: ChainService) -> None:
    block = service.good("/v2/block/detailsByHeight/1")
    found = service.good(f"{DETAILS}/{block['tx'][0]}/")
    head = ["txid", "version", "locktime", "vin", "vout", *CONFIRMED, "isCoinBase", "valueOut", "size"]
    assert list(found) == head
    assert (found["isCoinBase"], found["blockhash"], found["blockheight"]) == (True, block["hash"], 1)
    assert (found["time"], found["blocktime"]) == (block["time"], block["time"])
    assert found["confirmations"] >= block["confirmations"]
    (entered,) = found["vin"]
    assert list(entered) == ["coinbase", "sequence", "n"]
    assert found["valueOut"] == sum(Decimal(each["value"]) for each in found["vout"])
    assert all(re.fullmatch(r"[0-9]+\.[0-9]{8}", each["value"]) for each in found["vout"])


@pytest.mark.parametrize(
    ("txid", "status", "text"),
    [
        ("12" * 32, 404, "Not found"),
        ("abcdef", 400, "parameter 1 must be of length 64 (not 6). Code:-8"),
        ("12" * 33, 400, "parameter 1 must be of length 64 (not 66). Code:-8"),
        ("x" * 64, 400, f"parameter 1 must be hexadecimal string (not '{'x' * 64}'). Code:-8"),
    ],
)
def test_no_transaction_of_that_id(service: ChainService, txid: str, status: int, text: str) -> None:
    known = service.good("/v2/block/detailsByHeight/1")["tx"][0]
    assert service.refused(f"{DETAILS}/{txid}") == (status, text)
    assert service.refused(DETAILS, {"txids": [known, txid]}) == (status, text)


def test_the_first_reward_of_all_is_in_no_index(service: ChainService) -> None:
    first = service.good("/v2/block/detailsByHeight/0")["tx"][0]
    assert service.refused(f"{DETAILS}/{first}") == (404, "Not found")


def test_several(service: ChainService) -> None:
    ids = [service.good(f"/v2/block/detailsByHeight/{height}")["tx"][0] for height in (1, 2)]
    found = service.good(DETAILS, {"txids": [*ids[::-1], ids[0]]})
    assert [each["txid"] for each in found] == [*ids[::-1], ids[0]]
    for body in ({}, {"txids": ids[0]}, {"txid": ids}):
        assert service.refused(DETAILS, body) == (400, "txids needs to be an array")
    assert service.refused(DETAILS, {"txids": ids * 11}) == (429, "Array too large.")
    assert service.refused(DETAILS, {"txids": [""]}) == (400, "parameter 1 must be of length 64 (not 0). Code:-8")
    assert service.good(DETAILS, {"txids": []}) == []


def test_a_payment_before_and_after_it_is_mined_and_spent(service: ChainService) -> None:
    if service.box is None:
        pytest.skip("it pays from the sandbox's own coins")
    key = bitcash.PrivateKeyTestnet()
    txid = service.box.control("chain/pay", {"address": key.address, "amount": "1.5"})["txid"]
    waiting = service.good(f"{DETAILS}/{txid}")
    head = ["txid", "version", "locktime", "vin", "vout", "blockheight", "confirmations", "time"]
    assert list(waiting) == [*head, "valueOut", "valueIn", "fees", "size"]
    assert (waiting["blockheight"], waiting["confirmations"]) == (-1, 0)

    service.box.control("chain/mine", {})
    found = service.good(f"{DETAILS}/{txid}")
    assert list(found) == [*head[:5], *CONFIRMED, "valueOut", "valueIn", "fees", "size"]
    spent = found["vin"][0]
    names = ["txid", "vout", "sequence", "n", "scriptSig", "value", "legacyAddress", "cashAddress"]
    assert list(spent) == names
    assert isinstance(spent["value"], int), "inputs are valued in satoshis"
    assert "[ALL|FORKID]" in spent["scriptSig"]["asm"]
    value_in = Decimal(sum(each["value"] for each in found["vin"])) / 10**8
    value_out = sum(Decimal(each["value"]) for each in found["vout"])
    exact = [Decimal(str(found[name])) for name in ("valueIn", "valueOut", "fees")]
    assert exact == [value_in, value_out, value_in - value_out]
    (paid,) = (each for each in found["vout"] if each["value"] == "1.50000000")
    assert paid == {
        "value": "1.50000000",
        "n": paid["n"],
        "scriptPubKey": {
            "hex": key.scriptcode.hex(),
            "asm": f"OP_DUP OP_HASH160 {key.scriptcode.hex()[6:46]} OP_EQUALVERIFY OP_CHECKSIG",
            "addresses": [service.good(f"/v2/slp/convert/{key.address}")["legacyAddress"]],
            "type": "pubkeyhash",
            "cashAddrs": [key.address],
        },
        "spentTxId": None,
        "spentIndex": None,
        "spentHeight": None,
    }


def test_who_spent_an_output(service: ChainService) -> None:
    if service.box is None:
        pytest.skip("it pays from the sandbox's own coins")
    key = bitcash.PrivateKeyTestnet()
    txid = service.box.control("chain/pay", {"address": key.address, "amount": "1"})["txid"]
    found = service.good(f"/v2/address/utxo/{key.address}")
    (coin,) = found["utxos"]
    unspent = bitcash.network.meta.Unspent(10**8, 0, found["scriptPubKey"], txid, coin["vout"])
    raw = key.create_transaction([(key.address, 5_000, "satoshi")], fee=2, unspents=[unspent], message="a note")
    (spender,) = service.good(f"/v2/rawtransactions/sendRawTransaction/{raw}")

    def spent() -> tuple[object, ...]:
        output = service.good(f"{DETAILS}/{txid}")["vout"][coin["vout"]]
        return output["spentTxId"], output["spentIndex"], output["spentHeight"]

    assert spent() == (spender, 0, -1)
    service.box.control("chain/mine", {})
    assert spent() == (spender, 0, service.good(f"{DETAILS}/{spender}")["blockheight"])
    (note,) = (each for each in service.good(f"{DETAILS}/{spender}")["vout"] if each["value"] == "0.00000000")
    assert list(note["scriptPubKey"]) == ["hex", "asm"]
    assert note["scriptPubKey"]["asm"].startswith("OP_RETURN ")
