"""Words of the property-token layer: what a transaction says to it, what became of it, and why nothing may have.

Source: supplement 1.11 and 1.13. Amounts are base units of their property, addresses cash addresses with the prefix
that this chain prints. Texts of reasons that the supplement does not give are in its manner.
"""

from typing import NamedTuple

import msgspec

from chaindata.wire import addresses
from chaindata.wire.addresses import Address, Network
from chaindata.wire.scripts import steps
from chaindata.wire.tokens import payloads
from chaindata.wire.tokens.payloads import Payload

PRINTED = Network.TEST  # what addresses are printed for: most clients take the chain for a test network (5.1)
TAKEN = (Network.TEST, Network.REGTEST)

FIRST_HEIGHT = 101  # before it the layer sees nothing
FIRST_COLLECTIBLES_HEIGHT = 110
MATURITY = 1  # blocks after which burnt coins have become tokens
COIN_SAT = 100_000_000
UNITS_PER_SAT = 100  # of the first property for a burnt satoshi: a hundred tokens for a coin, both with eight places
CREATION_FEE = 100_000_000  # one token of the first property
FEE_PER_OWNER = 1

FIRST = payloads.FIRST_PROPERTY
FIRST_NEW = 3  # 2 is reserved
_OF_ONE = (steps.Kind.KEY_HASH, steps.Kind.SCRIPT_HASH, steps.Kind.KEY)


def printed(address: Address) -> str:
    """An address as this chain prints it."""
    return Address(PRINTED, address.kind, address.hash).cash_address


def paid_by(script: bytes) -> str:
    """Whom a locking script pays, as printed; empty when it names nobody or a list of keys."""
    meaning = steps.meaning_of(script, PRINTED)
    return meaning.addresses[0].cash_address if meaning.kind in _OF_ONE else ""


BURN_ADDRESS = printed(addresses.read("bchreg:pqqqqqqqqqqqqqqqqqqqqqqqqqqqqp0kvc457r8whc"))
BURN_SCRIPT = steps.locking(addresses.read(BURN_ADDRESS))


class Carried(msgspec.Struct, frozen=True):
    """What a transaction says to the layer. No `payload`: its bytes mean nothing. `receiver` may be empty.

    `burnt_sat` is what its first output gives up, when the payload is in the second.
    """

    txid: str
    raw: bytes
    payload: Payload | None
    sender: str
    receiver: str
    fee_sat: int
    burnt_sat: int = 0


class Moment(NamedTuple):
    """The block in which something happens."""

    height: int
    time_s: int


class Share(NamedTuple):
    """What one property or one address got of a transaction that moves several."""

    whose: int | str
    units: int


class Effect(msgspec.Struct, frozen=True):
    """What a valid transaction did, as far as its payload does not say it.

    `property_id` is the one made or bought, `token_id` the collectible; `units` were made, frozen or bought, `paid`
    for that or as fees of a send to owners.
    """

    property_id: int = 0
    token_id: int = 0
    units: int = 0
    paid: int = 0
    shares: tuple[Share, ...] = ()


NOTHING = Effect()


class Record(msgspec.Struct, frozen=True):
    """A transaction that the layer saw in a block; with a `reason` it changed nothing."""

    carried: Carried
    payload: Payload
    moment: Moment
    position: int
    effect: Effect
    reason: str = ""

    @property
    def is_valid(self) -> bool:
        """Whether it did what it says."""
        return not self.reason


class Invalid(Exception):
    """A transaction of the layer is not valid, and changes nothing. The text is its reason."""


NOT_PERMITTED = "Transaction type or version not permitted"
BAD_ECOSYSTEM = "Ecosystem is invalid"
BAD_VALUE = "Value out of range or zero"
NO_PROPERTY = "Property does not exist"
LOW_BALANCE = "Sender has insufficient balance"
SENDER_FROZEN = "Sender is frozen for the property"
RECEIVER_FROZEN = "Receiver is frozen for the property"
NOTHING_TO_SEND = "Sender has no tokens to send"
NO_OWNERS = "No other owners of the property"
LOW_FEE_BALANCE = "Sender has insufficient balance to pay for fee"
BURNT_TOO_LITTLE = "burn BCH is less 1 BCH"
NO_SALE_AT_RECEIVER = "the receive address no have active crowd property"
OWN_SALE = "the crowdsale sender and issuer have same address"
BAD_PRECISION = "Invalid property type"
NO_NAME = "Property name is empty"
CANNOT_PAY_CREATION = "No enough WHC to pay for create a New property"
PAST_DEADLINE = "Deadline is in the past"
HAS_SALE = "Sender has an active crowdsale already"
HAS_NO_SALE = "Sender has no active crowdsale"
OTHER_PROPERTY = "Property identifier mismatch"
NOT_ISSUER = "Sender is not the issuer of the property"
NOT_MANAGED = "Property is not managed"
TOO_MANY_TOKENS = "Attempt to grant more than the maximum number of tokens"
NO_RECEIVER = "Receiver is empty"
RECEIVER_HAS_SALE = "Receiver has an active crowdsale"
CANNOT_FREEZE = "Freezing is not enabled for the property"
OWN_FREEZE = "Issuer can not freeze or unfreeze its own tokens"
ALREADY_FROZEN = "Address is already frozen"
NOT_FROZEN = "Address is not frozen"
COLLECTIBLE_EXISTS = "Token exists already"
NO_COLLECTIBLE = "Token does not exist"
NOT_OWNER = "Sender is not the owner of the token"
