"""Rows that are kept for a while only: market copies, answered questions, hourly figures, and what people were told.

Nothing about money is among them. They are removed in small batches, each in a transaction of its own, so that nobody
waits for a large one, and a run that is broken off goes on with the next.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db.models import Model, Q

from desk.notifications.models import Notification
from desk.web import idempotency
from desk.web.models import KeyedRequest
from exchange_ops.addresses.models import AddressCheck, FeeEstimate
from exchange_ops.console.models import ConsoleCall
from exchange_ops.market.interest import PERIODS
from exchange_ops.market.models import Candle, MarketLook, PublicTrade
from exchange_ops.orders.models import FeeRates
from exchange_ops.portfolio.models import Snapshot

BATCH = 1_000
MOST_BATCHES = 40  # of one run, over everything
LOOKS_KEPT_FOR = timedelta(days=1)


def purge(*, now: datetime, batch: int = BATCH, most_batches: int = MOST_BATCHES) -> int:
    """Remove what is older than the settings keep, oldest first, up to a bound; how many rows went."""
    removed = 0
    for remove in _removals(now):
        while most_batches > 0 and (count := remove(size=batch)):
            removed, most_batches = removed + count, most_batches - 1
    return removed


def _removals(now: datetime) -> Iterator[Callable[..., int]]:
    """What removes one batch of each kind of row; it gives how many there were."""
    for period, length in PERIODS.items():
        ends = now - length * settings.MARKET_CANDLES_KEPT
        yield partial(_up_to, Candle, "timestamp", ends, Q(period=period))
    yield partial(_up_to, PublicTrade, "timestamp", now - timedelta(days=settings.MARKET_TRADES_KEPT_DAYS))
    for model in (AddressCheck, FeeEstimate, FeeRates):
        yield partial(_up_to, model, "requested_at", now - timedelta(days=settings.ANSWERS_KEPT_DAYS))
    yield partial(_up_to, ConsoleCall, "asked_at", now - timedelta(days=settings.ANSWERS_KEPT_DAYS))
    yield partial(_up_to, KeyedRequest, "began_at", now - idempotency.KEPT_FOR)
    yield partial(_up_to, Notification, "ended_at", now - timedelta(days=settings.MESSAGES_KEPT_DAYS))
    hours_end = now - timedelta(days=settings.SNAPSHOT_HOURS_KEPT_DAYS)
    yield partial(_up_to, Snapshot, "taken_at", hours_end, Q(kind=Snapshot.HOURLY))
    yield partial(_up_to, MarketLook, "asked_at", now - LOOKS_KEPT_FOR, ~Q(symbol__in=settings.MARKET_PINNED))


def _up_to(model: type[Model], column: str, ends: datetime, among: Q | None = None, size: int = BATCH) -> int:
    """Remove about `size` rows older than `ends`, the oldest first: all that share the last one's moment go with it."""
    rows = model._default_manager.filter(among or Q(), **{f"{column}__lt": ends})
    oldest: list[Any] = list(rows.order_by(column).values_list(column, flat=True)[:size])
    return rows.filter(**{f"{column}__lte": oldest[-1]}).delete()[0] if oldest else 0
