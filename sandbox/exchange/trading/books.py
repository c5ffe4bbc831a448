"""Order books as the REST interface shows them (exchange REST, Order book, supplement 2.9), written as JSON at once."""

from collections.abc import Sequence

from sandbox.exchange.orders.matching import BUY, SELL
from sandbox.exchange.state import Exchange
from sandbox.exchange.tape.tape_records import Figures, instant, nine_digits

_Levels = Sequence[tuple[int, int]]


def book(exchange: Exchange, symbol_id: str, depth: int) -> str:
    """The book of a symbol, at most `depth` levels a side; all of them when it is 0."""
    exchange.look_at(symbol_id)
    book = exchange.pair(symbol_id).book
    return _record(exchange, symbol_id, book.levels(SELL, depth), book.levels(BUY, depth))


def book_for(exchange: Exchange, symbol_id: str, quantity: int) -> str:
    """The book just deep enough for a quantity in increments, with the average price of the levels shown.

    A side that is empty has no average.
    """
    exchange.look_at(symbol_id)
    book = exchange.pair(symbol_id).book
    asks, bids = book.volume_for(SELL, quantity), book.volume_for(BUY, quantity)
    figures = exchange.tape.track(symbol_id).figures
    averages = f'"askAveragePrice":{_average(asks, figures)},"bidAveragePrice":{_average(bids, figures)}'
    return f"{_record(exchange, symbol_id, asks, bids)[:-1]},{averages}}}"


def _record(exchange: Exchange, symbol_id: str, asks: _Levels, bids: _Levels) -> str:
    figures, now_ms = exchange.tape.track(symbol_id).figures, exchange.moment_ms
    return (
        f'{{"symbol":"{symbol_id}","timestamp":"{nine_digits(now_ms)}","batchingTime":"{instant(now_ms)}",'
        f'"ask":{figures.levels(asks)},"bid":{figures.levels(bids)}}}'
    )


def _average(levels: _Levels, figures: Figures) -> str:
    """The average price weighted by size, rounded to the nearest tick, as JSON."""
    quantity = sum(size for _, size in levels)
    if not quantity:
        return "null"
    notional = sum(price * size for price, size in levels)
    return f'"{figures.price((2 * notional + quantity) // (2 * quantity))}"'
