"""Collectibles (chain data, Token data retrieval; supplement 1.11): ids in decimal, taken in hexadecimal too."""

import re
from collections.abc import Mapping

from chaindata.wire import refusals
from chaindata.wire.refusals import Refusal
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers.elements import text
from sandbox.chain.handlers.tokens import token_arguments
from sandbox.chain.handlers.tokens.token_arguments import Members
from sandbox.chain.node.terms import Refused
from sandbox.chain.state import Chain
from sandbox.chain.tokens.collectibles import Collectible, Family, Gallery
from sandbox.chain.tokens.properties_terms import BURN_ADDRESS

_NUMBER = re.compile(r"0[xX](?P<hexadecimal>[0-9a-fA-F]{1,64})|(?P<decimal>[0-9]{1,78})")


def get_collectibles_of_address(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What an address has of a family."""
    gallery, address = node.chain.properties.state.gallery, token_arguments.checked_address(arguments)
    return [_listed(each) for each in gallery.owned(_family(gallery, arguments).id, address)]


def get_destroyed_collectibles(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What is destroyed of a family: the burn address has it."""
    gallery = node.chain.properties.state.gallery
    return [_listed(each) for each in gallery.owned(_family(gallery, arguments).id, BURN_ADDRESS)]


def get_collectible_property(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A family, with its counts."""
    chain = node.chain
    family = _family(chain.properties.state.gallery, arguments)
    return {
        "propertyid": str(family.id),
        "owner": family.owner,
        "creationtxid": family.txid,
        "creationblock": _block_hash(chain, family.height),
        "name": family.name,
        "symbol": family.symbol,
        "data": family.data,
        "propertyurl": family.url,
        "totalTokenNumber": family.most,
        "haveIssuedNumber": family.issued,
        "currentValidIssuedNumer": family.issued - family.destroyed,
    }


def get_collectible(node: FullNode, arguments: Mapping[str, object]) -> object:
    """One collectible, destroyed or not."""
    chain, gallery = node.chain, node.chain.properties.state.gallery
    family = _family(gallery, arguments)
    collectible = gallery.find(family.id, _number(arguments, "tokenId", refusals.COLLECTIBLE_UNKNOWN))
    if collectible is None:
        raise Refused(refusals.COLLECTIBLE_UNKNOWN)
    return {
        "propertyid": str(family.id),
        "tokenid": str(collectible.id),
        "owner": collectible.owner,
        "creationtxid": collectible.txid,
        "creationblock": _block_hash(chain, collectible.height),
        "attribute": _attribute(collectible),
        "tokenurl": collectible.url,
    }


def _listed(collectible: Collectible) -> Members:
    return {
        "tokenid": str(collectible.id),
        "attribute": _attribute(collectible),
        "tokenurl": collectible.url,
        "creationtxid": collectible.txid,
    }


def _attribute(collectible: Collectible) -> str:
    """The attribute as its 256 bits in hexadecimal (supplement 10)."""
    return f"{collectible.attribute:064x}"


def _block_hash(chain: Chain, height: int) -> str:
    """The block of the active chain in which something was made, by its hash (supplement 10)."""
    block = chain.at(height)
    if block is None:
        raise LookupError(f"the chain has no block {height}")
    return block.hash


def _family(gallery: Gallery, arguments: Mapping[str, object]) -> Family:
    family = gallery.families.get(_number(arguments, "propertyId", refusals.COLLECTIBLE_PROPERTY_UNKNOWN))
    if family is None:
        raise Refused(refusals.COLLECTIBLE_PROPERTY_UNKNOWN)
    return family


def _number(arguments: Mapping[str, object], name: str, refusal: Refusal) -> int:
    """An id. Raises `Refused` for what is none: there is nothing of that id."""
    match = _NUMBER.fullmatch(text(arguments, name))
    if match is None:
        raise Refused(refusal)
    return int(match["decimal"]) if match["decimal"] else int(match["hexadecimal"], 16)


HANDLERS = {
    each.__name__: each
    for each in (
        get_collectibles_of_address,
        get_destroyed_collectibles,
        get_collectible_property,
        get_collectible,
    )
}
