"""One conversation with the account stream, without a socket and without a clock: frames and times go in, frames and
events come out (exchange streams, Account management; supplement 1.2 and 1.6).

The order is fixed. Log in; load what the ledger got since the watermark; subscribe; load once more, so that nothing
that happened in between is missing, and ask for the balances, since a notification doesn't tell which became zero;
live. While live the ledger and the balances are asked for again every so often: a notification that never came, or
came late, leaves no trace, so only asking shows that nothing is missing. Silence ends the session.

A long history is not a stream's work: while somebody else walks the ledger nothing of it is loaded, and what is left is
the walk's. Where nobody does, everything is loaded to the end in every look. The session is live after the first
thousand transactions, whoever reads the rest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial

from exchange_ops.wire import records
from exchange_ops.wire.conversation import (
    BecameLive,
    Conversation,
    Ended,
    Odd,
    Pace,
    Phase,
    Unread,
    login_params,
)
from wire import jsonrpc

__all__ = [
    "AccountSession",
    "Balances",
    "BecameLive",
    "Ended",
    "Event",
    "Odd",
    "Origin",
    "Pace",
    "Phase",
    "Transactions",
    "Unread",
    "gathered",
    "login_params",
]

PAGE = 1000
MANY = PAGE  # transactions in one look after which the session no longer waits for the end of it to be live
SOONER = 6  # how much sooner the next look comes after one that was left to somebody else's walk
FEW = 100  # the documented page: with fewer the end is near, and those that happen meanwhile must not keep us from it


class Origin(StrEnum):
    """How transactions came: told before we subscribed, told to close a gap after that, or as they happened."""

    BACKLOG = "backlog"
    GAP = "gap"
    NOTIFICATION = "notification"


@dataclass(frozen=True, slots=True)
class Transactions:
    """Transactions that the exchange told, in its order.

    When they were loaded, they are all there are from the index `loaded_from` on up to the highest among them.
    """

    origin: Origin
    records: tuple[records.Transaction, ...]
    unread: tuple[Unread, ...] = ()
    loaded_from: int | None = None


@dataclass(frozen=True, slots=True)
class Balances:
    """Balances of the bank wallet; a currency that is missing is zero if `is_complete`, else perhaps unchanged."""

    records: tuple[records.Balance, ...]
    unread: tuple[Unread, ...] = ()
    is_complete: bool = False


Event = Transactions | Balances | BecameLive | Odd | Ended


class AccountSession(Conversation[Transactions | Balances]):
    """The client's side of one socket of the account stream.

    `watermark` is the index up to which everything is stored for certain, `walked_elsewhere` whether somebody else
    reads the ledger at this moment; set them as they change.
    """

    def __init__(self, *, login: Mapping[str, object], watermark: int, pace: Pace | None = None) -> None:
        super().__init__(pace)
        self.watermark = watermark
        self.walked_elsewhere = False
        self._login = login
        self._loaded_ms = 0
        self._loaded_now = 0  # transactions in this look
        self._is_left = False  # whether the newest look was left to somebody else's walk, or its rest
        self._missing: set[str] = set()  # what is to be known before the session is live

    def _begin(self, now_ms: int) -> None:
        self.phase = Phase.LOGGING_IN
        self._ask("login", self._login, now_ms, self._logged_in)

    def _idle(self, now_ms: int) -> None:
        due_ms = self._pace.recheck_ms // (SOONER if self._is_left else 1)
        if self.phase is Phase.LIVE and now_ms - self._loaded_ms >= due_ms and not self._pending:
            self._look_again(now_ms)

    # Step by step ----------------------------------------------------------------------------------------------------

    def _logged_in(self, result: bytes, now_ms: int) -> None:
        if result != b"true":
            self._end("The exchange did not confirm the login.", turned_down=True)
            return
        self.phase = Phase.CATCHING_UP
        if self.walked_elsewhere:
            self._subscribe(now_ms)
            return
        self._loaded_now = 0
        self._load(self.watermark, now_ms, Origin.BACKLOG)

    def _load(self, index: int, now_ms: int, origin: Origin) -> None:
        """Ask for the transactions from this index (included) on, ascending: never by offset on a moving set."""
        params = {"from": index, "limit": PAGE, "order": "ASC"}
        self._ask("loadTransactions", params, now_ms, partial(self._loaded, index, origin))

    def _loaded(self, index: int, origin: Origin, result: bytes, now_ms: int) -> None:
        transactions, unread = self._each(result, records.Transaction, "loadTransactions")
        if self.phase is Phase.ENDED:
            return
        if transactions or unread:
            self._events.append(Transactions(origin, transactions, unread, index))
        self._loaded_now += len(transactions) + len(unread)
        furthest = max((record.index for record in transactions), default=index - 1)
        is_near = furthest <= index or len(transactions) + len(unread) < FEW or self._loaded_now >= MANY
        if origin is Origin.BACKLOG and is_near:
            self._subscribe(now_ms)  # after which everything is loaded once more
        # The page is asked for until one brings nothing further: how many fit on a page is not documented for certain.
        elif furthest > index:
            self._is_left = self._loaded_now >= MANY and self.walked_elsewhere
            if not self._is_left:
                self._load(furthest + 1, now_ms, origin)
        if origin is Origin.GAP and is_near:
            self._now_has("transactions")

    def _subscribe(self, now_ms: int) -> None:
        self.phase = Phase.SUBSCRIBING
        for method in ("subscribeTransactions", "subscribeBalance"):
            self._ask(method, {}, now_ms, self._subscribed)

    def _subscribed(self, result: bytes, now_ms: int) -> None:
        if result != b"true":
            self._end("The exchange did not confirm a subscription.")
        elif not self._pending:
            self.phase = Phase.CATCHING_UP
            self._missing = {"transactions", "balances"}
            self._look_again(now_ms)

    def _look_again(self, now_ms: int) -> None:
        """Ask for everything that may not have been told."""
        self._loaded_ms, self._loaded_now = now_ms, 0
        self._is_left = self.walked_elsewhere
        if self._is_left:
            self._missing.discard("transactions")
        else:
            self._load(self.watermark, now_ms, Origin.GAP)
        self._ask("getBalance", {}, now_ms, self._balances_listed)

    def _balances_listed(self, result: bytes, now_ms: int) -> None:
        entries, unread = self._each(result, records.Balance, "getBalance")
        if self.phase is not Phase.ENDED:
            self._events.append(Balances(entries, unread, is_complete=not unread))
            self._now_has("balances")

    def _now_has(self, what: str) -> None:
        self._missing.discard(what)
        if self.phase is Phase.CATCHING_UP and not self._missing:
            self.phase = Phase.LIVE
            self._events.append(BecameLive())

    def _notified(self, frame: jsonrpc.Notification, now_ms: int) -> None:
        match frame.method:
            case "updateTransaction":
                transactions, unread = self._each(b"[" + frame.params + b"]", records.Transaction, frame.method)
                self._events.append(Transactions(Origin.NOTIFICATION, transactions, unread))
            case "balance":
                entries, unread = self._each(frame.params, records.Balance, frame.method)
                if self.phase is not Phase.ENDED:
                    self._events.append(Balances(entries, unread))
            case _:
                self._unknown(frame.method)


def gathered(events: Iterable[Event]) -> list[Event]:
    """The same events, with notifications between two other events merged: transactions in their order, and the last
    balance of each currency."""
    done: list[Event] = []
    transactions: Transactions | None = None
    balances: Balances | None = None
    for event in events:
        match event:
            case Transactions(origin=Origin.NOTIFICATION):
                transactions = event if transactions is None else _both(transactions, event)
            case Balances():
                balances = event if balances is None or event.is_complete else _newer(balances, event)
            case _:
                done += [each for each in (transactions, balances) if each is not None]
                done.append(event)
                transactions = balances = None
    return done + [each for each in (transactions, balances) if each is not None]


def _both(first: Transactions, second: Transactions) -> Transactions:
    return Transactions(first.origin, first.records + second.records, first.unread + second.unread)


def _newer(old: Balances, new: Balances) -> Balances:
    entries = {entry.currency: entry for entry in (*old.records, *new.records)}
    return Balances(tuple(entries.values()), old.unread + new.unread, old.is_complete)
