"""What a person has to look at of the exchange's ledger."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from desk.incidents.kinds import Cause, rows_of
from desk.templatetags.desk import kept_amount
from exchange_ops.ledger import quarantine
from exchange_ops.ledger.models import LedgerEntry
from exchange_ops.shared.models import Account

_LEAVES: Final = {
    "created": "is reserved to leave the account",
    "pending": "is on its way out of the account",
    "success": "left the account",
    "failed": "was to leave the account, and failed",
}


def elsewhere(now: datetime, only: str) -> Iterator[Cause]:
    """Payouts that no request of this desk explains."""
    for entry in rows_of(LedgerEntry.objects.filter(foreign=True), only):
        how = _LEAVES.get(entry.status.lower(), "may have left the account")
        sentence = (
            f"{kept_amount(entry.amount, entry.currency)} {how}, and nobody here asked for it. Find out who ordered it "
            "at the exchange; treasury can freeze the account meanwhile."
        )
        yield Cause(f"ledger:{entry.pk}", sentence, "ledger?origin=foreign", scope=str(entry.account_id))


def unread(now: datetime, only: str) -> Iterator[Cause]:
    """Records that could not be taken in."""
    for account in Account.objects.order_by("pk"):
        if count := quarantine.waiting(account=account):
            sentence = (
                f"{count} records of the exchange's ledger of {account.name} could not be read and are kept aside: "
                "figures may miss what they say."
            )
            yield Cause(f"account:{account.pk}", sentence, "ledger", scope=str(account.pk))
