"""Up to which moments the stored ledger of an account supports a balance, and why no further.

It supports none while it is being read, and none at or after a record that could not be read: what that record says is
missing from every later balance.
"""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import F, Max, Min
from django.db.models.functions import Coalesce

from exchange_ops.ledger import walks
from exchange_ops.ledger.models import LedgerAside, LedgerEntry
from exchange_ops.portfolio import effects
from exchange_ops.shared.models import Account


@dataclass(frozen=True, slots=True)
class Support:
    """`problem` speaks against every balance. `unread` records are dated later than `read_until` and could not be read.

    `begins` is when the first entry that moved money was dated; None without one. `synced_at` is when the ledger was
    last read to its end.
    """

    problem: str
    unread: int
    read_until: datetime | None
    begins: datetime | None
    synced_at: datetime | None

    def is_before_all(self, moment: datetime) -> bool:
        """Whether the moment is not after the first entry, or there is none."""
        return self.begins is None or moment <= self.begins

    def reason(self, moment: datetime) -> str:
        """Why the balance at a moment is not supported; empty where it is."""
        if self.problem:
            return self.problem
        if self.unread and (self.read_until is None or moment > self.read_until):
            return f"Ledger records that could not be read: {self.unread}. Balances after them are not known."
        return ""


def of(account: Account, *, now: datetime) -> Support:
    """What the stored ledger of the account supports, from a few queries."""
    synced_at = walks.read_at(account=account)
    problem = ""
    if walks.is_being_read(account=account, now=now):
        problem = walks.sentence(account=account)
    elif synced_at is None:
        problem = "The ledger has not been fully synced yet."
    unread, read_until = _unread(account)
    begins = effects.succeeded(account).aggregate(first=Min("updated_at"))["first"]
    return Support(problem, unread, read_until, begins, synced_at)


def _unread(account: Account) -> tuple[int, datetime | None]:
    """How many records wait, and the last change of the entries before the first of them."""
    waiting = LedgerAside.objects.filter(account=account, cleared_at=None)
    indexes = waiting.annotate(place=Coalesce("index", F("after_index") + 1, 0)).values_list("place", flat=True)
    places = list(indexes)
    if not places:
        return 0, None
    # Indexes grow with every change, so whatever has a higher one was changed later.
    before = LedgerEntry.objects.filter(account=account, index__lt=min(places))
    return len(places), before.aggregate(last=Max("updated_at"))["last"]
