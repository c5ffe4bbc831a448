"""Property tokens and collectibles (chain data, Token balance and property records; supplement 1.11 and 1.12).

Ids of properties are numbers, those of collectibles decimal texts. Amounts are texts with as many places as the
property is divided into.
"""

from decimal import Decimal

from msgspec import field

from chaindata.wire.records.chain import Hash, Hex
from wire.records import Int64, Record

# Balances ------------------------------------------------------------------------------------------------------------


class Balance(Record, frozen=True):
    """What an address holds of a property."""

    balance: Decimal
    reserved: Decimal


class PropertyBalance(Record, frozen=True):
    """One of the balances of an address."""

    propertyid: Int64
    balance: Decimal
    reserved: Decimal


class HolderBalance(Record, frozen=True):
    """One of the balances in a property."""

    address: str
    balance: Decimal
    reserved: Decimal


class FrozenBalance(Record, frozen=True):
    """Whether the balance is frozen, and the ordinary balance."""

    frozen: bool
    balance: Decimal


class FrozenProperty(Record, frozen=True):
    """A frozen balance of an address."""

    propertyid: Int64
    balance: Decimal


class FrozenHolder(Record, frozen=True):
    """A frozen balance in a property."""

    address: str
    balance: Decimal


class BalancesHash(Record, frozen=True):
    """A digest of all balances of a property at a block (supplement 1.12)."""

    block: Int64
    blockhash: Hash
    propertyid: Int64
    balanceshash: Hash


class ConsensusHash(Record, frozen=True):
    """A digest of the whole state of the token layer at a block (supplement 1.12)."""

    block: Int64
    blockhash: Hash
    consensushash: Hash


# Properties ----------------------------------------------------------------------------------------------------------


class Participation(Record, frozen=True):
    """A purchase of a crowdsale."""

    txid: Hash
    amountsent: Decimal
    participanttokens: Decimal


class Crowdsale(Record, frozen=True):
    """A sale of a property. Times in seconds; `earlybonus` in percent a week; closed ones tell how they ended."""

    propertyid: Int64
    name: str
    active: bool
    issuer: str
    propertyiddesired: Int64
    precision: Int64 | str
    tokensperunit: Decimal
    earlybonus: Int64
    starttime: Int64
    deadline: Int64
    amountraised: Decimal
    tokensissued: Decimal
    addedissuertokens: Decimal
    participanttransactions: list[Participation] | None = None
    closedearly: bool | None = None
    maxtokens: bool | None = None
    endedtime: Int64 | None = None
    closetx: Hash | None = None


class Issuance(Record, frozen=True):
    """One grant or revocation of a managed property; one of both is there."""

    txid: Hash
    grant: Decimal | None = None
    revoke: Decimal | None = None


class Grants(Record, frozen=True):
    """What was granted and revoked of a managed property, ordered by transaction id."""

    propertyid: Int64
    name: str
    issuer: str
    creationtxid: Hash
    totaltokens: Decimal
    issuances: list[Issuance]


class ListedProperty(Record, frozen=True):
    """A property as the list shows it."""

    propertyid: Int64
    name: str
    category: str
    subcategory: str
    data: str
    url: str
    precision: Int64 | str


class Property(Record, frozen=True):
    """A property. `freezingenabled` is told of managed ones."""

    propertyid: Int64
    name: str
    category: str
    subcategory: str
    data: str
    url: str
    precision: Int64 | str
    issuer: str
    creationtxid: Hash
    fixedissuance: bool
    managedissuance: bool
    totaltokens: Decimal
    freezingenabled: bool | None = None


# Transactions --------------------------------------------------------------------------------------------------------


class Subsend(Record, frozen=True):
    """One property of a send-all."""

    propertyid: Int64
    amount: Decimal
    precision: Int64 | str | None = None


class Recipient(Record, frozen=True):
    """Somebody whom a send to owners reached."""

    address: str
    amount: Decimal


class TokenTransaction(Record, frozen=True):
    """A transaction of the token layer; `fee` in satoshis. Which members follow depends on its type.

    Unconfirmed: no `valid`, no block. Invalid: `invalidreason`. Sends to owners: `totalstofee`, `recipients`.
    """

    txid: Hash
    fee: Decimal
    sendingaddress: str
    ismine: bool
    version: Int64
    type_int: Int64 = field(name="type_int")
    type: str
    confirmations: Int64
    referenceaddress: str | None = None
    propertyid: Int64 | None = None
    precision: Int64 | str | None = None
    amount: Decimal | None = None
    ecosystem: str | None = None
    subsends: list[Subsend] | None = None
    category: str | None = None
    subcategory: str | None = None
    propertyname: str | None = None
    data: str | None = None
    url: str | None = None
    propertyiddesired: Int64 | None = None
    tokensperunit: Decimal | None = None
    deadline: Int64 | None = None
    earlybonus: Int64 | None = None
    actual_invested: Decimal | None = None
    purchasedpropertyid: Int64 | None = None
    purchasedpropertyname: str | None = None
    purchasedpropertyprecision: Int64 | str | None = None
    purchasedtokens: Decimal | None = None
    issuertokens: Decimal | None = None
    mature: bool | None = None
    action: Int64 | None = None
    erc721propertyid: str | None = None
    erc721tokenid: str | None = None
    totalstofee: Decimal | None = None
    recipients: list[Recipient] | None = None
    valid: bool | None = None
    invalidreason: str | None = None
    blockhash: Hash | None = None
    blocktime: Int64 | None = None
    positioninblock: Int64 | None = None
    block: Int64 | None = None


class Payload(Record, frozen=True):
    """The bytes of the token layer in a transaction, without their marker; `payloadsize` in bytes."""

    payload: Hex
    payloadsize: Int64


class Layer(Record, frozen=True):
    """The token layer at the tip. Real nodes use the second names for the first three members."""

    block: Int64
    blocktime: Int64
    blocktransactions: Int64
    totaltransactions: Int64
    alerts: list[str]
    tokenprotocolversion_int: Int64 | None = field(default=None, name="tokenprotocolversion_int")
    tokenprotocolversion: str | None = None
    nodesoftwareversion: str | None = None
    wormholeversion_int: Int64 | None = field(default=None, name="wormholeversion_int")
    wormholeversion: str | None = None
    bitcoincoreversion: str | None = None


# Collectibles --------------------------------------------------------------------------------------------------------


class CollectibleProperty(Record, frozen=True):
    """A family of collectibles; the misspelt count is the wire's own.

    `creationblock` is the hash of a block (supplement 10); a height is taken too, as kept answers may have it.
    """

    propertyid: str
    owner: str
    creationtxid: Hash
    creationblock: Hash | Int64
    name: str
    symbol: str
    data: str
    propertyurl: str
    total_token_number: Int64
    have_issued_number: Int64
    current_valid_issued_numer: Int64


class Collectible(Record, frozen=True):
    """One collectible; `creationblock` as of its family, `attribute` 256 bits in hexadecimal."""

    propertyid: str
    tokenid: str
    owner: str
    creationtxid: Hash
    creationblock: Hash | Int64
    attribute: str
    tokenurl: str


class ListedCollectible(Record, frozen=True):
    """A collectible in the list of an address, or of the destroyed ones."""

    tokenid: str
    attribute: str
    tokenurl: str
    creationtxid: Hash
