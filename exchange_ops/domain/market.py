"""Copies of what the exchange says about currencies, symbols and prices, with the time they were read.

Currencies and symbols are read every five minutes, tickers at every call. Only rows that changed are written; the
others get the new reading time, by which pages and valuation judge their age.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.db.models import Max

from desk import live
from exchange_ops.client import ExchangeClient, Listing
from exchange_ops.domain.balances import storable
from exchange_ops.models import Currency, Symbol, Ticker
from exchange_ops.wire import records

DESCRIPTIONS_EVERY = timedelta(minutes=5)
HIGHEST_COUNT = 32_767  # what the smallest column for counts takes
TOPIC = "market"


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
    done = _store(Currency, listing, _currency, now)
    listed = [record.id for record in listing.records]
    if listed and not listing.asides:
        gone = Currency.objects.exclude(code__in=listed)
        gone.update(payout_enabled=False, payin_enabled=False, transfer_enabled=False, read_at=now)
    return done


def refresh_symbols(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read all symbols."""
    return _store(Symbol, client.get_symbols(), _symbol, now)


def refresh_tickers(*, client: ExchangeClient, now: datetime) -> Refreshed:
    """Read all tickers."""
    done = _store(Ticker, client.get_tickers(), _ticker, now)
    live.announce(TOPIC)
    return done


def _store(
    model: type[models.Model], listing: Listing[Any], row_of: Callable[[Any, datetime], models.Model], now: datetime
) -> Refreshed:
    """Upsert the records of a listing in two statements: the changed rows whole, the others' reading time."""
    problems = [f"A {model._meta.verbose_name} could not be read: {aside.reason}" for aside in listing.asides]
    rows = {}
    for record in listing.records:
        row = row_of(record, now)
        if reason := _unstorable(row):
            problems.append(f"The {model._meta.verbose_name} {str(row.pk)[:40]!r} can't be kept: {reason}.")
        else:
            rows[row.pk] = row
    names = [field.name for field in model._meta.concrete_fields if not field.primary_key]
    compared = [name for name in names if name != "read_at"]
    known = {row.pk: row for row in model._default_manager.filter(pk__in=rows)}
    changed = [row for pk, row in rows.items() if pk not in known or _differ(row, known[pk], compared)]
    same = rows.keys() - {row.pk for row in changed}
    with transaction.atomic():
        model._default_manager.bulk_create(
            changed, update_conflicts=True, unique_fields=["pk"], update_fields=names, batch_size=200
        )
        for batch in _batches(sorted(same), 500):
            model._default_manager.filter(pk__in=batch).update(read_at=now)
    return Refreshed(len(changed), tuple(problems))


def _differ(row: models.Model, known: models.Model, names: Sequence[str]) -> bool:
    return any(getattr(row, name) != getattr(known, name) for name in names)


def _batches(keys: Sequence[Any], size: int) -> Iterable[Sequence[Any]]:
    return (keys[start : start + size] for start in range(0, len(keys), size))


def _unstorable(row: models.Model) -> str:
    """Why the columns would not take this row, or an empty text; the database must not be the one to find out."""
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if isinstance(field, models.DecimalField) and value is not None and not storable(value):
            return f"{field.name} has too many digits"
        if isinstance(field, models.CharField) and (len(value) > (field.max_length or 0) or "\0" in value):
            return f"{field.name} is too long or has odd characters"
        counted = isinstance(field, models.PositiveIntegerField | models.PositiveSmallIntegerField)
        if counted and value is not None and not 0 <= value <= HIGHEST_COUNT:
            return f"{field.name} is out of bounds"
    return ""


def _currency(record: records.Currency, now: datetime) -> Currency:
    return Currency(
        code=record.id,
        full_name=record.full_name,
        crypto=record.crypto,
        payin_enabled=record.payin_enabled,
        payin_payment_id=record.payin_payment_id,
        payin_confirmations=record.payin_confirmations,
        payout_enabled=record.payout_enabled,
        payout_is_payment_id=record.payout_is_payment_id,
        transfer_enabled=record.transfer_enabled,
        delisted=record.delisted,
        payout_fee=record.payout_fee,
        payout_minimal_amount=record.payout_minimal_amount,
        precision_payout=record.precision_payout,
        precision_transfer=record.precision_transfer,
        low_processing_time_s=record.low_processing_time,
        high_processing_time_s=record.high_processing_time,
        avg_processing_time_s=record.avg_processing_time,
        read_at=now,
    )


def _symbol(record: records.Symbol, now: datetime) -> Symbol:
    return Symbol(
        code=record.id,
        base_currency=record.base_currency,
        quote_currency=record.quote_currency,
        quantity_increment=record.quantity_increment,
        tick_size=record.tick_size,
        take_liquidity_rate=record.take_liquidity_rate,
        provide_liquidity_rate=record.provide_liquidity_rate,
        fee_currency=record.fee_currency,
        margin_trading=bool(record.margin_trading),
        max_initial_leverage=record.max_initial_leverage,
        read_at=now,
    )


def _ticker(record: records.Ticker, now: datetime) -> Ticker:
    return Ticker(
        symbol=record.symbol,
        ask=record.ask,
        bid=record.bid,
        last=record.last,
        open=record.open,
        low=record.low,
        high=record.high,
        volume=record.volume,
        volume_quote=record.volume_quote,
        timestamp=record.timestamp,
        read_at=now,
    )
