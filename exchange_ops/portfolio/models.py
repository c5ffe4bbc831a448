"""What the accounts were worth, their daily inflows and outflows, and their profits: figures derived from other rows.

Nothing here decides anything. Hourly snapshots are kept for a while, daily ones for good; the rest is computed again
whenever the ledger or the trades change.
"""

from typing import ClassVar

from django.db import models

from exchange_ops.portfolio.lots import METHODS
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account

BANK, TRADING, SUBACCOUNTS, MARGIN = WALLETS = ("bank", "trading", "subaccounts", "margin")


class Snapshot(models.Model):
    """What an account held at one moment, valued in `quote`. There is at most one for each hour.

    `hour` is the hour it stands for and `taken_at` the moment of its figures. The first of a UTC day is kept for good.
    A rebuilt one was walked back from later balances by the ledger's entries and own trades; it knows nothing of
    sub-accounts and margin. A sum is empty where nothing of it has a value. `unvalued` are currencies without a price,
    `unknown` those whose amount at that moment can't be told: neither counts into any sum.
    """

    HOURLY, DAILY, REBUILT = "hourly", "daily", "rebuilt"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="snapshots")
    hour = models.DateTimeField()
    taken_at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=[(HOURLY, "hourly"), (DAILY, "daily"), (REBUILT, "rebuilt")])
    quote = models.CharField(max_length=20)
    bank = amount_field(null=True)
    trading = amount_field(null=True)
    subaccounts = amount_field(null=True)
    margin = amount_field(null=True)
    unvalued = models.JSONField(default=list)
    unknown = models.JSONField(default=list)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "hour"], name="snapshot_one_an_hour"),
            models.CheckConstraint(
                condition=models.Q(kind__in=["hourly", "daily", "rebuilt"]), name="snapshot_known_kind"
            ),
        ]
        indexes: ClassVar = [models.Index(fields=["kind", "taken_at"], name="snapshot_by_age")]

    def __str__(self) -> str:
        return f"{self.account_id} at {self.taken_at:%Y-%m-%d %H:%M}"


class SnapshotLine(models.Model):
    """One currency in one wallet: the amount, reserved included, and the price then used with the symbols it came from.

    `value` is amount x price to eight places. Without a price both are empty. `priced_at` is the age of the price.
    """

    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="lines")
    wallet = models.CharField(max_length=12, choices=[(name, name) for name in WALLETS])
    currency = models.CharField(max_length=20)
    amount = amount_field()
    price = amount_field(null=True)
    value = amount_field(null=True)
    priced_at = models.DateTimeField(null=True)
    via = models.CharField(max_length=90, default="", blank=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["snapshot", "wallet", "currency"], name="snapshotline_one_row")
        ]
        indexes: ClassVar = [models.Index(fields=["currency", "snapshot"], name="snapshotline_by_currency")]

    def __str__(self) -> str:
        return f"{self.amount} {self.currency} in {self.wallet}"


class DailyFlow(models.Model):
    """What came in, went out and was paid in network fees of one currency on one UTC day, in that currency.

    Conversions and transfers between wallets and our own sub-accounts are none of it. `price` is the day's close in
    the account's quote currency, empty while there is none.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="daily_flows")
    day = models.DateField()
    currency = models.CharField(max_length=20)
    came_in = amount_field()
    went_out = amount_field()
    fees = amount_field()
    price = amount_field(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "day", "currency"], name="dailyflow_one_row")
        ]

    def __str__(self) -> str:
        return f"{self.currency} on {self.day}"


class Profit(models.Model):
    """What one coin of an account came to by one method (`portfolio.lots.Book`), as of the last computation.

    Amounts are in the coin, all else in the account's quote currency. `lots` are the oldest open ones, as
    [time, quantity, cost or null]; `lots_count` says how many there are in all.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="profits")
    coin = models.CharField(max_length=20)
    method = models.CharField(max_length=10, choices=list(METHODS.items()))
    known_quantity = amount_field()
    cost = amount_field()
    unknown_quantity = amount_field()
    realised = amount_field()
    fees = amount_field()
    sold_without_cost = amount_field()
    proceeds_without_cost = amount_field()
    left_without_price = amount_field()
    cost_without_price = amount_field()
    opening = amount_field()
    unexplained = amount_field()
    lots = models.JSONField(default=list)
    lots_count = models.PositiveIntegerField(default=0)
    computed_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["account", "coin", "method"], name="profit_one_row")]

    def __str__(self) -> str:
        return f"{self.coin} by {self.method}"


class ProfitDay(models.Model):
    """What was realised of one coin on one UTC day by one method, and the fees of that day, in the quote currency."""

    profit = models.ForeignKey(Profit, on_delete=models.CASCADE, related_name="days")
    day = models.DateField()
    realised = amount_field()
    fees = amount_field()

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["profit", "day"], name="profitday_one_row")]

    def __str__(self) -> str:
        return f"{self.profit_id} on {self.day}"


class OrderResult(models.Model):
    """What one order realised by selling lots, first in, first out (`portfolio.lots.Sale`), at the last computation.

    The order is the one of this number at the exchange. `realised` is in `currency`; `without_cost` and `without_price`
    are the parts of `quantity` that are not in it. `trades` are those that were counted.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="order_results")
    exchange_order_id = models.BigIntegerField()
    trades = models.PositiveIntegerField()
    quantity = amount_field()
    realised = amount_field()
    currency = models.CharField(max_length=20)
    without_cost = amount_field()
    without_price = amount_field()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "exchange_order_id"], name="orderresult_one_row")
        ]

    def __str__(self) -> str:
        return f"result of order {self.exchange_order_id}"


class Progress(models.Model):
    """How far the figures of an account follow its ledger and trades, and when daily prices were last read for it.

    `version` is the last version of a ledger entry whose day was added up, `profits_version` and `profits_trade` what
    the profits were computed from. `took_ms` is how long that took: it is repeated the less often the longer it takes.
    """

    account = models.OneToOneField(Account, on_delete=models.PROTECT, related_name="portfolio_progress")
    version = models.BigIntegerField(default=0)
    profits_version = models.BigIntegerField(default=-1)
    profits_trade = models.BigIntegerField(default=-1)
    profits_at = models.DateTimeField(null=True)
    took_ms = models.PositiveIntegerField(default=0)
    rebuilt_at = models.DateTimeField(null=True)
    prices_tried_at = models.DateTimeField(null=True)
    prices_read_at = models.DateTimeField(null=True)
    problem = models.CharField(max_length=300, default="", blank=True)

    def __str__(self) -> str:
        return f"figures of account {self.account_id}"
