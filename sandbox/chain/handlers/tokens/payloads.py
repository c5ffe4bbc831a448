"""Payloads of the property-token layer, made to the byte (chain data, Payload creation; supplement 2)."""

from collections.abc import Callable, Mapping
from typing import TypedDict

from chaindata.wire import payloads
from chaindata.wire.payloads import FIRST_PROPERTY
from chaindata.wire.token_amounts import PRICE_PLACES, frozen_amount
from sandbox.chain.full_node import FullNode
from sandbox.chain.handlers.tokens import payload_arguments as given
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
    given.require(arguments, (*_HEAD, "amount"), zero_for=("previousId",))
    head = _head(arguments)
    amount = given.units(arguments, "amount", head["precision"])
    return given.written(payloads.CreateFixed(**head, amount=amount))


def make_managed_property_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A property that its issuer grants."""
    given.require(arguments, _HEAD, zero_for=("previousId",))
    return given.written(payloads.CreateManaged(**_head(arguments)))


def make_crowdsale_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A property on sale; here alone the server lets a precision of 0 through."""
    given.require(arguments, (*_HEAD, *_SALE), zero_for=("previousId", "propertyPrecision"))
    head = _head(arguments)
    made = payloads.CreateCrowdsale(
        **head,
        desired_id=given.whole(arguments, "propertyIdDesired"),
        tokens_per_unit=given.units(arguments, "tokensPerUnit", PRICE_PLACES),
        deadline=given.whole(arguments, "deadline"),
        early_bonus=given.whole(arguments, "earlyBonus"),
        total=given.units(arguments, "totalNumber", head["precision"]),
    )
    return given.written(made)


def _head(arguments: Members) -> Head:
    """What is said of a new property, judged before anything that follows it is read."""
    head = Head(
        ecosystem=given.ecosystem(arguments),
        precision=given.whole(arguments, "propertyPrecision"),
        previous_id=given.whole(arguments, "previousId"),
        category=given.text(arguments, "category"),
        subcategory=given.text(arguments, "subcategory"),
        name=given.text(arguments, "name"),
        url=given.text(arguments, "url"),
        data=given.text(arguments, "data"),
    )
    given.written(payloads.CreateManaged(**head))
    return head


# Tokens --------------------------------------------------------------------------------------------------------------


def make_burn_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Coins given up."""
    return given.written(payloads.Burn())


def make_simple_send_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Tokens to somebody."""
    given.require(arguments, ("propertyId", "amount"))
    return given.written(payloads.SimpleSend(*_amount_of_property(node, arguments)))


def make_send_to_owners_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """Tokens to all holders of a property."""
    given.require(arguments, ("propertyId", "amount", "distributionProperty"))
    property_id, units = _amount_of_property(node, arguments)
    distribution = given.property_id(arguments, "distributionProperty")
    return given.written(payloads.SendToOwners(property_id, units, distribution))


def make_send_all_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """All tokens to somebody."""
    given.require(arguments, ("ecosystem",))
    return given.written(payloads.SendAll(given.ecosystem(arguments)))


def make_participation_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The first property paid into a sale."""
    given.require(arguments, ("amount",))
    places = given.precision(node.chain.properties.state, FIRST_PROPERTY)
    return given.written(payloads.Participate(given.units(arguments, "amount", places)))


def _amount_of_property(node: FullNode, arguments: Members) -> tuple[int, int]:
    property_id = given.property_id(arguments)
    places = given.precision(node.chain.properties.state, property_id)
    return property_id, given.units(arguments, "amount", places)


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
    given.require(arguments, ("propertyId", "amount"))
    property_id, units = _amount_of_property(node, arguments)
    return given.written(make(property_id, units, given.text(arguments, "memo")))


def make_change_issuer_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """A new issuer."""
    given.require(arguments, ("propertyId",))
    return given.written(payloads.ChangeIssuer(given.property_id(arguments)))


def make_close_crowdsale_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The end of a sale."""
    given.require(arguments, ("propertyId",))
    return given.written(payloads.CloseCrowdsale(given.property_id(arguments)))


def make_freeze_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The tokens of an address held fast."""
    return _freezing(node, arguments, payloads.Freeze)


def make_unfreeze_payload(node: FullNode, arguments: Mapping[str, object]) -> object:
    """The tokens of an address set free."""
    return _freezing(node, arguments, payloads.Unfreeze)


def _freezing(
    node: FullNode, arguments: Members, make: Callable[[int, int, str], payloads.Freeze | payloads.Unfreeze]
) -> str:
    given.require(arguments, ("toAddress", "propertyId"))
    address = given.checked_address(arguments, "toAddress")
    property_id = given.property_id(arguments)
    places = given.precision(node.chain.properties.state, property_id)
    return given.written(make(property_id, frozen_amount(places), address))


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
