"""Which symbols are read in detail: those that somebody looks at, and those that the settings pin.

A page notes that it is open and does not wait; a worker reads candles, trades and book and announces them; the page
reads its rows again and thereby renews its interest. A symbol that nobody looks at is dropped a minute later. Symbols
in a list are only glanced at: their tickers are followed, and no worker reads anything for them.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, Q, QuerySet

from desk import clock, outbox, questions
from exchange_ops.market.models import MarketLook, Symbol

# The periods of candles as the interface has them (exchange REST, Candle). A month is at least so long.
PERIODS = {
    "M1": timedelta(minutes=1),
    "M3": timedelta(minutes=3),
    "M5": timedelta(minutes=5),
    "M15": timedelta(minutes=15),
    "M30": timedelta(minutes=30),
    "H1": timedelta(hours=1),
    "H4": timedelta(hours=4),
    "D1": timedelta(days=1),
    "D7": timedelta(days=7),
    "1M": timedelta(days=31),
}
DEFAULT_PERIOD = "M30"
LOOK = questions.Interest(model=MarketLook)
LATE_AFTER = timedelta(seconds=10)  # from then on a reading that was tried is no longer waited for
PINNED_EVERY = timedelta(seconds=60)
MOST_AT_ONCE = 40  # three calls each, within what the exchange allows in a second or two
MOST_GLANCED = 1_000  # tickers of lists that are followed at once
GLANCE = ""  # in the place of a period: the ticker alone
TASK = "exchange_ops.read_look"


class UnknownPeriod(ValueError):
    """The interface has no candles of this period."""


def ask(*, symbol: Symbol, period: str, now: datetime) -> MarketLook:
    """Note that somebody looks at the symbol now, and wake a worker if it was not looked at lately."""
    if period not in PERIODS:
        raise UnknownPeriod(f"Unknown candle period: {period!r}.")
    row, is_new = MarketLook.objects.get_or_create(symbol=symbol.code, period=period, defaults={"asked_at": now})
    if is_new or (LOOK.note({row.pk: row.asked_at}, now=now) and is_late(row, now=now)):
        outbox.wake(TASK, row.pk)
    return row


def glance(*, codes: Sequence[str], now: datetime) -> None:
    """Note that somebody sees these symbols in a list. However often it is called, it writes once in ten seconds."""
    rows = MarketLook.objects.filter(symbol__in=list(codes), period=GLANCE).values_list("symbol", "pk", "asked_at")
    looks = {code: (number, asked_at) for code, number, asked_at in rows}
    LOOK.note(dict(looks.values()), now=now)
    if missing := [MarketLook(symbol=code, period=GLANCE, asked_at=now) for code in codes if code not in looks]:
        MarketLook.objects.bulk_create(missing, ignore_conflicts=True)


def is_late(look: MarketLook, *, now: datetime) -> bool:
    """Whether a worker should have tried to read the symbol by now."""
    return look.tried_at is None or clock.has_passed(LATE_AFTER, since=look.tried_at, now=now)


def due(*, now: datetime) -> QuerySet[MarketLook]:
    """What to read in this round: what is looked at and what is pinned, the longest unread first."""
    unread = Q(tried_at=None) | clock.older("tried_at", now - PINNED_EVERY, now=now, or_same=True)
    rows = _closely().filter(LOOK.looked_at(now) | (Q(symbol__in=settings.MARKET_PINNED) & unread))
    return rows.order_by(F("tried_at").asc(nulls_first=True), "-asked_at", "pk")[:MOST_AT_ONCE]


def watched(*, now: datetime) -> list[MarketLook]:
    """What is looked at or pinned, as far as it can be followed at once: the last looked at first."""
    rows = _closely().filter(LOOK.looked_at(now) | Q(symbol__in=settings.MARKET_PINNED)).order_by("-asked_at", "pk")
    return list(rows[:MOST_AT_ONCE])


def glanced(*, now: datetime) -> list[str]:
    """The symbols that somebody sees in a list, as far as they can be followed at once: the last seen first."""
    rows = MarketLook.objects.filter(LOOK.looked_at(now), period=GLANCE)
    return list(rows.order_by("-asked_at", "pk").values_list("symbol", flat=True)[:MOST_GLANCED])


def pin(*, now: datetime) -> None:
    """Ensure a row for every pinned symbol that the exchange lists; it does not count as looking at it."""
    codes = Symbol.objects.filter(code__in=settings.MARKET_PINNED).values_list("code", flat=True)
    rows = MarketLook.objects.filter(symbol__in=list(codes), period=DEFAULT_PERIOD)
    codes_with_row = set(rows.values_list("symbol", flat=True))
    long_ago = now - LOOK.looked_at_for
    missing = [
        MarketLook(symbol=code, period=DEFAULT_PERIOD, asked_at=long_ago)
        for code in codes
        if code not in codes_with_row
    ]
    MarketLook.objects.bulk_create(missing, ignore_conflicts=True)


def _closely() -> QuerySet[MarketLook]:
    return MarketLook.objects.exclude(period=GLANCE)
