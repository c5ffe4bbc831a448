"""Every operation of the chain-data service, one row per documented row, in its order; then the supplement's.

Source: chain data, Endpoints; supplement 1.5, 3 and 7 for what real servers and clients do. Only facts here. Where
the sources disagree, the row's note says what was picked. No operation needs credentials.
"""

from decimal import Decimal
from typing import Any

from chaindata.wire.records import addresses, cash_accounts, chain, slp, tokens
from wire.operation import Body, Kind, Operation, Param, Place
from wire.records import Int64

PREFIX = "/v2"
BULK = 20  # elements of an array that everybody may send (supplement 1.10)
BULK_PRO = 100  # the same with the deployment's pro password
RATE, RATE_PRO, RATE_WINDOW_S = 60, 600, 60  # calls of a method and its first three path parts in each fixed window
RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")  # the last in seconds since 1970
MOST_HEX_IN_PATH = 16_000  # characters: what a server's head of a request has room for
MOST_HEX_IN_BODY = 100_000  # characters: what a server's body parser takes
HIGHEST_PROPERTY = 2**32 - 1

BLOCKCHAIN = "Blockchain"
TOKEN_RETRIEVAL = "Token data retrieval"  # noqa: S105  # the specification's name of the group
SIMPLE_LEDGER = "Simple-ledger tokens"
PAYLOADS = "Payload creation"
RAW_TRANSACTIONS = "Raw transactions"
ADDRESS = "Address"
CASH_ACCOUNTS = "Cash accounts"
BLOCK = "Block"
UTIL = "Util"
TRANSACTION = "Transaction"
CONTROL = "Control"

GROUP_ROOTS = {
    "blockchain": "blockchain",
    "dataRetrieval": "dataRetrieval",
    "slp": "slp",
    "payloadCreation": "payloadCreation",
    "rawtransactions": "rawtransactions",
    "address": "address",
    "cashAccounts": "cashaccount",
    "block": "block",
    "util": "util",
    "transaction": "transaction",
    "control": "control",
}
"""First part of the paths of a group, and the word its root answers with (supplement 1.7)."""


def _path(name: str, kind: Kind = Kind.TEXT, **more: Any) -> Param:
    return Param(name, kind, Place.PATH, required=True, **more)


def _query(name: str, kind: Kind = Kind.TEXT, **more: Any) -> Param:
    return Param(name, kind, Place.QUERY, **more)


def _member(name: str, kind: Kind = Kind.TEXT, **more: Any) -> Param:
    return Param(name, kind, Place.FORM, **{"required": True, **more})


def _array(name: str, **more: Any) -> Param:
    return _member(name, Kind.TEXTS, most=BULK_PRO, **more)


_TXID = _path("txid")
_HASH = _path("hash")
_ADDRESS = _path("address", note="In any format.")
_PROPERTY = _path("propertyId", Kind.INTEGER, lowest=1, highest=HIGHEST_PROPERTY)
_TOKEN_ID = _path("tokenId")
_VERBOSE = _query("verbose", Kind.BOOLEAN, default=False)
_HEX = _path("hex", max_length=MOST_HEX_IN_PATH)
_TXIDS = _array("txids")
_HEXES = _array("hexes", max_length=MOST_HEX_IN_BODY)
_ADDRESSES = _array("addresses")
_PAGE = _query("page", Kind.INTEGER, default=0, lowest=0, note="Not in the specification; zero-based.")
_PAGE_MEMBER = _member(
    "page", Kind.INTEGER, required=False, default=0, lowest=0, note="Zero-based, as in the single-item operation."
)
_PROPERTY_MEMBER = _member("propertyId", Kind.INTEGER, lowest=1, highest=HIGHEST_PROPERTY)
_AMOUNT = _member("amount", Kind.DECIMAL)
_MEMO = _member("memo", required=False, max_length=255)
_TO_ADDRESS = _member("toAddress", note="A cash address.")

_HEAD = (
    _member("ecosystem", note="1 (main), as a string."),
    _member(
        "propertyPrecision", Kind.INTEGER, lowest=0, highest=8, note="Real servers reject 0, except for a crowdsale."
    ),
    _member(
        "previousId",
        Kind.INTEGER,
        lowest=0,
        highest=HIGHEST_PROPERTY,
        note="For a managed property, 1 allows freezing.",
    ),
    *(_member(name, max_length=255) for name in ("category", "subcategory", "name", "url", "data")),
)
_FUNDING = (
    _path("fundingAddress", note="An SLP address."),
    _path("fundingWif", sensitive=True, note="The funding address's private key, in compressed form."),
    _path("tokenReceiverAddress", note="An SLP address."),
)
_BATON = _path("batonReceiverAddress", note="An SLP address that receives the minting baton, the right to mint more.")
_CHANGE = _path("bchChangeReceiverAddress", note="A cash address.")
_SETTING_NOTE = "Available only if the service runs with the setting NON_JS_FRAMEWORK."


def _get(
    group: str, name: str, path: str, result: object, *params: Param, note: str = "", other_paths: tuple[str, ...] = ()
) -> Operation:
    return Operation(
        name,
        "GET",
        PREFIX + path,
        params,
        result=result,
        repeatable=True,
        public=True,
        group=group,
        note=note,
        other_paths=tuple(PREFIX + other for other in other_paths),
    )


def _post(
    group: str,
    name: str,
    path: str,
    result: object,
    *params: Param,
    note: str = "",
    body: Body = Body.OBJECT,
    reads: bool = True,
    other_methods: tuple[str, ...] = (),
    other_paths: tuple[str, ...] = (),
) -> Operation:
    return Operation(
        name,
        "POST",
        PREFIX + path,
        params,
        result=result,
        repeatable=reads,
        public=True,
        group=group,
        note=note,
        body=body,
        is_read=reads,
        other_methods=other_methods,
        other_paths=tuple(PREFIX + other for other in other_paths),
    )


def _acting_get(group: str, name: str, path: str, result: object, *params: Param, note: str = "") -> Operation:
    """A call that is made by GET and changes the chain all the same."""
    return Operation(
        name, "GET", PREFIX + path, params, None, result, public=True, group=group, note=note, is_read=False
    )


OPERATIONS: tuple[Operation, ...] = (
    # Blockchain
    _get(BLOCKCHAIN, "get_best_block_hash", "/blockchain/getBestBlockHash", chain.Hash),
    _get(BLOCKCHAIN, "get_blockchain_info", "/blockchain/getBlockchainInfo", chain.ChainState),
    _get(BLOCKCHAIN, "get_block_count", "/blockchain/getBlockCount", Int64, note="Height of the chain tip."),
    _get(
        BLOCKCHAIN,
        "get_block_header",
        "/blockchain/getBlockHeader/{hash}",
        chain.Hex | chain.BlockHeader,
        *(_HASH, _VERBOSE),
    ),
    _post(
        BLOCKCHAIN,
        "get_block_headers",
        "/blockchain/getBlockHeader",
        list[chain.Hex | chain.BlockHeader],
        *(_array("hashes"), _member("verbose", Kind.BOOLEAN, required=False, default=False)),
        note="Listed as GET with a body, but the sample uses POST. We use POST, which all clients support; both work.",
        other_methods=("GET",),
    ),
    _get(BLOCKCHAIN, "get_chain_tips", "/blockchain/getChainTips", list[chain.Tip]),
    _get(BLOCKCHAIN, "get_difficulty", "/blockchain/getDifficulty", Decimal),
    _get(BLOCKCHAIN, "get_mempool_entry", "/blockchain/getMempoolEntry/{txid}", chain.MempoolEntry, _TXID),
    _post(BLOCKCHAIN, "get_mempool_entries", "/blockchain/getMempoolEntry", list[chain.MempoolEntry], _TXIDS),
    _get(BLOCKCHAIN, "get_mempool_info", "/blockchain/getMempoolInfo", chain.Mempool),
    _get(
        BLOCKCHAIN,
        "get_raw_mempool",
        "/blockchain/getRawMempool",
        list[chain.Hash] | dict[str, chain.MempoolEntry],
        _VERBOSE,
        note="If verbose, an object of entries keyed by transaction ID (supplement 1.4).",
    ),
    _get(
        BLOCKCHAIN,
        "get_tx_out",
        "/blockchain/getTxOut/{txid}/{n}",
        chain.UnspentOutput | None,
        *(_TXID, _path("n", Kind.INTEGER, lowest=0, highest=2**32 - 1)),
        _query(
            "mempool",
            Kind.BOOLEAN,
            default=True,
            other_names=("include_mempool",),
            note="Real servers use include_mempool; both are accepted.",
        ),
        note="Spent and unknown outputs are null (supplement 1.5).",
    ),
    _get(BLOCKCHAIN, "get_tx_out_proof", "/blockchain/getTxOutProof/{txid}", chain.Hex, _TXID),
    _post(
        BLOCKCHAIN,
        "get_tx_out_proofs",
        "/blockchain/getTxOutProof",
        list[chain.Hex | dict[str, chain.Hex]],
        _TXIDS,
        note="Specified as proofs keyed by ID; real servers return plain proofs (supplement 1.5). Both are accepted.",
    ),
    _get(
        BLOCKCHAIN,
        "verify_tx_out_proof",
        "/blockchain/verifyTxOutProof/{proof}",
        list[chain.Hash],
        _path("proof", max_length=MOST_HEX_IN_PATH),
        note="Empty if the proof is invalid; an error if its block is not in the best chain.",
    ),
    _post(
        BLOCKCHAIN,
        "verify_tx_out_proofs",
        "/blockchain/verifyTxOutProof",
        list[chain.Hash | dict[str, list[chain.Hash]] | None],
        _array("proofs", max_length=MOST_HEX_IN_BODY),
        note=(
            "Specified as IDs keyed by proof; real servers return only the first ID of each, or null if a proof is "
            "invalid. Both are accepted."
        ),
    ),
    # Token data retrieval
    _get(
        TOKEN_RETRIEVAL,
        "get_token_balance",
        "/dataRetrieval/balance/{address}/{propertyId}",
        tokens.Balance,
        *(_ADDRESS, _PROPERTY),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_token_balances_of_address",
        "/dataRetrieval/balancesForAddress/{address}",
        list[tokens.PropertyBalance] | str,
        _ADDRESS,
        note="For an address without tokens, the response is the text “No tokens found.” (supplement 1.8).",
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_token_balances_of_property",
        "/dataRetrieval/balancesForId/{propertyId}",
        list[tokens.HolderBalance],
        _PROPERTY,
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_balances_hash",
        "/dataRetrieval/balancesHash/{propertyId}",
        tokens.BalancesHash,
        _PROPERTY,
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_crowdsale",
        "/dataRetrieval/crowdSale/{propertyId}",
        tokens.Crowdsale,
        *(_PROPERTY, _VERBOSE),
    ),
    _get(TOKEN_RETRIEVAL, "get_consensus_hash", "/dataRetrieval/currentConsensusHash", tokens.ConsensusHash),
    _get(TOKEN_RETRIEVAL, "get_grants", "/dataRetrieval/grants/{propertyId}", tokens.Grants, _PROPERTY),
    _get(TOKEN_RETRIEVAL, "get_token_layer", "/dataRetrieval/info", tokens.Layer),
    _get(TOKEN_RETRIEVAL, "get_payload", "/dataRetrieval/payload/{txid}", tokens.Payload, _TXID),
    _get(TOKEN_RETRIEVAL, "get_property", "/dataRetrieval/property/{propertyId}", tokens.Property, _PROPERTY),
    _get(
        TOKEN_RETRIEVAL,
        "get_seed_blocks",
        "/dataRetrieval/seedBlocks/{startBlock}/{endBlock}",
        list[Int64],
        *(_path("startBlock", Kind.INTEGER, lowest=0), _path("endBlock", Kind.INTEGER, lowest=0)),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_send_to_owners",
        "/dataRetrieval/STO/{txid}/{recipientFilter}",
        tokens.TokenTransaction,
        *(_TXID, _path("recipientFilter", note="* or the cash address of one recipient (supplement 1.11).")),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_token_transaction",
        "/dataRetrieval/transaction/{txid}",
        tokens.TokenTransaction,
        _TXID,
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_token_transactions_of_block",
        "/dataRetrieval/blockTransactions/{index}",
        list[chain.Hash],
        _path("index", Kind.INTEGER, lowest=0, note="Block height."),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_pending_token_transactions",
        "/dataRetrieval/pendingTransactions/{address}",
        list[tokens.TokenTransaction],
        _ADDRESS,
        note="Some clients send the address in the query (supplement 7).",
        other_paths=("/dataRetrieval/pendingTransactions",),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_properties",
        "/dataRetrieval/properties",
        list[tokens.ListedProperty],
        _query("address", default="*"),
        _query("count", Kind.INTEGER, default=10, lowest=0),
        _query("skip", Kind.INTEGER, default=0, lowest=0),
        _query("startBlock", Kind.INTEGER, default=0, lowest=0),
        _query("endBlock", Kind.INTEGER, default=9_999_999, lowest=0),
        note="All parameters are optional and none changes the response (supplement 1.11).",
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_frozen_balance",
        "/dataRetrieval/frozenBalance/{address}/{propertyId}",
        tokens.FrozenBalance,
        *(_ADDRESS, _PROPERTY),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_frozen_balances_of_address",
        "/dataRetrieval/frozenBalanceForAddress/{address}",
        list[tokens.FrozenProperty],
        _ADDRESS,
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_frozen_balances_of_property",
        "/dataRetrieval/frozenBalanceForId/{propertyId}",
        list[tokens.FrozenHolder],
        _PROPERTY,
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_collectibles_of_address",
        "/dataRetrieval/ERC721AddressTokens/{address}/{propertyId}",
        list[tokens.ListedCollectible],
        *(_ADDRESS, _path("propertyId", note="Decimal, or hexadecimal with 0x.")),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_destroyed_collectibles",
        "/dataRetrieval/ERC721PropertyDestroyTokens/{propertyId}",
        list[tokens.ListedCollectible],
        _path("propertyId"),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_collectible_property",
        "/dataRetrieval/ERC721PropertyNews/{propertyId}",
        tokens.CollectibleProperty,
        _path("propertyId"),
    ),
    _get(
        TOKEN_RETRIEVAL,
        "get_collectible",
        "/dataRetrieval/ERC721TokenNews/{propertyId}/{tokenId}",
        tokens.Collectible,
        *(_path("propertyId"), _path("tokenId")),
    ),
    # Simple-ledger tokens
    _get(SIMPLE_LEDGER, "get_slp_tokens", "/slp/list", list[slp.Token]),
    _get(
        SIMPLE_LEDGER,
        "get_slp_token",
        "/slp/list/{tokenId}",
        slp.Token,
        _TOKEN_ID,
        note="For an unknown token, the response has the ID “not found” (supplement 1.8).",
    ),
    _post(
        SIMPLE_LEDGER,
        "get_slp_tokens_by_id",
        "/slp/list",
        list[slp.Token],
        _array("tokenIds"),
        note="Unknown token IDs come last, with valid false, so the order can differ from the input.",
    ),
    _get(SIMPLE_LEDGER, "convert_address", "/slp/convert/{address}", slp.AddressForms, _ADDRESS),
    _post(SIMPLE_LEDGER, "convert_addresses", "/slp/convert", list[slp.AddressForms], _ADDRESSES),
    _get(
        SIMPLE_LEDGER,
        "validate_slp_transaction",
        "/slp/validateTxid/{txid}",
        slp.Validity,
        _TXID,
        note="Listed as validate, but the sample and real servers use validateTxid. We use validateTxid; both work.",
        other_paths=("/slp/validate/{txid}",),
    ),
    _post(
        SIMPLE_LEDGER,
        "validate_slp_transactions",
        "/slp/validateTxid",
        list[slp.Validity],
        _TXIDS,
        note="Listed as validate, but the sample uses validateTxid. We use validateTxid; both work.",
        other_paths=("/slp/validate",),
    ),
    _get(
        SIMPLE_LEDGER,
        "get_slp_balances_of_address",
        "/slp/balancesForAddress/{address}",
        list[slp.AddressBalance],
        _ADDRESS,
    ),
    _get(
        SIMPLE_LEDGER,
        "get_slp_balances_of_token",
        "/slp/balancesForToken/{tokenId}",
        list[slp.HolderBalance],
        _TOKEN_ID,
    ),
    _get(
        SIMPLE_LEDGER,
        "get_slp_balance",
        "/slp/balance/{address}/{tokenId}",
        slp.TokenBalance,
        *(_ADDRESS, _TOKEN_ID),
    ),
    _get(SIMPLE_LEDGER, "get_slp_token_stats", "/slp/tokenStats/{tokenId}", slp.Token, _TOKEN_ID),
    _get(
        SIMPLE_LEDGER,
        "get_slp_transaction",
        "/slp/txDetails/{txid}",
        slp.TokenTransaction,
        _TXID,
        note="The specification's flat form; newer real servers wrap the transaction in retData (supplement 3).",
    ),
    _get(
        SIMPLE_LEDGER,
        "get_slp_transactions",
        "/slp/transactions/{tokenId}/{address}",
        list[slp.ListedTransaction],
        *(_TOKEN_ID, _ADDRESS),
    ),
    _get(
        SIMPLE_LEDGER,
        "get_slp_burn_total",
        "/slp/burnTotal/{transactionId}",
        slp.BurnTotal,
        _path("transactionId"),
    ),
    _acting_get(
        SIMPLE_LEDGER,
        "create_slp_token",
        "/slp/createTokenType1/{fundingAddress}/{fundingWif}/{tokenReceiverAddress}/{batonReceiverAddress}"
        "/{bchChangeReceiverAddress}/{decimals}/{name}/{symbol}/{documentUri}/{documentHash}/{initialTokenQty}",
        chain.Hash,
        *(*_FUNDING, _BATON, _CHANGE),
        _path("decimals", Kind.INTEGER, lowest=0, highest=9),
        _path("name", note="Without spaces."),
        *(_path("symbol"), _path("documentUri"), _path("documentHash")),
        _path("initialTokenQty", Kind.DECIMAL, lowest=0),
        note=_SETTING_NOTE,
    ),
    _acting_get(
        SIMPLE_LEDGER,
        "mint_slp_token",
        "/slp/mintTokenType1/{fundingAddress}/{fundingWif}/{tokenReceiverAddress}/{batonReceiverAddress}"
        "/{bchChangeReceiverAddress}/{tokenId}/{additionalTokenQty}",
        chain.Hash,
        *(*_FUNDING, _BATON, _CHANGE, _TOKEN_ID, _path("additionalTokenQty", Kind.DECIMAL, lowest=0)),
        note=_SETTING_NOTE,
    ),
    _acting_get(
        SIMPLE_LEDGER,
        "send_slp_token",
        "/slp/sendTokenType1/{fundingAddress}/{fundingWif}/{tokenReceiverAddress}/{bchChangeReceiverAddress}"
        "/{tokenId}/{amount}",
        chain.Hash,
        *(*_FUNDING, _CHANGE, _TOKEN_ID, _path("amount", Kind.DECIMAL, lowest=0)),
        note=_SETTING_NOTE + " The response is undocumented; presumably a transaction ID, as for similar operations.",
    ),
    # Payload creation
    _get(PAYLOADS, "make_burn_payload", "/payloadCreation/burnBCH", chain.Hex),
    _post(PAYLOADS, "make_change_issuer_payload", "/payloadCreation/changeIssuer", chain.Hex, _PROPERTY_MEMBER),
    _post(PAYLOADS, "make_close_crowdsale_payload", "/payloadCreation/closeCrowdSale", chain.Hex, _PROPERTY_MEMBER),
    _post(PAYLOADS, "make_grant_payload", "/payloadCreation/grant", chain.Hex, _PROPERTY_MEMBER, _AMOUNT, _MEMO),
    _post(
        PAYLOADS,
        "make_crowdsale_payload",
        "/payloadCreation/crowdsale",
        chain.Hex,
        *_HEAD,
        _member("propertyIdDesired", Kind.INTEGER, lowest=1, highest=HIGHEST_PROPERTY, note="Nodes accept only 1."),
        _member("tokensPerUnit", Kind.DECIMAL),
        _member("deadline", Kind.INTEGER, lowest=1, note="Unix time in seconds."),
        _member("earlyBonus", Kind.INTEGER, lowest=0, highest=255, note="Percent per week."),
        _member("totalNumber", Kind.DECIMAL),
    ),
    _post(PAYLOADS, "make_fixed_property_payload", "/payloadCreation/fixed", chain.Hex, *_HEAD, _AMOUNT),
    _post(PAYLOADS, "make_managed_property_payload", "/payloadCreation/managed", chain.Hex, *_HEAD),
    _post(PAYLOADS, "make_participation_payload", "/payloadCreation/participateCrowdSale", chain.Hex, _AMOUNT),
    _post(PAYLOADS, "make_revoke_payload", "/payloadCreation/revoke", chain.Hex, _PROPERTY_MEMBER, _AMOUNT, _MEMO),
    _post(
        PAYLOADS,
        "make_send_all_payload",
        "/payloadCreation/sendAll",
        chain.Hex,
        _member("ecosystem", Kind.INTEGER, lowest=1, highest=2),
    ),
    _post(PAYLOADS, "make_simple_send_payload", "/payloadCreation/simpleSend", chain.Hex, _PROPERTY_MEMBER, _AMOUNT),
    _post(
        PAYLOADS,
        "make_send_to_owners_payload",
        "/payloadCreation/STO",
        chain.Hex,
        *(_PROPERTY_MEMBER, _AMOUNT),
        _member("distributionProperty", Kind.INTEGER, lowest=1, highest=HIGHEST_PROPERTY),
    ),
    _post(PAYLOADS, "make_freeze_payload", "/payloadCreation/freeze", chain.Hex, _TO_ADDRESS, _PROPERTY_MEMBER),
    _post(PAYLOADS, "make_unfreeze_payload", "/payloadCreation/unfreeze", chain.Hex, _TO_ADDRESS, _PROPERTY_MEMBER),
    # Raw transactions
    _get(
        RAW_TRANSACTIONS,
        "decode_transaction",
        "/rawtransactions/decodeRawTransaction/{hex}",
        chain.DecodedTransaction,
        _HEX,
    ),
    _post(
        RAW_TRANSACTIONS,
        "decode_transactions",
        "/rawtransactions/decodeRawTransaction",
        list[chain.DecodedTransaction],
        _HEXES,
    ),
    _get(RAW_TRANSACTIONS, "decode_script", "/rawtransactions/decodeScript/{hex}", chain.DecodedScript, _HEX),
    _post(RAW_TRANSACTIONS, "decode_scripts", "/rawtransactions/decodeScript", list[chain.DecodedScript], _HEXES),
    _get(
        RAW_TRANSACTIONS,
        "get_raw_transaction",
        "/rawtransactions/getRawTransaction/{txid}",
        chain.Hex | chain.DecodedTransaction,
        *(_TXID, _VERBOSE),
        note="Listed with decodeRawTransaction's path, but the sample uses the path shown here. We follow the sample.",
    ),
    _acting_get(
        RAW_TRANSACTIONS,
        "send_raw_transaction",
        "/rawtransactions/sendRawTransaction/{hex}",
        chain.Hash | list[chain.Hash],
        _HEX,
        note="Specified as a one-element array; real servers return the ID alone (supplement 1.5). Both are accepted.",
    ),
    _post(
        RAW_TRANSACTIONS,
        "send_raw_transactions",
        "/rawtransactions/sendRawTransaction",
        list[chain.Hash],
        _HEXES,
        reads=False,
        note="Sent in order; the first rejection stops the rest, but those already sent stay sent.",
    ),
    # Address
    _get(ADDRESS, "get_address_details", "/address/details/{address}", addresses.AddressDetails, _ADDRESS, _PAGE),
    _post(
        ADDRESS,
        "get_details_of_addresses",
        "/address/details",
        list[addresses.AddressDetails],
        *(_ADDRESSES, _PAGE_MEMBER),
    ),
    _get(
        ADDRESS,
        "get_address_utxos",
        "/address/utxo/{address}",
        addresses.AddressUtxos,
        _ADDRESS,
        note="Specified as an array; real servers return an object that contains it, which is used (supplement 1.1).",
    ),
    _post(ADDRESS, "get_utxos_of_addresses", "/address/utxo", list[addresses.AddressUtxos], _ADDRESSES),
    _get(
        ADDRESS,
        "get_address_unconfirmed",
        "/address/unconfirmed/{address}",
        addresses.AddressUtxos,
        _ADDRESS,
        note="Unconfirmed unspent outputs, in the same format as confirmed ones (supplement 1.1).",
    ),
    _post(ADDRESS, "get_unconfirmed_of_addresses", "/address/unconfirmed", list[addresses.AddressUtxos], _ADDRESSES),
    _get(
        ADDRESS,
        "get_address_transactions",
        "/address/transactions/{address}",
        addresses.AddressTransactions,
        *(_ADDRESS, _PAGE),
        note="Specified as an array; real servers return an object that contains it, which is used (supplement 1.1).",
    ),
    _post(
        ADDRESS,
        "get_transactions_of_addresses",
        "/address/transactions",
        list[addresses.AddressTransactions],
        *(_ADDRESSES, _PAGE_MEMBER),
    ),
    # Cash accounts
    _get(
        CASH_ACCOUNTS,
        "look_up_cash_account",
        "/cashAccounts/lookup/{account}/{number}/{collision}",
        cash_accounts.Lookup,
        *(_path("account"), _path("number"), Param("collision", Kind.TEXT, Place.PATH)),
    ),
    _get(
        CASH_ACCOUNTS,
        "check_cash_account",
        "/cashAccounts/check/{account}/{number}",
        cash_accounts.Check,
        *(_path("account"), _path("number")),
    ),
    _get(
        CASH_ACCOUNTS,
        "find_cash_accounts",
        "/cashAccounts/reverseLookup/{account}",
        cash_accounts.ReverseLookup,
        _path("account", note="A cash address."),
    ),
    # Block
    _get(BLOCK, "get_block_by_hash", "/block/detailsByHash/{hash}", chain.Block, _HASH),
    _post(BLOCK, "get_blocks_by_hash", "/block/detailsByHash", list[chain.Block], _array("hashes")),
    _get(
        BLOCK,
        "get_block_by_height",
        "/block/detailsByHeight/{height}",
        chain.Block,
        _path("height", Kind.INTEGER, lowest=0),
    ),
    _post(
        BLOCK,
        "get_blocks_by_height",
        "/block/detailsByHeight",
        list[chain.Block],
        _member("heights", Kind.INTEGERS, most=BULK_PRO, lowest=0),
        note="Real servers treat height 0 as missing (supplement 1.8).",
    ),
    # Util
    _get(UTIL, "validate_address", "/util/validateAddress/{address}", addresses.AddressValidation, _ADDRESS),
    _post(UTIL, "validate_addresses", "/util/validateAddress", list[addresses.AddressValidation], _ADDRESSES),
    # Transaction
    _get(TRANSACTION, "get_transaction_details", "/transaction/details/{txid}", chain.Transaction, _TXID),
    _post(TRANSACTION, "get_details_of_transactions", "/transaction/details", list[chain.Transaction], _TXIDS),
    # Control
    _get(CONTROL, "get_node_info", "/control/getInfo", chain.Node),
    _get(CONTROL, "get_network_info", "/control/getNetworkInfo", chain.NodeNetwork),
)
"""The 98 documented rows."""

SUPPLEMENT: tuple[Operation, ...] = (
    _post(
        RAW_TRANSACTIONS,
        "get_raw_transactions",
        "/rawtransactions/getRawTransaction",
        list[chain.Hex | chain.DecodedTransaction],
        *(_TXIDS, _member("verbose", Kind.BOOLEAN, required=False, default=False)),
        note="Supplement 1.8.",
    ),
    _post(
        SIMPLE_LEDGER,
        "get_slp_balances_of_addresses",
        "/slp/balancesForAddress",
        list[list[slp.AddressBalance]],
        _ADDRESSES,
        note="Supplement 3.",
    ),
    _post(
        SIMPLE_LEDGER,
        "get_slp_balances_of_tokens",
        "/slp/balancesForToken",
        list[list[slp.HolderBalance]],
        _array("tokenIds"),
        note="Supplement 3.",
    ),
    _post(
        SIMPLE_LEDGER,
        "get_slp_balances",
        "/slp/balance",
        list[slp.TokenBalance],
        _member("pairs", Kind.OBJECTS, choices=("address", "tokenId"), most=BULK_PRO),
        body=Body.ARRAY,
        note="The array is the entire request body (supplement 3).",
    ),
    _post(
        SIMPLE_LEDGER,
        "get_slp_stats_of_tokens",
        "/slp/tokenStats",
        list[slp.Token],
        _array("tokenIds"),
        note="Supplement 3.",
    ),
    _post(
        SIMPLE_LEDGER,
        "get_slp_burn_totals",
        "/slp/burnTotal",
        list[slp.BurnTotal],
        _TXIDS,
        note="Supplement 3.",
    ),
    _post(
        SIMPLE_LEDGER,
        "get_slp_transactions_of_pairs",
        "/slp/transactions",
        list[list[slp.ListedTransaction]],
        _member("pairs", Kind.OBJECTS, choices=("tokenId", "address"), most=BULK_PRO),
        body=Body.ARRAY,
        note="The array is the entire request body (supplement 3).",
    ),
    _get(
        SIMPLE_LEDGER,
        "get_slp_history_of_address",
        "/slp/transactionHistoryAllTokens/{address}",
        list[slp.ListedTransaction],
        _ADDRESS,
        note="Supplement 3.",
    ),
)
"""What real servers have besides, and existing clients use."""

ALL = (*OPERATIONS, *SUPPLEMENT)

by_name: dict[str, Operation] = {operation.name: operation for operation in ALL}

WITH_PRIVATE_KEY = frozenset(
    operation.name
    for operation in ALL
    if any(param.sensitive and param.place is Place.PATH for param in operation.params)
)
"""The operations that carry a private key in their path."""
