"""Margin accounts as the exchange reports them, as the desk knows them."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from desk import rooms
from desk.incidents.kinds import Cause, Kind, Severity
from desk.incidents.models import Incident
from desk.rows.witnessed import Table
from exchange_ops.margin import danger
from exchange_ops.margin.models import MarginPosition, MarginReport
from exchange_ops.market.models import Ticker
from exchange_ops.shared import alarms
from exchange_ops.shared.declarations import causes, reasons

_BY_THE_PRICE: Final = "Resolves once the mark price is at a safe distance or the position is closed."


def _margin_calls(now: datetime, only: str) -> Iterator[Cause]:
    """Positions whose price is near that of the margin call, or beyond it."""
    for row, exposure, key in _positions(now, only):
        if exposure.is_near_call(warned=_is_warned(alarms.MARGIN_CALL_NEAR, key)):
            where = "has passed its margin call" if exposure.is_past_call else "is near its margin call"
            yield _cause(row, key, f"{where} at {causes.figure(exposure.call)}", exposure)


def _near_liquidations(now: datetime, only: str) -> Iterator[Cause]:
    """Positions that the exchange is about to close by itself."""
    for row, exposure, key in _positions(now, only):
        if exposure.is_near_liquidation(warned=_is_warned(alarms.LIQUIDATION_NEAR, key)):
            yield _cause(row, key, f"is near its liquidation at {causes.figure(exposure.liquidation)}", exposure)


def _positions(now: datetime, only: str) -> Iterator[tuple[MarginPosition, danger.Exposure, str]]:
    rows = list(MarginPosition.objects.filter(gone_at=None).exclude(quantity=0).order_by("pk"))
    tickers = Ticker.objects.in_bulk({row.symbol for row in rows})
    for row in rows:
        key = f"margin:{row.account_id}:{row.exchange_id}"
        if only in {"", key}:
            yield row, danger.exposure(position=row, ticker=tickers.get(row.symbol), now=now), key


def _is_warned(kind: str, key: str) -> bool:
    """Whether a warning is open already: it stays until the price is far again, not just past the border."""
    return Incident.objects.filter(kind=kind, cause=key, gone_at=None).exists()


def _cause(row: MarginPosition, key: str, where: str, exposure: danger.Exposure) -> Cause:
    side = "long" if exposure.is_long else "short"
    size, mark = causes.figure(abs(row.quantity)), causes.figure(exposure.mark)
    sentence = (
        f"The {side} position of {size} in {row.symbol} {where}; the mark price is {mark}. "
        "An operator can add collateral or close the position."
    )
    return Cause(key, sentence, "margin-symbol", row.symbol, str(row.account_id))


ROOM: Final = rooms.Room(
    incidents=(
        Kind(
            alarms.LIQUIDATION_NEAR,
            "Liquidation near",
            Severity.CRITICAL,
            causes.TRADERS,
            _near_liquidations,
            closable=False,
            ends=_BY_THE_PRICE,
        ),
        Kind(
            alarms.MARGIN_CALL_NEAR,
            "Margin call near",
            Severity.HIGH,
            causes.TRADERS,
            _margin_calls,
            closable=False,
            ends=_BY_THE_PRICE,
        ),
    ),
    tables=(Table(MarginReport),),
    idle_tables=dict.fromkeys(("exchange_ops.marginaccount", "exchange_ops.marginposition"), reasons.COPY),
)
