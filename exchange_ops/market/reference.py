"""Copies of what the exchange says about currencies, symbols and prices, with the time they were read.

Currencies and symbols are read every five minutes, tickers at every call. Only rows that changed are written; the
others get the new reading time, by which pages and valuation judge their age.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from operator import attrgetter
from typing import Any

from django.db import models, transaction
from django.db.models import Max

from desk.live import announcements
from desk.rows import bulk
from exchange_ops.client import ExchangeClient, Listing
from exchange_ops.market.models import Currency, Symbol, Ticker
from exchange_ops.wire import records

DESCRIPTIONS_EVERY = timedelta(minutes=5)
TOPIC = "market"
# Columns whose record has another word for them; all the others are called the same.
_CALLED = {
    "code": "id",
    "low_processing_time_s": "low_processing_time",
    "high_processing_time_s": "high_processing_time",
    "avg_processing_time_s": "avg_processing_time",
}


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What one refresh did: rows written, and a sentence for every record that could not be taken in."""

    written: int
    problems: tuple[str, ...] = ()


def refresh(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read what is due: tickers always, currencies and symbols when their copies are five minutes old."""
    done: list[Refreshed] = []
    if is_due(Currency, now):
        done.append(refresh_currencies(client=client, now=now))
    if is_due(Symbol, now):
        done.append(refresh_symbols(client=client, now=now))
    done.append(refresh_tickers(client=client, now=now))
    return Refreshed(sum(one.written for one in done), tuple(problem for one in done for problem in one.problems))


def is_due(model: type[models.Model], now: datetime) -> bool:
    """Whether the copies of `model` were last read five minutes ago or more, or never."""
    read_at = newest_reading(model)
    return read_at is None or now - read_at >= DESCRIPTIONS_EVERY


def newest_reading(model: type[models.Model]) -> datetime | None:
    """When a row of `model` was last read."""
    newest: datetime | None = model._default_manager.aggregate(newest=Max("read_at"))["newest"]
    return newest


def refresh_currencies(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read all currencies. One that is no longer listed is closed for payouts, payins and transfers, and stays."""
    listing = client.get_currencies()
    done = _store(Currency, listing, now)
    listed = [record.id for record in listing.records]
    if listed and not listing.asides:
        gone = Currency.objects.exclude(code__in=listed)
        gone.update(payout_enabled=False, payin_enabled=False, transfer_enabled=False, read_at=now)
    return done


def refresh_symbols(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read all symbols."""
    return _store(Symbol, client.get_symbols(), now)


def refresh_tickers(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read all tickers."""
    done = _store(Ticker, client.get_tickers(), now)
    announcements.announce(TOPIC)
    return done


def keep_tickers(*, found: Sequence[records.Ticker], now: datetime) -> Refreshed:
    """Keep tickers that a stream told, as of `now`; the others are left as they are."""
    return _store(Ticker, Listing(tuple(found)), now)


def _store(model: type[models.Model], listing: Listing[Any], now: datetime) -> Refreshed:
    """Keep the records of a listing in two statements: the changed rows whole, the others' reading time."""
    problems = [f"A {model._meta.verbose_name} could not be read: {aside.reason}" for aside in listing.asides]
    refused: set[str] = set()

    def refuse(row: bulk.Row, reason: str) -> None:
        refused.add(row[0])
        problems.append(f"The {model._meta.verbose_name} {row[0][:40]!r} can't be kept: {reason}.")

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
        raise TypeError(f"The last column of {model.__name__} is not the time of reading.")
    return attrgetter(*(_CALLED.get(name, name) for name in names))
