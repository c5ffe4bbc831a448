"""Copies of the exchange's currencies, symbols and prices, with the time they were read."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.questions import Question
from exchange_ops.market import topics
from exchange_ops.shared.amounts import amount_field


class Currency(models.Model):
    """One currency as the exchange describes it; a code that has no row here can't be paid out."""

    code = models.CharField(max_length=20, primary_key=True)
    full_name = models.CharField(max_length=120, default="", blank=True)
    crypto = models.BooleanField(default=True)
    payin_enabled = models.BooleanField(default=False)
    payin_payment_id = models.BooleanField(default=False)
    payin_confirmations = models.PositiveIntegerField(default=0)
    payout_enabled = models.BooleanField(default=False)
    payout_is_payment_id = models.BooleanField(default=False)
    transfer_enabled = models.BooleanField(default=False)
    delisted = models.BooleanField(default=False)
    payout_fee = amount_field(null=True)
    payout_minimal_amount = amount_field(null=True)
    precision_payout = models.PositiveSmallIntegerField(null=True)
    precision_transfer = models.PositiveSmallIntegerField(null=True)
    low_processing_time_s = amount_field(null=True)
    high_processing_time_s = amount_field(null=True)
    avg_processing_time_s = amount_field(null=True)
    read_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "currencies"

    def __str__(self) -> str:
        return self.code


class Symbol(models.Model):
    """One currency pair with its increments and fee rates."""

    code = models.CharField(max_length=40, primary_key=True)
    base_currency = models.CharField(max_length=20, db_index=True)
    quote_currency = models.CharField(max_length=20, db_index=True)
    quantity_increment = amount_field()
    tick_size = amount_field()
    take_liquidity_rate = amount_field()
    provide_liquidity_rate = amount_field()
    fee_currency = models.CharField(max_length=20)
    margin_trading = models.BooleanField(default=False)
    max_initial_leverage = amount_field(null=True)
    read_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.code


class Ticker(models.Model):
    """The last 24 hours of one symbol; `timestamp` is the exchange's time, `read_at` ours."""

    symbol = models.CharField(max_length=40, primary_key=True)
    ask = amount_field(null=True)
    bid = amount_field(null=True)
    last = amount_field(null=True)
    open = amount_field(null=True)
    low = amount_field(null=True)
    high = amount_field(null=True)
    volume = amount_field(null=True)
    volume_quote = amount_field(null=True)
    timestamp = models.DateTimeField()
    read_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.symbol


class Candle(models.Model):
    """One period of trading of one symbol; `timestamp` is its start. Periods without trades have no candle.

    `read_at` is when these figures were first read: a later reading of the same figures writes nothing.
    """

    pk = models.CompositePrimaryKey("symbol", "period", "timestamp")
    symbol = models.CharField(max_length=40)
    period = models.CharField(max_length=3)
    timestamp = models.DateTimeField()
    open = amount_field()
    close = amount_field()
    min = amount_field()
    max = amount_field()
    volume = amount_field()
    volume_quote = amount_field()
    read_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["period", "timestamp"], name="candle_by_age")]

    def __str__(self) -> str:
        return f"{self.symbol} {self.period} {self.timestamp:%Y-%m-%d %H:%M}"


class PublicTrade(models.Model):
    """A public trade. `trade_id` is the exchange's number, `side` the taker's."""

    pk = models.CompositePrimaryKey("symbol", "trade_id")
    symbol = models.CharField(max_length=40)
    trade_id = models.BigIntegerField()
    price = amount_field()
    quantity = amount_field()
    side = models.CharField(max_length=20)
    timestamp = models.DateTimeField()
    read_at = models.DateTimeField()

    class Meta:
        indexes: ClassVar = [models.Index(fields=["timestamp"], name="publictrade_by_age")]

    def __str__(self) -> str:
        return f"{self.symbol} {self.trade_id}"


class BookSnapshot(models.Model):
    """The newest reading of one order book, best levels first; each level is its price and its size, as exact texts."""

    symbol = models.CharField(max_length=40, primary_key=True)
    timestamp = models.DateTimeField()
    ask = models.JSONField()
    bid = models.JSONField()
    read_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.symbol


class MarketLook(models.Model):
    """The interest in a symbol, with candles of one period: a worker reads what these rows ask for.

    `problem` is what was wrong with the last reading; the times are those of the last good one of each part.
    """

    symbol = models.CharField(max_length=40)
    period = models.CharField(max_length=3)
    asked_at = models.DateTimeField(db_index=True)
    tried_at = models.DateTimeField(null=True)
    candles_read_at = models.DateTimeField(null=True)
    trades_read_at = models.DateTimeField(null=True)
    book_read_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, default="", blank=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["symbol", "period"], name="marketlook_one_row")]

    def __str__(self) -> str:
        return f"{self.symbol} {self.period}"


class CandleHistory(Question):
    """The question for candles of a symbol and a period that are older than the stored ones.

    `first_at` is the start of the exchange's oldest candle, once a reading has reached it.
    """

    symbol = models.CharField(max_length=40)
    period = models.CharField(max_length=3)
    first_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["symbol", "period"], name="candlehistory_one_row")]

    def __str__(self) -> str:
        return f"{self.symbol} {self.period}"

    @property
    def topic(self) -> str:
        """The topic that announces older candles."""
        return topics.topic(self.symbol, "history", period=self.period)


class Favourite(models.Model):
    """A favourite symbol of a person; it stays when the exchange no longer lists it."""

    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="favourites")
    symbol = models.CharField(max_length=40)
    created_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["person", "symbol"], name="favourite_once_a_person")]

    def __str__(self) -> str:
        return self.symbol
