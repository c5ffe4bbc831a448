"""Markets for programs: every price, and of one symbol its candles, trades and book, as the desk has read them.

Asking for candles, trades or a book counts as looking at them: a worker reads them for as long as somebody asks.

The database writes the long lists as JSON, and Python only joins the texts of the rows: reading a thousand rows of ten
exact figures into objects and writing them out again takes many times as long. Amounts are text without exponent or
trailing zeros and instants UTC with milliseconds, as everywhere in this interface.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import BigIntegerField, DateTimeField, F, Field, Func, QuerySet, TextField, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, JSONObject
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from desk import clock
from desk.api.resources import NOT_FOUND, REFUSALS
from desk.fields import ExactDecimalField
from desk.web.problem_details import refusing
from exchange_ops.market import interest
from exchange_ops.market.api_shapes import (
    BookOut,
    CandleList,
    CandleQuestion,
    MarketOut,
    PublicTradeList,
    TickerList,
    TickerOut,
    TradeQuestion,
)
from exchange_ops.market.models import BookSnapshot, Candle, MarketLook, PublicTrade, Symbol, Ticker
from exchange_ops.shared.api.resources import MaySee
from wire.values import instant_text

LIST = {**refusing(400), **NOT_FOUND}
TICKER = {name: name for name in TickerOut.Meta.fields}
CANDLE = {name: name for name in ("timestamp", "open", "close", "min", "max", "volume", "volume_quote")}
TRADE = {"id": "trade_id", "price": "price", "quantity": "quantity", "side": "side", "timestamp": "timestamp"}
Members = Mapping[str, str]  # name of the member to the column it tells


class Markets(APIView):
    """All prices."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="markets_list", responses={200: TickerList, **REFUSALS})
    def get(self, request: Request) -> HttpResponse:
        """All symbols, sorted by code."""
        return answer(row_texts(Ticker.objects.order_by("symbol"), TICKER))


class OneMarket(APIView):
    """One symbol."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="markets_read", responses={200: MarketOut, **NOT_FOUND})
    def get(self, request: Request, symbol: str) -> Response:
        """One symbol, with its trading rules and price."""
        row: Any = _symbol(symbol)
        row.ticker = Ticker.objects.filter(symbol=row.code).first()
        return Response(MarketOut(row).data)


class Candles(APIView):
    """The candles of one symbol."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="markets_candles", parameters=[CandleQuestion], responses={200: CandleList, **LIST})
    def get(self, request: Request, symbol: str) -> HttpResponse:
        """Candles for one period, newest first; retry in a few seconds while `read_at` is null."""
        query = _query(CandleQuestion, request)
        look = _look(symbol, query["period"])
        rows = Candle.objects.filter(symbol=look.symbol, period=look.period)
        if "before" in query:
            rows = rows.filter(timestamp__lt=query["before"])
        items = row_texts(rows.order_by("-timestamp")[: query["limit"]], CANDLE)
        return answer(items, **_read(look, look.candles_read_at), period=json.dumps(look.period))


class Trades(APIView):
    """The public trades of one symbol."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="markets_trades", parameters=[TradeQuestion], responses={200: PublicTradeList, **LIST})
    def get(self, request: Request, symbol: str) -> HttpResponse:
        """Public trades in one symbol, newest first; retry in a few seconds while `read_at` is null."""
        query = _query(TradeQuestion, request)
        look = _look(symbol)
        rows = PublicTrade.objects.filter(symbol=look.symbol)
        if "before" in query:
            rows = rows.filter(trade_id__lt=query["before"])
        items = row_texts(rows.order_by("-trade_id")[: query["limit"]], TRADE)
        return answer(items, **_read(look, look.trades_read_at))


class Book(APIView):
    """The order book of one symbol."""

    permission_classes = (MaySee,)

    @extend_schema(operation_id="markets_book", responses={200: BookOut, **NOT_FOUND})
    def get(self, request: Request, symbol: str) -> Response:
        """The order book, best levels first; retry in a few seconds while `read_at` is null."""
        look = _look(symbol)
        row = BookSnapshot.objects.filter(symbol=look.symbol).first()
        sides = {"ask": _levels(row.ask if row else []), "bid": _levels(row.bid if row else [])}
        members = {"symbol": look.symbol, "read_at": look.book_read_at, "timestamp": row.timestamp if row else None}
        return Response(
            {name: _instant(value) if name != "symbol" else value for name, value in members.items()} | sides
        )


def _symbol(code: str) -> Symbol:
    return get_object_or_404(Symbol, code=code.replace("\0", "").upper())


def _look(code: str, period: str = interest.DEFAULT_PERIOD) -> MarketLook:
    return interest.ask(symbol=_symbol(code), period=period, now=clock.now())


def _query(shape: "type[serializers.Serializer[Any]]", request: Request) -> dict[str, Any]:
    # As a plain mapping: of a form's fields the library takes one that is empty for one that is absent.
    question = shape(data=request.query_params.dict())
    question.is_valid(raise_exception=True)
    return dict(question.validated_data)


def _read(look: MarketLook, read_at: datetime | None) -> dict[str, str]:
    return {"symbol": json.dumps(look.symbol), "read_at": json.dumps(_instant(read_at))}


def _instant(moment: Any) -> str | None:
    return None if moment is None else instant_text(moment)


def _levels(levels: list[list[str]]) -> list[dict[str, str]]:
    return [{"price": price, "size": size} for price, size in levels]


def row_texts(rows: QuerySet[Any], members: Members) -> list[str]:
    """Every row as the text of one JSON object, in the order of the query."""
    columns = {name: _member(rows.model._meta.get_field(column)) for name, column in members.items()}
    written = rows.annotate(written=Cast(JSONObject(**columns), TextField()))
    return list(written.values_list("written", flat=True))


def answer(items: list[str], **members: str) -> HttpResponse:
    """The rows as `items`, with further members whose values are JSON already."""
    head = "".join(f'"{name}":{value},' for name, value in members.items())
    body = f'{{{head}"items":[{",".join(items)}]}}'
    return HttpResponse(body, content_type="application/json")


def _member(field: "Field[Any, Any] | Any") -> Combinable:
    is_sqlite = connection.vendor == "sqlite"
    column = F(field.attname)
    if isinstance(field, ExactDecimalField) and not is_sqlite:
        return Func(column, template="trim_scale(%(expressions)s)::text", output_field=TextField())
    if isinstance(field, BigIntegerField):
        return Cast(column, TextField())  # an id, text as everywhere else
    if isinstance(field, DateTimeField):
        return _instant_on_sqlite(column) if is_sqlite else _instant_on_postgres(column)
    return column


def _instant_on_sqlite(column: F) -> Func:
    return Func(Value("%Y-%m-%dT%H:%M:%fZ"), column, function="strftime", output_field=TextField())


def _instant_on_postgres(column: F) -> Func:
    at_utc = Func(Value("UTC"), column, function="timezone", output_field=DateTimeField())
    return Func(at_utc, Value('YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), function="to_char", output_field=TextField())
