"""Properties, their sales and their grants (chain data, Token data retrieval; supplement 1.11)."""

from collections.abc import Mapping

from chaindata.wire import refusals
from chaindata.wire.tokens.amounts import PRICE_PLACES, amount_text
from chaindata.wire.tokens.payloads import Grant, Participate, Revoke
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers.tokens import token_arguments
from sandbox.chain.handlers.tokens.token_arguments import Members
from sandbox.chain.node.terms import Refused
from sandbox.chain.tokens.properties import PropertyLedger
from sandbox.chain.tokens.properties_state import Property, Sale
from sandbox.chain.tokens.properties_terms import Record


def get_property(node: FullNode, arguments: Mapping[str, object]) -> object:
    """All about a property."""
    state = node.chain.properties.state
    about = token_arguments.existing(state, arguments)
    freezing: Members = {"freezingenabled": about.can_freeze} if about.is_managed else {}
    return {
        **_listed(about),
        "issuer": about.issuer,
        "creationtxid": about.txid,
        "fixedissuance": about.is_fixed,
        "managedissuance": about.is_managed,
        **freezing,
        "totaltokens": amount_text(state.total(about.id), about.precision),
    }


def get_properties(node: FullNode, arguments: Mapping[str, object]) -> object:
    """All properties by number, whatever else is asked."""
    return [_listed(about) for _, about in sorted(node.chain.properties.state.properties.items())]


def _listed(about: Property) -> Members:
    return {
        "propertyid": about.id,
        "name": about.name,
        "category": about.category,
        "subcategory": about.subcategory,
        "data": about.data,
        "url": about.url,
        "precision": about.precision,
    }


def get_grants(node: FullNode, arguments: Mapping[str, object]) -> object:
    """What was granted and revoked of a managed property, by transaction id."""
    ledger = node.chain.properties
    about = token_arguments.managed(ledger.state, arguments)
    issuances = [
        {"txid": record.carried.txid, _ISSUED[type(payload)]: amount_text(payload.amount, about.precision)}
        for record in ledger.records()
        if record.is_valid and isinstance(payload := record.payload, Grant | Revoke) and payload.property_id == about.id
    ]
    return {
        "propertyid": about.id,
        "name": about.name,
        "issuer": about.issuer,
        "creationtxid": about.txid,
        "totaltokens": amount_text(ledger.state.total(about.id), about.precision),
        "issuances": sorted(issuances, key=lambda issuance: issuance["txid"]),
    }


_ISSUED = {Grant: "grant", Revoke: "revoke"}


def get_crowdsale(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A sale; how it ended when it did, and with `verbose` who bought."""
    ledger = node.chain.properties
    about = token_arguments.existing(ledger.state, arguments)
    sale = ledger.state.sales.get(about.id)
    if sale is None:
        raise Refused(refusals.PROPERTY_NOT_CROWDSALE)
    purchases: Members = {}
    if arguments.get("verbose"):
        purchases["participanttransactions"] = _purchases(ledger, about)
    returned = sale.ending.returned if sale.ending is not None else 0
    return {
        "propertyid": about.id,
        "name": about.name,
        "active": sale.ending is None,
        "issuer": about.issuer,
        "propertyiddesired": sale.desired_id,
        "precision": str(about.precision),
        "tokensperunit": amount_text(sale.price, PRICE_PLACES),
        "earlybonus": sale.early_bonus,
        "starttime": sale.starts_s,
        "deadline": sale.deadline_s,
        "amountraised": amount_text(sale.raised, PRICE_PLACES),
        "tokensissued": amount_text(sale.total, about.precision),
        "addedissuertokens": amount_text(returned, about.precision),
        **_ending(sale),
        **purchases,
    }


def _ending(sale: Sale) -> Members:
    ending = sale.ending
    if ending is None:
        return {}
    members: Members = {"closedearly": ending.is_early, "maxtokens": ending.is_sold_out}
    if ending.is_early:
        members["endedtime"] = ending.time_s
    if ending.txid:
        members["closetx"] = ending.txid
    return members


def _purchases(ledger: PropertyLedger, about: Property) -> list[Members]:
    bought = [
        record
        for record in ledger.records()
        if record.is_valid and isinstance(record.payload, Participate) and record.effect.property_id == about.id
    ]
    return [_purchase(record, about) for record in sorted(bought, key=_by_time)]


def _by_time(record: Record) -> tuple[int, str]:
    return record.moment.time_s, record.carried.txid


def _purchase(record: Record, about: Property) -> Members:
    return {
        "txid": record.carried.txid,
        "amountsent": amount_text(record.effect.paid, PRICE_PLACES),
        "participanttokens": amount_text(record.effect.units, about.precision),
    }


HANDLERS = {each.__name__: each for each in (get_property, get_properties, get_grants, get_crowdsale)}
