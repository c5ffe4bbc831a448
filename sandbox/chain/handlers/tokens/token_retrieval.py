"""Balances of property tokens, digests, and the layer by block (chain data, Token data retrieval; supplement 1.11)."""

from collections.abc import Mapping

from chaindata.wire import refusals
from chaindata.wire.tokens.amounts import amount_text
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers.tokens import token_arguments
from sandbox.chain.handlers.tokens.token_arguments import Members
from sandbox.chain.tokens import properties_hashes

PROTOCOL_NUMBER, PROTOCOL, NODE = 20_001_000, "0.2.1", "0.18.2"


# Balances ------------------------------------------------------------------------------------------------------------


def get_token_balance(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What an address holds of a property."""
    state, address = node.chain.properties.state, token_arguments.address(arguments)
    about = token_arguments.existing(state, arguments)
    return token_arguments.balance(state.balance(about.id, address), about)


def get_token_balances_of_address(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What an address holds of each property; the text when that is nothing."""
    state, address = node.chain.properties.state, token_arguments.checked_address(arguments)
    rows = [
        {"propertyid": property_id, **token_arguments.balance(units, state.properties[property_id])}
        for property_id, units in state.holdings(address)
    ]
    return rows or refusals.NO_TOKENS


def get_token_balances_of_property(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Who holds something of a property."""
    state = node.chain.properties.state
    about = token_arguments.existing(state, arguments)
    return [{"address": address, **token_arguments.balance(units, about)} for address, units in state.holders(about.id)]


def get_frozen_balance(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Whether what an address holds of a managed property is frozen, and how much that is in any case."""
    state, address = node.chain.properties.state, token_arguments.checked_address(arguments)
    about = token_arguments.managed(state, arguments)
    units = state.balance(about.id, address)
    return {"frozen": state.is_frozen(about.id, address), "balance": amount_text(units, about.precision)}


def get_frozen_balances_of_address(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The frozen balances of an address."""
    state, address = node.chain.properties.state, token_arguments.checked_address(arguments)
    return [
        {"propertyid": property_id, "balance": amount_text(state.balance(property_id, address), about.precision)}
        for property_id, about in sorted(state.properties.items())
        if state.is_frozen(property_id, address)
    ]


def get_frozen_balances_of_property(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The frozen balances in a managed property."""
    state = node.chain.properties.state
    about = token_arguments.managed(state, arguments)
    return [
        {"address": address, "balance": amount_text(state.balance(about.id, address), about.precision)}
        for address in sorted(state.frozen.get(about.id, ()))
    ]


# Digests and blocks --------------------------------------------------------------------------------------------------


def get_balances_hash(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The digest of all balances in a property at the tip."""
    state = node.chain.properties.state
    about = token_arguments.existing(state, arguments)
    return {**_tip(node), "propertyid": about.id, "balanceshash": properties_hashes.balances(state, about.id)}


def get_consensus_hash(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The digest of the whole layer at the tip."""
    return {**_tip(node), "consensushash": properties_hashes.consensus(node.chain.properties.state)}


def get_token_layer(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Versions and counts; each version by the specification's name and by that of real servers."""
    ledger, tip = node.chain.properties, node.chain.tip
    return {
        "tokenprotocolversion_int": PROTOCOL_NUMBER,
        "tokenprotocolversion": PROTOCOL,
        "nodesoftwareversion": NODE,
        "wormholeversion_int": PROTOCOL_NUMBER,
        "wormholeversion": PROTOCOL,
        "bitcoincoreversion": NODE,
        "block": tip.height,
        "blocktime": tip.header.time,
        "blocktransactions": len(ledger.records_at(tip.height)),
        "totaltransactions": ledger.count(),
        "alerts": [],
    }


def get_seed_blocks(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The heights of the blocks with transactions of the layer, both ends included."""
    first, last = (token_arguments.height(node, arguments, name) for name in ("startBlock", "endBlock"))
    return node.chain.properties.heights(first, last)


def get_token_transactions_of_block(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The ids of the transactions that the layer saw in a block, valid or not."""
    height = token_arguments.height(node, arguments, "index")
    return [record.carried.txid for record in node.chain.properties.records_at(height)]


def _tip(node: FullNode) -> Members:
    return {"block": node.chain.tip.height, "blockhash": node.chain.tip.hash}


HANDLERS = {
    each.__name__: each
    for each in (
        get_token_balance,
        get_token_balances_of_address,
        get_token_balances_of_property,
        get_frozen_balance,
        get_frozen_balances_of_address,
        get_frozen_balances_of_property,
        get_balances_hash,
        get_consensus_hash,
        get_token_layer,
        get_seed_blocks,
        get_token_transactions_of_block,
    )
}
