"""The followers of the exchange's streams: the account's ledger, its orders and margin, and the markets looked at."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from typing import Any

from exchange_ops.ledger import stream as ledger_stream
from exchange_ops.ledger import sync, walks
from exchange_ops.market import stream as market_stream
from exchange_ops.orders import stream as trading_stream
from exchange_ops.shared.models import Account
from exchange_ops.streams.follower import CannotFollow, KeyedFollower, Rhythm, StreamFollower, stream_url
from exchange_ops.wire.catalogue import Right
from exchange_ops.wire.conversation import Ended
from exchange_ops.wire.market_session import BookChanged, MarketPace, MarketSession, TickerTold
from exchange_ops.wire.session import AccountSession, Origin, Transactions, gathered
from exchange_ops.wire.streams import Address
from exchange_ops.wire.trading_session import Reports, TradingSession

__all__ = [
    "AccountFollower",
    "CannotFollow",
    "MarketFollower",
    "Rhythm",
    "StreamFollower",
    "TradingFollower",
    "stream_url",
]

WALK_LOOKED_AT_EVERY_MS = 1_000  # whether somebody else walks the ledger, and how far it is read
TARGETS_EVERY_MS = 1_000  # how soon a symbol that somebody begins to look at is followed
WRITTEN_EVERY_MS = 1_000  # how often what was gathered is written
# How often it is told to browsers: as often as the exchange tells of a lively book. After a pause it is told at once.
TOLD_EVERY_MS = 100
LEAST_WAIT_MS = 10  # sending has as much time as listening
EARLY_AGAIN_MS = 100  # between two tries with reports of orders whose placing is not answered yet
MOST_EARLY = 1_000
SETTLED_MS = 20_000  # a market session that lived so long was not a failure


class AccountFollower(KeyedFollower[AccountSession]):
    """Follows the account stream of one account: its transactions, and the balances of its bank wallet."""

    def __init__(self, account: Account, *, base_url: str, now: Callable[[], datetime], **options: Any) -> None:
        url, title = stream_url(base_url, Address.ACCOUNT), ledger_stream.name_of(account)
        super().__init__(title, url, account=account, right=Right.PAYMENTS, now=now, **options)
        self._walk_looked_ms = 0

    def _begin(self) -> AccountSession:
        talk = AccountSession(login=self._login(), watermark=0, pace=self._rhythm.pace)
        self._look_at_walk(talk)
        return talk

    def _look_at_walk(self, talk: AccountSession) -> None:
        talk.watermark = sync.watermark(account=self._account)
        talk.walked_elsewhere = walks.is_under_way(account=self._account, now=self._now())

    def _look_after(self, talk: AccountSession, now_ms: int) -> None:
        super()._look_after(talk, now_ms)
        if now_ms - self._walk_looked_ms >= WALK_LOOKED_AT_EVERY_MS:
            self._walk_looked_ms = now_ms
            self._look_at_walk(talk)

    def _store(self, event: Any, talk: AccountSession) -> None:
        ledger_stream.store(account=self._account, event=event, now=self._now())
        if isinstance(event, Transactions) and event.loaded_from is not None:
            self._look_at_walk(talk)

    def _gathered(self, events: list[Any]) -> list[Any]:
        return gathered(events)

    def _own_time(self, event: Any) -> datetime | None:
        if isinstance(event, Transactions) and event.origin is Origin.NOTIFICATION:
            return max((one.updated_at for one in event.records), default=None)
        return None


class TradingFollower(KeyedFollower[TradingSession]):
    """Follows the trading stream of one account: reports of its orders, and its margin."""

    def __init__(self, account: Account, *, base_url: str, now: Callable[[], datetime], **options: Any) -> None:
        url, title = stream_url(base_url, Address.TRADING), trading_stream.name_of(account)
        super().__init__(title, url, account=account, right=Right.ORDERS, now=now, **options)
        self._early: list[Reports] = []
        self._again_ms = 0

    def _begin(self) -> TradingSession:
        self._early = []  # the list of active orders tells of them anew
        return TradingSession(login=self._login(), pace=self._rhythm.pace)

    def _store(self, event: Any, talk: TradingSession) -> None:
        early = trading_stream.store(account=self._account, event=event, now=self._now())
        if early is not None:
            self._early = [*self._early, early][-MOST_EARLY:]

    def _gathered(self, events: list[Any]) -> list[Any]:
        """Reports that came together are stored together: what they have in common is asked and written once."""
        gathered: list[Any] = []
        for event in events:
            if gathered and _are_alike(gathered[-1], event):
                last = gathered.pop()
                reports, unread = (*last.records, *event.records), (*last.unread, *event.unread)
                gathered.append(replace(last, records=reports, unread=unread))
            else:
                gathered.append(event)
        return gathered

    def _look_after(self, talk: TradingSession, now_ms: int) -> None:
        super()._look_after(talk, now_ms)
        if self._early and now_ms - self._again_ms >= EARLY_AGAIN_MS:
            self._again_ms = now_ms
            waiting, self._early = self._early, []
            for event in waiting:
                self._store(event, talk)

    def _own_time(self, event: Any) -> datetime | None:
        if isinstance(event, Reports) and not event.is_complete:
            return max((one.updated_at for one in event.records), default=None)
        return None


def _are_alike(one: Any, other: Any) -> bool:
    """Whether both are reports as they happened, of orders on margin or not."""
    if not isinstance(one, Reports) or not isinstance(other, Reports):
        return False
    return one.margin == other.margin and not one.is_complete and not other.is_complete


class MarketFollower(StreamFollower[MarketSession]):
    """Follows the markets that somebody looks at, and those that are pinned, for the whole desk."""

    def __init__(
        self,
        *,
        base_url: str,
        now: Callable[[], datetime],
        market_pace: MarketPace | None = None,
        **options: Any,
    ) -> None:
        rhythm = options.pop("rhythm", None) or Rhythm()
        options["rhythm"] = replace(rhythm, look_ms=min(rhythm.look_ms, TOLD_EVERY_MS))
        super().__init__(market_stream.NAME, stream_url(base_url, Address.PUBLIC), now=now, **options)
        self._market_pace = market_pace
        self._tally = market_stream.Tally()
        self._targets_ms = self._written_ms = self._told_ms = self._began_ms = 0

    def _begin(self) -> MarketSession:
        self._tally = market_stream.Tally()
        self._targets_ms = self._began_ms = 0
        return MarketSession(self._market_pace)

    def _store(self, event: Any, talk: MarketSession) -> None:
        self._tally.add(event, now=self._now())
        if isinstance(event, Ended):
            self._tally.keep(now=self._now())

    def _own_time(self, event: Any) -> datetime | None:
        match event:
            case TickerTold(record):
                return record.timestamp
            case BookChanged(book):
                return book.timestamp
        return None

    def _look_after(self, talk: MarketSession, now_ms: int) -> None:
        if now_ms - self._targets_ms >= TARGETS_EVERY_MS:
            self._targets_ms = now_ms
            talk.follow(market_stream.subscriptions(now=self._now()), now_ms)
        if now_ms - self._told_ms >= TOLD_EVERY_MS and self._tally.announce():
            self._told_ms = now_ms
        self._wait_for(self._told_ms + TOLD_EVERY_MS - now_ms if self._tally.ticks.is_due else self._rhythm.look_ms)
        if now_ms - self._written_ms >= WRITTEN_EVERY_MS:
            self._written_ms = now_ms
            self._tally.keep(now=self._now())
        self._began_ms = self._began_ms or now_ms
        if now_ms - self._began_ms >= SETTLED_MS:
            self._failures = 0

    def _wait_for(self, wait_ms: int) -> None:
        """Listen no longer than until something that came has to be told."""
        if self._socket is not None:
            self._socket.settimeout(max(wait_ms, LEAST_WAIT_MS) / 1000)

    def _settled(self) -> None:
        """A connection alone shows nothing here: only one that lasts does."""
