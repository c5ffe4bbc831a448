"""Which lines of the exchange's ledger to list."""

from django import forms
from django.db.models import Q, QuerySet

from desk.lists.filters import SEARCH_MOST, DatedForm
from exchange_ops.ledger import directions
from exchange_ops.ledger.models import LedgerEntry

# The exchange's own words for kinds and statuses of its ledger, and ours for them: chips and filters say the same.
LEDGER_KINDS = {
    "payin": "Payin",
    "payout": "Payout",
    "deposit": "Deposit",
    "withdraw": "Withdraw",
    "bankToExchange": "Bank to trading",
    "exchangeToBank": "Trading to bank",
}
LEDGER_STATUSES = {
    "created": "Created",
    "pending": "Pending",
    "success": "Success",
    "failed": "Failed",
    "overruled": "Overruled",
}


class LedgerFilter(DatedForm):
    """Which lines of the exchange's ledger to list."""

    dated, dated_label = "updated_at", "Changed at the exchange"

    text = forms.CharField(label="Exchange ID, hash, address", required=False, max_length=SEARCH_MOST)
    type = forms.ChoiceField(label="Kind", required=False, choices=[("", "Any kind"), *LEDGER_KINDS.items()])
    movement = forms.ChoiceField(
        label="Movement", required=False, choices=[("", "Any movement"), *directions.LABELS.items()]
    )
    status = forms.ChoiceField(label="Status", required=False, choices=[("", "Any status"), *LEDGER_STATUSES.items()])
    origin = forms.ChoiceField(
        label="Origin",
        required=False,
        choices=[("", "Any origin"), ("ours", "Requested in Countersign"), ("foreign", "Made outside Countersign")],
    )
    currency = forms.CharField(label="Currency", required=False, max_length=20)

    def narrow(self, rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
        """Only the lines that every filter which is set lets through."""
        chosen = self.chosen()
        if "currency" in chosen:
            rows = rows.filter(currency=chosen["currency"].upper())
        rows = rows.filter(**{name: chosen[name] for name in ("type", "status") if name in chosen})
        if "origin" in chosen:
            foreign = chosen["origin"] == "foreign"
            rows = rows.filter(foreign=True) if foreign else rows.filter(withdrawal__isnull=False)
        if "movement" in chosen:
            rows = _moved(rows, chosen["movement"])
        if "text" in chosen:
            rows = rows.filter(entries_like(chosen["text"]))
        return rows


def _moved(rows: QuerySet[LedgerEntry], kind: str) -> QuerySet[LedgerEntry]:
    """The lines of one kind of movement, as statements add them up."""
    if kind == directions.FEES:
        return rows.filter(directions.has_fee())
    kinds = [directions.WALLETS, directions.SUBACCOUNTS] if kind == directions.TRANSFERS else [kind]
    return rows.alias(movement=directions.kind()).filter(movement__in=kinds)


def entries_like(text: str) -> Q:
    """Ledger lines that a piece of text names: exchange id, hash or a piece of the address."""
    return Q(exchange_id=text) | Q(hash=text) | Q(address__icontains=text)


class DepositFilter(DatedForm):
    """Which deposits to list."""

    dated, dated_label = "updated_at", "Changed at the exchange"

    text = forms.CharField(label="Exchange ID, hash, address", required=False, max_length=SEARCH_MOST)
    status = forms.ChoiceField(label="Status", required=False, choices=[("", "Any status"), *LEDGER_STATUSES.items()])
    currency = forms.CharField(label="Currency", required=False, max_length=20)

    def narrow(self, rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
        """Only the lines that every filter which is set lets through."""
        chosen = self.chosen()
        if "currency" in chosen:
            rows = rows.filter(currency=chosen["currency"].upper())
        if "status" in chosen:
            rows = rows.filter(status=chosen["status"])
        return rows.filter(entries_like(chosen["text"])) if "text" in chosen else rows


class DestinationFilter(DatedForm):
    """Which destinations to list; each stands there with the last payment to it."""

    dated, dated_label = "last_paid_at", "Last paid"

    text = forms.CharField(label="Address or payment ID", required=False, max_length=SEARCH_MOST)
    origin = forms.ChoiceField(
        label="Last payout",
        required=False,
        choices=[("", "Any origin"), ("ours", "Requested in Countersign"), ("foreign", "Made outside Countersign")],
    )
    currency = forms.CharField(label="Currency", required=False, max_length=20)

    def narrow(self, rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
        """Only the destinations that every filter which is set lets through."""
        chosen = self.chosen()
        if "currency" in chosen:
            rows = rows.filter(currency=chosen["currency"].upper())
        if "origin" in chosen:
            rows = rows.filter(withdrawal__isnull=chosen["origin"] == "foreign")
        if "text" in chosen:
            rows = rows.filter(Q(address__icontains=chosen["text"]) | Q(payment_id=chosen["text"]))
        return rows
