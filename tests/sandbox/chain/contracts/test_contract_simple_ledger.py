"""The contract of simple-ledger tokens, written from the documents alone (chain data, Simple-ledger tokens; supplement
1.8, 3 and 7).

Literal addresses and members. `--target URL` asks another server of the service: it needs three tokens, of which one
has a live baton, one none any more and one a burn, and holders of them.
"""

from decimal import Decimal
from typing import Any

import pytest

from tests.sandbox.chain.conftest import ChainService

TOKEN_MEMBERS = {
    "decimals": int,
    "timestamp": (str, type(None)),
    "timestampUnix": (int, type(None)),
    "versionType": int,
    "documentUri": str,
    "symbol": str,
    "name": str,
    "containsBaton": bool,
    "id": str,
    "documentHash": (str, type(None)),
    "initialTokenQty": (int, float),
    "blockCreated": (int, type(None)),
    "blockLastActiveSend": (int, type(None)),
    "blockLastActiveMint": (int, type(None)),
    "txnsSinceGenesis": int,
    "validAddresses": int,
    "totalMinted": (int, float),
    "totalBurned": (int, float),
    "circulatingSupply": (int, float),
    "mintingBatonStatus": str,
}
UNKNOWN = "5165dc531aad05d1149bb0f0d9b7bda99c73e2f05e314bcfb5b4bb9ca5e1af5e"
MAIN_ADDRESS = "bitcoincash:qz9tzs6d5097ejpg279rg0rnlhz546q4fslra7mh29"
WRONG_NETWORK = "Invalid network. Trying to use a testnet address on mainnet, or vice versa."
HASH_TRIPLE = {  # of one hash, supplement 5.1
    "slpAddress": "slptest:qpm2qsznhks23z7629mms6s4cwef74vcwvmvf54x0u",
    "cashAddress": "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
    "legacyAddress": "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx",
}


def invalid(text: str) -> str:
    return f"Invalid BCH address. Double check your address is valid: {text}"


@pytest.fixture(scope="module")
def tokens(service: ChainService) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = service.good("/v2/slp/list")
    return listed


@pytest.fixture(scope="module")
def living(tokens: list[dict[str, Any]]) -> dict[str, Any]:
    """A token whose baton lives, and which was minted and sent."""
    return next(each for each in tokens if each["mintingBatonStatus"] == "ALIVE" and each["blockLastActiveMint"])


@pytest.fixture(scope="module")
def holders(service: ChainService, living: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = service.good(f"/v2/slp/balancesForToken/{living['id']}")
    return found


# The list ------------------------------------------------------------------------------------------------------------


def test_the_list_has_every_member_of_every_token(tokens: list[dict[str, Any]]) -> None:
    assert len(tokens) >= 3
    for token in tokens:
        assert set(token) == set(TOKEN_MEMBERS)
        for name, kind in TOKEN_MEMBERS.items():
            assert isinstance(token[name], kind), name
        assert token["totalMinted"] == pytest.approx(token["totalBurned"] + token["circulatingSupply"])
        assert token["versionType"] == 1
        assert len(token["id"]) == 64
    created = [token["blockCreated"] for token in tokens if token["blockCreated"] is not None]
    assert created == sorted(created, reverse=True)


def test_there_is_a_living_an_ended_and_a_burnt_token(tokens: list[dict[str, Any]]) -> None:
    assert {"ALIVE", "DEAD_ENDED", "NEVER_CREATED"} <= {token["mintingBatonStatus"] for token in tokens}
    burnt = next(token for token in tokens if token["totalBurned"])
    assert burnt["circulatingSupply"] < burnt["totalMinted"]
    for token in tokens:
        assert token["containsBaton"] is (token["mintingBatonStatus"] != "NEVER_CREATED")
        assert (token["blockLastActiveMint"] is not None) is (token["totalMinted"] > token["initialTokenQty"])


def test_the_list_stands_as_long_as_no_block_comes(service: ChainService, tokens: list[dict[str, Any]]) -> None:
    assert service.good("/v2/slp/list") == tokens


def test_a_token_is_told_in_the_same_way_wherever_it_is_asked_for(
    service: ChainService, living: dict[str, Any]
) -> None:
    assert service.good(f"/v2/slp/list/{living['id']}") == living
    assert service.good(f"/v2/slp/tokenStats/{living['id']}") == living
    assert service.good("/v2/slp/list", {"tokenIds": [living["id"]]}) == [living]
    assert service.good("/v2/slp/tokenStats", {"tokenIds": [living["id"]]}) == [living]


def test_the_time_of_a_token_is_that_of_its_block(service: ChainService, living: dict[str, Any]) -> None:
    block = service.good(f"/v2/block/detailsByHeight/{living['blockCreated']}")
    assert living["id"] in block["tx"]
    assert block["time"] == living["timestampUnix"]
    assert len(living["timestamp"]) == len("2018-08-25 03:54:00")


@pytest.mark.parametrize("odd", [UNKNOWN, "nonsense", UNKNOWN.upper(), "0", "%20"])
def test_an_unknown_token_is_said_to_be_so(service: ChainService, odd: str) -> None:
    if odd == "%20":
        assert service.refused("/v2/slp/list/%20") == (400, "tokenId can not be empty")
        return
    assert service.good(f"/v2/slp/list/{odd}") == {"id": "not found"}
    assert service.good(f"/v2/slp/tokenStats/{odd}") == {"id": "not found"}
    assert service.good(f"/v2/slp/balancesForToken/{odd}") == []


def test_unknown_tokens_of_a_bulk_come_after_the_others(service: ChainService, tokens: list[dict[str, Any]]) -> None:
    newest_first = [token["id"] for token in tokens if token["blockCreated"] is not None]
    token_ids = [UNKNOWN, *reversed(newest_first), "x", newest_first[0]]
    answered = service.good("/v2/slp/list", {"tokenIds": token_ids})
    assert [each["id"] for each in answered] == [newest_first[0], *newest_first, UNKNOWN, "x"]
    assert answered[-2:] == [{"id": UNKNOWN, "valid": False}, {"id": "x", "valid": False}]
    in_place = service.good("/v2/slp/tokenStats", {"tokenIds": token_ids})
    assert [each["id"] for each in in_place] == token_ids


# Arrays --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "name", "said"),
    [
        ("/v2/slp/list", "tokenIds", "tokenIds needs to be an array. Use GET for single tokenId."),
        ("/v2/slp/convert", "addresses", "addresses needs to be an array. Use GET for single address."),
        ("/v2/slp/validateTxid", "txids", "txids needs to be an array"),
        ("/v2/slp/validate", "txids", "txids needs to be an array"),
        ("/v2/slp/balancesForAddress", "addresses", None),
        ("/v2/slp/balancesForToken", "tokenIds", "tokenIds needs to be an array. Use GET for single tokenId."),
        ("/v2/slp/tokenStats", "tokenIds", "tokenIds needs to be an array. Use GET for single tokenId."),
        ("/v2/slp/burnTotal", "txids", None),
        ("/v2/slp/balance", None, None),
        ("/v2/slp/transactions", None, None),
    ],
)
def test_a_bulk_call_takes_an_array_of_at_most_twenty(
    service: ChainService, path: str, name: str | None, said: str | None
) -> None:
    def body(elements: object) -> object:
        return elements if name is None else {name: elements}

    assert service.good(path, body([])) == []
    assert service.refused(path, body(["x"] * 21)) == (429, "Array too large.")
    for odd in ({}, {"other": []}, body("x") if name else {"pairs": []}):
        status, text = service.refused(path, odd)
        assert status == 400
        assert text == said if said else "array" in text


# Addresses -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "spelling",
    [
        *HASH_TRIPLE.values(),
        "qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
        "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78",
        "BCHTEST:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVQCW003AP",
    ],
)
def test_an_address_is_converted_from_every_spelling(service: ChainService, spelling: str) -> None:
    assert service.good(f"/v2/slp/convert/{spelling}") == HASH_TRIPLE
    assert service.good("/v2/slp/convert", {"addresses": [spelling, spelling]}) == [HASH_TRIPLE, HASH_TRIPLE]


def test_an_address_of_the_main_network_stays_there(service: ChainService) -> None:
    assert service.good("/v2/slp/convert/1DeLbv5EMzLEFDvQ8wZiKeSuPGGtSSz5HP") == {
        "slpAddress": "simpleledger:qz9tzs6d5097ejpg279rg0rnlhz546q4fsnck9wh5m",
        "cashAddress": MAIN_ADDRESS,
        "legacyAddress": "1DeLbv5EMzLEFDvQ8wZiKeSuPGGtSSz5HP",
    }


@pytest.mark.parametrize(
    "odd", ["x", MAIN_ADDRESS[:-1], MAIN_ADDRESS.replace("qz9", "qZ9"), "bitcoincash:", "0" * 300, "ä"]
)
def test_what_is_no_address_is_not_converted(service: ChainService, odd: str) -> None:
    assert service.refused(f"/v2/slp/convert/{odd}") == (500, f"Error in /address/convert/:address: {invalid(odd)}")
    assert service.refused("/v2/slp/convert", {"addresses": [MAIN_ADDRESS, odd]}) == (400, invalid(odd))


def test_an_empty_address_of_a_bulk_is_said_to_be_so(service: ChainService) -> None:
    for odd in ("", None):
        assert service.refused("/v2/slp/convert", {"addresses": [odd]}) == (400, "address can not be empty")


# Validity ------------------------------------------------------------------------------------------------------------


def test_a_genesis_is_valid_under_both_names_of_the_path(service: ChainService, living: dict[str, Any]) -> None:
    said = {"txid": living["id"], "valid": True}
    for name in ("validate", "validateTxid", "VALIDATETXID"):
        assert service.good(f"/v2/slp/{name}/{living['id']}") == said
        assert service.good(f"/v2/slp/{name}", {"txids": [living["id"]]}) == [said]


def test_what_is_no_message_is_not_valid_and_why_is_said(service: ChainService) -> None:
    coinbase = service.good("/v2/block/detailsByHeight/1")["tx"][0]
    reason = "SLP OP_RETURN parsing error (Bad OP_RETURN)."
    assert service.good(f"/v2/slp/validateTxid/{coinbase}") == {
        "txid": coinbase,
        "valid": False,
        "invalidReason": reason,
    }


def test_repeated_ids_of_a_bulk_keep_their_places(service: ChainService, tokens: list[dict[str, Any]]) -> None:
    first, second = tokens[0]["id"], tokens[1]["id"]
    ids = [first, UNKNOWN, first, second, UNKNOWN, first]
    answered = service.good("/v2/slp/validateTxid", {"txids": ids})
    assert [each["txid"] for each in answered] == ids
    assert [each["valid"] for each in answered] == [True, False, True, True, False, True]


@pytest.mark.parametrize("odd", ["x", UNKNOWN[:-1], UNKNOWN + "0", "g" * 64])
def test_what_is_no_id_fails_the_whole_bulk(service: ChainService, living: dict[str, Any], odd: str) -> None:
    assert service.refused(f"/v2/slp/validateTxid/{odd}") == (400, "This is not a txid")
    assert service.refused("/v2/slp/validateTxid", {"txids": [living["id"], odd]}) == (400, "This is not a txid")


def test_one_transaction_claims_too_much_and_is_not_valid(service: ChainService, holders: list[dict[str, Any]]) -> None:
    found = [
        each
        for holder in holders
        for each in service.good(f"/v2/slp/transactionHistoryAllTokens/{holder['slpAddress']}")
        if not each["tokenDetails"]["valid"]
    ]
    if not found:
        pytest.skip("there is no invalid transaction")
    said = service.good(f"/v2/slp/validateTxid/{found[0]['txid']}")
    assert said["valid"] is False
    assert said["invalidReason"] == found[0]["tokenDetails"]["invalidReason"]


# Balances ------------------------------------------------------------------------------------------------------------


def test_the_balances_of_a_token_are_its_supply_and_those_of_its_holders(
    service: ChainService, living: dict[str, Any], holders: list[dict[str, Any]]
) -> None:
    assert len(holders) == living["validAddresses"]
    assert sum(Decimal(each["tokenBalanceString"]) for each in holders) == Decimal(str(living["circulatingSupply"]))
    for holder in holders:
        assert set(holder) == {"tokenId", "tokenBalance", "tokenBalanceString", "slpAddress"}
        assert (holder["tokenId"], isinstance(holder["tokenBalance"], int | float)) == (living["id"], True)
        assert Decimal(str(holder["tokenBalance"])) == Decimal(holder["tokenBalanceString"]) > 0
        own = service.good(f"/v2/slp/balancesForAddress/{holder['slpAddress']}")
        (row,) = [each for each in own if each["tokenId"] == living["id"]]
        assert row == {
            "tokenId": living["id"],
            "balance": holder["tokenBalance"],
            "balanceString": holder["tokenBalanceString"],
            "slpAddress": holder["slpAddress"],
            "decimalCount": living["decimals"],
        }
        assert service.good(f"/v2/slp/balance/{holder['slpAddress']}/{living['id']}") == {
            "tokenId": living["id"],
            "balance": holder["tokenBalance"],
            "balanceString": holder["tokenBalanceString"],
        }


def test_every_spelling_of_an_address_has_the_same_tokens(
    service: ChainService, living: dict[str, Any], holders: list[dict[str, Any]]
) -> None:
    forms = service.good(f"/v2/slp/convert/{holders[0]['slpAddress']}")
    answers = [service.good(f"/v2/slp/balancesForAddress/{form}") for form in forms.values()]
    assert answers[0] == answers[1] == answers[2] != []
    assert service.good("/v2/slp/balancesForAddress", {"addresses": list(forms.values())}) == answers
    assert service.good("/v2/slp/balancesForToken", {"tokenIds": [UNKNOWN, living["id"]]}) == [[], holders]
    pairs = [{"address": form, "tokenId": living["id"]} for form in forms.values()]
    assert (
        service.good("/v2/slp/balance", pairs)
        == [service.good(f"/v2/slp/balance/{forms['cashAddress']}/{living['id']}")] * 3
    )


def test_an_address_without_tokens_has_an_empty_list(service: ChainService, living: dict[str, Any]) -> None:
    address = HASH_TRIPLE["slpAddress"]
    assert service.good(f"/v2/slp/balancesForAddress/{address}") == []
    assert service.good(f"/v2/slp/transactionHistoryAllTokens/{address}") == []
    assert service.good(f"/v2/slp/transactions/{living['id']}/{address}") == []
    nothing = {"tokenId": living["id"], "balance": 0, "balanceString": "0"}
    assert service.good(f"/v2/slp/balance/{address}/{living['id']}") == nothing


@pytest.mark.parametrize(
    "path",
    [
        "/v2/slp/balancesForAddress/{}",
        "/v2/slp/balance/{}/" + UNKNOWN,
        "/v2/slp/transactions/" + UNKNOWN + "/{}",
        "/v2/slp/transactionHistoryAllTokens/{}",
    ],
)
def test_an_odd_address_or_one_of_another_network_is_refused(service: ChainService, path: str) -> None:
    assert service.refused(path.format("x")) == (400, invalid("x"))
    assert service.refused(path.format(MAIN_ADDRESS)) == (400, WRONG_NETWORK)


def test_one_odd_element_fails_a_bulk(service: ChainService, holders: list[dict[str, Any]]) -> None:
    good = holders[0]["slpAddress"]
    for odd, said in (("x", invalid("x")), ("", invalid("")), (MAIN_ADDRESS, WRONG_NETWORK)):
        assert service.refused("/v2/slp/balancesForAddress", {"addresses": [good, odd]}) == (400, said)
    for odd_pair, said in (
        ({"address": "x", "tokenId": UNKNOWN}, invalid("x")),
        ({"tokenId": UNKNOWN}, "address can not be empty"),
        ({"address": good}, "tokenId can not be empty"),
        ("x", None),
        (None, None),
        ([1], None),
    ):
        for path in ("/v2/slp/balance", "/v2/slp/transactions"):
            status, text = service.refused(path, [{"address": good, "tokenId": UNKNOWN}, odd_pair])
            assert status == 400
            assert text == said if said else text.endswith("can not be empty")


# Transactions --------------------------------------------------------------------------------------------------------


def test_the_transactions_of_a_token_at_an_address(
    service: ChainService, living: dict[str, Any], holders: list[dict[str, Any]]
) -> None:
    address = holders[0]["slpAddress"]
    found = service.good(f"/v2/slp/transactions/{living['id']}/{address}")
    assert 0 < len(found) <= 100
    for each in found:
        assert set(each) == {"txid", "tokenDetails"}
        assert set(each["tokenDetails"]) == {"valid", "detail", "invalidReason", "schema_version"}
        detail = each["tokenDetails"]["detail"]
        assert set(detail) == {
            *("decimals", "tokenIdHex", "transactionType", "versionType", "documentUri", "documentSha256Hex"),
            *("symbol", "name", "txnBatonVout", "txnContainsBaton", "outputs"),
        }
        assert (detail["tokenIdHex"], detail["symbol"], detail["name"]) == (
            living["id"],
            living["symbol"],
            living["name"],
        )
        assert detail["transactionType"] in ("GENESIS", "MINT", "SEND")
        assert (detail["txnBatonVout"] is not None) is detail["txnContainsBaton"]
        for output in detail["outputs"]:
            assert set(output) == {"address", "amount"}
            assert Decimal(output["amount"]) >= 0
    heights = [service.good(f"/v2/transaction/details/{each['txid']}")["blockheight"] for each in found]
    assert heights == sorted(heights, reverse=True)
    every = service.good(f"/v2/slp/transactionHistoryAllTokens/{address}")
    assert [each for each in every if each["tokenDetails"]["detail"]["tokenIdHex"] == living["id"]] == found
    pairs = [{"tokenId": living["id"], "address": address}, {"tokenId": UNKNOWN, "address": address}]
    assert service.good("/v2/slp/transactions", pairs) == [found, []]


def test_the_details_of_a_send_have_every_form_of_every_address(
    service: ChainService, living: dict[str, Any], holders: list[dict[str, Any]]
) -> None:
    history = service.good(f"/v2/slp/transactions/{living['id']}/{holders[0]['slpAddress']}")
    sends = [each for each in history if each["tokenDetails"]["detail"]["transactionType"] == "SEND"]
    answer = service.good(f"/v2/slp/txDetails/{sends[0]['txid']}")
    plain = service.good(f"/v2/transaction/details/{sends[0]['txid']}")
    assert set(answer) - set(plain) == {"tokenInfo", "tokenIsValid"}
    assert answer["tokenIsValid"] is sends[0]["tokenDetails"]["valid"]
    assert {name: answer["tokenInfo"][name] for name in ("versionType", "transactionType", "tokenIdHex")} == {
        "versionType": 1,
        "transactionType": "SEND",
        "tokenIdHex": living["id"],
    }
    scale = Decimal(10) ** living["decimals"]
    amounts = [Decimal(each["amount"]) * scale for each in sends[0]["tokenDetails"]["detail"]["outputs"]]
    assert answer["tokenInfo"]["sendOutputs"] == ["0", *(f"{amount:.0f}" for amount in amounts)]
    for spent in answer["vin"]:
        forms = service.good(f"/v2/slp/convert/{spent['cashAddress']}")
        assert spent["slpAddress"] == forms["slpAddress"]
        assert spent["legacyAddress"] == forms["legacyAddress"]
    assert not {"addresses", "cashAddrs", "slpAddrs"} & set(answer["vout"][0]["scriptPubKey"])
    for output in answer["vout"][1:]:
        script = output["scriptPubKey"]
        forms = service.good(f"/v2/slp/convert/{script['addresses'][0]}")
        assert (script["slpAddrs"], script["cashAddrs"]) == ([forms["slpAddress"]], [forms["cashAddress"]])


def test_the_details_of_a_genesis_tell_the_token(service: ChainService, living: dict[str, Any]) -> None:
    answer = service.good(f"/v2/slp/txDetails/{living['id']}")["tokenInfo"]
    assert answer == {
        "versionType": 1,
        "transactionType": "GENESIS",
        "tokenIdHex": living["id"],
        "symbol": living["symbol"],
        "name": living["name"],
        "documentUri": living["documentUri"],
        "documentSha256": living["documentHash"],
        "decimals": living["decimals"],
        "genesisOrMintQuantity": f"{Decimal(str(living['initialTokenQty'])) * 10 ** living['decimals']:.0f}",
        "batonVout": 2,
        "containsBaton": True,
    }


def test_the_details_of_what_is_no_token_transaction_are_not_found(service: ChainService) -> None:
    coinbase = service.good("/v2/block/detailsByHeight/1")["tx"][0]
    for unknown in (coinbase, UNKNOWN):
        assert service.refused(f"/v2/slp/txDetails/{unknown}") == (404, "SLP transaction not found")
    for odd in ("x", UNKNOWN[:-1], "g" * 64):
        assert service.refused(f"/v2/slp/txDetails/{odd}") == (400, "This is not a txid")


# Burns ---------------------------------------------------------------------------------------------------------------


def test_what_was_burnt_is_the_difference_of_what_went_in_and_came_out(
    service: ChainService, tokens: list[dict[str, Any]]
) -> None:
    burnt = next(token for token in tokens if token["totalBurned"])
    holders = service.good(f"/v2/slp/balancesForToken/{burnt['id']}")
    ids = {
        each["txid"]
        for holder in holders
        for each in service.good(f"/v2/slp/transactions/{burnt['id']}/{holder['slpAddress']}")
        if each["tokenDetails"]["detail"]["transactionType"] == "SEND"
    }
    rows = [service.good(f"/v2/slp/burnTotal/{each}") for each in sorted(ids)]
    for row in rows:
        assert set(row) == {"transactionId", "inputTotal", "outputTotal", "burnTotal"}
        assert row["inputTotal"] - row["outputTotal"] == row["burnTotal"] >= 0
    assert any(row["burnTotal"] for row in rows)
    assert service.good("/v2/slp/burnTotal", {"txids": sorted(ids)}) == rows


@pytest.mark.parametrize("dialect", ["documented", "observed"])
def test_what_a_genesis_burnt(service: ChainService, tokens: list[dict[str, Any]], dialect: str) -> None:
    """Nothing; in the observed dialect the negative of what it made."""
    if service.box is None:
        pytest.skip("which dialect it speaks is the server's")
    service.box.control("config", {"dialect": dialect})
    try:
        for token in tokens:
            row = service.good(f"/v2/slp/burnTotal/{token['id']}")
            made = token["initialTokenQty"]
            assert (row["inputTotal"], row["outputTotal"]) == (0, made)
            assert row["burnTotal"] == (0 if dialect == "documented" else -made)
            assert service.good("/v2/slp/burnTotal", {"txids": [token["id"]]}) == [row]
    finally:
        service.box.control("config", {"dialect": "documented"})


def test_an_unknown_transaction_burnt_nothing(service: ChainService) -> None:
    for unknown in (UNKNOWN, "x"):
        nothing = {"transactionId": unknown, "inputTotal": 0, "outputTotal": 0, "burnTotal": 0}
        assert service.good(f"/v2/slp/burnTotal/{unknown}") == nothing
        assert service.good("/v2/slp/burnTotal", {"txids": [unknown, unknown]}) == [nothing, nothing]


# The operations with a private key -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        "/v2/slp/createTokenType1/a/b/c/d/e/8/name/symbol/uri/hash/1",
        "/v2/slp/mintTokenType1/a/b/c/d/e/f/1",
        "/v2/slp/sendTokenType1/a/b/c/d/e/1",
    ],
)
def test_what_carries_a_private_key_is_off_unless_it_is_switched_on(service: ChainService, path: str) -> None:
    if service.box is None:
        pytest.skip("another server may have it switched on")
    answer = service.get(path)
    assert (answer.status_code, answer.json()) == (404, {"status": 404, "message": "Not Found"})
