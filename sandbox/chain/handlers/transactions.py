"""Transactions with what they spend and what became of them (chain data, Transaction; supplement 1.2 and 1.8)."""

from collections.abc import Mapping

from chaindata.wire import refusals
from chaindata.wire.refusals import Refusal
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import details
from sandbox.chain.handlers.elements import elements, id_bytes, text
from sandbox.chain.node.terms import Refused

_NOT_HEXADECIMAL = Refusal(400, refusals.NOT_HEXADECIMAL.text + ". Code:-8", refusals.NOT_HEXADECIMAL.code)


def get_transaction_details(node: FullNode, arguments: Mapping[str, object]) -> object:
    """One transaction of the chain or the mempool."""
    return _details(node, text(arguments, "txid"))


def get_details_of_transactions(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Several, in the order they were asked for."""
    return [_details(node, each) for each in elements(arguments, "txids")]


def _details(node: FullNode, txid: str) -> details.Members:
    txid_bytes = id_bytes(txid, "parameter 1", not_hexadecimal=_NOT_HEXADECIMAL, wrong_length=refusals.TOO_SHORT_ID)
    occurrence = node.chain.find(txid_bytes)
    if occurrence is None:
        raise Refused(refusals.INDEX_HAS_NOT)
    return details.details(node.chain, occurrence)


HANDLERS = {each.__name__: each for each in (get_transaction_details, get_details_of_transactions)}
