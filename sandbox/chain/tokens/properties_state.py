"""What the property-token layer knows at a block: who holds what, which properties there are, what is sold or frozen.

The parts are never changed but replaced, so that a copy of the whole costs little.
"""

from collections.abc import Iterator

import msgspec

from sandbox.chain.tokens.collectibles import Gallery
from sandbox.chain.tokens.properties_terms import BURN_ADDRESS, FIRST, FIRST_NEW, LOW_BALANCE, Invalid


class Property(msgspec.Struct, frozen=True):
    """A property. `declared` is the total of those that say one; managed ones grow and shrink."""

    id: int
    name: str
    precision: int
    issuer: str
    txid: str
    category: str = ""
    subcategory: str = ""
    data: str = ""
    url: str = ""
    is_fixed: bool = False
    is_managed: bool = False
    can_freeze: bool = False
    declared: int | None = None


class Ending(msgspec.Struct, frozen=True):
    """How a sale ended: `txid` closed it when its issuer did; `returned` went to the issuer."""

    is_early: bool
    is_sold_out: bool
    time_s: int
    txid: str
    returned: int


class Sale(msgspec.Struct, frozen=True):
    """A sale of a property. `price` has eight places more; times in seconds; `early_bonus` in percent a week."""

    property_id: int
    desired_id: int
    price: int
    early_bonus: int
    starts_s: int
    deadline_s: int
    total: int
    precision: int
    sold: int = 0
    raised: int = 0
    ending: Ending | None = None


_FIRST_PROPERTY = Property(
    FIRST,
    "WHC",
    8,
    BURN_ADDRESS,
    "0" * 64,
    "N/A",
    "N/A",
    "Tokens of this chain that coins were burnt for.",
    "http://www.wormhole.cash",
)


class State:
    """The layer between two blocks, or while one is folded in. Balances of zero are not kept."""

    def __init__(self) -> None:
        self.balances: dict[int, dict[str, int]] = {}
        self.properties: dict[int, Property] = {FIRST: _FIRST_PROPERTY}
        self.sales: dict[int, Sale] = {}
        self.selling: dict[str, int] = {}
        self.frozen: dict[int, frozenset[str]] = {}
        self.maturing: dict[int, tuple[tuple[str, int], ...]] = {}
        self.gallery = Gallery()

    def copy(self) -> "State":
        """Another one that goes its own way."""
        other = State()
        other.balances = {property_id: held.copy() for property_id, held in self.balances.items()}
        other.properties, other.sales = self.properties.copy(), self.sales.copy()
        other.selling, other.frozen = self.selling.copy(), self.frozen.copy()
        other.maturing, other.gallery = self.maturing.copy(), self.gallery.copy()
        return other

    # Questions -------------------------------------------------------------------------------------------------------

    def balance(self, property_id: int, address: str) -> int:
        """What an address holds."""
        return self.balances.get(property_id, {}).get(address, 0)

    def holders(self, property_id: int) -> list[tuple[str, int]]:
        """Who holds something of a property, by the text of the address."""
        return sorted(self.balances.get(property_id, {}).items())

    def holdings(self, address: str) -> Iterator[tuple[int, int]]:
        """What an address holds of each property, ascending."""
        for property_id in sorted(self.balances):
            units = self.balances[property_id].get(address)
            if units:
                yield property_id, units

    def total(self, property_id: int) -> int:
        """The tokens of a property: as declared, else the sum of what is held."""
        declared = self.properties[property_id].declared
        return sum(self.balances.get(property_id, {}).values()) if declared is None else declared

    def is_frozen(self, property_id: int, address: str) -> bool:
        """Whether what an address holds is held fast."""
        return address in self.frozen.get(property_id, ())

    @property
    def next_id(self) -> int:
        """What the next property is going to be called."""
        return max(FIRST_NEW, next(reversed(self.properties)) + 1)  # they come in ascending order

    # Changes ---------------------------------------------------------------------------------------------------------

    def credit(self, property_id: int, address: str, units: int) -> None:
        """An address gets tokens."""
        if units:
            held = self.balances.setdefault(property_id, {})
            held[address] = held.get(address, 0) + units

    def debit(self, property_id: int, address: str, units: int) -> None:
        """An address gives tokens. Raises `Invalid` when it has not as many."""
        remaining = self.balance(property_id, address) - units
        if remaining < 0:
            raise Invalid(LOW_BALANCE)
        if remaining:
            self.balances[property_id][address] = remaining
        elif units:
            del self.balances[property_id][address]

    def move(self, property_id: int, sender: str, receiver: str, units: int) -> None:
        """Tokens change their owner. Raises `Invalid` when the sender has not as many."""
        self.debit(property_id, sender, units)
        self.credit(property_id, receiver, units)

    def set_frozen(self, property_id: int, address: str, held_fast: bool) -> None:
        """Holds what an address has of a property fast, or sets it free."""
        before = self.frozen.get(property_id, frozenset())
        self.frozen[property_id] = before | {address} if held_fast else before - {address}
