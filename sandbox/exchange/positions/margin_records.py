"""What the exchange remembers of margin: isolated accounts, one for each symbol, and the position of each.

An account's balance lies in the owner's margin wallet, together with those of his other accounts of the same quote
currency. What a position bought or sold is the exchange's own until it is closed: it lends both sides.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

from sandbox.engine.clock import Timers
from sandbox.exchange.orders.matching import FEE_STEP, Pair
from sandbox.exchange.orders.orders_reports import MarketTrade
from sandbox.exchange.terms import Event

FIRST_POSITION: Final = 480_000
CHECK: Final = "margin_check"

OPENED, REDUCED, FLIPPED, CLOSED = "openTrade", "closeTrade", "flipTrade", "closed"


class Position:
    """An open position: a signed number of increments, and what they cost when it was entered, in units."""

    __slots__ = ("cost", "created_ms", "id", "quantity", "updated_ms")

    def __init__(self, number: int, quantity: int, cost: int, at_ms: int) -> None:
        self.id = number
        self.quantity = quantity
        self.cost = cost
        self.created_ms = self.updated_ms = at_ms

    def gain(self, value: int) -> int:
        """What closing it for this value would gain, in units; a loss is negative."""
        return value - self.cost if self.quantity > 0 else self.cost - value


class Change(NamedTuple):
    """What a trade did to a position: which one, what was gained on the part that it closed, and what it was."""

    position_id: int
    gain: int
    reason: str


class MarginAccount:
    """An isolated margin account. `balance` is in units of the quote currency, and never negative."""

    __slots__ = ("balance", "created_ms", "owner", "pair", "position", "updated_ms")

    def __init__(self, owner: str, pair: Pair, at_ms: int) -> None:
        self.owner = owner
        self.pair = pair
        self.balance = 0
        self.position: Position | None = None
        self.created_ms = self.updated_ms = at_ms

    @property
    def quantity(self) -> int:
        """The signed size of the position in increments, 0 when there is none."""
        return 0 if self.position is None else self.position.quantity

    def traded(self, quantity: int, price: int, new_id: Callable[[], int], at_ms: int) -> Change:
        """Takes a trade of so many increments (negative: sold) into the position.

        What it closes goes at the average cost, cut off to twelve digits; the last part takes the rest.
        """
        unit, held = self.pair.quote_unit, self.position
        self.updated_ms = at_ms
        if held is None or held.quantity * quantity > 0:
            if held is None:
                held = self.position = Position(new_id(), 0, 0, at_ms)
            held.quantity += quantity
            held.cost += abs(quantity) * price * unit
            held.updated_ms = at_ms
            return Change(held.id, 0, OPENED)
        closed = min(abs(quantity), abs(held.quantity))
        cost = held.cost if closed == abs(held.quantity) else held.cost * closed // abs(held.quantity)
        if closed < abs(held.quantity):
            cost -= cost % FEE_STEP
        part = Position(held.id, held.quantity, cost, at_ms)
        gain = part.gain(closed * price * unit)
        new_quantity = held.quantity + quantity
        if held.quantity * new_quantity > 0:
            held.quantity, held.cost, held.updated_ms = new_quantity, held.cost - cost, at_ms
            return Change(held.id, gain, REDUCED)
        if not new_quantity:
            self.position = None
            return Change(held.id, gain, CLOSED)
        self.position = Position(new_id(), new_quantity, abs(new_quantity) * price * unit, at_ms)
        return Change(self.position.id, gain, FLIPPED)


class AccountReport(NamedTuple):
    """What happened to a margin account, as its owner's listeners will hear it."""

    owner: str
    payload: Callable[[], dict[str, object]]

    def event(self) -> Event:
        """The event, with the account as it is when this is called or was when the report was made."""
        return Event("marginAccount", self.owner, self.payload())


class Margins:
    """The margin accounts of one world, the latest trade of each symbol, and the news of the accounts."""

    def __init__(self, timers: Timers) -> None:
        self._timers = timers
        self._accounts: dict[tuple[str, str], MarginAccount] = {}
        self._opened: set[tuple[str, str]] = set()
        self._last_position = FIRST_POSITION
        self.reports: list[AccountReport] = []  # the news, and behind it what orders changed (`touch`)
        self.touched: dict[tuple[str, str], AccountReport] = {}
        # Symbols whose positions are going to be looked at; one timer waits for all.
        self._to_check: dict[str, None] = {}
        self.watched: set[str] = set()  # symbols whose watch is running
        self.traded: dict[str, tuple[int, int]] = {}  # price and instant of the latest trade

    def find(self, owner: str, symbol: str) -> MarginAccount | None:
        """The owner's account of a symbol."""
        return self._accounts.get((owner, symbol))

    def accounts(self, owner: str) -> list[MarginAccount]:
        """The owner's accounts, in the order in which they were opened."""
        return [account for (name, _), account in self._accounts.items() if name == owner]

    def holding(self, symbol: str) -> list[MarginAccount]:
        """The accounts with a position in a symbol, in the order in which they were opened."""
        return [each for (_, name), each in self._accounts.items() if name == symbol and each.position is not None]

    def open(self, owner: str, pair: Pair, at_ms: int) -> tuple[MarginAccount, bool]:
        """A new account, and whether there was one of this symbol before."""
        key = (owner, pair.symbol.id)
        account = self._accounts[key] = MarginAccount(owner, pair, at_ms)
        was_there = key in self._opened
        self._opened.add(key)
        return account, was_there

    def close(self, account: MarginAccount) -> None:
        """Forgets an account."""
        key = (account.owner, account.pair.symbol.id)
        del self._accounts[key]
        self.touched.pop(key, None)

    def new_position_id(self) -> int:
        """The number of a new position."""
        self._last_position += 1
        return self._last_position

    def hear(self, trade: MarketTrade) -> None:
        """Notes a trade's price, and has the positions in its symbol looked at as soon as its input is done."""
        symbol = trade.pair.symbol.id
        self.traded[symbol] = (trade.price, trade.at_ms)
        if symbol in self.watched:
            self.ask(symbol, trade.at_ms)

    def ask(self, symbol: str, at_ms: int) -> None:
        """Has the positions in a symbol looked at as soon as everything else of the present instant is done."""
        if not self._to_check:
            self._timers.set(at_ms, CHECK, "")
        self._to_check[symbol] = None

    def take_to_check(self) -> list[str]:
        """The symbols whose positions are to be looked at now."""
        symbols, self._to_check = list(self._to_check), {}
        return symbols

    def report(self, report: AccountReport) -> None:
        """Puts a report among the news."""
        self.reports.append(report)

    def touch(self, account: MarginAccount, report: AccountReport) -> None:
        """Puts one report for all orders of an account that changed since the last news behind them."""
        self.touched[account.owner, account.pair.symbol.id] = report
