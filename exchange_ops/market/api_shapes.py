"""The members of what /api/v1/markets/ asks and answers. Amounts are text; times are UTC in ISO form."""

from typing import Any

from rest_framework import serializers

from exchange_ops.market import interest
from exchange_ops.market.models import Candle, PublicTrade, Symbol, Ticker
from exchange_ops.shared.api.fields import AmountText, ExchangeIdText


class TickerOut(serializers.ModelSerializer[Ticker]):
    """A symbol's last 24 hours; `timestamp` is the exchange's time, `read_at` when the data was received."""

    ask = AmountText(read_only=True, allow_null=True)
    bid = AmountText(read_only=True, allow_null=True)
    last = AmountText(read_only=True, allow_null=True)
    open = AmountText(read_only=True, allow_null=True)
    low = AmountText(read_only=True, allow_null=True)
    high = AmountText(read_only=True, allow_null=True)
    volume = AmountText(read_only=True, allow_null=True)
    volume_quote = AmountText(read_only=True, allow_null=True)

    class Meta:
        model = Ticker
        fields = (
            *("symbol", "ask", "bid", "last", "open", "low", "high", "volume", "volume_quote"),
            *("timestamp", "read_at"),
        )
        read_only_fields = fields


class TickerList(serializers.Serializer[Any]):
    """Every symbol with a price, sorted by code."""

    items = TickerOut(many=True)


class MarketOut(serializers.ModelSerializer[Symbol]):
    """A symbol with its trading rules. Rates are fractions; a negative rate is a rebate."""

    symbol = serializers.CharField(source="code", read_only=True)
    quantity_increment = AmountText(read_only=True)
    tick_size = AmountText(read_only=True)
    take_liquidity_rate = AmountText(read_only=True)
    provide_liquidity_rate = AmountText(read_only=True)
    max_initial_leverage = AmountText(read_only=True, allow_null=True)
    ticker = TickerOut(read_only=True, allow_null=True)

    class Meta:
        model = Symbol
        fields = (
            *("symbol", "base_currency", "quote_currency", "quantity_increment", "tick_size", "take_liquidity_rate"),
            *("provide_liquidity_rate", "fee_currency", "margin_trading", "max_initial_leverage", "read_at", "ticker"),
        )
        read_only_fields = fields


class CandleOut(serializers.ModelSerializer[Candle]):
    """One candle; `timestamp` is its start. Periods without trades have no candle."""

    open = AmountText(read_only=True)
    close = AmountText(read_only=True)
    min = AmountText(read_only=True)
    max = AmountText(read_only=True)
    volume = AmountText(read_only=True)
    volume_quote = AmountText(read_only=True)

    class Meta:
        model = Candle
        fields = ("timestamp", "open", "close", "min", "max", "volume", "volume_quote")
        read_only_fields = fields


class PublicTradeOut(serializers.ModelSerializer[PublicTrade]):
    """A public trade; `side` is the taker's."""

    id = ExchangeIdText(source="trade_id", read_only=True)
    price = AmountText(read_only=True)
    quantity = AmountText(read_only=True)

    class Meta:
        model = PublicTrade
        fields = ("id", "price", "quantity", "side", "timestamp")
        read_only_fields = fields


class ReadParts(serializers.Serializer[Any]):
    """Whose rows these are, and when a worker last read them: null while it was only just asked to."""

    symbol = serializers.CharField()
    read_at = serializers.DateTimeField(allow_null=True)


class CandleList(ReadParts):
    """Newest first."""

    period = serializers.ChoiceField(choices=list(interest.PERIODS))
    items = CandleOut(many=True)


class PublicTradeList(ReadParts):
    """Newest first."""

    items = PublicTradeOut(many=True)


class LevelOut(serializers.Serializer[Any]):
    """The quantity that is offered at one price."""

    price = AmountText()
    size = AmountText()


class BookOut(ReadParts):
    """Up to 100 levels per side, best first; `timestamp` is the exchange's time."""

    timestamp = serializers.DateTimeField(allow_null=True)
    ask = LevelOut(many=True)
    bid = LevelOut(many=True)


class CandleQuestion(serializers.Serializer[Any]):
    """Which candles: the newest of a period, or those before an instant."""

    period = serializers.ChoiceField(choices=list(interest.PERIODS), default=interest.DEFAULT_PERIOD)
    before = serializers.DateTimeField(required=False, help_text="Only candles that open before this time.")
    limit = serializers.IntegerField(min_value=1, max_value=1000, default=100)


class TradeQuestion(serializers.Serializer[Any]):
    """Which trades: the newest, or those before one."""

    before = serializers.IntegerField(
        required=False, min_value=0, max_value=2**63 - 1, help_text="Only trades with an ID lower than this."
    )
    limit = serializers.IntegerField(min_value=1, max_value=1000, default=100)
