"""What the exchange says about currencies, symbols and prices: copies with the time they were read."""

from django.db import models

from exchange_ops.models.amounts import amount_field


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
