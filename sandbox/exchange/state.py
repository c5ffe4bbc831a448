"""The exchange of one world: all its parts, the instant that is being lived, and the changes to be told.

What the books said to the orders of one input is noted for the journal while it happens, and read from it when the
journal is lived again (`RecordedFills`): the simulated traders are not journaled, and after a restart their orders are
others. What an order of a customer met is therefore a part of the journal, and a replay asks the journal instead of the
book: it takes the recorded fills off the customers' orders that made them, lets the rest of the order rest if it did,
and never matches anything. A fill against a simulated trader has the maker 0.
"""

import random
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple, Protocol, TypeAlias

from sandbox.amounts import ZERO, text_of
from sandbox.chain import seeding
from sandbox.engine.clock import Pace, Timers
from sandbox.engine.journal import Entry
from sandbox.exchange.accounts import chain_history
from sandbox.exchange.accounts.accounts import Accounts
from sandbox.exchange.accounts.addresses import Addresses
from sandbox.exchange.accounts.ledger import Ledger, Line, Wallet
from sandbox.exchange.accounts.movements import CoinMovements
from sandbox.exchange.accounts.transactions import Payout, Transaction, Transactions
from sandbox.exchange.listing.currencies import Currency
from sandbox.exchange.listing.symbols import Symbol
from sandbox.exchange.orders.matching import BUY, SELL, Pair
from sandbox.exchange.orders.orders import Orders
from sandbox.exchange.orders.orders_reports import MarketTrade, Report
from sandbox.exchange.positions.margin_records import Margins
from sandbox.exchange.tape.market import Market
from sandbox.exchange.tape.tape import Tape, Tickers
from sandbox.exchange.tape.tape_texts import Texts
from sandbox.exchange.terms import Event
from sandbox.settings.config import Config

# A trade of an order with the book: the number of the trade, the resting order (0: a simulated trader's), its price,
# and the quantity.
Meeting: TypeAlias = tuple[int, int, int, int]


class Met(NamedTuple):
    """What one order met in its book. `reason` tells why the rest of it is gone (see `matching.Outcome`); "" when it
    rests or nothing is left; "funds" when a woken stop order could not be paid for."""

    trades: tuple[Meeting, ...]
    reason: str = ""


FUNDS = "funds"
NOTHING = Met(())


class RecordedFills:
    """The outcomes of one input, in their order. While `replaying`, they come from the journal."""

    def __init__(self) -> None:
        self.replaying = False
        self._mets: list[Met] = []
        self._next = 0

    def begin(self) -> None:
        """Begins to note the outcomes of a new input."""
        self._mets, self._next = [], 0

    def note(self, met: Met) -> None:
        """Notes an outcome as it happens; what is lived again is noted already."""
        if not self.replaying:
            self._mets.append(met)

    def give(self, recorded: list[object]) -> None:
        """Begins an input whose outcomes are known; raises ValueError when they can't be read."""
        self._mets, self._next = [_read(one) for one in recorded], 0

    def peek(self) -> Met:
        """The next recorded outcome; raises ValueError when there is none."""
        if self._next >= len(self._mets):
            raise ValueError("the journal has fewer outcomes than the input")
        return self._mets[self._next]

    def next_met(self) -> Met:
        """The next recorded outcome, which is then done with."""
        met = self.peek()
        self._next += 1
        return met

    def is_next(self, reason: str) -> bool:
        """Whether the next recorded outcome, if there is one, has this reason."""
        return self._next < len(self._mets) and self._mets[self._next].reason == reason

    def must_be_used_up(self) -> None:
        """Raises ValueError when recorded outcomes are left over."""
        if self._next != len(self._mets):
            raise ValueError("the journal has more outcomes than the input")

    def recorded(self) -> list[object]:
        """What was noted, as the journal keeps it."""
        return [[met.reason, *(list(meeting) for meeting in met.trades)] for met in self._mets]

    def put_aside(self) -> list[Met]:
        """What was noted so far, while another input comes in between; `resume` takes it up again."""
        noted, self._mets = self._mets, []
        return noted

    def resume(self, noted: list[Met]) -> None:
        """Goes on where `put_aside` left off."""
        self._mets = noted


def _read(recorded: object) -> Met:
    match recorded:
        case [str(reason), *meetings]:
            return Met(tuple(meeting_of(each) for each in meetings), reason)
    raise ValueError("not an outcome")


def meeting_of(recorded: object) -> Meeting:
    """A recorded trade; raises ValueError when it is none."""
    match recorded:
        case [int(trade_id), int(maker_id), int(price), int(quantity)]:
            return trade_id, maker_id, price, quantity
    raise ValueError("not a trade")


class SimulatedTraders(Protocol):
    """The simulated market as it lives on between inputs."""

    def live_until(self, until_ms: int, *, is_last: bool) -> bool:
        """Acts up to an instant; True when it stopped on the way, after something happened, and wants to go on.

        `is_last` tells that nothing else is due before the instant, and lets the moment become it.
        """
        ...

    def next_due_ms(self) -> int | None:
        """When it wants to act next; None when it doesn't."""
        ...

    def quotes(self, symbol_id: str) -> tuple[int | None, int | None]:
        """Best bid and ask of a symbol at the moment, in ticks."""
        ...


class Exchange:
    """Everything the sandbox's exchange remembers.

    `moment_ms` is the sandbox time of the input or timer at work: rules take it, never the clock. `random` is drawn
    from only while something changes, so equal inputs make equal worlds. `events` collects what listeners will be
    told once the change is in the journal; nothing is collected while nobody listens (`has_listeners`).

    The simulated market lives outside the journal, and what it does to customers comes into it by two ways:
    `recorded_fills` keeps what an order of a customer met (see there), and `happen` makes an input of its own of what
    the market does unasked. `refresh_book` is called before a book is read or matched against, so that the market can
    bring it up to the moment; `simulated_traders` act between inputs; `trade_listeners` hear of every trade as it
    happens. While a journal is replayed none of them is called, but for trades of customers.

    `chain` is the sandbox's own, on which blocks come at `pace`; `movements` are those of its coin, which is one like
    all the others until they are there.
    """

    def __init__(
        self,
        *,
        seed: int,
        started_ms: int,
        config: Config,
        currencies: Iterable[Currency],
        symbols: Iterable[Symbol],
        accounts: Accounts,
        still: bool = False,
    ) -> None:
        self.seed = seed
        self.started_ms = started_ms
        self.moment_ms = started_ms
        self.config = config
        self.accounts = accounts
        self.currencies = {currency.code: currency for currency in currencies}
        self.symbols = {symbol.id: symbol for symbol in symbols}
        self.random = random.Random(seed)  # noqa: S311 (equal seeds must make equal worlds)
        self.ledger = Ledger()
        self.transactions = Transactions(self.random)
        self.payouts: dict[str, Payout] = {}
        self.addresses = Addresses(seed)
        self.timers = Timers()
        self.market = Market(seed, self.currencies, started_ms if still else None)
        self.orders = Orders()
        self.margins = Margins(self.timers)
        self.pairs: dict[str, Pair] = {}
        self.recorded_fills = RecordedFills()
        self.happened: list[Entry] = []
        self.refresh_book: Callable[[str], None] | None = None
        self.simulated_traders: SimulatedTraders | None = None
        self.chain = seeding.begun(seed, started_ms=started_ms, exchange=(chain_history.build,))
        self.pace = Pace()
        self.movements: CoinMovements | None = None
        self.tape = Tape(self.market, self.symbols.values(), started_ms)
        self.tickers = Tickers(self.tape)
        self.texts = Texts(self.tape)
        self.trade_listeners: list[Callable[[MarketTrade], None]] = [self.margins.hear, self.tape.hear]
        self.has_listeners = False
        self.events: list[Event | Report | MarketTrade] = []
        self._moved: dict[str, None] = {}

    def pair(self, symbol_id: str) -> Pair:
        """A symbol that exists, as it is traded; its book is empty until somebody offers something."""
        pair = self.pairs.get(symbol_id)
        if pair is None:
            pair = self.pairs[symbol_id] = Pair(self.symbols[symbol_id])
        return pair

    def look_at(self, symbol_id: str) -> None:
        """Lets the simulated market bring a book up to the moment, before it is shown or matched against."""
        if self.refresh_book is not None and not self.recorded_fills.replaying:
            self.refresh_book(symbol_id)

    def live_until(self, until_ms: int, *, is_last: bool) -> bool:
        """Lets the simulated market act by itself up to an instant; see `SimulatedTraders`."""
        if self.simulated_traders is None or self.recorded_fills.replaying:
            return False
        return self.simulated_traders.live_until(until_ms, is_last=is_last)

    def next_due_ms(self) -> int | None:
        """When something falls due next, of a timer or of the simulated market; None when nothing does."""
        dues = (
            self.timers.next_due_ms(),
            self.simulated_traders.next_due_ms() if self.simulated_traders is not None else None,
        )
        return min((due_ms for due_ms in dues if due_ms is not None), default=None)

    def quotes(self, symbol_id: str) -> tuple[int | None, int | None]:
        """Best bid and ask of a symbol at the moment, in ticks; None where the book is empty."""
        if self.simulated_traders is not None and not self.recorded_fills.replaying:
            return self.simulated_traders.quotes(symbol_id)
        book = self.pair(symbol_id).book
        return book.best(BUY), book.best(SELL)

    def happen(
        self, action: str, does: "Callable[[Exchange, Mapping[str, object]], None]", **arguments: object
    ) -> None:
        """Lets the market do something to customers: now, and again whenever the journal is lived again.

        `does` must be what `schedule.JOURNALED_EVENTS` has under the name. While an input of a customer is at
        work this may only come before anything that the input itself changes: it is journaled before it.
        """
        noted = self.recorded_fills.put_aside()
        does(self, arguments)
        self.happened.append(Entry(self.moment_ms, action, arguments, outcomes=self.recorded_fills.recorded()))
        self.recorded_fills.resume(noted)

    def take_happened(self) -> list[Entry]:
        """What happened since the last call, to be journaled."""
        happened, self.happened = self.happened, []
        return happened

    def available(self, account: str, currency: str) -> Decimal:
        """What the bank account holds free."""
        return self.ledger.balance(account, Wallet.BANK, currency)

    def post(self, purpose: str, reference: str, lines: Iterable[Line]) -> None:
        """Posts at the present moment and remembers whose bank balance changed; raises `CannotPost`."""
        posting_lines = tuple(lines)
        self.ledger.post(self.moment_ms, purpose, reference, posting_lines)
        if self.has_listeners:
            for line in posting_lines:
                if line.wallet in (Wallet.BANK, Wallet.BANK_RESERVED) and line.account not in self._moved:
                    self._moved[line.account] = None

    def record(
        self,
        *,
        account: str,
        type: str,
        currency: Currency,
        amount: Decimal,
        fee: Decimal | None = None,
        address: str = "",
        payment_id: str = "",
        public_comment: str = "",
    ) -> Transaction:
        """A new transaction of this moment, listed after the configured delay. `touch` it when it is complete."""
        transaction = Transaction(
            id=self.transactions.new_id(),
            account=account,
            type=type,
            currency=currency.code,
            amount=amount,
            digits=currency.digits,
            created_ms=self.moment_ms,
            listed_ms=self.moment_ms + self.config.list_delay_ms,
            fee=fee,
            address=address,
            payment_id=payment_id,
            public_comment=public_comment,
        )
        self.transactions.add(transaction)
        if transaction.listed_ms > self.moment_ms:
            self.timers.set(transaction.listed_ms, "listed", transaction.id)
        return transaction

    def transaction(self, transaction_id: str) -> Transaction:
        """The transaction of an id that exists."""
        transaction = self.transactions.find(transaction_id)
        if transaction is None:
            raise KeyError(transaction_id)
        return transaction

    def touch(self, transaction: Transaction) -> None:
        """Marks the transaction as changed now: a new index, and news for listeners once it is listed."""
        self.transactions.touch(transaction, self.moment_ms)
        self.add_news(transaction)

    def add_news(self, transaction: Transaction) -> None:
        """Puts the transaction's present form among the news, unless it is not listed yet."""
        if self.has_listeners and transaction.listed_ms <= self.moment_ms:
            record = transaction.wire(echo_comment=self.config.echo_comment)
            self.events.append(Event("transaction", transaction.account, record))

    def take_events(self) -> list[Event]:
        """The news since the last call, transactions before balances and orders before their margin accounts."""
        if not self.has_listeners:
            return []
        news = [each if isinstance(each, Event) else each.event() for each in self.events]
        news += [each.event() for each in (*self.margins.reports, *self.margins.touched.values())]
        news += [Event("balance", account, self.bank_balances(account)) for account in self._moved]
        self.forget_events()
        return news

    def forget_events(self) -> None:
        """Drops the news, as when they could not be journaled."""
        self.events, self._moved = [], {}
        self.margins.reports, self.margins.touched = [], {}

    def bank_balances(self, account: str) -> list[dict[str, str]]:
        """The non-zero balances of the bank account, as the account stream tells them."""
        return [row for row in self.balances(account, Wallet.BANK, Wallet.BANK_RESERVED) if _is_held(row)]

    def balances(self, account: str, available: Wallet, reserved: Wallet) -> list[dict[str, str]]:
        """The balance of every currency, zeros included, in the order of the currency list."""
        held = self.ledger.currencies_of(account)
        return [_balance(code, held.get(code, {}), available, reserved) for code in self.currencies]


def _balance(code: str, held: Mapping[Wallet, Decimal], available: Wallet, reserved: Wallet) -> dict[str, str]:
    return {
        "currency": code,
        "available": text_of(held.get(available, ZERO)),
        "reserved": text_of(held.get(reserved, ZERO)),
    }


def _is_held(row: Mapping[str, str]) -> bool:
    return row["available"] != "0" or row["reserved"] != "0"
