"""One conversation with the trading stream: reports of spot and margin orders, and margin accounts.

The order is fixed. Log in; subscribe to reports and to margin; what is active comes as a snapshot after each; live.
While live the lists are asked for every so often: a report that never came leaves no trace. An account that may not
trade on margin is followed without. Source: exchange streams, Margin trading; supplement 1.4 and 1.5.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from exchange_ops.wire import records
from exchange_ops.wire.conversation import BecameLive, Conversation, Ended, Odd, Pace, Phase, Unread, refusal_text
from wire import jsonrpc

REPORTS, MARGIN = "subscribeReports", "marginSubscribe"
SPOT_ORDERS, MARGIN_ORDERS, MARGIN_ACCOUNTS = "activeOrders", "marginOrders", "marginAccounts"
_SNAPSHOTS = {REPORTS: (SPOT_ORDERS,), MARGIN: (MARGIN_ORDERS, MARGIN_ACCOUNTS)}
UNASKED_MS = 1_000  # how old a list can be that the exchange tells of its own accord
_LISTS = {"getOrders": SPOT_ORDERS, "marginOrdersGet": MARGIN_ORDERS, "marginAccountsGet": MARGIN_ACCOUNTS}


@dataclass(frozen=True, slots=True)
class Reports:
    """Orders as the exchange told them; if `is_complete`, all active ones of this kind, on margin or not.

    `age_ms` is the highest age that a list can have: the time since it was requested.
    """

    margin: bool
    records: tuple[records.OrderReport, ...]
    is_complete: bool
    unread: tuple[Unread, ...] = ()
    age_ms: int = 0


@dataclass(frozen=True, slots=True)
class MarginAccounts:
    """Margin accounts as the exchange told them; if `is_complete`, all there are. `age_ms` is its highest age."""

    records: tuple[records.MarginAccount, ...]
    is_complete: bool
    unread: tuple[Unread, ...] = ()
    age_ms: int = 0


@dataclass(frozen=True, slots=True)
class NoMargin:
    """The exchange would not tell of margin; spot orders are told all the same."""

    sentence: str


OwnEvent = Reports | MarginAccounts | NoMargin
Event = OwnEvent | BecameLive | Odd | Ended


class TradingSession(Conversation[OwnEvent]):
    """The client's side of one socket of the trading stream. It places no orders."""

    def __init__(self, *, login: Mapping[str, object], pace: Pace | None = None) -> None:
        super().__init__(pace)
        self._login = login
        self._missing = {name for names in _SNAPSHOTS.values() for name in names}
        self._with_margin = True
        self._since_ms = self._listed_ms = 0

    def _begin(self, now_ms: int) -> None:
        self.phase = Phase.LOGGING_IN
        self._ask("login", self._login, now_ms, self._logged_in)

    def _idle(self, now_ms: int) -> None:
        if self.phase is Phase.SUBSCRIBING and now_ms - self._since_ms > 2 * self._pace.answer_ms:
            self._end(f"No {sorted(self._missing)[0]} message from the exchange after subscribing.")
        elif self.phase is Phase.LIVE and now_ms - self._listed_ms >= self._pace.recheck_ms and not self._pending:
            self._listed_ms = now_ms
            for method, name in _LISTS.items():
                if self._with_margin or name == SPOT_ORDERS:
                    self._ask(
                        method, {}, now_ms, partial(self._listed, name, now_ms), partial(self._not_listed, method)
                    )

    # Step by step ----------------------------------------------------------------------------------------------------

    def _logged_in(self, result: bytes, now_ms: int) -> None:
        if result != b"true":
            self._end("The exchange did not confirm the login.", turned_down=True)
            return
        self.phase = Phase.SUBSCRIBING
        self._since_ms = now_ms
        self._ask(REPORTS, {}, now_ms, self._subscribed)
        self._ask(MARGIN, {}, now_ms, self._subscribed, self._no_margin)

    def _subscribed(self, result: bytes, now_ms: int) -> None:
        if result != b"true":
            self._end("The exchange did not confirm a subscription.")
        else:
            self._live_when_complete(now_ms)

    def _no_margin(self, failure: jsonrpc.Failure, now_ms: int) -> None:
        self._with_margin = False
        self._missing.difference_update(_SNAPSHOTS[MARGIN])
        self._events.append(NoMargin(f"The exchange rejected the margin data request: {refusal_text(failure)}"[:300]))
        self._live_when_complete(now_ms)

    def _live_when_complete(self, now_ms: int) -> None:
        if self.phase is Phase.SUBSCRIBING and not self._missing and not self._pending:
            self.phase = Phase.LIVE
            self._listed_ms = now_ms
            self._events.append(BecameLive())

    def _listed(self, name: str, asked_ms: int, result: bytes, now_ms: int) -> None:
        self._snapshot(name, result, now_ms, age_ms=now_ms - asked_ms)

    def _not_listed(self, method: str, failure: jsonrpc.Failure, now_ms: int) -> None:
        self._odd(f"The exchange rejected {method}: {refusal_text(failure)}"[:300])

    # What is told ----------------------------------------------------------------------------------------------------

    def _notified(self, frame: jsonrpc.Notification, now_ms: int) -> None:
        match frame.method:
            case "report" | "marginOrderReport":
                elements, unread = self._each(b"[" + frame.params + b"]", records.OrderReport, frame.method)
                self._append(Reports(frame.method != "report", elements, is_complete=False, unread=unread))
            case "marginAccountReport":
                elements, unread = self._each(b"[" + frame.params + b"]", records.MarginAccount, frame.method)
                self._append(MarginAccounts(elements, is_complete=False, unread=unread))
            case "activeOrders" | "marginOrders" | "marginAccounts":
                is_first = frame.method in self._missing
                age_ms = now_ms - self._since_ms if is_first else UNASKED_MS
                self._snapshot(frame.method, frame.params, now_ms, age_ms=age_ms)
            case _:
                self._unknown(frame.method)

    def _snapshot(self, name: str, body: bytes, now_ms: int, *, age_ms: int) -> None:
        """All of what is active, told by itself or as the answer to a question. May come at any time."""
        kind = records.MarginAccount if name == MARGIN_ACCOUNTS else records.OrderReport
        elements, unread = self._each(body, kind, name)
        if name == MARGIN_ACCOUNTS:
            self._append(MarginAccounts(elements, is_complete=True, unread=unread, age_ms=age_ms))
        else:
            self._append(Reports(name == MARGIN_ORDERS, elements, is_complete=True, unread=unread, age_ms=age_ms))
        self._missing.discard(name)
        self._live_when_complete(now_ms)

    def _append(self, event: OwnEvent) -> None:
        if self.phase is not Phase.ENDED:
            self._events.append(event)
