"""A transaction with its meaning for simple-ledger tokens (chain data, Simple-ledger tokens; supplement 1.8 and 3)."""

from typing import Any

from chaindata.wire import refusals
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers import details, naming
from sandbox.chain.handlers.arguments import Arguments, text
from sandbox.chain.handlers.simple_ledger import simple_ledger_forms
from sandbox.chain.handlers.simple_ledger.simple_ledger import txid_bytes
from sandbox.chain.node.terms import Occurrence, Refused
from sandbox.chain.state import Chain


def get_slp_transaction(node: FullNode, arguments: Arguments) -> object:
    """The specified flat form. A transaction without the mark of the protocol is as unknown as one that is none."""
    judged = node.chain.simple_ledger.judged(txid_bytes(text(arguments, "txid")))
    occurrence = None if judged is None else node.chain.find(judged.transaction.txid_bytes)
    if judged is None or occurrence is None or not judged.verdict.claims:
        raise Refused(refusals.SLP_TRANSACTION_UNKNOWN)
    return _with_slp_addresses(node.chain, occurrence) | {
        "tokenInfo": simple_ledger_forms.message(node.chain, judged),
        "tokenIsValid": judged.verdict.is_valid,
    }


def _with_slp_addresses(chain: Chain, occurrence: Occurrence) -> dict[str, object]:
    """The details of a transaction; wherever they name an address, its form for tokens is named too."""
    members: dict[str, Any] = dict(details.details(chain, occurrence))
    for spent, member in zip(occurrence.transaction.inputs, members["vin"], strict=True):
        output = chain.output(spent.txid_bytes, spent.index)
        address = None if output is None else naming.of_script(output.script)
        if address is not None and "cashAddress" in member:
            member["slpAddress"] = address.slp_address
    for output, member in zip(occurrence.transaction.outputs, members["vout"], strict=True):
        address = naming.of_script(output.script)
        if address is not None and "addresses" in member["scriptPubKey"]:
            member["scriptPubKey"]["slpAddrs"] = [address.slp_address]
    return members


HANDLERS = {"get_slp_transaction": get_slp_transaction}
