"""A transaction with its meaning for simple-ledger tokens (chain data, txDetails; supplement 1.8 and 3)."""

from typing import TYPE_CHECKING, Any

from chaindata.wire import refusals
from sandbox.chain.handlers import details, naming
from sandbox.chain.handlers.arguments import Arguments, text
from sandbox.chain.handlers.simple_ledger import simple_ledger_forms as forms
from sandbox.chain.handlers.simple_ledger.simple_ledger import txid_bytes
from sandbox.chain.node.terms import Found, Refused

if TYPE_CHECKING:
    from sandbox.chain.state import Chain
    from sandbox.world.world import World


def get_slp_transaction(world: "World", arguments: Arguments) -> object:
    """The specified flat form. A transaction without the mark of the protocol is as unknown as one that is none."""
    told = world.chain.simple_ledger.told(txid_bytes(text(arguments, "txid")))
    found = None if told is None else world.chain.find(told.transaction.txid_bytes)
    if told is None or found is None or not told.verdict.claims:
        raise Refused(refusals.SLP_TRANSACTION_UNKNOWN)
    return _with_slp_addresses(world.chain, found) | {
        "tokenInfo": forms.message(world.chain, told),
        "tokenIsValid": told.verdict.is_valid,
    }


def _with_slp_addresses(chain: "Chain", found: Found) -> dict[str, object]:
    """The details of a transaction; wherever they name an address, its form for tokens is named too."""
    members: dict[str, Any] = dict(details.of(chain, found))
    for spent, shown in zip(found.transaction.inputs, members["vin"], strict=True):
        output = chain.output(spent.txid_bytes, spent.index)
        address = None if output is None else naming.of_script(output.script)
        if address is not None and "cashAddress" in shown:
            shown["slpAddress"] = address.slp_address
    for output, shown in zip(found.transaction.outputs, members["vout"], strict=True):
        address = naming.of_script(output.script)
        if address is not None and "addresses" in shown["scriptPubKey"]:
            shown["scriptPubKey"]["slpAddrs"] = [address.slp_address]
    return members


HANDLERS = {"get_slp_transaction": get_slp_transaction}
