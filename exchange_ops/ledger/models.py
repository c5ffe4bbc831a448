"""The exchange's own record of the account: balances, every version of every transaction, and how far we have read."""

from datetime import datetime
from decimal import Decimal
from typing import ClassVar

from django.conf import settings
from django.db import models

from desk.rows.witnessed import Witnessed
from exchange_ops.ledger import directions
from exchange_ops.shared.amounts import amount_field
from exchange_ops.shared.models import Account

ENDED = ("success", "failed")  # exchange REST, Transaction status: nothing follows on these
COUNTED_TO = 10  # confirmations of what has ended are counted so far: nobody waits for more


class Balance(models.Model):
    """The balance of one currency in one wallet, as last read."""

    BANK = "bank"
    TRADING = "trading"

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="balances")
    currency = models.CharField(max_length=20)
    wallet = models.CharField(max_length=10, choices=[(BANK, "bank"), (TRADING, "trading")])
    available = amount_field()
    reserved = amount_field()
    read_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "currency", "wallet"], name="balance_one_per_wallet")
        ]

    def __str__(self) -> str:
        return f"{self.currency} {self.wallet}"


class LedgerEntry(Witnessed):
    """The newest version of one transaction of the exchange's ledger; `index` grows whenever the exchange changes it.

    `withdrawal` or `transfer` is set when one of our requests caused the entry; `foreign` marks a payout or transfer
    without a request. `created_at` and `updated_at` are the exchange's own times. `confirmations` is for people, no
    decision rests on it; it keeps growing within a version, and for an ended transaction it is a lower bound
    (`is_counted`).
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="ledger_entries")
    exchange_id = models.CharField(max_length=80)
    index = models.BigIntegerField()
    type = models.CharField(max_length=40)
    sub_type = models.CharField(max_length=40, default="", blank=True)
    status = models.CharField(max_length=40)
    currency = models.CharField(max_length=20)
    amount = amount_field()
    fee = amount_field(null=True)
    address = models.CharField(max_length=256, default="", blank=True)
    payment_id = models.CharField(max_length=256, default="", blank=True)
    hash = models.CharField(max_length=256, default="", blank=True)
    confirmations = models.IntegerField(null=True)
    public_comment = models.CharField(max_length=255, default="", blank=True)
    error_code = models.CharField(max_length=80, default="", blank=True)
    senders = models.JSONField(default=list)
    offchain_id = models.JSONField(default=list)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    first_seen_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    foreign = models.BooleanField(default=False)
    withdrawal = models.ForeignKey(
        "exchange_ops.Withdrawal", on_delete=models.PROTECT, null=True, related_name="ledger_entries"
    )
    transfer = models.ForeignKey(
        "exchange_ops.Transfer", on_delete=models.PROTECT, null=True, related_name="ledger_entries"
    )

    @property
    def direction(self) -> str:
        """Whether it came in, went out or moved between the account's own wallets."""
        return directions.of(self.type)

    @property
    def signed_amount(self) -> Decimal:
        """The amount, negative where it went out."""
        return directions.signed(self.type, amount=self.amount)

    @property
    def change(self) -> Decimal:
        """How it changed what the account holds, its fee included; zero until it is successful."""
        return directions.change(self.type, status=self.status, amount=self.amount, fee=self.fee)

    class Meta:
        verbose_name_plural = "ledger entries"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "exchange_id"], name="ledgerentry_one_per_exchange_id")
        ]
        indexes: ClassVar = [
            models.Index(fields=["account", "-index"], name="ledgerentry_by_index"),
            models.Index(fields=["account", "type", "status"], name="ledgerentry_by_type_status"),
            models.Index(fields=["account", "updated_at", "id"], name="ledgerentry_by_change"),
            models.Index(fields=["account", "type", "updated_at", "id"], name="ledgerentry_by_kind_change"),
            models.Index(fields=["account", "currency", "amount", "id"], name="ledgerentry_by_amount"),
            models.Index(
                fields=["account", "currency", "address", "payment_id", "id"],
                condition=models.Q(type="payout"),
                name="ledgerentry_by_destination",
            ),
            models.Index(
                fields=["account", "currency", "address"],
                condition=models.Q(type="payin"),
                name="ledgerentry_by_paid_in",
            ),
            models.Index(fields=["hash"], name="ledgerentry_by_hash"),
            models.Index(fields=["public_comment"], name="ledgerentry_by_comment"),
            models.Index(fields=["account", "currency", "-index"], name="ledgerentry_by_currency"),
            models.Index(fields=["account"], condition=models.Q(foreign=True), name="ledgerentry_foreign"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.exchange_id}"

    @property
    def is_counted(self) -> bool:
        """Whether further confirmations don't matter: the transaction has ended and has `COUNTED_TO` of them."""
        return self.status in ENDED and (self.confirmations or 0) >= COUNTED_TO

    @property
    def confirmations_text(self) -> str:
        """The count as pages show it: "3", "10+" where counting stops, or empty."""
        if self.confirmations is None:
            return ""
        return f"{COUNTED_TO}+" if self.is_counted else str(self.confirmations)


class LedgerVersion(Witnessed):
    """One version of one transaction, exactly as it was read; it never changes."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="+")
    entry = models.ForeignKey(LedgerEntry, on_delete=models.PROTECT, related_name="versions")
    index = models.BigIntegerField()
    status = models.CharField(max_length=40)
    content = models.JSONField()
    source = models.CharField(max_length=10)
    seen_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["account", "index"], name="ledgerversion_one_per_index")
        ]

    def __str__(self) -> str:
        return f"version {self.index}"


class LedgerAside(Witnessed):
    """A record of the exchange's ledger that could not be read, stored as it came, with the reason.

    `exchange_id` and `index` are set if they could be read. Without an id, `after_index` says where a reading of the
    ledger has to begin to come across the record again. `settled_as` is the choice of two people between it and another
    record with its index (`RecordChoice`); it is made once.
    """

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="ledger_asides")
    exchange_id = models.CharField(max_length=80, default="", blank=True)
    index = models.BigIntegerField(null=True)
    after_index = models.BigIntegerField(null=True)
    fingerprint = models.CharField(max_length=64)
    reason = models.CharField(max_length=300)
    content = models.TextField(default="", blank=True)
    source = models.CharField(max_length=10)
    first_seen_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    cleared_at = models.DateTimeField(null=True)
    settled_as = models.CharField(max_length=6, default="", blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["account", "fingerprint"], name="ledgeraside_one_per_content")]

    def __str__(self) -> str:
        return self.reason


class RecordChoice(Witnessed):
    """One person's choice between two records of one index, given with a second factor; their last one counts.

    `digest` is what the person signed: both records, the choice and the reason.
    """

    class Record(models.TextChoices):
        """Which record holds: the one that was read first, or the one that waits aside."""

        FIRST = "first", "The record read first"
        SECOND = "second", "The record kept aside"

    aside = models.ForeignKey(LedgerAside, on_delete=models.PROTECT, related_name="choices")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    holds = models.CharField(max_length=6, choices=Record.choices)
    digest = models.CharField(max_length=64)
    reason = models.CharField(max_length=500)
    confirmation = models.OneToOneField("desk.StepUp", on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["aside", "person", "holds"], name="recordchoice_one_per_person")
        ]

    def __str__(self) -> str:
        return f"choice {self.pk}"


class Watermark(Witnessed):
    """How far a reader has come in a series that only grows, for instance the ledger's index."""

    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="watermarks")
    name = models.CharField(max_length=40)
    index = models.BigIntegerField(default=0)
    moved_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["account", "name"], name="watermark_one_per_name")]

    def __str__(self) -> str:
        return f"{self.name} at {self.index}"

    @classmethod
    def put(cls, *, account: Account, name: str, index: int, now: datetime) -> None:
        """Set the reader's index, higher or lower; an unchanged index writes no entry about the row."""
        if not cls.objects.filter(account=account, name=name, index=index).update(moved_at=now):
            cls.objects.update_or_create(account=account, name=name, defaults={"index": index, "moved_at": now})
