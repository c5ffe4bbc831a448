"""What is asked about simple-ledger tokens: lists, addresses, validity, statistics (chain data, Simple-ledger tokens;
supplement 1.8 and 3).

Arrays come as texts, their sizes checked. Each element is looked at before any is answered: a bad one fails the call.
"""

from chaindata.wire import refusals
from chaindata.wire.addresses import Address, NotAnAddress
from chaindata.wire.hashing import NotHexadecimal, from_display_hex
from chaindata.wire.records.slp import NOT_FOUND
from chaindata.wire.refusals import Refusal
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import naming
from sandbox.chain.handlers.arguments import Arguments, text, texts
from sandbox.chain.handlers.simple_ledger import simple_ledger_forms
from sandbox.chain.node.terms import Refused
from sandbox.chain.simple_ledger import simple_ledger_figures
from sandbox.chain.simple_ledger.simple_ledger import newest_first
from sandbox.chain.state import Chain

MOST_LISTED = 10_000  # tokens in one list
UNKNOWN = "No such transaction is known."  # under `invalidReason`

# The list ------------------------------------------------------------------------------------------------------------


def get_slp_tokens(node: FullNode, arguments: Arguments) -> object:
    """Every token, the newest first; a genesis that still waits comes before the others."""
    return [simple_ledger_forms.token(node.chain, each) for each in node.chain.simple_ledger.tokens()[:MOST_LISTED]]


def get_slp_token(node: FullNode, arguments: Arguments) -> object:
    """One token."""
    return _token(node.chain, text(arguments, "tokenId")) or {"id": NOT_FOUND}


def get_slp_tokens_by_id(node: FullNode, arguments: Arguments) -> object:
    """The tokens that are known in the order of the list, then the other ids; each as often as it is asked for."""
    token_ids = texts(arguments, "tokenIds")
    tokens = {each: node.chain.simple_ledger.token(each) for each in dict.fromkeys(token_ids)}
    existing = sorted((token for each in token_ids if (token := tokens[each]) is not None), key=newest_first)
    unknown = [_unknown(each) for each in token_ids if tokens[each] is None]
    return [*(simple_ledger_forms.token(node.chain, each) for each in existing), *unknown]


def get_slp_token_stats(node: FullNode, arguments: Arguments) -> object:
    """One token, as in the list."""
    return get_slp_token(node, arguments)


def get_slp_stats_of_tokens(node: FullNode, arguments: Arguments) -> object:
    """Several tokens, each in its place."""
    return [_token(node.chain, each) or _unknown(each) for each in texts(arguments, "tokenIds")]


def _token(chain: Chain, token_id: str) -> dict[str, object] | None:
    token = chain.simple_ledger.token(token_id)
    return None if token is None else simple_ledger_forms.token(chain, token)


def _unknown(token_id: str) -> dict[str, object]:
    return {"id": token_id, "valid": False}


# Addresses -----------------------------------------------------------------------------------------------------------


def convert_address(node: FullNode, arguments: Arguments) -> object:
    """The three forms of an address of any network."""
    spelling = text(arguments, "address")
    try:
        return _three_forms(naming.of_any_network(spelling))
    except NotAnAddress:
        raise Refused(refusals.CONVERT_FAILED, value=spelling) from None


def convert_addresses(node: FullNode, arguments: Arguments) -> object:
    """The three forms of several."""
    operation, conversions = "convert_addresses", []
    for spelling in texts(arguments, "addresses"):
        if not spelling:
            raise Refused(Refusal(400, refusals.EMPTY_ELEMENT[operation]))
        try:
            conversions.append(_three_forms(naming.of_any_network(spelling)))
        except NotAnAddress:
            raise Refused(Refusal(400, refusals.BAD_ELEMENT[operation]), value=spelling) from None
    return conversions


def _three_forms(address: Address) -> dict[str, object]:
    return {
        "slpAddress": address.slp_address,
        "cashAddress": address.cash_address,
        "legacyAddress": address.legacy_address,
    }


# Validity ------------------------------------------------------------------------------------------------------------


def validate_slp_transaction(node: FullNode, arguments: Arguments) -> object:
    """Whether a transaction moves tokens by the rules, and if not, why."""
    return _validity(node.chain, text(arguments, "txid"))


def validate_slp_transactions(node: FullNode, arguments: Arguments) -> object:
    """The same of several, each in its place, as often as it is asked for."""
    return [_validity(node.chain, each) for each in texts(arguments, "txids")]


def _validity(chain: Chain, txid: str) -> dict[str, object]:
    judged = chain.simple_ledger.judged(txid_bytes(txid))
    reason = UNKNOWN if judged is None else judged.verdict.reason
    return {"txid": txid, "valid": reason is None} | ({} if reason is None else {"invalidReason": reason})


def txid_bytes(txid: str) -> bytes:
    """The id as computed. Raises `Refused` for a text that is none."""
    try:
        return from_display_hex(txid)
    except NotHexadecimal:
        raise Refused(refusals.NOT_A_TXID) from None


# Burns ---------------------------------------------------------------------------------------------------------------


def get_slp_burn_total(node: FullNode, arguments: Arguments) -> object:
    """What a transaction lost of the tokens that it spent."""
    return _burn(node, text(arguments, "transactionId"))


def get_slp_burn_totals(node: FullNode, arguments: Arguments) -> object:
    """The same of several, each in its place."""
    return [_burn(node, each) for each in texts(arguments, "txids")]


def _burn(node: FullNode, txid: str) -> dict[str, object]:
    """Zeros for an unknown transaction, and for a text that names none."""
    try:
        id_bytes = from_display_hex(txid)
    except NotHexadecimal:
        id_bytes = b""
    burn = simple_ledger_figures.burn_of(node.chain.simple_ledger, id_bytes, is_observed=node.config.is_observed)
    return {
        "transactionId": txid,
        "inputTotal": simple_ledger_forms.shortest(burn.inputs),
        "outputTotal": simple_ledger_forms.shortest(burn.outputs),
        "burnTotal": simple_ledger_forms.shortest(burn.burned),
    }


HANDLERS = {
    function.__name__: function
    for function in (
        get_slp_tokens,
        get_slp_token,
        get_slp_tokens_by_id,
        get_slp_token_stats,
        get_slp_stats_of_tokens,
        convert_address,
        convert_addresses,
        validate_slp_transaction,
        validate_slp_transactions,
        get_slp_burn_total,
        get_slp_burn_totals,
    )
}
