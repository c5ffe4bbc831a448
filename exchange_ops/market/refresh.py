"""Reading the markets that somebody looks at: one round over those that are due, each market by itself.

A market that is refused or answered badly does not stop the others. If the exchange can't be reached for two in a row,
the round ends: the next one is due in a few seconds, and the worker has other work.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import groupby

from desk.live import announcements
from exchange_ops.client import ExchangeClient
from exchange_ops.market import interest, quotes, topics
from exchange_ops.market.models import MarketLook
from exchange_ops.shared import leases
from wire.errors import CallFailed, Unreachable

LEASE = "market"
LONGEST_PROBLEM = 300
MOST_MISSED = 2
_TITLES = {"trades": "Trades", "book": "Order book", "candles": "Candles"}


@dataclass(slots=True)
class _Reading:
    """The parts of a market that were read, and the problems of the others."""

    parts: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    reached: bool = True

    def read_part(self, part: str, read: Callable[[], str]) -> None:
        """Read one part, unless the exchange was already found to be out of reach."""
        if not self.reached:
            return
        try:
            remark = read()
        except CallFailed as failure:
            self.problems.append(f"{_TITLES[part]} not updated: {failure}.")
            self.reached = not isinstance(failure, Unreachable)
        else:
            self.parts.append(part)
            self.problems += [remark] if remark else []


def refresh(*, now: datetime, open_client: Callable[[], ExchangeClient]) -> int:
    """Read everything that is due, in one process at a time; returns how many markets were read."""
    interest.pin(now=now)
    rows = list(interest.due(now=now))
    holder = leases.name_of_this_process()
    if not rows or not leases.hold(name=LEASE, holder=holder, now=now):
        return 0
    try:
        return _read_all(rows, now, open_client)
    finally:
        leases.release(name=LEASE, holder=holder)


def read_one(*, look_id: int, now: datetime, open_client: Callable[[], ExchangeClient]) -> int:
    """Read what somebody just began to look at, unless it was read a moment ago."""
    row = MarketLook.objects.filter(pk=look_id).first()
    return _read_all([row], now, open_client) if row is not None and interest.is_late(row, now=now) else 0


def _read_all(rows: list[MarketLook], now: datetime, open_client: Callable[[], ExchangeClient]) -> int:
    client, done, missed = open_client(), 0, 0
    try:
        for symbol, group in groupby(sorted(rows, key=_by_symbol), key=lambda row: row.symbol):
            reached = _read_symbol(symbol, list(group), client, now)
            done, missed = (done + 1, 0) if reached else (done, missed + 1)
            if missed == MOST_MISSED:
                break
    finally:
        client.close()
    return done


def _by_symbol(row: MarketLook) -> tuple[str, str]:
    return row.symbol, row.period


def _read_symbol(symbol: str, rows: list[MarketLook], client: ExchangeClient, now: datetime) -> bool:
    """Trades and book once, candles for each period; False when the exchange could not be reached."""
    shared = _Reading()
    shared.read_part("trades", partial(quotes.read_trades, client=client, symbol=symbol, now=now))
    shared.read_part("book", partial(quotes.read_book, client=client, symbol=symbol, now=now))
    reached = shared.reached
    for row in rows:
        own = _Reading(list(shared.parts), list(shared.problems), reached)
        own.read_part("candles", partial(quotes.read_candles, client=client, symbol=symbol, period=row.period, now=now))
        times = {f"{part}_read_at": now for part in own.parts}
        problem = " ".join(own.problems)[:LONGEST_PROBLEM]
        MarketLook.objects.filter(pk=row.pk).update(tried_at=now, problem=problem, **times)
        reached = own.reached
    announcements.announce(topics.topic(symbol))
    return reached
