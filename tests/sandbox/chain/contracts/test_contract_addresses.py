"""The contract of addresses, written from the documents alone: literal addresses, members and texts."""

from decimal import Decimal
from typing import Any

import bitcash
import pytest

from tests.sandbox.chain.conftest import ChainService

DETAILS = [
    "addrStr",
    "balance",
    "balanceSat",
    "totalReceived",
    "totalReceivedSat",
    "totalSent",
    "totalSentSat",
    "unconfirmedBalance",
    "unconfirmedBalanceSat",
    "unconfirmedTxApperances",
    "txApperances",
    "transactions",
    "legacyAddress",
    "cashAddress",
    "slpAddress",
    "currentPage",
    "pagesTotal",
]
UTXOS = ["utxos", "legacyAddress", "cashAddress", "slpAddress", "scriptPubKey", "asm"]
NOBODY = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"
MAIN = "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a"
EVERY = ["/v2/address/details", "/v2/address/utxo", "/v2/address/unconfirmed", "/v2/address/transactions"]


@pytest.fixture(scope="module")
def miner(service: ChainService) -> str:
    """The address of the first reward that was paid."""
    first = service.good("/v2/block/detailsByHeight/1")["tx"][0]
    address = service.good(f"/v2/transaction/details/{first}")["vout"][0]["scriptPubKey"]["cashAddrs"][0]
    return str(address)


def total(coins: list[dict[str, Any]]) -> int:
    return sum(coin["satoshis"] for coin in coins)


# Reading -------------------------------------------------------------------------------------------------------------


def test_details(service: ChainService, miner: str) -> None:
    found = service.good(f"/v2/address/details/{miner}")
    assert list(found) == DETAILS
    for name in ("balance", "totalReceived", "totalSent", "unconfirmedBalance"):
        assert Decimal(str(found[name])) * 10**8 == found[f"{name}Sat"]
    assert found["balanceSat"] == found["totalReceivedSat"] - found["totalSentSat"]
    assert found["cashAddress"] == miner
    assert len(set(found["transactions"])) == len(found["transactions"])
    assert len(found["transactions"]) == found["txApperances"] + found["unconfirmedTxApperances"] <= 1000
    assert (found["currentPage"], found["pagesTotal"]) == (0, 1)
    beyond = service.good(f"/v2/address/details/{miner}?page=7")
    assert (beyond["currentPage"], beyond["transactions"]) == (7, [])
    assert service.good(f"/v2/address/details/{found['legacyAddress']}") == found
    assert service.good(f"/v2/address/details/{found['slpAddress']}") == found


def test_unspent_outputs(service: ChainService, miner: str) -> None:
    found = service.good(f"/v2/address/utxo/{miner}")
    assert list(found) == UTXOS
    tip = service.good("/v2/blockchain/getBlockCount")
    for coin in found["utxos"]:
        assert Decimal(str(coin["amount"])) * 10**8 == coin["satoshis"]
        if coin["confirmations"]:
            assert list(coin) == ["txid", "vout", "amount", "satoshis", "height", "confirmations"]
            assert abs(tip - coin["height"] + 1 - coin["confirmations"]) <= 1
        else:
            assert list(coin) == ["txid", "vout", "amount", "satoshis", "confirmations", "ts"]
    heights = [coin.get("height", 1 << 32) for coin in found["utxos"]]
    assert heights == sorted(heights, reverse=True), "newest first"
    details = service.good(f"/v2/address/details/{miner}")
    assert total(found["utxos"]) == details["balanceSat"] + details["unconfirmedBalanceSat"]
    assert found["asm"].split()[:2] == ["OP_DUP", "OP_HASH160"]


def test_transactions_come_in_pages_of_ten(service: ChainService, miner: str) -> None:
    first = service.good(f"/v2/address/transactions/{miner}")
    assert list(first) == ["pagesTotal", "txs", "legacyAddress", "cashAddress", "slpAddress", "currentPage"]
    details = service.good(f"/v2/address/details/{miner}")
    ids = [each["txid"] for each in first["txs"]]
    assert ids == details["transactions"][:10]
    assert first["pagesTotal"] == -(-len(details["transactions"]) // 10)
    second = service.good(f"/v2/address/transactions/{miner}?page=1")
    assert (second["currentPage"], [each["txid"] for each in second["txs"]]) == (1, details["transactions"][10:20])
    for odd in ("-1", "x", "1.5", "", "9" * 40):
        assert service.good(f"/v2/address/transactions/{miner}?page={odd}")["currentPage"] == 0


def test_inputs_of_listed_transactions_are_rows_of_the_index(service: ChainService, miner: str) -> None:
    pages = service.good(f"/v2/address/transactions/{miner}")["pagesTotal"]
    inputs = [
        entered
        for page in range(pages)
        for each in service.good(f"/v2/address/transactions/{miner}?page={page}")["txs"]
        for entered in each["vin"]
        if "coinbase" not in entered
    ]
    assert inputs
    for each in inputs:
        assert set(each) >= {"txid", "vout", "sequence", "n", "scriptSig", "addr", "valueSat", "value"}
        assert (each["doubleSpentTxID"], Decimal(str(each["value"])) * 10**8) == (None, each["valueSat"])


def test_an_address_that_nobody_paid(service: ChainService) -> None:
    details = service.good(f"/v2/address/details/{NOBODY}")
    assert {details[name] for name in DETAILS[1:11]} == {0}
    assert (details["transactions"], details["pagesTotal"], details["addrStr"][0]) == ([], 0, "m")
    empty = {
        "utxos": [],
        "legacyAddress": details["legacyAddress"],
        "cashAddress": NOBODY,
        "slpAddress": details["slpAddress"],
        "scriptPubKey": "",
        "asm": "",
    }
    assert service.good(f"/v2/address/utxo/{NOBODY}") == empty
    assert service.good(f"/v2/address/unconfirmed/{NOBODY}") == empty
    assert service.good(f"/v2/address/transactions/{NOBODY}")["txs"] == []


# Several -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", EVERY)
def test_several_in_their_order_with_repeats(service: ChainService, miner: str, path: str) -> None:
    one, other = service.good(f"{path}/{miner}"), service.good(f"{path}/{NOBODY}")
    assert service.good(path, {"addresses": [NOBODY, miner, NOBODY]}) == [other, one, other]
    assert service.good(path, {"addresses": []}) == []


def test_a_page_of_several(service: ChainService, miner: str) -> None:
    (found,) = service.good("/v2/address/transactions", {"addresses": [miner], "page": 1})
    assert found == service.good(f"/v2/address/transactions/{miner}?page=1")
    (found,) = service.good("/v2/address/details", {"addresses": [miner], "page": "3"})
    assert (found["currentPage"], found["transactions"]) == (3, [])


@pytest.mark.parametrize("path", EVERY)
@pytest.mark.parametrize(
    "odd", ["x", "bchtest:", NOBODY[:-1], NOBODY[:-1] + "l", NOBODY[:30].upper() + NOBODY[30:], "0"]
)
def test_what_is_no_address(service: ChainService, path: str, odd: str) -> None:
    why = (400, f"Invalid BCH address. Double check your address is valid: {odd}")
    assert service.refused(f"{path}/{odd}") == why
    assert service.refused(path, {"addresses": [NOBODY, odd]}) == why


@pytest.mark.parametrize("path", EVERY)
def test_addresses_of_another_network(service: ChainService, path: str) -> None:
    main = service.good(f"/v2/address/details/{NOBODY}") and MAIN
    single = "Invalid network. Trying to use a testnet address on mainnet, or vice versa."
    several = f"Invalid network for address {main}. Trying to use a testnet address on mainnet, or vice versa."
    assert service.refused(f"{path}/{main}") == (400, single)
    assert service.refused(path, {"addresses": [main]}) == (400, several)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (EVERY[0], "addresses needs to be an array. Use GET for single address."),
        *((path, "addresses needs to be an array") for path in EVERY[1:]),
    ],
)
def test_arrays(service: ChainService, path: str, text: str) -> None:
    for body in ({}, {"addresses": NOBODY}, {"addresses": None}, {"address": [NOBODY]}):
        assert service.refused(path, body) == (400, text)
    assert service.refused(path, {"addresses": ["x"] * 21}) == (429, "Array too large.")
    wrong = "Invalid BCH address. Double check your address is valid: "
    assert service.refused(path, {"addresses": [""]}) == (400, wrong)


# As it is paid and pays ----------------------------------------------------------------------------------------------


def test_an_address_is_paid_and_pays(service: ChainService) -> None:
    if service.box is None:
        pytest.skip("it pays from the sandbox's own coins")
    key = bitcash.PrivateKeyTestnet()

    def sat() -> list[int]:
        found = service.good(f"/v2/address/details/{key.address}")
        names = ("balanceSat", "totalReceivedSat", "totalSentSat", "unconfirmedBalanceSat")
        return [found[name] for name in (*names, "txApperances", "unconfirmedTxApperances")]

    txid = service.box.control("chain/pay", {"address": key.address, "amount": "1"})["txid"]
    assert sat() == [0, 0, 0, 10**8, 0, 1]
    waiting = service.good(f"/v2/address/unconfirmed/{key.address}")
    (coin,) = waiting["utxos"]
    assert (coin["txid"], coin["satoshis"], coin["confirmations"]) == (txid, 10**8, 0)
    assert waiting == service.good(f"/v2/address/utxo/{key.address}")

    service.box.control("chain/mine", {})
    assert sat() == [10**8, 10**8, 0, 0, 1, 0]
    assert service.good(f"/v2/address/unconfirmed/{key.address}")["utxos"] == []

    unspent = bitcash.network.meta.Unspent(10**8, 1, waiting["scriptPubKey"], txid, coin["vout"])
    raw = key.create_transaction([(NOBODY, 40_000_000, "satoshi")], fee=1, unspents=[unspent])
    (spending,) = service.good(f"/v2/rawtransactions/sendRawTransaction/{raw}")
    fee_sat = round(Decimal(str(service.good(f"/v2/transaction/details/{spending}")["fees"])) * 10**8)
    change_sat = 60_000_000 - fee_sat
    assert sat() == [10**8, 10**8, 0, -40_000_000 - fee_sat, 1, 1]
    (change,) = service.good(f"/v2/address/utxo/{key.address}")["utxos"]
    assert (change["txid"], change["satoshis"]) == (spending, change_sat)

    service.box.control("chain/mine", {})
    assert sat() == [change_sat, 10**8 + change_sat, 10**8, 0, 2, 0]
    found = service.good(f"/v2/address/details/{key.address}")
    assert found["transactions"] == [spending, txid]
    service.box.control("chain/reorg", {"depth": 1})
    assert sat() == [10**8, 10**8, 0, -40_000_000 - fee_sat, 1, 1]
