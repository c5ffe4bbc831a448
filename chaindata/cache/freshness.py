"""How long an answer of the chain-data service stays fresh: a row for every operation of the catalogue.

Three things make an answer stale: its time is up, a new block may have changed it, or a block that it depends on has
left the chain. An answer whose blocks are buried, or that follows from the question alone, is final: it is fetched
again only after a reorganisation that reaches it.
"""

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum

# Confirmations. Nodes of this chain finalise a block, and refuse every chain without it, when it is ten deep (their
# default of `maxreorgdepth`). Should one be replaced all the same, its answers are asked for again.
BURIED = 10


class Final(Enum):
    """When an answer becomes final."""

    NEVER = "never"
    AT_ONCE = "it never changes"
    BURIED = "its blocks are deeply confirmed"


@dataclass(frozen=True, slots=True)
class Freshness:
    """How the answers to one operation age.

    `fresh_for` is how long an answer is fresh. With `by_block` it is fetched again after every new block as well. The
    answer that there is no such thing holds for `absent_for`. `bulk` names the operation that answers many at once.
    """

    fresh_for: timedelta
    final: Final = Final.NEVER
    by_block: bool = False
    absent_for: timedelta = timedelta(seconds=10)
    bulk: str = ""


_SECONDS = {seconds: timedelta(seconds=seconds) for seconds in (3, 5, 10, 30, 60, 600)}
_TIP = Freshness(_SECONDS[3], by_block=True)
_NODE = Freshness(_SECONDS[60])
_MEMPOOL = Freshness(_SECONDS[5], by_block=True)
_STATE = Freshness(_SECONDS[600], by_block=True)  # of a token layer: only a block can change it
_MOVING = Freshness(_SECONDS[10], by_block=True)  # with what waits in the mempool
_IN_BLOCK = Freshness(_SECONDS[30], Final.BURIED, by_block=True)
_PURE = Freshness(_SECONDS[600], Final.AT_ONCE, absent_for=_SECONDS[60])


def _bulk(row: Freshness, bulk: str) -> Freshness:
    return Freshness(row.fresh_for, row.final, row.by_block, row.absent_for, bulk)


FRESHNESS: dict[str, Freshness | None] = {
    # Blockchain
    "get_best_block_hash": _TIP,
    "get_blockchain_info": _TIP,
    "get_block_count": _TIP,
    "get_block_header": _IN_BLOCK,
    "get_block_headers": None,
    "get_chain_tips": Freshness(_SECONDS[10], by_block=True),
    "get_difficulty": _TIP,
    "get_mempool_entry": _bulk(_MEMPOOL, "get_mempool_entries"),
    "get_mempool_entries": None,
    "get_mempool_info": _MEMPOOL,
    "get_raw_mempool": _MEMPOOL,
    "get_tx_out": _MOVING,
    "get_tx_out_proof": _bulk(_IN_BLOCK, "get_tx_out_proofs"),
    "get_tx_out_proofs": None,
    "verify_tx_out_proof": Freshness(_SECONDS[30], by_block=True),
    "verify_tx_out_proofs": None,
    # Token data retrieval
    "get_token_balance": _STATE,
    "get_token_balances_of_address": _STATE,
    "get_token_balances_of_property": _STATE,
    "get_balances_hash": _STATE,
    "get_crowdsale": _STATE,
    "get_consensus_hash": _STATE,
    "get_grants": _STATE,
    "get_token_layer": _STATE,
    "get_payload": Freshness(_SECONDS[600], Final.AT_ONCE),
    "get_property": _STATE,
    "get_seed_blocks": _IN_BLOCK,
    "get_send_to_owners": _IN_BLOCK,
    "get_token_transaction": _IN_BLOCK,
    "get_token_transactions_of_block": _IN_BLOCK,
    "get_pending_token_transactions": _MOVING,
    "get_properties": _STATE,
    "get_frozen_balance": _STATE,
    "get_frozen_balances_of_address": _STATE,
    "get_frozen_balances_of_property": _STATE,
    "get_collectibles_of_address": _STATE,
    "get_destroyed_collectibles": _STATE,
    "get_collectible_property": _STATE,
    "get_collectible": _STATE,
    # Simple-ledger tokens
    "get_slp_tokens": _MOVING,
    "get_slp_token": _bulk(_MOVING, "get_slp_tokens_by_id"),
    "get_slp_tokens_by_id": None,
    "convert_address": _bulk(_PURE, "convert_addresses"),
    "convert_addresses": None,
    "validate_slp_transaction": _bulk(
        Freshness(_SECONDS[10], Final.AT_ONCE, by_block=True), "validate_slp_transactions"
    ),
    "validate_slp_transactions": None,
    "get_slp_balances_of_address": _MOVING,
    "get_slp_balances_of_token": _MOVING,
    "get_slp_balance": _MOVING,
    "get_slp_token_stats": _bulk(_MOVING, "get_slp_stats_of_tokens"),
    "get_slp_transaction": _IN_BLOCK,
    "get_slp_transactions": _MOVING,
    "get_slp_burn_total": _bulk(Freshness(_SECONDS[60]), "get_slp_burn_totals"),
    "create_slp_token": None,
    "mint_slp_token": None,
    "send_slp_token": None,
    # Payload creation: from the question, and from how finely a property is divided, which never changes
    "make_burn_payload": _PURE,
    "make_change_issuer_payload": _PURE,
    "make_close_crowdsale_payload": _PURE,
    "make_grant_payload": _PURE,
    "make_crowdsale_payload": _PURE,
    "make_fixed_property_payload": _PURE,
    "make_managed_property_payload": _PURE,
    "make_participation_payload": _PURE,
    "make_revoke_payload": _PURE,
    "make_send_all_payload": _PURE,
    "make_simple_send_payload": _PURE,
    "make_send_to_owners_payload": _PURE,
    "make_freeze_payload": _PURE,
    "make_unfreeze_payload": _PURE,
    # Raw transactions
    "decode_transaction": _bulk(_PURE, "decode_transactions"),
    "decode_transactions": None,
    "decode_script": _bulk(_PURE, "decode_scripts"),
    "decode_scripts": None,
    "get_raw_transaction": _IN_BLOCK,
    "send_raw_transaction": None,
    "send_raw_transactions": None,
    # Address
    "get_address_details": _MOVING,
    "get_details_of_addresses": None,
    "get_address_utxos": _bulk(_MOVING, "get_utxos_of_addresses"),
    "get_utxos_of_addresses": None,
    "get_address_unconfirmed": _bulk(_MOVING, "get_unconfirmed_of_addresses"),
    "get_unconfirmed_of_addresses": None,
    "get_address_transactions": _MOVING,
    "get_transactions_of_addresses": None,
    # Cash accounts
    "look_up_cash_account": _STATE,
    "check_cash_account": _IN_BLOCK,
    "find_cash_accounts": _STATE,
    # Block
    "get_block_by_hash": _bulk(_IN_BLOCK, "get_blocks_by_hash"),
    "get_blocks_by_hash": None,
    "get_block_by_height": _bulk(_IN_BLOCK, "get_blocks_by_height"),
    "get_blocks_by_height": None,
    # Util
    "validate_address": _bulk(_PURE, "validate_addresses"),
    "validate_addresses": None,
    # Transaction
    "get_transaction_details": _bulk(_IN_BLOCK, "get_details_of_transactions"),
    "get_details_of_transactions": None,
    # Control
    "get_node_info": _NODE,
    "get_network_info": _NODE,
    # Supplement
    "get_raw_transactions": None,
    "get_slp_balances_of_addresses": None,
    "get_slp_balances_of_tokens": None,
    "get_slp_balances": None,
    "get_slp_stats_of_tokens": None,
    "get_slp_burn_totals": None,
    "get_slp_transactions_of_pairs": None,
    "get_slp_history_of_address": _MOVING,
}
"""None: not stored. A bulk answer is stored as answers of the single form; what changes the chain is never stored."""
