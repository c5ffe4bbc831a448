"""Cash accounts: names for addresses, registered on the chain (chain data, Cash account; supplement 4)."""

from chaindata.wire.records.chain import Hex
from wire.records import Int64, Record


class Collision(Record, frozen=True):
    """What tells accounts of one name and number apart: `length` digits of `hash` are enough among `count` others."""

    hash: str
    count: Int64
    length: Int64


class Payment(Record, frozen=True):
    """One way to pay the account."""

    type: str
    address: str


class Account(Record, frozen=True):
    """A registered account."""

    emoji: str
    name: str
    number: Int64
    collision: Collision
    payment: list[Payment]


class Lookup(Record, frozen=True):
    """An account by its identifier, `name#number;`."""

    identifier: str
    information: Account


class Registration(Record, frozen=True):
    """A transaction that registers the name, and the proof that its block has it."""

    transaction: Hex
    inclusion_proof: Hex


class Check(Record, frozen=True):
    """Every registration of a name in one block."""

    identifier: str
    block: Int64
    results: list[Registration]


class OwnedAccount(Record, frozen=True):
    """An account that pays an address."""

    account_emoji: str
    name_text: str
    account_number: Int64
    account_hash: str
    account_collision_length: Int64
    payload_type: Int64
    payload_address: str


class ReverseLookup(Record, frozen=True):
    """All accounts that pay an address, in ascending order."""

    results: list[OwnedAccount]
