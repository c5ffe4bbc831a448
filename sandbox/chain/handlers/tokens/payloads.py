"""Payloads of the property-token layer, made to the byte (chain data, Payload creation; supplement 2)."""

from collections.abc import Callable, Mapping
from typing import TypedDict

from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.amounts import PRICE_PLACES, frozen_amount
from chaindata.wire.tokens.payloads import FIRST_PROPERTY
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers.tokens import payload_arguments
from sandbox.chain.handlers.tokens.payload_arguments import Members

_TEXTS = ("category", "subcategory", "name", "url", "data")
_HEAD = ("ecosystem", "propertyPrecision", "previousId", *_TEXTS)
_SALE = ("propertyIdDesired", "tokensPerUnit", "deadline", "earlyBonus", "totalNumber")


class Head(TypedDict):
    """What all new properties have."""

    ecosystem: int
    precision: int
    previous_id: int
    category: str
    subcategory: str
    name: str
    url: str
    data: str


# Properties ----------------------------------------------------------------------------------------------------------


def make_fixed_property_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A property of a fixed amount."""
    payload_arguments.require(arguments, (*_HEAD, "amount"), zero_for=("previousId",))
    head = _head(arguments)
    amount = payload_arguments.units(arguments, "amount", head["precision"])
    return payload_arguments.written(payloads.CreateFixed(**head, amount=amount))


def make_managed_property_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A property that its issuer grants."""
    payload_arguments.require(arguments, _HEAD, zero_for=("previousId",))
    return payload_arguments.written(payloads.CreateManaged(**_head(arguments)))


def make_crowdsale_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A property on sale; here alone the server lets a precision of 0 through."""
    payload_arguments.require(arguments, (*_HEAD, *_SALE), zero_for=("previousId", "propertyPrecision"))
    head = _head(arguments)
    payload = payloads.CreateCrowdsale(
        **head,
        desired_id=payload_arguments.whole_number(arguments, "propertyIdDesired"),
        tokens_per_unit=payload_arguments.units(arguments, "tokensPerUnit", PRICE_PLACES),
        deadline=payload_arguments.whole_number(arguments, "deadline"),
        early_bonus=payload_arguments.whole_number(arguments, "earlyBonus"),
        total=payload_arguments.units(arguments, "totalNumber", head["precision"]),
    )
    return payload_arguments.written(payload)


def _head(arguments: Members) -> Head:
    """What is said of a new property, judged before anything that follows it is read."""
    head = Head(
        ecosystem=payload_arguments.ecosystem(arguments),
        precision=payload_arguments.whole_number(arguments, "propertyPrecision"),
        previous_id=payload_arguments.whole_number(arguments, "previousId"),
        category=payload_arguments.text(arguments, "category"),
        subcategory=payload_arguments.text(arguments, "subcategory"),
        name=payload_arguments.text(arguments, "name"),
        url=payload_arguments.text(arguments, "url"),
        data=payload_arguments.text(arguments, "data"),
    )
    payload_arguments.written(payloads.CreateManaged(**head))
    return head


# Tokens --------------------------------------------------------------------------------------------------------------


def make_burn_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Coins given up."""
    return payload_arguments.written(payloads.Burn())


def make_simple_send_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Tokens to somebody."""
    payload_arguments.require(arguments, ("propertyId", "amount"))
    return payload_arguments.written(payloads.SimpleSend(*_amount_of_property(node, arguments)))


def make_send_to_owners_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Tokens to all holders of a property."""
    payload_arguments.require(arguments, ("propertyId", "amount", "distributionProperty"))
    property_id, units = _amount_of_property(node, arguments)
    distribution = payload_arguments.property_id(arguments, "distributionProperty")
    return payload_arguments.written(payloads.SendToOwners(property_id, units, distribution))


def make_send_all_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """All tokens to somebody."""
    payload_arguments.require(arguments, ("ecosystem",))
    return payload_arguments.written(payloads.SendAll(payload_arguments.ecosystem(arguments)))


def make_participation_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The first property paid into a sale."""
    payload_arguments.require(arguments, ("amount",))
    places = payload_arguments.precision(node.chain.properties.state, FIRST_PROPERTY)
    return payload_arguments.written(payloads.Participate(payload_arguments.units(arguments, "amount", places)))


def _amount_of_property(node: FullNode, arguments: Members) -> tuple[int, int]:
    property_id = payload_arguments.property_id(arguments)
    places = payload_arguments.precision(node.chain.properties.state, property_id)
    return property_id, payload_arguments.units(arguments, "amount", places)


# Issuers -------------------------------------------------------------------------------------------------------------


def make_grant_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """New tokens of a managed property."""
    return _issuance(node, arguments, payloads.Grant)


def make_revoke_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Tokens of a managed property taken back."""
    return _issuance(node, arguments, payloads.Revoke)


def _issuance(
    node: FullNode, arguments: Members, make: Callable[[int, int, str], payloads.Grant | payloads.Revoke]
) -> str:
    payload_arguments.require(arguments, ("propertyId", "amount"))
    property_id, units = _amount_of_property(node, arguments)
    return payload_arguments.written(make(property_id, units, payload_arguments.text(arguments, "memo")))


def make_change_issuer_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A new issuer."""
    payload_arguments.require(arguments, ("propertyId",))
    return payload_arguments.written(payloads.ChangeIssuer(payload_arguments.property_id(arguments)))


def make_close_crowdsale_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The end of a sale."""
    payload_arguments.require(arguments, ("propertyId",))
    return payload_arguments.written(payloads.CloseCrowdsale(payload_arguments.property_id(arguments)))


def make_freeze_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The tokens of an address held fast."""
    return _freezing(node, arguments, payloads.Freeze)


def make_unfreeze_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The tokens of an address set free."""
    return _freezing(node, arguments, payloads.Unfreeze)


def _freezing(
    node: FullNode, arguments: Members, make: Callable[[int, int, str], payloads.Freeze | payloads.Unfreeze]
) -> str:
    payload_arguments.require(arguments, ("toAddress", "propertyId"))
    address = payload_arguments.checked_address(arguments, "toAddress")
    property_id = payload_arguments.property_id(arguments)
    places = payload_arguments.precision(node.chain.properties.state, property_id)
    return payload_arguments.written(make(property_id, frozen_amount(places), address))


HANDLERS = {
    each.__name__: each
    for each in (
        make_fixed_property_payload,
        make_managed_property_payload,
        make_crowdsale_payload,
        make_burn_payload,
        make_simple_send_payload,
        make_send_to_owners_payload,
        make_send_all_payload,
        make_participation_payload,
        make_grant_payload,
        make_revoke_payload,
        make_change_issuer_payload,
        make_close_crowdsale_payload,
        make_freeze_payload,
        make_unfreeze_payload,
    )
}
