"""Reading what calls about property tokens are given, and what a node says of it when it is odd (supplement 1.11)."""

from collections.abc import Mapping

from chaindata.wire import refusals
from chaindata.wire.tokens.amounts import amount_text
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import naming
from sandbox.chain.handlers.elements import id_bytes, number, text
from sandbox.chain.node.terms import Occurrence, Refused
from sandbox.chain.tokens.properties_state import Property, State

Members = dict[str, object]


def address(arguments: Mapping[str, object], name: str = "address") -> str:
    """An address as the layer writes it, from any spelling. Raises `Refused`."""
    return cash_address(text(arguments, name))


def checked_address(arguments: Mapping[str, object], name: str = "address") -> str:
    """The same where the service itself checks the address before the node sees it (supplement 10)."""
    return naming.read(text(arguments, name)).cash_address


def cash_address(written: str) -> str:
    """The address that a text spells, as the layer writes it. Raises `Refused`."""
    try:
        return naming.read(written).cash_address
    except Refused:
        raise Refused(refusals.NOT_A_CASH_ADDRESS) from None


def existing(state: State, arguments: Mapping[str, object]) -> Property:
    """The property that is asked about. Raises `Refused`."""
    token_property = state.properties.get(number(arguments, "propertyId"))
    if token_property is None:
        raise Refused(refusals.PROPERTY_UNKNOWN)
    return token_property


def managed(state: State, arguments: Mapping[str, object]) -> Property:
    """The managed property that is asked about. Raises `Refused`."""
    token_property = existing(state, arguments)
    if not token_property.is_managed:
        raise Refused(refusals.PROPERTY_NOT_MANAGED)
    return token_property


def height(node: FullNode, arguments: Mapping[str, object], name: str) -> int:
    """The height of a block that is there. Raises `Refused`."""
    block_height = number(arguments, name)
    if not 0 <= block_height <= node.chain.tip.height:
        raise Refused(refusals.TOKEN_HEIGHT_OUT_OF_RANGE)
    return block_height


def transaction(node: FullNode, arguments: Mapping[str, object]) -> Occurrence:
    """The transaction of the chain or the mempool that is asked about. Raises `Refused`."""
    occurrence = node.chain.find(id_bytes(text(arguments, "txid"), "txid"))
    if occurrence is None:
        raise Refused(refusals.NOTHING_KNOWN_OF_TRANSACTION)
    return occurrence


def balance(units: int, about: Property) -> Members:
    """What somebody holds; nothing is ever reserved."""
    return {"balance": amount_text(units, about.precision), "reserved": amount_text(0, about.precision)}
