"""What the exchange remembers of an order and of its trades (exchange REST, Order, Account trade).

Prices count ticks, quantities increments, fees and reserves the ledger's units.
"""

from decimal import Decimal
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, TypeVar

from sandbox.amounts import ZERO
from sandbox.exchange.accounts.ledger import Entry
from sandbox.exchange.orders.matching import BUY
from sandbox.exchange.orders.pairs import Pair, Rate

Exchange_contra = TypeVar("Exchange_contra", contravariant=True)
LIMIT, MARKET, STOP_LIMIT, STOP_MARKET = TYPES = ("limit", "market", "stopLimit", "stopMarket")
GTC, IOC, FOK, DAY, GTD = TIMES_IN_FORCE = ("GTC", "IOC", "FOK", "Day", "GTD")


class Status(StrEnum):
    """Where an order stands."""

    NEW = "new"
    SUSPENDED = "suspended"
    PARTIALLY_FILLED = "partiallyFilled"
    FILLED = "filled"
    CANCELED = "canceled"
    EXPIRED = "expired"


ENDED = frozenset({Status.FILLED, Status.CANCELED, Status.EXPIRED})


class OrderTerms(NamedTuple):
    """What an order asks for, as it was accepted: sound numbers within the symbol's scales.

    `client_id` empty lets the exchange make one. `price` is None for the market types, `stop_price` for all but the
    stop types, `expire_ms` for all but GTD. The markups come on top of the account's own rates.
    """

    pair: Pair
    side: str
    type: str
    time_in_force: str
    quantity: int
    price: int | None = None
    stop_price: int | None = None
    expire_ms: int | None = None
    post_only: bool = False
    client_id: str = ""
    take_markup: Decimal = ZERO
    provide_markup: Decimal = ZERO


class Trade(NamedTuple):
    """A trade of an order. A negative fee is a rebate."""

    id: int
    order: "Order"
    price: int
    quantity: int
    fee: int
    at_ms: int
    taker: bool
    liquidation: bool = False
    position_id: int | None = None


class Settled(NamedTuple):
    """One side of a trade: its entries in the ledger, the fee in them, and what belongs to margin trades alone.

    The entries of both sides and the fees must sum to zero: a buyer's take quantity increments of the base currency
    in and the notional and his fee out, a seller's the other way round.
    """

    entries: tuple[Entry, ...]
    fee: int
    liquidation: bool = False
    position_id: int | None = None


class Backing(Protocol[Exchange_contra]):
    """Who stands behind an order. `margin` tells its kind; orders of one kind are listed apart from the other's.

    It works on the exchange whose orders these are, which knows them: `Exchange_contra` stands for its type here."""

    margin: bool

    def reserve(self, exchange: Exchange_contra, order: "Order", notional: int) -> None:
        """Sets aside what the order may come to (`notional`, for a purchase); refuses, having changed nothing."""
        ...

    def release(self, exchange: Exchange_contra, order: "Order") -> None:
        """Frees whatever is still reserved."""
        ...

    def settle(self, exchange: Exchange_contra, order: "Order", price: int, quantity: int, rate: Rate) -> Settled:
        """The order's side of a trade; `order.left` is already what is left after it."""
        ...


class Order:
    """One order of an account.

    `left` is what can still be filled, `filled` the cumulative quantity and `spent` its notional; an order that
    replaced another begins with the other's. `placed_ms` is when this order came in, `created_ms` when the first of
    its chain did. `reserved` is what the backing holds for it, in units of the currency it pays with.
    """

    __slots__ = (
        "account",
        "backing",
        "client_id",
        "cover",
        "created_ms",
        "filled",
        "id",
        "is_buy",
        "left",
        "pair",
        "placed_ms",
        "price",
        "provide",
        "reserved",
        "spent",
        "status",
        "take",
        "terms",
        "trades",
        "updated_ms",
    )

    def __init__(self, number: int, account: str, terms: OrderTerms, backing: Backing[Any], at_ms: int) -> None:
        self.id = number
        self.account = account
        self.terms = terms
        self.backing = backing
        self.client_id = terms.client_id
        self.pair = terms.pair
        self.is_buy = terms.side == BUY
        self.price = terms.price
        self.left = terms.quantity
        self.filled = 0
        self.spent = 0
        self.reserved = 0
        self.status = Status.NEW
        self.created_ms = self.updated_ms = self.placed_ms = at_ms
        self.trades: list[Trade] = []
        self.take: Rate
        self.provide: Rate
        self.cover: Rate  # the highest of its rates: what a purchase reserves

    @property
    def is_active(self) -> bool:
        """Whether it can still be filled, cancelled or replaced."""
        return self.status not in ENDED

    @property
    def is_stop(self) -> bool:
        """Whether it waits, or waited, for a stop price."""
        return self.terms.stop_price is not None

    @property
    def margin(self) -> bool:
        """Whether a margin account backs it."""
        return self.backing.margin
