"""The candles, public trades and order book of one market, stored as the exchange reports them.

`keep_candles`, `keep_trades` and `keep_book` store records of any source: a worker's reading here, or a stream. A later
reading replaces an earlier one. The stored rows of a symbol have no gap: where a reading does not reach back to the
last one, the rows before the gap are deleted.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice

from django.db import transaction

from desk.rows import bulk
from exchange_ops.client import ExchangeClient
from exchange_ops.market.interest import PERIODS
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade
from exchange_ops.wire import records
from wire.values import decimal_text

FIRST_CANDLES = 500
FIRST_TRADES = 500
DEPTH = 100  # levels a side
MOST_PAGES = 3  # of one walk in one round; the next round goes on where it ended
WALKED_FOR = timedelta(minutes=15)  # after a longer pause the newest trades are read instead of the next ones
Levels = list[list[str]]


class NotABook(ValueError):
    """The levels do not make an order book; the text says why."""


# Reading -------------------------------------------------------------------------------------------------------------


def read_candles(*, client: ExchangeClient, symbol: str, period: str, now: datetime) -> str:
    """Read the candles that are new or still growing; returns a sentence about those not stored, or an empty text."""
    newest = Candle.objects.filter(symbol=symbol, period=period).order_by("-timestamp").first()
    away = None if newest is None else (now - newest.timestamp) / PERIODS[period]
    if newest is None or away is None or not -1 <= away < FIRST_CANDLES:
        listing = client.get_symbol_candles(symbol=symbol, period=period, sort="DESC", limit=FIRST_CANDLES)
        reasons = keep_candles(symbol=symbol, period=period, candles=listing.records, now=now, is_complete=True)
        return _sentence("candle", len(listing.asides) + len(reasons), reasons)
    reasons, asides = [], 0
    for page in islice(client.candles_from(symbol=symbol, since=newest.timestamp, period=period), MOST_PAGES):
        reasons += keep_candles(symbol=symbol, period=period, candles=page.records, now=now)
        asides += len(page.asides)
    return _sentence("candle", asides + len(reasons), reasons)


def read_trades(*, client: ExchangeClient, symbol: str, now: datetime) -> str:
    """Read the new trades; returns a sentence about those not stored, or an empty text."""
    newest = PublicTrade.objects.filter(symbol=symbol).order_by("-trade_id").first()
    if newest is None or abs(now - newest.timestamp) > WALKED_FOR:
        listing = client.get_symbol_trades(symbol=symbol, limit=FIRST_TRADES)
        reasons = keep_trades(symbol=symbol, trades=listing.records, now=now, is_complete=True)
        return _sentence("trade", len(listing.asides) + len(reasons), reasons)
    reasons, asides = [], 0
    for page in islice(client.trades_after(symbol=symbol, trade_id=newest.trade_id), MOST_PAGES):
        reasons += keep_trades(symbol=symbol, trades=page.records, now=now)
        asides += len(page.asides)
    return _sentence("trade", asides + len(reasons), reasons)


def read_book(*, client: ExchangeClient, symbol: str, now: datetime) -> str:
    """Read the order book; returns a sentence if it is invalid, and then the last one stays."""
    try:
        keep_book(symbol=symbol, book=client.get_orderbook(symbol=symbol, depth=DEPTH), now=now)
    except NotABook as problem:
        return f"The order book was not recorded: {problem}."
    return ""


# Keeping -------------------------------------------------------------------------------------------------------------


def keep_candles(
    *, symbol: str, period: str, candles: Sequence[records.Candle], now: datetime, is_complete: bool = False
) -> list[str]:
    """Store these candles, read at `now`; returns the reasons for those refused.

    With `is_complete` there are no others between them and today. A candle whose prices contradict each other is
    refused: low, open, close and high have an order.
    """
    sound = [one for one in candles if is_candle(one)]
    reasons = ["its values are inconsistent"] * (len(candles) - len(sound))
    rows = [
        (symbol, period, one.timestamp, one.open, one.close, one.min, one.max, one.volume, one.volume_quote, now)
        for one in sound
    ]
    with transaction.atomic():
        if is_complete and rows:
            turn_of(symbol, period)
            _forget_beyond_candles(symbol, period, [one.timestamp for one in sound], len(candles) >= FIRST_CANDLES)
        bulk.table(Candle).keep(rows, wrong=lambda row, reason: reasons.append(reason))
    return reasons


def keep_trades(
    *, symbol: str, trades: Sequence[records.PublicTrade], now: datetime, is_complete: bool = False
) -> list[str]:
    """Store these trades, read at `now`; returns why some were refused. With `is_complete` there are no newer ones."""
    sound = [one for one in trades if is_trade(one)]
    reasons = ["its values are not positive"] * (len(trades) - len(sound))
    rows = [(symbol, one.id, one.price, one.quantity, one.side, one.timestamp, now) for one in sound]
    with transaction.atomic():
        if is_complete and rows:
            _forget_beyond_trades(symbol, [one.id for one in sound], len(trades) >= FIRST_TRADES)
        bulk.table(PublicTrade).keep(rows, wrong=lambda row, reason: reasons.append(reason))
    return reasons


def keep_book(*, symbol: str, book: records.OrderBook, now: datetime) -> None:
    """Store the book as the newest of its symbol. Raises `NotABook`."""
    ask, bid = _levels(book.ask, falling=False), _levels(book.bid, falling=True)
    if ask and bid and Decimal(bid[0][0]) >= Decimal(ask[0][0]):
        raise NotABook("the best bid is not below the best ask")
    bulk.table(BookSnapshot).keep([(symbol, book.timestamp.instant, ask, bid, now)])


def is_candle(one: records.Candle) -> bool:
    """Whether the figures agree with each other: low, open, close and high have an order."""
    inside = one.min <= min(one.open, one.close) and max(one.open, one.close) <= one.max
    return inside and one.min > 0 and one.volume >= 0 and one.volume_quote >= 0


def is_trade(one: records.PublicTrade) -> bool:
    """Whether the figures can be those of a trade."""
    return one.price > 0 and one.quantity > 0 and one.id >= 0


def _levels(levels: Iterable[records.Level], *, falling: bool) -> Levels:
    listed = list(levels)
    prices = [level.price for level in listed]
    if any(level.price <= 0 or level.size <= 0 for level in listed):
        raise NotABook("a price level is not positive")
    if prices != sorted(set(prices), reverse=falling):
        raise NotABook("its price levels are out of order")
    return [[decimal_text(level.price), decimal_text(level.size)] for level in listed]


def turn_of(symbol: str, period: str) -> None:
    """Lock the candles of a period: deleting them and adding older ones must not overlap, or a gap could stay."""
    list(MarketLook.objects.select_for_update().filter(symbol=symbol, period=period))


def _forget_beyond_candles(symbol: str, period: str, times: Sequence[datetime], cut: bool) -> None:
    """Delete the candles after the exchange's last one, and those before a possible gap."""
    rows = Candle.objects.filter(symbol=symbol, period=period)
    rows.filter(timestamp__gt=max(times)).delete()
    if cut and not rows.filter(timestamp__in=times).exists():
        rows.filter(timestamp__lt=min(times)).delete()


def _forget_beyond_trades(symbol: str, numbers: Sequence[int], cut: bool) -> None:
    rows = PublicTrade.objects.filter(symbol=symbol)
    rows.filter(trade_id__gt=max(numbers)).delete()
    if cut and not rows.filter(trade_id__in=numbers).exists():
        rows.filter(trade_id__lt=min(numbers)).delete()


def _sentence(what: str, count: int, reasons: Sequence[str]) -> str:
    if not count:
        return ""
    because = f": {reasons[0]}" if reasons else ""
    return f"{count} {what}{'' if count == 1 else 's'} could not be processed{because}."
