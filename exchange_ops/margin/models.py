"""What the exchange says about margin: isolated accounts and their positions, as copies with the time of reading."""

from typing import ClassVar

from django.db import models

from desk.rows.witnessed import Witnessed
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account


class MarginAccount(models.Model):
    """The isolated margin account of one symbol; balances in its quote currency. `gone_at`: no longer listed.

    `margin_balance_orders` and `margin_balance_required` are the parts of the balance held for open orders and for the
    position; `reason` is the exchange's word for its last change, from a stream (supplement 1.5).
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="margin_accounts")
    symbol = models.CharField(max_length=40)
    leverage = amount_field()
    margin_balance = amount_field()
    margin_balance_orders = amount_field()
    margin_balance_required = amount_field()
    reason = models.CharField(max_length=40, default="", blank=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    read_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "symbol"], name="marginaccount_one_per_symbol")
        ]

    def __str__(self) -> str:
        return f"margin of {self.symbol}"


class MarginPosition(models.Model):
    """The position of one symbol: a negative quantity is a short one, prices and pnl in the quote currency."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="margin_positions")
    symbol = models.CharField(max_length=40)
    exchange_id = models.BigIntegerField()
    quantity = amount_field()
    price_entry = amount_field()
    pnl = amount_field(null=True)
    price_margin_call = amount_field(null=True)
    price_liquidation = amount_field(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    read_at = models.DateTimeField()
    gone_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "symbol"], name="marginposition_one_per_symbol")
        ]

    def __str__(self) -> str:
        return f"position in {self.symbol}"


class MarginReport(Witnessed):
    """One report of the exchange on a margin account, kept for good: a trade of its position, interest, a liquidation.

    `reason` is the exchange's word (supplement 1.5), or `gone` where a reading no longer lists the position and no
    report said why. `change` is the change of the balance since the report before; quantities are those of the position
    before and after, `price_entry` is that of the position concerned. `at` is the exchange's time, `seen_at` ours.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="margin_reports")
    symbol = models.CharField(max_length=40)
    reason = models.CharField(max_length=40)
    margin_balance = amount_field(null=True)
    change = amount_field(null=True)
    quantity_before = amount_field(null=True)
    quantity_after = amount_field(null=True)
    price_entry = amount_field(null=True)
    at = models.DateTimeField()
    seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["account", "symbol", "reason", "at", "margin_balance", "quantity_after"],
                name="marginreport_told_once",
            )
        ]
        indexes: ClassVar = [models.Index(fields=["account", "-at"], name="marginreport_newest")]

    def __str__(self) -> str:
        return f"{self.symbol}: {self.reason}"
