"""Public market data: no key is needed. Source: exchange REST, Public market data; supplement 2.9."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from exchange_ops.client.core import PAGE, Calls
from exchange_ops.client.listings import Listing
from exchange_ops.client.paging import upwards
from exchange_ops.wire import records

_TICK = timedelta(milliseconds=1)
Position = datetime | int | None  # an end of an interval: an instant, or an id or index when it is asked by that


class MarketCalls(Calls):
    """Currencies, symbols, tickers, trades, order books, candles. An unknown code is `Refused` with 2001 or 2002."""

    def get_currencies(self, *, currencies: Sequence[str] = ()) -> Listing[records.Currency]:
        """The currencies of these codes, or all."""
        return self.listing("get_currencies", currencies=currencies or None)

    def get_symbols(self, *, symbols: Sequence[str] = ()) -> Listing[records.Symbol]:
        """The symbols of these codes, or all."""
        return self.listing("get_symbols", symbols=symbols or None)

    def get_tickers(self, *, symbols: Sequence[str] = ()) -> Listing[records.Ticker]:
        """The last 24 hours of these symbols, or of all."""
        return self.listing("get_tickers", symbols=symbols or None)

    # Trades ----------------------------------------------------------------------------------------------------------

    def get_symbol_trades(
        self,
        *,
        symbol: str,
        by: str = "timestamp",
        since: Position = None,
        until: Position = None,
        sort: str = "DESC",
        limit: int = 100,
    ) -> Listing[records.PublicTrade]:
        """Trades of a symbol between two instants or, `by="id"`, two ids (both included); `limit` from 1 to 1000."""
        interval: dict[str, object] = {"from": since, "till": until, "sort": sort, "by": by, "limit": limit}
        return self.listing("get_symbol_trades", symbol=symbol, **interval)

    def trades_after(self, *, symbol: str, trade_id: int, limit: int = PAGE) -> Iterator[Listing[records.PublicTrade]]:
        """Pages of a symbol's trades with ids above `trade_id`, ascending, until a page is not full."""
        return upwards(
            lambda first: self.get_symbol_trades(symbol=symbol, by="id", since=first, sort="ASC", limit=limit),
            after=trade_id,
            limit=limit,
            key_of=lambda trade: trade.id,
            aside_key=lambda aside: aside.number,
        )

    # Order books -----------------------------------------------------------------------------------------------------

    def get_orderbook(self, *, symbol: str, depth: int = 100, volume: Decimal | None = None) -> records.OrderBook:
        """One book; `depth` is levels a side, 0 the whole book.

        With `volume`, in the base currency, the depth counts for nothing: the book is just deep enough for it and tells
        the average price of each side.
        """
        limit = depth if volume is None else None
        book: records.OrderBook = self.call("get_orderbook", symbol=symbol, limit=limit, volume=volume)
        return book

    # Candles ---------------------------------------------------------------------------------------------------------

    def get_symbol_candles(
        self,
        *,
        symbol: str,
        period: str = "M30",
        since: datetime | None = None,
        until: datetime | None = None,
        sort: str = "ASC",
        limit: int = 100,
    ) -> Listing[records.Candle]:
        """Candles of one symbol, as `get_candles`."""
        interval: dict[str, object] = {"from": since, "till": until, "sort": sort, "limit": limit}
        return self.listing("get_symbol_candles", symbol=symbol, period=period, **interval)

    def candles_from(
        self, *, symbol: str, since: datetime, period: str = "M30", limit: int = PAGE
    ) -> Iterator[Listing[records.Candle]]:
        """Pages of candles that start at `since` or later, ascending, until a page is not full.

        The start of a period is a candle's key. The last candle may still be growing: begin the next walk with it.
        """
        return upwards(
            lambda first: self.get_symbol_candles(symbol=symbol, period=period, since=_at(first), limit=limit),
            after=_ms(since) - 1,
            limit=limit,
            key_of=lambda candle: _ms(candle.timestamp),
            aside_key=lambda aside: None,
        )


_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def _ms(instant: datetime) -> int:
    return (instant - _EPOCH) // _TICK


def _at(milliseconds: int) -> datetime:
    return _EPOCH + milliseconds * _TICK
