"""The rules of the property-token layer: what each operation asks for and does, and how a block is folded in.

Source: supplement 1.13. A rule checks everything before it changes anything, and raises `Invalid` with the first
reason that it meets: permission, values, existence, rights, balances, fees.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.amounts import MOST_UNITS
from chaindata.wire.tokens.payloads import Payload
from sandbox.chain.tokens import properties_issues, properties_sales, properties_terms
from sandbox.chain.tokens.properties_state import State
from sandbox.chain.tokens.properties_terms import NOTHING, Carried, Effect, Invalid, Moment, Record, Share

Rule = Callable[[State, Carried, Any, Moment], Effect]


class PlacedMessage(NamedTuple):
    """What one transaction of a block says, and its place there."""

    position: int
    carried: Carried


def fold(state: State, moment: Moment, messages: Iterable[PlacedMessage]) -> list[Record]:
    """Lets a block happen to the layer; the transactions it saw, in their order. Blocks come without a gap."""
    if moment.height < properties_terms.FIRST_HEIGHT:
        return []
    for address, units in state.maturing.pop(moment.height, ()):
        state.credit(properties_terms.FIRST, address, units)
    properties_sales.expire(state, moment)
    return [
        _folded(state, moment, position, carried, carried.payload)
        for position, carried in messages
        if carried.payload is not None
    ]


def _folded(state: State, moment: Moment, position: int, carried: Carried, payload: Payload) -> Record:
    try:
        effect, reason = _RULES[type(payload)](state, carried, payload, moment), ""
    except Invalid as invalid:
        effect, reason = NOTHING, str(invalid)
    return Record(carried, payload, moment, position, effect, reason)


# Burning and sending -------------------------------------------------------------------------------------------------


def _burn(state: State, carried: Carried, _: payloads.Burn, moment: Moment) -> Effect:
    if carried.burnt_sat < properties_terms.COIN_SAT:
        raise Invalid(properties_terms.BURNT_TOO_LITTLE)
    units, ripe = carried.burnt_sat * properties_terms.UNITS_PER_SAT, moment.height + properties_terms.MATURITY
    state.maturing[ripe] = (*state.maturing.get(ripe, ()), (carried.sender, units))
    return Effect(units=units)


def _simple_send(state: State, carried: Carried, payload: payloads.SimpleSend, _: Moment) -> Effect:
    receiver = carried.receiver or carried.sender
    properties_issues.check_amount(payload.amount)
    properties_issues.existing(state, payload.property_id)
    if state.is_frozen(payload.property_id, carried.sender):
        raise Invalid(properties_terms.SENDER_FROZEN)
    if state.is_frozen(payload.property_id, receiver):
        raise Invalid(properties_terms.RECEIVER_FROZEN)
    state.move(payload.property_id, carried.sender, receiver, payload.amount)
    return NOTHING


def _send_all(state: State, carried: Carried, payload: payloads.SendAll, _: Moment) -> Effect:
    receiver = carried.receiver or carried.sender
    properties_issues.check_ecosystem(payload.ecosystem)
    sent = [
        Share(property_id, units)
        for property_id, units in state.holdings(carried.sender)
        if not state.is_frozen(property_id, carried.sender) and not state.is_frozen(property_id, receiver)
    ]
    if not sent:
        raise Invalid(properties_terms.NOTHING_TO_SEND)
    for each in sent:
        state.move(int(each.whose), carried.sender, receiver, each.units)
    return Effect(shares=tuple(sent))


def _send_to_owners(state: State, carried: Carried, payload: payloads.SendToOwners, _: Moment) -> Effect:
    properties_issues.check_amount(payload.amount)
    properties_issues.existing(state, payload.property_id)
    properties_issues.existing(state, payload.distribution_property)
    if state.is_frozen(payload.property_id, carried.sender):
        raise Invalid(properties_terms.SENDER_FROZEN)
    if state.balance(payload.property_id, carried.sender) < payload.amount:
        raise Invalid(properties_terms.LOW_BALANCE)
    shares = _shares(state, carried.sender, payload)
    if not shares:
        raise Invalid(properties_terms.NO_OWNERS)
    fee = properties_terms.FEE_PER_OWNER * len(shares)
    also_sent = payload.amount if payload.property_id == properties_terms.FIRST else 0
    if state.balance(properties_terms.FIRST, carried.sender) < fee + also_sent:
        raise Invalid(properties_terms.LOW_FEE_BALANCE)
    state.debit(properties_terms.FIRST, carried.sender, fee)
    for each in shares:
        state.move(payload.property_id, carried.sender, str(each.whose), each.units)
    return Effect(paid=fee, shares=shares)


def _shares(state: State, sender: str, payload: payloads.SendToOwners) -> tuple[Share, ...]:
    """Whom it reaches, the largest holding first; each part is rounded up, so the last ones may get less or nothing."""
    holders = [
        (-units, address)
        for address, units in state.holders(payload.distribution_property)
        if address != sender and not state.is_frozen(payload.property_id, address)
    ]
    total = -sum(negative for negative, _ in holders)
    remaining, shares = payload.amount, []
    for negative, address in sorted(holders):
        part = min(remaining, -(payload.amount * negative // total))
        if part == 0:
            break
        shares.append(Share(address, part))
        remaining -= part
    return tuple(shares)


# Crowdsales ----------------------------------------------------------------------------------------------------------


def _participate(state: State, carried: Carried, payload: payloads.Participate, moment: Moment) -> Effect:
    properties_issues.check_amount(payload.amount)
    if payload.property_id != properties_terms.FIRST:
        properties_issues.existing(state, payload.property_id)
        raise Invalid(properties_terms.OTHER_PROPERTY)
    if state.balance(properties_terms.FIRST, carried.sender) < payload.amount:
        raise Invalid(properties_terms.LOW_BALANCE)
    property_id = state.selling.get(carried.receiver)
    if property_id is None:
        raise Invalid(properties_terms.NO_SALE_AT_RECEIVER)
    if carried.sender == carried.receiver:
        raise Invalid(properties_terms.OWN_SALE)
    bought = properties_sales.purchase(state.sales[property_id], payload.amount, moment.time_s)
    state.move(properties_terms.FIRST, carried.sender, carried.receiver, bought.spent)
    state.credit(property_id, carried.sender, bought.units)
    properties_sales.count(state, property_id, bought)
    if bought.ends:
        properties_sales.end_sale(state, property_id, moment, early=True, sold_out=True)
    return Effect(property_id=property_id, units=bought.units, paid=bought.spent)


# Collectibles --------------------------------------------------------------------------------------------------------


def _issue_collectibles(state: State, carried: Carried, payload: payloads.IssueCollectibles, moment: Moment) -> Effect:
    _check_collectibles_begun(moment)
    if not 0 < payload.most <= MOST_UNITS:
        raise Invalid(properties_terms.BAD_VALUE)
    if not payload.name:
        raise Invalid(properties_terms.NO_NAME)
    properties_issues.charge(state, carried.sender)
    return Effect(property_id=state.gallery.create_family(carried, payload, moment))


def _issue_collectible(state: State, carried: Carried, payload: payloads.IssueCollectible, moment: Moment) -> Effect:
    _check_collectibles_begun(moment)
    token_id = state.gallery.issue(carried, payload, moment)
    return Effect(property_id=payload.property_id, token_id=token_id)


def _transfer_collectible(
    state: State, carried: Carried, payload: payloads.TransferCollectible, moment: Moment
) -> Effect:
    _check_collectibles_begun(moment)
    state.gallery.transfer(carried, payload)
    return NOTHING


def _destroy_collectible(
    state: State, carried: Carried, payload: payloads.DestroyCollectible, moment: Moment
) -> Effect:
    _check_collectibles_begun(moment)
    state.gallery.destroy(carried, payload)
    return NOTHING


def _check_collectibles_begun(moment: Moment) -> None:
    if moment.height < properties_terms.FIRST_COLLECTIBLES_HEIGHT:
        raise Invalid(properties_terms.NOT_PERMITTED)


_RULES: dict[type[Payload], Rule] = {
    payloads.SimpleSend: _simple_send,
    payloads.Participate: _participate,
    payloads.SendToOwners: _send_to_owners,
    payloads.SendAll: _send_all,
    payloads.CreateFixed: properties_issues.create_fixed,
    payloads.CreateCrowdsale: properties_issues.create_crowdsale,
    payloads.CloseCrowdsale: properties_issues.close_crowdsale,
    payloads.CreateManaged: properties_issues.create_managed,
    payloads.Grant: properties_issues.grant,
    payloads.Revoke: properties_issues.revoke,
    payloads.Burn: _burn,
    payloads.ChangeIssuer: properties_issues.change_issuer,
    payloads.Freeze: properties_issues.freeze,
    payloads.Unfreeze: properties_issues.unfreeze,
    payloads.IssueCollectibles: _issue_collectibles,
    payloads.IssueCollectible: _issue_collectible,
    payloads.TransferCollectible: _transfer_collectible,
    payloads.DestroyCollectible: _destroy_collectible,
}
