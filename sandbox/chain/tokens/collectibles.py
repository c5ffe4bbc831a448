"""Collectibles: families that somebody issues, and the single tokens in them, each with one owner (supplement 2).

A destroyed one belongs to the burn address, and nobody can have its number again.
"""

import msgspec
from msgspec.structs import replace

from chaindata.wire.tokens.payloads import DestroyCollectible, IssueCollectible, IssueCollectibles, TransferCollectible
from sandbox.chain.tokens.properties_terms import (
    BURN_ADDRESS,
    COLLECTIBLE_EXISTS,
    NO_COLLECTIBLE,
    NO_PROPERTY,
    NO_RECEIVER,
    NOT_ISSUER,
    NOT_OWNER,
    TOO_MANY_TOKENS,
    Carried,
    Invalid,
    Moment,
)


class Family(msgspec.Struct, frozen=True):
    """A property of collectibles; at most `most` are ever issued. `next_free` is where a free number is looked for."""

    id: int
    owner: str
    txid: str
    height: int
    name: str
    symbol: str
    data: str
    url: str
    most: int
    issued: int = 0
    destroyed: int = 0
    next_free: int = 1


class Collectible(msgspec.Struct, frozen=True):
    """One of a family."""

    family_id: int
    id: int
    owner: str
    txid: str
    height: int
    attribute: int
    url: str


class Gallery:
    """All families and their collectibles, by number."""

    def __init__(self) -> None:
        self.families: dict[int, Family] = {}
        self._collectibles: dict[int, dict[int, Collectible]] = {}

    def copy(self) -> "Gallery":
        """Another one that goes its own way."""
        other = Gallery()
        other.families = self.families.copy()
        other._collectibles = {family_id: each.copy() for family_id, each in self._collectibles.items()}
        return other

    def find(self, family_id: int, token_id: int) -> Collectible | None:
        """One collectible, destroyed or not."""
        return self._collectibles.get(family_id, {}).get(token_id)

    def owned(self, family_id: int, address: str) -> list[Collectible]:
        """What an address has of a family, by number; the burn address has what is destroyed."""
        of_family = self._collectibles.get(family_id, {})
        return [of_family[token_id] for token_id in sorted(of_family) if of_family[token_id].owner == address]

    # Changes; each raises `Invalid` before it changes anything -------------------------------------------------------

    def create_family(self, carried: Carried, payload: IssueCollectibles, moment: Moment) -> int:
        """A new family; its number."""
        family_id = len(self.families) + 1
        about = (payload.name, payload.symbol, payload.data, payload.url, payload.most)
        self.families[family_id] = Family(family_id, carried.sender, carried.txid, moment.height, *about)
        self._collectibles[family_id] = {}
        return family_id

    def issue(self, carried: Carried, payload: IssueCollectible, moment: Moment) -> int:
        """A new one of a family, for the receiver or the issuer itself; its number."""
        family = self._family(payload.property_id)
        if carried.sender != family.owner:
            raise Invalid(NOT_ISSUER)
        if family.issued >= family.most:
            raise Invalid(TOO_MANY_TOKENS)
        of_family = self._collectibles[family.id]
        if payload.token_id in of_family:
            raise Invalid(COLLECTIBLE_EXISTS)
        free = family.next_free
        while free in of_family:
            free += 1
        token_id = payload.token_id or free
        owner = carried.receiver or carried.sender
        of_family[token_id] = Collectible(
            family.id, token_id, owner, carried.txid, moment.height, payload.attribute, payload.url
        )
        self.families[family.id] = replace(family, issued=family.issued + 1, next_free=free)
        return token_id

    def transfer(self, carried: Carried, payload: TransferCollectible) -> None:
        """To the receiver, who is never the burn address."""
        collectible = self._owned_by(carried.sender, payload)
        if not carried.receiver:
            raise Invalid(NO_RECEIVER)
        self._collectibles[collectible.family_id][collectible.id] = replace(collectible, owner=carried.receiver)

    def destroy(self, carried: Carried, payload: DestroyCollectible) -> None:
        """To nobody, for ever."""
        collectible = self._owned_by(carried.sender, payload)
        family = self.families[collectible.family_id]
        self._collectibles[family.id][collectible.id] = replace(collectible, owner=BURN_ADDRESS)
        self.families[family.id] = replace(family, destroyed=family.destroyed + 1)

    def _family(self, family_id: int) -> Family:
        family = self.families.get(family_id)
        if family is None:
            raise Invalid(NO_PROPERTY)
        return family

    def _owned_by(self, address: str, payload: TransferCollectible | DestroyCollectible) -> Collectible:
        family = self._family(payload.property_id)
        collectible = self.find(family.id, payload.token_id)
        if collectible is None:
            raise Invalid(NO_COLLECTIBLE)
        if collectible.owner != address:
            raise Invalid(NOT_OWNER)
        return collectible
