"""Currencies, symbols and the public market, as the desk knows them."""

from datetime import timedelta
from functools import partial
from typing import Final

from django.conf import settings
from django.db.models import Q

from desk import clock, rooms
from desk.incidents.kinds import Kind, Severity
from desk.rooms import Check, Health
from desk.rows.retention import Retention
from desk.web.context import Entry
from desk.web.search import Search
from exchange_ops.market import reference
from exchange_ops.market import stream as market_stream
from exchange_ops.market.interest import PERIODS
from exchange_ops.market.models import Candle, MarketLook, PublicTrade, Ticker
from exchange_ops.market.room import searches
from exchange_ops.shared import alarms, heartbeats, rules
from exchange_ops.shared.declarations import ages, causes, reasons, topics

PRICE_AGE: Final = timedelta(seconds=90)
LOOKS_LAST: Final = timedelta(days=1)
TICKING: Final = ("symbol", "book", "trades", "candles")  # keyed as `market.topics` says
HISTORY: Final = "history"  # of candles, with the same key and without ticks


def _prices() -> Health:
    """How old the prices are. Without fresh ones values are unknown and the strictest rules hold."""
    age = ages.age(reference.newest_reading(Ticker), clock.now())
    if age is not None and age <= PRICE_AGE:
        closely = ages.liveness(market_stream.NAME, "Open markets", clock.now())
        sentence = f"Prices updated {ages.spoken(age)} ago. {closely}"
        return Health(ok=True, sentence=sentence, age_s=age.total_seconds())
    row = heartbeats.state_of(heartbeats.MARKET)
    because = f" {row.problem}" if row is not None and row.problem else ""
    when = "not received yet" if age is None else f"last updated {ages.spoken(age)} ago"
    sentence = f"Prices {when}. Values are unknown, so the strictest tier applies.{because}"
    return Health(ok=False, sentence=sentence, age_s=None if age is None else age.total_seconds())


def _candles_last(length: timedelta) -> timedelta:
    return length * settings.MARKET_CANDLES_KEPT


ROOM: Final = rooms.Room(
    topics={
        reference.TOPIC: topics.desk_wide,
        **dict.fromkeys((*TICKING, HISTORY), topics.symbol),
    },
    ticking=TICKING,
    checks={"prices": Check(_prices, order=150, incident=alarms.PRICES_OLD)},
    incidents=(
        Kind(
            alarms.PRICES_OLD,
            "Prices out of date",
            Severity.MEDIUM,
            causes.WORKERS,
            causes.unwell(alarms.PRICES_OLD),
            grace_period=causes.AFTER_A_START,
        ),
    ),
    idle_tables={
        "exchange_ops.currency": reasons.COPY,
        "exchange_ops.candlehistory": reasons.QUESTION,
        **dict.fromkeys(
            [f"exchange_ops.{name}" for name in ("symbol", "ticker", "candle", "publictrade", "booksnapshot")],
            "public market data",
        ),
        "exchange_ops.marketlook": "which market data pages are showing",
        "exchange_ops.favourite": "a person's favourite symbols",
    },
    retention=(
        *(
            Retention(Candle, "timestamp", partial(_candles_last, length), partial(Q, period=period))
            for period, length in PERIODS.items()
        ),
        Retention(PublicTrade, "timestamp", lambda: timedelta(days=settings.MARKET_TRADES_KEPT_DAYS)),
        Retention(MarketLook, "asked_at", lambda: LOOKS_LAST, lambda: ~Q(symbol__in=settings.MARKET_PINNED)),
    ),
    searches=(Search(searches.symbols, 80), Search(searches.currencies, 90)),
    tasks="exchange_ops.market.tasks",
    urls="exchange_ops.market.room.urls",
    navigation=(
        Entry(
            "Markets",
            "markets",
            "chart-candlestick",
            "Trading",
            order=110,
            key="m",
            may_see=rules.may_see,
            also=("Prices", "Symbols"),
        ),
    ),
)
