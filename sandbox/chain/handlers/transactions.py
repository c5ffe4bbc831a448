"""Transactions with what they spend and what became of them (chain data, Transaction; supplement 1.2 and 1.8)."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from chaindata.wire import refusals
from chaindata.wire.refusals import Refusal
from sandbox.chain.handlers import details
from sandbox.chain.handlers.elements import elements, id_bytes, text
from sandbox.chain.node.terms import Refused

if TYPE_CHECKING:
    from sandbox.world.world import World

_NOT_HEXADECIMAL = Refusal(400, refusals.NOT_HEXADECIMAL.text + ". Code:-8", refusals.NOT_HEXADECIMAL.code)


def get_transaction_details(world: "World", arguments: Mapping[str, object]) -> object:
    """One transaction of the chain or the mempool."""
    return _details(world, text(arguments, "txid"))


def get_details_of_transactions(world: "World", arguments: Mapping[str, object]) -> object:
    """Several, in the order they were asked for."""
    return [_details(world, each) for each in elements(arguments, "txids")]


def _details(world: "World", txid: str) -> details.Members:
    txid_bytes = id_bytes(txid, "parameter 1", not_hexadecimal=_NOT_HEXADECIMAL, wrong_length=refusals.TOO_SHORT_ID)
    found = world.chain.find(txid_bytes)
    if found is None:
        raise Refused(refusals.INDEX_HAS_NOT)
    return details.of(world.chain, found)


HANDLERS = {each.__name__: each for each in (get_transaction_details, get_details_of_transactions)}
