"""Whether a text is an address (chain data, Util; supplement 1.5 and 1.8)."""

from collections.abc import Mapping

from chaindata.wire.addresses import Kind
from chaindata.wire.scripts import steps
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import naming
from sandbox.chain.handlers.elements import elements, text
from sandbox.chain.node.terms import Refused

Members = dict[str, object]


def validate_address(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What is known of an address; of anything else, and of addresses of other networks, that it is none."""
    try:
        return _validated(text(arguments, "address"))
    except Refused:
        return {"isvalid": False}


def validate_addresses(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Several, in their order; one that is none fails the call."""
    return [_validated(each) for each in elements(arguments, "addresses")]


def _validated(written: str) -> Members:
    address = naming.read(written)
    return {
        "isvalid": True,
        "address": address.cash_address,
        "scriptPubKey": steps.locking(address).hex(),
        "ismine": False,
        "iswatchonly": False,
        "isscript": address.kind is Kind.SCRIPT,
    }


HANDLERS = {each.__name__: each for each in (validate_address, validate_addresses)}
