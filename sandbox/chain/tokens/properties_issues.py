"""The rules of what issuers do: creations, grants, revocations, a new issuer, freezing, the end of a sale.

Source: supplement 1.13. As in `properties_rules`: everything is checked before anything is changed.
"""

from msgspec.structs import replace

from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.amounts import MOST_UNITS
from sandbox.chain.tokens import properties_sales, properties_terms
from sandbox.chain.tokens.properties_state import Property, Sale, State
from sandbox.chain.tokens.properties_terms import NOTHING, Carried, Effect, Invalid, Moment

Creation = payloads.CreateFixed | payloads.CreateManaged | payloads.CreateCrowdsale
_MAY_FREEZE = 1  # as the previous property of a managed one


# What several rules ask for ------------------------------------------------------------------------------------------


def check_amount(units: int) -> None:
    """Raises `Invalid` for nothing, and for more than fits."""
    if not 0 < units <= MOST_UNITS:
        raise Invalid(properties_terms.BAD_VALUE)


def check_ecosystem(ecosystem: int) -> None:
    """Raises `Invalid` for all but the main one."""
    if ecosystem != 1:
        raise Invalid(properties_terms.BAD_ECOSYSTEM)


def existing(state: State, property_id: int) -> Property:
    """The property of that number. Raises `Invalid`."""
    token_property = state.properties.get(property_id)
    if token_property is None:
        raise Invalid(properties_terms.NO_PROPERTY)
    return token_property


def charge(state: State, sender: str) -> None:
    """Takes the price of a new property. Raises `Invalid`."""
    if state.balance(properties_terms.FIRST, sender) < properties_terms.CREATION_FEE:
        raise Invalid(properties_terms.CANNOT_PAY_CREATION)
    state.move(properties_terms.FIRST, sender, properties_terms.BURN_ADDRESS, properties_terms.CREATION_FEE)


def _managed_by(state: State, sender: str, property_id: int) -> Property:
    token_property = existing(state, property_id)
    if not token_property.is_managed:
        raise Invalid(properties_terms.NOT_MANAGED)
    if token_property.issuer != sender:
        raise Invalid(properties_terms.NOT_ISSUER)
    return token_property


# Creations -----------------------------------------------------------------------------------------------------------


def create_fixed(state: State, carried: Carried, payload: payloads.CreateFixed, _: Moment) -> Effect:
    """A property whose tokens all go to its issuer at once."""
    check_ecosystem(payload.ecosystem)
    check_amount(payload.amount)
    new_property = _created(state, carried, payload, is_fixed=True, declared=payload.amount)
    state.credit(new_property.id, carried.sender, payload.amount)
    return Effect(property_id=new_property.id)


def create_managed(state: State, carried: Carried, payload: payloads.CreateManaged, _: Moment) -> Effect:
    """A property without tokens, until its issuer grants some."""
    check_ecosystem(payload.ecosystem)
    return Effect(property_id=_created(state, carried, payload, is_managed=True).id)


def create_crowdsale(state: State, carried: Carried, payload: payloads.CreateCrowdsale, moment: Moment) -> Effect:
    """A property that is on sale from now on."""
    check_ecosystem(payload.ecosystem)
    check_amount(payload.total)
    if not 0 < payload.tokens_per_unit <= payloads.HIGHEST_PRICE:
        raise Invalid(properties_terms.BAD_VALUE)
    if payload.desired_id != properties_terms.FIRST:
        existing(state, payload.desired_id)
        raise Invalid(properties_terms.OTHER_PROPERTY)
    if not moment.time_s <= payload.deadline <= MOST_UNITS:  # nodes take what is beyond for a negative number
        raise Invalid(properties_terms.PAST_DEADLINE)
    if carried.sender in state.selling:
        raise Invalid(properties_terms.HAS_SALE)
    new_property = _created(state, carried, payload, declared=payload.total)
    state.sales[new_property.id] = Sale(
        new_property.id,
        payload.desired_id,
        payload.tokens_per_unit,
        payload.early_bonus,
        moment.time_s,
        payload.deadline,
        payload.total,
        payload.precision,
    )
    state.selling[carried.sender] = new_property.id
    return Effect(property_id=new_property.id)


def _created(
    state: State,
    carried: Carried,
    payload: Creation,
    *,
    is_fixed: bool = False,
    is_managed: bool = False,
    declared: int | None = None,
) -> Property:
    """The new property, paid for. Raises `Invalid`."""
    if payload.precision > payloads.MOST_PRECISION:
        raise Invalid(properties_terms.BAD_PRECISION)
    if not payload.name:
        raise Invalid(properties_terms.NO_NAME)
    if payload.previous_id not in (0, _MAY_FREEZE if is_managed else 0):
        raise Invalid(properties_terms.NO_PROPERTY)
    charge(state, carried.sender)
    new_property = Property(
        state.next_id,
        payload.name,
        payload.precision,
        carried.sender,
        carried.txid,
        payload.category,
        payload.subcategory,
        payload.data,
        payload.url,
        is_fixed,
        is_managed,
        is_managed and payload.previous_id == _MAY_FREEZE,
        declared,
    )
    state.properties[new_property.id] = new_property
    return new_property


# Issuers -------------------------------------------------------------------------------------------------------------


def close_crowdsale(state: State, carried: Carried, payload: payloads.CloseCrowdsale, moment: Moment) -> Effect:
    """The end of a sale by its issuer."""
    existing(state, payload.property_id)
    active = state.selling.get(carried.sender)
    if active is None:
        raise Invalid(properties_terms.HAS_NO_SALE)
    if active != payload.property_id:
        raise Invalid(properties_terms.OTHER_PROPERTY)
    properties_sales.end_sale(state, active, moment, early=True, txid=carried.txid)
    return NOTHING


def grant(state: State, carried: Carried, payload: payloads.Grant, _: Moment) -> Effect:
    """New tokens for the receiver, or for the issuer itself."""
    check_amount(payload.amount)
    token_property = _managed_by(state, carried.sender, payload.property_id)
    if state.total(token_property.id) + payload.amount > MOST_UNITS:
        raise Invalid(properties_terms.TOO_MANY_TOKENS)
    state.credit(token_property.id, carried.receiver or carried.sender, payload.amount)
    return NOTHING


def revoke(state: State, carried: Carried, payload: payloads.Revoke, _: Moment) -> Effect:
    """Tokens of the issuer's own cease to be."""
    check_amount(payload.amount)
    token_property = _managed_by(state, carried.sender, payload.property_id)
    state.debit(token_property.id, carried.sender, payload.amount)
    return NOTHING


def change_issuer(state: State, carried: Carried, payload: payloads.ChangeIssuer, _: Moment) -> Effect:
    """The receiver becomes the issuer; neither may be selling."""
    token_property = existing(state, payload.property_id)
    if token_property.issuer != carried.sender:
        raise Invalid(properties_terms.NOT_ISSUER)
    if carried.sender in state.selling:
        raise Invalid(properties_terms.HAS_SALE)
    if not carried.receiver:
        raise Invalid(properties_terms.NO_RECEIVER)
    if carried.receiver in state.selling:
        raise Invalid(properties_terms.RECEIVER_HAS_SALE)
    state.properties[token_property.id] = replace(token_property, issuer=carried.receiver)
    return NOTHING


def freeze(state: State, carried: Carried, payload: payloads.Freeze, _: Moment) -> Effect:
    """What an address has is held fast; whatever amount is named, it is everything."""
    _check_freezing(state, carried, payload.property_id)
    if state.is_frozen(payload.property_id, carried.receiver):
        raise Invalid(properties_terms.ALREADY_FROZEN)
    state.set_frozen(payload.property_id, carried.receiver, True)
    return Effect(units=state.balance(payload.property_id, carried.receiver))


def unfreeze(state: State, carried: Carried, payload: payloads.Unfreeze, _: Moment) -> Effect:
    """What an address has is free again."""
    _check_freezing(state, carried, payload.property_id)
    if not state.is_frozen(payload.property_id, carried.receiver):
        raise Invalid(properties_terms.NOT_FROZEN)
    state.set_frozen(payload.property_id, carried.receiver, False)
    return Effect(units=state.balance(payload.property_id, carried.receiver))


def _check_freezing(state: State, carried: Carried, property_id: int) -> None:
    token_property = _managed_by(state, carried.sender, property_id)
    if not token_property.can_freeze:
        raise Invalid(properties_terms.CANNOT_FREEZE)
    if carried.receiver == carried.sender:
        raise Invalid(properties_terms.OWN_FREEZE)
