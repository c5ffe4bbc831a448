"""The contract of the token-data group, written from the documents alone: literal addresses, members and texts.

`--target URL` asks another server; what its chain does not have is passed over there, never in the sandbox.
"""

import re
from decimal import Decimal
from typing import Any
from urllib.parse import unquote

import pytest

from tests.sandbox.chain.conftest import ChainService

HASH = re.compile("[0-9a-f]{64}")
SOMEBODY = "bchtest:qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap"  # the documented vector; it holds nothing
SPELLINGS = (
    SOMEBODY,
    "qpm2qsznhks23z7629mms6s4cwef74vcwvqcw003ap",
    "BCHTEST:QPM2QSZNHKS23Z7629MMS6S4CWEF74VCWVQCW003AP",
    "bchreg:qpm2qsznhks23z7629mms6s4cwef74vcwv6ycwvz78",
    "slptest:qpm2qsznhks23z7629mms6s4cwef74vcwvmvf54x0u",
    "mrLC19Je2BuWQDkWSTriGYPyQJXKkkBmCx",
)
NO_SUCH = "00" * 31 + "01"
CROWDSALE = [
    *("propertyid", "name", "active", "issuer", "propertyiddesired", "precision", "tokensperunit", "earlybonus"),
    *("starttime", "deadline", "amountraised", "tokensissued", "addedissuertokens"),
]
HEAD = ["txid", "fee", "sendingaddress", "referenceaddress", "ismine", "version", "type_int", "type"]
TAIL = ["blockhash", "blocktime", "positioninblock", "block", "confirmations"]
TEXTS = ["category", "subcategory", "propertyname", "data", "url"]
ABOUT = ["propertyid", "precision"]
MEMBERS = {
    "Simple Send": [*ABOUT, "amount"],
    "Crowdsale Purchase": [
        *(*ABOUT, "amount", "actualInvested", "purchasedpropertyid", "purchasedpropertyname"),
        *("purchasedpropertyprecision", "purchasedtokens", "issuertokens"),
    ],
    "Send To Owners": [*ABOUT, "amount"],
    "Send All": ["ecosystem", "subsends"],
    "Create Property - Fixed": [*ABOUT, "ecosystem", *TEXTS, "amount"],
    "Create Property - Variable": [
        *(*ABOUT, "ecosystem", *TEXTS, "propertyiddesired", "tokensperunit", "deadline", "earlybonus", "amount"),
    ],
    "Create Property - Manual": [*ABOUT, "ecosystem", *TEXTS, "amount"],
    "Close Crowdsale": ABOUT,
    "Grant Property Tokens": [*ABOUT, "amount"],
    "Revoke Property Tokens": [*ABOUT, "amount"],
    "Change Issuer Address": ABOUT,
    "Freeze Property Tokens": ["propertyid", "amount"],
    "Unfreeze Property Tokens": ["propertyid", "amount"],
    "Burn BCH Get WHC": ["propertyid", "mature", "amount"],
    "Issue ERC721 Property": ["action", "erc721propertyid"],
    "Issue ERC721 Token": ["action", "erc721propertyid", "erc721tokenid"],
    "Transfer ERc721 Token": ["action", "erc721propertyid", "erc721tokenid"],
    "Destroy ERC721 Token": ["action", "erc721propertyid", "erc721tokenid"],
}
WITHOUT_REFERENCE = {
    *("Send To Owners", "Create Property - Fixed", "Create Property - Variable", "Create Property - Manual"),
    *("Close Crowdsale", "Revoke Property Tokens"),
}


def is_amount(text: object, precision: int) -> bool:
    places = rf"\.[0-9]{{{precision}}}" if precision else ""
    return isinstance(text, str) and re.fullmatch(rf"(0|[1-9][0-9]*){places}", text) is not None


def is_cash(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch(r"(bchtest|bchreg|bitcoincash):[qp][0-9a-z]{41}", text) is not None


@pytest.fixture(scope="module")
def properties(service: ChainService) -> list[dict[str, Any]]:
    """All about each property of the chain."""
    listed = service.good("/v2/dataRetrieval/properties")
    return [service.good(f"/v2/dataRetrieval/property/{each['propertyid']}") for each in listed[:30]]


@pytest.fixture(scope="module")
def transactions(service: ChainService) -> list[dict[str, Any]]:
    """The transactions of the last blocks that have some."""
    tip = service.good("/v2/dataRetrieval/info")["block"]
    heights = service.good(f"/v2/dataRetrieval/seedBlocks/{max(0, tip - 2_000)}/{tip}")
    found = []
    for height in heights[-60:]:
        for txid in service.good(f"/v2/dataRetrieval/blockTransactions/{height}"):
            found.append(service.good(f"/v2/dataRetrieval/transaction/{txid}"))
            assert (found[-1]["txid"], found[-1]["block"]) == (txid, height)
    return found


def holding(service: ChainService, about: dict[str, Any]) -> tuple[str, str]:
    """Somebody who holds something of a property, and how much."""
    rows = service.good(f"/v2/dataRetrieval/balancesForId/{about['propertyid']}")
    if not rows:
        pytest.skip("nobody holds anything")
    return rows[0]["address"], rows[0]["balance"]


def one(properties: list[dict[str, Any]], wanted: str, service: ChainService) -> dict[str, Any]:
    found = [each for each in properties if each[wanted]]
    if not found and service.box is None:
        pytest.skip("the chain has no such property")
    return found[0]


# Properties ----------------------------------------------------------------------------------------------------------


def test_the_list_holds_every_property_by_number_whatever_is_asked(service: ChainService) -> None:
    listed = service.good("/v2/dataRetrieval/properties")
    assert [list(each) for each in listed] == [
        ["propertyid", "name", "category", "subcategory", "data", "url", "precision"]
    ] * len(listed)
    ids = [each["propertyid"] for each in listed]
    assert ids == sorted(ids)
    assert ids[0] == 1
    assert 2 not in ids
    assert all(isinstance(each["precision"], int) for each in listed)
    for query in ("address=*&count=10&skip=0&startBlock=0&endBlock=9999999", "count=1&skip=9", "count=x&address=%20"):
        assert service.good(f"/v2/dataRetrieval/properties?{query}") == listed


def test_the_first_property_is_what_coins_are_burnt_for(service: ChainService) -> None:
    first = service.good("/v2/dataRetrieval/property/1")
    assert list(first) == [
        *("propertyid", "name", "category", "subcategory", "data", "url", "precision", "issuer", "creationtxid"),
        *("fixedissuance", "managedissuance", "totaltokens"),
    ]
    data, issuer, total = first.pop("data"), first.pop("issuer"), first.pop("totaltokens")
    assert first == {
        "propertyid": 1,
        "name": "WHC",
        "category": "N/A",
        "subcategory": "N/A",
        "url": "http://www.wormhole.cash",
        "precision": 8,
        "creationtxid": "0" * 64,
        "fixedissuance": False,
        "managedissuance": False,
    }
    assert isinstance(data, str)
    assert is_cash(issuer)
    rows = service.good("/v2/dataRetrieval/balancesForId/1")
    assert sum(Decimal(row["balance"]) for row in rows) == Decimal(total)
    assert issuer in {row["address"] for row in rows}, "creations are paid to the burn address"


def test_properties_tell_their_kind_and_total(service: ChainService, properties: list[dict[str, Any]]) -> None:
    for each in properties:
        precision = each["precision"]
        assert is_amount(each["totaltokens"], precision)
        assert is_cash(each["issuer"])
        assert HASH.fullmatch(each["creationtxid"])
        assert ("freezingenabled" in each) == each["managedissuance"]
        assert not (each["fixedissuance"] and each["managedissuance"])
        rows = service.good(f"/v2/dataRetrieval/balancesForId/{each['propertyid']}")
        held = sum((Decimal(row["balance"]) for row in rows), Decimal(0))
        if each["fixedissuance"] or each["managedissuance"]:
            assert held == Decimal(each["totaltokens"])
        assert held <= Decimal(each["totaltokens"])
    assert list(one(properties, "managedissuance", service))[-3:] == [
        "managedissuance",
        "freezingenabled",
        "totaltokens",
    ]


def test_grants_and_revocations_stand_by_their_ids(service: ChainService, properties: list[dict[str, Any]]) -> None:
    about = one(properties, "managedissuance", service)
    grants = service.good(f"/v2/dataRetrieval/grants/{about['propertyid']}")
    assert list(grants) == ["propertyid", "name", "issuer", "creationtxid", "totaltokens", "issuances"]
    for name in ("propertyid", "name", "issuer", "creationtxid", "totaltokens"):
        assert grants[name] == about[name]
    issuances = grants["issuances"]
    assert [each["txid"] for each in issuances] == sorted(each["txid"] for each in issuances)
    assert all(set(each) in ({"txid", "grant"}, {"txid", "revoke"}) for each in issuances)
    total = sum(Decimal(each.get("grant", 0)) - Decimal(each.get("revoke", 0)) for each in issuances)
    assert total == Decimal(about["totaltokens"])


def sales(service: ChainService, properties: list[dict[str, Any]]) -> list[dict[str, Any]]:
    sold = [each for each in properties[1:] if not each["fixedissuance"] and not each["managedissuance"]]
    if not sold and service.box is None:
        pytest.skip("the chain has no crowdsale")
    return [service.good(f"/v2/dataRetrieval/crowdSale/{each['propertyid']}?verbose=true") for each in sold]


def test_a_sale_tells_what_was_raised_and_how_it_ended(service: ChainService, properties: list[dict[str, Any]]) -> None:
    found = sales(service, properties)
    assert found
    for sale in found:
        precision = int(sale["precision"])
        assert list(sale)[: len(CROWDSALE)] == CROWDSALE
        assert isinstance(sale["precision"], str)
        assert isinstance(sale["active"], bool)
        assert is_amount(sale["tokensperunit"], 8)
        assert is_amount(sale["amountraised"], 8)
        assert is_amount(sale["tokensissued"], precision)
        assert is_amount(sale["addedissuertokens"], precision)
        assert ("closedearly" in sale) == ("maxtokens" in sale) == (not sale["active"])
        assert ("endedtime" in sale) == sale.get("closedearly", False)
        bought = sale["participanttransactions"]
        assert all(list(each) == ["txid", "amountsent", "participanttokens"] for each in bought)
        assert sum(Decimal(each["amountsent"]) for each in bought) == Decimal(sale["amountraised"])
        blocks = [service.good(f"/v2/dataRetrieval/transaction/{each['txid']}")["blocktime"] for each in bought]
        ordered = [(time_s, each["txid"]) for time_s, each in zip(blocks, bought, strict=True)]
        assert ordered == sorted(ordered)
        tokens = sum(Decimal(each["participanttokens"]) for each in bought)
        if not sale["active"]:
            assert tokens + Decimal(sale["addedissuertokens"]) == Decimal(sale["tokensissued"])
        shorter = service.good(f"/v2/dataRetrieval/crowdSale/{sale['propertyid']}")
        assert "participanttransactions" not in shorter
        assert shorter == {name: value for name, value in sale.items() if name != "participanttransactions"}
    if service.box is not None:
        assert [(sale["active"], sale.get("maxtokens"), "closetx" in sale) for sale in found] == [
            (False, False, True),
            (True, None, False),
            (False, True, False),
        ]


# Balances ------------------------------------------------------------------------------------------------------------


def test_a_balance_is_the_same_from_every_side(service: ChainService, properties: list[dict[str, Any]]) -> None:
    for about in properties[:5]:
        property_id, precision = about["propertyid"], about["precision"]
        address, balance = holding(service, about)
        nothing = "0." + "0" * precision if precision else "0"
        assert is_amount(balance, precision)
        alone = service.good(f"/v2/dataRetrieval/balance/{address}/{property_id}")
        assert alone == {"balance": balance, "reserved": nothing}
        of_address = service.good(f"/v2/dataRetrieval/balancesForAddress/{address}")
        assert {"propertyid": property_id, **alone} in of_address
        of_property = service.good(f"/v2/dataRetrieval/balancesForId/{property_id}")
        assert {"address": address, **alone} in of_property
        assert [row["address"] for row in of_property] == sorted(row["address"] for row in of_property)


def test_an_address_without_tokens_is_told_so(service: ChainService) -> None:
    for spelled in SPELLINGS:
        assert service.good(f"/v2/dataRetrieval/balancesForAddress/{spelled}") == "No tokens found."
        assert service.good(f"/v2/dataRetrieval/balance/{spelled}/1") == {
            "balance": "0.00000000",
            "reserved": "0.00000000",
        }
        assert service.good(f"/v2/dataRetrieval/pendingTransactions/{spelled}") == []
        assert service.good(f"/v2/dataRetrieval/pendingTransactions?address={spelled}") == []
        assert service.good(f"/v2/dataRetrieval/frozenBalanceForAddress/{spelled}") == []


def test_frozen_balances_are_told_of_managed_properties(
    service: ChainService, properties: list[dict[str, Any]]
) -> None:
    about = one(properties, "managedissuance", service)
    property_id = about["propertyid"]
    frozen = service.good(f"/v2/dataRetrieval/frozenBalanceForId/{property_id}")
    assert frozen or service.box is None
    for row in frozen:
        assert list(row) == ["address", "balance"]
        alone = service.good(f"/v2/dataRetrieval/frozenBalance/{row['address']}/{property_id}")
        assert alone == {"frozen": True, "balance": row["balance"]}
        of_address = service.good(f"/v2/dataRetrieval/frozenBalanceForAddress/{row['address']}")
        assert {"propertyid": property_id, "balance": row["balance"]} in of_address
        assert service.good(f"/v2/dataRetrieval/balance/{row['address']}/{property_id}")["balance"] == row["balance"]
    free = service.good(f"/v2/dataRetrieval/frozenBalance/{SOMEBODY}/{property_id}")
    assert (free["frozen"], Decimal(free["balance"])) == (False, 0)


# The layer -----------------------------------------------------------------------------------------------------------


def test_the_layer_tells_its_versions_and_counts(service: ChainService) -> None:
    about = service.good("/v2/dataRetrieval/info")
    assert (about["tokenprotocolversion_int"], about["tokenprotocolversion"]) == (20001000, "0.2.1")
    assert about["nodesoftwareversion"] == "0.18.2"
    assert (about["wormholeversion_int"], about["wormholeversion"]) == (20001000, "0.2.1")
    assert about["bitcoincoreversion"] == "0.18.2"
    assert about["alerts"] == []
    height = service.good("/v2/blockchain/getBlockCount")
    assert height - 1 <= about["block"] <= height
    assert len(service.good(f"/v2/dataRetrieval/blockTransactions/{about['block']}")) == about["blocktransactions"]
    assert about["totaltransactions"] >= about["blocktransactions"]


def test_the_digests_name_the_block_that_they_are_of(service: ChainService) -> None:
    whole = service.good("/v2/dataRetrieval/currentConsensusHash")
    assert list(whole) == ["block", "blockhash", "consensushash"]
    part = service.good("/v2/dataRetrieval/balancesHash/1")
    assert list(part) == ["block", "blockhash", "propertyid", "balanceshash"]
    for each in (whole["blockhash"], whole["consensushash"], part["blockhash"], part["balanceshash"]):
        assert HASH.fullmatch(each)
    assert service.good(f"/v2/block/detailsByHeight/{whole['block']}")["hash"] == whole["blockhash"]


def test_the_blocks_with_transactions_are_found(service: ChainService) -> None:
    tip = service.good("/v2/dataRetrieval/info")["block"]
    heights = service.good(f"/v2/dataRetrieval/seedBlocks/0/{tip}")
    assert heights == sorted(set(heights))
    if heights:
        assert service.good(f"/v2/dataRetrieval/seedBlocks/{heights[0]}/{heights[0]}") == [heights[0]]
        assert service.good(f"/v2/dataRetrieval/seedBlocks/{heights[0]}/{heights[0] - 1}") == []
    assert service.good("/v2/dataRetrieval/blockTransactions/0") == []
    assert service.good("/v2/dataRetrieval/seedBlocks/0/0") == []


# Transactions --------------------------------------------------------------------------------------------------------


def test_every_type_has_its_members_in_their_order(service: ChainService, transactions: list[dict[str, Any]]) -> None:
    assert {each["type"] for each in transactions} == set(MEMBERS) or service.box is None
    for each in transactions:
        head = [name for name in HEAD if name != "referenceaddress" or each["type"] not in WITHOUT_REFERENCE]
        reason = [] if each["valid"] else ["invalidreason"]
        members = MEMBERS[each["type"]]
        if not each["valid"]:
            members = [name for name in members if name in each]
        assert list(each) == [*head, *members, "valid", *reason, *TAIL]
        assert re.fullmatch("[0-9]+", each["fee"])
        assert (each["ismine"], each["version"]) == (False, 0)
        assert is_cash(each["sendingaddress"])
        assert each["confirmations"] >= 1


def test_transactions_agree_with_their_blocks(service: ChainService, transactions: list[dict[str, Any]]) -> None:
    for each in transactions[-5:]:
        block = service.good(f"/v2/block/detailsByHeight/{each['block']}")
        assert (block["hash"], block["time"]) == (each["blockhash"], each["blocktime"])
        assert block["tx"][each["positioninblock"]] == each["txid"]
        details = service.good(f"/v2/transaction/details/{each['txid']}")
        assert Decimal(str(details["fees"])) * 10**8 == Decimal(each["fee"])
        payload = service.good(f"/v2/dataRetrieval/payload/{each['txid']}")
        assert list(payload) == ["payload", "payloadsize"]
        assert len(payload["payload"]) == 2 * payload["payloadsize"]
        assert payload["payload"].startswith(f"0000{each['type_int']:04x}")
        scripts = [output["scriptPubKey"]["hex"] for output in details["vout"]]
        assert any(script.startswith("6a") and "08776863" + payload["payload"] in script for script in scripts)


def test_precisions_are_texts_and_amounts_have_as_many_places(transactions: list[dict[str, Any]]) -> None:
    for each in transactions:
        for name in ("precision", "purchasedpropertyprecision"):
            assert isinstance(each.get(name, ""), str)
        if "precision" in each and "amount" in each:
            assert is_amount(each["amount"], int(each["precision"]))
        if "purchasedtokens" in each:
            assert is_amount(each["purchasedtokens"], int(each["purchasedpropertyprecision"]))
            assert is_amount(each["actualInvested"], 8)
            assert Decimal(each["actualInvested"]) <= Decimal(each["amount"])
            assert Decimal(each["issuertokens"]) == 0
        for sent in each.get("subsends", ()):
            assert list(sent) == ["propertyid", "precision", "amount"]
            assert is_amount(sent["amount"], int(sent["precision"]))
        if each["type"].startswith("Create") or each["type"] == "Send All":
            assert each["ecosystem"] == "main"


def test_a_send_to_owners_tells_whom_it_reached(service: ChainService, transactions: list[dict[str, Any]]) -> None:
    sent = [each for each in transactions if each["type"] == "Send To Owners" and each["valid"]]
    assert sent or service.box is None
    for each in sent:
        whole = service.good(f"/v2/dataRetrieval/STO/{each['txid']}/*")
        assert list(whole) == [*each, "totalstofee", "recipients"]
        recipients = whole["recipients"]
        assert Decimal(whole["totalstofee"]) == Decimal(len(recipients)).scaleb(-8)
        assert is_amount(whole["totalstofee"], 8)
        assert sum(Decimal(row["amount"]) for row in recipients) == Decimal(each["amount"])
        alone = service.good(f"/v2/dataRetrieval/STO/{each['txid']}/{recipients[0]['address']}")
        assert alone == whole | {"recipients": recipients[:1]}
        assert service.good(f"/v2/dataRetrieval/STO/{each['txid']}/{SOMEBODY}")["recipients"] == []
    other = next(each for each in transactions if each["type"] != "Send To Owners")
    plain = service.good(f"/v2/dataRetrieval/STO/{other['txid']}/*")
    assert {**plain, "confirmations": 0} == {**other, "confirmations": 0}


def test_what_is_not_valid_says_why(service: ChainService, transactions: list[dict[str, Any]]) -> None:
    reasons = {each["invalidreason"] for each in transactions if not each["valid"]}
    if service.box is not None:
        assert reasons >= {
            "Sender has insufficient balance",
            "Sender is frozen for the property",
            "Sender is not the issuer of the property",
            "Property does not exist",
            "the receive address no have active crowd property",
            "burn BCH is less 1 BCH",
        }


def test_a_waiting_transaction_is_pending_for_both_sides(service: ChainService) -> None:
    waiting = []
    for txid in service.good("/v2/blockchain/getRawMempool"):
        answer = service.get(f"/v2/dataRetrieval/transaction/{txid}")
        if answer.status_code == 200 and answer.json()["confirmations"] == 0:
            waiting.append(answer.json())
    assert waiting or service.box is None
    for each in waiting:
        assert not {"valid", "blockhash", "blocktime", "positioninblock", "block"} & set(each)
        assert list(each)[-1] == "confirmations"
        for side in ("sendingaddress", "referenceaddress"):
            assert each in service.good(f"/v2/dataRetrieval/pendingTransactions/{each[side]}")


# Collectibles --------------------------------------------------------------------------------------------------------


def test_collectibles_of_a_family(service: ChainService) -> None:
    answer = service.get("/v2/dataRetrieval/ERC721PropertyNews/1")
    if answer.status_code != 200 and service.box is None:
        pytest.skip("the chain has no collectibles")
    family = answer.json()
    assert list(family) == [
        *("propertyid", "owner", "creationtxid", "creationblock", "name", "symbol", "data", "propertyurl"),
        *("totalTokenNumber", "haveIssuedNumber", "currentValidIssuedNumer"),
    ]
    assert family["propertyid"] == "1"
    assert service.good("/v2/dataRetrieval/ERC721PropertyNews/0x01") == family
    assert service.good(f"/v2/dataRetrieval/ERC721PropertyNews/0x{'0' * 63}1") == family
    destroyed = service.good("/v2/dataRetrieval/ERC721PropertyDestroyTokens/1")
    assert family["haveIssuedNumber"] - len(destroyed) == family["currentValidIssuedNumer"]
    assert family["haveIssuedNumber"] <= family["totalTokenNumber"]
    for row in destroyed:
        assert list(row) == ["tokenid", "attribute", "tokenurl", "creationtxid"]
    token = service.good("/v2/dataRetrieval/ERC721TokenNews/1/1")
    for made in (family, token):
        block = service.good(f"/v2/block/detailsByHash/{made['creationblock']}")
        assert made["creationtxid"] in block["tx"]
    assert all(re.fullmatch("[0-9a-f]{64}", row["attribute"]) for row in (token, *destroyed))
    assert list(token) == ["propertyid", "tokenid", "owner", "creationtxid", "creationblock", "attribute", "tokenurl"]
    assert service.good("/v2/dataRetrieval/ERC721TokenNews/0x1/0X1") == token
    owned = service.good(f"/v2/dataRetrieval/ERC721AddressTokens/{token['owner']}/1")
    assert {name: token[name] for name in ("tokenid", "attribute", "tokenurl", "creationtxid")} in owned
    assert service.good(f"/v2/dataRetrieval/ERC721AddressTokens/{SOMEBODY}/1") == []


# Refusals ------------------------------------------------------------------------------------------------------------

BY_PROPERTY = (
    f"balance/{SOMEBODY}/X",
    "balancesForId/X",
    "balancesHash/X",
    "crowdSale/X",
    "grants/X",
    "property/X",
    f"frozenBalance/{SOMEBODY}/X",
    "frozenBalanceForId/X",
)


@pytest.mark.parametrize("path", BY_PROPERTY)
def test_an_unknown_property_is_refused(service: ChainService, path: str) -> None:
    for text, said in (
        ("2", "Property identifier does not exist"),
        ("4294967295", "Property identifier does not exist"),
        ("0", "Property identifier is out of range"),
        ("-1", "Property identifier is out of range"),
        ("4294967296", "Property identifier is out of range"),
    ):
        assert service.refused("/v2/dataRetrieval/" + path.replace("X", text)) == (400, said)
    for text in ("abc", "1.5", "%20", "9" * 400, "%F0%9F%8D%9E"):
        assert service.refused("/v2/dataRetrieval/" + path.replace("X", text))[0] == 400


def test_a_property_of_another_kind_is_refused(service: ChainService) -> None:
    not_managed = "Property identifier does not refer to a managed property"
    assert service.refused("/v2/dataRetrieval/grants/1") == (400, not_managed)
    assert service.refused(f"/v2/dataRetrieval/frozenBalance/{SOMEBODY}/1") == (400, not_managed)
    assert service.refused("/v2/dataRetrieval/frozenBalanceForId/1") == (400, not_managed)
    said = "Property identifier does not refer to a crowdsale"
    assert service.refused("/v2/dataRetrieval/crowdSale/1") == (400, said)
    assert service.refused("/v2/dataRetrieval/crowdSale/1?verbose=true") == (400, said)


NO_ADDRESSES = (
    "x",
    SOMEBODY[:-1] + "q",
    SOMEBODY[:-1],
    SOMEBODY.replace("a", "A"),
    "bitcoincash:qpm2qsznhks23z7629mms6s4cwef74vcwvy22gdx6a",
    "1" * 300,
    "%E2%82%BF",
)


@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_here_is_refused_by_the_node(service: ChainService, address: str) -> None:
    refused = service.refused(f"/v2/dataRetrieval/balance/{address}/1")
    assert refused == (400, "Invalid address. Note: use cashAddress")


@pytest.mark.parametrize(
    "path",
    [
        *("balancesForAddress/X", "pendingTransactions/X", "frozenBalance/X/1"),
        *("frozenBalanceForAddress/X", "ERC721AddressTokens/X/1"),
    ],
)
@pytest.mark.parametrize("address", NO_ADDRESSES)
def test_what_is_no_address_here_is_refused_by_the_service(service: ChainService, path: str, address: str) -> None:
    """It looks at the address before the node does (supplement 10)."""
    said = f"Invalid BCH address. Double check your address is valid: {unquote(address)}"
    if address.startswith("bitcoincash:"):
        said = "Invalid network. Trying to use a testnet address on mainnet, or vice versa."
    assert service.refused("/v2/dataRetrieval/" + path.replace("X", address)) == (400, said)


@pytest.mark.parametrize("path", ["transaction/X", "payload/X", "STO/X/*"])
def test_what_is_no_transaction_of_the_layer_is_refused(service: ChainService, path: str) -> None:
    path = "/v2/dataRetrieval/" + path
    assert service.refused(path.replace("X", NO_SUCH)) == (400, "No information available about transaction")
    assert service.refused(path.replace("X", "0" * 64)) == (400, "No information available about transaction")
    tip = service.good("/v2/blockchain/getBestBlockHash")
    coinbase = service.good(f"/v2/block/detailsByHash/{tip}")["tx"][0]
    assert service.refused(path.replace("X", coinbase)) == (400, "Not a Wormhole Protocol transaction")
    for odd in ("abx", "zz" * 32, "x"):
        assert service.refused(path.replace("X", odd)) == (400, f"txid must be hexadecimal string (not '{odd}')")
    for odd in ("abcd", NO_SUCH + "00"):
        assert service.refused(path.replace("X", odd)) == (400, f"txid must be of length 64 (not {len(odd)})")


def test_the_filter_of_recipients_is_an_address_or_all(
    service: ChainService, transactions: list[dict[str, Any]]
) -> None:
    said = (400, "Invalid address. Note: use cashAddress")
    assert service.refused(f"/v2/dataRetrieval/STO/{transactions[0]['txid']}/nobody") == said
    assert service.get(f"/v2/dataRetrieval/STO/{transactions[0]['txid']}/").status_code == 404


@pytest.mark.parametrize("path", ["blockTransactions/X", "seedBlocks/X/1", "seedBlocks/1/X"])
def test_a_height_beyond_the_chain_is_refused(service: ChainService, path: str) -> None:
    for text in ("9999999", "-1", "2147483647", "-2147483648"):
        refused = service.refused("/v2/dataRetrieval/" + path.replace("X", text))
        assert refused == (400, "Block height is out of range")
    for text in ("2147483648", "-2147483649", "999999999999999999", "9" * 80):
        refused = service.refused("/v2/dataRetrieval/" + path.replace("X", text))
        assert refused == (400, "JSON integer out of range")
    refused = service.refused("/v2/dataRetrieval/" + path.replace("X", "ten"))
    assert refused == (400, "JSON value is not an integer as expected")


def test_unknown_collectibles_are_refused(service: ChainService) -> None:
    family = (400, "ERC721 property identifier does not exist")
    for text in ("999999", "0", "0x", "-1", "x", "9" * 79, "0x" + "f" * 65):
        assert service.refused(f"/v2/dataRetrieval/ERC721PropertyNews/{text}") == family
        assert service.refused(f"/v2/dataRetrieval/ERC721PropertyDestroyTokens/{text}") == family
        assert service.refused(f"/v2/dataRetrieval/ERC721TokenNews/{text}/1") == family
        assert service.refused(f"/v2/dataRetrieval/ERC721AddressTokens/{SOMEBODY}/{text}") == family
    if service.get("/v2/dataRetrieval/ERC721PropertyNews/1").status_code == 200:
        for text in ("999999", "0", "x", "0x" + "f" * 64):
            refused = service.refused(f"/v2/dataRetrieval/ERC721TokenNews/1/{text}")
            assert refused == (400, "ERC721 token identifier does not exist")
