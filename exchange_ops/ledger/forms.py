"""Which lines of the exchange's ledger to list."""

from django import forms
from django.db.models import Q, QuerySet

from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.forms import SEARCH_MOST, FilterForm

# The exchange's own words for kinds and statuses of its ledger, and ours for them: chips and filters say the same.
LEDGER_KINDS = {
    "payin": "Payin",
    "payout": "Payout",
    "deposit": "Deposit",
    "withdraw": "Withdraw",
    "bankToExchange": "Bank to trading",
    "exchangeToBank": "Trading to bank",
}
LEDGER_STATUSES = {"created": "Created", "pending": "Pending", "success": "Success", "failed": "Failed"}


class LedgerFilter(FilterForm):
    """Which lines of the exchange's ledger to list."""

    currency = forms.CharField(required=False, max_length=20)
    type = forms.ChoiceField(
        required=False,
        choices=[
            ("", "Any kind"),
            *LEDGER_KINDS.items(),
        ],
    )
    status = forms.ChoiceField(
        required=False,
        choices=[("", "Any status"), *LEDGER_STATUSES.items()],
    )
    origin = forms.ChoiceField(
        required=False, choices=[("", "Any origin"), ("ours", "Asked for here"), ("foreign", "Made elsewhere")]
    )
    text = forms.CharField(required=False, max_length=SEARCH_MOST)

    def narrow(self, rows: QuerySet[LedgerEntry]) -> QuerySet[LedgerEntry]:
        """Only the lines that every filter which is set lets through."""
        chosen = self.chosen()
        if "currency" in chosen:
            rows = rows.filter(currency=chosen["currency"].upper())
        rows = rows.filter(**{name: chosen[name] for name in ("type", "status") if name in chosen})
        if "origin" in chosen:
            foreign = chosen["origin"] == "foreign"
            rows = rows.filter(foreign=True) if foreign else rows.filter(withdrawal__isnull=False)
        if "text" in chosen:
            rows = rows.filter(entries_like(chosen["text"]))
        return rows


def entries_like(text: str) -> Q:
    """Ledger lines that a piece of text names: exchange id, hash or a piece of the address."""
    return Q(exchange_id=text) | Q(hash=text) | Q(address__icontains=text)
