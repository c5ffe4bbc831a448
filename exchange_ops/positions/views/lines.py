"""What the pages about margin show of accounts and positions, from a fixed number of queries."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final

from exchange_ops.margin import danger
from exchange_ops.margin.models import MarginAccount, MarginPosition, MarginReport
from exchange_ops.market.models import Symbol, Ticker
from exchange_ops.orders import trades
from exchange_ops.orders.models import AccountTrade
from exchange_ops.positions import results, states
from exchange_ops.positions.models import MarginAction
from exchange_ops.shared.models import Account

MOST_REPORTS, MOST_ACTIONS = 200, 50
_PLACE: Final = Decimal("0.01")
_EDGE: Final = Decimal(4)  # percent of the drawing that stay free at both ends


@dataclass(frozen=True, slots=True)
class Point:
    """A price on the drawn way, `x` percent from its left end."""

    letter: str
    x: Decimal
    anchor: str = "middle"


@dataclass(frozen=True, slots=True)
class Way:
    """The way from the liquidation at the left over margin call and entry to the mark, in percent of its width."""

    liquidation: Decimal
    call: Decimal | None
    entry: Decimal
    mark: Decimal

    @property
    def until_entry(self) -> Decimal:
        """The width between the margin call, or the liquidation, and the entry."""
        return max(self.entry - (self.liquidation if self.call is None else self.call), Decimal(0))

    @property
    def points(self) -> list[Point]:
        """The marks below the way, with their letters; the mark itself stands above it."""
        call = [] if self.call is None else [Point("C", self.call, "start")]
        return [Point("L", self.liquidation, "end"), *call, Point("E", self.entry)]


def of_account(account: Account | None, *, now: datetime, only: str = "") -> list[dict[str, Any]]:
    """One line a margin account, its position beside it."""
    rows = MarginAccount.objects.filter(account=account, gone_at=None).order_by("symbol")
    held = list(rows.filter(symbol=only) if only else rows)
    codes = {row.symbol for row in held}
    positions = {row.symbol: row for row in MarginPosition.objects.filter(account=account, gone_at=None)}
    symbols, tickers = Symbol.objects.in_bulk(codes), Ticker.objects.in_bulk(codes)
    waiting = {row.symbol: row for row in _under_way(account)}
    return [
        _line(row, positions.get(row.symbol), symbols.get(row.symbol), tickers.get(row.symbol), now)
        | {"waiting": waiting.get(row.symbol)}
        for row in held
    ]


def under_way(account: Account | None, lines: Iterable[dict[str, Any]]) -> list[MarginAction]:
    """Actions of symbols that have no line: accounts that are being opened, and what is unclear."""
    numbers = {line["waiting"].pk for line in lines if line["waiting"]}
    return [row for row in _under_way(account) if row.pk not in numbers]


def reports(account: Account | None, *, only: str = "") -> list[MarginReport]:
    """What the exchange told, the newest first."""
    rows = MarginReport.objects.filter(account=account).order_by("-at", "-pk")
    return list((rows.filter(symbol=only) if only else rows)[:MOST_REPORTS])


def realised(account: Account | None, *, only: str = "", listed: int) -> dict[str, Any]:
    """The sums of what positions brought, and so many of the newest closings."""
    closings = results.of_account(account, only=only)
    return {"totals": results.totals(account, closings, only=only), "closings": closings[:listed]}


def liquidations(account: Account | None, *, only: str = "") -> list[AccountTrade]:
    """The trades by which the exchange closed positions itself, each with its `fee_currency`."""
    rows = trades.with_fee_currency(AccountTrade.objects.filter(account=account, liquidation=True))
    rows = rows.order_by("-timestamp", "-pk")
    return list((rows.filter(symbol=only) if only else rows)[:MOST_REPORTS])


def actions(account: Account | None, *, only: str = "") -> list[MarginAction]:
    """What people here did, the newest first."""
    rows = MarginAction.objects.filter(account=account).select_related("initiator").order_by("-pk")
    return list((rows.filter(symbol=only) if only else rows)[:MOST_ACTIONS])


def way_of(exposure: danger.Exposure) -> Way | None:
    """The drawing of a position; None where there is no price yet, or no liquidation to be far from."""
    liquidation, mark, call = exposure.liquidation, exposure.mark, exposure.call
    if liquidation is None or mark is None:
        return None
    sign = 1 if exposure.is_long else -1
    prices = [sign * price for price in (liquidation, exposure.entry, mark, call) if price is not None]
    low, high = min(prices), max(prices)
    span = (high - low) or Decimal(1)

    def x(price: Decimal) -> Decimal:
        return (_EDGE + (sign * price - low) / span * (100 - 2 * _EDGE)).quantize(_PLACE)

    return Way(x(liquidation), None if call is None else x(call), x(exposure.entry), x(mark))


def _under_way(account: Account | None) -> list[MarginAction]:
    waiting = (*states.IN_FLIGHT, states.UNCLEAR)
    return list(MarginAction.objects.filter(account=account, state__in=waiting).order_by("pk"))


def _line(
    held: MarginAccount,
    position: MarginPosition | None,
    symbol: Symbol | None,
    ticker: Ticker | None,
    now: datetime,
) -> dict[str, Any]:
    exposure = None if position is None else danger.exposure(position=position, ticker=ticker, now=now)
    return {
        "account": held,
        "position": position,
        "symbol": symbol or Symbol(code=held.symbol),  # one we have no copy of
        "free": held.margin_balance - held.margin_balance_orders - held.margin_balance_required,
        "exposure": exposure,
        "way": None if exposure is None else way_of(exposure),
        "level": "" if exposure is None else _level(exposure),
    }


def _level(exposure: danger.Exposure) -> str:
    if exposure.is_near_liquidation(warned=False):
        return "liquidation"
    return "call" if exposure.is_near_call(warned=False) else ""
