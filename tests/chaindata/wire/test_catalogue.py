"""The rows of the chain-data service against the specification's own list, and the texts of its refusals."""

import typing

import msgspec
import pytest

from chaindata.wire import catalogue, refusals
from chaindata.wire.records import slp
from chaindata.wire.refusals import Case
from wire.operation import BadArgument, Body, Kind, Place, bind

# Transcribed from the specification, group by group: method, path after /v2, names of its input.
ROWS = """
GET  /blockchain/getBestBlockHash
GET  /blockchain/getBlockchainInfo
GET  /blockchain/getBlockCount
GET  /blockchain/getBlockHeader/{hash} hash verbose
GET  /blockchain/getBlockHeader hashes verbose
GET  /blockchain/getChainTips
GET  /blockchain/getDifficulty
GET  /blockchain/getMempoolEntry/{txid} txid
POST /blockchain/getMempoolEntry txids
GET  /blockchain/getMempoolInfo
GET  /blockchain/getRawMempool verbose
GET  /blockchain/getTxOut/{txid}/{n} txid n mempool
GET  /blockchain/getTxOutProof/{txid} txid
POST /blockchain/getTxOutProof txids
GET  /blockchain/verifyTxOutProof/{proof} proof
POST /blockchain/verifyTxOutProof proofs
GET  /dataRetrieval/balance/{address}/{propertyId} address propertyId
GET  /dataRetrieval/balancesForAddress/{address} address
GET  /dataRetrieval/balancesForId/{propertyId} propertyId
GET  /dataRetrieval/balancesHash/{propertyId} propertyId
GET  /dataRetrieval/crowdSale/{propertyId} propertyId verbose
GET  /dataRetrieval/currentConsensusHash
GET  /dataRetrieval/grants/{propertyId} propertyId
GET  /dataRetrieval/info
GET  /dataRetrieval/payload/{txid} txid
GET  /dataRetrieval/property/{propertyId} propertyId
GET  /dataRetrieval/seedBlocks/{startBlock}/{endBlock} startBlock endBlock
GET  /dataRetrieval/STO/{txid}/{recipientFilter} txid recipientFilter
GET  /dataRetrieval/transaction/{txid} txid
GET  /dataRetrieval/blockTransactions/{index} index
GET  /dataRetrieval/pendingTransactions/{address} address
GET  /dataRetrieval/properties address count skip startBlock endBlock
GET  /dataRetrieval/frozenBalance/{address}/{propertyId} address propertyId
GET  /dataRetrieval/frozenBalanceForAddress/{address} address
GET  /dataRetrieval/frozenBalanceForId/{propertyId} propertyId
GET  /dataRetrieval/ERC721AddressTokens/{address}/{propertyId} address propertyId
GET  /dataRetrieval/ERC721PropertyDestroyTokens/{propertyId} propertyId
GET  /dataRetrieval/ERC721PropertyNews/{propertyId} propertyId
GET  /dataRetrieval/ERC721TokenNews/{propertyId}/{tokenId} propertyId tokenId
GET  /slp/list
GET  /slp/list/{tokenId} tokenId
POST /slp/list tokenIds
GET  /slp/convert/{address} address
POST /slp/convert addresses
GET  /slp/validate/{txid} txid
POST /slp/validate txids
GET  /slp/balancesForAddress/{address} address
GET  /slp/balancesForToken/{tokenId} tokenId
GET  /slp/balance/{address}/{tokenId} address tokenId
GET  /slp/tokenStats/{tokenId} tokenId
GET  /slp/txDetails/{txid} txid
GET  /slp/transactions/{tokenId}/{address} tokenId address
GET  /slp/burnTotal/{transactionId} transactionId
GET  /slp/createTokenType1/{fundingAddress}/{fundingWif}/{tokenReceiverAddress}/{batonReceiverAddress}\
/{bchChangeReceiverAddress}/{decimals}/{name}/{symbol}/{documentUri}/{documentHash}/{initialTokenQty} fundingAddress \
fundingWif tokenReceiverAddress batonReceiverAddress bchChangeReceiverAddress decimals name symbol documentUri \
documentHash initialTokenQty
GET  /slp/mintTokenType1/{fundingAddress}/{fundingWif}/{tokenReceiverAddress}/{batonReceiverAddress}\
/{bchChangeReceiverAddress}/{tokenId}/{additionalTokenQty} fundingAddress fundingWif tokenReceiverAddress \
batonReceiverAddress bchChangeReceiverAddress tokenId additionalTokenQty
GET  /slp/sendTokenType1/{fundingAddress}/{fundingWif}/{tokenReceiverAddress}/{bchChangeReceiverAddress}/{tokenId}\
/{amount} fundingAddress fundingWif tokenReceiverAddress bchChangeReceiverAddress tokenId amount
GET  /payloadCreation/burnBCH
POST /payloadCreation/changeIssuer propertyId
POST /payloadCreation/closeCrowdSale propertyId
POST /payloadCreation/grant propertyId amount memo
POST /payloadCreation/crowdsale ecosystem propertyPrecision previousId category subcategory name url data \
propertyIdDesired tokensPerUnit deadline earlyBonus totalNumber
POST /payloadCreation/fixed ecosystem propertyPrecision previousId category subcategory name url data amount
POST /payloadCreation/managed ecosystem propertyPrecision previousId category subcategory name url data
POST /payloadCreation/participateCrowdSale amount
POST /payloadCreation/revoke propertyId amount memo
POST /payloadCreation/sendAll ecosystem
POST /payloadCreation/simpleSend propertyId amount
POST /payloadCreation/STO propertyId amount distributionProperty
POST /payloadCreation/freeze toAddress propertyId
POST /payloadCreation/unfreeze toAddress propertyId
GET  /rawtransactions/decodeRawTransaction/{hex} hex
POST /rawtransactions/decodeRawTransaction hexes
GET  /rawtransactions/decodeScript/{hex} hex
POST /rawtransactions/decodeScript hexes
GET  /rawtransactions/getRawTransaction/{txid} txid verbose
GET  /rawtransactions/sendRawTransaction/{hex} hex
POST /rawtransactions/sendRawTransaction hexes
GET  /address/details/{address} address
POST /address/details addresses
GET  /address/utxo/{address} address
POST /address/utxo addresses
GET  /address/unconfirmed/{address} address
POST /address/unconfirmed addresses
GET  /address/transactions/{address} address
POST /address/transactions addresses
GET  /cashAccounts/lookup/{account}/{number}/{collision} account number collision
GET  /cashAccounts/check/{account}/{number} account number
GET  /cashAccounts/reverseLookup/{account} account
GET  /block/detailsByHash/{hash} hash
POST /block/detailsByHash hashes
GET  /block/detailsByHeight/{height} height
POST /block/detailsByHeight heights
GET  /util/validateAddress/{address} address
POST /util/validateAddress addresses
GET  /transaction/details/{txid} txid
POST /transaction/details txids
GET  /control/getInfo
GET  /control/getNetworkInfo
""".strip().splitlines()

PAGED = {"get_address_details", "get_details_of_addresses", "get_address_transactions", "get_transactions_of_addresses"}


def is_row(operation, row):
    """Whether the specification's row is served by the operation: by its own method and path, or by its other ones."""
    method, path, *names = row.split()
    methods = {operation.method, *operation.other_methods}
    named = [param.name for param in operation.params if not (param.name == "page" and operation.name in PAGED)]
    return method in methods and "/v2" + path in operation.every_path and names == named


def test_rows_are_those_of_the_specification_in_its_order():
    assert len(ROWS) == len(catalogue.OPERATIONS) == 98
    unlike = [
        (operation.name, row)
        for operation, row in zip(catalogue.OPERATIONS, ROWS, strict=True)
        if not is_row(operation, row)
    ]
    assert not unlike


def test_names_are_unique_and_no_two_rows_answer_one_call():
    assert len(catalogue.by_name) == len(catalogue.ALL)
    answered = [
        (method, path.lower())
        for operation in catalogue.ALL
        for method in (operation.method, *operation.other_methods)
        for path in operation.every_path
    ]
    assert len(set(answered)) == len(answered)


def test_every_parameter_of_a_path_stands_in_it():
    for operation in catalogue.ALL:
        in_path = [param.name for param in operation.params if param.place is Place.PATH]
        assert [part[1:-1] for part in operation.path.split("/") if part.startswith("{")] == in_path, operation.name
        assert all(param.place is not Place.FORM for param in operation.params) or operation.body is not Body.FORM


def test_what_changes_the_chain_is_no_read_and_never_repeated():
    acting = {operation.name for operation in catalogue.ALL if not operation.reads}
    assert acting == {
        *("send_raw_transaction", "send_raw_transactions"),
        *("create_slp_token", "mint_slp_token", "send_slp_token"),
    }
    assert all(operation.repeatable == operation.reads for operation in catalogue.ALL)
    assert all(operation.public and operation.right is None for operation in catalogue.ALL)


def test_a_private_key_is_never_shown():
    assert {"create_slp_token", "mint_slp_token", "send_slp_token"} == catalogue.WITH_PRIVATE_KEY
    wif = "L2WXGs3ShfVwtqX4tYBfBWaZ4xXfMuyVNxjHvkBxPpvMMBTaVvFJ"
    texts = {param.name: "x" for param in catalogue.by_name["send_slp_token"].params} | {"fundingWif": wif}
    request = bind(catalogue.by_name["send_slp_token"], texts | {"amount": 1})
    assert wif not in repr(request)
    assert wif in request.hidden
    with pytest.raises(BadArgument) as refused:
        bind(catalogue.by_name["send_slp_token"], texts | {"fundingWif": wif + "\n", "amount": 1})
    assert wif not in str(refused.value)
    assert wif not in str(refused.value.value)


def test_bulk_is_bounded():
    lists = [param for operation in catalogue.ALL for param in operation.params if param.most]
    assert {param.most for param in lists} == {catalogue.BULK_PRO}
    with pytest.raises(BadArgument, match="too many"):
        bind(catalogue.by_name["get_blocks_by_height"], {"heights": list(range(101))})
    with pytest.raises(BadArgument, match="too low"):
        bind(catalogue.by_name["get_blocks_by_height"], {"heights": [-1]})


def constraints(kind):
    """Every constraint in a type, those of the members of its records included."""
    found, waiting, seen = [], [kind], set()
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        waiting += typing.get_args(each) if not hasattr(each, "__metadata__") else [each.__origin__]
        found += getattr(each, "__metadata__", ())
        if isinstance(each, type) and issubclass(each, msgspec.Struct):
            waiting += typing.get_type_hints(each, include_extras=True).values()
    return [each for each in found if isinstance(each, msgspec.Meta)]


def test_no_record_has_a_pattern():
    """The decoder of msgspec 0.22 ends the process when a text with a pattern is an alternative to a list."""
    every = [constraint for operation in catalogue.ALL for constraint in constraints(operation.result)]
    assert every
    assert all(constraint.pattern is None for constraint in every)


# Refusals -------------------------------------------------------------------------------------------------------------


def test_every_bulk_operation_says_that_it_wants_an_array():
    """Those of the supplement's rows are not told, but three."""
    bulk = {operation.name for operation in catalogue.OPERATIONS if any(param.most for param in operation.params)}
    named = {"get_raw_transactions", "get_slp_balances_of_tokens", "get_slp_stats_of_tokens"}
    assert set(refusals.NOT_AN_ARRAY) == bulk | named
    assert set(refusals.BAD_ELEMENT) | set(refusals.EMPTY_ELEMENT) <= set(refusals.NOT_AN_ARRAY)


@pytest.mark.parametrize(
    ("status", "body", "case", "text", "code"),
    [
        (404, b'{"status":404,"message":"Not Found"}', Case.ABSENT, "Not Found", None),
        (404, b'{"error":"Not found"}', Case.ABSENT, "Not found", None),
        (400, b'{"error":"Transaction not in mempool"}', Case.ABSENT, "Transaction not in mempool", None),
        (400, b'{"error":"TX decode failed"}', Case.WRONG, "TX decode failed", None),
        (429, b'{"error":"Array too large."}', Case.TOO_LARGE, "Array too large.", None),
        (429, b'{"error":"Too many requests. Limits are 60 requests per minute."}', Case.BUSY, "Too many req", None),
        (429, b'{"error":{"code":-32,"message":"Work queue depth exceeded"}}', Case.BUSY, "Work queue", -32),
        (503, b'{"error":"Network error: Could not communicate"}', Case.AWAY, "Network error", None),
        (500, b'{"error":{"code":-28,"message":"Loading block index..."}}', Case.AWAY, "Loading", -28),
        (500, b'{"error":"No account could be found with the requested parameters."}', Case.ABSENT, "No account", None),
        (
            500,
            b'{"error":"Error in /address/convert/:address: Invalid BCH address. Double check it: x"}',
            Case.WRONG,
            "Error in",
            None,
        ),
        (502, b"<html>", Case.AWAY, "", None),
        (400, b"\xff\xfe", Case.WRONG, "", None),
        (400, b"[" * 100_000, Case.WRONG, "", None),
        (400, b'{"error":{"code":true,"message":["x"]}}', Case.WRONG, "", None),
        (400, b'{"error":"a\\nb' + b"x" * 500 + b'"}', Case.WRONG, "a bx", None),
    ],
)
def test_an_error_is_understood_in_each_envelope(status, body, case, text, code):
    spoken = refusals.read(status, body)
    assert (spoken.case, spoken.code) == (case, code)
    assert spoken.text.startswith(text)
    assert len(spoken.text) <= 200
    assert spoken.text.isprintable()


def test_an_unknown_token_is_told_apart():
    """Asked alone it is called not found, and in bulk not valid (supplement 1.8)."""
    assert slp.Token("ab" * 32, name="Test").is_known
    assert not slp.Token(slp.NOT_FOUND).is_known
    assert not slp.Token("ab" * 32, valid=False).is_known


def test_arrays_travel_in_json_only():
    listed = (Kind.TEXTS, Kind.OBJECTS, Kind.INTEGERS)
    for operation in catalogue.ALL:
        arrays = [param for param in operation.params if param.kind in listed]
        assert all(param.place is Place.FORM for param in arrays)
        assert not arrays or operation.body is not Body.FORM
