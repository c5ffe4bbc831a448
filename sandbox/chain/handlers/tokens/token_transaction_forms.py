"""Transactions of the property-token layer as they are shown: members by type, in their order (supplement 1.11)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.amounts import PRICE_PLACES, amount_text
from chaindata.wire.tokens.payloads import Payload
from sandbox.chain.node.blocks import Block
from sandbox.chain.state import Chain
from sandbox.chain.tokens.properties_state import State
from sandbox.chain.tokens.properties_terms import BURN_ADDRESS, FIRST, MATURITY, UNITS_PER_SAT, Carried, Record

Members = dict[str, object]


class Context(NamedTuple):
    """A transaction and what the layer knows now; no record while it waits."""

    state: State
    carried: Carried
    record: Record | None
    tip_height: int

    @property
    def valid(self) -> Record | None:
        """What it did, if it did something."""
        return self.record if self.record is not None and self.record.is_valid else None


def form(chain: Chain, carried: Carried, payload: Payload, record: Record | None) -> Members:
    """All members of a transaction: of a waiting one without what only a block tells."""
    name, members_of = _TYPES[type(payload)]
    context = Context(chain.properties.state, carried, record, chain.tip.height)
    members: Members = {
        "txid": carried.txid,
        "fee": str(carried.fee_sat),
        "sendingaddress": carried.sender,
    }
    receiver = _receiver(carried, payload)
    if receiver:
        members["referenceaddress"] = receiver
    members |= {"ismine": False, "version": payloads.VERSION, "type_int": payload.key[0], "type": name}
    members |= members_of(payload, context)
    block = chain.at(record.moment.height) if record is not None else None
    return members | (_confirmation(record, block, chain) if record is not None and block is not None else _WAITING)


_WAITING: Members = {"confirmations": 0}


def _confirmation(record: Record, block: Block, chain: Chain) -> Members:
    reason: Members = {"invalidreason": record.reason} if record.reason else {}
    return {
        "valid": record.is_valid,
        **reason,
        "blockhash": block.hash,
        "blocktime": block.header.time,
        "positioninblock": record.position,
        "block": block.height,
        "confirmations": chain.confirmations(block),
    }


def _receiver(carried: Carried, payload: Payload) -> str:
    """The address referred to; empty for the types that refer to none, and when there is none."""
    if isinstance(payload, payloads.Burn):
        return BURN_ADDRESS
    if isinstance(payload, _TO_ONESELF_UNLESS_TOLD):
        return carried.receiver or carried.sender
    return "" if isinstance(payload, _WITHOUT_RECEIVER) else carried.receiver


_TO_ONESELF_UNLESS_TOLD = (payloads.SimpleSend, payloads.SendAll, payloads.Grant, payloads.IssueCollectible)
_WITHOUT_RECEIVER = (
    payloads.SendToOwners,
    payloads.CreateFixed,
    payloads.CreateManaged,
    payloads.CreateCrowdsale,
    payloads.CloseCrowdsale,
    payloads.Revoke,
)


# Members of each type ------------------------------------------------------------------------------------------------


def _precision(context: Context, property_id: int) -> int:
    token_property = context.state.properties.get(property_id)
    return token_property.precision if token_property is not None else 0


def _property(payload: Any, context: Context) -> Members:
    return {"propertyid": payload.property_id, "precision": str(_precision(context, payload.property_id))}


def _amount(payload: Any, context: Context) -> Members:
    precision = _precision(context, payload.property_id)
    return {**_property(payload, context), "amount": amount_text(payload.amount, precision)}


def _purchase(payload: payloads.Participate, context: Context) -> Members:
    members = _amount(payload, context)
    record = context.valid
    if record is None:
        return members
    bought = context.state.properties[record.effect.property_id]
    return members | {
        "actualInvested": amount_text(record.effect.paid, PRICE_PLACES),
        "purchasedpropertyid": bought.id,
        "purchasedpropertyname": bought.name,
        "purchasedpropertyprecision": str(bought.precision),
        "purchasedtokens": amount_text(record.effect.units, bought.precision),
        "issuertokens": amount_text(0, bought.precision),
    }


def _everything(payload: payloads.SendAll, context: Context) -> Members:
    record = context.valid
    sent = [
        {
            "propertyid": each.whose,
            "precision": str(_precision(context, int(each.whose))),
            "amount": amount_text(each.units, _precision(context, int(each.whose))),
        }
        for each in (record.effect.shares if record is not None else ())
    ]
    return {"ecosystem": _ecosystem(payload.ecosystem), "subsends": sent}


def _ecosystem(code: int) -> str:
    return {1: "main", 2: "test"}.get(code, "indeterminate")


def _creation(payload: Any, context: Context) -> Members:
    new_id: Members = {"propertyid": context.valid.effect.property_id} if context.valid is not None else {}
    return {
        **new_id,
        "precision": str(payload.precision),
        "ecosystem": _ecosystem(payload.ecosystem),
        "category": payload.category,
        "subcategory": payload.subcategory,
        "propertyname": payload.name,
        "data": payload.data,
        "url": payload.url,
    }


def _signed(seconds: int) -> int:
    """A time as nodes keep it: one that is beyond every clock shows as a negative number."""
    return seconds if seconds < 2**63 else seconds - 2**64


def _divided(units: int, payload: Any) -> str:
    """An amount of a property that may not have come to be: of a precision that there is not, in base units."""
    return amount_text(units, payload.precision if payload.precision <= payloads.MOST_PRECISION else 0)


def _fixed(payload: payloads.CreateFixed, context: Context) -> Members:
    return {**_creation(payload, context), "amount": _divided(payload.amount, payload)}


def _managed(payload: payloads.CreateManaged, context: Context) -> Members:
    return {**_creation(payload, context), "amount": _divided(0, payload)}


def _crowdsale(payload: payloads.CreateCrowdsale, context: Context) -> Members:
    return {
        **_creation(payload, context),
        "propertyiddesired": payload.desired_id,
        "tokensperunit": amount_text(payload.tokens_per_unit, PRICE_PLACES),
        "deadline": _signed(payload.deadline),
        "earlybonus": payload.early_bonus,
        "amount": _divided(payload.total, payload),
    }


def _burn(payload: payloads.Burn, context: Context) -> Members:
    record = context.valid
    return {
        "propertyid": FIRST,
        "mature": record is not None and context.tip_height - record.moment.height >= MATURITY,
        "amount": amount_text(context.carried.burnt_sat * UNITS_PER_SAT, PRICE_PLACES),
    }


def _freezing(payload: Any, context: Context) -> Members:
    units = context.state.balance(payload.property_id, context.carried.receiver)
    precision = _precision(context, payload.property_id)
    return {"propertyid": payload.property_id, "amount": amount_text(units, precision)}


def _collectible(payload: Any, context: Context) -> Members:
    effect = context.valid.effect if context.valid is not None else None
    members: Members = {"action": payload.key[1]}
    if isinstance(payload, payloads.IssueCollectibles):
        return members | ({"erc721propertyid": str(effect.property_id)} if effect is not None else {})
    token_id = effect.token_id if effect is not None and effect.token_id else payload.token_id
    return members | {"erc721propertyid": str(payload.property_id), "erc721tokenid": str(token_id)}


_TYPES: dict[type[Payload], tuple[str, Callable[[Any, Context], Members]]] = {
    payloads.SimpleSend: ("Simple Send", _amount),
    payloads.Participate: ("Crowdsale Purchase", _purchase),
    payloads.SendToOwners: ("Send To Owners", _amount),
    payloads.SendAll: ("Send All", _everything),
    payloads.CreateFixed: ("Create Property - Fixed", _fixed),
    payloads.CreateCrowdsale: ("Create Property - Variable", _crowdsale),
    payloads.CreateManaged: ("Create Property - Manual", _managed),
    payloads.CloseCrowdsale: ("Close Crowdsale", _property),
    payloads.Grant: ("Grant Property Tokens", _amount),
    payloads.Revoke: ("Revoke Property Tokens", _amount),
    payloads.ChangeIssuer: ("Change Issuer Address", _property),
    payloads.Freeze: ("Freeze Property Tokens", _freezing),
    payloads.Unfreeze: ("Unfreeze Property Tokens", _freezing),
    payloads.Burn: ("Burn BCH Get WHC", _burn),
    payloads.IssueCollectibles: ("Issue ERC721 Property", _collectible),
    payloads.IssueCollectible: ("Issue ERC721 Token", _collectible),
    payloads.TransferCollectible: ("Transfer ERc721 Token", _collectible),  # sic
    payloads.DestroyCollectible: ("Destroy ERC721 Token", _collectible),
}
