"""Transactions of the property-token layer (chain data, Token data retrieval; supplement 1.11)."""

from collections.abc import Mapping

from chaindata.wire import refusals
from chaindata.wire.tokens.amounts import PRICE_PLACES, amount_text
from chaindata.wire.tokens.payloads import SendToOwners
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers.elements import text
from sandbox.chain.handlers.tokens import token_arguments, token_transaction_forms
from sandbox.chain.handlers.tokens.token_arguments import Members
from sandbox.chain.node.terms import Occurrence, Refused
from sandbox.chain.tokens.properties_state import State
from sandbox.chain.tokens.properties_terms import Carried, Record

EVERYBODY = "*"


def get_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What a transaction carries after the layer's marker, whether it means something or not."""
    carried = _carried(node, token_arguments.transaction(node, arguments))
    return {"payload": carried.raw.hex(), "payloadsize": len(carried.raw)}


def get_token_transaction(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A transaction of the layer, waiting or in a block, valid or not."""
    occurrence = token_arguments.transaction(node, arguments)
    return _transaction(node, occurrence, _carried(node, occurrence))


def get_send_to_owners(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The same, and of a send to owners in a block whom it reached: everybody, or one."""
    occurrence = token_arguments.transaction(node, arguments)
    carried = _carried(node, occurrence)
    members = _transaction(node, occurrence, carried)
    recipient = text(arguments, "recipientFilter")
    if recipient != EVERYBODY:
        recipient = token_arguments.cash_address(recipient)
    record = node.chain.properties.record(carried.txid)
    if record is None or not isinstance(record.payload, SendToOwners):
        return members
    return members | _recipients(node.chain.properties.state, record, record.payload, recipient)


def get_pending_token_transactions(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The waiting transactions that an address sends or receives."""
    address = token_arguments.checked_address(arguments)
    waiting = [
        token_transaction_forms.form(node.chain, carried, carried.payload, None)
        for carried in node.chain.properties.pending()
        if carried.payload is not None
    ]
    return [each for each in waiting if address in (each["sendingaddress"], each.get("referenceaddress"))]


def _carried(node: FullNode, occurrence: Occurrence) -> Carried:
    carried = node.chain.properties.carried(occurrence)
    if carried is None:
        raise Refused(refusals.NOT_A_TOKEN_TRANSACTION)
    return carried


def _transaction(node: FullNode, occurrence: Occurrence, carried: Carried) -> Members:
    record = node.chain.properties.record(carried.txid)
    if carried.payload is None or (record is None and occurrence.block is not None):
        raise Refused(refusals.NOT_A_TOKEN_TRANSACTION)
    return token_transaction_forms.form(node.chain, carried, carried.payload, record)


def _recipients(state: State, record: Record, payload: SendToOwners, recipient: str) -> Members:
    """The fee counts everybody, whoever is asked about."""
    about = state.properties.get(payload.property_id)
    recipients = [
        {"address": each.whose, "amount": amount_text(each.units, about.precision if about is not None else 0)}
        for each in record.effect.shares
        if recipient in (EVERYBODY, each.whose)
    ]
    return {"totalstofee": amount_text(record.effect.paid, PRICE_PLACES), "recipients": recipients}


HANDLERS = {
    each.__name__: each
    for each in (get_payload, get_token_transaction, get_send_to_owners, get_pending_token_transactions)
}
