"""Copies of what the exchange says about currencies, symbols and prices, with the time they were read.

Currencies and symbols are read every five minutes, tickers at every call. Only rows that changed are written; the
others get the new reading time, from which pages and valuation take their age.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import Any

from django.db import models, transaction
from django.db.models import Max

from desk import clock
from desk.live import announcements
from desk.rows import bulk
from exchange_ops.client import ExchangeClient, Listing
from exchange_ops.market.models import Currency, Symbol, Ticker
from exchange_ops.shared import heartbeats
from exchange_ops.wire import records
from wire.errors import CallFailed

DESCRIPTIONS_EVERY = timedelta(minutes=5)
TOPIC = "market"
# Columns to the members of the record, where the names differ.
_RECORD_MEMBERS = {
    "code": "id",
    "low_processing_time_s": "low_processing_time",
    "high_processing_time_s": "high_processing_time",
    "avg_processing_time_s": "avg_processing_time",
}


@dataclass(frozen=True, slots=True)
class Refreshed:
    """The rows that one refresh wrote, and a sentence for every record that could not be stored."""

    written: int
    problems: tuple[str, ...] = ()


def refresh_market(*, now: datetime, open_client: Callable[[], ExchangeClient]) -> bool:
    """Read what is due and record how it went as the heartbeat of prices; False when the exchange did not answer."""
    client = open_client()
    try:
        outcome = refresh(client=client, now=now)
    except CallFailed as failure:
        heartbeats.failed(heartbeats.MARKET, now=now, problem=f"Prices could not be loaded: {failure}")
        return False
    finally:
        client.close()
    heartbeats.succeeded(heartbeats.MARKET, now=now, remark=heartbeats.remark_of(outcome.problems))
    return True


def refresh(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read tickers always, currencies and symbols when their copies are five minutes old."""
    outcomes: list[Refreshed] = []
    if is_due(Currency, now):
        outcomes.append(refresh_currencies(client=client, now=now))
    if is_due(Symbol, now):
        outcomes.append(refresh_symbols(client=client, now=now))
    outcomes.append(refresh_tickers(client=client, now=now))
    return Refreshed(
        sum(outcome.written for outcome in outcomes),
        tuple(problem for outcome in outcomes for problem in outcome.problems),
    )


def is_due(model: type[models.Model], now: datetime) -> bool:
    """Whether the copies of `model` are at least five minutes old, or missing."""
    recent = clock.recent("read_at", now - DESCRIPTIONS_EVERY, now=now)
    return not model._default_manager.filter(recent).exists()


def newest_reading(model: type[models.Model]) -> datetime | None:
    """When a row of `model` was last read."""
    newest: datetime | None = model._default_manager.aggregate(newest=Max("read_at"))["newest"]
    return newest


def refresh_currencies(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read all currencies. One that is no longer listed stays, closed for payouts, payins and transfers."""
    listing = client.get_currencies()
    outcome = _store(Currency, listing, now)
    listed = [record.id for record in listing.records]
    if listed and not listing.asides:
        gone = Currency.objects.exclude(code__in=listed)
        gone.update(payout_enabled=False, payin_enabled=False, transfer_enabled=False, read_at=now)
    return outcome


def refresh_symbols(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read all symbols."""
    return _store(Symbol, client.get_symbols(), now)


def refresh_tickers(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read all tickers."""
    outcome = _store(Ticker, client.get_tickers(), now)
    announcements.announce(TOPIC)
    return outcome


def keep_tickers(*, tickers: Sequence[records.Ticker], now: datetime) -> Refreshed:
    """Store tickers from a stream as of `now`; the others stay as they are."""
    return _store(Ticker, Listing(tuple(tickers)), now)


def _store(model: type[models.Model], listing: Listing[Any], now: datetime) -> Refreshed:
    """Store the records of a listing in two statements: the changed rows, and the reading time of the others."""
    problems = [f"A {model._meta.verbose_name} could not be processed: {aside.reason}" for aside in listing.asides]
    refused: set[str] = set()

    def refuse(row: bulk.Row, reason: str) -> None:
        refused.add(row[0])
        problems.append(f"The {model._meta.verbose_name} {row[0][:40]!r} was not recorded: {reason}.")

    table, columns = bulk.table(model), _columns(model)
    rows = [(*columns(record), now) for record in listing.records]
    with transaction.atomic():
        written = table.keep(rows, wrong=refuse)
        table.confirm([row[0] for row in rows if row[0] not in refused], read_at=now)
    return Refreshed(written, tuple(problems))


@cache
def _columns(model: type[models.Model]) -> Callable[[Any], tuple[Any, ...]]:
    """The members of a record in the order of the table's columns, without the last one, the time of reading."""
    *names, last = bulk.table(model).names
    if last != bulk.READ_AT:
        raise TypeError(f"The last column of {model.__name__} must be {bulk.READ_AT}.")
    return attrgetter(*(_RECORD_MEMBERS.get(name, name) for name in names))
