"""All orders and account trades of one world: what is remembered of each (exchange REST, Order, Account trade), and how
long.

Prices count ticks, quantities increments, fees and reserves the ledger's units. An order is found by its exchange's
number, or by the trader's id among the active ones. Orders that ended without a trade are forgotten a day later
(exchange REST, Order); those with trades are kept. A trader's id may not be used twice in one trading day, UTC, nor
while an order of that id is active.
"""

from collections import defaultdict, deque
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, NamedTuple, Protocol, TypeVar

from sandbox.amounts import ZERO
from sandbox.engine.clock import DAY_MS
from sandbox.exchange.accounts.ledger import Entry
from sandbox.exchange.orders.matching import BUY, Pair, Rate

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
        """The order's side of a trade; `order.remaining` is already what is left after it."""
        ...


class Order:
    """One order of an account.

    `remaining` is what can still be filled, `filled` the cumulative quantity and `spent` its notional; an order that
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
        "pair",
        "placed_ms",
        "price",
        "provide",
        "remaining",
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
        self.remaining = terms.quantity
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


FIRST_ORDER: Final = 340_000_000_000


class Dealings:
    """What one account ordered and traded. `orders` are those in its history, by number; `trades` are in the order in
    which they happened, which is also that of their numbers."""

    __slots__ = ("active", "latest", "orders", "trades")

    def __init__(self) -> None:
        self.active: dict[str, Order] = {}
        self.latest: dict[str, Order] = {}
        self.orders: dict[int, Order] = {}
        self.trades: list[Trade] = []


class Orders:
    """The orders of one world. `traded` holds the trade prices that may still wake stop orders."""

    def __init__(self) -> None:
        self.active: dict[int, Order] = {}
        self.traded: deque[tuple[Pair, int]] = deque()
        self.last_trade_id = 0
        self._last_house_id = 0
        self._last_id = FIRST_ORDER
        self._dealings: defaultdict[str, Dealings] = defaultdict(Dealings)
        self._tradeless: deque[Order] = deque()  # ended without a trade, in the order of their end

    def dealings(self, account: str) -> Dealings:
        """The account's dealings."""
        return self._dealings[account]

    def next_id(self) -> int:
        """The number of the next order that comes in."""
        return self._last_id + 1

    def new_house_id(self) -> int:
        """A number for an order of a simulated trader."""
        self._last_house_id -= 1
        return self._last_house_id

    def new_trade_id(self, at_ms: int) -> int:
        """The number of a trade of this moment: a thousand times its milliseconds, or the next after the last one.

        Numbers therefore go on to grow after a restart, though trades among simulated traders are not remembered.
        """
        self.last_trade_id = max(self.last_trade_id + 1, at_ms * 1_000)
        return self.last_trade_id

    def is_taken(self, account: str, client_id: str, at_ms: int) -> bool:
        """Whether an id was used on this trading day or belongs to an active order."""
        latest = self._dealings[account].latest.get(client_id)
        return latest is not None and (latest.is_active or latest.placed_ms // DAY_MS == at_ms // DAY_MS)

    def enter(self, order: Order) -> None:
        """Takes in a new order."""
        self._last_id = order.id
        dealings = self._dealings[order.account]
        self.active[order.id] = order
        dealings.active[order.client_id] = dealings.latest[order.client_id] = order
        dealings.orders[order.id] = order

    def leave(self, order: Order) -> None:
        """Takes an order that has ended out of the active ones."""
        del self.active[order.id]
        del self._dealings[order.account].active[order.client_id]
        if not order.filled:
            self._tradeless.append(order)
            if self._tradeless[0].updated_ms < order.updated_ms - DAY_MS:
                self.forget(order.updated_ms)

    def forget(self, at_ms: int) -> None:
        """Deletes the orders that ended without a trade more than a day before."""
        tradeless = self._tradeless
        while tradeless and tradeless[0].updated_ms < at_ms - DAY_MS:
            order = tradeless.popleft()
            dealings = self._dealings[order.account]
            del dealings.orders[order.id]
            if dealings.latest.get(order.client_id) is order:
                del dealings.latest[order.client_id]

    def listed(self, account: str, *, margin: bool, symbol: str = "") -> list[Order]:
        """The active orders of an account, oldest first, of one symbol when it is given."""
        return [
            order
            for order in self._dealings[account].active.values()
            if order.margin is margin and (not symbol or order.pair.symbol.id == symbol)
        ]

    def find(self, account: str, client_id: str, *, margin: bool) -> Order | None:
        """The active order of the trader's id."""
        order = self._dealings[account].active.get(client_id)
        return order if order is not None and order.margin is margin else None
