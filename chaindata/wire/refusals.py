"""The errors of the chain-data service: the envelopes, and the exact texts for each operation.

Source: chain data, Errors; supplement 1.7 to 1.9 and 1.11. Texts of nodes change with their versions: a client
distinguishes cases by status, and by text only if it must. Placeholders in braces are filled by `str.format`.
"""

from dataclasses import dataclass
from enum import Enum

import msgspec


@dataclass(frozen=True, slots=True)
class Refusal:
    """A status and the text under `error`. `code` is the node's own number, where it has one."""

    http_status: int
    text: str
    code: int | None = None


# The envelope, whatever the operation (supplement 1.7) ---------------------------------------------------------------

ROUTE_UNKNOWN = Refusal(404, "Not Found")  # with `status` and `message` instead of `error`, like the next one
ARRAY_TOO_LARGE = Refusal(429, "Array too large.")
TOO_MANY_REQUESTS = Refusal(429, "Too many requests. Limits are {limit} requests per minute.")
NODE_AWAY = Refusal(503, "Network error: Could not communicate with full node or other external service.")
INDEX_HAS_NOT = Refusal(404, "Not found")

# The node (supplement 1.9, 1.5, 1.11) --------------------------------------------------------------------------------

BLOCK_NOT_FOUND = Refusal(400, "Block not found", -5)
HEIGHT_OUT_OF_RANGE = Refusal(400, "Block height out of range", -8)
NOT_AN_INTEGER = Refusal(400, "JSON value is not an integer as expected", -1)
INTEGER_OUT_OF_RANGE = Refusal(400, "JSON integer out of range", -1)
NOT_IN_MEMPOOL = Refusal(400, "Transaction not in mempool", -5)
DECODE_FAILED = Refusal(400, "TX decode failed", -22)
NOT_YET_IN_BLOCK = Refusal(400, "Transaction not yet in block", -5)
BLOCK_NOT_IN_CHAIN = Refusal(400, "Block not found in chain", -5)
NOT_HEXADECIMAL = Refusal(400, "{name} must be hexadecimal string (not '{value}')", -8)
WRONG_LENGTH = Refusal(400, "{name} must be of length 64 (not {length})", -8)
NO_SUCH_TRANSACTION = Refusal(
    400, "No such mempool or blockchain transaction. Use gettransaction for wallet transactions.", -5
)
GENESIS_COINBASE = Refusal(
    400, "The genesis block coinbase is not considered an ordinary transaction and cannot be retrieved", -5
)
MISSING_INPUTS = Refusal(400, "Missing inputs", -25)
ALREADY_IN_CHAIN = Refusal(400, "transaction already in block chain", -27)
REJECTED = Refusal(400, "{reason} (code {code})", -26)

PROPERTY_OUT_OF_RANGE = Refusal(400, "Property identifier is out of range", -8)
PROPERTY_UNKNOWN = Refusal(400, "Property identifier does not exist", -8)
PROPERTY_NOT_MANAGED = Refusal(400, "Property identifier does not refer to a managed property", -8)
PROPERTY_NOT_CROWDSALE = Refusal(400, "Property identifier does not refer to a crowdsale", -8)
NOT_A_CASH_ADDRESS = Refusal(400, "Invalid address. Note: use cashAddress", -5)
TOKEN_HEIGHT_OUT_OF_RANGE = Refusal(400, "Block height is out of range", -8)
NOT_A_TOKEN_TRANSACTION = Refusal(400, "Not a Wormhole Protocol transaction", -5)
NOTHING_KNOWN_OF_TRANSACTION = Refusal(400, "No information available about transaction", -5)
COLLECTIBLE_PROPERTY_UNKNOWN = Refusal(400, "ERC721 property identifier does not exist", -8)
COLLECTIBLE_UNKNOWN = Refusal(400, "ERC721 token identifier does not exist", -8)
NO_TOKENS = "No tokens found."  # the whole body, with status 200

INVALID_AMOUNT = Refusal(400, "Invalid amount", -3)
INVALID_ECOSYSTEM = Refusal(400, "Invalid ecosystem (1 = main, 2 = test only)", -8)
ECOSYSTEM_NOT_MAIN = Refusal(400, "property ecosystem must be 1", -8)
INVALID_PRECISION = Refusal(400, "Invalid property type, type range must be [0, 8]", -8)
NAME_EMPTY = Refusal(400, "Property name must not be empty", -8)
TEXT_TOO_LONG = Refusal(400, "Text must not be longer than 255 characters", -8)
ONLY_FIRST_PROPERTY = Refusal(400, "Property ID only support WHC", -8)
TOKEN_PRICE = Refusal(400, "token price must be [1 * 10^-8, 1* 10^8]", -8)
EARLY_BONUS = Refusal(400, "Early bird bonus must be in the range of 0-255 percent per week", -8)
DEADLINE = Refusal(400, "Deadline must be positive", -8)

# Arguments, by operation (supplement 1.8) ----------------------------------------------------------------------------

INVALID_ADDRESS = Refusal(400, "Invalid BCH address. Double check your address is valid: {value}")
INVALID_NETWORK = Refusal(400, "Invalid network. Trying to use a testnet address on mainnet, or vice versa.")
INVALID_NETWORK_FOR = Refusal(
    400, "Invalid network for address {value}. Trying to use a testnet address on mainnet, or vice versa."
)
CONVERT_FAILED = Refusal(500, "Error in /address/convert/:address: " + INVALID_ADDRESS.text)
TOO_SHORT_ID = Refusal(400, "parameter 1 must be of length 64 (not {length}). Code:-8")
EMPTY_MEMBER = Refusal(400, "{name} can not be empty")
NOT_A_TXID = Refusal(400, "This is not a txid")
SLP_TRANSACTION_UNKNOWN = Refusal(404, "SLP transaction not found")
SLP_NOT_A_MESSAGE = "SLP OP_RETURN parsing error (Bad OP_RETURN)."  # under `invalidReason`, with status 200
CASH_ACCOUNT_UNKNOWN = Refusal(500, "No account could be found with the requested parameters.")
CASH_ACCOUNT_MALFORMED = Refusal(500, "Not a valid CashAccount")

_SINGLE_ADDRESS = "addresses needs to be an array. Use GET for single address."
_SINGLE_TOKEN = "tokenIds needs to be an array. Use GET for single tokenId."  # noqa: S105  # words, no secret
NOT_AN_ARRAY = {
    "get_block_headers": "hashes needs to be an array. Use GET for single hash.",
    "get_mempool_entries": "txids needs to be an array. Use GET for single txid.",
    "get_tx_out_proofs": "txids needs to be an array. Use GET for single txid.",
    "verify_tx_out_proofs": "proofs needs to be an array. Use GET for single proof.",
    "get_slp_tokens_by_id": _SINGLE_TOKEN,
    "get_slp_balances_of_tokens": _SINGLE_TOKEN,
    "get_slp_stats_of_tokens": _SINGLE_TOKEN,
    "convert_addresses": _SINGLE_ADDRESS,
    "validate_slp_transactions": "txids needs to be an array",
    "decode_transactions": "hexes must be an array",
    "decode_scripts": "hexes must be an array",
    "send_raw_transactions": "hex must be an array",
    "get_details_of_addresses": _SINGLE_ADDRESS,
    "get_utxos_of_addresses": "addresses needs to be an array",
    "get_unconfirmed_of_addresses": "addresses needs to be an array",
    "get_transactions_of_addresses": "addresses needs to be an array",
    "get_blocks_by_hash": "hashes needs to be an array. Use GET for single address.",  # sic
    "get_blocks_by_height": "heights needs to be an array. Use GET for single height.",
    "validate_addresses": _SINGLE_ADDRESS,
    "get_details_of_transactions": "txids needs to be an array",
    "get_raw_transactions": "txids must be an array",
}
"""What a bulk operation says, with status 400, when its member is no array."""

BAD_ELEMENT = {
    "get_block_headers": "This is not a hash: {value}",
    "get_mempool_entries": "This is not a txid",
    "get_tx_out_proofs": "Invalid txid. Double check your txid is valid: {value}",
    "get_blocks_by_hash": "Invalid hash. Double check your hash is valid: {value}",
    "get_details_of_addresses": INVALID_ADDRESS.text,
    "get_utxos_of_addresses": INVALID_ADDRESS.text,
    "get_unconfirmed_of_addresses": INVALID_ADDRESS.text,
    "get_transactions_of_addresses": INVALID_ADDRESS.text,
    "validate_addresses": INVALID_ADDRESS.text,
    "convert_addresses": INVALID_ADDRESS.text,
    "get_raw_transactions": WRONG_LENGTH.text.replace("{name}", "parameter 1"),
}
"""What it says, with status 400, of one element that is not what it should be."""

EMPTY_ELEMENT = {
    "verify_tx_out_proofs": "proof can not be empty: {value}",
    "convert_addresses": "address can not be empty",
    "decode_transactions": "Encountered empty hex",
    "decode_scripts": "Encountered empty hex",
    "send_raw_transactions": "Encountered empty hex",
    "get_raw_transactions": "Encountered empty TXID",
    "get_blocks_by_height": "height must not be empty",
}
"""What it says, with status 400, of an empty element."""


# The client's side ---------------------------------------------------------------------------------------------------


class Case(Enum):
    """What an error means for the caller."""

    WRONG = "the request is invalid"
    ABSENT = "not found by the service"
    BUSY = "too many requests: wait for the rate-limit window to end"
    TOO_LARGE = "too many items in one request: split it"
    AWAY = "the service or its node is unavailable: try again later"


@dataclass(frozen=True, slots=True)
class ErrorReply:
    """An error answer: its case, the service's text, cut to 200 printable characters, and a node's code."""

    case: Case
    text: str
    code: int | None = None


_ABSENT_TEXTS = frozenset(
    refusal.text
    for refusal in (
        BLOCK_NOT_FOUND,
        HEIGHT_OUT_OF_RANGE,
        NOT_IN_MEMPOOL,
        NOT_YET_IN_BLOCK,
        BLOCK_NOT_IN_CHAIN,
        NO_SUCH_TRANSACTION,
        PROPERTY_UNKNOWN,
        NOT_A_TOKEN_TRANSACTION,
        NOTHING_KNOWN_OF_TRANSACTION,
        COLLECTIBLE_PROPERTY_UNKNOWN,
        COLLECTIBLE_UNKNOWN,
        CASH_ACCOUNT_UNKNOWN,
        CASH_ACCOUNT_MALFORMED,
    )
)
_AWAY_STATUSES = (408, 502, 503, 504)
_MOST_CHARACTERS = 200


def read(http_status: int, body: bytes) -> ErrorReply:
    """The meaning of an answer other than 200, in any of the envelopes; without an envelope it has no text."""
    text, code = _text_and_code(body)
    if http_status == 429:
        return ErrorReply(Case.TOO_LARGE if text == ARRAY_TOO_LARGE.text else Case.BUSY, text, code)
    if text in _ABSENT_TEXTS or http_status == 404:
        return ErrorReply(Case.ABSENT, text, code)
    if http_status == 500 and text.startswith(CONVERT_FAILED.text.partition("Double")[0]):
        return ErrorReply(Case.WRONG, text, code)
    if http_status in _AWAY_STATUSES or http_status >= 500:
        return ErrorReply(Case.AWAY, text, code)
    return ErrorReply(Case.WRONG, text, code)


def _text_and_code(body: bytes) -> tuple[str, int | None]:
    try:
        decoded = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "", None
    error = decoded.get("error", decoded.get("message")) if isinstance(decoded, dict) else decoded
    code = None
    if isinstance(error, dict):
        number = error.get("code")
        code = number if isinstance(number, int) and not isinstance(number, bool) else None
        error = error.get("message")
    text = error if isinstance(error, str) else ""
    return "".join(each if each.isprintable() else " " for each in text[:_MOST_CHARACTERS]), code
