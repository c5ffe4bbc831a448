"""The cash accounts of the chain: the names that its blocks register, and how each is told apart from its namesakes.

Source: supplement 4. Registrations that wait in the mempool do not exist yet. An account's number is the height of its
block less an offset, which short chains have their own of: here the block of height 110 is the first, number 100.
"""

from collections.abc import Callable

import msgspec

from chaindata.wire import cash_accounts, proofs
from chaindata.wire.cash_accounts import Collision, Identifier, NotARegistration, Payment, Registration
from chaindata.wire.transactions import Transaction
from sandbox.chain.following import Following
from sandbox.chain.node.active_chain import ActiveChain
from sandbox.chain.node.blocks import Block
from sandbox.settings.config import CASH_ACCOUNT_OFFSET


class Account(msgspec.Struct, frozen=True):
    """An account as its block registered it; `collision` tells it apart from those of the same name there."""

    registration: Registration
    number: int
    block: Block
    transaction: Transaction
    emoji: str
    collision: Collision

    @property
    def identifier(self) -> str:
        """`Name#number;`, and as many digits of the hash before the semicolon as it needs."""
        prefix = self.collision.hash[: self.collision.length]
        return Identifier(self.registration.name, self.number, prefix).text

    @property
    def inclusion_proof(self) -> bytes:
        """The proof that its block has its transaction."""
        proven = proofs.build(self.block.header, self.block.txids_bytes, {self.transaction.txid_bytes})
        return proven.raw


class CashAccountLedger:
    """The accounts of one chain. `offset` is what numbers are less than heights."""

    def __init__(self, chain: ActiveChain, *, offset: int = CASH_ACCOUNT_OFFSET) -> None:
        self._chain = chain
        self.offset = offset
        self._following: Following[list[Account]] = Following(chain, self._read_block)

    def numbered_from(self, offset: int) -> "CashAccountLedger":
        """The same ledger with another offset, under which it reads the chain anew."""
        if offset != self.offset:
            self.offset = offset
            self._following = Following(self._chain, self._read_block)
        return self

    def named(self, name: str, number: int, prefix: str = "") -> list[Account]:
        """The accounts of a name and number, in the order of their block; with a prefix, those whose hash has it."""
        self._following.catch_up()
        there = self._following.at(number + self.offset) or []
        return [
            each
            for each in there
            if each.registration.name.lower() == name.lower() and each.collision.hash.startswith(prefix)
        ]

    def paying(self, is_meant: Callable[[Payment], bool]) -> list[tuple[Account, Payment]]:
        """The accounts with a payment that is meant, ascending by number."""
        self._following.catch_up()
        every = (account for accounts in self._following.readings() for account in accounts)
        return [(account, each) for account in every for each in account.registration.payments if is_meant(each)]

    def _read_block(self, block: Block) -> list[Account]:
        number = cash_accounts.number_at(block.height, offset=self.offset)
        return [] if number is None else registered_in(block, number=number)


def registered_in(block: Block, *, number: int) -> list[Account]:
    """The accounts that a block registers, in the order of its transactions."""
    registrations = [
        (each, registration) for each in block.transactions if (registration := _registration(each)) is not None
    ]
    hashes = [cash_accounts.collision_hash(block.hash, each.txid) for each, _ in registrations]
    namesakes: dict[str, list[int]] = {}
    for place, (_, registration) in enumerate(registrations):
        namesakes.setdefault(registration.name.lower(), []).append(place)
    accounts = []
    for place, (transaction, registration) in enumerate(registrations):
        others = [hashes[other] for other in namesakes[registration.name.lower()] if other != place]
        collision = cash_accounts.collision(hashes[place], others)
        emoji = cash_accounts.emoji(block.hash, transaction.txid)
        accounts.append(Account(registration, number, block, transaction, emoji, collision))
    return accounts


def _registration(transaction: Transaction) -> Registration | None:
    try:
        return cash_accounts.registration_of(transaction)
    except NotARegistration:
        return None
